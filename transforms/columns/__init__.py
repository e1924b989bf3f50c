"""Permutes the hidden columns of a transformer: its weights change, the function that they compute does not.

Source: permutation equivariance (Xu et al. 2024, section 4). The axes of weights that have to move together
are found by tracing one call of the module, so there is no list of architectures.

- `axes` unifies the axes that an operation ties together, and `rules` knows the operations;
- `tracing` walks the graph of operations and finds the groups; `layout` stores them;
- `permute` moves weights and tokens;
- `proof` measures the theorems on a module;
- `sealing` permutes (or encrypts) checkpoint folders under a key;
- `recovery` is the attack that finds the permutation.

Only the modules that need torch import it.
"""

from typing import Final

SEAL: Final = "seal.json"
"""The file that tells of a sealed checkpoint. Here, because whoever looks for it needs nothing else."""

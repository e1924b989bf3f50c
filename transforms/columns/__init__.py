"""Permutation of the hidden columns of a transformer: the weights change, the function that they compute does
not.

Source: permutation equivariance (Xu et al. 2024, section 4). The axes of weights that have to move together
are found by tracing one call of the module, so there is no list of architectures.

- `axes` unifies the axes that an operation ties together;
- `tracing` walks the graph of operations;
- `groups` and `layout` hold the result;
- `permute` moves weights;
- `proof` measures the theorems on a module;
- `rows` permutes tokens;
- `sealing` permutes (or encrypts) checkpoint folders under a key;
- `recovery` is the attack that finds the permutation.

Only the modules that need torch import it.
"""

"""The tree transformer as a row of `robustness.py`: `--row tree=tree_row:model`.

The environment variable TREE_MODELS names a folder of checkpoints, `tree-0` for seed 0 and so on, each made
by `codeaudit train tree --seed 0 --corpus TABLE:train …` with the budget of the other rows.
"""

import os
from pathlib import Path

from codeaudit.audit.papers.tree_transformer.model import TreeModel


def model(seed: int) -> TreeModel:
    """The network of a seed.

    Raises:
        LookupError: TREE_MODELS is not set.
        ModelError: the folder holds no checkpoint.
    """
    if "TREE_MODELS" not in os.environ:
        raise LookupError("set the environment variable TREE_MODELS to the folder of checkpoints")
    return TreeModel.load(str(Path(os.environ["TREE_MODELS"]) / f"tree-{seed}"), device="cpu")

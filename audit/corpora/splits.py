"""Splits for corpora without their own: by a hash of each sample's group, so that groups stay together.

The shares are those of spe-attention (section 5.1): 70 % for training and 30 % for testing; here 10 % of all
are taken from training for validation. The split of a group depends only on its name, so a corpus may grow.
"""

import hashlib
from typing import Final, Literal, TypeAlias

Split: TypeAlias = Literal["train", "valid", "test"]

SPLITS: Final[tuple[Split, ...]] = ("train", "valid", "test")
_TRAIN: Final = 0.6
_VALID: Final = 0.1


def split_of(group: str) -> Split:
    """The split of a group."""
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return "train" if place < _TRAIN else "valid" if place < _TRAIN + _VALID else "test"

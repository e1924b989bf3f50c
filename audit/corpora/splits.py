"""Splits of corpora that bring none: by a hash of each sample's group, which so stays together.

The shares are those of spe-attention (section 5.1), seven tenths to learn from and three to test on; a part
of the former is for validation. The split of a group depends on its name alone: a corpus may grow.
"""

import hashlib
from typing import Final, Literal, TypeAlias

Split: TypeAlias = Literal["train", "valid", "test"]

SPLITS: Final[tuple[Split, ...]] = ("train", "valid", "test")
_TRAIN: Final = 0.6
_VALID: Final = 0.1


def split_of(group: str) -> Split:
    """On which side of the split a group stands."""
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return "train" if place < _TRAIN else "valid" if place < _TRAIN + _VALID else "test"

"""Trees as padded tensors, with the coordinates of all nodes.

Dimension key: B batch, n nodes, s words of a value, D levels of a path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.nodes import Degree, TreeInput

CLIP: Final = 16
"""Each dimension of a coordinate ranges from 1 to this; larger values are clipped."""
COORDINATES: Final = CLIP * (CLIP + 1) // 2 + 1
"""Distinct coordinates, with padding, which is 0."""
NEAREST: Final = 8
"""Levels that are also kept from the node upwards, for Shiv and Quirk's positions."""

Array = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeBatch:
    """Padded trees, or pieces of them."""

    types: Tensor
    """(B, n) ids, 0 for padding."""
    values: Tensor
    """(B, n, s) ids, 0 behind the last word."""
    own: Tensor
    """(B, n) each node's own coordinate as a number of the table, 0 for padding."""
    paths: Tensor
    """(B, n, D) the coordinates from the root on, without the deep end where there are more; 0 behind."""
    nearest: Tensor
    """(B, n, NEAREST) which child each node and its ancestors are, its own first; 0 behind the root."""
    parents: Tensor
    """(B, n) places of the parents; a node's own place where it has none, or none in this piece."""
    depths: Tensor
    """(B, n) 0 for the root."""

    @property
    def real(self) -> Tensor:
        """(B, n) true where there is a node."""
        return self.types != 0

    @property
    def orphan(self) -> Tensor:
        """(B, n) true where the parent is not here."""
        return self.parents == torch.arange(self.parents.shape[1], device=self.parents.device)

    def to(self, device: str) -> "TreeBatch":
        """On another device."""
        return replace(self, **{name: getattr(self, name).to(device) for name in self.__slots__})


def coordinate(orders: Array, counts: Array) -> Array:
    """The numbers of coordinates (a, f) in the table: a + f (f - 1) / 2, both clipped."""
    first, second = np.minimum(orders, CLIP), np.minimum(counts, CLIP)
    numbers: Array = (first + second * (second - 1) // 2).astype(np.int32)
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The positions of all nodes of some trees, one tree behind the other."""

    own: Array
    """(N,)"""
    paths: Array
    """(N, D)"""
    nearest: Array
    """(N, NEAREST)"""
    depths: Array
    """(N,)"""


def placed(parents: Array, orders: Array, counts: Array, *, levels: int, degree: Degree) -> Placed:
    """Positions from flat arrays; `parents` are places in them, -1 for roots."""
    # `prefix`: the siblings seen so far instead of all. The full number would show a decoder how many are
    # still to come.
    own = coordinate(orders, counts if degree == "full" else orders)
    # All nodes go up one level at once, until none has a parent left: as many steps as the deepest tree has
    # levels.
    ancestors = [np.arange(len(own), dtype=np.int64)]
    while True:
        above = np.where(ancestors[-1] >= 0, parents[ancestors[-1]], -1)
        if (above < 0).all():
            break
        ancestors.append(above)
    upwards = np.stack(ancestors, axis=1)
    depths = (upwards >= 0).sum(1) - 1
    # The ancestors stand from the node upwards; section 3.2 reads from the root down and cuts the deep end.
    at = depths[:, None] - np.arange(levels)
    inside = at >= 0
    downwards = np.take_along_axis(upwards, np.where(inside, at, 0), axis=1)
    nearest = np.zeros((len(own), NEAREST), dtype=np.int32)
    near = upwards[:, :NEAREST]
    nearest[:, : near.shape[1]] = np.where(near >= 0, np.minimum(orders, CLIP)[near], 0)
    return Placed(
        own=own,
        paths=np.where(inside, own[downwards], 0).astype(np.int32),
        nearest=nearest,
        depths=depths.astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """Some nodes in a row of a tree."""

    tree: TreeInput
    start: int
    stop: int


def whole(tree: TreeInput) -> Piece:
    """All of a tree."""
    return Piece(tree, 0, len(tree.types))


def collate(pieces: Sequence[Piece], *, levels: int, degree: Degree) -> TreeBatch:
    """Pieces of any lengths, padded to the longest. Positions are those in the whole trees."""
    trees = [piece.tree for piece in pieces]
    starts = np.cumsum([0, *(len(tree.types) for tree in trees)])
    parents = np.concatenate(
        [
            np.where(tree.parents >= 0, tree.parents + start, -1)
            for tree, start in zip(trees, starts, strict=False)
        ]
    )
    orders, counts = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in ("orders", "counts")
    )
    positions = placed(parents, orders, counts, levels=levels, degree=degree)
    longest = max(piece.stop - piece.start for piece in pieces)
    words = trees[0].values.shape[1]
    shapes = {
        "types": (),
        "values": (words,),
        "own": (),
        "paths": (levels,),
        "nearest": (NEAREST,),
        "depths": (),
    }
    arrays = {name: np.zeros((len(pieces), longest, *rest), dtype=np.int64) for name, rest in shapes.items()}
    above = np.tile(np.arange(longest, dtype=np.int64), (len(pieces), 1))
    for row, (piece, begin) in enumerate(zip(pieces, starts, strict=False)):
        inner = slice(piece.start, piece.stop)
        flat = slice(int(begin) + piece.start, int(begin) + piece.stop)
        size = piece.stop - piece.start
        arrays["types"][row, :size] = piece.tree.types[inner]
        arrays["values"][row, :size] = piece.tree.values[inner]
        for name in ("own", "paths", "nearest", "depths"):
            arrays[name][row, :size] = getattr(positions, name)[flat]
        # A parent in an earlier piece cannot be attended to; the node is its own parent then, which counts as
        # none.
        up = piece.tree.parents[inner] - piece.start
        above[row, :size] = np.where(up >= 0, up, above[row, :size])
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return TreeBatch(**tensors, parents=torch.from_numpy(above))

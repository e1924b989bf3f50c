"""Trees as numbers, each kind of number in one flat array, cut into batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.batches import Piece, TreeBatch, collate
from codeaudit.audit.papers.tree_transformer.network import BEGIN_ID, LONGEST
from codeaudit.audit.papers.tree_transformer.nodes import Degree, NodeReader, Tree, TreeInput
from codeaudit.audit.training.trainer import Integers

IGNORED: Final = -100
"""A target that counts for nothing."""


@dataclass(frozen=True, kw_only=True)
class TreeExamples:
    """Many trees, or pieces of trees."""

    types: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    parents: npt.NDArray[np.int32]
    orders: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    ends: Integers
    """Where each tree ends in these."""
    pieces: npt.NDArray[np.int64]
    """(count, 4) of each example its tree, its first node, the one behind its last, the first to count."""
    left_out: tuple[int, int]
    """How many samples did not parse, and how many were too long."""

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def lengths(self) -> Integers:
        """(count,) nodes."""
        found: Integers = self.pieces[:, 2] - self.pieces[:, 1]
        return found

    def tree(self, number: int) -> TreeInput:
        """One tree."""
        end = int(self.ends[number])
        inner = slice(int(self.ends[number - 1]) if number else 0, end)
        return TreeInput(
            types=self.types[inner],
            values=self.values[inner],
            parents=self.parents[inner],
            orders=self.orders[inner],
            counts=self.counts[inner],
        )

    def batch(self, chosen: Integers, *, levels: int, degree: Degree) -> TreeBatch:
        """The chosen examples, padded."""
        rows = self.pieces[chosen]
        found = [Piece(self.tree(int(tree)), int(start), int(stop)) for tree, start, stop, _ in rows]
        return collate(found, levels=levels, degree=degree)

    def fresh(self, chosen: Integers) -> Tensor:
        """(B, n) true for the nodes of the chosen examples that no piece before has counted."""
        lengths = self.lengths[chosen]
        place = np.arange(lengths.max())
        begin = (self.pieces[chosen, 3] - self.pieces[chosen, 1])[:, None]
        return torch.from_numpy((place >= begin) & (place < lengths[:, None]))


def flat(
    trees: Sequence[Tree],
    reader: NodeReader,
    *,
    window: int | None = None,
    left_out: tuple[int, int] = (0, 0),
) -> TreeExamples:
    """Trees as examples; with a window those longer than it in pieces of that size that overlap by half.

    Each node counts in one piece only: in the first that it is in.
    """
    inputs = [reader.encode(tree) for tree in trees]
    ends = np.cumsum([len(one.types) for one in inputs], dtype=np.int64)
    rows = [row for number, one in enumerate(inputs) for row in _pieces(number, len(one.types), window)]
    parts = {
        name: np.concatenate([getattr(one, name) for one in inputs])
        for name in ("types", "values", "parents", "orders", "counts")
    }
    return TreeExamples(
        **parts, ends=ends, pieces=np.array(rows, dtype=np.int64).reshape(-1, 4), left_out=left_out
    )


def _pieces(tree: int, size: int, window: int | None) -> list[tuple[int, int, int, int]]:
    if window is None or size <= window:
        return [(tree, 0, size, 0)]
    found, seen = [], 0
    for start in range(0, size, max(1, window // 2)):
        stop = min(start + window, size)
        found.append((tree, start, stop, seen))
        seen = stop
        if stop == size:
            break
    return found


def told(names: Sequence[Sequence[int]], spoken: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Names as (B, T) values given to the decoder, and as (B, T) targets.

    `names` are numbers of words, -1 for those that are never said: these are given as unknown, and are no
    targets. `spoken` are the values of the words, the end's first. Words beyond `LONGEST` are left out.
    """
    longest = min(LONGEST, max(len(name) for name in names) + 1)
    given = torch.zeros(len(names), longest, dtype=torch.long)
    targets = torch.full((len(names), longest), IGNORED)
    for row, name in enumerate(names):
        before = [BEGIN_ID, *(1 if word < 0 else spoken[word] for word in name)][:longest]
        after = [*(IGNORED if word < 0 else word for word in name), 0][:longest]
        given[row, : len(before)] = torch.tensor(before)
        targets[row, : len(after)] = torch.tensor(after)
    return given, targets

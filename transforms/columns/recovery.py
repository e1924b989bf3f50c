"""The attack on column permutation: with the weights that a checkpoint was fine-tuned from, no key is needed.

Fine-tuning moves weights little, so each sealed column is near the public column that it was. Matching the
columns is a linear assignment problem. If the other axis of a matrix is permuted, too, columns are compared
by their sorted numbers, which do not depend on the order. As soon as one group is known, others are compared
number by number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from codeaudit.transforms.columns.layout import Indices, Layout, Member, Place, indices, members

Weights = Mapping[str, npt.NDArray[np.float64]]

ROUNDS: Final = 3
"""The number of times that every group is matched again, with better knowledge of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The result of the attack."""

    permutations: list[Indices]
    """A guess of the permutation of each group."""

    def share(self, group: int, true: Indices) -> float:
        """The share of a group's columns that were matched correctly, from 0 to 1."""
        return float(np.mean(self.permutations[group] == true))


def recover(public: Weights, sealed: Weights, layout: Layout, outside: frozenset[str]) -> Recovered:
    """Guess every group's permutation from a sealed checkpoint and the public one that it comes from.

    Groups that stand in no axis by themselves, such as heads, are left as they are.
    """
    tensors = {
        name: places for name, places in layout.tensors.items() if name not in outside and name in public
    }
    orders: list[Indices | None] = [None] * len(layout.sizes)
    # A group that is matched early is compared by sorted numbers; later rounds know the order of the others.
    for _ in range(ROUNDS):
        for group in range(len(layout.sizes)):
            likeness = _likeness(group, public, sealed, tensors, orders)
            if likeness is not None:
                orders[group] = linear_sum_assignment(likeness, maximize=True)[1].astype(np.int64)
    # A group stays as it is if no matrix distinguishes its columns.
    rest = zip(orders, layout.sizes, strict=True)
    return Recovered(permutations=[np.arange(size) if order is None else order for order, size in rest])


def _likeness(
    group: int,
    public: Weights,
    sealed: Weights,
    tensors: Mapping[str, Sequence[Place]],
    orders: Sequence[Indices | None],
) -> npt.NDArray[np.float64] | None:
    """(sealed, public) similarities of columns, summed over all axes of this group alone."""
    total: npt.NDArray[np.float64] | None = None
    for name, places in tensors.items():
        for axis, place in enumerate(places):
            if not isinstance(place, Member) or place.group != group:
                continue
            others = {number: place for number, place in enumerate(places) if number != axis}
            # Only if the order of every other axis is known can columns be compared number by number.
            ordered = all(
                orders[member] is not None for other in others.values() for member in members(other)
            )
            old = _turned(public[name], others, orders) if ordered else public[name]
            near = _nearness(_columns(sealed[name], axis, ordered), _columns(old, axis, ordered))
            total = near if total is None else total + near
    return total


def _turned(
    tensor: npt.NDArray[np.float64], others: Mapping[int, Place], orders: Sequence[Indices | None]
) -> npt.NDArray[np.float64]:
    """The public tensor with its other axes in the order that the sealed one has."""
    permutations = [np.zeros(0, dtype=np.int64) if order is None else order for order in orders]
    for axis, place in others.items():
        order = indices(place, permutations)
        tensor = tensor if order is None else np.take(tensor, order, axis=axis)
    return tensor


def _columns(tensor: npt.NDArray[np.float64], axis: int, ordered: bool) -> npt.NDArray[np.float64]:
    """(column, number) in units of the tensor's spread; sorted where the numbers' order is not known."""
    # A weight that is not finite would make every similarity NaN.
    rows = np.moveaxis(np.nan_to_num(tensor.astype(np.float64), posinf=0.0, neginf=0.0), axis, 0)
    rows = rows.reshape(len(rows), -1) / max(float(np.std(rows)), float(np.finfo(np.float32).tiny))
    return rows if ordered else np.sort(rows, axis=1)


def _nearness(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Minus the squared distances of all pairs of rows."""
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :]
    # -|a - b|² = 2ab - |a|² - |b|²: one product of matrices instead of a difference for every pair.
    near: npt.NDArray[np.float64] = 2 * one @ other.T - squares
    return near

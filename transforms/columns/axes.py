"""Axes of tensors as unknowns, and their unification: an operation may tie two axes together.

An axis is an atom, a product of axes (a `view` that splits 64 into 8 heads of 8) or a sum of axes (a `chunk`
of a fused projection). Unification refines atoms until both axes have the same parts. The atoms that remain
at the end may be permuted freely and independently. An atom is frozen if an operation depends on its order.
If the parts of two axes do not line up, both are frozen. So an axis that is not understood is never permuted.

Axes of size one have no order and are all equal to `ONE`.
"""

from collections.abc import Iterable, Iterator
from math import prod
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["atom", "product", "sum"]


class Axis:
    """One axis; `resolved` returns its present refinement."""

    __slots__ = ("_bound", "frozen", "kind", "parts", "size")

    def __init__(self, size: int, kind: Kind = "atom", parts: tuple["Axis", ...] = ()) -> None:
        self.size = size
        self.kind = kind
        self.parts = parts
        self.frozen = False
        self._bound: Axis | None = None

    def resolved(self) -> "Axis":
        """The axis that this one was refined to."""
        axis = self
        while axis._bound is not None:
            axis = axis._bound
        if axis is not self:
            self._bound = axis  # path compression of a union-find, so that chains stay short
        return axis

    def refine(self, other: "Axis") -> None:
        """Replace this atom by another axis, which is frozen if this one was."""
        if self.frozen:
            freeze(other)
        self._bound = other

    def atoms(self) -> Iterator["Axis"]:
        """The atoms of the axis, in order."""
        axis = self.resolved()
        if axis.kind == "atom":
            yield axis
        for part in axis.parts:
            yield from part.atoms()


ONE: Final = Axis(1, "product")
"""Every axis of size one."""


def atom(size: int) -> Axis:
    """A new axis that may be permuted."""
    return ONE if size == 1 else Axis(size)


def fixed(size: int) -> Axis:
    """A new axis that is frozen, because its order matters."""
    axis = atom(size)
    freeze(axis)
    return axis


def product(parts: Iterable[Axis]) -> Axis:
    """Axes merged into one, the first one slowest."""
    factors = [factor for part in parts for factor in _parts(part, "product")]
    if len(factors) == 1:
        return factors[0]
    return Axis(prod(factor.size for factor in factors), "product", tuple(factors)) if factors else ONE


def total(parts: Iterable[Axis]) -> Axis:
    """Axes concatenated into one."""
    segments = [segment for part in parts for segment in _parts(part, "sum") if segment.size]
    if len(segments) == 1:
        return segments[0]
    return Axis(sum(segment.size for segment in segments), "sum", tuple(segments))


def freeze(axis: Axis) -> None:
    """Freeze all atoms of the axis, so no part of it is permuted."""
    for part in axis.atoms():
        part.frozen = True


def unify(one: Axis, other: Axis) -> None:
    """Tie two axes: from now on both move alike."""
    one, other = one.resolved(), other.resolved()
    if one is other:
        return
    if one.size != other.size:
        freeze(one)
        freeze(other)
    elif one.kind == "atom":
        one.refine(other)
    elif other.kind == "atom":
        other.refine(one)
    elif "sum" in (one.kind, other.kind):
        if one.kind != "sum":
            one, other = other, one
        for segment in _parts(one, "sum"):
            first, other = cut(other, segment.size)
            unify(segment, first)
    else:
        for factor in _parts(one, "product"):
            lead, other = _lead(other, factor.size)
            unify(factor, lead)


def cut(axis: Axis, size: int) -> tuple[Axis, Axis]:
    """The first `size` elements and the rest; from now on they move independently."""
    axis = axis.resolved()
    if size <= 0:
        return Axis(0), axis
    if size >= axis.size:
        return axis, Axis(0)
    match axis.kind:
        case "atom":
            halves = (atom(size), atom(axis.size - size))
            axis.refine(total(halves))
            return halves
        case "sum":
            return _cut_sum(axis, size)
        case "product":
            return _cut_product(axis, size)


def split(axis: Axis, sizes: Iterable[int]) -> list[Axis]:
    """The factors into which a `view` splits an axis; their product is the axis."""
    factors: list[Axis] = []
    for size in sizes:
        lead, axis = _lead(axis, size)
        factors.append(lead)
    return factors


def _parts(axis: Axis, kind: Kind) -> tuple[Axis, ...]:
    """The factors (or segments) of an axis, without products of products; an axis of another kind is one."""
    axis = axis.resolved()
    if axis.kind != kind:
        return (axis,)
    return tuple(inner for part in axis.parts for inner in _parts(part, kind))


def _lead(axis: Axis, size: int) -> tuple[Axis, Axis]:
    """The slowest factor of an axis, of the given size, and the rest of the axis under each element."""
    axis = axis.resolved()
    if size == 1:
        return ONE, axis
    if size == axis.size:
        return axis, ONE
    if axis.size % size:
        return _stuck(axis, size)
    match axis.kind:
        case "atom":
            pair = atom(size), atom(axis.size // size)
            axis.refine(product(pair))
            return pair
        case "sum":
            return _lead_of_sum(axis, size)
        case "product":
            return _lead_of_product(axis, size)


def _lead_of_product(axis: Axis, size: int) -> tuple[Axis, Axis]:
    first, *others = _parts(axis, "product")
    if size % first.size == 0:
        inner, rest = _lead(product(others), size // first.size)
        return product([first, inner]), rest
    if first.size % size:  # 4 rows of an axis of 6 · 2: row 1 ends in the middle of an element of the 6
        return _stuck(axis, size)
    lead, inner = _lead(first, size)
    return lead, product([inner, *others])


def _stuck(axis: Axis, size: int) -> tuple[Axis, Axis]:
    """Two frozen factors, for a factor that crosses the boundaries of others."""
    freeze(axis)
    return fixed(size), fixed(max(1, axis.size // size))


def _lead_of_sum(axis: Axis, size: int) -> tuple[Axis, Axis]:
    """The slowest factor of a sum of equal segments: a product if all move alike and keep their places."""
    # `[q; k; v].view(3, d)`: the rows are the three parts, so the row index stays, and the columns of all
    # three move alike.
    width = axis.size // size
    rest, alike = axis, atom(width)
    for _ in range(size):
        first, rest = cut(rest, width)
        unify(alike, first)
    return fixed(size), alike


def _cut_sum(axis: Axis, size: int) -> tuple[Axis, Axis]:
    first: list[Axis] = []
    last: list[Axis] = []
    for segment in _parts(axis, "sum"):
        here, there = cut(segment, size)
        first += [here] if here.size else []
        last += [there] if there.size else []
        size -= here.size
    return total(first), total(last)


def _cut_product(axis: Axis, size: int) -> tuple[Axis, Axis]:
    lead, *others = _parts(axis, "product")
    under = product(others)
    # A cut inside of a row separates elements that the permutation of the rows keeps together.
    if size % under.size:
        freeze(axis)
        return fixed(size), fixed(axis.size - size)
    first, last = cut(lead, size // under.size)
    return product([first, under]), product([last, under])

"""The layout of a checkpoint: which axes of its tensors each group permutes. Plain values, no torch.

The layout is found by tracing once and stored as JSON. So undoing a permutation needs neither the model's
code nor the same version of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log, prod
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Indices: TypeAlias = npt.NDArray[np.int64]
"""A permutation as old indices: element i of the result comes from index `indices[i]`."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """An axis, or a part of one, that is not permuted."""

    size: int


@dataclass(frozen=True, slots=True)
class Member:
    """An axis that is permuted like its group."""

    group: int
    size: int


@dataclass(frozen=True, slots=True)
class Product:
    """Parts merged into one axis, the first one slowest."""

    parts: tuple["Place", ...]

    @property
    def size(self) -> int:
        """Elements of the axis."""
        return prod(part.size for part in self.parts)


@dataclass(frozen=True, slots=True)
class Sum:
    """Parts concatenated into one axis."""

    parts: tuple["Place", ...]

    @property
    def size(self) -> int:
        """Elements of the axis."""
        return sum(part.size for part in self.parts)


Place: TypeAlias = Fixed | Member | Product | Sum
"""The structure of one axis of a tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The groups of a checkpoint, and the structure of each axis of each tensor."""

    sizes: tuple[int, ...]
    """The number of elements of each group."""
    tensors: Mapping[str, tuple[Place, ...]]
    """The axes by the name of the tensor; a tensor that no group permutes is left out."""

    @property
    def bits(self) -> float:
        """log2 of the number of ways to permute all groups."""
        # log n! by lgamma: the factorial of 4,096 columns is no float.
        return sum(lgamma(size + 1) for size in self.sizes) / log(2)

    def only(self, groups: Mapping[int, int], names: Mapping[str, str] | None = None) -> "Layout":
        """These groups under other numbers, the others kept. With `names` only these tensors: old by new."""
        sizes = [0] * len(groups)
        for old, new in groups.items():
            sizes[new] = self.sizes[old]
        kept = {name: name for name in self.tensors} if names is None else names
        tensors = {
            new: tuple(_renumbered(place, groups) for place in self.tensors[old])
            for new, old in kept.items()
            if old in self.tensors
        }
        moving = {name: places for name, places in tensors.items() if any(map(_moves, places))}
        return Layout(sizes=tuple(sizes), tensors=moving)

    def broken(self) -> "Layout":
        """Each group in the first tensor that has it only, so that nothing fits any more."""
        first: dict[int, str] = {}
        for name, places in self.tensors.items():
            for group in (member for place in places for member in members(place)):
                first.setdefault(group, name)
        kept = set(first.values())
        return Layout(
            sizes=self.sizes, tensors={name: places for name, places in self.tensors.items() if name in kept}
        )

    def as_json(self) -> dict[str, Any]:
        """The layout as JSON values.

        A group is its number, a part that stays is `[size]`, a product is `["*", …]`, a sum is `["+", …]`.
        """
        tensors = {name: [_encoded(place) for place in places] for name, places in self.tensors.items()}
        return {"groups": list(self.sizes), "tensors": tensors}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Layout":
        """The layout that `as_json` wrote.

        Raises:
            ValueError, KeyError, TypeError: it was not written by `as_json`.
        """
        sizes = tuple(map(int, values["groups"]))
        tensors = {
            str(name): tuple(_decoded(place, sizes) for place in places)
            for name, places in values["tensors"].items()
        }
        return cls(sizes=sizes, tensors=tensors)


def members(place: Place) -> Iterator[int]:
    """The groups in an axis, each as often as it occurs."""
    match place:
        case Member():
            yield place.group
        case Product() | Sum():
            for part in place.parts:
                yield from members(part)
        case Fixed():
            pass


def indices(place: Place, permutations: Sequence[Indices]) -> Indices | None:
    """The old index of each element of an axis after its groups are permuted; `None` if all elements stay."""
    return _indices(place, permutations) if _moves(place) else None


def draw(sizes: Sequence[int], rng: Random) -> list[Indices]:
    """A uniformly random permutation of each group."""
    permutations: list[Indices] = []
    for size in sizes:
        places = list(range(size))
        rng.shuffle(places)
        permutations.append(np.array(places, dtype=np.int64))
    return permutations


def inverse(permutations: Sequence[Indices]) -> list[Indices]:
    """The inverse of each permutation."""
    return [np.argsort(order).astype(np.int64) for order in permutations]


def _indices(place: Place, permutations: Sequence[Indices]) -> Indices:
    match place:
        case Fixed():
            return np.arange(place.size, dtype=np.int64)
        case Member():
            return permutations[place.group]
        case Product():
            # Row-major: the index of an element of (a, b, c) is (a·|b| + b)·|c| + c.
            order = np.zeros(1, dtype=np.int64)
            for part in place.parts:
                order = (order[:, None] * part.size + _indices(part, permutations)[None, :]).reshape(-1)
            return order
        case Sum():
            starts = np.cumsum([0, *(part.size for part in place.parts)])
            parts = zip(starts[:-1], place.parts, strict=True)
            return np.concatenate([start + _indices(part, permutations) for start, part in parts])


def _moves(place: Place) -> bool:
    return next(members(place), None) is not None


def _renumbered(place: Place, groups: Mapping[int, int]) -> Place:
    match place:
        case Fixed():
            return place
        case Member():
            new = groups.get(place.group)
            return Fixed(place.size) if new is None else Member(new, place.size)
        case Product() | Sum():
            return type(place)(tuple(_renumbered(part, groups) for part in place.parts))


def _encoded(place: Place) -> Any:
    match place:
        case Fixed():
            return [place.size]
        case Member():
            return place.group
        case Product():
            return ["*", *map(_encoded, place.parts)]
        case Sum():
            return ["+", *map(_encoded, place.parts)]


def _decoded(value: Any, sizes: Sequence[int]) -> Place:
    match value:
        case bool():  # is an int, but no group
            pass
        case int() if 0 <= value < len(sizes):
            return Member(value, sizes[value])
        case [int(size)] if size >= 0:
            return Fixed(size)
        case ["*", *parts] if parts:
            return Product(tuple(_decoded(part, sizes) for part in parts))
        case ["+", *parts] if parts:
            return Sum(tuple(_decoded(part, sizes) for part in parts))
    raise ValueError(f"not an axis: {value!r}")

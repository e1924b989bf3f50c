"""The groups of axes of a module's weights that may be permuted together, found by tracing one call."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import nn

from codeaudit.transforms.columns.axes import Axis, freeze, unify
from codeaudit.transforms.columns.calls import Call
from codeaudit.transforms.columns.layout import Kept, Layout, Member, Place, Product, Sum, members
from codeaudit.transforms.columns.tracing import Axes, trace


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisGroups:
    """What may be permuted in a module, each group by any permutation of its own."""

    layout: Layout
    """By the names of the module's parameters, tied ones under each of their names."""
    outputs: tuple[tuple[Place, ...], ...]
    """The axes of the tensors that the module gives: where a group stands here, its results come permuted."""
    inside: frozenset[str]
    """The parameters in stacks of blocks, which is the paper's backbone; the others are its F1 and F2."""
    unknown: tuple[str, ...]
    """Operations without a rule that kept something from being permuted."""
    untraced: frozenset[str]
    """Parameters that the traced call does not read; they never move."""

    @property
    def locking(self) -> tuple[int, ...]:
        """The groups that stand inside and outside: permuted on one side only, nothing fits any more."""
        return tuple(sorted(self._standing(inside=True) & self._standing(inside=False)))

    @property
    def inner(self) -> tuple[int, ...]:
        """The groups that stand inside only, such as the hidden units of a feed-forward layer."""
        return tuple(sorted(self._standing(inside=True) - self._standing(inside=False)))

    def _standing(self, *, inside: bool) -> set[int]:
        return {
            group
            for name, places in self.layout.tensors.items()
            if (name in self.inside) == inside
            for place in places
            for group in members(place)
        }


def infer(module: nn.Module, call: Call, *, free_outputs: bool = False) -> AxisGroups:
    """The groups of a module. With `free_outputs`, results may come permuted too; else they never do.

    Raises:
        ModelError: the call cannot be traced.
    """
    training = module.training
    module.eval()
    try:
        traced = trace(module, call)
    finally:
        module.train(training)
    if not free_outputs:
        for axes in traced.outputs:
            for axis in axes:
                freeze(axis)
    names = _names(module)
    weights = _by_name(traced.weights, names)
    numbers = _numbers([axes for aliases in names for axes in [weights.get(aliases[0], ())]])
    layout = Layout(
        sizes=tuple(one.size for one in numbers),
        tensors={name: tuple(_place(axis, numbers) for axis in axes) for name, axes in weights.items()},
    )
    return AxisGroups(
        layout=layout.only({number: number for number in range(len(numbers))}),
        outputs=tuple(tuple(_place(axis, numbers) for axis in axes) for axes in traced.outputs),
        inside=inside(module),
        unknown=tuple(traced.unknown),
        untraced=frozenset(name for aliases in names for name in aliases if name not in weights),
    )


def inside(module: nn.Module) -> frozenset[str]:
    """All names of the parameters in the blocks of all stacks; a tied parameter only if all its names are
    there.
    """
    stacks = tuple(
        f"{name}." for name, one in module.named_modules() if isinstance(one, nn.ModuleList) and len(one) > 0
    )
    return frozenset(
        name
        for aliases in _names(module)
        if all(alias.startswith(stacks) for alias in aliases)
        for name in aliases
    )


def _names(module: nn.Module) -> list[list[str]]:
    """The parameters, each with all its names."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for name, weight in module.named_parameters(remove_duplicate=False):
        found[id(weight)].append(name)
    return list(found.values())


def _by_name(weights: Mapping[str, Axes], names: Sequence[Sequence[str]]) -> dict[str, Axes]:
    """The traced axes under every name of their parameter."""
    found: dict[str, Axes] = {}
    for aliases in names:
        traced = [weights[name] for name in aliases if name in weights]
        for other in traced[1:]:
            for one, same in zip(traced[0], other, strict=True):
                unify(one, same)
        if traced:
            found |= dict.fromkeys(aliases, traced[0])
    return found


def _numbers(weights: Sequence[Axes]) -> dict[Axis, int]:
    """The free atoms, numbered in the order in which they occur in the parameters."""
    found: dict[Axis, int] = {}
    for axes in weights:
        for axis in axes:
            for one in axis.atoms():
                if not one.frozen and one.size > 1:
                    found.setdefault(one, len(found))
    return found


def _place(axis: Axis, numbers: Mapping[Axis, int]) -> Place:
    axis = axis.resolved()
    if axis.kind == "atom":
        return Member(numbers[axis], axis.size) if axis in numbers else Kept(axis.size)
    parts = tuple(_place(part, numbers) for part in axis.parts)
    if all(isinstance(part, Kept) for part in parts):
        return Kept(axis.size)
    return Product(parts) if axis.kind == "product" else Sum(parts)

"""The operations of a traced module, each with what it ties together.

A rule says of an operation which axes of its
operands are one axis, and which axes its result has. There is no rule for a kind of model. An operation
without a rule freezes every axis that comes near it, which costs freedom and never correctness; so does a
buffer, an input, a random number, and whatever depends on positions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor
from torch.fx import Node

from codeaudit.transforms.columns.axes import (
    ONE,
    Axis,
    atom,
    cut,
    fixed,
    freeze,
    product,
    split,
    total,
    unify,
)

Axes: TypeAlias = tuple[Axis, ...]
"""The axes of one tensor."""

Value: TypeAlias = Any
"""An argument of an operation: `Axes` for a tensor, sequences of them, or a plain value."""


@dataclass(slots=True)
class Given:
    """What an operation was called with."""

    args: Sequence[Value]
    kwargs: Mapping[str, Value]
    node: Node

    def get(self, place: int, name: str, default: Value = None) -> Value:
        """An argument by place or name."""
        return self.args[place] if len(self.args) > place else self.kwargs.get(name, default)

    @property
    def operands(self) -> list[Axes]:
        """Every tensor among the arguments."""
        return list(all_axes((self.args, self.kwargs)))

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the result."""
        return shape_of(self.node) or ()


Rule: TypeAlias = Callable[[Given], Any]


def all_axes(value: Value) -> Iterable[Axes]:
    """Every tensor in a value, however nested."""
    if isinstance(value, tuple) and all(isinstance(one, Axis) for one in value):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from all_axes(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from all_axes(one)


def shape_of(node: Node) -> tuple[int, ...] | None:
    """The shape of an operation's result; `None` if that is no tensor."""
    value = node.meta.get("val")
    return tuple(map(int, value.shape)) if isinstance(value, Tensor) else None


def name_of(target: object) -> str:
    """`add` of `aten.add.Tensor`, and of `aten.add_.Tensor`, which gives the same."""
    if isinstance(target, torch._ops.OpOverload):
        space, _, name = target.overloadpacket._qualified_op_name.partition("::")
        return name.rstrip("_") if space == "aten" else f"{space}::{name}"
    return str(target)


def rule_of(target: object) -> Rule | None:
    """That of the overload, else of all overloads, else of every elementwise operation."""
    name, tags = name_of(target), getattr(target, "tags", ())
    overload = f"{name}.{getattr(target, '_overloadname', '')}"
    if overload in RULES or name in RULES:
        return RULES.get(overload, RULES.get(name))
    steady = torch.Tag.nondeterministic_seeded not in tags
    return _pointwise if torch.Tag.pointwise in tags and steady else None


def _joined(one: Axis, other: Axis) -> Axis:
    """One axis under broadcasting."""
    if one is ONE or one.size == 1:
        return other
    if other.size != 1:
        unify(one, other)
    return one


def _broadcast(operands: Iterable[Axes]) -> Axes:
    found: list[Axis] = []
    for axes in operands:
        padded = [*(ONE for _ in range(len(axes) - len(found))), *found]
        for place in range(1, len(axes) + 1):
            padded[-place] = _joined(padded[-place], axes[-place])
        found = padded
    return tuple(found)


def _pointwise(given: Given) -> Axes:
    return _broadcast(given.operands)


def _same(given: Given) -> Axes:
    axes: Axes = given.args[0]
    return axes


def _dropout(given: Given) -> Axes:
    axes: Axes = given.args[0]
    if given.get(2, "train", False) and given.get(1, "p", 0):
        freeze_all([axes])
    return axes


def _constant(given: Given) -> Axes:
    """The same number everywhere, in any order."""
    return tuple(map(atom, given.shape))


def _ordered(given: Given) -> Axes:
    """Numbers that depend on the place."""
    return tuple(map(fixed, given.shape))


def freeze_all(operands: Iterable[Axes]) -> None:
    """Freeze all axes of these tensors."""
    for axes in operands:
        for axis in axes:
            freeze(axis)


def _placed(axes: Axes, place: int) -> int:
    return place % len(axes) if axes else 0


def _linear(given: Given) -> Axes:
    x, weight = given.args[:2]
    bias = given.get(2, "bias")
    unify(x[-1], weight[1])
    if bias is not None:
        unify(bias[0], weight[0])
    return (*x[:-1], weight[0])


def _matmul(given: Given) -> Axes:
    return _multiplied(given.args[0], given.args[1])


def _multiplied(one: Axes, other: Axes) -> Axes:
    unify(one[-1], other[-2] if len(other) > 1 else other[0])
    rows = one[-2:-1] if len(one) > 1 else ()
    columns = other[-1:] if len(other) > 1 else ()
    return (*_broadcast([one[:-2], other[:-2]]), *rows, *columns)


def _addmm(given: Given) -> Axes:
    return _broadcast([_multiplied(given.args[1], given.args[2]), given.args[0]])


def _einsum(given: Given) -> Axes:
    equation, operands = given.args[0].replace(" ", ""), given.args[1]
    inward, arrow, outward = equation.partition("->")
    letters: dict[str, Axis] = {}
    if not arrow or "." in equation:
        freeze_all(operands)
        return _ordered(given)
    for term, axes in zip(inward.split(","), operands, strict=True):
        for letter, axis in zip(term, axes, strict=True):
            letters[letter] = _joined(letters.get(letter, ONE), axis)
    return tuple(letters[letter] for letter in outward)


def _attention(given: Given) -> Axes:
    """softmax(Q Kᵀ + mask) V, with the heads of keys and values repeated where they are grouped."""
    query, key, value = given.args[:3]
    mask, causal = given.get(3, "attn_mask"), given.get(5, "is_causal", False)
    if given.get(7, "enable_gqa", False) and query[-3].size != key[-3].size:
        heads = product([key[-3], atom(query[-3].size // key[-3].size)])
        unify(key[-3], value[-3])
        unify(query[-3], heads)
        key, value = ((*axes[:-3], query[-3], *axes[-2:]) for axes in (key, value))
    if causal or given.get(4, "dropout_p", 0.0):
        freeze_all([query[-2:-1], key[-2:-1]])
    scores = _multiplied(query, (*key[:-2], key[-1], key[-2]))
    if mask is not None:
        scores = _broadcast([scores, mask])
    return _multiplied(scores, value)


def _normalised(given: Given) -> Axes:
    """Layer or RMS normalisation over the last axes, with its weight and bias."""
    x, shape = given.args[:2]
    for weight in (given.get(2, "weight"), given.get(3, "bias")):
        if isinstance(weight, tuple):
            for axis, own in zip(x[len(x) - len(shape) :], weight, strict=True):
                unify(axis, own)
    return tuple(x)


def _convolution(given: Given) -> Axes:
    x, weight = given.args[:2]
    bias = given.get(2, "bias")
    freeze_all([x[2:], weight[2:]])
    if given.get(6, "groups", 1) == 1:
        unify(x[1], weight[1])
    else:
        freeze_all([x[1:2], weight[:2]])
    if bias is not None:
        unify(bias[0], weight[0])
    return (x[0], weight[0], *map(fixed, given.shape[2:]))


def _embedding(given: Given) -> Axes:
    weight, indices = given.args[:2]
    freeze_all([weight[:1], indices])
    return (*indices, *weight[1:])


def _index(given: Given) -> Axes:
    """Numbers looked up along neighbouring axes; the others stay."""
    x, indices = given.args[0], given.args[1]
    places = [place for place, one in enumerate(indices) if one is not None]
    looked_up = [indices[place] for place in places]
    freeze_all([tuple(x[place] for place in places), *looked_up])
    if places != list(range(places[0], places[-1] + 1)):
        freeze_all([x])
        return _ordered(given)
    return (*x[: places[0]], *_broadcast(looked_up), *x[places[-1] + 1 :])


def _index_select(given: Given) -> Axes:
    x, place = given.args[0], _placed(given.args[0], given.args[1])
    freeze(x[place])
    return (*x[:place], fixed(given.shape[place]), *x[place + 1 :])


def _along(given: Given) -> Axes:
    """Something that goes along some axes in order."""
    x, wanted = given.args[0], given.get(1, "dim", -1)
    for place in wanted if isinstance(wanted, list) else [wanted]:
        freeze(x[_placed(x, place)])
    return tuple(x)


def _reduced(given: Given) -> Axes:
    """Sums, means, maxima over some axes."""
    x = given.args[0]
    wanted = given.get(1, "dim")
    listed = [wanted] if isinstance(wanted, int) else list(wanted or range(len(x)))
    places = {_placed(x, place) for place in listed}
    keep = len(given.shape) == len(x)
    return tuple(
        ONE if place in places else axis for place, axis in enumerate(x) if keep or place not in places
    )


def _transposed(given: Given) -> Axes:
    x = list(given.args[0])
    one, other = (_placed(tuple(x), given.get(number, name)) for number, name in ((1, "dim0"), (2, "dim1")))
    x[one], x[other] = x[other], x[one]
    return tuple(x)


def _turned(given: Given) -> Axes:
    return tuple(reversed(given.args[0]))


def _permuted(given: Given) -> Axes:
    x = given.args[0]
    return tuple(x[place] for place in given.get(1, "dims"))


def _unsqueezed(given: Given) -> Axes:
    x, place = given.args[0], given.get(1, "dim")
    place %= len(x) + 1
    return (*x[:place], ONE, *x[place:])


def _squeezed(given: Given) -> Axes:
    x, wanted = given.args[0], given.get(1, "dim")
    listed = [wanted] if isinstance(wanted, int) else wanted
    places = range(len(x)) if listed is None else [_placed(x, place) for place in listed]
    return tuple(axis for place, axis in enumerate(x) if not (place in places and axis.size == 1))


def _viewed(given: Given) -> Axes:
    """Row-major, the elements stay where they are: axes are merged and split between common boundaries."""
    rest = [axis for axis in given.args[0] if axis.size != 1]
    found: list[Axis] = []
    wanted = list(given.shape)
    while wanted:
        group = [wanted.pop(0)]
        if group == [1]:
            found.append(ONE)
            continue
        taken = [rest.pop(0)]
        while (old := _size(taken)) != (new := _count(group)):
            if old < new:
                taken.append(rest.pop(0))
            else:
                group.append(wanted.pop(0))
        found += split(product(taken), group)
    return tuple(found)


def _size(axes: Sequence[Axis]) -> int:
    return _count([axis.size for axis in axes])


def _count(sizes: Sequence[int]) -> int:
    return int(torch.Size(sizes).numel())


def _expanded(given: Given) -> Axes:
    """New or stretched axes hold the same numbers everywhere."""
    x = given.args[0]
    shape = given.shape
    padded = [*(ONE for _ in range(len(shape) - len(x))), *x]
    return tuple(axis if axis.size == size else atom(size) for axis, size in zip(padded, shape, strict=True))


def _repeated(given: Given) -> Axes:
    x, times = given.args[0], given.get(1, "repeats")
    padded = [*(ONE for _ in range(len(times) - len(x))), *x]
    return tuple(product([atom(count), axis]) for axis, count in zip(padded, times, strict=True))


def _interleaved(given: Given) -> Axes:
    """Each element several times, one beside the other."""
    x, times, place = given.args[0], given.get(1, "repeats"), given.get(2, "dim")
    if not isinstance(times, int) or place is None:
        freeze_all(given.operands)
        return _ordered(given)
    place = _placed(x, place)
    return (*x[:place], product([x[place], atom(times)]), *x[place + 1 :])


def _sliced(given: Given) -> Axes:
    x, place = given.args[0], _placed(given.args[0], given.get(1, "dim", 0))
    size, step = x[place].size, given.get(4, "step", 1)
    start, stop = (
        _bounded(given.get(number, name), size, default)
        for number, name, default in ((2, "start", 0), (3, "end", size))
    )
    if step != 1:
        freeze(x[place])
        return (*x[:place], fixed(given.shape[place]), *x[place + 1 :])
    return (*x[:place], _between(x[place], start, stop), *x[place + 1 :])


def _bounded(place: int | None, size: int, default: int) -> int:
    place = default if place is None else place
    return min(size, max(0, place + size if place < 0 else place))


def _between(axis: Axis, start: int, stop: int) -> Axis:
    return cut(cut(axis, start)[1], stop - start)[0]


def _selected(given: Given) -> Axes:
    x, place, index = given.args[0], _placed(given.args[0], given.args[1]), given.args[2]
    _between(x[place], index % x[place].size, index % x[place].size + 1)
    return (*x[:place], *x[place + 1 :])


def _narrowed(given: Given) -> Axes:
    x, place, start, length = given.args[:4]
    place = _placed(x, place)
    return (*x[:place], _between(x[place], start, start + length), *x[place + 1 :])


def _unbound(given: Given) -> list[Axes]:
    x = given.args[0]
    place = _placed(x, given.get(1, "dim", 0))
    freeze(x[place])
    return [(*x[:place], *x[place + 1 :])] * x[place].size


def _parted(given: Given) -> list[Axes]:
    """`split` and `chunk`: one part after the other along an axis, as long as the results say."""
    x = given.args[0]
    place = _placed(x, given.get(2, "dim", 0))
    found: list[Axes] = []
    rest: Axis = x[place]
    for part in given.node.meta["val"]:
        first, rest = cut(rest, int(part.shape[place]))
        found.append((*x[:place], first, *x[place + 1 :]))
    return found


def _joined_up(given: Given) -> Axes:
    parts = [axes for axes in given.args[0] if len(axes) > 1 or axes[0].size]
    place = _placed(parts[0], given.get(1, "dim", 0))
    others = [tuple(axis for number, axis in enumerate(axes) if number != place) for axes in parts]
    shared = _broadcast(others)
    return (*shared[:place], total(axes[place] for axes in parts), *shared[place:])


def _stacked(given: Given) -> Axes:
    parts = given.args[0]
    place = given.get(1, "dim", 0) % (len(parts[0]) + 1)
    shared = _broadcast(parts)
    return (*shared[:place], fixed(len(parts)), *shared[place:])


def _copied(given: Given) -> Axes:
    """What is written into a view has the view's axes."""
    onto: Axes = given.args[0]
    _broadcast([onto, given.args[1]])
    return onto


def _nothing(given: Given) -> Any:
    return given.node.meta.get("val")


def _table() -> Mapping[str, Rule]:
    groups: Sequence[tuple[Rule, str]] = (
        (
            _pointwise,
            "add sub rsub mul div pow where masked_fill minimum maximum min.other max.other type_as lerp",
        ),
        (_same, "to _to_copy contiguous clone alias detach detach_copy lift_fresh_copy softmax log_softmax"),
        (_same, "_softmax _log_softmax _assert_tensor_metadata"),
        (_dropout, "dropout"),
        (_constant, "zeros ones full empty new_zeros new_ones new_full new_empty zeros_like ones_like"),
        (_constant, "full_like empty_like scalar_tensor"),
        (_ordered, "arange linspace"),
        (_linear, "linear"),
        (_matmul, "matmul mm bmm mv"),
        (_addmm, "addmm baddbmm"),
        (_einsum, "einsum"),
        (_attention, "scaled_dot_product_attention"),
        (_normalised, "layer_norm rms_norm"),
        (_convolution, "conv1d conv2d"),
        (_embedding, "embedding"),
        (_index, "index"),
        (_index_select, "index_select"),
        (_along, "cumsum flip"),
        (_reduced, "sum mean amax amin var std logsumexp"),
        (_transposed, "transpose swapaxes"),
        (_turned, "t numpy_T"),
        (_permuted, "permute"),
        (_unsqueezed, "unsqueeze"),
        (_squeezed, "squeeze"),
        (_viewed, "view reshape _unsafe_view flatten unflatten view_as reshape_as"),
        (_expanded, "expand expand_as broadcast_to"),
        (_repeated, "repeat"),
        (_interleaved, "repeat_interleave"),
        (_sliced, "slice"),
        (_selected, "select"),
        (_narrowed, "narrow"),
        (_unbound, "unbind"),
        (_parted, "split split_with_sizes chunk"),
        (_joined_up, "cat concat"),
        (_stacked, "stack"),
        (_copied, "copy"),
        (_nothing, "sym_size"),
    )
    return {name: rule for rule, names in groups for name in names.split()}


RULES: Final[Mapping[str, Rule | None]] = {**_table(), "view.dtype": None}
"""By the name of the ATen operation, or of one overload."""

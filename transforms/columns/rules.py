"""The operations of a traced module, each with what it ties together.

A rule says of an operation which axes of its operands are one axis, and which axes its result has. There is
no rule for a kind of model. An operation without a rule freezes every axis that comes near it, which costs
freedom and never correctness; so does a buffer, an input, a random number, and whatever depends on positions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
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
class OperationCall:
    """What an operation was called with."""

    args: Sequence[Value]
    kwargs: Mapping[str, Value]
    node: Node

    def get(self, number: int, name: str, default: Value = None) -> Value:
        """An argument by its number or name."""
        return self.args[number] if len(self.args) > number else self.kwargs.get(name, default)

    @property
    def x(self) -> Axes:
        """The first operand."""
        axes: Axes = self.args[0]
        return axes

    def place(self, number: int, name: str = "dim", default: int | None = None) -> int:
        """The place of an axis of the first operand, by an argument that may count from the end."""
        return int(self.get(number, name, default) % max(1, len(self.x)))

    @property
    def operands(self) -> list[Axes]:
        """Every tensor among the arguments."""
        return list(all_axes((self.args, self.kwargs)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return shape_of(self.node) or ()

    @property
    def ordered(self) -> Axes:
        """A result whose numbers depend on their places."""
        return tuple(map(fixed, self.shape))


Rule: TypeAlias = Callable[[OperationCall], Any]
"""The axes of the result of an operation, after those of its operands are tied."""

RULES: Final[dict[str, Rule | None]] = {"view.dtype": None}
"""By the name of the ATen operation, or of one overload. `x.view(dtype)` reads the bits as other numbers."""


def all_axes(value: Value) -> Iterable[Axes]:
    """Every tensor in a value, however nested."""
    if isinstance(value, tuple) and all(isinstance(axis, Axis) for axis in value):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from all_axes(part)


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
    """The rule of the overload, else of all overloads, else of every elementwise operation; `None`: none."""
    name, tags = name_of(target), getattr(target, "tags", ())
    overload = f"{name}.{getattr(target, '_overloadname', '')}"
    if overload in RULES or name in RULES:
        return RULES.get(overload, RULES.get(name))
    # Noise is drawn by place: in training mode, permuted weights would meet other random numbers.
    steady = torch.Tag.nondeterministic_seeded not in tags
    return _pointwise if torch.Tag.pointwise in tags and steady else None


def freeze_all(operands: Iterable[Axes]) -> None:
    """Freeze all axes of these tensors."""
    for axes in operands:
        for axis in axes:
            freeze(axis)


def _rule(names: str) -> Callable[[Rule], Rule]:
    """A decorator that makes a function the rule of these operations."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names.split(), rule))
        return rule

    return register


def _replaced(axes: Axes, place: int, *others: Axis) -> Axes:
    """The axes with others at one place."""
    return (*axes[:place], *others, *axes[place + 1 :])


# ── elementwise operations, and new tensors ──────────────────────────────────────────────────────────────


def _joined(one: Axis, other: Axis) -> Axis:
    """One axis under broadcasting."""
    if one is ONE or one.size == 1:
        return other
    if other.size != 1:
        unify(one, other)
    return one


def _broadcast(operands: Iterable[Axes]) -> Axes:
    """The axes of operands that are broadcast together: aligned at the last axis."""
    joined: list[Axis] = []
    for axes in operands:
        padded = [*(ONE for _ in range(len(axes) - len(joined))), *joined]
        for place in range(1, len(axes) + 1):
            padded[-place] = _joined(padded[-place], axes[-place])
        joined = padded
    return tuple(joined)


@_rule("add sub rsub mul div pow where masked_fill minimum maximum min.other max.other type_as lerp")
def _pointwise(call: OperationCall) -> Axes:
    return _broadcast(call.operands)


# A softmax divides by a sum over its axis, and a sum does not depend on the order.
@_rule("to _to_copy contiguous clone alias detach detach_copy lift_fresh_copy softmax log_softmax")
@_rule("_softmax _log_softmax _assert_tensor_metadata")
def _same(call: OperationCall) -> Axes:
    return call.x


@_rule("dropout")
def _dropout(call: OperationCall) -> Axes:
    if call.get(2, "train", False) and call.get(1, "p", 0):
        freeze_all([call.x])  # the mask is drawn by place
    return call.x


@_rule("zeros ones full empty new_zeros new_ones new_full new_empty zeros_like ones_like")
@_rule("full_like empty_like scalar_tensor")
def _constant(call: OperationCall) -> Axes:
    """The same number everywhere, in any order."""
    return tuple(map(atom, call.shape))


@_rule("arange linspace")
def _ordered(call: OperationCall) -> Axes:
    return call.ordered


@_rule("copy")
def _copied(call: OperationCall) -> Axes:
    """What is written into a view has the view's axes."""
    _broadcast(call.args[:2])
    return call.x


@_rule("sym_size")
def _size_of(call: OperationCall) -> Any:
    return call.node.meta.get("val")


# ── products of matrices ─────────────────────────────────────────────────────────────────────────────────


@_rule("linear")
def _linear(call: OperationCall) -> Axes:
    """x Wᵀ + b, with W of shape (out, in)."""
    x, weight = call.args[:2]
    bias = call.get(2, "bias")
    unify(x[-1], weight[1])
    if bias is not None:
        unify(bias[0], weight[0])
    return (*x[:-1], weight[0])


def _multiplied(one: Axes, other: Axes) -> Axes:
    """A product of vectors, matrices or batches of matrices: the axes that are summed over are one."""
    unify(one[-1], other[-2] if len(other) > 1 else other[0])
    rows = one[-2:-1] if len(one) > 1 else ()
    columns = other[-1:] if len(other) > 1 else ()
    return (*_broadcast([one[:-2], other[:-2]]), *rows, *columns)


@_rule("matmul mm bmm mv")
def _matmul(call: OperationCall) -> Axes:
    return _multiplied(call.args[0], call.args[1])


@_rule("addmm baddbmm")
def _addmm(call: OperationCall) -> Axes:
    return _broadcast([_multiplied(call.args[1], call.args[2]), call.args[0]])


@_rule("einsum")
def _einsum(call: OperationCall) -> Axes:
    equation, operands = call.args[0].replace(" ", ""), call.args[1]
    inward, arrow, outward = equation.partition("->")
    # Without an arrow the result's letters are implied, and `...` stands for any number of axes.
    if not arrow or "." in equation:
        freeze_all(operands)
        return call.ordered
    letters: dict[str, Axis] = {}
    for term, axes in zip(inward.split(","), operands, strict=True):
        for letter, axis in zip(term, axes, strict=True):
            letters[letter] = _joined(letters.get(letter, ONE), axis)
    return tuple(letters[letter] for letter in outward)


@_rule("scaled_dot_product_attention")
def _attention(call: OperationCall) -> Axes:
    """softmax(Q Kᵀ + mask) V, with the heads of keys and values repeated where they are grouped."""
    query, key, value = call.args[:3]
    mask, causal = call.get(3, "attn_mask"), call.get(5, "is_causal", False)
    if call.get(7, "enable_gqa", False) and query[-3].size != key[-3].size:
        # Query heads i·n … i·n + n - 1 share key head i. So a permutation of the query heads is one of whole
        # groups, and one inside each group.
        heads = product([key[-3], atom(query[-3].size // key[-3].size)])
        unify(key[-3], value[-3])
        unify(query[-3], heads)
        key, value = ((*axes[:-3], query[-3], *axes[-2:]) for axes in (key, value))
    if causal or call.get(4, "dropout_p", 0.0):
        freeze_all([query[-2:-1], key[-2:-1]])  # a causal mask depends on the places of the tokens
    scores = _multiplied(query, (*key[:-2], key[-1], key[-2]))
    if mask is not None:
        scores = _broadcast([scores, mask])
    return _multiplied(scores, value)


@_rule("layer_norm rms_norm")
def _normalised(call: OperationCall) -> Axes:
    """Layer or RMS normalisation over the last axes, with its weight and bias."""
    x, shape = call.args[:2]
    for weight in (call.get(2, "weight"), call.get(3, "bias")):
        if isinstance(weight, tuple):
            for axis, other in zip(x[len(x) - len(shape) :], weight, strict=True):
                unify(axis, other)
    return tuple(x)


@_rule("conv1d conv2d")
def _convolution(call: OperationCall) -> Axes:
    """Channels are summed over like columns; the places in a picture keep their order."""
    x, weight = call.args[:2]
    bias = call.get(2, "bias")
    freeze_all([x[2:], weight[2:]])
    if call.get(6, "groups", 1) == 1:
        unify(x[1], weight[1])
    else:
        freeze_all([x[1:2], weight[:2]])  # channel i of the result reads its own group of channels only
    if bias is not None:
        unify(bias[0], weight[0])
    return (x[0], weight[0], *map(fixed, call.shape[2:]))


# ── looking up, and operations along an axis ─────────────────────────────────────────────────────────────


@_rule("embedding")
def _embedding(call: OperationCall) -> Axes:
    weight, indices = call.args[:2]
    # A row is found by its number, which is a token of the vocabulary and so has its place.
    freeze_all([weight[:1], indices])
    return (*indices, *weight[1:])


@_rule("index")
def _index(call: OperationCall) -> Axes:
    """Numbers looked up along neighbouring axes; the others stay."""
    x, indices = call.args[0], call.args[1]
    places = [place for place, index in enumerate(indices) if index is not None]
    looked_up = [indices[place] for place in places]
    freeze_all([tuple(x[place] for place in places), *looked_up])
    if places != list(range(places[0], places[-1] + 1)):
        # `x[i, :, j]`: the axis of the result goes to the front, past the axes between.
        freeze_all([x])
        return call.ordered
    return (*x[: places[0]], *_broadcast(looked_up), *x[places[-1] + 1 :])


@_rule("index_select")
def _index_select(call: OperationCall) -> Axes:
    place = call.place(1)
    freeze(call.x[place])
    return _replaced(call.x, place, fixed(call.shape[place]))


@_rule("pad constant_pad_nd")
def _lengthened(call: OperationCall) -> Axes:
    """Axes that grow at their ends have an order. `pad` has two numbers an axis, and begins at the last."""
    x, ends = call.x, call.get(1, "pad")
    grown = {len(x) - 1 - number // 2 for number, count in enumerate(ends) if count}
    freeze_all([tuple(x[place] for place in grown)])
    return tuple(fixed(size) if place in grown else x[place] for place, size in enumerate(call.shape))


@_rule("cumsum flip")
def _along(call: OperationCall) -> Axes:
    """Something that goes along some axes in order."""
    dims = call.get(1, "dim", -1)
    for place in dims if isinstance(dims, list) else [dims]:
        freeze(call.x[place % max(1, len(call.x))])
    return call.x


@_rule("sum mean amax amin var std logsumexp")
def _reduced(call: OperationCall) -> Axes:
    """Numbers that do not depend on the order along some axes."""
    x = call.x
    dims = call.get(1, "dim")
    listed = [dims] if isinstance(dims, int) else list(dims or range(len(x)))
    places = {place % max(1, len(x)) for place in listed}
    keep = len(call.shape) == len(x)
    return tuple(
        ONE if place in places else axis for place, axis in enumerate(x) if keep or place not in places
    )


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────


@_rule("transpose swapaxes")
def _transposed(call: OperationCall) -> Axes:
    x, one, other = list(call.x), call.place(1, "dim0"), call.place(2, "dim1")
    x[one], x[other] = x[other], x[one]
    return tuple(x)


@_rule("t numpy_T")
def _reversed(call: OperationCall) -> Axes:
    return tuple(reversed(call.x))


@_rule("permute")
def _permuted(call: OperationCall) -> Axes:
    return tuple(call.x[place] for place in call.get(1, "dims"))


@_rule("unsqueeze")
def _unsqueezed(call: OperationCall) -> Axes:
    x, place = call.x, call.get(1, "dim")
    place %= len(x) + 1
    return (*x[:place], ONE, *x[place:])


@_rule("squeeze")
def _squeezed(call: OperationCall) -> Axes:
    x, dims = call.x, call.get(1, "dim")
    listed = [dims] if isinstance(dims, int) else range(len(x)) if dims is None else dims
    places = {place % max(1, len(x)) for place in listed}
    return tuple(axis for place, axis in enumerate(x) if not (place in places and axis.size == 1))


@_rule("view reshape _unsafe_view flatten unflatten view_as reshape_as")
def _viewed(call: OperationCall) -> Axes:
    """Row-major, the elements stay where they are: axes are merged and split between common boundaries.

    `(2, 6, 5)` to `(4, 3, 5)`: 2·6 and 4·3 end at the same element, so 2·6 is split into 4·3, and 5 stays.
    """
    rest = [axis for axis in call.x if axis.size != 1]
    axes: list[Axis] = []
    pending = list(call.shape)
    while pending:
        sizes = [pending.pop(0)]
        if sizes == [1]:
            axes.append(ONE)
            continue
        merged = [rest.pop(0)]
        while (old := prod(axis.size for axis in merged)) != (new := prod(sizes)):
            if old < new:
                merged.append(rest.pop(0))
            else:
                sizes.append(pending.pop(0))
        axes += split(product(merged), sizes)
    return tuple(axes)


def _padded(call: OperationCall, length: int) -> Axes:
    """The first operand with axes of size one in front, as broadcasting adds them."""
    return (*(ONE for _ in range(length - len(call.x))), *call.x)


@_rule("expand expand_as broadcast_to")
def _expanded(call: OperationCall) -> Axes:
    """New or stretched axes hold the same numbers everywhere."""
    axes = zip(_padded(call, len(call.shape)), call.shape, strict=True)
    return tuple(axis if axis.size == size else atom(size) for axis, size in axes)


@_rule("repeat")
def _repeated(call: OperationCall) -> Axes:
    """The whole axis several times, one copy after the other: the number of the copy is the slower index."""
    times = call.get(1, "repeats")
    axes = zip(_padded(call, len(times)), times, strict=True)
    return tuple(product([atom(count), axis]) for axis, count in axes)


@_rule("repeat_interleave")
def _interleaved(call: OperationCall) -> Axes:
    """Each element several times, one beside the other: the number of the copy is the faster index."""
    times = call.get(1, "repeats")
    if not isinstance(times, int) or call.get(2, "dim") is None:
        freeze_all(call.operands)
        return call.ordered
    place = call.place(2)
    return _replaced(call.x, place, product([call.x[place], atom(times)]))


def _between(axis: Axis, start: int, stop: int) -> Axis:
    return cut(cut(axis, start)[1], stop - start)[0]


@_rule("slice")
def _sliced(call: OperationCall) -> Axes:
    place = call.place(1, default=0)
    axis = call.x[place]
    span = slice(call.get(2, "start"), call.get(3, "end"), call.get(4, "step", 1))
    start, stop, step = span.indices(axis.size)
    if step != 1:
        freeze(axis)
        return _replaced(call.x, place, fixed(call.shape[place]))
    return _replaced(call.x, place, _between(axis, start, stop))


@_rule("select")
def _selected(call: OperationCall) -> Axes:
    place = call.place(1)
    index = call.args[2] % call.x[place].size
    _between(
        call.x[place], index, index + 1
    )  # it keeps its place; the elements before it and after it move among themselves
    return _replaced(call.x, place)


@_rule("narrow")
def _narrowed(call: OperationCall) -> Axes:
    place, (start, length) = call.place(1), call.args[2:4]
    return _replaced(call.x, place, _between(call.x[place], start, start + length))


@_rule("unbind")
def _unbound(call: OperationCall) -> list[Axes]:
    place = call.place(1, default=0)
    freeze(call.x[place])
    return [_replaced(call.x, place)] * call.x[place].size


@_rule("split split_with_sizes chunk")
def _parted(call: OperationCall) -> list[Axes]:
    """One part after the other along an axis, as long as the results say."""
    place = call.place(2, default=0)
    parts: list[Axes] = []
    rest: Axis = call.x[place]
    for part in call.node.meta["val"]:
        first, rest = cut(rest, int(part.shape[place]))
        parts.append(_replaced(call.x, place, first))
    return parts


@_rule("cat concat")
def _concatenated(call: OperationCall) -> Axes:
    # An empty vector may be concatenated with anything: that is how caches of keys and values begin.
    parts = [axes for axes in call.args[0] if len(axes) > 1 or axes[0].size]
    place = call.get(1, "dim", 0) % max(1, len(parts[0]))
    shared = _broadcast(_replaced(axes, place) for axes in parts)
    return (*shared[:place], total(axes[place] for axes in parts), *shared[place:])


@_rule("stack")
def _stacked(call: OperationCall) -> Axes:
    parts = call.args[0]
    place = call.get(1, "dim", 0) % (len(parts[0]) + 1)
    shared = _broadcast(parts)
    return (*shared[:place], fixed(len(parts)), *shared[place:])

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
class Given:
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


Rule: TypeAlias = Callable[[Given], Any]
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
def _pointwise(given: Given) -> Axes:
    return _broadcast(given.operands)


# A softmax divides by a sum over its axis, and a sum does not depend on the order.
@_rule("to _to_copy contiguous clone alias detach detach_copy lift_fresh_copy softmax log_softmax")
@_rule("_softmax _log_softmax _assert_tensor_metadata")
def _same(given: Given) -> Axes:
    return given.x


@_rule("dropout")
def _dropout(given: Given) -> Axes:
    if given.get(2, "train", False) and given.get(1, "p", 0):
        freeze_all([given.x])  # the mask is drawn by place
    return given.x


@_rule("zeros ones full empty new_zeros new_ones new_full new_empty zeros_like ones_like")
@_rule("full_like empty_like scalar_tensor")
def _constant(given: Given) -> Axes:
    """The same number everywhere, in any order."""
    return tuple(map(atom, given.shape))


@_rule("arange linspace")
def _ordered(given: Given) -> Axes:
    return given.ordered


@_rule("copy")
def _copied(given: Given) -> Axes:
    """What is written into a view has the view's axes."""
    _broadcast(given.args[:2])
    return given.x


@_rule("sym_size")
def _size_of(given: Given) -> Any:
    return given.node.meta.get("val")


# ── products of matrices ─────────────────────────────────────────────────────────────────────────────────


@_rule("linear")
def _linear(given: Given) -> Axes:
    """x Wᵀ + b, with W of shape (out, in)."""
    x, weight = given.args[:2]
    bias = given.get(2, "bias")
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
def _matmul(given: Given) -> Axes:
    return _multiplied(given.args[0], given.args[1])


@_rule("addmm baddbmm")
def _addmm(given: Given) -> Axes:
    return _broadcast([_multiplied(given.args[1], given.args[2]), given.args[0]])


@_rule("einsum")
def _einsum(given: Given) -> Axes:
    equation, operands = given.args[0].replace(" ", ""), given.args[1]
    inward, arrow, outward = equation.partition("->")
    # Without an arrow the result's letters are implied, and `...` stands for any number of axes.
    if not arrow or "." in equation:
        freeze_all(operands)
        return given.ordered
    letters: dict[str, Axis] = {}
    for term, axes in zip(inward.split(","), operands, strict=True):
        for letter, axis in zip(term, axes, strict=True):
            letters[letter] = _joined(letters.get(letter, ONE), axis)
    return tuple(letters[letter] for letter in outward)


@_rule("scaled_dot_product_attention")
def _attention(given: Given) -> Axes:
    """softmax(Q Kᵀ + mask) V, with the heads of keys and values repeated where they are grouped."""
    query, key, value = given.args[:3]
    mask, causal = given.get(3, "attn_mask"), given.get(5, "is_causal", False)
    if given.get(7, "enable_gqa", False) and query[-3].size != key[-3].size:
        # Query heads i·n … i·n + n - 1 share key head i. So a permutation of the query heads is one of whole
        # groups, and one inside each group.
        heads = product([key[-3], atom(query[-3].size // key[-3].size)])
        unify(key[-3], value[-3])
        unify(query[-3], heads)
        key, value = ((*axes[:-3], query[-3], *axes[-2:]) for axes in (key, value))
    if causal or given.get(4, "dropout_p", 0.0):
        freeze_all([query[-2:-1], key[-2:-1]])  # a causal mask depends on the places of the tokens
    scores = _multiplied(query, (*key[:-2], key[-1], key[-2]))
    if mask is not None:
        scores = _broadcast([scores, mask])
    return _multiplied(scores, value)


@_rule("layer_norm rms_norm")
def _normalised(given: Given) -> Axes:
    """Layer or RMS normalisation over the last axes, with its weight and bias."""
    x, shape = given.args[:2]
    for weight in (given.get(2, "weight"), given.get(3, "bias")):
        if isinstance(weight, tuple):
            for axis, own in zip(x[len(x) - len(shape) :], weight, strict=True):
                unify(axis, own)
    return tuple(x)


@_rule("conv1d conv2d")
def _convolution(given: Given) -> Axes:
    """Channels are summed over like columns; the places in a picture keep their order."""
    x, weight = given.args[:2]
    bias = given.get(2, "bias")
    freeze_all([x[2:], weight[2:]])
    if given.get(6, "groups", 1) == 1:
        unify(x[1], weight[1])
    else:
        freeze_all([x[1:2], weight[:2]])  # channel i of the result reads its own group of channels only
    if bias is not None:
        unify(bias[0], weight[0])
    return (x[0], weight[0], *map(fixed, given.shape[2:]))


# ── looking up, and operations along an axis ─────────────────────────────────────────────────────────────


@_rule("embedding")
def _embedding(given: Given) -> Axes:
    weight, indices = given.args[:2]
    # A row is found by its number, which is a token of the vocabulary and so has its place.
    freeze_all([weight[:1], indices])
    return (*indices, *weight[1:])


@_rule("index")
def _index(given: Given) -> Axes:
    """Numbers looked up along neighbouring axes; the others stay."""
    x, indices = given.args[0], given.args[1]
    places = [place for place, index in enumerate(indices) if index is not None]
    looked_up = [indices[place] for place in places]
    freeze_all([tuple(x[place] for place in places), *looked_up])
    if places != list(range(places[0], places[-1] + 1)):
        # `x[i, :, j]`: the axis of the result goes to the front, past the axes between.
        freeze_all([x])
        return given.ordered
    return (*x[: places[0]], *_broadcast(looked_up), *x[places[-1] + 1 :])


@_rule("index_select")
def _index_select(given: Given) -> Axes:
    place = given.place(1)
    freeze(given.x[place])
    return _replaced(given.x, place, fixed(given.shape[place]))


@_rule("pad constant_pad_nd")
def _lengthened(given: Given) -> Axes:
    """Axes that grow at their ends have an order. `pad` has two numbers an axis, and begins at the last."""
    x, ends = given.x, given.get(1, "pad")
    grown = {len(x) - 1 - number // 2 for number, count in enumerate(ends) if count}
    freeze_all([tuple(x[place] for place in grown)])
    return tuple(fixed(size) if place in grown else x[place] for place, size in enumerate(given.shape))


@_rule("cumsum flip")
def _along(given: Given) -> Axes:
    """Something that goes along some axes in order."""
    wanted = given.get(1, "dim", -1)
    for place in wanted if isinstance(wanted, list) else [wanted]:
        freeze(given.x[place % max(1, len(given.x))])
    return given.x


@_rule("sum mean amax amin var std logsumexp")
def _reduced(given: Given) -> Axes:
    """Numbers that do not depend on the order along some axes."""
    x = given.x
    wanted = given.get(1, "dim")
    listed = [wanted] if isinstance(wanted, int) else list(wanted or range(len(x)))
    places = {place % max(1, len(x)) for place in listed}
    keep = len(given.shape) == len(x)
    return tuple(
        ONE if place in places else axis for place, axis in enumerate(x) if keep or place not in places
    )


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────


@_rule("transpose swapaxes")
def _transposed(given: Given) -> Axes:
    x, one, other = list(given.x), given.place(1, "dim0"), given.place(2, "dim1")
    x[one], x[other] = x[other], x[one]
    return tuple(x)


@_rule("t numpy_T")
def _reversed(given: Given) -> Axes:
    return tuple(reversed(given.x))


@_rule("permute")
def _permuted(given: Given) -> Axes:
    return tuple(given.x[place] for place in given.get(1, "dims"))


@_rule("unsqueeze")
def _unsqueezed(given: Given) -> Axes:
    x, place = given.x, given.get(1, "dim")
    place %= len(x) + 1
    return (*x[:place], ONE, *x[place:])


@_rule("squeeze")
def _squeezed(given: Given) -> Axes:
    x, wanted = given.x, given.get(1, "dim")
    listed = [wanted] if isinstance(wanted, int) else range(len(x)) if wanted is None else wanted
    places = {place % max(1, len(x)) for place in listed}
    return tuple(axis for place, axis in enumerate(x) if not (place in places and axis.size == 1))


@_rule("view reshape _unsafe_view flatten unflatten view_as reshape_as")
def _viewed(given: Given) -> Axes:
    """Row-major, the elements stay where they are: axes are merged and split between common boundaries.

    `(2, 6, 5)` to `(4, 3, 5)`: 2·6 and 4·3 end at the same element, so 2·6 is split into 4·3, and 5 stays.
    """
    rest = [axis for axis in given.x if axis.size != 1]
    axes: list[Axis] = []
    wanted = list(given.shape)
    while wanted:
        sizes = [wanted.pop(0)]
        if sizes == [1]:
            axes.append(ONE)
            continue
        merged = [rest.pop(0)]
        while (old := prod(axis.size for axis in merged)) != (new := prod(sizes)):
            if old < new:
                merged.append(rest.pop(0))
            else:
                sizes.append(wanted.pop(0))
        axes += split(product(merged), sizes)
    return tuple(axes)


def _padded(given: Given, length: int) -> Axes:
    """The first operand with axes of size one in front, as broadcasting adds them."""
    return (*(ONE for _ in range(length - len(given.x))), *given.x)


@_rule("expand expand_as broadcast_to")
def _expanded(given: Given) -> Axes:
    """New or stretched axes hold the same numbers everywhere."""
    axes = zip(_padded(given, len(given.shape)), given.shape, strict=True)
    return tuple(axis if axis.size == size else atom(size) for axis, size in axes)


@_rule("repeat")
def _repeated(given: Given) -> Axes:
    """The whole axis several times, one copy after the other: the number of the copy is the slower index."""
    times = given.get(1, "repeats")
    axes = zip(_padded(given, len(times)), times, strict=True)
    return tuple(product([atom(count), axis]) for axis, count in axes)


@_rule("repeat_interleave")
def _interleaved(given: Given) -> Axes:
    """Each element several times, one beside the other: the number of the copy is the faster index."""
    times = given.get(1, "repeats")
    if not isinstance(times, int) or given.get(2, "dim") is None:
        freeze_all(given.operands)
        return given.ordered
    place = given.place(2)
    return _replaced(given.x, place, product([given.x[place], atom(times)]))


def _between(axis: Axis, start: int, stop: int) -> Axis:
    return cut(cut(axis, start)[1], stop - start)[0]


@_rule("slice")
def _sliced(given: Given) -> Axes:
    place = given.place(1, default=0)
    axis = given.x[place]
    span = slice(given.get(2, "start"), given.get(3, "end"), given.get(4, "step", 1))
    start, stop, step = span.indices(axis.size)
    if step != 1:
        freeze(axis)
        return _replaced(given.x, place, fixed(given.shape[place]))
    return _replaced(given.x, place, _between(axis, start, stop))


@_rule("select")
def _selected(given: Given) -> Axes:
    place = given.place(1)
    index = given.args[2] % given.x[place].size
    _between(
        given.x[place], index, index + 1
    )  # it keeps its place; the elements before it and after it move among themselves
    return _replaced(given.x, place)


@_rule("narrow")
def _narrowed(given: Given) -> Axes:
    place, (start, length) = given.place(1), given.args[2:4]
    return _replaced(given.x, place, _between(given.x[place], start, start + length))


@_rule("unbind")
def _unbound(given: Given) -> list[Axes]:
    place = given.place(1, default=0)
    freeze(given.x[place])
    return [_replaced(given.x, place)] * given.x[place].size


@_rule("split split_with_sizes chunk")
def _parted(given: Given) -> list[Axes]:
    """One part after the other along an axis, as long as the results say."""
    place = given.place(2, default=0)
    parts: list[Axes] = []
    rest: Axis = given.x[place]
    for part in given.node.meta["val"]:
        first, rest = cut(rest, int(part.shape[place]))
        parts.append(_replaced(given.x, place, first))
    return parts


@_rule("cat concat")
def _concatenated(given: Given) -> Axes:
    # An empty vector may be concatenated with anything: that is how caches of keys and values begin.
    parts = [axes for axes in given.args[0] if len(axes) > 1 or axes[0].size]
    place = given.get(1, "dim", 0) % max(1, len(parts[0]))
    shared = _broadcast(_replaced(axes, place) for axes in parts)
    return (*shared[:place], total(axes[place] for axes in parts), *shared[place:])


@_rule("stack")
def _stacked(given: Given) -> Axes:
    parts = given.args[0]
    place = given.get(1, "dim", 0) % (len(parts[0]) + 1)
    shared = _broadcast(parts)
    return (*shared[:place], fixed(len(parts)), *shared[place:])

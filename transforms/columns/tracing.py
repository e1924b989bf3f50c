"""Traces one call of a module, and finds the groups of axes of its weights that may be permuted together.

`torch.export` gives the graph of ATen operations of the call. `rules` says of each operation which axes it
ties together. What remains free at the end may be permuted, each group by any permutation of its own.
"""

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, fields, is_dataclass, replace
from io import StringIO
from typing import Any, Final, Self

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from codeaudit.transforms.columns.axes import Axis, atom, fixed, freeze, unify
from codeaudit.transforms.columns.layout import Fixed, Layout, Member, Place, Product, Sum, members
from codeaudit.transforms.columns.rules import (
    Axes,
    OperationCall,
    Value,
    all_axes,
    freeze_all,
    name_of,
    rule_of,
    shape_of,
)
from codeaudit.transforms.errors import ModelError


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call. Tensors may be nested in lists, tuples, mappings and dataclasses."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, module: nn.Module) -> object:
        """Call the module with these arguments and return its output."""
        return module(*self.args, **self.kwargs)

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors in the arguments, in order."""
        listed: list[Tensor] = []

        def noted(tensor: Tensor) -> Tensor:
            listed.append(tensor)
            return tensor

        self._changed(noted)
        return listed

    def using(self, tensors: Iterator[Tensor]) -> "Call":
        """The same call with these in place of its tensors."""
        return self._changed(lambda tensor: next(tensors))

    def double(self) -> "Call":
        """The same call with all floating-point tensors in double precision."""
        return self._changed(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def _changed(self, change: Callable[[Tensor], Tensor]) -> "Call":
        args = tuple(_changed(value, change) for value in self.args)
        return Call(args, {key: _changed(value, change) for key, value in self.kwargs.items()})


def _changed(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]  # `replace` takes no others
        return replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    if isinstance(value, Mapping):
        return {key: _changed(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [_changed(part, change) for part in value]
        # A named tuple takes its parts one by one.
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


@contextmanager
def watched(module: nn.Module) -> Iterator[list[Call]]:
    """A context manager that records all calls of a module made inside it, in order."""
    calls: list[Call] = []

    def note(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        calls.append(Call(args, kwargs))

    handle = module.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield calls
    finally:
        handle.remove()


@contextmanager
def watched_apart(module: nn.Module) -> Iterator[set[str]]:
    """A context manager that records the names of parts with weights that run outside the module's calls."""
    names: set[str] = set()
    running = 0

    def begin(*_: object) -> None:
        nonlocal running
        running += 1

    def end(*_: object) -> None:
        nonlocal running
        running -= 1

    def note(name: str) -> Callable[..., None]:
        return lambda *_: None if running else names.add(name)

    handles = [module.register_forward_pre_hook(begin), module.register_forward_hook(end, always_call=True)]
    handles += [
        part.register_forward_pre_hook(note(name))
        for name, part in module.named_modules()
        if name and next(part.parameters(recurse=False), None) is not None
    ]
    try:
        yield names
    finally:
        for handle in handles:
            handle.remove()


class _Outputs(nn.Module):
    """A call of a module as a function from tensors to tensors."""

    def __init__(self, module: nn.Module, call: Call) -> None:
        super().__init__()
        self.module = module
        self._call = call

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        """The tensors of the result."""
        return tensors(self._call.using(iter(inputs))(self.module))


def tensors(result: object) -> list[Tensor]:
    """The floating-point tensors in a result, in the order in which they stand there.

    If a record has logits, only these, because they are the answer. Caches are left out.
    """
    if isinstance(result, Tensor):
        return [result] if result.is_floating_point() else []
    if isinstance(result, Mapping):
        logits = [value for name, value in result.items() if str(name).endswith("logits")]
        return [tensor for value in logits or result.values() for tensor in tensors(value)]
    if isinstance(result, list | tuple):
        return [tensor for value in result for tensor in tensors(value)]
    return []


class _Walk:
    """One pass over the graph of a traced call. It ties the axes that the operations tie."""

    def __init__(self, program: ExportedProgram) -> None:
        self.weights: dict[str, Axes] = {}
        """The axes of each parameter that the computation reads, under the first of its names."""
        self._unknown: dict[str, list[Axis]] = {}
        graph = program.graph_module
        graph.graph.eliminate_dead_code()  # operations that only read a shape tie nothing
        names = program.graph_signature.inputs_to_parameters
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        arguments = [self._placeholder(node, names.get(node.name)) for node in inputs]
        self.outputs = [axes for axes in self._run(graph, arguments) if isinstance(axes, tuple)]
        """The axes of each tensor that the computation gives."""

    @classmethod
    def of(cls, module: nn.Module, call: Call) -> Self:
        """The pass over a call of a module in evaluation mode.

        Raises:
            ModelError: the call cannot be traced.
        """
        try:
            # The tracer prints hundreds of lines of the graph before it raises.
            with torch.no_grad(), redirect_stderr(StringIO()):
                program = torch.export.export(_Outputs(module, call), tuple(call.tensors), strict=False)
        except Exception as error:  # whatever the module or the tracer raises
            message = " ".join(str(error).split())[:200]
            raise ModelError(
                f"cannot trace {type(module).__name__}: {type(error).__name__}: {message}"
            ) from error
        return cls(program)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Operations without a rule that froze something of a weight."""
        atoms = {part for axes in self.weights.values() for axis in axes for part in axis.atoms()}
        return tuple(
            name
            for name, touched in sorted(self._unknown.items())
            if any(part in atoms for axis in touched for part in axis.atoms())
        )

    def _placeholder(self, node: Node, weight: str | None) -> Value:
        shape = shape_of(node)
        if shape is None:
            return node.meta.get("val")
        if weight is None:  # an input or a buffer: what it holds has its places
            return tuple(map(fixed, shape))
        axes = tuple(map(atom, shape))
        if node.users:
            self.weights[weight.removeprefix("module.")] = axes
        return axes

    def _run(self, graph: GraphModule, arguments: Sequence[Value]) -> Sequence[Value]:
        values: dict[Node, Value] = {}
        inputs = iter(arguments)
        for node in graph.graph.nodes:
            match node.op:
                case "placeholder":
                    values[node] = next(inputs)
                case "get_attr":
                    values[node] = self._attribute(graph, node)
                case "call_function":
                    values[node] = self._call(node, values)
                case "output":
                    result = _valued(node.args[0], values)
                    return result if isinstance(result, list | tuple) else [result]
        return []

    def _attribute(self, graph: GraphModule, node: Node) -> Value:
        value = operator.attrgetter(str(node.target))(graph)
        return tuple(map(fixed, value.shape)) if isinstance(value, Tensor) else value

    def _call(self, node: Node, values: Mapping[Node, Value]) -> Value:
        args, kwargs = _valued(node.args, values), _valued(node.kwargs, values)
        if node.target is operator.getitem:
            return args[0][args[1]]
        if name_of(node.target) in WRAPPERS:
            # `with torch.no_grad():` in a module becomes a graph of its own, followed by its arguments.
            place = next(number for number, value in enumerate(args) if isinstance(value, GraphModule))
            return self._run(args[place], args[place + 1 :])
        rule = rule_of(node.target)
        if rule is None:
            return self._strange(node, (args, kwargs))
        call = OperationCall(args=args, kwargs=kwargs, node=node)
        shape = shape_of(node)
        axes = rule(call)
        # A rule may not fit every overload. Axes that do not fit the result must not be believed.
        if shape is not None and tuple(axis.size for axis in axes) != shape:
            return self._strange(node, (args, kwargs, axes))
        return axes

    def _strange(self, node: Node, touched: Value) -> Value:
        """Freeze everything that an operation without a rule reads or gives."""
        for axes in all_axes(touched):
            loose = [part for axis in axes for part in axis.atoms() if not part.frozen]
            self._unknown.setdefault(name_of(node.target), []).extend(loose)
            freeze_all([axes])
        return _frozen(node.meta.get("val"))


WRAPPERS: Final = frozenset({"wrap_with_set_grad_enabled", "wrap_with_autocast"})
"""Operations that only run a graph of their own."""


def _valued(argument: Any, values: Mapping[Node, Value]) -> Value:
    match argument:
        case Node():
            return values[argument]
        case dict():
            return {key: _valued(part, values) for key, part in argument.items()}
        case tuple() | list():
            return [_valued(part, values) for part in argument]
        case _:
            return argument


def _frozen(value: object) -> Value:
    if isinstance(value, Tensor):
        return tuple(fixed(int(size)) for size in value.shape)
    return [_frozen(part) for part in value] if isinstance(value, list | tuple) else value


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
        traced = _Walk.of(module, call)
    finally:
        module.train(training)
    if not free_outputs:
        freeze_all(traced.outputs)
    names = _names(module)
    weights = _by_name(traced.weights, names)
    # Tied parameters count once, under their first name.
    own = [weights.get(aliases[0], ()) for aliases in names]
    _freeze_unread([*own, *traced.outputs])
    numbers = _numbers(own)
    layout = Layout(
        sizes=tuple(axis.size for axis in numbers),
        tensors={name: tuple(_place(axis, numbers) for axis in axes) for name, axes in weights.items()},
    )
    return AxisGroups(
        layout=layout.only({number: number for number in range(len(numbers))}),
        outputs=tuple(tuple(_place(axis, numbers) for axis in axes) for axes in traced.outputs),
        inside=inside(module),
        unknown=traced.unknown,
        untraced=frozenset(name for aliases in names for name in aliases if name not in weights),
    )


def inside(module: nn.Module) -> frozenset[str]:
    """All names of the parameters in stacks of blocks; a tied one only if all its names are there."""
    stacks = tuple(
        f"{name}."
        for name, part in module.named_modules()
        if isinstance(part, nn.ModuleList) and len(part) > 0
    )
    return frozenset(
        name
        for aliases in _names(module)
        if all(alias.startswith(stacks) for alias in aliases)
        for name in aliases
    )


def _names(module: nn.Module) -> list[list[str]]:
    """The parameters, each with all its names."""
    by_id: defaultdict[int, list[str]] = defaultdict(list)
    for name, weight in module.named_parameters(remove_duplicate=False):
        by_id[id(weight)].append(name)
    return list(by_id.values())


def _by_name(weights: Mapping[str, Axes], names: Sequence[Sequence[str]]) -> dict[str, Axes]:
    """The traced axes under every name of their parameter."""
    named: dict[str, Axes] = {}
    for aliases in names:
        traced = [weights[name] for name in aliases if name in weights]
        # `export` gives a parameter with two names one placeholder for each, and both are one tensor.
        for other in traced[1:]:
            for axis, same in zip(traced[0], other, strict=True):
                unify(axis, same)
        if traced:
            named |= dict.fromkeys(aliases, traced[0])
    return named


def _freeze_unread(tensors: Sequence[Axes]) -> None:
    """Freeze the free atoms that stand once in all parameters and results.

    What a computation reads of an axis meets another axis, or its order matters. So these elements were cut
    off, as the rows of a table of places behind the end of a short text are. A longer text reads them.
    """
    counts = Counter(part for axes in tensors for axis in axes for part in axis.atoms())
    for part, number in counts.items():
        if number == 1:
            freeze(part)


def _numbers(weights: Sequence[Axes]) -> dict[Axis, int]:
    """The free atoms, numbered in the order in which they occur in the parameters."""
    numbers: dict[Axis, int] = {}
    for axes in weights:
        for axis in axes:
            for part in axis.atoms():
                if not part.frozen and part.size > 1:  # a single element has nothing to be exchanged with
                    numbers.setdefault(part, len(numbers))
    return numbers


def _place(axis: Axis, numbers: Mapping[Axis, int]) -> Place:
    axis = axis.resolved()
    if axis.kind == "atom":
        return Member(numbers[axis], axis.size) if axis in numbers else Fixed(axis.size)
    parts = tuple(_place(part, numbers) for part in axis.parts)
    if all(isinstance(part, Fixed) for part in parts):
        return Fixed(axis.size)
    return Product(parts) if axis.kind == "product" else Sum(parts)

"""Inputs for a function that is known only by its text.

The kinds of values for a parameter are read from its annotation, its default, the constants it is compared
with and the operations on it. Hypothesis draws the values, repeatably for a seed, as texts of Python
expressions: the contained process evaluates them, and a person can read them too. The texts hold literals,
`iter([…])`, `nan`, `inf` and `probe('name')`, an object that accepts every operation and records it
(`worker.Probe`).
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from codeaudit.transforms.python.parsing import FunctionNode, parse

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_DEEPEST: Final = 3
"""Deepest nesting of collections."""
_ATOMS: Final = {"int", "float", "str", "bool", "bytes", "complex", "none"}
_BY_ANNOTATION: Final = {
    "int": "int", "float": "float", "str": "str", "bool": "bool", "bytes": "bytes", "complex": "complex",
    "None": "none", "list": "list", "List": "list", "Sequence": "list", "MutableSequence": "list",
    "Collection": "list", "Iterable": "list", "Iterator": "iterator", "Generator": "iterator",
    "tuple": "tuple", "Tuple": "tuple", "set": "set", "Set": "set", "AbstractSet": "set",
    "frozenset": "set", "FrozenSet": "set", "dict": "dict", "Dict": "dict", "Mapping": "dict",
    "MutableMapping": "dict", "Number": "float", "AnyStr": "str", "Callable": "probe",
}  # fmt: skip
_TYPES: Final[Mapping[str, type]] = {kind.__name__: kind for kind in (str, list, dict, set, bytes)}
_OF_NUMBERS: Final = frozenset({"sum", "max", "min", "statistics", "fsum", "prod"})
_OF_ITEMS: Final = frozenset(
    {"sorted", "list", "tuple", "set", "enumerate", "map", "filter", "zip", "any", "all", "reversed", "iter"}
)
_OF_ONE: Final = {
    "range": "int", "abs": "float", "round": "float", "chr": "int", "ord": "letter", "divmod": "int",
    "bin": "int", "hex": "int", "pow": "int", "next": "iterator", "str": "int", "int": "digits",
    "float": "digits", "bool": "int", "callable": "probe", "sqrt": "float", "floor": "float", "ceil": "float",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ValueShape:
    """A kind of value, with what is in it."""

    kind: str
    """A type (`int`, `list`, `none`, …), or one of these:

    - `pair`: a tuple of fixed length; `numbered`: a dict with integer keys;
    - `letter`, `digits`: a string of one character, a string that is a number;
    - `probe`: an object that accepts every operation; `exact`: the expression `text` itself.
    """
    inner: tuple["ValueShape", ...] = ()
    """Alternatives for the items of a collection (for a dict: of its values); the items of a pair."""
    text: str = ""
    """The expression of an `exact` shape; the expression of a key that a `dict` certainly has."""


_INT: Final = ValueShape("int")
_STR: Final = ValueShape("str")
_NONE: Final = ValueShape("none")
_PROBE: Final = ValueShape("probe")
_INTS: Final = ValueShape("list", (_INT,))
ANY: Final = (_INT, _STR, _INTS, ValueShape("float"))
"""The shapes of a parameter about which nothing is known."""


def inputs(source: str, *, function: str | None = None, seed: int, count: int) -> tuple[str, ...]:
    """At most `count` texts of argument lists, such as `(1, [2.5], key='a')`; the same for a seed.

    There are fewer if there are not as many distinct ones, and none if the text has no function `function`.

    Raises:
        SourceError: the text is not Python.
    """
    node = find(source, function)
    return () if node is None else _drawn(_arguments(node), seed, count)


def find(source: str, function: str | None) -> FunctionNode | None:
    """The last function of that name at the top level of a text; of any name for `None`.

    Raises:
        SourceError: the text is not Python.
    """
    functions = [node for node in parse(source).body if isinstance(node, FunctionNode)]
    named = [node for node in functions if function in (None, node.name)]
    return named[-1] if named else None


def _drawn(strategy: "SearchStrategy[str]", seed: int, count: int) -> tuple[str, ...]:
    """The distinct texts that Hypothesis draws for a seed."""
    from unittest.mock import patch

    import hypothesis
    from hypothesis import configuration

    texts: dict[str, None] = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],  # nothing fails here, so there is nothing to shrink or to explain
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(strategy)
    def collect(text: str) -> None:
        texts[text] = None

    # Newer versions also draw constants of the modules that are loaded: those of codeaudit in a checkout, and
    # of the user's own model. Then inputs would depend on more than the text and the seed.
    providers: Any = sys.modules.get("hypothesis.internal.conjecture.providers")
    with ExitStack() as stack:
        # Hypothesis keeps tables of Unicode in `.hypothesis` of the folder where it runs: the user's.
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stack.enter_context(patch.object(configuration, "__hypothesis_home_directory", folder, create=True))
        if hasattr(providers, "_get_local_constants"):
            stack.enter_context(
                patch.object(providers, "_get_local_constants", lambda: providers.Constants())
            )
        collect()
    return tuple(texts)


def _arguments(function: FunctionNode) -> "SearchStrategy[str]":
    """A strategy for the argument lists of a function."""
    from hypothesis import strategies as st

    constants = _constants(function)
    parameters = function.args
    positional = [*parameters.posonlyargs, *parameters.args]
    defaults = [None] * (len(positional) - len(parameters.defaults)) + [*parameters.defaults]
    required = len(positional) - len(parameters.defaults)
    strategies = [
        _strategy(_shapes(function, parameter, default, first=place == 0), constants, 0)
        for place, (parameter, default) in enumerate(zip(positional, defaults, strict=True))
    ]
    keywords = [
        (parameter.arg, _strategy(_shapes(function, parameter, default), constants, 0), default is None)
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    ]
    extra = (
        _strategy(_shapes(function, parameters.vararg, None, star=True), constants, 0)
        if parameters.vararg
        else None
    )

    @st.composite
    def arguments(draw: "st.DrawFn") -> str:
        number = draw(st.integers(required, len(positional))) if required < len(positional) else required
        texts = [draw(strategy) for strategy in strategies[:number]]
        if extra is not None and number == len(positional):
            texts += draw(st.lists(extra, max_size=3))
        for name, strategy, always in keywords:
            if always or draw(st.booleans()):
                texts.append(f"{name}={draw(strategy)}")
        if parameters.kwarg and draw(st.booleans()):
            texts.append("extra=1")
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    return arguments()


def _constants(function: FunctionNode) -> dict[str, list[object]]:
    """The constants of a function by type: its branches probably ask for these values."""
    by_type: dict[str, list[object]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bytes):
            values = by_type.setdefault(type(node.value).__name__, [])
            short = not isinstance(node.value, str | bytes) or len(node.value) <= 20
            small = not isinstance(node.value, int | float) or abs(node.value) <= 10_000
            # A large number would be the size of a list or the end of a loop.
            if short and small and node.value not in values:
                values.append(node.value)
    return by_type


# ── what a parameter may be ───────────────────────────────────────────────────────────────────────────────


def _shapes(
    function: FunctionNode,
    parameter: ast.arg,
    default: ast.expr | None,
    *,
    first: bool = False,
    star: bool = False,
) -> tuple[ValueShape, ...]:
    """The shapes for one parameter, from its annotation or else from its uses and its default."""
    if first and parameter.arg in ("self", "cls"):  # a method that was taken out of its class
        return (_PROBE,)
    shapes = _annotated(parameter.annotation)
    if not shapes and not star:
        shapes = [*_used(function, parameter.arg, 0), *_of_literal(default)]
    return tuple(dict.fromkeys(shapes)) or ANY


def _annotated(annotation: ast.expr | None) -> list[ValueShape]:
    """The shapes of an annotation; empty if it says nothing known."""
    match annotation:
        case ast.Constant(value=None):
            return [_NONE]
        case ast.Constant(value=str(text)):
            try:
                return _annotated(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return []
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _annotated(left) + _annotated(right)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            kind = _BY_ANNOTATION.get(name)
            return [ValueShape(kind, () if kind in _ATOMS else (_INT,))] if kind else []
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=slice_):
            parts = slice_.elts if isinstance(slice_, ast.Tuple) else [slice_]
            return _generic(name, parts)
    return []


def _generic(name: str, parts: Sequence[ast.expr]) -> list[ValueShape]:
    if name == "Optional":
        return [*_annotated(parts[0]), _NONE]
    if name == "Union":
        return [shape for part in parts for shape in _annotated(part)]
    if name == "Literal":
        return [
            ValueShape("exact", text=ast.unparse(part)) for part in parts if isinstance(part, ast.Constant)
        ]
    kind = _BY_ANNOTATION.get(name)
    if kind is None:
        return []
    inner = [_annotated(part) for part in parts]
    # `tuple[int, ...]` has any length, `tuple[int, str]` two items.
    if kind == "tuple" and not (len(parts) == 2 and isinstance(parts[1], ast.Constant)):
        return [ValueShape("pair", tuple((shapes or list(ANY))[0] for shapes in inner))]
    if kind == "dict":
        return [ValueShape("numbered" if inner[0][:1] == [_INT] else "dict", tuple(inner[-1] or ANY))]
    return [ValueShape(kind, tuple(inner[0] or ANY))]


def _of_literal(default: ast.expr | None) -> list[ValueShape]:
    """The shapes of a literal; empty if the expression is none."""
    match default:
        case ast.Constant(value=None):
            return [_NONE]
        case ast.Constant(value=value) if type(value).__name__ in _ATOMS:
            return [ValueShape(type(value).__name__)]
        case ast.UnaryOp(operand=operand):
            return _of_literal(operand)
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return [ValueShape(type(default).__name__.lower(), (_INT,))]
    return []


def _used(function: ast.AST, name: str, depth: int) -> list[ValueShape]:
    """Shapes that fit the operations on a variable."""
    if depth > _DEEPEST:
        return [_INT]
    every = [shape for node in ast.walk(function) for shape in _from_use(function, node, name, depth)]
    collections = [shape for shape in every if shape.kind not in _ATOMS]
    # A value that is iterated or indexed is no number, whatever the other uses suggest.
    return [shape for shape in every if shape.kind in ("str", "none")] + collections if collections else every


def _from_use(function: ast.AST, node: ast.AST, name: str, depth: int) -> Iterator[ValueShape]:
    """The shapes that one node, an operation on the variable, suggests."""

    def is_it(part: ast.AST) -> bool:
        return isinstance(part, ast.Name) and part.id == name

    match node:
        case ast.For(target=target, iter=it) | ast.comprehension(target=target, iter=it) if is_it(it):
            yield ValueShape("list", _items(function, target, depth))
        case ast.Attribute(value=value, attr=attribute) if is_it(value):
            yield from _with_attribute(attribute)
        case ast.Subscript(value=value, slice=index) if is_it(value):
            yield from _subscripted(function, node, index, depth)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _compared(function, left, operator, right, is_it(left), is_it(right))
        case ast.BinOp(left=left, right=right) if is_it(left) or is_it(right):
            other = _of_literal(right if is_it(left) else left)
            yield from other or [_INT, ValueShape("float")]
        case ast.AugAssign(target=target, value=value) if is_it(target):
            yield from _of_literal(value) or [_INT]
        case ast.UnaryOp(op=ast.USub(), operand=operand) if is_it(operand):
            yield _INT
        case ast.Call(func=function_, args=args):
            if is_it(function_):
                yield _PROBE
            called = function_.id if isinstance(function_, ast.Name) else getattr(function_, "attr", "")
            if any(is_it(part) or (isinstance(part, ast.Starred) and is_it(part.value)) for part in args):
                yield from _passed(called, args, is_it(args[0]))
        case ast.withitem(context_expr=manager) if is_it(manager):
            yield _PROBE
        case ast.Await(value=value) if is_it(value):
            yield _PROBE


def _items(function: ast.AST, target: ast.expr, depth: int) -> tuple[ValueShape, ...]:
    if isinstance(target, ast.Tuple):
        return (ValueShape("pair", tuple(_items(function, part, depth + 1)[0] for part in target.elts)),)
    if isinstance(target, ast.Name):
        return tuple(dict.fromkeys(_used(function, target.id, depth + 1))) or (_INT, _STR)
    return (_INT,)


def _with_attribute(attribute: str) -> Iterator[ValueShape]:
    fitting = [kind for kind, type_ in _TYPES.items() if hasattr(type_, attribute)]
    if not fitting:
        yield _PROBE
    for kind in [kind for kind in fitting if kind != "bytes" or "str" not in fitting][:2]:
        yield ValueShape(kind, (_INT, _STR))


def _subscripted(function: ast.AST, node: ast.Subscript, index: ast.expr, depth: int) -> Iterator[ValueShape]:
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        yield ValueShape("dict", (_INT, _STR), repr(index.value))
        return
    nested = any(isinstance(inner, ast.Subscript) and inner.value is node for inner in ast.walk(function))
    yield ValueShape("list", (_INTS,)) if nested and depth < _DEEPEST else _INTS
    if not isinstance(node.ctx, ast.Store) and not nested:
        yield _STR


def _compared(
    function: ast.AST, left: ast.expr, operator: ast.cmpop, right: ast.expr, is_left: bool, is_right: bool
) -> Iterator[ValueShape]:
    if isinstance(operator, ast.In | ast.NotIn):
        if is_right:
            elements = _of_literal(left) or [_INT]
            yield ValueShape("list", tuple(elements))
            if elements[0].kind == "str":
                yield _STR
        elif is_left and isinstance(right, ast.List | ast.Tuple | ast.Set):
            for item in right.elts[:1]:
                yield from _of_literal(item)
        elif is_left and isinstance(right, ast.Constant) and isinstance(right.value, str):
            yield ValueShape("letter")
    elif is_left or is_right:
        yield from _of_literal(right if is_left else left) or [_INT]


def _passed(called: str, args: Sequence[ast.expr], first: bool) -> Iterator[ValueShape]:
    if called == "len":
        yield _INTS
        yield _STR
    elif called in _OF_NUMBERS and len(args) == 1:
        yield _INTS
    elif called in _OF_ITEMS:
        yield ValueShape("list", (_INT, _STR))
    elif called in _OF_ONE:
        yield ValueShape(_OF_ONE[called])
    elif called == "isinstance" and first:
        second = args[-1].elts if isinstance(args[-1], ast.Tuple) else args[-1:]
        for kind in second:
            yield from _annotated(kind)


# ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────


def _strategy(
    shapes: Iterable[ValueShape], constants: dict[str, list[object]], depth: int
) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    return st.one_of([_of_shape(shape, constants, depth) for shape in shapes])


def _of_shape(shape: ValueShape, constants: dict[str, list[object]], depth: int) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    kind = shape.kind
    if kind == "exact":
        return st.just(shape.text)
    if kind in _ATOMS or kind in ("letter", "digits"):
        return _atom(kind, constants)
    if kind == "probe":
        return st.sampled_from(["probe('a')", "probe('b')"])
    if kind == "pair":
        parts = [_of_shape(part, constants, depth + 1) for part in shape.inner]
        return st.tuples(*parts).map(lambda texts: f"({', '.join(texts)}{',' if len(texts) == 1 else ''})")
    inner = shape.inner if depth < _DEEPEST else ()
    items = _strategy(inner or (_INT,), constants, depth + 1)
    # Mostly one kind in a collection, because few functions expect mixtures.
    uniform = st.one_of(
        [st.lists(_of_shape(part, constants, depth + 1), max_size=6) for part in inner]
        or [st.lists(items, max_size=6)]
    )
    if kind == "dict":
        keys = st.sampled_from([repr(key) for key in ("a", "b", "c", *constants.get("str", ())[:5])])
        named = f"{shape.text}: " if shape.text else ""
        pairs = st.dictionaries(keys, items, max_size=4)
        return st.tuples(pairs, items).map(
            lambda drawn: _braces(
                [*(f"{k}: {v}" for k, v in drawn[0].items()), *([named + drawn[1]] if named else [])]
            )
        )
    if kind == "numbered":
        return st.dictionaries(st.integers(-2, 6), items, max_size=4).map(
            lambda drawn: _braces(f"{k}: {v}" for k, v in drawn.items())
        )
    if kind == "set":  # of atoms only, because a list in a set is a TypeError
        atoms = _strategy([part for part in inner if part.kind in _ATOMS] or [_INT], constants, depth + 1)
        return st.lists(atoms, max_size=5).map(lambda texts: _braces(texts) if texts else "set()")
    if kind == "tuple":
        return uniform.map(lambda texts: f"({', '.join(texts)}{',' if len(texts) == 1 else ''})")
    if kind == "iterator":
        return uniform.map(lambda texts: f"iter([{', '.join(texts)}])")
    return uniform.map(lambda texts: f"[{', '.join(texts)}]")


def _braces(texts: Iterable[str]) -> str:
    return "{" + ", ".join(texts) + "}"


def _atom(kind: str, constants: dict[str, list[object]]) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    known = [value for value in constants.get(kind, ()) if not isinstance(value, bool)]
    match kind:
        case "none":
            return st.just("None")
        case "bool":
            return st.sampled_from(["True", "False"])
        case "int":
            # `if n > 10` asks for 9, 10 and 11.
            near = [value + step for value in known if isinstance(value, int) for step in (-1, 0, 1)]
            values = st.integers(-3, 12) | st.integers(-200, 1000)
            return (st.sampled_from(near) | values if near else values).map(repr)
        case "float":
            plain = st.floats(-20, 100, width=16) | st.integers(-5, 20).map(float)
            numbers = [repr(value) for value in known] + ["-0.0", "nan", "inf", "0.5"]
            return plain.map(repr) | st.sampled_from(numbers)
        case "complex":
            return st.sampled_from(["0j", "1j", "(1+2j)", "(-0.5+0j)"])
        case "bytes":
            return (
                st.binary(max_size=6)
                | st.sampled_from([b"", b"ab", *(b for b in known if isinstance(b, bytes))])
            ).map(repr)
        case "digits":
            return st.integers(-20, 2000).map(lambda number: repr(str(number))) | _atom("int", constants)
    letters = "".join(
        sorted({letter for text in known if isinstance(text, str) for letter in text} | set("abcAB 1 ,.-"))
    )
    if kind == "letter":
        return st.sampled_from([repr(letter) for letter in letters])
    texts = st.text(letters, max_size=12)
    words = st.lists(st.sampled_from(["a", "bb", "The", "one", "12", "x", "aba"]), max_size=4).map(" ".join)
    either = texts | words
    return (st.sampled_from(known) | either if known else either).map(repr)

"""Inputs for a function of which only the text is known.

What a parameter may be is read from its annotation, its default, the constants it is compared with and
what is done to it. Values are drawn by Hypothesis, repeatably, as texts of Python expressions: they are
read in the contained process, and a person can read them too. Besides literals they hold `iter([…])`, `nan`,
`inf` and `probe('name')`, an object that is like anything and tells what was done to it.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.python.parsing import FunctionNode, parse

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_DEEPEST: Final = 3
_ATOMS: Final = {"int", "float", "str", "bool", "bytes", "complex", "none"}
_BY_ANNOTATION: Final = {
    "int": "int", "float": "float", "str": "str", "bool": "bool", "bytes": "bytes", "complex": "complex",
    "None": "none", "list": "list", "List": "list", "Sequence": "list", "MutableSequence": "list",
    "Collection": "list", "Iterable": "list", "Iterator": "iterator", "Generator": "iterator",
    "tuple": "tuple", "Tuple": "tuple", "set": "set", "Set": "set", "AbstractSet": "set",
    "frozenset": "set", "FrozenSet": "set", "dict": "dict", "Dict": "dict", "Mapping": "dict",
    "MutableMapping": "dict", "Number": "float", "AnyStr": "str", "Callable": "probe",
}  # fmt: skip
_TYPES: Final = {
    "str": str,
    "list": list,
    "dict": dict,
    "set": set,
    "bytes": bytes,
    "int": int,
    "float": float,
}
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
class Shape:
    """What a value may be: a kind, and what is in it."""

    kind: str
    inner: tuple["Shape", ...] = ()
    """Alternatives for the items of a collection (for a dict: of its values); the items of a pair."""


ANY: Final = (Shape("int"), Shape("str"), Shape("list", (Shape("int"),)), Shape("float"))


def inputs(source: str, *, function: str | None = None, seed: int, count: int) -> tuple[str, ...]:
    """Texts of argument lists, such as `(1, [2.5], key='a')`; equal arguments give equal texts.

    Fewer than `count` where there are not as many distinct ones; none where the text has no such function.

    Raises:
        SourceError: the text is not Python.
    """
    found = find(source, function)
    return () if found is None else _drawn(_arguments(found), seed, count)


def find(source: str, function: str | None) -> FunctionNode | None:
    """The function of that name at the top of a text, or the last one there.

    Raises:
        SourceError: the text is not Python.
    """
    found = [node for node in parse(source).body if isinstance(node, FunctionNode)]
    named = [node for node in found if function in (None, node.name)]
    return named[-1] if named else None


def _drawn(strategy: "SearchStrategy[str]", seed: int, count: int) -> tuple[str, ...]:
    import hypothesis

    texts: dict[str, None] = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(strategy)
    def collect(text: str) -> None:
        texts[text] = None

    collect()
    return tuple(texts)


def _arguments(function: FunctionNode) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    constants = _constants(function)
    parameters = function.args
    positional = [*parameters.posonlyargs, *parameters.args]
    defaults = [None] * (len(positional) - len(parameters.defaults)) + [*parameters.defaults]
    required = len(positional) - len(parameters.defaults)
    strategies = [
        _strategy(_shapes(function, one, default, first=place == 0), constants, 0)
        for place, (one, default) in enumerate(zip(positional, defaults, strict=True))
    ]
    keywords = [
        (one.arg, _strategy(_shapes(function, one, default), constants, 0), default is None)
        for one, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
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
    """The constants of a function by type: values that its branches ask for."""
    found: dict[str, list[object]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bytes):
            values = found.setdefault(type(node.value).__name__, [])
            short = not isinstance(node.value, str | bytes) or len(node.value) <= 20
            small = not isinstance(node.value, int | float) or abs(node.value) <= 10_000
            if short and small and node.value not in values:
                values.append(node.value)
    return found


# ── what a parameter may be ───────────────────────────────────────────────────────────────────────────────


def _shapes(
    function: FunctionNode,
    parameter: ast.arg,
    default: ast.expr | None,
    *,
    first: bool = False,
    star: bool = False,
) -> tuple[Shape, ...]:
    if first and parameter.arg in ("self", "cls"):
        return (Shape("probe"),)
    found = _annotated(parameter.annotation)
    if not found and not star:
        found = [*_used(function, parameter.arg, 0), *_of_literal(default)]
    return tuple(dict.fromkeys(found)) or ANY


def _annotated(annotation: ast.expr | None) -> list[Shape]:
    match annotation:
        case ast.Constant(value=None):
            return [Shape("none")]
        case ast.Constant(value=str(text)):
            try:
                return _annotated(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return []
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _annotated(left) + _annotated(right)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            kind = _BY_ANNOTATION.get(name)
            return [Shape(kind, () if kind in _ATOMS else (Shape("int"),))] if kind else []
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=slice_):
            parts = slice_.elts if isinstance(slice_, ast.Tuple) else [slice_]
            return _generic(name, parts)
    return []


def _generic(name: str, parts: Sequence[ast.expr]) -> list[Shape]:
    if name == "Optional":
        return [*_annotated(parts[0]), Shape("none")]
    if name == "Union":
        return [shape for part in parts for shape in _annotated(part)]
    if name == "Literal":
        return [Shape(f"={ast.unparse(part)}") for part in parts if isinstance(part, ast.Constant)]
    kind = _BY_ANNOTATION.get(name)
    if kind is None:
        return []
    inner = [_annotated(part) for part in parts]
    if kind == "tuple" and not (len(parts) == 2 and isinstance(parts[1], ast.Constant)):
        return [Shape("pair", tuple((one or list(ANY))[0] for one in inner))]
    if kind == "dict":
        return [Shape("dict" if inner[0][:1] != [Shape("int")] else "numbered", tuple(inner[-1] or ANY))]
    return [Shape(kind, tuple(inner[0] or ANY))]


def _of_literal(default: ast.expr | None) -> list[Shape]:
    match default:
        case ast.Constant(value=None):
            return [Shape("none")]
        case ast.Constant(value=value) if type(value).__name__ in _ATOMS:
            return [Shape(type(value).__name__)]
        case ast.UnaryOp(operand=operand):
            return _of_literal(operand)
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return [Shape(type(default).__name__.lower(), (Shape("int"),))]
    return []


def _used(function: ast.AST, name: str, depth: int) -> list[Shape]:
    """Shapes that fit what is done to a variable."""
    if depth > _DEEPEST:
        return [Shape("int")]
    found = [shape for node in ast.walk(function) for shape in _from_use(function, node, name, depth)]
    collections = [shape for shape in found if shape.kind not in _ATOMS]
    # What is iterated or indexed is no number, whatever else is said of it.
    return [shape for shape in found if shape.kind in ("str", "none")] + collections if collections else found


def _from_use(function: ast.AST, node: ast.AST, name: str, depth: int) -> Iterator[Shape]:
    def is_it(one: ast.AST) -> bool:
        return isinstance(one, ast.Name) and one.id == name

    match node:
        case ast.For(target=target, iter=it) | ast.comprehension(target=target, iter=it) if is_it(it):
            yield Shape("list", _items(function, target, depth))
        case ast.Attribute(value=value, attr=attribute) if is_it(value):
            yield from _with_attribute(attribute)
        case ast.Subscript(value=value, slice=index) if is_it(value):
            yield from _subscripted(function, node, index, depth)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _compared(function, left, operator, right, is_it(left), is_it(right))
        case ast.BinOp(left=left, right=right) if is_it(left) or is_it(right):
            other = _of_literal(right if is_it(left) else left)
            yield from other or [Shape("int"), Shape("float")]
        case ast.AugAssign(target=target, value=value) if is_it(target):
            yield from _of_literal(value) or [Shape("int")]
        case ast.UnaryOp(op=ast.USub(), operand=operand) if is_it(operand):
            yield Shape("int")
        case ast.Call(func=function_, args=args):
            if is_it(function_):
                yield Shape("probe")
            called = function_.id if isinstance(function_, ast.Name) else getattr(function_, "attr", "")
            if any(is_it(one) or (isinstance(one, ast.Starred) and is_it(one.value)) for one in args):
                yield from _passed(called, args, is_it(args[0]))
        case ast.withitem(context_expr=manager) if is_it(manager):
            yield Shape("probe")
        case ast.Await(value=value) if is_it(value):
            yield Shape("probe")


def _items(function: ast.AST, target: ast.expr, depth: int) -> tuple[Shape, ...]:
    if isinstance(target, ast.Tuple):
        return (
            Shape("pair", tuple((*_items(function, one, depth + 1), Shape("int"))[0] for one in target.elts)),
        )
    if isinstance(target, ast.Name):
        return tuple(dict.fromkeys(_used(function, target.id, depth + 1))) or (Shape("int"), Shape("str"))
    return (Shape("int"),)


def _with_attribute(attribute: str) -> Iterator[Shape]:
    fitting = [kind for kind in ("str", "list", "dict", "set", "bytes") if hasattr(_TYPES[kind], attribute)]
    if not fitting:
        yield Shape("probe")
    for kind in [kind for kind in fitting if kind != "bytes" or "str" not in fitting][:2]:
        yield Shape(kind, (Shape("int"), Shape("str")))


def _subscripted(function: ast.AST, node: ast.Subscript, index: ast.expr, depth: int) -> Iterator[Shape]:
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        yield Shape(f"dict {index.value!r}", (Shape("int"), Shape("str")))
        return
    nested = any(isinstance(one, ast.Subscript) and one.value is node for one in ast.walk(function))
    yield Shape("list", (Shape("list", (Shape("int"),)),) if nested and depth < _DEEPEST else (Shape("int"),))
    if not isinstance(node.ctx, ast.Store) and not nested:
        yield Shape("str")


def _compared(
    function: ast.AST, left: ast.expr, operator: ast.cmpop, right: ast.expr, is_left: bool, is_right: bool
) -> Iterator[Shape]:
    if isinstance(operator, ast.In | ast.NotIn):
        if is_right:
            held = _of_literal(left) or [Shape("int")]
            yield Shape("list", tuple(held))
            if held[0].kind == "str":
                yield Shape("str")
        elif is_left and isinstance(right, ast.List | ast.Tuple | ast.Set):
            for item in right.elts[:1]:
                yield from _of_literal(item)
        elif is_left and isinstance(right, ast.Constant) and isinstance(right.value, str):
            yield Shape("letter")
    elif is_left or is_right:
        yield from _of_literal(right if is_left else left) or [Shape("int")]


def _passed(called: str, args: Sequence[ast.expr], first: bool) -> Iterator[Shape]:
    if called == "len":
        yield Shape("list", (Shape("int"),))
        yield Shape("str")
    elif called in _OF_NUMBERS and len(args) == 1:
        yield Shape("list", (Shape("int"),))
    elif called in _OF_ITEMS:
        yield Shape("list", (Shape("int"), Shape("str")))
    elif called in _OF_ONE:
        yield Shape(_OF_ONE[called])
    elif called == "isinstance" and first:
        second = args[-1].elts if isinstance(args[-1], ast.Tuple) else args[-1:]
        for one in second:
            yield from _annotated(one)


# ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────


def _strategy(
    shapes: Iterable[Shape], constants: dict[str, list[object]], depth: int
) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    return st.one_of([_of_shape(shape, constants, depth) for shape in shapes])


def _of_shape(shape: Shape, constants: dict[str, list[object]], depth: int) -> "SearchStrategy[str]":
    from hypothesis import strategies as st

    kind, _, key = shape.kind.partition(" ")
    if kind.startswith("="):
        return st.just(shape.kind[1:])
    if kind in _ATOMS or kind in ("letter", "digits"):
        return _atom(kind, constants)
    if kind == "probe":
        return st.sampled_from(["probe('a')", "probe('b')"])
    if kind == "pair":
        parts = [_of_shape(one, constants, depth + 1) for one in shape.inner]
        return st.tuples(*parts).map(lambda texts: f"({', '.join(texts)}{',' if len(texts) == 1 else ''})")
    inner = shape.inner if depth < _DEEPEST else ()
    items = _strategy(inner or (Shape("int"),), constants, depth + 1)
    # Mostly one kind in a collection: mixtures are seldom meant.
    uniform = st.one_of(
        [st.lists(_of_shape(one, constants, depth + 1), max_size=6) for one in inner]
        or [st.lists(items, max_size=6)]
    )
    if kind == "dict":
        keys = st.sampled_from([repr(key) for key in ("a", "b", "c", *constants.get("str", ())[:5])])
        named = f"{key}: " if key else ""
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
    if kind == "set":
        atoms = _strategy(
            [one for one in inner if one.kind in _ATOMS] or [Shape("int")], constants, depth + 1
        )
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
            near = [value + step for value in known if isinstance(value, int) for step in (-1, 0, 1)]
            values = st.integers(-3, 12) | st.integers(-200, 1000)
            return (st.sampled_from(near) | values if near else values).map(repr)
        case "float":
            plain = st.floats(-20, 100, width=16) | st.integers(-5, 20).map(float)
            told = [repr(value) for value in known] + ["-0.0", "nan", "inf", "0.5"]
            return plain.map(repr) | st.sampled_from(told)
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
        sorted({letter for one in known if isinstance(one, str) for letter in one} | set("abcAB 1 ,.-"))
    )
    if kind == "letter":
        return st.sampled_from([repr(letter) for letter in letters])
    texts = st.text(letters, max_size=12)
    words = st.lists(st.sampled_from(["a", "bb", "The", "one", "12", "x", "aba"]), max_size=4).map(" ".join)
    either = texts | words
    return (st.sampled_from(known) | either if known else either).map(repr)

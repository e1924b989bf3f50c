"""Syntax that the analysis does not know is refused at every entry, with a reason."""

import ast
import re
from collections.abc import Callable
from typing import Any

import pytest

from codeaudit.transforms.errors import UnknownSyntaxError
from codeaudit.transforms.perturb import perturb_one, reapply
from codeaudit.transforms.python import parsing
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.files import places
from codeaudit.transforms.python.function_context import function_context
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.python.parsing import KNOWN, parse, unknown_syntax
from codeaudit.transforms.python.source import read
from codeaudit.transforms.records import Move, NotApplied
from codeaudit.transforms.registry import TRANSFORMS
from tests.support.fuzzing import unit

REASON = "syntax that is newer than the analysis"
TEXT = """\
def f(a, b):
    x = a
    y = b
    match a:
        case [c]:
            y = c
    return x + y
"""


class Shout(ast.stmt):
    _fields = ("value",)


class Hole(ast.expr):
    _fields = ("value",)


class Shape(ast.pattern):
    _fields = ("value",)


class Nand(ast.boolop):
    pass


class Same(ast.expr):
    """Has the name of a known node, and is none."""

    _fields = ("id",)


Same.__name__ = "Name"


class Clause(ast.excepthandler):
    _fields = ()


def _made(kind: Any, **fields: Any) -> Any:
    return kind(**fields)


def _statement(function: Any) -> None:
    function.body[1] = ast.copy_location(_made(Shout, value=ast.Constant(1)), function.body[1])


def _expression(function: Any) -> None:
    function.body[0].value = ast.copy_location(_made(Hole, value=ast.Constant(1)), function.body[0].value)


def _pattern(function: Any) -> None:
    case = function.body[2].cases[0]
    case.pattern = ast.copy_location(_made(Shape, value=ast.Constant(1)), case.pattern)


def _operator(function: Any) -> None:
    value = function.body[0].value
    function.body[0].value = ast.copy_location(ast.BoolOp(op=Nand(), values=[value, value]), value)


def _alike(function: Any) -> None:
    function.body[0].value = ast.copy_location(_made(Same, id="a"), function.body[0].value)


def _handler(function: Any) -> None:
    handlers: list[Any] = [Clause()]
    inner = ast.Try(body=[ast.Pass()], handlers=handlers, orelse=[], finalbody=[])
    function.body[1] = ast.fix_missing_locations(ast.copy_location(inner, function.body[1]))


def _starred(function: Any) -> None:
    value = function.body[0].value
    star = ast.copy_location(ast.Starred(value, ast.Load()), value)
    part = ast.comprehension(ast.Name("c", ast.Store()), value, [], 0)
    wrapped = ast.copy_location(ast.ListComp(star, [part]), value)
    function.body[0].value = ast.fix_missing_locations(wrapped)


KINDS = (_statement, _expression, _pattern, _operator, _alike, _handler, _starred)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__.strip("_"))
def text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A text whose tree holds a node that the analysis does not know. No cache has seen the text before."""
    own: Any = ast.parse
    name = "f_" + re.sub(r"\W", "_", request.node.name)
    source = TEXT.replace("def f(", f"def {name}(")

    def parsed(text: str, *args: object, **settings: object) -> Any:
        tree = own(text, *args, **settings)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                request.param(node)
        return tree

    monkeypatch.setattr(ast, "parse", parsed)
    monkeypatch.setattr(parsing, "PARSES_KNOWN_SYNTAX", False)
    return source


@pytest.mark.thinned(17)
@pytest.mark.parametrize(
    "entry",
    [
        parse,
        read,
        analyse,
        places,
        lambda text: function_context(f"import os\n{text}x = 1\n"),
        lambda text: list(REORDER.every(text)),
        REORDER.count,
    ],
)
def test_every_reader_refuses(entry: Callable[[str], object], text: str) -> None:
    with pytest.raises(UnknownSyntaxError, match=REASON):
        entry(text)


def test_every_transform_refuses(text: str) -> None:
    sample = unit(text)
    assert len(PYTHON.transforms) > 70
    for name in PYTHON.transforms:
        transform = TRANSFORMS.get(name)
        if transform.kind == "identity":
            continue
        (outcome,) = perturb_one(sample, transform, variants=1, seed=1)
        assert isinstance(outcome, NotApplied), name
        assert outcome.reason.startswith(REASON), name
        again = reapply(sample, transform, (Move(kind="order", site=0, value=(0,), note=""),))
        assert isinstance(again, NotApplied), name


def test_a_known_node_with_a_new_field_is_refused_where_the_field_is_used() -> None:
    tree: Any = ast.parse("import a")
    node = tree.body[0]
    assert unknown_syntax(tree) is None

    class Import(ast.Import):
        _fields = ("names", "is_lazy")

    tree.body[0] = _made(Import, names=node.names, is_lazy=1)
    assert unknown_syntax(tree) is not None


def test_the_parser_of_this_python_makes_known_nodes_only() -> None:
    if not parsing.PARSES_KNOWN_SYNTAX:
        pytest.skip("every tree is looked through")
    # Kinds that older versions had are made by no parser.
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite"}
    old |= {"AugLoad", "AugStore", "Param"}
    kinds = [
        kind
        for kind in vars(ast).values()
        if isinstance(kind, type)
        and issubclass(kind, ast.AST)
        and not kind.__subclasses__()
        and kind.__name__ not in old
    ]
    assert len(kinds) > 80
    for kind in kinds:
        assert set(kind._fields) <= KNOWN[kind.__name__], kind

"""One walk finds the nodes of a text that `ast.walk` finds."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.transforms.python.analysis.facts import bound_by
from codeaudit.transforms.python.analysis.kinds import NodesByKind
from codeaudit.transforms.python.parsing import FunctionNode, parse

TEXT = '''\
import os.path as p, sys
from a import *

@wrap(lambda g: [*g])
def outer(a, /, b=lambda: 0, *c, d: int = 1, **e) -> "int":
    """Text."""
    global g
    def inner(): return {**a, 1: f"{b!r:>{d}}"}
    try:
        (y := [z for z in c if z])
        d[1:2], other.part = x
    except (E, F) as error:
        del a
    match a:
        case [1, *rest] | {"k": rest, **more} | C(x=rest) | None as whole: pass
    async def late():
        class Local(Base, key=0):
            size = property(lambda self: self.n)

def plain(): return a < b < c and not -d
'''
_PACKAGE = Path(__file__).parents[4] / "transforms" / "python"
SOURCES = [one for one in _PACKAGE.rglob("*.py") if one.stat().st_size > 4000]


@pytest.mark.thinned(1)
@pytest.mark.parametrize("text", [TEXT, *(path.read_text() for path in sorted(SOURCES)[:12])])
def test_the_nodes_are_those_of_a_walk(text: str) -> None:
    tree = parse(text)
    nodes = NodesByKind(tree)
    silent = (ast.Module, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    walked = [node for node in ast.walk(tree) if not isinstance(node, silent)]
    found = [node for kind in {type(node) for node in walked} for node in nodes(kind)]
    assert Counter(map(id, found)) == Counter(map(id, walked))

    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert nodes.holders == {
        id(node)
        for node in walked
        if isinstance(node, FunctionNode)
        and any(isinstance(part, scopes) for part in ast.walk(node) if part is not node)
    }
    assert nodes.bound == Counter(name for node in walked for name in bound_by(node))
    for top in tree.body:
        calls = [part for part in ast.walk(top) if isinstance(part, ast.Call)]
        assert set(map(id, nodes.calls_in(top))) == set(map(id, calls))


def test_the_nodes_of_a_kind_stand_in_the_order_of_the_text() -> None:
    nodes = NodesByKind(parse(TEXT))
    assert [one.name for one in nodes.functions] == ["outer", "inner", "plain", "late"]
    assert [one.value.id for one in nodes(ast.Starred) if isinstance(one.value, ast.Name)] == ["g"]

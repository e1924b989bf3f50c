"""One walk finds the nodes of a text that `ast.walk` finds, and what they mention.

Whatever the tree shows, the words of the text allow.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.python.analysis import capabilities
from codeaudit.transforms.python.analysis.capabilities import Sees, looks_at_variables, may_look, shown_by
from codeaudit.transforms.python.analysis.facts import bound_by, own_nodes
from codeaudit.transforms.python.analysis.index import TextIndex, index_in, words_of
from codeaudit.transforms.python.parsing import FunctionNode, parse
from tests.support.stdlib import sample

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
SOURCES = [path for path in _PACKAGE.rglob("*.py") if path.stat().st_size > 4000]


@pytest.mark.thinned(1)
@pytest.mark.parametrize("text", [TEXT, *(path.read_text() for path in sorted(SOURCES)[:12])])
def test_the_nodes_are_those_of_a_walk(text: str) -> None:
    tree = parse(text)
    nodes = TextIndex(tree)
    silent = (ast.Module, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    walked = [node for node in ast.walk(tree) if not isinstance(node, silent)]
    indexed = [node for kind in {type(node) for node in walked} for node in nodes(kind)]
    assert Counter(map(id, indexed)) == Counter(map(id, walked))

    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert nodes.holders == {
        id(node)
        for node in walked
        if isinstance(node, FunctionNode | ast.ClassDef)
        and any(isinstance(part, scopes) for part in ast.walk(node) if part is not node)
    }
    assert nodes.bound == Counter(name for node in walked for name in bound_by(node))
    for top in (node for node in walked if isinstance(node, FunctionNode | ast.ClassDef)):
        for kind in (ast.Call, ast.Return, ast.Yield, ast.YieldFrom):
            parts = [part for part in ast.walk(top) if isinstance(part, kind)]
            assert set(map(id, nodes.inside(top, kind))) == set(map(id, parts))
        if isinstance(top, FunctionNode):
            own = [node for node in own_nodes(top.body) if isinstance(node, ast.Return)]
            assert set(map(id, nodes.own(top, ast.Return))) == set(map(id, own))


def test_the_nodes_of_a_kind_stand_in_the_order_of_the_text() -> None:
    nodes = TextIndex(parse(TEXT))
    assert [function.name for function in nodes.functions] == ["outer", "inner", "plain", "late"]
    assert [node.value.id for node in nodes(ast.Starred) if isinstance(node.value, ast.Name)] == ["g"]


NAMES = ("f_locals", "co_varnames", "__dict__", "locals")


def spellings(name: str) -> Sequence[str]:
    """Texts that are this name, made of constants in the ways that programs use."""
    cut = Random(name).randrange(1, len(name))
    first, second = name[:cut], name[cut:]
    return (
        f"{name!r}",
        f"{first!r} {second!r}",
        f"{first!r} + {second!r}",
        f"({first!r}\n    {second!r})",
        f"''.join([{first!r}, {second!r}])",
        f"''.join(({first!r}, {second!r}))",
        f"'%s%s' % ({first!r}, {second!r})",
        f"'{first}%s' % {second!r}",
        f"'%s{second}' % ({first!r},)",
        f"({first!r}  # it's one\n    {second!r})",
        f"'''{first}''' '''{second}'''",
        f"({first!r}) + (r{second!r})",
        f"{first!r} '' {second!r}",
        f"'{first}\\\n{second}'",
        f"'{{}}{second}'.format({first!r})",
        f"'{first}{{}}'.format({second!r})",
        f"b{name!r}.decode()",
        f'f"{{{first!r}}}{second}"',
        f'f"{first}{{{second!r}}}"',
        "'" + "".join(f"\\x{ord(letter):02x}" for letter in name) + "'",
        "'" + "".join(f"\\{ord(letter):o}" for letter in name) + "'",
        f"'\\N{{LATIN SMALL LETTER {name[1].upper()}}}{name[2:]}'" if name[1].isalpha() else f"{name!r}",
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_words_hold_every_name_that_the_tree_shows(name: str) -> None:
    for spelled in spellings(name):
        text = f"def f(x):\n    y = 1\n    return getattr(x, {spelled})\n"
        texts, words = index_in(ast.parse(text)).texts, words_of(text)
        made = {name for name in texts if name.isidentifier()}
        assert made, spelled
        assert words is None or made <= words, spelled


@pytest.mark.parametrize("name", ["f_locals", "co_varnames"])
def test_a_name_is_seen_however_its_text_is_made(name: str) -> None:
    for spelled in spellings(name)[:-1]:
        text = f"def f(x):\n    y = 1\n    return getattr(x, {spelled})\n"
        assert shown_by(text), spelled
        assert may_look(text), spelled


def test_whatever_looks_has_a_word_that_says_so() -> None:
    sources = sample(400)
    looking = [source for source in sources if looks_at_variables(ast.parse(source))]
    assert looking
    assert all(map(may_look, looking))
    assert sum(map(may_look, sources)) < len(sources) / 4


LOOKING = [
    'f"{locals=}"', 'f"{locals = !r}"', "f'''{locals=\n}'''", "show = locals", "f(locals)", "f(show=locals)",
    "[locals]", "locals if x else 0", "x and locals or y", "locals is x", "locals in x", "locals not in x",
    "locals == x", "x = locals\n (y)", "x = locals \\\n", "return locals", "lambda: locals", "(locals # x\n)",
    "locals\\\n and x", 'import_module("buil" "tins").locals()', 'import_module("buil" + "tins").locals()',
    "from builtins import locals as l", "from builtins import len, locals as l", "open(sys.argv[0])",
    "open(sys.argv [ 0 ])", "open(sys.argv\\\n[0])", "open((sys.argv)[0])", "open(__file__)",
    "open((sys.argv # x\n[ # x\n0]))", 'getattr(f, "f_\\\nlocals")', 'getattr(f, "f_" "\\x6cocals")',
    'getattr(f, "f_\\\n" "locals")', 'getattr(f, "\\x66_" "locals")', 'getattr(f, "f_" "\\\nlocals")',
    '"{}{}".format("f_", "locals")', "f\"{'f_'}locals\"", '"%s_%s" % ("f", "locals")',
    "f\"{'_'.join(['f', 'locals'])}\"", '"{}".format("_".join(("f", "locals")))',
    '"{}".format("_".join( ["f", "locals"]))',
]  # fmt: skip


@pytest.mark.thinned(3)
@pytest.mark.parametrize("line", LOOKING)
def test_a_tree_is_read_wherever_it_shows_something(line: str) -> None:
    text = f"import sys\nfrom importlib import import_module\ndef f(x, y):\n {line}\n"
    both = Sees.LOCALS | Sees.SOURCE
    assert capabilities._shown_by(text) & both
    assert shown_by(text, both) & both == capabilities._shown_by(text) & both


NOT_LOOKING = [
    "# the dir of it", "x = ['exec']", "mkdtemp(dir=x)", "from builtins import open as o",
    "open(x)", "'<{}>'.format(' '.join(x))", "f'{\", \".join(x)}'",
]  # fmt: skip


@pytest.mark.parametrize("line", NOT_LOOKING)
def test_a_tree_that_shows_nothing_is_seldom_read(line: str) -> None:
    assert not capabilities._may_show(f"import sys\n{line}\n", Sees.LOCALS | Sees.SOURCE)

"""Which Python statements may change places, and which may not."""

import ast
import sysconfig
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

import pytest

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import emitted
from codeaudit.transforms.dependence.graph import permute
from codeaudit.transforms.dependence.relations import TRAINABLE, Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse
from codeaudit.transforms.seeding import stream


def movable(body: str, parameters: str = "a, b, c") -> bool:
    """Whether the first two statements of a body may change places."""
    source = f"def f({parameters}):\n" + indent(dedent(body).strip(), "    ") + "\n"
    return not analyse(source).blocks[1].predecessors[1] & 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = 1\ny = 2", id="constants"),
        pytest.param("x = a\ny = b", id="copies of parameters"),
        pytest.param("x = []\ny = {}", id="fresh containers"),
        pytest.param("x = 1\na.run()", id="a constant and a call"),
        pytest.param("x = lambda: 1\na.run()", id="a lambda and a call"),
        pytest.param("x = 1\ny = x2 = 'text'.upper()", id="methods of str on str"),
        pytest.param("x = 0\nfor i in range(3):\n    y = i", id="a constant and a loop over numbers"),
        pytest.param("x, y = 1, 2\nz = 3", id="unpacking what is written out"),
        pytest.param("x = a is None\nb()", id="identity and a call"),
        pytest.param("x = 1\nif a:\n    return b", id="a constant and an early return"),
        pytest.param("x = []\nif a is None:\n    raise ValueError(b)", id="a fresh list and a guard"),
        pytest.param("def g():\n    return 1\na.run()", id="a nested function and a call"),
        pytest.param("x: int = 1\na.run()", id="an annotated constant"),
        pytest.param("xs = [1]\nys = []\nxs.append(2)", id="lists of one's own"),
        pytest.param("x = G\ny = H", id="globals exist"),
        pytest.param("x = os.sep\ny = a.b", id="modules have their attributes"),
        pytest.param("x = a.b\ny = isinstance(b, int)", id="isinstance of a builtin type does not raise"),
        pytest.param("x = type(a)\ny = b.c", id="type only reads a class"),
        pytest.param("x = type([a])\nb()", id="a list has the class of lists"),
        pytest.param("x = super()\ny = b.c", id="super without arguments"),
        pytest.param("a = None\nb()", id="the order in which values are dropped is not seen"),
        pytest.param("import re\nimport json", id="standard modules are found in any order"),
        pytest.param("import re\ny = a.b", id="an import and a look"),
        pytest.param("x = {}\ny = []\nx['k'] = 1\ny.append(2)", id="containers of one's own"),
        pytest.param("b()\nx = 1\nsum(x for _ in a)", id="a generator that sum uses up"),
        pytest.param("def g():\n    return a\ndef h():\n    return a", id="two closures over one variable"),
        pytest.param("x = a.upper() if isinstance(a, str) else ''\ny = 1", id="a constant and anything"),
    ],
)
def test_may_change_places(body: str) -> None:
    assert movable(body)


@pytest.mark.thinned(12)
@pytest.mark.parametrize(
    "body",
    [
        "x, y = a",
        "x = 1 in a",
        "x = list(a)",
        "x = [i for i in a]",
        "x = enumerate(a)",
        "x = [*a]",
        "x, *y = a",
    ],
)
@pytest.mark.parametrize(
    "annotation", ["list", "list[G]", "dict[str, G] | None", "Optional[Tuple[G]]", "Union[set, str]"]
)
def test_an_annotated_parameter_is_only_looked_at(body: str, annotation: str) -> None:
    other = "z = G"
    assert movable(f"{body}\n{other}", f"a: {annotation}")
    for unknown in ("Sequence[G]", "list | G", "Optional[G]"):
        assert not movable(f"{body}\n{other}", f"a: {unknown}")
    assert not movable(f"{body}\n{other}\na = iter(a)", f"a: {annotation}")
    # Other code may change it.
    assert not movable(f"{body}\nb[0] = 1", f"a: {annotation}, b")


def method(body: str) -> bool:
    """Whether the first two statements of a method may change places."""
    return movable(body, "self, a, b")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("self._x = a\nself._y = b", id="stores to different private attributes"),
        pytest.param("self._x = a\ny = G", id="a store and a global"),
        pytest.param("x = self.p\ny = self.q", id="attributes of self exist"),
        pytest.param("x = self.p\ny = b[0]", id="an attribute of self and what may raise"),
        pytest.param(
            "self._x = a\ny = self._z\nself._z = b",
            id="private attributes that the function stores are plain",
        ),
    ],
)
def test_in_a_method_may_change_places(body: str) -> None:
    assert method(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("self._x = a\nself._x = b", id="stores to one attribute"),
        pytest.param("self.x = a\nself.y = b", id="a public attribute may be a property with a setter"),
        pytest.param("self.x = a\nself._y = b", id="a setter may look at private attributes"),
        pytest.param("self._x = a\ny = self._x", id="reading what was stored"),
        pytest.param("self._x = a\ny = self.area", id="an attribute that may be computed from the other"),
        pytest.param("self._x = a\ny = b.c", id="another object's attribute may be computed from it"),
        pytest.param("self._x = a\nself.run()", id="a method sees the store"),
        pytest.param("self._x = a\ny = b[0]", id="who catches the error sees the store"),
        pytest.param("if a:\n    return b\nx = self.p", id="an exit may guard the look-up"),
        pytest.param("assert a is b\nx = self.p", id="an assertion may guard the look-up"),
        pytest.param("if a:\n    return b\nself._x = a", id="an exit and a store"),
        pytest.param("a._x = 1\nself._x = 2", id="self may have another name"),
        pytest.param("self = a\nself._x = b", id="self is another object"),
        pytest.param(
            "x = self.p\ntry:\n    y = self.q\nexcept E:\n    pass", id="who asks knows that it may fail"
        ),
    ],
)
def test_in_a_method_may_not_change_places(body: str) -> None:
    assert not method(body)


@pytest.mark.thinned(21)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = 1\ny = x", id="read after write"),
        pytest.param("y = a\na = 1", id="write after read"),
        pytest.param("x = 1\nx = 2", id="write after write"),
        pytest.param("a()\nb()", id="two calls"),
        pytest.param("x = a.b\ny = a.c", id="attributes may run code"),
        pytest.param("x = a + b\ny = b + c", id="operators may run code"),
        pytest.param("x = a[0]\ny = b[0]", id="subscripts may raise"),
        pytest.param("a.x = 1\nb.y = 2", id="attribute writes may alias"),
        pytest.param("a[0] = 1\nb[0] = 2", id="subscript writes may alias"),
        pytest.param("x = [i for i in a]\nb()", id="iteration may run code"),
        pytest.param("x = f'{a}'\nb()", id="formatting may run code"),
        pytest.param("x = not a\nb()", id="truth may run code"),
        pytest.param("x = a == b\nc()", id="comparison may run code"),
        pytest.param("x = G.p\ny = c[0]", id="a global that is no module may lack an attribute"),
        pytest.param("x = a == b\ny = c[0]", id="equality may raise"),
        pytest.param("x = a != 1\ny = c[0]", id="equality with a constant may raise"),
        pytest.param("x = a in (b, 1)\ny = c[0]", id="containment asks for equality"),
        pytest.param("x = 1 // a\nb()", id="division may raise"),
        pytest.param("x = GLOBAL\na()", id="a call may rebind a global"),
        pytest.param("x = 1\nreturn a", id="return ends its block"),
        pytest.param("x = 1\nyield a", id="yield suspends"),
        pytest.param("import os\nx = a()", id="imports run code"),
        pytest.param("global g\nx = 1", id="global must come first"),
        pytest.param("x = 1\n'text'", id="a text that would become the docstring"),
        pytest.param("x = locals()\ny = 1", id="locals sees every variable"),
        pytest.param("x = a.f(lambda: y)\ny = 1", id="a captured variable and a call"),
        pytest.param("del a\nb()", id="del drops an object"),
        pytest.param("with a:\n    x = 1\nb()", id="contexts run code"),
        pytest.param("xs = [1]\nb(xs)\nys = xs.copy()", id="a list that has escaped"),
        pytest.param("assert a\nb()", id="an assertion may raise"),
        pytest.param("while a:\n    pass\nb()", id="a loop may not end"),
        pytest.param("@a\ndef g(): pass\nb()", id="decorators run code"),
        pytest.param("def g(x=a()): pass\nb()", id="defaults run code"),
        pytest.param("class C: pass\nb()", id="class bodies run code"),
        pytest.param("x, y = a\nb()", id="unpacking may run code"),
        pytest.param("x, y = a\nz = G", id="unpacking may change a global"),
        pytest.param("x = a in b\nz = G", id="a test of an iterator uses it up"),
        pytest.param("x = int(a)\nz = G", id="a conversion may run code"),
        pytest.param("x = a.b\ny = isinstance(b, G)", id="isinstance may raise"),
        pytest.param("x = a.b\ny = getattr(b, 'x', None)", id="a property may raise"),
        pytest.param("x = y\ny = 2\n", id="an unbound local"),
        pytest.param("x = a.b\ny = len(c)", id="len may raise"),
        pytest.param("x = sorted(a)\ny = list(b)", id="sorting uses an iterator up"),
        pytest.param("x = any(a)\ny = any(a)", id="any uses an iterator up"),
        pytest.param("x, y = a\nz, w = a", id="unpacking uses an iterator up"),
        pytest.param("a += b\nc()", id="an object may be changed in place"),
        pytest.param("xs = ys = []\nxs.append(1)\nys.append(2)", id="two names of one list"),
        pytest.param("d = {}\nks = d.keys()\nd['k'] = 1\nx = list(ks)", id="a view shows the dict"),
        pytest.param("x = type(a)\nb()", id="unknown code may give an object another class"),
        pytest.param("x = callable(a)\nb.__call__ = c", id="a class may get a method"),
        pytest.param("x = super()\nb()", id="super reads the class"),
        pytest.param("x = a\ndef g():\n    return x\nx = 2", id="a captured variable that is bound again"),
        pytest.param(
            "b()\nx = 1\nsum = a\nsum(x for _ in a)", id="a generator that a variable called sum keeps"
        ),
        pytest.param("sys.path = a\nimport x", id="an import sees what was done before"),
        pytest.param("def g(y: x):\n    pass\nx = 1\nz = g.a", id="annotations may be evaluated later"),
        pytest.param("class C:\n    y: x\nx = 1\nz = C.a", id="annotations of a class, too"),
        pytest.param("import plug\nx = len(registry.names)", id="an import runs code"),
        pytest.param("from .plug import x\ny = G", id="a relative import runs code"),
        pytest.param("import this\na.b", id="a standard module that acts"),
        pytest.param("if a:\n    return 1\nx = winreg.key", id="an exit may guard a look-up"),
        pytest.param("if a:\n    return 1\nx = G", id="an exit may guard a global"),
        pytest.param("x = G\ny = H\nif hasattr(a, 'b'):\n    c = 1", id="who asks knows that it may fail"),
    ],
)
def test_may_not_change_places(body: str) -> None:
    assert not movable(body)


def test_in_a_try_the_order_of_binding_and_raising_counts() -> None:
    source = """\
def f(a):
    x = 0
    try:
        x = 1
        a()
    except ValueError:
        return x
"""
    inside = analyse(source).blocks[2]
    assert inside.predecessors == (0, 1)
    assert movable("x = 1\na()")


def test_in_a_loop_break_and_what_it_leaves_behind_keep_their_order() -> None:
    source = """\
def f(xs, a):
    x = 0
    for y in xs:
        x = 1
        if a:
            break
    return x
"""
    assert analyse(source).blocks[2].predecessors == (0, 1)


def test_a_global_read_may_raise_where_the_function_catches_name_errors() -> None:
    source = """\
def f():
    try:
        x = unicode
        y = basestring
    except NameError:
        x = y = str
"""
    assert analyse(source).blocks[2].predecessors == (0, 1)


def test_a_name_bound_where_it_is_not_always_evaluated_may_be_unbound() -> None:
    source = """\
def f(a, b):
    a is None and (y := 1)
    x = y
    b()
"""
    assert analyse(source).blocks[1].predecessors[2] & 0b10


def test_equal_names_of_different_functions_are_different_variables() -> None:
    source = """\
def f(a):
    def g(x):
        y = x
        return y
    {0} = a
    return {0}
"""
    graphs = {analyse(source.format(name)).graph for name in ("y", "z")}
    assert len(graphs) == 1


def test_what_a_nested_function_binds_itself_is_not_captured() -> None:
    source = """\
def f(a, b):
    x = 1
    def g(x):
        return x
    b()
    return g
"""
    assert analyse(source).blocks[1].predecessors[2] & 0b1 == 0


def test_what_the_parser_warns_of_stays_silent() -> None:
    assert analyse("def f():\n    return '\\d'\n").lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param(
            '@d\ndef f(x: int, *, y=1) -> str:\n    """Doc."""\n    # note\n    if x:\n        return 1\n'
            "    elif y:\n        pass\n    else:\n        z = (\n            1)\n",
            ["@d def f(x: int, *, y=1) -> str:", "if x:", "return 1", "else:", "if y:", "pass", "else:", "z = 1"],
            id="headers and clauses",
        ),
        pytest.param(
            "def f(x):\n    try:\n        a()\n    except (A, B) as e:\n        b()\n    else:\n        c()\n"
            "    finally:\n        d()\n",
            ["def f(x):", "try:", "a()", "except (A, B) as e:", "b()", "else:", "c()", "finally:", "d()"],
            id="try",
        ),
        pytest.param(
            "async def f(x):\n    async for a, b in x:\n        await a\n    match x:\n        case [1, *r] if r:\n"
            "            pass\n    with x as y, y: pass\n    while True: break\n",
            ["async def f(x):", "async for a, b in x:", "await a", "match x:", "case [1, *r] if r:", "pass",
             "with x as y, y:", "pass", "while True:", "break"],
            id="the others",
        ),
    ],
)  # fmt: skip
def test_lines_are_simple_statements_headers_and_clauses(source: str, lines: list[str]) -> None:
    assert [line.text for line in analyse(source).lines] == lines


def test_every_line_hangs_under_its_header_or_clause() -> None:
    program = analyse("def f(a):\n    if a:\n        b = 1\n    else:\n        c = 1\n    return a\n")
    assert [line.parent for line in program.lines] == [-1, 0, 1, 1, 3, 0]
    assert [line.depth for line in program.lines] == [0, 1, 2, 1, 2, 1]


@pytest.mark.parametrize(
    "source",
    ["def f(:", "def f():\n\tx\n        y", "x = \0", "def f():\n    x = " + "(" * 5000 + ")" * 5000],
)
def test_what_is_not_python_is_one_clear_error(source: str) -> None:
    with pytest.raises(SourceError, match=r"not valid Python|nested too deeply"):
        analyse(source)


@cache
def stdlib_functions() -> list[tuple[str, str]]:
    functions = []
    for module in ("textwrap", "inspect", "tokenize", "shutil", "ast", "dis", "pydoc", "locale"):
        path = Path(sysconfig.get_path("stdlib")) / f"{module}.py"
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        functions += [
            (f"{module}.{node.name}", "".join(lines[node.lineno - 1 : node.end_lineno]))
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef)
        ]
    return functions


def lines_in(program: PythonProgram, choose: dict[int, tuple[int, ...]]) -> list[int]:
    """The lines of a program after some of its blocks are permuted."""
    numbers = {id(block): number for number, block in enumerate(program.blocks)}
    return emitted(
        program.root, lambda block: choose.get(numbers[id(block)], tuple(range(len(block.statements))))
    )


@pytest.mark.weekly
@pytest.mark.parametrize("dependence", TRAINABLE)
def test_the_graph_of_a_legally_permuted_function_is_the_permuted_graph(dependence: Dependence) -> None:
    from codeaudit.transforms.python.order.reorder import REORDER
    from codeaudit.transforms.records import Move

    moved = 0
    reorder = REORDER.under(dependence)
    for name, source in stdlib_functions():
        moves = reorder.propose(source, stream(0, name))
        if not isinstance(moves, tuple):
            continue
        program, chosen = analyse(source, dependence=dependence), {}
        for move in moves:
            assert isinstance(move, Move)
            assert isinstance(move.value, tuple)
            chosen[move.site] = move.value
        order = lines_in(program, chosen)
        rewritten = reorder.apply(source, moves)
        if not isinstance(rewritten, Rewritten):
            assert dependence == "paper", name  # a `global` behind the use of its name does not compile
            continue
        after = analyse(rewritten.source, dependence=dependence)
        assert [line.text for line in after.lines] == [program.lines[old].text for old in order], name
        assert after.graph.predecessors == permute(program.graph.predecessors, order), name
        moved += 1
    assert moved > 15


@pytest.mark.slow
def test_sampled_lines_keep_every_dependence_and_every_parent() -> None:
    for name, source in stdlib_functions():
        program = analyse(source)
        order = program.sample_lines(stream(1, name))
        assert sorted(order) == list(range(len(program.lines)))
        assert orders.is_legal(program.graph.predecessors, order), name

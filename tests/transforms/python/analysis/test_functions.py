"""Calls of functions that the file shows only to look."""

import ast
import gc
import random
import weakref

import pytest

from codeaudit.transforms.dependence.effects import LOOKS_UP, OBSERVES, RAISES
from codeaudit.transforms.python.analysis.index import index_in
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.analysis.shown import shown_looks
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.reordering import is_movable

LOOK = OBSERVES | RAISES


def called(file: str, name: str = "q") -> tuple[int, str | None] | None:
    """What the file shows of a function: its flags and the type of its result."""
    function = shown_looks(file, ast.parse(file)).bindings.called(name)
    return None if function is None else (function.flags, function.gives)


def movable(definitions: str, body: str, header: str = "f(a, b)") -> bool:
    """Whether the first two statements of a function of a file may change places."""
    function = f"def {header}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"import os\n{definitions}\n{function}"
    block = analyse(function, around=file).root.statements[0].parts[1]
    assert not isinstance(block, int)
    return not block.predecessors[1] & 1


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ("def q(): return 3", (0, "int")),
        ("def q(): pass", (0, "none")),
        ("def q(n): return n", (0, None)),
        ("def q(n): return [n]", (0, "list")),
        ("def q(n): return n, n", (0, "tuple")),
        ("def q(n):\n    '''Text.'''\n    out = {}\n    out['k'] = n\n    return out", (0, "dict")),
        ("def q(n):\n    if n is None:\n        return 'a'\n    return 'b'", (0, "str")),
        ("def q(n):\n    if n is None:\n        return 'a'\n    else:\n        return 'b'", (0, "str")),
        ("def q(n):\n    if n is None:\n        return 'a'", (0, None)),
        ("def q(): return LIMIT", (LOOKS_UP, None)),
        ("def q(n): return n.size", (LOOK, None)),
        ("def q(n): return n + 1", (LOOK, None)),
        ("def q(n): return len(n)", (LOOK, "int")),
        ("def q(n):\n    if n is None:\n        raise ValueError(n)\n    return 1.5", (RAISES, "float")),
        ("def q(n):\n    raise AttributeError(n)", (RAISES, None)),
        ("def q(n):\n    assert n is None", (RAISES, "none")),
        ("def q(n: list):\n    for x in n:\n        pass", (LOOK, "none")),
        ("def p(n): return n[0]\ndef q(n): return p(n)", (LOOK, None)),
        ("def q(n): return p(n)\ndef p(n): return [n]", (0, "list")),
        ("def q():\n    def inner():\n        print()\n    return inner", (RAISES, None)),
    ],
)
def test_what_a_file_shows_of_a_function(definition: str, told: tuple[int, str | None]) -> None:
    assert called(definition + "\nx = 1\n") == told


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param("def q(n): print(n)", id="acts"),
        pytest.param("def q(n): n.append(1)", id="changes what it gets"),
        pytest.param("def q(n): n.x = 1", id="stores an attribute"),
        pytest.param("def q(n): return n()", id="runs what it gets"),
        pytest.param("def q(n):\n    for x in n:\n        pass", id="iterates over what it gets"),
        pytest.param("def q(n):\n    global G\n    G = n", id="binds a global"),
        pytest.param("def q(n):\n    yield n", id="a generator runs later"),
        pytest.param("async def q(n): return n", id="a coroutine runs later"),
        pytest.param("def q(n): return locals()", id="sees its own variables"),
        pytest.param("def q(n): return p(n)\ndef p(n): print(n)", id="calls what acts"),
        pytest.param("def q(n): return q(n - 1) if n else 0", id="comes back to itself"),
        pytest.param("def q(n): return p(n)\ndef p(n): return q(n)", id="comes back through another"),
        pytest.param("@trace\ndef q(n): return n", id="decorated"),
        pytest.param("def q(self): return self.x", id="a receiver's attributes are assumed to exist"),
        pytest.param("if os.name:\n    def q(n): return n", id="not at the top level"),
        pytest.param("def q(n): return n\ndef q(n): print(n)", id="bound twice"),
        pytest.param("def q(n): return n\nq = trace(q)", id="bound again"),
        pytest.param("def q(n): return n\ndef r():\n    global q\n    q = print", id="bound by a function"),
        pytest.param("def q(n): return n\ndef r(q): pass", id="a parameter has its name"),
        pytest.param("def q(n): return n\nclass C:\n    def q(self): print()", id="a method has its name"),
        pytest.param("def q(n): return n\nfrom tools import *", id="an import may bind it"),
        pytest.param("def q(n): return n\nglobals()['q'] = print", id="bound in the namespace"),
        pytest.param("def q(n): return n\nvars(m).update(q=print)", id="bound in the module's dict"),
        pytest.param("def q(n): return n\nm.__dict__['q'] = print", id="bound in its __dict__"),
        pytest.param("def q(n): return n\nimport m\nm.q = print", id="bound as an attribute"),
        pytest.param("def q(n): return n\ndel m.q", id="taken away as an attribute"),
        pytest.param("def q(n): return n\nsetattr(m, 'q', print)", id="bound by setattr"),
        pytest.param("def q(n): return n\nsetattr(m, k, print)", id="setattr may bind anything"),
        pytest.param("def q(n): return n\nq.__code__ = print.__code__", id="its code is replaced"),
        pytest.param("def q(n): return n\nexec(text)", id="exec may bind anything"),
        pytest.param("def q(n): return n.x\nclass C:\n    @property\n    def x(self): print()", id="what it reads acts"),
        pytest.param("def __q(n): return n", id="a method that calls it calls another name"),
    ],
)  # fmt: skip
def test_functions_that_may_do_anything(definition: str) -> None:
    file = f"import os\n{definition}\nx = 1\n"
    assert called(file) is None
    assert called(file, "__q") is None


def test_a_private_name_in_a_class_is_another_name() -> None:
    assert called("def __q(n): return n\nx = 1\n", "__q") is None


@pytest.mark.parametrize("order", [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]])
def test_it_does_not_matter_which_is_asked_for_first(order: list[str]) -> None:
    """`b` and `c` come back to themselves, and so does nothing else."""
    file = """\
def a(n): return b(n) if n else 1
def b(n):
    def later(): return c(n)
    return 1
def c(n): return b(n)
def d(n): return 2
"""
    bindings = shown_looks(file, ast.parse(file)).bindings
    assert {name: bindings.called(name) is not None for name in order} == {
        "a": False, "b": False, "c": False, "d": True,
    }  # fmt: skip


@pytest.mark.weekly
def test_a_long_chain_of_calls() -> None:
    count = 3000
    lines = [f"def f{number}(n): return f{number + 1}(n)" for number in range(count)]
    random.Random(1).shuffle(lines)
    file = "\n".join([*lines, f"def f{count}(n): return [n]"])
    bindings = shown_looks(file, ast.parse(file)).bindings
    function = bindings.called("f0")
    assert function is not None
    assert function.gives == "list"


@pytest.mark.parametrize(
    ("arguments", "call", "fits"),
    [
        ("", "q()", True),
        ("", "q(1)", False),
        ("x", "q()", False),
        ("x", "q(1)", True),
        ("x", "q(x=1)", True),
        ("x", "q(1, x=1)", False),
        ("x", "q(y=1)", False),
        ("x, y=2", "q(1)", True),
        ("x, y=2", "q(1, 2)", True),
        ("x, y=2", "q(y=1)", False),
        ("x, y=2", "q(1, 2, 3)", False),
        ("x, /", "q(x=1)", False),
        ("x, /", "q(1)", True),
        ("*, x", "q()", False),
        ("*, x", "q(x=1)", True),
        ("*, x=1", "q()", True),
        ("*rest", "q(1, 2, 3)", True),
        ("*rest, x", "q(1)", False),
        ("x", "q(*a)", False),
        ("x", "q(**a)", False),
    ],
)
def test_whether_arguments_fit_is_what_python_says(arguments: str, call: str, fits: bool) -> None:
    file = f"def q({arguments}): return 1\nx = 1\n"
    function = shown_looks(file, ast.parse(file)).bindings.called("q")
    assert function is not None
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert function.fits(node) is fits
    if "*a" not in call:
        space: dict[str, object] = {}
        exec(file, space)
        try:
            works = eval(call, space) == 1
        except TypeError:
            works = False
        assert works is fits


QUIET = "def level(): return G\ndef need(n):\n    if n is None:\n        raise ValueError\n    return n\ndef new(n): return [n]\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = new(a)\ny = new(b)", id="two calls that only compute"),
        pytest.param("x = new(a)\ny = need(b)", id="one of them may raise"),
        pytest.param("x = level()\ny = need(b)", id="one of them looks"),
        pytest.param("x = new(a)\nprint(b)", id="what only computes and what acts"),
        pytest.param("x = new(a)\ny = new(b)\nx.append(1)", id="the lists are new"),
    ],
)
def test_may_change_places(body: str) -> None:
    assert movable(QUIET, body)


def test_lists_that_a_function_makes_are_different_ones() -> None:
    function = "def f(a, b):\n    x = new(a)\n    y = new(b)\n    x.append(1)\n    y.append(2)\n"
    block = analyse(function, around=f"{QUIET}{function}").root.statements[0].parts[1]
    assert not isinstance(block, int)
    assert block.predecessors == (0, 0, 1, 2)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = level()\nprint(a)", id="what is looked at may be changed"),
        pytest.param("x = need(a)\ny = need(b)", id="both may raise"),
        pytest.param("x = need(a)\nprint(b)", id="one may raise and one acts"),
        pytest.param("x = new(a, b)\nprint(b)", id="the arguments do not fit"),
        pytest.param("x = new(*a)\nprint(b)", id="the arguments are unpacked"),
        pytest.param("x = new(a)\nprint(x)", id="the result is used"),
        pytest.param("x = new(a)\nx.append(b)", id="the new list is changed"),
        pytest.param("need = a\nx = need(b)\n", id="a variable has the name"),
        pytest.param("x = need\ny = [need(i) for need in a]\n", id="a comprehension binds the name"),
    ],
)
def test_may_not_change_places(body: str) -> None:
    assert not movable(QUIET, body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x = new(a)\nprint(b)\nreturn x", id="the call is freed"),
        pytest.param("x = new(a)\nx.append(1)\nprint(b)\nreturn x", id="a use of its result is freed"),
    ],
)
def test_reorder_reads_the_file_where_one_of_its_functions_is_called(body: str) -> None:
    function = "def f(a, b):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"{QUIET}{function}"
    assert any(map(is_movable, REORDER.within(file).ordering(function).blocks))
    assert not any(map(is_movable, REORDER.within(function).ordering(function).blocks))


def test_a_variable_of_the_function_around_is_not_the_function_of_the_file() -> None:
    """A variant may have a local with the name of a function, a module or a class of its file."""
    file = f"from os import sep\n{QUIET}def f(a, b):\n    g = a\n"
    for name in ("new", "sep"):
        inner = f"x = {name}(b)\n        print(b)" if name == "new" else f"x = len({name})\n        y = b[0]"
        function = f"def f(a, b):\n    {name} = a\n    def inner(b):\n        {inner}\n    return inner\n"
        nested = analyse(function, around=file).blocks[-1]
        assert nested.predecessors[1] & 1, name
        free = analyse(function.replace(f"    {name} = a\n", ""), around=file).blocks[-1]
        assert not free.predecessors[1] & 1, name


@pytest.mark.parametrize("more", ["", "class C:\n    @property\n    def size(self): return q(1)\n"])
def test_a_file_is_forgotten_without_a_search_for_garbage(more: str) -> None:
    """Trees are large; where they stood in cycles, the search for garbage took a tenth of a run."""
    file = f"import os\ndef q(n): return [n]\n{more}x = 1\n"
    gc.disable()
    try:
        tree = ast.parse(file)
        looks = shown_looks(file, tree)
        assert looks.bindings.called("q") is not None
        gone = weakref.ref(tree)
        del looks, tree
        index_in.cache_clear()
        assert gone() is None
    finally:
        gc.enable()

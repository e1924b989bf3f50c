"""Ways to look at code, or to change what it means, each in several spellings. By execution.

Each text prints something that a rewriting could change if nobody asked who can see it.
"""

import sys
from itertools import product
from types import ModuleType

import pytest

import codeaudit

GENERATOR = """\
import inspect, operator
def steps():
    first = 1
    second = 2
    yield
    third = 3
    return first, second, third
def told(g):
    return {look}
g = steps()
next(g)
print(told(g))
"""
TRACEBACK = """\
import traceback, sys
def fail():
    first = 1
    second = 2
    raise ValueError
def report(tb):
    return {look}
try:
    fail()
except ValueError as error:
    print(report(error.__traceback__.tb_next))
"""
CODE = """\
import inspect, operator, dis
def work(a):
    first = 1
    second = 2
    return first + second + a
def told(f):
    return {look}
print(told(work))
"""
OBJECT = """\
import operator, builtins, copy
class C:
    def __init__(self, a, b):
        self._a = a
        self._b = b
def told(o):
{look}
print(told(C(1, 2)))
"""
CLASSES = """\
import operator, sys, builtins
class Base:
    def one(self): return 1
    def two(self): return 2
    class Inner: pass
class A(Base): pass
class B(Base): pass
def told(kind):
    return {look}
print(told(Base))
"""
PATCHED = """\
import sys, builtins
from unittest import mock
seen = []
def told(x):
    seen.append(x)
    return 7
def work(xs, n):
    a = len(xs)
    b = n + 1
    c = len([b])
    for x in range(len(xs)):
        seen.append(x)
    return a, b, c
{bind}
print(seen)
"""
METHODS = """\
from unittest import mock
import operator
seen = []
def same(self, other):
    seen.append(str(type(other)))
    return True
class Desc:
    def __set__(self, o, v): seen.append(v)
    def __get__(self, o, k): return 0
class A:
    def __init__(self, a, b):
        self._x = a
        self._y = b
def work(a, b, xs):
    c = a == b
    d = a == xs
    return c, d
{bind}
print(seen)
"""
SOURCE = """\
import inspect, sys
def work(a):
    first = 1
    second = 2
    return first + second + a
def told(f):
    return {look}
print(told(work))
"""
TEXTS = {
    "5 frames of generators": (
        GENERATOR,
        "look",
        (
            "list(g.gi_frame.f_locals)",
            "sorted(inspect.getgeneratorlocals(g))",
            "sorted(getattr(g, 'gi_frame').f_locals)",
            "list(getattr(g.gi_frame, 'f_' + 'locals'))",
            "list(operator.attrgetter('gi_frame.f_locals')(g))",
            "'{0.gi_frame.f_locals}'.format(g)",
            "inspect.getgeneratorlocals(g)",
        ),
    ),
    "5 tracebacks": (
        TRACEBACK,
        "look",
        (
            "list(tb.tb_frame.f_locals)",
            "[list(f.f_locals) for f, _ in traceback.walk_tb(tb)]",
            "list(traceback.TracebackException(ValueError, ValueError(), tb, capture_locals=True).stack[0].locals)",
            "list(getattr(tb, 'tb_' 'frame').f_locals)",
        ),
    ),
    "5 code objects": (
        CODE,
        "look",
        (
            "f.__code__.co_varnames",
            "getattr(f.__code__, 'co_varnames')",
            "operator.attrgetter('__code__.co_varnames')(f)",
            "[i.argval for i in dis.get_instructions(f.__code__)]",
            "'{0.__code__.co_varnames}'.format(f)",
            "(lambda c: c.co_varnames)(f.__code__)",
        ),
    ),
    "3 attributes of an object": (
        OBJECT,
        "look",
        (
            '    return list(getattr(o, "__dict__", None))',
            '    return "{0.__dict__}".format(o)',
            "    return builtins.vars(o)",
            '    return operator.attrgetter("__dict__")(o)',
            "    match o:\n        case object(__dict__=d):\n            return d",
            "    return o.__getstate__()",
            '    return getattr(o, "__di" "ct__")',
            "    return o.__reduce_ex__(2)[2]",
        ),
    ),
    "4 namespaces of classes": (
        CLASSES,
        "look",
        (
            'list(getattr(kind, "__dict__"))[:5]',
            'getattr(kind, "__subclasses__")()',
            "kind.__subclasses__()",
            '[one for one in operator.attrgetter("__dict__")(kind)]',
            "list(builtins.vars(kind))",
            "[one for one in sys._getframe(1).f_locals if one[0] in 'AB']",
            "[one for one in told.__globals__ if one in 'AB']",
        ),
    ),
    "10 the own module is patched": (
        PATCHED,
        "bind",
        (
            "sys.modules[__name__].len = told\nwork([1], 2)",
            "setattr(sys.modules[__name__], 'len', told)\nwork([1], 2)",
            "globals()['l' + 'en'] = told\nwork([1], 2)",
            "with mock.patch(__name__ + '.len', told, create=True):\n    work([1], 2)",
            "with mock.patch.object(sys.modules[__name__], 'len', told, create=True):\n    work([1], 2)",
            "sys.modules.get(__name__).__dict__['len'] = told\nwork([1], 2)",
        ),
    ),
    "9, 11 methods are attached": (
        METHODS,
        "bind",
        (
            "A.__eq__, A.__ne__ = same, same\nwork(A(1, 2), A(1, 2), 3)",
            "for A.__eq__ in [same]: pass\nwork(A(1, 2), A(1, 2), 3)",
            "put = setattr\nput(A, '__eq__', same)\nwork(A(1, 2), A(1, 2), 3)",
            "type.__setattr__(A, '__eq__', same)\nwork(A(1, 2), A(1, 2), 3)",
            "B = type('B', (A,), dict({}, __eq__=same))\nwork(B(1, 2), B(1, 2), 3)",
            "A._x, A._y = Desc(), Desc()\nA(1, 2)",
            "replace = mock.patch.object\nwith replace(A, '__eq__', same):\n    work(A(1, 2), A(1, 2), 3)",
            "with mock.patch(__name__ + '.A.__eq__', same):\n    work(A(1, 2), A(1, 2), 3)",
            "kind = A\nkind._x = Desc()\nkind._y = Desc()\nA(1, 2)",
        ),
    ),
    "23 the order of names": (
        SOURCE,
        "look",
        (
            "list(locals())",
            "(lambda: [n for n in sys._getframe(1).f_locals])()",
        ),
    ),
}
ALL = (
    "reorder", "rename", "reorder-targets", "reorder-methods", "reorder-functions", "unused-locals",
    "dead-stores", "remove-local-annotations", "f-string-to-concat", "for-to-while", "reorder-items",
)  # fmt: skip


def printed(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    module = sys.modules["text"] = ModuleType("text")
    try:
        exec(compile(text, "<text>", "exec"), vars(module))
    except Exception as error:
        return f"{capsys.readouterr().out}{type(error)}"
    finally:
        del sys.modules["text"]
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("frame", "hole", "look"),
    [(frame, hole, look) for frame, hole, looks in TEXTS.values() for look in looks],
    ids=[f"{name}: {look[:50]}" for name, (_, _, looks) in TEXTS.items() for look in looks],
)
def test_what_is_seen_stays_the_same(
    frame: str, hole: str, look: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = frame.replace("{" + hole + "}", look)
    wanted = printed(text, capsys)
    assert wanted
    assert "Error'>" not in wanted
    for name, seed in product(ALL, range(2)):
        try:
            found = codeaudit.transform(text, name, seed=seed, whole_file=True)
        except codeaudit.NotApplied:
            continue
        assert printed(found, capsys) == wanted, f"{name}:\n{found}"


FREE = "def f(self, a, b):\n    self._a = a\n    self._b = b\n"
STORING = (
    "import pydantic\n@pydantic.dataclasses.dataclass\nclass C:",
    "from pydantic import dataclasses\n@dataclasses.dataclass(frozen=False)\nclass C:",
    "from pydantic.dataclasses import dataclass\n@dataclass\nclass C:",
    "from tools import Protocol\nclass C(Protocol):",
    "from tools import Generic as G, ABC\nclass C(ABC):",
    "import tools\nclass C(tools.Protocol):",
    "@tools.observed\nclass C:",
    'from dataclasses import dataclass\n@dataclass(**{"frozen": True})\nclass C:',
)
GIVING = ("C = tracked(C)", "tracking.observe(C)", "watch(1, C)")
LOOKS = (
    "import sys\nn = sys.getrefcount(x)",
    "from sys import getrefcount as count",
    "import gc\nn = getattr(gc, 'get_' 'referrers')(x)",
)
READING_SOURCE = (
    "import inspect\nt = inspect.getsource(x)",
    "from inspect import getsource as text",
    "import inspect\nt = getattr(inspect, 'get' + 'source')(x)",
    "t = open(__file__).read()",
    "from pathlib import Path\nt = Path(__file__).read_text()",
    "t = x.__loader__.get_source('m')",
)
NAMING = (
    "import logging\nlogging.basicConfig(format='%(funcName)s')",
    "from logging import Formatter\nF = Formatter('{funcName}', style='{')",
    "import sys\nn = sys._getframe().f_code.co_name",
    "n = getattr(code, 'co_name')",
)
LOCAL = "def f(a):\n    total = a + 1\n    rest = a\n    return total, rest\n"
INNER = "def f(a):\n    def inner(x):\n        return x + 1\n    return inner(a)\n"
PREPARED = (
    "def f(size):\n    kept = size\n    class C(Base):\n        y = kept\n    return C\n",
    "def f(size):\n    kept = size\n    class C(tools.Base):\n        y = kept\n    return C\n",
    "def f(size):\n    kept = size\n    class C(metaclass=M):\n        y = kept\n    return C\n",
)


def applies(name: str, function: str, head: str = "") -> bool:
    try:
        codeaudit.transform(f"{head}\n{function}", name, whole_file=True)
    except codeaudit.NotApplied:
        return False
    return True


@pytest.mark.parametrize("head", STORING)
def test_a_class_with_a_base_or_decorator_from_elsewhere_may_see_its_stores(head: str) -> None:
    method = FREE.replace("\n", "\n    ").rstrip()
    assert not applies("reorder", f"    {method}\n", head)
    assert applies("reorder", f"    {method}\n", "class C:")


@pytest.mark.parametrize("line", GIVING)
def test_a_class_that_is_handed_to_other_code_may_see_its_stores(line: str) -> None:
    method = FREE.replace("\n", "\n    ").rstrip()
    assert not applies("reorder", f"class C:\n    {method}\n{line}\n")


@pytest.mark.parametrize("head", LOOKS)
def test_who_counts_references_sees_which_variables_hold_an_object(head: str) -> None:
    for name in ("reorder", "dead-stores", "unused-locals"):
        assert not applies(name, LOCAL, head)
        assert applies(name, LOCAL)


@pytest.mark.parametrize("head", READING_SOURCE)
def test_who_reads_the_source_sees_every_edit(head: str) -> None:
    for name in ("reorder", "rename", "insert-blank-lines", "dead-stores"):
        assert not applies(name, LOCAL, head)


@pytest.mark.parametrize("head", NAMING)
def test_a_file_that_shows_names_of_functions_keeps_them(head: str) -> None:
    assert not applies("rename-inner-functions", INNER, head)
    assert applies("rename-inner-functions", INNER)


@pytest.mark.parametrize("text", PREPARED)
def test_a_metaclass_may_be_inherited(text: str) -> None:
    found = codeaudit.transform(text, "rename", whole_file=True) if applies("rename", text) else text
    assert "y = kept" in found


@pytest.mark.parametrize("head", ["def compile(x): pass", "from tools import *", "len = None"])
def test_layout_does_not_depend_on_builtins(head: str) -> None:
    text = "def f(a):\n    total = len(a)  +  1\n    return compile(total)\n"
    for name in ("spacing", "insert-blank-lines", "no-op-statements"):
        assert applies(name, text, head)


@pytest.mark.parametrize("look", ["list(globals())", "[*vars()]", "list(sys.modules[__name__].__dict__)"])
def test_a_file_that_lists_its_names_keeps_its_imports_in_order(look: str) -> None:
    text = "import os\nimport json\nimport sys\n"
    assert applies("reorder-imports", text)
    assert not applies("reorder-imports", f"{text}print({look})\n")


HELD_FRAMES = (
    "back = frame.f_back if frame else None\n    return back.f_globals['__name__'] if back else None",
    "back = frame.f_back or inspect.currentframe()\n    return back.f_globals",
)
"""Only attributes of these frames are read, and they are not variables."""
GIVEN_FRAMES = (
    "back = frame.f_back if frame else None\n    return show(back)",
    "back = frame and frame.f_back\n    return back",
    "return [one.f_back for one in (frame,)]",
    "return {1: frame.f_back for one in 'a'}",
    "back = frame.f_back\n    other = back if back else None\n    return other",
    "if back := frame.f_back:\n        return back",
)
FRAMED = "import inspect\ndef look():\n    frame = inspect.currentframe()\n    {}\n"


@pytest.mark.parametrize("body", HELD_FRAMES)
def test_a_frame_that_stays_in_its_function_shows_what_is_asked_of_it(body: str) -> None:
    assert applies("rename", LOCAL, FRAMED.format(body))


@pytest.mark.parametrize("body", GIVEN_FRAMES)
def test_a_frame_that_is_handed_on_shows_all_variables(body: str) -> None:
    assert not applies("rename", LOCAL, FRAMED.format(body))

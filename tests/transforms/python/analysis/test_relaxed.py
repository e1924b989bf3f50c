"""The relation of `confirmed`: what it takes for independent, and what the files of a package show of it."""

import ast
from textwrap import dedent

import pytest

from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE, PackageSummary, summary
from codeaudit.transforms.reordering import is_movable


def movable(code: str, package: PackageSummary = NO_PACKAGE) -> bool:
    program = analyse(dedent(code), dependence="confirmed", package=package)
    return any(map(is_movable, program.blocks))


@pytest.mark.parametrize(
    "body",
    [
        "a = x.first(); b = x.second()",
        "x.append(1); y.append(2)",
        "self.a = x; self.b = y",
        "x.set(1); y.set(2)",
        "a = f(x); b = f(y)",
        "x[0] = 1; y = z.size",
    ],
)
def test_calls_act_on_what_they_are_given_only(body: str) -> None:
    first, second = body.split("; ")
    assert movable(f"def g(self, x, y, z):\n    {first}\n    {second}\n")


@pytest.mark.parametrize(
    "body",
    [
        "a = x.pop(); b = x.pop()",
        "a = next(x); b = next(x)",
        "x.set(1); a = x.get()",
        "x.set(y); a = y.get()",
        "log(1); send(2)",
        "self.a = 1; b = f(self)",
        "self.a = 1; b = self.a",
        "self.a.append(1); b = self.a",
        "x.close(); a = self.work(x)",
        "assert x; a = y.z",
        "a = yield x; b = yield y",
        "global v; v = 1",
        "x += [1]; a = f(x)",
    ],
)
def test_what_depends_stays(body: str) -> None:
    first, second = body.split("; ")
    assert not movable(f"def g(self, x, y, z):\n    {first}\n    {second}\n")


PACKAGE = """
class Stream:
    @property
    def current(self):
        return self._advance()

    @property
    def size(self):
        return 1

    def _advance(self):
        self.place += 1
        return self.place

    def skip(self):
        return self._advance()

    def look(self):
        return self.place

class Made:
    def __init__(self, parent):
        self.parent = parent

class Registered:
    def __init__(self, parent):
        parent.children.append(self)
"""


def test_the_package_shows_which_methods_and_properties_act() -> None:
    package = summary([ast.parse(PACKAGE)])
    assert {"_advance", "skip", "current", "Registered"} <= package.acting
    assert not {"look", "size", "Made"} & package.acting
    assert {"current", "size"} <= package.properties
    assert not movable("def g(x):\n    a = x.skip()\n    b = x.skip()\n", package)
    assert movable("def g(x):\n    a = x.look()\n    b = x.look()\n", package)
    assert not movable("def g(x):\n    a = x.current\n    b = x.current\n", package)
    assert movable("def g(x):\n    a = x.size\n    b = x.size\n", package)
    assert not movable("def g(x):\n    a = Registered(x)\n    b = Registered(x)\n", package)
    assert movable("def g(x):\n    a = Made(x)\n    b = Made(x)\n", package)


# ── what each kind of function does ──────────────────────────────────────────────────────────────────────

ACTS = {
    "def f(): global n": True,
    "def f(a): a.x = 1": True,
    "def f(a): a[0] = 1": True,
    "def f(a): a.b[0].c = 1": True,
    "def f(a): del a.x": True,
    "def f(): other.x = 1": True,
    "def f(a): a.b().c = 1": True,
    "def f(a): super().x = 1": True,
    "async def f(a): (await a).x = 1": True,
    "def f(a): b = []; b.x = 1": False,
    "def f(a): b = []; b[0] = 1": False,
    "def f(a): b = a; b += 1": False,
    "def f(a): a = 1": False,
    "def f(a): a = []; a.x = 1": True,
    "def f(a): return a.x": False,
    "def f(a): return a[0]": False,
    "def f(a): a.work()": True,
    "def f(a): work()": True,
    "def f(a): b = []; b.work()": False,
    "def f(a): return a.work()": False,
    "def f(a): return work(a)": False,
    "def f(a): return a.pop()": True,
    "def f(a): return a.append(1)": True,
    "def f(a): return a.read()": True,
    "def f(a): return a.randint(1, 2)": True,
    "def f(a): b = []; return b.pop()": False,
    "def f(a): return next(a)": True,
    "def f(a): return setattr(a, 'x', 1)": True,
    "def f(a): return open(a)": True,
    "def f(a): return print(a)": True,
    "def f(a): return len(a)": False,
    "def f(a):\n def g(): nonlocal a\n return g": True,
    "def f(a): return {}.pop(a)": True,
    "def f(*a): a[0].x = 1": True,
    "def f(a, *, b): b.x = 1": True,
}
"""Texts of a function, and whether it changes what it is given, or state outside."""


@pytest.mark.parametrize(("text", "acts"), ACTS.items(), ids=ACTS)
def test_a_function_acts_or_only_looks(text: str, acts: bool) -> None:
    assert ("f" in summary([ast.parse(text)]).acting) is acts


SUMMARIES = {
    # What calls one that acts, acts, in any order and over several steps.
    "def f(a): return g(a)\ndef g(a): return h(a)\ndef h(a): a.x = 1\ndef i(a): return j(a)": "f g h",
    "def h(a): a.x = 1\ndef g(a): return a.h()\ndef f(a): return g(a)": "f g h",
    "def h(a): a.x = 1\ndef f(a): b = []; return b.h()": "h",
    # One of several of a name is enough.
    "class A:\n def f(s): return 1\nclass B:\n def f(s): s.x = 1\n": "f",
    # A constructor that changes its new object does not act. One that changes an argument does.
    "class A:\n def __init__(self): self.x = 1\n": "__init__",
    "class A:\n def __init__(self): self.x.y[0] = 1\n": "__init__",
    "class A:\n def __init__(self, a): a.x = 1\n": "A __init__",
    "class A:\n def __new__(cls, a): a.x = 1\n": "A __new__",
    "class A:\n def __init__(self, a): self.b = f(a)\ndef f(a): a.x = 1\n": "A __init__ f",
    "class A:\n def init(self): self.x = 1\n": "init",
}


@pytest.mark.parametrize(("text", "acting"), SUMMARIES.items())
def test_what_calls_something_that_acts_acts(text: str, acting: str) -> None:
    assert summary([ast.parse(text)]) == PackageSummary(frozenset(acting.split()))


def test_a_package_is_all_of_its_files() -> None:
    package = summary([ast.parse("def f(a): return g(a)"), ast.parse("def g(a): a.x = 1")])
    assert package == PackageSummary(frozenset({"f", "g"}))


PROPERTIES = {
    "@property\n def x(s): return 1": "x",
    "@functools.cached_property\n def x(s): return 1": "x",
    "@x.setter\n def x(s, v): pass": "x",
    "@x.getter\n def x(s): pass": "x",
    "@x.deleter\n def x(s): pass": "x",
    "@lazy_property(1)\n def x(s): pass": "x",
    "@other\n def x(s): pass": "",
    "def x(s): pass": "",
    "def __setattr__(s, n, v): pass": "__setattr__",
    "def __getattribute__(s, n): pass": "__getattribute__",
    "x = field()": "x",
    "x: int = field()": "x",
    "x = y = field()": "x y",
    "x = 1": "",
    "x: int": "",
    "x.y = field()": "",
}


@pytest.mark.parametrize(("inside", "names"), PROPERTIES.items(), ids=PROPERTIES)
def test_which_attributes_are_computed(inside: str, names: str) -> None:
    assert summary([ast.parse(f"class C:\n {inside}\n")]).properties == set(names.split())


# ── what each kind of statement does ─────────────────────────────────────────────────────────────────────

KNOWN = PackageSummary(frozenset({"acts", "append", "active"}), frozenset({"active", "size"}))
STRICT = PackageSummary(properties=frozenset({"__setattr__"}))
PAIRS = {
    # A call as a statement acts on its receiver and its arguments only.
    "x.go(); y.go()": True,
    "x.go(); x.go()": False,
    "x.go(y); y.go()": False,
    "x.go(k=y); z.go(y)": False,
    "x.go(*y); z.go(y)": False,
    "x.go(1); y.go('a')": True,
    "x.a.go(); x.b.go()": False,
    "go(x); run(y)": False,
    "go(x); a = y.b": True,
    "x.go(); go(y)": False,
    "x[0](); y[0]()": True,
    "x[0](z); y[0](z)": False,
    "a = await x.go(); b = await y.go()": False,
    # A call whose value is used looks, unless its name says more.
    "a = x.go(); b = x.go()": True,
    "a = x.go(y); b = y.go(x)": True,
    "a = go(x); b = go(x)": True,
    "a = x.pop(); b = y.pop()": True,
    "a = x.pop(); b = x.go()": False,
    "a = x.read(); b = x.read()": False,
    "a = x.read(); b = y.read()": True,
    "a = next(x); b = next(y)": True,
    "a = next(x); b = x.go()": False,
    "a = len(x); b = len(x)": True,
    "a = open(x); b = open(y)": False,
    "print(x); print(y)": False,
    "setattr(x, 'a', 1); b = x.go()": False,
    "setattr(x, 'a', z); b = z.go()": True,
    "a = x[0](y); b = y[0](x)": True,
    # Methods of containers change the container.
    "x.append(1); y.append(1)": True,
    "x.append(1); a = x.go()": False,
    "x.a.append(1); y.b.append(1)": True,
    "x.a.append(1); y.a.append(1)": False,
    "x.go().append(1); y.go().append(1)": True,
    "x[0] = 1; y[0] = 1": True,
    "x[0] = 1; x[1] = 1": False,
    "x.a[0] = 1; y.a[0] = 1": False,
    "x += y; a = x.go()": False,
    # Attributes.
    "x.a = 1; y.b = 1": True,
    "x.a = 1; x.b = 1": True,
    "x.a = 1; b = x": True,
    "x.a = 1; y.a = 1": False,
    "x.a = 1; b = y.a": False,
    "x.a = 1; b = y.b": True,
    "x.a = 1; del y.a": False,
    "n.a = 1; n.b = 1": False,
    "a = x.b; c = y.b": True,
    # Names that are not the function's, and definitions.
    "a = n; b = m": True,
    "assert x; a = y.go()": False,
    "import a; b = x.go()": False,
    "def h(): return 1; x.go()": True,
    "a = lambda: x; y.go()": True,
}
WITH_PACKAGE = {
    "a = x.acts(); b = x.acts()": False,
    "a = x.acts(); b = y.acts()": True,
    "a = x.go(); b = x.go()": True,
    "a = acts(x); b = acts(y)": False,
    "a = go(x); b = go(x)": True,
    "a = x.acts(y); b = y.go()": False,
    "x.append(1); y.append(1)": True,
    "x.append(z); y.append(z)": False,
    "a = x.size; b = x.size": True,
    "a = x.size; go(y)": False,
    "a = x.active; b = x.active": False,
    "a = x.active; b = y.active": True,
    "x.size = 1; a = x": False,
    "x.other = 1; a = x": True,
}
WITH_SETTERS = {"x.a = 1; x.b = 1": False, "x.a = 1; b = x": False, "x.a = 1; y.b = 1": False}
CASES = [
    *((text, NO_PACKAGE, expected) for text, expected in PAIRS.items()),
    *((text, KNOWN, expected) for text, expected in WITH_PACKAGE.items()),
    *((text, STRICT, expected) for text, expected in WITH_SETTERS.items()),
]


@pytest.mark.parametrize(("body", "package", "found"), CASES, ids=[text for text, _, _ in CASES])
def test_which_statements_may_change_places(body: str, package: PackageSummary, found: bool) -> None:
    first, second = body.split("; ")
    assert movable(f"async def g(x, y, z):\n    {first}\n    {second}\n", package) is found


def apart(body: str, package: PackageSummary = NO_PACKAGE) -> bool:
    """Whether the last two statements of a block do not depend on each other."""
    program = analyse(dedent(body), dependence="confirmed", package=package)
    block = max(program.blocks, key=lambda block: len(block.predecessors))
    last = len(block.predecessors) - 1
    return not block.predecessors[last] >> (last - 1) & 1


BODIES = {
    # What a function needs when it is defined is evaluated there.
    "def h(a=x.read()): return a; b = x.read()": False,
    "def h(*, a=x.read()): return a; b = x.read()": False,
    "def h(*, a, b=x.read()): return a; b = x.read()": False,
    "def h(a=y.read()): return a; b = x.read()": True,
    "def h(a=x.read()): return a; b = x": False,
    "def h(*, a=x.read()): return a; b = x": False,
    "def h(a=x): return a; b = x": True,
    "def h(): return 1; b = x.read()": True,
    # Arguments of a call that is a statement are calls, too.
    "x.go([y.read()]); a = y.read()": False,
    "x.go([y.read()]); a = z.read()": True,
    "x.go([y.read()]); a = y": False,
    "x.go([y]); a = y": True,
    "x.go(k=[y.read()]); a = y.read()": False,
    "(await x.go([y.read()])); a = y.read()": False,
    # What is outside is one thing.
    "n.go(); m.go()": False,
    "n.go(); x.go()": False,
    "x.go(n); y.go(n)": True,
    "x.go('a'); y.go('a')": True,
    # A value that cannot change may be given to several calls.
    "k = 1; x.go(k); y.go(k)": True,
    "k = ','.join(z); x.go(k); y.go(k)": True,
    "k = []; x.go(k); y.go(k)": False,
    "k = lambda: 1; x.go(k); y.go(k)": True,
    # A function that is defined here reads and rebinds what it shares with this one.
    "k = []; h = lambda: k; a = h(x); k = y": False,
    "k = []; h = lambda: k; a = n(x); k = y": True,
    "k = []; h = lambda: x; a = h(x); k = y": True,
    # A container that only this function has is no attribute of another object.
    "k = []; k.append(1); a = x.go()": True,
    "k = z; k.append(1); a = x.go()": False,
    "k = {}; k[0] = 1; a = x.go()": True,
}


@pytest.mark.parametrize(("body", "found"), BODIES.items(), ids=BODIES)
def test_which_of_several_statements_may_change_places(body: str, found: bool) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("; "))
    assert apart(f"async def g(x, y, z):\n{lines}") is found


AROUND = {
    "if x:": True,
    "for i in x:": True,
    "try:\n{}    finally:\n        pass": False,
    "with x:": False,
    "def h(p):": True,
}


@pytest.mark.parametrize(("around", "found"), AROUND.items(), ids=AROUND)
def test_what_may_raise_keeps_its_place_only_where_that_may_be_seen(around: str, found: bool) -> None:
    def inside(*lines: str) -> str:
        text = "".join(f"        {line}\n" for line in lines)
        return (
            "def g(x, y, z):\n    " + (around.format(text) if "{}" in around else f"{around}\n{text}") + "\n"
        )

    assert apart(inside("a = y.b", "c = z.d", "e = y.go()", "f = z.go()")) is found
    # Variables of a function in a function have names of their own there.
    assert not apart(inside("a = y.b", "k = z", "k.append(1)", "f = k"))
    assert not apart(inside("a = y.b", "c = z.d", "k = a", "f = k"))
    assert not apart(inside("a = y.b", "c = z.d", "y.go()", "f = y.go()"))

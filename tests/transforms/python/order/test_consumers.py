"""What a call, an operator or an assignment does with the objects that it is given, by execution.

Every builtin and every function of the known modules meets every way to hand it a container, an iterator or
an object whose methods act. A neighbour looks whether they were met already. Every legal order must do the
same.
"""

import builtins
import collections
import contextlib
import functools
import io
import itertools
import math
import operator
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from codeaudit.transforms.python.analysis.program import analyse

SETUP = """\
import collections, functools, itertools, math, operator, os, re
total = 0
table = {}
def act():
    global total
    total += 1
    return total
def items():
    for item in (2, 1, 3):
        act()
        yield item
def pairs():
    for item in (("a", 1), ("b", 2)):
        act()
        yield item
class Acts:
    def __iter__(self): act(); return iter((1, 2))
    def __index__(self): act(); return 1
    def __int__(self): act(); return 1
    def __float__(self): act(); return 1.0
    def __complex__(self): act(); return 1j
    def __trunc__(self): act(); return 1
    def __floor__(self): act(); return 1
    def __ceil__(self): act(); return 1
    def __reversed__(self): act(); return iter((2, 1))
    def __bytes__(self): act(); return b"1"
    def __length_hint__(self): act(); return 1
    def __call__(self, *args, **kwargs): act(); return 1
    def __enter__(self): return act()
    def __exit__(self, *args): act()
    def keys(self): act(); return ["a"]
    def __getitem__(self, key): return 1
class Refuses:
    def __getattr__(self, name): raise LookupError(name)
    @property
    def __class__(self): return Acts
class Refusing(type):
    def __instancecheck__(cls, value): raise LookupError("instance")
    def __subclasscheck__(cls, value): raise LookupError("subclass")
class Never(metaclass=Refusing): pass
"""

NEIGHBOURS = ("n = total", "n = table['k']", "xs.append(7)", "ys.clear()", "d['z'] = 0", "self._n = 1")
"""Statements that see what acted before, raise another exception, or change what a call was given."""

FORMS = (
    "{f}(g)", "{f}(p)", "{f}(a)", "{f}(xs)", "{f}(xs if c else ys)", "{f}(ys or xs)", "{f}(u := xs)",
    "{f}(d)", "{f}(d if c else e)", "{f}(*g)", "{f}(**d)", "{f}(**a)", "{f}(xs, k=1)", "{f}(d, k=1)",
    "{f}(a, k=1)", "{f}(p, k=1)", "{f}(1, g)", "{f}(g, 1)", "{f}(g, g)", "{f}(a, a)", "{f}(xs, ys)",
    "{f}('m', xs)", "{f}('m', g)", "{f}(xs, 0)", "{f}(xs, 0, 5)", "{f}(d, 'k', 5)", "{f}(a, 1, 2)",
    "{f}(1, 'i')", "{f}(a, 'i')", "{f}(a, r)", "{f}(r, 'i')", "{f}(r, 'i', 0)", "{f}(int, Never)",
    "{f}(1, Never)", "{f}(1, 2)", "{f}('i')", "{f}(1)", "{f}(None)", "{f}()", "{f}([a, a])", "{f}([xs, xs])",
    "{f}('ascii', b, 0, 1, 'm')", "{f}([1, a, a, xs])", "{f}(xs[:] if c else ys)", "{f}(xs, key=a)",
    "{f}(xs, key=int)", "{f}([a], key=float)", "{f}([], default=lambda: n)", "{f}((n for _ in xs))",
    "{f}((n for _ in xs), (n for _ in ys))",
)  # fmt: skip
"""Ways to hand objects to a callee."""

SKIPPED = frozenset(
    {
        "id",
        "hash",
        "super",
        "input",
        "open",
        "exit",
        "quit",
        "help",
        "breakpoint",
        "copyright",
        "credits",
        "license",
    }
)
MODULES = (math, operator, itertools, functools, collections, os.path, re)
CALLEES = [
    *(name for name in dir(builtins) if callable(getattr(builtins, name)) and not name.startswith("_") | (name in SKIPPED)),
    *(
        f"{'os.path' if module is os.path else module.__name__}.{name}"
        for module in MODULES
        for name in dir(module)
        if callable(getattr(module, name)) and not name.startswith("_")
    ),
]  # fmt: skip

STATEMENTS = (
    "x, y = g", "x, *y = a", "[x, y] = xs", "(x, y), z = (xs, 1)", "x, (y, z) = 1, a", "x, y = xs if c else ys",
    "for x, y in [a, a]: pass", "for x, (y, z) in enumerate([a, a]): pass", "x = [i for i, j in [a, a]]",
    "x = {i: j for i, j in [g, a]}", "x = [j for i, (j, k) in enumerate([a])]", "x = 1 in g", "x = 1 not in a",
    "x = 9 in (xs if c else ys)", "x = 'z' in (d if c else e)", "x = 'z' in (e or d)", "x = 0 in (u := xs)",
    "x = (xs if c else ys)[:]", "x = (ys or xs)[1:]", "x = (xs if c else ys)[0]", "x = (u := xs)[:]",
    "x = not (ys if c else xs)", "x = 1 if (ys if c else xs) else 2", "x = (xs if c else ys) + [1]",
    "x = [*a]", "x = [*g]", "x = (*g, 1)", "x = {*a}", "x = {**a}", "x = {**d, **e}", "x = [*(xs if c else ys)]",
    "x = [i for i in (xs if c else ys)]", "x = ','.join(str(i) for i in (xs if c else ys))",
    "x = [(xs if c else ys).pop()]", "(xs if c else ys).append(3)", "x = (xs if c else ys).copy()",
    "x = (d if c else e).get('z')", "x = (d if c else e)['k']", "x = iter(self)", "x = zip(self, self)",
    "x = enumerate(self)", "x = int(self)", "x = float(a)", "x = xs[r]", "x = '%d' % a", "x = '%s %x' % (1, a)", "x = '%s' % a", "x = 'ab' * a",
    "x = a * [1]", "x = xs * a", "x = (1,) * a", "x = round(1.5, a)", "xs.insert(a, 1)", "xs.pop(a)",
    "x = xs.index(3, a)", "x = '%%' % a", "x = '%(k)-5.3d' % d", "x = '%.*f' % (2, a)", "x = 'abc'[r]", "x = xs[a]", "x = xs[a:]",
    "x = 'abc'[a]", "x = 'abc'[:a]", "x = (1, 2)[a]", "x = (1, 2)[::a]", "xs[a] = 1", "xs[a:] = g", "x = range(9)[a]",
    "for x in range(a): pass", "for x in enumerate(xs, a): pass", "x = [i for i in enumerate(xs, start=a)]",
    "x = (i for i in a)", *(
        f"x = 'a b'.{name}({arguments})"
        for name in dir(str) if not name.startswith("_")
        for arguments in ("a", "'a', a", "'a', 'b', a", "a, 'b'", "g", "xs if c else ys", "")
    ), "x = list((i for i in a))", "x = max(xs, default=lambda: n)",
    "x = [lambda: n for _ in xs]", "x = list((lambda: n) for _ in xs)", "x = sorted(xs, key=lambda v: K(lambda: n))",
    "x = keeper.join(n for _ in xs)", "x = keeper.extend(n for _ in xs)", "x = keeper.update(n for _ in xs)",
    "x = deque.extend(n for _ in xs)", "x = max((n for _ in xs), [])", "x = max([], default=(n for _ in xs))",
    "x = sum([], start=(n for _ in xs))",
)  # fmt: skip
"""Expressions and targets that iterate, convert, or keep what they are given."""

EXTRA = """\
class Keeper:
    def join(self, items): self.kept = items; return items
    extend = update = join
class K:
    kept = []
    def __init__(self, f): K.kept.append(f)
    def __lt__(self, other): return False
"""


HEAD = """\
def f(self, g, p, a, b, r, c):
    xs = [3, 1, 2]
    ys = [5]
    d = {"k": 1}
    e = {"y": 2}
    n = "old"
    table.update(xs=xs, ys=ys, d=d, e=e)
    x = u = None
    keeper = Keeper()
    deque = collections.deque()
"""
TAIL = "    return x, n, xs, ys, d, e, u, self._n, deque\n"


def program(*statements: str) -> str:
    """A method whose statements meet the same objects; it returns all of them."""
    return HEAD + "".join(f"    {statement}\n" for statement in statements) + TAIL


def told(value: Any) -> Any:
    """A value without addresses; what is lazy is asked for its items."""
    match value:
        case list() | tuple():
            return [told(item) for item in value]
        case Iterator():
            try:
                return ["lazy", *(told(item) for item in islice(value, 6))]
            except Exception as raised:
                return [f"{type(raised).__name__}: {raised}"]
        case collections.deque():
            return ["deque", *(told(item) for item in value)]
        case BaseException():
            return [type(value).__name__, told(value.args), told(getattr(value, "exceptions", ()))]
    if type(value).__name__ == "function":
        return ["function", told(value())]
    return re.sub(r"0x[0-9a-f]+", "", repr(value))


PREPARED = compile(SETUP + EXTRA, "<setup>", "exec")


def outcome(source: str) -> Any:
    """What calling `f` gives, raises, prints, and leaves behind."""
    scope: dict[str, Any] = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(PREPARED, scope)
        exec(compile(source, "<text>", "exec"), scope)
        me = scope["Acts"]()
        me._n = 0
        iterators = scope["items"](), scope["pairs"]()
        rest = scope["Acts"](), bytearray(b"ab"), scope["Refuses"](), False
        try:
            result: Any = told(scope["f"](me, *iterators, *rest))
        except Exception as raised:
            result = told(raised)
        left = [told(scope["table"].get(name)) for name in ("xs", "ys", "d", "e")]
        kept = told(scope["K"].kept)
        return result, left, kept, scope["total"], me._n, told(iterators), out.getvalue()


def differences(statement: str, neighbours: Sequence[str] = NEIGHBOURS) -> list[str]:
    """The neighbours that may pass a statement though this is seen."""
    block = analyse(program(statement, *neighbours)).blocks[1]
    place = HEAD.count("\n") - 1
    differing = []
    for number, neighbour in enumerate(neighbours, start=place + 1):
        if not block.predecessors[number] >> place & 1 and outcome(program(statement, neighbour)) != outcome(
            program(neighbour, statement)
        ):
            differing.append(neighbour)
    return differing


def mistakes(callee: str, forms: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The forms of a call that some neighbour may pass though this is seen."""
    pairs = [(form, differences(f"x = {form.format(f=callee)}")) for form in forms]
    return [(form, seen) for form, seen in pairs if seen]


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("callee", CALLEES)
def test_a_callee_meets_its_arguments_where_it_stands(callee: str) -> None:
    assert mistakes(callee, FORMS) == []


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("part", range(12))
def test_some_forms_of_every_callee(part: int) -> None:
    for number, callee in enumerate(CALLEES[part::12]):
        assert mistakes(callee, FORMS[number % 10 :: 10]) == [], callee


@pytest.mark.thinned(80)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_meets_its_objects_where_it_stands(statement: str) -> None:
    # What was kept sees a variable that is bound again.
    assert differences(statement, (*NEIGHBOURS, "n = 'new'")) == []

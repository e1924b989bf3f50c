"""Targets of an assignment, and keyword-only parameters."""

import pytest

from codeaudit.transforms.python.order.arguments import DECORATED, REORDER_KEYWORD_ONLY
from codeaudit.transforms.python.order.arguments import EFFECTS as VALUES
from codeaudit.transforms.python.order.assignments import CLASS, EFFECTS, REORDER_TARGETS
from codeaudit.transforms.python.suites import REFLECTION
from tests.transforms.python.order.support import agrees, reasons, untouched, variants

HEAD = "def f(self, a, b, c):\n    "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = y = g()", "y = x = g()", id="chained"),
        pytest.param("x, y = 1, 2", "y, x = 2, 1", id="parallel"),
        pytest.param("(x, y) = [a,  b]", "(y, x) = [b,  a]", id="in brackets"),
        pytest.param("a, b = b, a", "b, a = a, b", id="exchanged"),
        pytest.param("x, y = a[0], 2", "y, x = 2, a[0]", id="one value may raise"),
        pytest.param("self._x = y = a", "y = self._x = a", id="a private attribute"),
        pytest.param("self._x, self._y = a, b", "self._y, self._x = b, a", id="two private attributes"),
        pytest.param("x, y = (1 if a else 2), lambda: 0", "y, x = lambda: 0, (1 if a else 2)", id="bare"),
    ],
)
def test_targets(before: str, after: str) -> None:
    assert variants(REORDER_TARGETS, HEAD + before) == {HEAD + after}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a = a.x = 3", EFFECTS, id="the second reads the first"),
        pytest.param("a[0] = a = b", EFFECTS, id="the first reads the second"),
        pytest.param("a[0] = b[0] = c", EFFECTS, id="items of anything"),
        pytest.param("a.x = b.x = c", EFFECTS, id="attributes of anything"),
        pytest.param("x, y = g(), h()", EFFECTS, id="values that act"),
        pytest.param("x, y = a[0], b[0]", EFFECTS, id="values that may raise"),
        pytest.param("x, y = (z := a), z", EFFECTS, id="a walrus"),
        pytest.param("b, a[b] = 1, 2", EFFECTS, id="the index is bound first"),
        pytest.param("x, x = 1, 2", EFFECTS, id="one target twice"),
        pytest.param("*x, y = 1, 2", EFFECTS, id="a star among the targets"),
        pytest.param("x, y = *a, b", EFFECTS, id="a star among the values"),
        pytest.param("(x, y) = (y, x) = a", EFFECTS, id="unpacked twice"),
        pytest.param("global x, y\n    x = y = 1", EFFECTS, id="globals"),
        pytest.param(
            "xs = []\n    x = xs[a] = 1", EFFECTS, id="the second may raise when the first is bound"
        ),
        pytest.param("(x, y) = z = a", EFFECTS, id="unpacking may raise"),
        pytest.param("x, y = (z := 1), a[0]", EFFECTS, id="a value may raise when a walrus has bound"),
        pytest.param("x = y = 1\n    return locals()", REFLECTION, id="variables are listed"),
        pytest.param("class C:\n        x = y = 1", CLASS, id="a class body"),
    ],
)
def test_targets_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_TARGETS, HEAD + text)
    assert reasons(REORDER_TARGETS, HEAD + text) == {reason}


def test_module_variables_keep_their_order() -> None:
    assert reasons(REORDER_TARGETS, "x = y = 1\n") == {CLASS}


def test_targets_by_execution() -> None:
    text = """\
class Stores:
    def __repr__(self): return "stores"
    def __setattr__(self, name, value): print(name, value); object.__setattr__(self, name, value)
    def __setitem__(self, key, value): print(key, value)
class Plain:
    def fill(self, a):
        self._x = self._y = kept = a
        self._x, self._z = kept, self._y
        return self._x, self._y, self._z
def f(a, b, n):
    p = q = r = [a]
    p, q = q, p
    s, t = n, [n, p]
    i, xs = 0, [1, 2]
    i, xs[i] = 1, 9
    xs[i] = i = 0
    u, (v, w) = 1, t
    a = a.x = b
    b[0] = b.y = n
    def inner(): return u, v
    u, v = v, u
    return p is q is r, s, t, i, xs, inner(), w
def g(n):
    try:
        first, second = missing, n[0]
    except Exception as error:
        return type(error).__name__
"""
    calls = ["f(Stores(), Stores(), 3)", "Plain().fill(4)", "g(())", "g([1])"]
    assert agrees(REORDER_TARGETS, text, *calls) >= 8


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("def f(*, a, b=1): ...\n", "def f(*, b=1, a): ...\n", id="with a default"),
        pytest.param(
            "def f(x, *, a: int, b=(2), **k): ...\n", "def f(x, *, b=(2), a: int, **k): ...\n", id="k"
        ),
        pytest.param("def f(*xs, a={}, b=[]): ...\n", "def f(*xs, b=[], a={}): ...\n", id="new objects"),
    ],
)
def test_keyword_only(before: str, after: str) -> None:
    assert variants(REORDER_KEYWORD_ONLY, before) == {after}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("def f(*, a=g(), b=h()): ...\n", VALUES, id="defaults that act"),
        pytest.param("def f(*, a=x.a, b=x.b): ...\n", VALUES, id="defaults that may raise"),
        pytest.param("def f(*, a: g(), b: h()): ...\n", VALUES, id="annotations that act"),
        pytest.param("def f(*, a=(n := 1), b=n): ...\n", VALUES, id="a walrus"),
        pytest.param("@g\ndef f(*, a, b): ...\n", DECORATED, id="a decorator"),
        pytest.param("def f(*, a, b): return locals()\n", REFLECTION, id="reflection"),
    ],
)
def test_keyword_only_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_KEYWORD_ONLY, text)
    assert reasons(REORDER_KEYWORD_ONLY, text) == {reason}


def test_keyword_only_by_execution() -> None:
    text = """\
def f(x, *more, a, b=[], c: int = 2, **rest):
    b.append(a)
    return x, more, a, list(b), c, rest
def g(*, first=print, second="s"):
    first(second)
    return [f(1, a=2), f(1, 2, 3, c=4, a=5, d=6), f(1, b=[7], a=8)]
"""
    assert agrees(REORDER_KEYWORD_ONLY, text, "g()", "g(second=1)", "f(1, c=2)") == 6

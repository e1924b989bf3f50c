"""Two assignments as one of a tuple and back; names of `global`."""

import pytest

from codeaudit.transforms.python.order.assignments import (
    COMMENT,
    EFFECTS,
    REORDER_GLOBALS,
    REORDER_TARGETS,
    TARGETS,
    TUPLE_ASSIGNMENTS,
)
from tests.transforms.python.order.support import agrees, reasons, untouched, variants


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a = 1\nb = 2  # b\n", "a, b = 1, 2  # b\n", id="join"),
        pytest.param("a = 1; b = 2\n", "a, b = 1, 2\n", id="join on a line"),
        pytest.param("a = f(x)\n\nb = (2)\n", "a, b = f(x), (2)\n", id="the first value may act"),
        pytest.param(
            "def f(x):\n    a = 1, x\n    b = lambda: 2\n",
            "def f(x):\n    a, b = (1, x), (lambda: 2)\n",
            id="parentheses",
        ),
        pytest.param(
            "a = (1), (2)\nb = (3, 4)\n", "a, b = ((1), (2)), (3, 4)\n", id="parentheses of elements"
        ),
        pytest.param("def f():\n    a = yield\n    b = 1\n", "def f():\n    a, b = (yield), 1\n", id="yield"),
        pytest.param("a = 1 \\\n + 1\nb = 2\n", "a, b = (1 \\\n + 1), 2\n", id="continued lines"),
        pytest.param("if x:\n    a, b = 1, 2  # kept\n", "if x:\n    a = 1\n    b = 2  # kept\n", id="split"),
        pytest.param("if x: a, b = 1, 2\n", "if x: a = 1; b = 2\n", id="split on a line"),
        pytest.param("(a, [b]) = (f(), 2)\n", None, id="a nested target"),
        pytest.param("[a, b] = (f(), lambda: 2)\n", "a = f()\nb = (lambda: 2)\n", id="a list of targets"),
        pytest.param(
            "a, b, c = 1,\\\n 2, 3\r\nx\r\n", "a = 1\r\nb = 2\r\nc = 3\r\nx\r\n", id="mixed line ends"
        ),
        pytest.param("a, b = (1,\r\n 2)\r\n", "a = 1\r\nb = 2\r\n", id="CRLF"),
    ],
)
def test_tuples(before: str, after: str | None) -> None:
    texts = variants(TUPLE_ASSIGNMENTS, before)
    assert texts == ({after} if after is not None else set())


def test_a_tuple_that_begins_and_ends_with_parentheses() -> None:
    text = "def f():\n    a = (1), (2)\n    b = (3, 4)\n    return a, b\n"
    assert "    a, b = ((1), (2)), (3, 4)\n" in "".join(variants(TUPLE_ASSIGNMENTS, text))
    assert agrees(TUPLE_ASSIGNMENTS, text, "f()") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a = 1\nb = a\n", EFFECTS, id="the second reads the first"),
        pytest.param("a = 1\nb = f()\n", EFFECTS, id="the second acts"),
        pytest.param("a = 1\nb = c\n", EFFECTS, id="a global may be missing"),
        pytest.param("a = 1\na = 2\n", EFFECTS, id="one variable"),
        pytest.param("def f(b):\n    a = 1\n    b = lambda: a\n", EFFECTS, id="a closure over the first"),
        pytest.param("a = 1  # one\nb = 2\n", COMMENT, id="a comment"),
        pytest.param("a, b = b, a\n", EFFECTS, id="an exchange"),
        pytest.param("def f(a, b):\n    a, b = b, a\n", EFFECTS, id="an exchange of locals"),
        pytest.param("a, b = 1, f()\n", EFFECTS, id="the second acts after the first is bound"),
        pytest.param("a, *b = 1, 2\n", TARGETS, id="a star"),
        pytest.param("a.b, c = 1, 2\n", TARGETS, id="an attribute"),
        pytest.param("a, b = 1, *c\n", EFFECTS, id="a starred value"),
        pytest.param("a, b = (1,  # one\n        2)\n", COMMENT, id="a comment in a tuple"),
    ],
)
def test_tuples_refused(text: str, reason: str) -> None:
    assert untouched(TUPLE_ASSIGNMENTS, text)
    assert reasons(TUPLE_ASSIGNMENTS, text) == {reason}


@pytest.mark.parametrize(
    "text", ["a: int = 1\nb = 2\n", "a = c = 1\nb = 2\n", "a.b = 1\nb = 2\n", "a += 1\nb = 2\n"]
)
def test_other_statements_are_no_candidates(text: str) -> None:
    assert untouched(TUPLE_ASSIGNMENTS, text)


def test_what_is_bound_when_the_first_value_raises() -> None:
    text = """\
def f(x):
    a = b = 0
    try:
        a = 1 // x
        b = 2
        b, c = 3 // x, -1
    except ZeroDivisionError as error:
        print(error)
    return a, b
"""
    assert agrees(TUPLE_ASSIGNMENTS, text, "f(0)", "f(1)") == 3


@pytest.mark.parametrize(
    "body",
    [
        "self, s = other, super()\n        return s.me",
        "self = other\n        s = super()\n        return s.me",
        "a, self, s = 1, other, super()\n        return s.me",
        "self, s = other, [super()][0]\n        return s.me",
        "nonlocal __class__\n        __class__, s = object, super()\n        return type(s.__init__)",
    ],
)
def test_super_reads_the_first_parameter(body: str) -> None:
    text = f"""\
class B:
    @property
    def me(self): return self.n
class C(B):
    def __init__(self, n): self.n = n
    def f(self, other):
        {body}
"""
    assert untouched(TUPLE_ASSIGNMENTS, text)
    assert EFFECTS in reasons(TUPLE_ASSIGNMENTS, text)


def test_super_beside_other_variables() -> None:
    text = """\
class C:
    def f(self):
        a, s = 1, super()
        return a, s.__init__()
"""
    assert agrees(TUPLE_ASSIGNMENTS, text, "C().f()") == 1


def test_targets_of_super_read_the_first_parameter() -> None:
    text = """\
class B:
    @property
    def me(self): return self.__dict__
class C(B):
    def f(self, other):
        self = super().me["n"] = other
        return vars(self)
"""
    assert untouched(REORDER_TARGETS, text)
    assert reasons(REORDER_TARGETS, text) == {EFFECTS}


def test_dropped_values_are_finalised_in_order() -> None:
    text = """\
class Loud:
    def __init__(self, name): self.name = name
    def __del__(self): print("gone", self.name)

def f():
    a = Loud("a")
    b = Loud("b")
    a = 1
    b = 2
    a, b = Loud("c"), 3
    a = b = None
"""
    assert agrees(TUPLE_ASSIGNMENTS, text, "f()") >= 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f():\n    global a, b  # why\n    a = b = 1\n",
            {"def f():\n    global b, a  # why\n    a = b = 1\n"},
        ),
        (
            "def f():\n    x = y = 1\n    def g():\n        nonlocal x, \\\n          y\n        x = y = 2\n",
            {
                "def f():\n    x = y = 1\n    def g():\n        nonlocal y, \\\n          x\n        x = y = 2\n"
            },
        ),
        ("def f():\n    global a\n", set()),
        ("def f():\n    global a, a\n", set()),
    ],
)
def test_globals(before: str, after: set[str]) -> None:
    assert variants(REORDER_GLOBALS, before) == after

"""Items of displays that are asked for one of them."""

import pytest

from codeaudit.transforms.python.order.items import (
    EFFECTS,
    EQUALITY,
    ITEMS_SWAPPED,
    KEYS,
    METACLASS,
    REORDER_ITEMS,
    SAME,
    VISIBLE,
)
from tests.transforms.python.order.support import agrees, reasons, untouched, variants


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("1 in (1, 'a')\n", "1 in ('a', 1)\n", id="a tuple"),
        pytest.param("1 not in [1,  # one\n 2]\n", "1 not in [2,  # one\n 1]\n", id="a list"),
        pytest.param("x in {'a', ('b')}\n", "x in {('b'), 'a'}\n", id="a set, asked for anything"),
        pytest.param("x in {1: f, 2: g}\n", None, id="values may be missing"),
        pytest.param("{1: 'a', 2: len}[x]\n", "{2: len, 1: 'a'}[x]\n", id="a table"),
        pytest.param("{'a': 1, 'b': (2)}.get(x, f())\n", "{'b': (2), 'a': 1}.get(x, f())\n", id="get"),
        pytest.param("'ab'.startswith(('a', 'b'), 1)\n", "'ab'.startswith(('b', 'a'), 1)\n", id="a prefix"),
        pytest.param(
            "try: pass\nexcept (KeyError, ValueError): pass\n",
            "try: pass\nexcept (ValueError, KeyError): pass\n",
            id="exceptions",
        ),
        pytest.param(
            "def f():\n    try: pass\n    except (KeyError, a.E): pass\n",
            "def f():\n    try: pass\n    except (a.E, KeyError): pass\n",
            id="an exception of anything",
        ),
        pytest.param("isinstance(x, (int, str))\n", "isinstance(x, (str, int))\n", id="classes"),
        pytest.param("issubclass(x, (int, str))\n", "issubclass(x, (str, int))\n", id="classes of a class"),
    ],
)
def test_items(before: str, after: str | None) -> None:
    assert variants(REORDER_ITEMS, before) == ({after} if after else set())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("def f(x): return x in (1, 2)\n", EQUALITY, id="__eq__ of anything"),
        pytest.param("'a' in (b'a', 'b')\n", EQUALITY, id="a warning for bytes"),
        pytest.param("1 in (b'a', 1)\n", EQUALITY, id="a warning for bytes and numbers"),
        pytest.param("def f():\n    return 1 in (g(), 2)\n", EQUALITY, id="an element of any type"),
        pytest.param("1 in (int(1 / 2), 2)\n", EFFECTS, id="an element that may raise"),
        pytest.param("x in {1, True}\n", KEYS, id="equal elements"),
        pytest.param("x in {-1, -2}\n", KEYS, id="equal hashes"),
        pytest.param("x in {'a', b'a'}\n", KEYS, id="equal hashes of two types"),
        pytest.param("{1: 'a', 1: 'b'}[x]\n", KEYS, id="a key twice"),
        pytest.param("{1: f(), 2: g()}[x]\n", EFFECTS, id="values that act"),
        pytest.param("{a: 1, b: 2}[x]\n", KEYS, id="keys that are not constants"),
        pytest.param("{**a, 'b': 2}[x]\n", VISIBLE, id="another dict"),
        pytest.param("x = {'a': 1, 'b': 2}\n", VISIBLE, id="a dict that is kept"),
        pytest.param("list({'a': 1, 'b': 2}.items())\n", None, id="its items"),
        pytest.param("1 in (2, 2)\n", SAME, id="equal texts"),
        pytest.param("def f(x): return x.startswith(('a', 'b'))\n", EQUALITY, id="a method of anything"),
        pytest.param("try: pass\nexcept (a.E, b.E): pass\n", EFFECTS, id="exceptions that may be missing"),
        pytest.param("try: pass\nexcept (f(), g()): pass\n", EFFECTS, id="exceptions that are called for"),
        pytest.param("try: pass\nexcept (*E, a.E): pass\n", EFFECTS, id="exceptions of an iterator"),
        pytest.param("isinstance(x, (A, int))\n", METACLASS, id="a class with a metaclass"),
        pytest.param("int = A\nisinstance(x, (int, str))\n", METACLASS, id="a bound class"),
        pytest.param("isinstance(x, (int, f()))\n", METACLASS, id="a class that is called for"),
        pytest.param("isinstance(x, (*a, int))\n", METACLASS, id="classes of an iterator"),
        pytest.param("def isinstance(a, b): ...\nisinstance(x, (int, str))\n", None, id="another isinstance"),
        pytest.param("isinstance(x, (int, int))\n", SAME, id="one class twice"),
    ],
)
def test_items_refused(text: str, reason: str | None) -> None:
    assert untouched(REORDER_ITEMS, text)
    assert reasons(REORDER_ITEMS, text) == ({reason} if reason else set())


def test_exceptions_by_execution() -> None:
    text = """\
class Loud(type):
    def __subclasscheck__(cls, other): print("asked"); return True
    def __instancecheck__(cls, other): print("asked"); return True
class One(Exception, metaclass=Loud): pass
class Two(One): pass
def f(error, first):
    try:
        raise error
    except (first, KeyError, ValueError) as caught:
        return type(caught).__name__
def g(error, first):
    try:
        return f(error, first)
    except BaseException as caught:
        return type(caught), str(caught)
"""
    calls = [
        f"g({error}, {first})"
        for error in ("One()", "Two()", "KeyError(1)", "UnicodeError()", "OSError()")
        for first in ("One", "Two", "3", "(One, Two)", "LookupError")
    ]
    assert agrees(REORDER_ITEMS, text, *calls) == 5


def test_classes_by_execution() -> None:
    text = """\
class Disguised:
    __class__ = property(lambda self: int)
class Sub(int): pass
def f(x): return isinstance(x, (int, str, bool, type(None).__class__)), isinstance(x, (bool, int, Exception))
def g(x):
    try:
        return issubclass(x, (int, str, BaseException))
    except TypeError as error:
        return str(error)
"""
    values = ("1", "True", "'a'", "Disguised()", "Sub(2)", "None", "KeyError()", "int", "Sub", "KeyError")
    assert agrees(REORDER_ITEMS, text, *(f"{name}({value})" for name in "fg" for value in values)) > 8


def test_membership_by_execution() -> None:
    text = """\
class Loud:
    def __hash__(self): return hash(2)
    def __eq__(self, other):
        print("eq", other)
        return False

def table(x): return {1: "a", 2: "b", 3: "c"}.get(x)
def among(x): return x in {1, 2, 3}
def text():
    t = "x" + "y"
    return t in ("xy", "z", None), t.endswith(("y", "z"))
def caught(x):
    try: return [][x]
    except (IndexError, TypeError) as e: return str(e)
"""
    calls = (
        "table(1)",
        "table(9)",
        "table(Loud())",
        "table([])",
        "among(Loud())",
        "among([])",
        "text()",
        "caught(1)",
        "caught('')",
    )
    assert agrees(REORDER_ITEMS, text, *calls) > 10


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{'a': 1,  # a\n 'b': (2)}\n", {"{'a': (2),  # a\n 'b': 1}\n"}),
        ("{'a': 1, 'b': 1}\n", set()),
        ("{a: 1, b: 2}\n", set()),
        ("{1: 1, **x}\n", set()),
    ],
)
def test_swapped(before: str, after: set[str]) -> None:
    assert variants(ITEMS_SWAPPED, before) == after

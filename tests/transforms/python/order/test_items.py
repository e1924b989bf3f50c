"""Items of displays that are asked for one of them."""

import pytest

from codeaudit.transforms.python.order.items import (
    EFFECTS,
    EQUALITY,
    ITEMS_SWAPPED,
    KEYS,
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
        pytest.param("try: pass\nexcept (a.E, ValueError): pass\n", EQUALITY, id="an unknown exception"),
        pytest.param(
            "KeyError = f()\ntry: pass\nexcept (KeyError, ValueError): pass\n",
            EQUALITY,
            id="a bound exception",
        ),
    ],
)
def test_items_refused(text: str, reason: str | None) -> None:
    assert untouched(REORDER_ITEMS, text)
    assert reasons(REORDER_ITEMS, text) == ({reason} if reason else set())


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

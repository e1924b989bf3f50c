"""Operands in the other order: only where types are certain and nobody sees the order of evaluation."""

import pytest

from codeaudit.transforms.python.expressions import operators
from codeaudit.transforms.python.expressions.operators import (
    COMPARISON_FLIPPED_WRONG,
    FLIP_COMPARISONS,
    OPERANDS_SWAPPED_WRONG,
    SWAP_OPERANDS,
)
from codeaudit.transforms.python.rewriting import PythonRule
from tests.transforms.python.expressions.support import same, value
from tests.transforms.python.order.support import reasons, run, untouched, variants

SWAPPED: dict[str, set[str]] = {
    "n + m": {"m + n"},
    "n + (m - 1)": {"(m - 1) + n"},
    "n - m + 1": {"1 + (n - m)"},
    "n + x * 2": {"x * 2 + n", "n + 2 * x"},
    "-n + m": {"m + -n"},
    "n * -m": {"-m * n"},
    "n & m": {"m & n"},
    "p + 0": {"0 + p"},
    "n*m": {"m*n"},
    "(n  # first\n + m)": {"(m  # first\n + n)"},
    "n + \\\n m": {"m + \\\n n"},
    "n * len(emit(t))": {"len(emit(t)) * n"},
    "emit(n) == 3": {"3 == emit(n)"},
    "a == 'text'": {"'text' == a"},
    "a != s": {"s != a"},
    "a.b == None": {"None == a.b"},
    "x == nan": {"nan == x"},
    "n if n + m else m": {"n if m + n else m"},
    "[z + n == 4 for z in t]": {"[4 == z + n for z in t]"},
}
FLIPPED: dict[str, set[str]] = {
    "n < m": {"m > n"},
    "n <(m)": {"(m) >n"},
    "nan >= n": {"n <= nan"},
    "s < 'a'": {"'a' > s"},
    "a is b": {"b is a"},
    "(a)is(b)": {"(b) is (a)"},
    "a is(b)": {"(b) is a"},
    "a.b is not None": {"None is not a.b"},
    "emit(a) == 1": {"1 == emit(a)"},
    "n < m if a else m": {"m > n if a else m"},
    "not n < m": {"not m > n"},
}


@pytest.mark.parametrize("text", SWAPPED)
def test_operands_change_places(text: str) -> None:
    source = value(text)
    assert variants(SWAP_OPERANDS, source) == {value(after) for after in SWAPPED[text]}
    assert same(SWAP_OPERANDS, source)


@pytest.mark.parametrize("text", FLIPPED)
def test_comparisons_are_flipped(text: str) -> None:
    source = value(text)
    assert variants(FLIP_COMPARISONS, source) == {value(after) for after in FLIPPED[text]}
    assert same(FLIP_COMPARISONS, source)


DECLINED: dict[str, tuple[PythonRule, str]] = {
    "s + s": (SWAP_OPERANDS, operators.UNKNOWN),
    "t + t": (SWAP_OPERANDS, operators.UNKNOWN),
    "l * n": (SWAP_OPERANDS, operators.UNKNOWN),
    "n + a": (SWAP_OPERANDS, operators.UNKNOWN),
    "x & 1": (SWAP_OPERANDS, operators.UNKNOWN),
    "a == b": (SWAP_OPERANDS, operators.UNKNOWN),
    "a == 1.0": (SWAP_OPERANDS, operators.UNKNOWN),
    "a == t": (SWAP_OPERANDS, operators.UNKNOWN),
    "{1} | {2}": (SWAP_OPERANDS, operators.UNKNOWN),
    "n + (n := 4)": (SWAP_OPERANDS, operators.ORDER),
    "n == (n := 4)": (SWAP_OPERANDS, operators.ORDER),
    "len(a) + len(b)": (SWAP_OPERANDS, operators.ORDER),
    "len(l) + len(l.pop())": (SWAP_OPERANDS, operators.ORDER),
    "gone + emit(n) == 3": (SWAP_OPERANDS, operators.UNKNOWN),
    "a < b": (FLIP_COMPARISONS, operators.UNKNOWN),
    "a < 1": (FLIP_COMPARISONS, operators.UNKNOWN),
    "s < b''": (FLIP_COMPARISONS, operators.UNKNOWN),
    "n < m < 5": (FLIP_COMPARISONS, operators.CHAINED),
    "a() is b()": (FLIP_COMPARISONS, operators.ORDER),
    "a.x is b.x": (FLIP_COMPARISONS, operators.ORDER),
    "g is a()": (FLIP_COMPARISONS, operators.ORDER),
}


@pytest.mark.parametrize("text", DECLINED)
def test_declined(text: str) -> None:
    rule, reason = DECLINED[text]
    source = value(text)
    assert reason in reasons(rule, source)
    if "gone" not in text:
        assert untouched(rule, source)


def test_containment_has_no_mirror() -> None:
    assert untouched(FLIP_COMPARISONS, value("a in b"))
    assert not reasons(FLIP_COMPARISONS, value("a in b"))


UNCERTAIN = {
    "a parameter called like a builtin": "def f(a, len):\n    return len(a) + 1\n",
    "a variable of the function around": "def f(a, len):\n    def g():\n        return len(a) + 1\n    return g()\n",
    "a parameter that gives the range": "def f(a, range):\n    for i in range(3):\n        return i + 1\n",
    "a global that the function binds": "def f(a, b):\n    global len\n    len = b\n    return len(a) + 1\n",
    "a global that another one binds": "def g():\n    global len\n    len = str\ndef f(a, b):\n    return len(a) + 1\n",
    "a function of the text": "def len(a):\n    return 'x'\ndef f(a, b):\n    return len(a) + 1\n",
    "the function itself": "def len(a):\n    return len(a) + 1\n",
    "a class that binds it": "class A:\n    def len(a):\n        return 'x'\n    k = len(3) + 1\n",
    "a variable that a nested function rebinds": (
        "def f(a, b):\n    n = 1\n    def g():\n        nonlocal n\n        n = a\n    g()\n    return n + 1\n"
    ),
    "a global variable": "n = 1\ndef f(a, b):\n    return n + 1\n",
    "a class's own variable": "def f(a, b):\n    n = 1\n    class A:\n        n = a\n        m = n + 1\n    return A.m\n",
    "a name that a pattern takes": "def f(a, b):\n    n = 1\n    match a:\n        case n: pass\n    return n + 1\n",
    "a name that a comprehension binds": "def f(a, b):\n    n = 1\n    [n := i for i in a]\n    return n + 1\n",
    "a default of the function": "def f(a=n + 1):\n    n = 1\n    return n\n",
}


@pytest.mark.parametrize("case", UNCERTAIN)
def test_types_are_certain_or_nothing(case: str) -> None:
    source = UNCERTAIN[case]
    assert untouched(SWAP_OPERANDS, source)
    assert reasons(SWAP_OPERANDS, source) == {operators.UNKNOWN}


def test_a_method_of_that_name_hides_no_builtin() -> None:
    source = "class A:\n    def len(self, a):\n        return len(a) + 1\n"
    assert variants(SWAP_OPERANDS, source) == {source.replace("len(a) + 1", "1 + len(a)")}


def test_two_truth_values_give_a_truth_value() -> None:
    source = "def f(a, b):\n    p, q = not a, not b\n    return 1\n"
    source = source.replace("p, q = not a, not b", "p = not a; q = not b; r = p & q")
    assert variants(SWAP_OPERANDS, source) == {source.replace("p & q", "q & p")}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("n < m", {"n > m", "n >= m"}),
        ("a == b", {"a != b"}),
        ("a is None", {"a is not None"}),
        ("a is not None", {"a is None"}),
    ],
)
def test_the_wrong_comparison(text: str, after: set[str]) -> None:
    assert variants(COMPARISON_FLIPPED_WRONG, value(text)) == {value(form) for form in after}
    for form in after:
        assert run(value(form), "f(1, 2)") != run(value(text), "f(1, 2)")


def test_operands_wrongly_swapped() -> None:
    for before, after in {"n - m": "m - n", "n ** m": "m ** n", "n - m - 1": "1 - (n - m)"}.items():
        assert value(after) in variants(OPERANDS_SWAPPED_WRONG, value(before))
        assert run(value(after), "f(1, 2)") != run(value(before), "f(1, 2)")
    assert reasons(OPERANDS_SWAPPED_WRONG, value("n - n")) == {operators.EQUAL}

"""Operators in place: the same only for types that are certain and cannot be changed."""

import pytest

from codeaudit.transforms.python.expressions import operators
from codeaudit.transforms.python.expressions.operators import (
    AUGMENTED_WRONG,
    CONTRACT_AUGMENTED,
    EXPAND_AUGMENTED,
)
from tests.transforms.python.expressions.support import same, statement
from tests.transforms.python.order.support import reasons, run, untouched, variants

BOTH = {
    "n += 1": "n = n + 1",
    "n -= (m - 1)": "n = n - (m - 1)",
    "x *= n": "x = x * n",
    "n //= m": "n = n // m",
    "n <<= 1": "n = n << 1",
    "x %= 0": "x = x % 0",
    "p &= p": "p = p & p",
    "s += 'a'": "s = s + 'a'",
    "t += (1, 2)": "t = t + (1, 2)",
    "n += 1  # one": "n = n + 1  # one",
    "n -= -m": "n = n - -m",
}
EXPANDED = {
    "n -= m - 1": "n = n - (m - 1)",
    "n += m if a else 1": "n = n + (m if a else 1)",
    "t += 1, 2": "t = t + (1, 2)",
    "(n) += 1": "(n) = n + 1",
    "n += (\n  1)": "n = n + (\n  1)",
    "n += \\\n 1": "n = n + \\\n 1",
    "n += (n := 4)": "n = n + (n := 4)",
}


@pytest.mark.parametrize("text", BOTH | EXPANDED)
def test_written_out(text: str) -> None:
    assert variants(EXPAND_AUGMENTED, statement(text)) == {statement((BOTH | EXPANDED)[text])}
    assert same(EXPAND_AUGMENTED, statement(text))


@pytest.mark.parametrize("text", BOTH)
def test_contracted(text: str) -> None:
    assert variants(CONTRACT_AUGMENTED, statement(BOTH[text])) == {statement(text)}
    assert same(CONTRACT_AUGMENTED, statement(BOTH[text]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("l += [1]", operators.UNKNOWN_VARIABLE),
        ("a += 1", operators.UNKNOWN_VARIABLE),
        ("n += a", operators.UNKNOWN_VARIABLE),
        ("s += a", operators.UNKNOWN_VARIABLE),
        (
            "s %= a",
            operators.UNKNOWN_VARIABLE,
        ),  # `a` may be a str of a class with `__rmod__`: then `s` is anything
        ("s *= 2", operators.UNKNOWN_VARIABLE),
        ("n **= 2", operators.UNKNOWN_VARIABLE),
        ("x += 10 ** 400", operators.UNKNOWN_VARIABLE),
        ("a.b += 1", operators.TARGET),
        ("a[emit(0)] += 1", operators.TARGET),
        ("global k; k += 1", operators.UNKNOWN_VARIABLE),
    ],
)
def test_not_written_out(text: str, reason: str) -> None:
    assert reasons(EXPAND_AUGMENTED, statement(text)) == {reason}
    assert untouched(EXPAND_AUGMENTED, statement(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("l = l + [1]", operators.UNKNOWN_VARIABLE),
        ("a = a + 1", operators.UNKNOWN_VARIABLE),
        ("n = (n + 1)", operators.LAYOUT),
        ("n = (n) + 1", operators.LAYOUT),
        ("n = \\\n n + 1", operators.LAYOUT),
        ("n = n + a", operators.UNKNOWN_VARIABLE),
    ],
)
def test_not_contracted(text: str, reason: str) -> None:
    assert reasons(CONTRACT_AUGMENTED, statement(text)) == {reason}
    assert untouched(CONTRACT_AUGMENTED, statement(text))


@pytest.mark.parametrize("text", ["n = n - m - 1", "n = m + n", "n = m = n + 1", "n: int = n + 1"])
def test_no_candidate(text: str) -> None:
    assert untouched(CONTRACT_AUGMENTED, statement(text))
    assert not reasons(CONTRACT_AUGMENTED, statement(text))


def test_variables_that_others_see() -> None:
    for source in (
        "n = 1\nn += 1\n",
        "class A:\n    n = 1\n    n += 1\n",
        "def f(a):\n    n = 1\n    class A:\n        n = a\n        n += 1\n",
        "def f(a):\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n    g()\n",
    ):
        assert untouched(EXPAND_AUGMENTED, source)
        assert untouched(CONTRACT_AUGMENTED, source.replace("n += 1", "n = n + 1"))


def test_lists_are_shared_so_their_sum_in_place_is_kept() -> None:
    source = "def f(a):\n    b = [1]\n    c = b\n    b += a\n    return b, c\n"
    assert untouched(EXPAND_AUGMENTED, source)
    assert run(source, "f([2])") != run(source.replace("b += a", "b = b + a"), "f([2])")


def test_the_control_uses_another_operator() -> None:
    for before, after in {"n += 1": "n -= 1", "n = n * 2": "n = n + 2", "a.b += 1": "a.b -= 1"}.items():
        assert variants(AUGMENTED_WRONG, statement(before)) == {statement(after)}
    assert run(statement("n -= 1"), "f(1, 2)") != run(statement("n += 1"), "f(1, 2)")

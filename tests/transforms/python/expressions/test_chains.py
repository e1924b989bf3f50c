"""Chained comparisons: the middle read twice or once, and as many tests for truth."""

import pytest

from codeaudit.transforms.python.expressions import logic
from codeaudit.transforms.python.expressions.logic import MERGE_COMPARISONS, SPLIT_COMPARISONS
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.expressions.support import condition, same, value
from tests.transforms.python.order.support import outcome, reasons, untouched, variants

SPLIT = {
    "a < n < b": "a < n and n < b",
    "a < b < c": "a < b and b < c",
    "1 < n < m < 8": "1 < n and n < m and m < 8",
    "a < 3 < b": "a < 3 and 3 < b",
    "a == (n) == b": "a == (n) and n == b",
    "a is b is c": "a is b and b is c",
    "a in b in c": "a in b and b in c",
    "emit(a < n < b)": "emit(a < n and n < b)",
    "a < n < (n := 7)": "a < n and n < (n := 7)",
    "[z for z in t if a < z < b]": "[z for z in t if a < z and z < b]",
    "n + (a is b is c)": "n + (a is b and b is c)",
}
SPLIT_IN_CONDITIONS = {
    "a < n < b or c": "a < n and n < b or c",
    "not a < n < b": "not (a < n and n < b)",
    "a < n < b and c": "(a < n and n < b) and c",
    "(a <  # one\n n\n < b)": "((a <  # one\n n and n\n < b))",
}
MERGED = {
    "a < n and n < b": "a < n < b",
    "a < b and b < c": "a < b < c",
    "a < n and n > b": "a < n > b",
    "1 < n and n < 3 and p": "1 < n < 3 and p",
    "a == 1 and 1 == b": "a == 1 == b",
}


@pytest.mark.parametrize("text", SPLIT)
def test_split(text: str) -> None:
    assert variants(SPLIT_COMPARISONS, value(text)) == {value(SPLIT[text])}
    assert same(SPLIT_COMPARISONS, value(text))


@pytest.mark.parametrize("text", SPLIT_IN_CONDITIONS)
def test_split_in_conditions(text: str) -> None:
    assert variants(SPLIT_COMPARISONS, condition(text)) == {condition(SPLIT_IN_CONDITIONS[text])}
    assert same(SPLIT_COMPARISONS, condition(text))


@pytest.mark.parametrize("text", MERGED)
def test_merged(text: str) -> None:
    assert variants(MERGE_COMPARISONS, value(text)) == {value(MERGED[text])}
    assert same(MERGE_COMPARISONS, value(text))


def test_three_become_one() -> None:
    edit = outcome(MERGE_COMPARISONS, value("1 < n and n < m and m < 7"))
    assert isinstance(edit, Perturbed)
    assert edit.source == value("1 < n < m < 7")
    assert same(MERGE_COMPARISONS, value("1 < n and n < m and m < 7"))


def test_a_comment_is_not_doubled() -> None:
    source = value("(a < (n  # one\n ) < b)")
    assert [text.count("#") for text in variants(SPLIT_COMPARISONS, source)] == [1]
    assert same(SPLIT_COMPARISONS, source)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a < b.c < c", logic.MIDDLE),
        ("a < g < b", logic.MIDDLE),
        ("a < emit(n) < b", logic.MIDDLE),
        ("a < n < b or c", logic.TESTS),
        ("not a < n < b", logic.TESTS),
        ("a < n < b if a else c", logic.TESTS),
    ],
)
def test_not_split(text: str, reason: str) -> None:
    assert reasons(SPLIT_COMPARISONS, value(text)) == {reason}
    assert untouched(SPLIT_COMPARISONS, value(text))


def test_a_middle_that_a_nested_function_rebinds() -> None:
    source = (
        "def f(a, b):\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n    return a < n < b\n"
    )
    assert reasons(SPLIT_COMPARISONS, source) == {logic.MIDDLE}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a < n and m < b", logic.NO_COMMON),
        ("a < b.c and b.c < c", logic.NO_COMMON),
        ("a < g and g < b", logic.MIDDLE),
        ("a != n and n != b", logic.NO_COMMON),
        ("a in n and n in b", logic.NO_COMMON),
        ("a < 1 and True < b", logic.NO_COMMON),
        ("a < 1 and 1.0 < b", logic.NO_COMMON),
        ("a < n and (n < b)", logic.LAYOUT),
        ("(a < n  # one\n and n < b)", logic.LAYOUT),
        ("a < n and n < b and c", logic.TESTS),
        ("(a < n and n < b) or c", logic.TESTS),
    ],
)
def test_not_merged(text: str, reason: str) -> None:
    assert reasons(MERGE_COMPARISONS, value(text)) == {reason}
    assert untouched(MERGE_COMPARISONS, value(text))

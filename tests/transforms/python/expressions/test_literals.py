"""Constants and displays written otherwise: the same value, which nobody can tell from the old one."""

import pytest

from codeaudit.transforms.python.expressions import literals
from codeaudit.transforms.python.expressions.literals import (
    BOOL_LITERALS,
    BOOL_LITERALS_WRONG,
    IDENTITY_ARITHMETIC,
    IDENTITY_ARITHMETIC_WRONG,
    MEMBERSHIP_DISPLAYS,
)
from tests.transforms.python.expressions.support import condition, same, value
from tests.transforms.python.order.support import reasons, run, untouched, variants

BOOLS = {
    "True": {"not False", "(1 == 1)", "(0 == 0)"},
    "a is True": {"a is (not False)", "a is (1 == 1)", "a is (0 == 0)"},
    "[False]": {"[not True]", "[(1 == 0)]", "[(0 == 1)]"},
    "True + 0": {"(not False) + 0", "(1 == 1) + 0", "(0 == 0) + 0"},
    "not True": {"not not False", "not (1 == 1)", "not (0 == 0)"},
    "emit(a, *[True])": {"emit(a, *[not False])", "emit(a, *[(1 == 1)])", "emit(a, *[(0 == 0)])"},
    "a if True else b": {"a if not False else b", "a if (1 == 1) else b", "a if (0 == 0) else b"},
    "-True": {"-(not False)", "-(1 == 1)", "-(0 == 0)"},
}
DISPLAYS = {
    "a in (1, 2)": {"a in [1, 2]"},
    "n in (1, 2)": {"n in [1, 2]", "n in {1, 2}"},
    "n in [1]": {"n in (1,)", "n in {1}"},
    "n in {1}": {"n in (1,)", "n in [1]"},
    "n not in ()": {"n not in []"},
    "nan in (nan, 1)": {"nan in [nan, 1]", "nan in {nan, 1}"},
    "x in (1,)": {"x in [1,]", "x in {1,}"},
    "a in [*t]": {"a in (*t,)"},
    "s in ('a', a)": {"s in ['a', a]"},
    "n in[1,2]": {"n in(1,2)", "n in{1,2}"},
    "n in ((1, 2))": {"n in ([1, 2])", "n in ({1, 2})"},
    "n in [1  # one\n ]": {"n in (1  # one\n ,)", "n in {1  # one\n }"},
    "True in (1,)if a else 2": {"True in [1,]if a else 2", "True in {1,}if a else 2"},
}


@pytest.mark.parametrize("text", BOOLS)
def test_bools(text: str) -> None:
    assert variants(BOOL_LITERALS, value(text)) == {value(after) for after in BOOLS[text]}
    assert same(BOOL_LITERALS, value(text))


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    match a:\n        case True: return 1\n",
        "def f(a):\n    return f'{True}'\n",
        "def f(a: Literal[True]) -> Literal[False]:\n    b: Literal[True] = a\n",
        "def f(a):\n    '''True'''\n",
    ],
)
def test_patterns_annotations_and_texts_stay(source: str) -> None:
    assert untouched(BOOL_LITERALS, source)


def test_a_loop_without_end_and_a_default() -> None:
    source = "def f(a=True, *, b=False):\n    while True:\n        if a is not b:\n            return a\n        a = b\n"
    for text in variants(BOOL_LITERALS, source):
        assert run(text, "f(b=None)") == run(source, "f(b=None)") == ("", "True", "")


@pytest.mark.parametrize("text", DISPLAYS)
def test_displays(text: str) -> None:
    assert variants(MEMBERSHIP_DISPLAYS, value(text)) == {value(after) for after in DISPLAYS[text]}
    assert same(MEMBERSHIP_DISPLAYS, value(text))


def test_a_set_asks_for_hashes() -> None:
    for text in ("a in {1}", "n in {a, 1}", "t in {1}"):
        assert reasons(MEMBERSHIP_DISPLAYS, value(text)) == {literals.HASH}
        assert untouched(MEMBERSHIP_DISPLAYS, value(text))
    assert run(value("a in {1}"), "f([], 1)") != run(value("a in (1,)"), "f([], 1)")
    for text in ("a in b", "a in [z for z in t]", "n == (1, 2)", "a in (1, 2) in b"):
        assert untouched(MEMBERSHIP_DISPLAYS, value(text))


@pytest.mark.parametrize("text", ["n + m", "len(emit(t)) + 1", "n == m", "n % 3", "x < n", "p * n", "n / 2"])
def test_adding_nothing(text: str) -> None:
    texts = variants(IDENTITY_ARITHMETIC, value(text))
    assert len(texts) == 4 * (2 if text in ("n + m", "n == m") else 1)
    assert same(IDENTITY_ARITHMETIC, value(text))


def test_the_forms() -> None:
    forms = {"(n + 0)", "(n - 0)", "(n * 1)", "(0 + n)"}
    assert variants(IDENTITY_ARITHMETIC, value("n % 3")) == {value(f"{form} % 3") for form in forms}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p + 1", literals.UNKNOWN),
        ("x + 1", literals.UNKNOWN),
        ("a + 1", literals.UNKNOWN),
        ("n is m", literals.SEEN),
        ("s * n", literals.SEEN),
        ("n < a", literals.SEEN),
        ("n in t", literals.SEEN),
        ("0 < n < 3", literals.SEEN),
        ("n + a", literals.SEEN),
    ],
)
def test_not_added(text: str, reason: str) -> None:
    assert reason in reasons(IDENTITY_ARITHMETIC, value(text))
    assert untouched(IDENTITY_ARITHMETIC, value(text))


def test_controls() -> None:
    assert variants(BOOL_LITERALS_WRONG, condition("True")) == {condition("False")}
    assert run(condition("False"), "f(1, 2)") != run(condition("True"), "f(1, 2)")
    wrong = variants(IDENTITY_ARITHMETIC_WRONG, value("n * 2"))
    assert wrong == {value("(n + 1) * 2"), value("(n - 1) * 2")}
    assert all(run(text, "f(1, 2)") != run(value("n * 2"), "f(1, 2)") for text in wrong)

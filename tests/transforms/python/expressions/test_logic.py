"""Conditions in another form: as many tests for truth, in the same order, and the same value."""

import pytest

from codeaudit.transforms.python.expressions import logic
from codeaudit.transforms.python.expressions.logic import (
    DE_MORGAN,
    DE_MORGAN_WRONG,
    DOUBLE_NEGATION,
    NEGATE_COMPARISONS,
    NEGATION_DROPPED,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.suites import COMMENT
from tests.transforms.python.expressions.support import condition, same, value
from tests.transforms.python.order.support import reasons, run, untouched, variants

CONDITIONS: dict[tuple[PythonRule, str], set[str]] = {
    (DE_MORGAN, "a and b"): {"not (not a or not b)"},
    (DE_MORGAN, "a is not None and a < b"): {"not (not a is not None or not a < b)"},
    (DE_MORGAN, "not (a and b)"): {"(not a or not b)"},
    (DE_MORGAN, "not(a and b)"): {"(not a or not b)"},
    (DE_MORGAN, "not (not a or b)"): {"(a and not b)"},
    (DE_MORGAN, "not a or not b"): {"not (a and b)"},
    (DE_MORGAN, "(x := a) and b"): {"not (not (x := a) or not b)"},
    (DE_MORGAN, "(a\n and b)"): {"(not (not a\n or not b))"},
    (DE_MORGAN, "a if b and c else n"): {"a if not (not b or not c) else n"},
    (DE_MORGAN, "a and not b or c"): {"not (not (a and not b) and not c)", "not (not a or b) or c"},
    (DE_MORGAN, "not (a or (b and c))"): {"(not a and not (b and c))", "not (a or (not (not b or not c)))"},
    (DE_MORGAN, "(a  # one\n and b  # two\n )"): {"(not (not a  # one\n or not b)  # two\n )"},
    (DOUBLE_NEGATION, "a"): {"not not a"},
    (DOUBLE_NEGATION, "a == b"): {"not not a == b"},
    (DOUBLE_NEGATION, "x := a"): {"not not (x := a)"},
    (DOUBLE_NEGATION, "(yield)"): {"(not not (yield))"},
    (DOUBLE_NEGATION, "a if b else c"): {"not not (a if b else c)"},
    (DOUBLE_NEGATION, "not not a"): {"a"},
    (DOUBLE_NEGATION, "not not(a)"): {"(a)"},
    (DOUBLE_NEGATION, "not not not a"): {"not a"},
    (DOUBLE_NEGATION, "a and p"): {"not not (a and p)", "a and not not p"},
    (NEGATE_COMPARISONS, "a in b and c"): {"not a not in b and c"},
}
VALUES: dict[tuple[PythonRule, str], set[str]] = {
    (DE_MORGAN, "not (n and b)"): {"(not n or not b)"},
    (DE_MORGAN, "not n or not b"): {"not (n and b)"},
    (DE_MORGAN, "p and a is b"): {"not (not p or not a is b)"},
    (DE_MORGAN, "[z for z in t if z and a]"): {"[z for z in t if not (not z or not a)]"},
    (DE_MORGAN, "n + (p and a is b)"): {"n + (not (not p or not a is b))"},
    (DOUBLE_NEGATION, "a is b"): {"not not a is b"},
    (DOUBLE_NEGATION, "not not p"): {"p"},
    (DOUBLE_NEGATION, "not not not a"): {"not a"},
    (DOUBLE_NEGATION, "emit(not not (not not p))"): {"emit((not not p))", "emit(not not (p))"},
    (NEGATE_COMPARISONS, "a in b"): {"not a not in b"},
    (NEGATE_COMPARISONS, "a not in(b)"): {"not a in(b)"},
    (NEGATE_COMPARISONS, "a is not b"): {"not a is b"},
    (NEGATE_COMPARISONS, "not a in b"): {"a not in b"},
    (NEGATE_COMPARISONS, "not(a in b)"): {"(a not in b)"},
    (NEGATE_COMPARISONS, "n < m"): {"not n >= m"},
    (NEGATE_COMPARISONS, "not n < m"): {"n >= m"},
    (NEGATE_COMPARISONS, "s <= 'a'"): {"not s > 'a'"},
    (NEGATE_COMPARISONS, "nan == nan"): {"not nan != nan"},
    (NEGATE_COMPARISONS, "(a is b) is c"): {"not (a is b) is not c", "(not a is not b) is c"},
    (NEGATE_COMPARISONS, "n + (a in b)"): {"n + (not a not in b)"},
    (NEGATE_COMPARISONS, "[*(z for z in t if z not in b)]"): {"[*(z for z in t if not z in b)]"},
}


@pytest.mark.parametrize(("rule", "text"), CONDITIONS)
def test_conditions(rule: PythonRule, text: str) -> None:
    source = condition(text)
    assert variants(rule, source) == {condition(after) for after in CONDITIONS[rule, text]}
    if "yield" not in text:
        assert same(rule, source)


@pytest.mark.parametrize(("rule", "text"), VALUES)
def test_values(rule: PythonRule, text: str) -> None:
    source = value(text)
    texts = variants(rule, source)
    assert {value(after) for after in VALUES[rule, text]} <= texts
    assert same(rule, source)


@pytest.mark.parametrize(
    "text",
    [
        "emit(not not (not not (a == b)))",
        "emit(not not (not not a if b else not not c))",
        "not not (not not a and not not b)",
        "not not not not a",
        "not (not not a if b else c)",
        "(not (not (a and b) and not (a or c)), not not (a and not not b))",
        "(a if not not (b or not c) and not (a and b) else not (p or n))",
    ],
)
@pytest.mark.parametrize("rule", [DE_MORGAN, DOUBLE_NEGATION, NEGATE_COMPARISONS])
def test_several_edits_of_one_expression(rule: PythonRule, text: str) -> None:
    made = same(rule, value(text)) + same(rule, condition(text))
    assert made or rule is not DOUBLE_NEGATION, "the others may find nothing to do"


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "form",
    [
        "while {}:\n        emit(a)",
        "assert {}, emit(a)",
        "emit(a if {} else b)",
        "emit([z for z in (a, b) if {}])",
        "match a:\n        case z if {}:\n            emit(z)",
        "emit((a if b else {}) or c)",
        "emit(lambda: {})",
        "emit({} or c)",
        "emit({} and c)",
        "u = {}",
        "emit(not ({}))",
        "emit(({}) is c)",
    ],
)
def test_everywhere_with_objects_that_tell(form: str) -> None:
    made = 0
    for text in ("a and b", "not (a or b)", "not a and not c", "not not (a and b)", "a in b and not b in c"):
        source = value("0").replace("return 0", form.format(text))
        made += sum(same(rule, source) for rule in (DE_MORGAN, DOUBLE_NEGATION, NEGATE_COMPARISONS))
    assert made


DECLINED: dict[tuple[PythonRule, str], str] = {
    (DE_MORGAN, "a and b"): logic.NO_BOOL,
    (DE_MORGAN, "n and p"): logic.NO_BOOL,
    (DE_MORGAN, "a == b and p"): logic.NO_BOOL,
    (DE_MORGAN, "not (a and b)"): logic.TESTS,
    (DE_MORGAN, "not a or not b"): logic.TESTS,
    (DE_MORGAN, "not ((a or b) and n)"): logic.TESTS,
    (DE_MORGAN, "(not  # one\n p) and a is b"): COMMENT,
    (DE_MORGAN, "not ((not p  # one\n ) and a is b)"): COMMENT,
    (DOUBLE_NEGATION, "a"): logic.NO_BOOL,
    (DOUBLE_NEGATION, "n"): logic.NO_BOOL,
    (DOUBLE_NEGATION, "a == b"): logic.NO_BOOL,
    (DOUBLE_NEGATION, "not not a"): logic.NO_BOOL,
    (NEGATE_COMPARISONS, "a == b"): logic.UNKNOWN,
    (NEGATE_COMPARISONS, "a < n"): logic.UNKNOWN,
    (NEGATE_COMPARISONS, "not a < b"): logic.UNKNOWN,
    (NEGATE_COMPARISONS, "{n} < {m}"): logic.UNKNOWN,
    (NEGATE_COMPARISONS, "nan < n"): logic.NAN,
    (NEGATE_COMPARISONS, "not x < n"): logic.NAN,
    (NEGATE_COMPARISONS, "n < m < 5"): logic.CHAINED,
    (NEGATE_COMPARISONS, "a in b in c"): logic.CHAINED,
    (NEGATE_COMPARISONS, "(a is  # one\n not b)"): COMMENT,
}


@pytest.mark.parametrize(("rule", "text"), DECLINED)
def test_declined(rule: PythonRule, text: str) -> None:
    source = value(text)
    assert DECLINED[rule, text] in reasons(rule, source)
    assert untouched(rule, source)


def test_the_target_of_an_assignment_is_no_condition() -> None:
    source = "def f(a):\n    b = 1\n    c = a\n"
    assert reasons(DOUBLE_NEGATION, source) == {logic.NO_BOOL}
    assert not reasons(DOUBLE_NEGATION, "def f(a):\n    b = 1\n")


def test_controls() -> None:
    for text, after in {"a and b": "a or b", "a and b or c": "a or b or c", "a or b": "a and b"}.items():
        assert value(after) in variants(DE_MORGAN_WRONG, value(text))
    assert run(value("a or b"), "f(1, 0)") != run(value("a and b"), "f(1, 0)")
    for text, after in {"not a": "a", "a not in b": "a in b", "a is not b": "a is b"}.items():
        assert value(after) in variants(NEGATION_DROPPED, value(text))
        assert run(value(after), "f(1, [1])") != run(value(text), "f(1, [1])")

"""Controls of this family: edits of the same look after which a function does something else."""

import pytest

from codeaudit.transforms.python.control_flow import branches, loops
from codeaudit.transforms.python.control_flow.branches import (
    BRANCH_DROPPED,
    CONDITION_DROPPED,
    IF_INVERTED_WRONG,
    RETURN_DROPPED,
)
from codeaudit.transforms.python.control_flow.loops import FOR_OFF_BY_ONE, LOOP_LEFT_EARLY
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.control_flow.support import function
from tests.transforms.python.order.support import outcome, reasons, run, untouched, variants

BEFORE_AFTER: dict[str, tuple[PythonRule, str, tuple[str, ...]]] = {
    "negated": (
        IF_INVERTED_WRONG,
        "if a: return 1\nreturn 2",
        ("if not a: return 1\nreturn 2",),
    ),
    "not negated": (
        IF_INVERTED_WRONG,
        "if not(a):\n    return 1\nelse:\n    return 2",
        ("if (a):\n    return 1\nelse:\n    return 2",),
    ),
    "else dropped": (
        BRANCH_DROPPED,
        "x = 0\nif a:\n    x = 1\n    # one\nelse:  # two\n    x = 2\nreturn x",
        ("x = 0\nif a:\n    x = 1\n    # one\nreturn x",),
    ),
    "else of a chain dropped": (
        BRANCH_DROPPED,
        "x = 0\nif a == 1: x = 1\nelif a == 2: x = 2\nelse: x = 3\nreturn x",
        ("x = 0\nif a == 1: x = 1\nelif a == 2: x = 2\nreturn x",),
    ),
    "condition dropped": (
        CONDITION_DROPPED,
        "if a and (b or a) and a != b: return 1\nreturn 2",
        ("if a: return 1\nreturn 2", "if (b or a): return 1\nreturn 2", "if (a != b): return 1\nreturn 2"),
    ),
    "return dropped": (RETURN_DROPPED, "return(a, b)", ("(a, b)",)),
    "range moved": (
        FOR_OFF_BY_ONE,
        "x = []\nfor i in range(a if b else 1, 3): x.append(i)\nreturn x",
        tuple(
            f"x = []\nfor i in range({one}, {other}): x.append(i)\nreturn x"
            for one, other in (
                ("(a if b else 1) - 1", "3"),
                ("(a if b else 1) + 1", "3"),
                ("a if b else 1", "3 - 1"),
                ("a if b else 1", "3 + 1"),
            )
        ),
    ),
    "left early": (
        LOOP_LEFT_EARLY,
        "x = []\nfor i in 'abc':\n    x.append(i)\n    # one\nreturn x",
        ("x = []\nfor i in 'abc':\n    x.append(i)\n    # one\n    break\nreturn x",),
    ),
    "left early on one line": (
        LOOP_LEFT_EARLY,
        "while a < 4: a += 1; b += a  # one\nreturn a, b",
        ("while a < 4:\n    a += 1; b += a  # one\n    break\nreturn a, b",),
    ),
}


@pytest.mark.parametrize("case", BEFORE_AFTER)
def test_every_variant_does_something_else(case: str) -> None:
    rule, before, after = BEFORE_AFTER[case]
    source = function(before)
    assert rule.kind == "control"
    assert variants(rule, source) == set(map(function, after))
    calls = [f"f({a}, {b})" for a in (0, 1, 2) for b in (0, 1)]
    expected = [run(source, call) for call in calls]
    for text in variants(rule, source):
        assert [run(text, call) for call in calls] != expected, text


def test_one_place_only() -> None:
    source = function("if a: a = 0\nif b: b = 0\nif a: return b")
    edit = outcome(IF_INVERTED_WRONG, source)
    assert isinstance(edit, Perturbed)
    assert len(edit.moves) == 1


@pytest.mark.parametrize(
    ("rule", "text", "reason"),
    [
        (BRANCH_DROPPED, "if a: b()", branches.NO_ELSE),
        (BRANCH_DROPPED, "if a: b()\nelse: pass", branches.IDLE),
        (BRANCH_DROPPED, "for x in a:\n    if x: b()\n    else: continue", branches.IDLE),
        (LOOP_LEFT_EARLY, "for x in a: return x", loops.LEFT),
        (RETURN_DROPPED, "return None", branches.IDLE),
    ],
)
def test_edits_that_might_change_nothing(rule: PythonRule, text: str, reason: str) -> None:
    assert reason in reasons(rule, function(text))
    assert untouched(rule, function(text))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (FOR_OFF_BY_ONE, "for i in range(*a): b()"),
        (FOR_OFF_BY_ONE, "for i in a: b()"),
        (CONDITION_DROPPED, "if a or b: b()"),
        (RETURN_DROPPED, "return"),
    ],
)
def test_other_statements(rule: PythonRule, text: str) -> None:
    assert untouched(rule, function(text))

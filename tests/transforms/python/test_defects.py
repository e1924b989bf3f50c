"""Defects: each at one place, compiled, and such as people make."""

import ast
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.defects import (
    CALL_FORGOTTEN,
    COMPARISON_MISTAKEN,
    CONDITION_NEGATED,
    DEFECTS,
    LOGIC_MISTAKEN,
    NUMBER_MISTAKEN,
    OPERATOR_MISTAKEN,
    VARIABLE_MISTAKEN,
)
from codeaudit.transforms.python.rewriting import PythonRule
from tests.support import stdlib


def outcomes(rule: PythonRule, source: str) -> set[str]:
    texts = set()
    for seed in range(40):
        moves = rule.propose(source, Random(seed))
        assert not isinstance(moves, Refused), moves
        rewritten = rule.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        texts.add(rewritten.source)
    return texts


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        (COMPARISON_MISTAKEN, "def f(a, b):\n    return a < b <= 3\n", {"return a <= b <= 3", "return a < b < 3"}),
        (COMPARISON_MISTAKEN, "def f(a):\n    return a is not None\n", {"return a is None"}),
        (COMPARISON_MISTAKEN, "def f(a):\n    return a not in(1, 2)\n", {"return a in(1, 2)"}),
        (OPERATOR_MISTAKEN, "def f(a, b):\n    return a*b\n", {"return a+b", "return a//b"}),
        (LOGIC_MISTAKEN, "def f(a, b):\n    return a and(b)\n", {"return a or(b)"}),
        (
            VARIABLE_MISTAKEN,
            "def f(self, a):\n    b = 1\n    return len(a)\n",
            {"return len(b)"},
        ),
        (CALL_FORGOTTEN, "def f(a):\n    return a.strip() + 'x'\n", {"return a + 'x'"}),
        (CALL_FORGOTTEN, "def f(a):\n    return 2 * sum(a or [])\n", {"return 2 * (a or [])"}),
        (NUMBER_MISTAKEN, "def f(a):\n    return a[0]\n", {"return a[1]"}),
        (NUMBER_MISTAKEN, "def f(a):\n    return a + 10\n", {"return a + 11", "return a + 9"}),
        (NUMBER_MISTAKEN, "def f(a):\n    return -5\n", {"return -6", "return -4"}),
        (NUMBER_MISTAKEN, "def f(a):\n    return a ** -1\n", {"return a ** -2", "return a ** 0"}),
        (CONDITION_NEGATED, "def f(a):\n    return 1 if a else 2\n", {"return 1 if not a else 2"}),
    ],
)  # fmt: skip
def test_one_place_is_changed(rule: PythonRule, before: str, after: set[str]) -> None:
    last = before.rstrip().split("\n    ")[-1]
    assert outcomes(rule, before) == {before.replace(last, text) for text in after}


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (OPERATOR_MISTAKEN, "def f(a):\n    return 'x' + a\n"),
        (OPERATOR_MISTAKEN, "def f(a):\n    return '%s' % a\n"),
        (VARIABLE_MISTAKEN, "def f(a):\n    return a\n"),
        (VARIABLE_MISTAKEN, "def f(self, a):\n    return a(1)\n"),
        (CALL_FORGOTTEN, "def f(a):\n    a.clear()\n    raise ValueError(a)\n"),
        (CONDITION_NEGATED, "def f(a):\n    if a == 1:\n        return 2\n    return 3\n"),
        (NUMBER_MISTAKEN, "def f(a):\n    return True\n"),
        (LOGIC_MISTAKEN, "def f(a):\n    return not a\n"),
        (COMPARISON_MISTAKEN, "def f(a):\n    return a\n"),
    ],
)
def test_where_nobody_would_make_it(rule: PythonRule, source: str) -> None:
    assert isinstance(rule.propose(source, Random(0)), Refused)


def test_a_variable_that_may_be_unbound_is_no_choice() -> None:
    source = "def f(a, b):\n    if a:\n        c = 1\n    return b\n"
    assert outcomes(VARIABLE_MISTAKEN, source) == {
        source.replace("return b", "return a"), source.replace("if a", "if b"),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("rule", DEFECTS, ids=lambda rule: rule.name)
def test_real_functions(rule: PythonRule) -> None:
    assert rule.kind == "control"
    changed = 0
    for source in stdlib.sample(60):
        moves = rule.propose(source, Random(1))
        if isinstance(moves, Refused):
            continue
        assert len(moves) == 1
        rewritten = rule.apply(source, moves)
        if isinstance(rewritten, Rewritten):
            changed += 1
            assert ast.dump(ast.parse(rewritten.source)) != ast.dump(ast.parse(source))
    assert changed > 5

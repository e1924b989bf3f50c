"""Programs meet the tests of their problem; what execution says is kept, and nothing is executed twice."""

from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.cache import AnswerCache
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.solutions import FILE, Solutions
from codeaudit.transforms.oracle.calls import (
    Outcome,
    Passed,
    ProgramTrial,
    TrialFailed,
    Trials,
    TrialUnjudged,
)
from codeaudit.transforms.oracle.tested import trial
from tests.support.data import data_set

TESTS = "assert f() == 1\n"
RIGHT = trial("def f():\n    return 1\n", "def f():\n    return 1\n", TESTS)
WRONG = replace(RIGHT, program="def f():\n    return 2\n")
FAILED = TrialFailed("AssertionError")


def solutions(folder: Path) -> Solutions:
    runner = Solutions(cpu_seconds=1.0)
    runner.keep(folder)
    return runner


def test_results_are_told_in_order_and_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strange = replace(RIGHT, program="def f():\n    yield\n")
    trials = [RIGHT, WRONG, RIGHT, replace(RIGHT, tests="assert f() == 2\n"), strange]
    outcomes = solutions(tmp_path).outcomes(trials)
    assert outcomes[:4] == [Passed(), FAILED, Passed(), FAILED]
    assert isinstance(outcomes[4], TrialUnjudged)
    monkeypatch.setattr(Trials, "outcomes", None)  # whatever is executed now breaks
    again = solutions(tmp_path)
    assert again.outcomes(trials) == outcomes
    assert again.outcomes([]) == []


def test_what_a_busy_machine_ended_is_tried_again_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: Outcome = TrialFailed("out of time", certain=False)
    said = iter([[late, Passed()], [Passed()]])
    monkeypatch.setattr(Trials, "outcomes", lambda *_: next(said))
    assert solutions(tmp_path).outcomes([RIGHT, WRONG]) == [Passed(), Passed()]

    said = iter([[late]] * 4)
    empty = replace(RIGHT, program="")
    for _ in range(2):
        assert solutions(tmp_path).outcomes([empty]) == [late]
    with closing(AnswerCache(tmp_path / FILE)) as kept:
        assert len(kept.fetch([solutions(tmp_path)._key(attempt) for attempt in (RIGHT, WRONG, empty)])) == 2


def test_a_folder_that_cannot_be_used_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert solutions(tmp_path / "file").outcomes([RIGHT]) == [Passed()]


# ── programs and tests ────────────────────────────────────────────────────────────────────────────────────

REFERENCE = """\
from __future__ import annotations
import math
from typing import *

SIZE = 3

def near(a, b):
    return math.isclose(a, b, abs_tol=slack())

def slack():
    return 10 ** -SIZE

def unused():
    return 1

def f(a):
    return a / 3
"""
HELPED = "def check(candidate):\n    assert near(candidate(1), 0.3333)\n\ncheck(f)\n"


@pytest.mark.parametrize("tests", [HELPED, "assert near(f(1), 0.3333)\n"])
def test_tests_bring_the_helpers_of_the_reference(tmp_path: Path, tests: str) -> None:
    right = trial(REFERENCE, REFERENCE, tests)
    assert right.names == ("f",)
    assert "unused" not in right.tests
    forged = REFERENCE.replace("math.isclose(a, b, abs_tol=slack())", "True").replace("a / 3", "7")
    helpless = "def f(a):\n    return a / 3\n"
    trials = [right, trial(forged, REFERENCE, tests), trial(helpless, REFERENCE, tests)]
    assert solutions(tmp_path).outcomes(trials) == [Passed(), FAILED, Passed()]


@pytest.mark.parametrize(
    ("reference", "tests", "names"),
    [
        ("def f(): pass", "check(f)", ("f",)),
        ("def g(): pass\ndef f(): pass", "check(g)", ("g", "f")),
        ("def g(): pass\ndef f(): pass", "assert f() == g()", ("f",)),
        ("def h(): pass\ndef g(): pass\ndef f(): pass", "assert g() == h()", ("h", "g", "f")),
        ("def sum(a, b): return a + b", "assert sum(1, 2) == 3", ("sum",)),
        ("async def f(): pass", "import asyncio\nasyncio.run(f())", ("f",)),
        ("def f(:", "f()", ()),
        ("def f(): pass", "f(", ()),
    ],
)
def test_what_tests_test(reference: str, tests: str, names: tuple[str, ...]) -> None:
    assert trial("", reference, tests).names == names


MBPP = [
    ("def sum(a, b):\n    return a + b", "assert sum(10, 15) == 25\nassert sum(1, -1) == 0"),
    (
        "import math\ndef area(r):\n    return math.pi * r * r",
        "assert math.isclose(area(1), 3.14159, rel_tol=0.01)",
    ),
    (
        "from collections import Counter\ndef count(a):\n    return Counter(a)",
        "assert count('aab') == {'a': 2, 'b': 1}",
    ),
    ("def pairs(a):\n    return set(zip(a, a[1:]))", "assert pairs([1, 2, 3]) == {(1, 2), (2, 3)}"),
    ("def parts(a):\n    return a[0], [*a]", "assert parts('ab') == ('a', ['a', 'b'])"),
    ("def drop(a):\n    a.pop()\n    return a", "x = [1, 2]\nassert drop(x) == [1] and x == [1]"),
]


def test_plain_asserts_are_judged(tmp_path: Path) -> None:
    trials = [trial(program, program, tests) for program, tests in MBPP]
    assert solutions(tmp_path).outcomes(trials) == [Passed()] * len(trials)
    wrong = [
        replace(attempt, program=f"{attempt.program}\n{attempt.names[-1]} = lambda *a: 'x'\n")
        for attempt in trials
    ]
    assert Passed() not in solutions(tmp_path).outcomes(wrong)


@pytest.mark.slow
def test_every_reference_of_humaneval_passes(tmp_path: Path) -> None:
    samples = list(corpus(str(data_set("HumanEval.jsonl.gz"))).read(Counter()))
    trials: list[ProgramTrial] = []
    for sample in samples:
        assert sample.tests is not None
        trials.append(trial(sample.source, sample.source, f"{sample.tests}\n\ncheck({sample.label})\n"))
    assert solutions(tmp_path).outcomes(trials) == [Passed()] * 164

"""Programs with their tests, run in the sandbox: what passes, what does not, and what tries to deceive."""

from collections.abc import Iterator

import pytest

from codeaudit.transforms.oracle.calls import Outcome, Passed, TrialFailed, Trials

TESTS = "def check(g):\n    assert g(1) == 2\n\ncheck(f)\n"


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    with Trials(cpu_seconds=0.5) as one:
        yield one


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("def f(a):\n    return a + 1\n", Passed()),
        ("import math\ndef f(a):\n    print(a)\n    return a + math.floor(1.5)\n", Passed()),
        ("def f(a):\n    return a\n", TrialFailed("AssertionError")),
        ("def f(a):\n    return b\n", TrialFailed("NameError")),
        ("def f(a:\n", TrialFailed("SyntaxError")),
        ("def g(a):\n    return a\n", TrialFailed("NameError")),
        ("raise SystemExit(0)\n", TrialFailed("SystemExit")),
        ("import numpy\n", TrialFailed("ModuleNotFoundError")),
        ("def f(a):\n    return open('/etc/passwd')\n", TrialFailed("PermissionError")),
        ("def f(a):\n    return f(a)\n", TrialFailed("RecursionError")),
        ("def f(a):\n    return bytearray(1 << 40)\n", TrialFailed("MemoryError")),
        ("def f(a):\n    while True:\n        pass\n", TrialFailed("out of processor time")),
        ("import os\nos._exit(0)\n", TrialFailed("left without an answer")),
        ("def f(a):\n    return input()\n", TrialFailed("EOFError")),
        ("x = '\\0'\n\0", TrialFailed("SyntaxError")),
    ],
)
def test_what_becomes_of_a_program(trials: Trials, program: str, outcome: Outcome) -> None:
    assert trials.outcomes([(program, TESTS)]) == [outcome]


@pytest.mark.slow
def test_what_sleeps_is_ended_and_may_be_tried_again(trials: Trials) -> None:
    (found,) = trials.outcomes([("import time\ntime.sleep(60)\n", TESTS)])
    assert found == TrialFailed("out of time", certain=False)


def test_programs_do_not_meet(trials: Trials) -> None:
    leaves = "import builtins, sys\nbuiltins.sum = sys.modules['math'] = None\ndef f(a):\n    return 2\n"
    looks = "import math\ndef f(a):\n    return sum([a, a])\n"
    assert trials.outcomes([(leaves, TESTS), (looks, TESTS)] * 20) == [Passed()] * 40


def test_nothing_is_asked_of_nobody(trials: Trials) -> None:
    assert trials.outcomes([]) == []


def test_chance_is_the_same_each_time(trials: Trials) -> None:
    draws = "import random\ndef f(a):\n    return 2 if random.random() < 0.5 else 3\n"
    assert len(set(trials.outcomes([(draws, TESTS)] * 8))) == 1

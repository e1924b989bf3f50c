"""Programs and their tests, run in two processes of the sandbox: what passes, what fails, what is unjudged."""

from collections.abc import Iterator

import pytest

from codeaudit.transforms.oracle.calls import (
    Outcome,
    Passed,
    ProgramTrial,
    TrialFailed,
    Trials,
    TrialUnjudged,
)
from codeaudit.transforms.oracle.trial import NO_PLAIN_ARGUMENT, NO_PLAIN_RESULT

TESTS = "def check(g):\n    assert g(1) == 2\n\ncheck(f)\n"


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    with Trials(cpu_seconds=0.5) as runner:
        yield runner


def told(trials: Trials, program: str, tests: str = TESTS) -> Outcome:
    (outcome,) = trials.outcomes([ProgramTrial(program, tests, ("f",))])
    return outcome


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
    assert told(trials, program) == outcome


@pytest.mark.slow
def test_what_sleeps_is_ended_and_may_be_tried_again(trials: Trials) -> None:
    assert told(trials, "import time\ntime.sleep(60)\n") == TrialFailed("out of time", certain=False)


def test_programs_do_not_meet(trials: Trials) -> None:
    leaves = "import builtins, sys\nbuiltins.sum = sys.modules['math'] = None\ndef f(a):\n    return 2\n"
    looks = "import math\ndef f(a):\n    return sum([a, a])\n"
    pair = [ProgramTrial(program, TESTS, ("f",)) for program in (leaves, looks)]
    assert trials.outcomes(pair * 20) == [Passed()] * 40


def test_nothing_is_asked_of_nobody(trials: Trials) -> None:
    assert trials.outcomes([]) == []


def test_chance_is_the_same_each_time(trials: Trials) -> None:
    draws = "import random\ndef f(a):\n    return 2 if random.random() < 0.5 else 3\n"
    assert len(set(trials.outcomes([ProgramTrial(draws, TESTS, ("f",))] * 8))) == 1


# ── what passes between the two processes ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("def f(*a, **b):\n    return a, b", "assert f(1, *'ab', c=[2]) == ((1, 'a', 'b'), {'c': [2]})"),
        ("def f(a):\n    a.sort()", "x = [3, 1]\ny = x\nassert f(x) is None\nassert y == [1, 3]"),
        ("def f(a):\n    a[0].add(2)\n    a.append(a)", "x = [{1}]\ns = x[0]\nf(x)\nassert s == {1, 2} and x[1] is x"),
        ("def f(a):\n    return a", "x = {1: []}\nassert f(x) is x\nassert f(x[1]) is x[1]"),
        ("def f(a):\n    return list(a)", "x = [1]\nassert f(x) == x and f(x) is not x"),
        ("def f(a):\n    a.clear()", "x = bytearray(b'abc')\nf(x)\nassert x == b''"),
        ("def f(a, b):\n    a.append(1)\n    return b", "x = []\nassert f(x, x) is x and x == [1]"),
        ("def f(a):\n    return a", "for x in (k := {1: 2, 3: 4}):\n    f(k)"),
        ("def f(a):\n    raise ValueError('no', 3)", "try:\n    f(1)\nexcept ValueError as e:\n    assert e.args == ('no', 3)"),
        ("class E(KeyError): pass\ndef f(a):\n    raise E", "try:\n    f(1)\nexcept LookupError as e:\n    assert type(e).__name__ == 'E'"),
        ("def f(a):\n    raise ExceptionGroup('x', [ValueError()])", "try:\n    f(1)\nexcept Exception:\n    pass"),
        ("def f(a):\n    a.append(1)\n    raise ValueError", "x = []\ntry:\n    f(x)\nexcept ValueError:\n    assert x == [1]"),
        ("n = 0\ndef f():\n    global n\n    n += 1\n    return n", "assert [f(), f(), f()] == [1, 2, 3]"),
        ("def f(a):\n    return a * 10**5000", "assert f(3) == 3 * 10**5000"),
        ("def f(a):\n    return print(a), input", "def f(a): return 1\nassert f(1) == 1"),
    ],
)  # fmt: skip
def test_calls_work_as_in_one_process(trials: Trials, program: str, tests: str) -> None:
    assert told(trials, program, tests) == Passed()
    assert isinstance(told(trials, program, f"{tests}\nassert False"), TrialFailed)


@pytest.mark.parametrize(
    ("program", "tests", "reason"),
    [
        ("def f(a):\n    return a(2)", "assert f(lambda x: x) == 2", NO_PLAIN_ARGUMENT),
        ("def f(a):\n    return 1", "class C: pass\nassert f(C()) == 1", NO_PLAIN_ARGUMENT),
        ("def f(a):\n    yield a", "assert list(f(1)) == [1]", NO_PLAIN_RESULT),
        ("class C: pass\ndef f(a):\n    return [C()]", "f(1)", NO_PLAIN_RESULT),
        ("class C: pass\ndef f(a):\n    a.append(C())", "f([])", NO_PLAIN_RESULT),
        ("def f(a):\n    return object", "try:\n    f(1)\nexcept BaseException:\n    pass", NO_PLAIN_RESULT),
        ("def f(a):\n    return 'x' * 10**7", "assert len(f(1)) == 10**7", NO_PLAIN_RESULT),
        ("def f(a):\n    return 1", "assert f('x' * 10**7) == 1", NO_PLAIN_ARGUMENT),
        ("def f(a):\n    x = ()\n    for _ in range(10**5): x = (x,)\n    return x", "f(1)", NO_PLAIN_RESULT),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_is_unjudged(trials: Trials, program: str, tests: str, reason: str) -> None:
    assert told(trials, program, tests) == TrialUnjudged(reason)


def test_only_the_named_functions_are_of_the_program(trials: Trials) -> None:
    program = "def f(a):\n    return 1\ndef abs(a):\n    return 0\ndef helper(a):\n    return True\n"
    assert told(trials, program, "assert abs(f(1) - 5) == 0") == TrialFailed("AssertionError")
    assert told(trials, program, "assert helper(f(1))") == TrialFailed("NameError")

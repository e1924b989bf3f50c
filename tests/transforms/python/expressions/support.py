"""What the tests of this family share: functions around one expression, and runs of them."""

import itertools
import warnings

from codeaudit.transforms.python.rewriting import PythonRule
from tests.support.watched import behaviour
from tests.transforms.python.order.support import alike, run

VALUES = ("1", "0", "True", "2.5", "-0.0", "float('nan')", "'xy'", "b'x'", "None", "[1]", "(1, 2)", "{1: 2}")
_START = "    n = 3; m = 4; x = 2.5; nan = float('nan'); s = 'text'; t = (1, 2); p = not a; l = [1]\n"


def statement(text: str) -> str:
    """A function with variables of most types and one statement."""
    return f"def f(a, b, c=1):\n{_START}    {text}\n    return n, x, s, t, p, l\n"


def value(text: str) -> str:
    """The same with the value of one expression."""
    return f"def f(a, b, c=1):\n{_START}    return {text}\n"


def condition(text: str) -> str:
    """The same with one expression as a condition."""
    return f"def f(a, b, c=1):\n{_START}    if {text}:\n        return 1\n"


def same(rule: PythonRule, source: str) -> int:
    """Run every variant, and all edits at once, on plain values and on objects that tell what is done to
    them; how many variants there were."""
    calls = [f"f({a}, {b})" for a, b in itertools.product(VALUES[:8], VALUES[4:])]
    return alike(
        rule,
        source,
        lambda text: ([run(text, call) for call in calls], [watched(text, seed) for seed in range(6)]),
    )


def watched(source: str, seed: int) -> object:
    """What the function does with objects that tell; what the compiler warns of is kept quiet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return behaviour(source, seed)

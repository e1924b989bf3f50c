"""A file may call `locals` by another name; renaming heeds that, and otherwise no meaning of a builtin."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.analysis.reflection import other_names
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS

FUNCTION = "def f(x):\n    total = x + 1\n    kept = show()\n    return total, kept\n"

HIDING = [
    "show = locals",
    "show: object = locals",
    "from builtins import vars as show",
    "from builtins import locals as show",
    "import builtins\nshow = builtins.locals",
    "import builtins\nbuiltins.show = locals",
    "a = b = show = locals",
    "a, show = 1, locals",
    "[a, *show], = [[1, locals]],",
    "show = locals if x else dir",
    "show = None or vars",
    "if True:\n    show = dir",
    "print(show := locals)",
    "class A:\n    @staticmethod\n    def g(): pass\n    show = staticmethod(locals)",
    "from functools import partial\nshow = partial(locals)",
    "import sys\nshow = sys._getframe",
    "from sys import _getframe as show",
    "import inspect\nshow = inspect.stack",
    "from inspect import currentframe as show",
    "from inspect import trace as show",
    "globals()['show'] = locals",
    "globals().update(show=locals)",
    "show = \\\n  locals",
    "show = (\n  # a comment\n  locals)",
    "show = ｌocals",
    "ｓhow = locals",
]


@pytest.mark.parametrize("line", HIDING)
def test_a_function_that_mentions_another_name_of_locals_is_left_alone(line: str) -> None:
    file = f"x = 1\n{line}\n\n{FUNCTION}"
    compile(file, "<file>", "exec")
    assert RENAME.within(file).propose(FUNCTION, Random(0)) == Refused(REFLECTION)
    other = FUNCTION.replace("show", "hide")
    assert not isinstance(RENAME.within(file).propose(other, Random(0)), Refused)


HARMLESS = [
    "def show(): return locals()",
    "show = len",
    "show = locals()",
    "dir = '.'\nshow = str(dir)",
    "class A:\n    locals = 1\nshow = A.locals == 1",
    "# show = locals\ndef show(): ...",
    "'''show = locals'''\ndef show(): ...",
    "def g(eval=None): return eval\nshow = g",
]


@pytest.mark.parametrize("line", HARMLESS)
def test_other_files_are_no_reason(line: str) -> None:
    assert "show" not in other_names(f"{line}\n\n{FUNCTION}")


def test_a_text_that_does_not_parse_gives_no_names() -> None:
    assert other_names("show = locals\ndef (:\n") == frozenset()


def test_the_attribute_of_a_module_counts() -> None:
    file = "import builtins\nclass tools: pass\ntools.show = builtins.locals\n"
    method = "def f(x):\n    total = x\n    return total, tools.show()\n"
    assert RENAME.within(file).propose(method, Random(0)) == Refused(REFLECTION)


def shown(file: str, function: str) -> tuple[object, object]:
    """What the function of a file returns, and what it looked up."""
    space: dict[str, Any] = {}
    exec(compile(file + function, "<file>", "exec"), space)
    return space["f"]([3, 1]), space.get("seen")


@pytest.mark.parametrize(
    "file",
    [
        "def len(x):\n    return 7\n",
        "seen = []\ndef sorted(x):\n    seen.append(x)\n    return x\n",
        "from os import *\n",
        "import builtins\nbuiltins.len = builtins.len\n",
        "globals().update({'len': len})\n",
    ],
)
def test_locals_are_renamed_whatever_the_builtins_mean(file: str) -> None:
    function = "def f(x):\n    first = len(x)\n    second = sorted(x)\n    return first, second\n"
    transform = RENAME.within(file)
    moves = transform.propose(function, Random(2))
    assert not isinstance(moves, Refused)
    made = transform.apply(function, moves)
    assert not isinstance(made, Refused)
    assert made.source != function
    assert shown(file, made.source) == shown(file, function)


def test_parameters_still_need_builtins() -> None:
    facts: Mapping[object, bool] = {RENAME: False, RENAME_PARAMETERS: True}
    assert {one: one.trusts_names for one in facts} == facts

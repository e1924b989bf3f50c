"""The control of renaming functions: two functions take each other's names."""

from random import Random
from typing import Any

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.identifiers.definitions import NO_PAIR, RENAME_FUNCTIONS_MERGING
from codeaudit.transforms.records import Move

MODULE = "def half(x):\n    return x / 2\n\n\ndef twice(x):\n    return x * 2\n\n\ndef f(x):\n    return half(x), twice(x)\n"


def test_the_definitions_swap_names_and_calls_stay() -> None:
    moves = RENAME_FUNCTIONS_MERGING.propose(MODULE, Random(0))
    assert isinstance(moves, tuple)
    outcome = RENAME_FUNCTIONS_MERGING.apply(MODULE, moves)
    assert isinstance(outcome, Rewritten)
    assert outcome.evidence == "parsed"
    assert outcome.source == MODULE.replace("def half", "def T").replace("def twice", "def half").replace(
        "def T", "def twice"
    )
    assert (run(MODULE), run(outcome.source)) == ((1.5, 6), (6, 1.5))


def run(source: str) -> object:
    space: dict[str, Any] = {}
    exec(source, space)
    return space["f"](3)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def half(x): return x / 2\nhalf(1)\n",
        MODULE.replace("twice(x)\n", "x\n"),  # never called
        MODULE.replace("x * 2", "x / 2"),  # the same body
        MODULE.replace("half(x),", "half(x=x),").replace(
            "twice(x):\n    return x", "twice(y):\n    return y"
        ),
        MODULE.replace("def twice(x)", "def twice(x, y=1)") + "twice(1, 2)\n",
        MODULE.replace("def twice", "@d\ndef twice"),
        MODULE.replace("return x * 2", "yield x"),
        MODULE.replace("def twice", "async def twice"),
        MODULE + "def twice(x): return 3\n",
    ],
)
def test_functions_that_are_not_called_alike_are_not_swapped(source: str) -> None:
    assert RENAME_FUNCTIONS_MERGING.propose(source, Random(0)) == Refused(NO_PAIR)


def test_moves_of_another_module_are_refused() -> None:
    for site, value in ((1, "twice"), (0, "half"), (0, "f")):
        move = Move(kind="swap", site=site, value=value, note="")
        assert RENAME_FUNCTIONS_MERGING.apply(MODULE, (move,)) == Refused("not a move of this module")
    assert RENAME_FUNCTIONS_MERGING.apply(MODULE, ()) == Rewritten(source=MODULE, evidence="parsed")


def test_text_that_does_not_parse_is_a_source_error() -> None:
    with pytest.raises(SourceError):
        RENAME_FUNCTIONS_MERGING.propose("def f(:\n", Random(0))

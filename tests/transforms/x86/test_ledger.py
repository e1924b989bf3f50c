"""The ledger of x86: each entry with a block whose edit shows where the entry is false, and the blocks that show
this themselves.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for
from codeaudit.transforms.x86 import LEDGER
from codeaudit.transforms.x86.reading import read

_MOVE: Final = re.compile(r"(?P<name>movq|addq) (?P<source>\S+), (?P<target>\S+)")
_PLACE: Final = re.compile(r"(?P<offset>\d*)\((?P<base>%\w+)\)")


def states(block: str) -> Iterator[dict[str, int]]:
    """The registers and the memory after each instruction of a block of `movq` and `addq`. Other places than
    those from 1000 on have no memory.

    Raises:
        IndexError: with the address of such a place.
    """
    now: dict[str, int] = {"%rdi": 1000, "%rsi": 2000, "%rax": 1, "%rbx": 2, "%rcx": 4, "%rdx": 8}

    def place(operand: str) -> str:
        if (match := _PLACE.fullmatch(operand)) is None:
            return operand
        address = now[match["base"]] + int(match["offset"] or 0)
        if address < 1000:
            raise IndexError(address)
        return str(address)

    for line in block.splitlines():
        move = _MOVE.fullmatch(line)
        assert move is not None, line
        source, target = place(move["source"]), place(move["target"])
        now[target] = now.get(source, 0) + (now.get(target, 0) if move["name"] == "addq" else 0)
        yield dict(now)


def outcomes(transform: str, block: str) -> list[Outcome]:
    """What a transform makes of a block."""
    sample = Sample(id="b", language="x86", source=block, label=None, origin=Origin(path="", line=1))
    return list(perturb_one(sample, transform_for(transform, "x86"), variants=3, seed=0))


def left(block: str) -> int:
    """What the code behind the block finds in `%rbx`."""
    return list(states(block))[-1]["%rbx"]


def between(block: str) -> list[tuple[int, int]]:
    """What another thread may find in two places at a time."""
    return [(now.get("1000", 0), now.get("1008", 0)) for now in states(block)]


def failing(block: str) -> object:
    """The address at which the block fails."""
    try:
        return list(states(block))
    except IndexError as error:
        return error.args


def length(block: str) -> int:
    """The number of bytes of the code."""
    return len(read(block).code)


BROKEN: Final[dict[str, tuple[str, str, Callable[[str], object]]]] = {
    "block-alone": ("rename", "addq %rax, %rbx\n", left),
    "code-unread": ("rename", "movq %rax, %rbx\naddq %rdx, %rcx\nmovq %rax, (%rdi)\n", length),
    "nobody-between": ("reorder", "movq %rax, (%rdi)\nmovq %rcx, 8(%rdi)\n", between),
    "runs-to-end": ("reorder", "movq (%rax), %rdx\nmovq (%rbx), %rcx\n", failing),
}


@pytest.mark.parametrize("name", LEDGER)
def test_an_edit_is_seen_where_an_entry_that_it_rests_on_is_false(name: str) -> None:
    transform, block, seen = BROKEN[name]
    edits = [outcome for outcome in outcomes(transform, block) if isinstance(outcome, Perturbed)]
    assert edits
    assert all(name in {row.id for row in rests_on(edit)} for edit in edits)
    assert {str(seen(edit.source)) for edit in edits} != {str(seen(block))}


SHOWN: Final = [
    ("code-unread", "rename", "addq %rax, 4(%rip)\n", "an address counts from the end of its instruction"),
    (
        "nobody-between",
        "reorder",
        "movq %rax, (%rdi)\nlock addq $1, 16(%rdi)\nmovq %rcx, 8(%rdi)\n",
        "one legal order only",
    ),
    ("nobody-between", "reorder", "movq %rax, (%rdi)\nmfence\nmovq %rcx, 8(%rdi)\n", "one legal order only"),
]


@pytest.mark.parametrize(("entry", "transform", "block", "reason"), SHOWN)
def test_an_edit_is_refused_where_the_block_shows_that_an_entry_is_false(
    entry: str, transform: str, block: str, reason: str
) -> None:
    edits = outcomes(transform, block)
    assert {edit.reason for edit in edits if isinstance(edit, NotApplied)} == {reason}
    assert not any(isinstance(edit, Perturbed) for edit in edits)


def test_every_entry_has_its_blocks() -> None:
    assert BROKEN.keys() == LEDGER.keys()
    assert {entry for entry, *_ in SHOWN} == {name for name, row in LEDGER.items() if row.shown}

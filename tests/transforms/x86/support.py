"""What the tests of x86 share: blocks, and one text through one transform."""

from functools import cache
from itertools import islice
from random import Random

import pytest

from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.records import Move
from codeaudit.transforms.x86.blocks import cut, running_program

FIGURE_A = "movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax"
FIGURE_B = "movq 64(%rsp), %rbx\nsubl $1, 56(%rbp)\nmovl 16(%rbx), %ebx"
FIGURE_C = "movq 64(%rax), %rax\nsubl $1, 56(%ebp)\nmovl 16(%rax), %eax"
"""Renamer, Figure 1: original, invariant renaming, non-invariant renaming."""


@cache
def own_blocks(count: int) -> tuple[str, ...]:
    """Blocks of the running Python, or a skip where that is no x86-64 ELF file."""
    try:
        return tuple(block.source for block in islice(cut(running_program()), count))
    except CorpusError as error:
        pytest.skip(str(error))


def draw(transform: Transform, source: str, seed: int = 0) -> tuple[Move, ...] | Refused:
    """One proposal."""
    return transform.propose(source, Random(seed))


def rewrite(transform: Transform, source: str, seed: int = 0) -> str | None:
    """One variant, `None` where the transform refuses."""
    moves = draw(transform, source, seed)
    if isinstance(moves, Refused):
        return None
    rewritten = transform.apply(source, moves)
    assert isinstance(rewritten, Rewritten), rewritten
    return rewritten.source


def reason(transform: Transform, source: str) -> str:
    """Why a transform refuses a block."""
    refusal = draw(transform, source)
    assert isinstance(refusal, Refused), refusal
    return refusal.reason

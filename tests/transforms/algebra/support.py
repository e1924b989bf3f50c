"""What the tests of algebra share: generated pairs, and one text through one transform."""

from functools import cache
from random import Random

from codeaudit.transforms.algebra.generate import Example, Split, examples
from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.records import Move

PAIR = "mul a0 sin mul y x =? mul a0 mul y cos mul y x"
"""A function with one coefficient, one other input and x, and its derivative."""


@cache
def some(split: Split, count: int) -> tuple[Example, ...]:
    """The first examples of a split."""
    return tuple(examples(split, count))


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


def move(kind: str, site: int, value: str | tuple[int, ...]) -> Move:
    """A move without its note."""
    return Move(kind=kind, site=site, value=value, note="")

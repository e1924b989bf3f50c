"""Why a function has one legal order of statements only: the reasons that `reorder` counts.

The reorder transforms of languages with statements ask `why_not` when no block can be reordered.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Protocol

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects

NO_BLOCK: Final = "no block of two statements"
RAISE: Final = "two neighbours may raise"
STORE: Final = "a neighbour stores what another may see"
ACT: Final = "a neighbour may run unknown code"
SHARE: Final = "neighbours share a variable"
OBSTACLES: Final = (RAISE, STORE, ACT, SHARE)
"""Why two neighbours keep their order, the easiest to remove first. Behind these a language puts its own
reason for neighbours that leave the block.
"""


class Obstructed(Protocol):
    """A block without a second legal order."""

    @property
    def fixed(self) -> str | None:
        """Why its order stays whatever the statements do; `None` if only their effects decide."""
        ...

    @property
    def effects(self) -> Sequence[Effects]:
        """The effects of each statement."""
        ...


def why_not(large: Sequence[Obstructed], obstacles: Sequence[str]) -> str:
    """The reason to count if none of these blocks can be reordered: the one that is easiest to remove.

    Args:
        large: the blocks with at least two statements.
        obstacles: `OBSTACLES` and the language's last one.
    """
    if not large:
        return NO_BLOCK
    if all(block.fixed for block in large):
        return min(block.fixed or "" for block in large)
    found = {
        obstacle(first, second, obstacles[-1])
        for block in large
        if block.fixed is None
        for first, second in pairwise(block.effects)
    }
    return next(reason for reason in obstacles if reason in found)


def obstacle(first: Effects, second: Effects, leaving: str) -> str:
    """The strongest reason why two neighbours may not change places; `leaving` if one of them leaves the
    block.
    """
    if (first.flags | second.flags) & (BARRIER | LEAVES_LOOP | ENDS_CALL):
        return leaving
    if first.writes & (second.reads | second.writes) or first.reads & second.writes:
        return SHARE
    if (first.flags | second.flags) & ACTS:
        return ACT
    if (first.flags | second.flags) & STORES:
        return STORE
    return RAISE

"""Blocks and their legal orders as moves, in any language: one permuted block is one move."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Final, Protocol, TypeVar

from transforms.dependence import orders
from transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects
from transforms.interface import Refused
from transforms.records import Move

DRAWS: Final = 32
"""Draws of all blocks before one movable block is made to move."""
NO_BLOCK: Final = "no block of two statements"
NOT_A_MOVE: Final = "not a move of this transform"
ILLEGAL: Final = "illegal order"
RAISE: Final = "two neighbours may raise"
STORE: Final = "a neighbour stores what another may see"
ACT: Final = "a neighbour may run unknown code"
SHARE: Final = "neighbours share a variable"
OBSTACLES: Final = (RAISE, STORE, ACT, SHARE)
"""Why two neighbours keep their order, the easiest to remove first. Behind these a language puts what it says
of neighbours that leave the block.
"""


class Ordered(Protocol):
    """A block whose statements depend on one another."""

    @property
    def fixed(self) -> str | None:
        """Why its order stays, if so."""
        ...

    @property
    def predecessors(self) -> Sequence[int]:
        """For each statement the set, as bits, of those that stay before it."""
        ...

    @property
    def effects(self) -> Sequence[Effects]:
        """Those of each statement."""
        ...


B = TypeVar("B", bound=Ordered)


def is_movable(block: Ordered) -> bool:
    """Whether a block has a legal order other than its own: some two neighbours do not conflict.

    If every neighbouring pair is ordered, the order is total; else swapping that pair is legal.
    """
    return block.fixed is None and any(
        not mask >> (number - 1) & 1 for number, mask in enumerate(block.predecessors) if number
    )


def why_not(large: Sequence[Ordered], obstacles: Sequence[str]) -> str:
    """The reason to count where none of the blocks with two statements is movable: what stands least in the
    way. `obstacles` are `OBSTACLES` and the language's last one.
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
    """Why two neighbours may not change places, the strongest reason that applies."""
    if (first.flags | second.flags) & (BARRIER | LEAVES_LOOP | ENDS_CALL):
        return leaving
    if first.writes & (second.reads | second.writes) or first.reads & second.writes:
        return SHARE
    if (first.flags | second.flags) & ACTS:
        return ACT
    if (first.flags | second.flags) & STORES:
        return STORE
    return RAISE


def draw(
    blocks: Sequence[B], movable: Sequence[int], rng: Random, note: Callable[[B, Sequence[int]], str]
) -> tuple[Move, ...]:
    """A uniform legal order of every movable block, at least one of them not its own."""

    def drawn(sites: Sequence[int]) -> tuple[Move, ...]:
        moves = []
        for site in sites:
            order = orders.sample(blocks[site].predecessors, rng)
            if list(order) != sorted(order):
                moves.append(Move(kind="order", site=site, value=order, note=note(blocks[site], order)))
        return tuple(moves)

    for _ in range(DRAWS):
        moves = drawn(movable)
        if moves:
            return moves
    moves = ()
    while not moves:
        moves = drawn([rng.choice(movable)])
    return moves


def chosen(blocks: Sequence[Ordered], moves: Sequence[Move]) -> dict[int, Sequence[int]] | Refused:
    """The orders of the moves by block; blocks are independent, so any subset is legal."""
    found: dict[int, Sequence[int]] = {}
    for move in moves:
        if isinstance(move.value, str) or move.site >= len(blocks):
            return Refused(NOT_A_MOVE)
        block = blocks[move.site]
        if block.fixed or not orders.is_legal(block.predecessors, move.value):
            return Refused(ILLEGAL)
        found[move.site] = move.value
    return found


def told(lines: Sequence[int], order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    moved = [number for number, old in enumerate(order) if number != old]
    old = ", ".join(str(lines[number]) for number in moved)
    new = ", ".join(str(lines[order[number]]) for number in moved)
    return f"lines {old} -> {new}"

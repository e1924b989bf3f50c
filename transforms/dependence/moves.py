"""Blocks and their legal orders as moves, in any language: one permuted block is one move."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from random import Random
from typing import Final, Protocol, TypeVar

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.records import Move

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


def count(blocks: Sequence[Ordered]) -> int | None:
    """How many orders of the movable blocks there are together, the text's own aside; `None` if unknown."""
    total = 1
    for block in blocks:
        if is_movable(block):
            number = orders.count(block.predecessors)
            if number is None:
                return None
            total *= number
    return total - 1


def every(blocks: Sequence[B], note: Callable[[B, Sequence[int]], str]) -> Iterator[tuple[Move, ...]]:
    """All that `draw` may draw, each once: the legal orders of all movable blocks in every combination."""
    options: list[list[Move | None]] = []
    for site, block in enumerate(blocks):
        if is_movable(block):
            found = list(orders.enumerate_orders(block.predecessors))[1:]
            moves = [Move(kind="order", site=site, value=order, note=note(block, order)) for order in found]
            options.append([None, *moves])
    for combination in product(*options):
        if moves := [move for move in combination if move is not None]:
            yield tuple(moves)


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


def milder(move: Move) -> Iterator[Move]:
    """The moves that reorder the same block less, down to the exchange of two neighbours.

    First every exchange of two neighbours of the original that the order makes too, then the order itself
    with two of its neighbours put right, by place. All have fewer inversions than the order. Where the
    original and the order are both linear extensions of one relation, two neighbours in the order that stand
    the wrong way round are unrelated, so that putting them right is legal. The exchanges at the beginning
    need not be: who applies them finds out.
    """
    if move.kind != "order" or isinstance(move.value, str):
        return
    order = move.value
    place = {statement: number for number, statement in enumerate(order)}
    own = list(range(len(order)))
    seen = {tuple(own), tuple(order)}
    exchanged = [(own, n) for n in own[:-1] if place[n] > place[n + 1]]
    for start, n in [*exchanged, *((list(order), n) for n in own[:-1] if order[n] > order[n + 1])]:
        less = [*start[:n], start[n + 1], start[n], *start[n + 2 :]]
        if tuple(less) not in seen:
            seen.add(tuple(less))
            note = told([each + 1 for each in own], less).replace("lines", "statements", 1)
            yield replace(move, value=tuple(less), note=note)


def told(lines: Sequence[int], order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    moved = [number for number, old in enumerate(order) if number != old]
    old = ", ".join(str(lines[number]) for number in moved)
    new = ", ".join(str(lines[order[number]]) for number in moved)
    return f"lines {old} -> {new}"

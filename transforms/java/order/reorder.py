"""`reorder`: the statements of a method in another legal order.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound); each block is drawn uniformly and independently, nested blocks inside their
statement. Only whole statements move: every byte of every statement, its comments included, survives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Final

from transforms.dependence import orders
from transforms.dependence.blocks import Block, Statement
from transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects
from transforms.interface import Refused, Rewritten
from transforms.java.analysis.builder import Dependence
from transforms.java.analysis.program import Program, analyse
from transforms.java.parts import ESCAPED, escaped
from transforms.records import Kind, Move, Unit

DRAWS: Final = 32
"""Draws of the whole method before one movable block is made to move."""

NO_BLOCK: Final = "no block of two statements"
NOT_A_MOVE: Final = "not a move of this transform"
ILLEGAL: Final = "illegal order"
OBSTACLES: Final = (
    "two neighbours may raise",
    "a neighbour stores what another may see",
    "a neighbour may run unknown code",
    "neighbours share a variable",
    "neighbours leave the block",
)
"""Why a method has one legal order only; the first would be the easiest to remove."""


@dataclass(frozen=True, slots=True)
class Reorder:
    """Draws a legal order other than the text's own."""

    name: str = "reorder"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))
    unit: Unit = "function"
    dependence: Dependence = "full"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A uniform legal order of every block, at least one of them not the identity.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        program = analyse(source, dependence=self.dependence)
        if reason := unreadable(program):
            return Refused(reason)
        movable = [site for site, block in enumerate(program.blocks) if is_movable(block)]
        if not movable:
            return Refused(why_not(program))
        for _ in range(DRAWS):
            moves = _draw(program, movable, rng)
            if moves:
                return moves
        moves = ()
        while not moves:
            moves = _draw(program, [rng.choice(movable)], rng)
        return moves

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Put the blocks into the orders of the moves; blocks are independent, so any subset is legal."""
        program = analyse(source, dependence=self.dependence)
        chosen: dict[int, Sequence[int]] = {}
        if reason := unreadable(program):
            return Refused(reason)
        for move in moves:
            if isinstance(move.value, str) or move.site >= len(program.blocks):
                return Refused(NOT_A_MOVE)
            block = program.blocks[move.site]
            if block.fixed or not orders.is_legal(block.predecessors, move.value):
                return Refused(ILLEGAL)
            chosen[move.site] = move.value
        text = reordered(program, chosen)
        return Rewritten(source=text, evidence="analysis" if self.dependence == "full" else "none")


def unreadable(program: Program) -> str | None:
    """Why Java may read a text otherwise than it was read here, if so."""
    if escaped(program.source):
        return ESCAPED
    return None


def is_movable(block: Block) -> bool:
    """Whether a block has a legal order other than its own: some two neighbours do not conflict.

    If every neighbouring pair is ordered, the order is total; else swapping that pair is legal.
    """
    return block.fixed is None and any(
        not mask >> (number - 1) & 1 for number, mask in enumerate(block.predecessors) if number
    )


def why_not(program: Program) -> str:
    """The reason to count for a method without a movable block: what stands least in the way."""
    large = [block for block in program.blocks if len(block.statements) > 1]
    if not large:
        return NO_BLOCK
    if all(block.fixed for block in large):
        return min(block.fixed or "" for block in large)
    found = {
        obstacle(first, second)
        for block in large
        if block.fixed is None
        for first, second in pairwise(block.effects)
    }
    return next(reason for reason in OBSTACLES if reason in found)


def obstacle(first: Effects, second: Effects) -> str:
    """Why two neighbours may not change places: one of `OBSTACLES`, the strongest that applies."""
    if (first.flags | second.flags) & (BARRIER | LEAVES_LOOP | ENDS_CALL):
        return "neighbours leave the block"
    if first.writes & (second.reads | second.writes) or first.reads & second.writes:
        return "neighbours share a variable"
    if (first.flags | second.flags) & ACTS:
        return "a neighbour may run unknown code"
    if (first.flags | second.flags) & STORES:
        return "a neighbour stores what another may see"
    return "two neighbours may raise"


def reordered(program: Program, chosen: Mapping[int, Sequence[int]]) -> str:
    """The method's text with the blocks of these numbers in these orders."""
    text = program.reading.source
    numbers = {id(block): number for number, block in enumerate(program.blocks)}

    def outermost(block: Block) -> Iterator[Block]:
        """The chosen blocks of a block or, where it is not chosen itself, of what is nested in it."""
        if numbers[id(block)] in chosen:
            yield block
        else:
            yield from nested(block.statements)

    def nested(statements: Iterable[Statement]) -> Iterator[Block]:
        for statement in statements:
            for part in statement.parts:
                if isinstance(part, Block):
                    yield from outermost(part)

    def render(start: int, end: int, blocks: Iterable[Block]) -> bytes:
        """The bytes of a range with these blocks rearranged, from the inside out."""
        out, position = [], start
        for block in blocks:
            parts = block.statements
            pieces = [render(part.start, part.end, nested([part])) for part in parts]
            for part, old in zip(parts, chosen[numbers[id(block)]], strict=True):
                out += [text[position : part.start], pieces[old]]
                position = part.end
        return b"".join([*out, text[position:end]])

    return render(0, len(text), outermost(program.root)).decode()


def _draw(program: Program, sites: Sequence[int], rng: Random) -> tuple[Move, ...]:
    moves = []
    for site in sites:
        block = program.blocks[site]
        order = orders.sample(block.predecessors, rng)
        if list(order) != sorted(order):
            moves.append(Move(kind="order", site=site, value=order, note=note_of(program, block, order)))
    return tuple(moves)


def note_of(program: Program, block: Block, order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    text = program.reading.source
    before = [text.count(b"\n", 0, statement.start) + 1 for statement in block.statements]
    moved = [number for number, old in enumerate(order) if number != old]
    old = ", ".join(str(before[number]) for number in moved)
    new = ", ".join(str(before[order[number]]) for number in moved)
    return f"lines {old} -> {new}"


REORDER: Final = Reorder()
REORDER_NAMES_ONLY: Final = Reorder(name="reorder-names-only", dependence="names")

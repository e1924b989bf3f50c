"""`reorder`: the statements of a function in another legal order.

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
from transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects
from transforms.edits import line_starts
from transforms.errors import SourceError
from transforms.interface import Refused, Rewritten
from transforms.python.analysis.blocks import Block, Statement, first_line
from transforms.python.analysis.program import Dependence, Program, analyse
from transforms.python.order.units import rearrange, units
from transforms.python.parsing import parse
from transforms.records import Kind, Move, Unit

DRAWS: Final = 32
"""Draws of the whole function before one movable block is made to move."""

NO_BLOCK: Final = "no block of two statements"
OBSTACLES: Final = (
    "two neighbours may raise",
    "a neighbour stores what another may see",
    "a neighbour may run unknown code",
    "neighbours share a variable",
    "neighbours leave or suspend the block",
)
"""Why a function has one legal order only; the first would be the easiest to remove."""


@dataclass(frozen=True, slots=True)
class Reorder:
    """Draws a legal order other than the text's own."""

    name: str = "reorder"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"python"}))
    unit: Unit = "function"
    dependence: Dependence = "full"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A uniform legal order of every block, at least one of them not the identity.

        Raises:
            SourceError: the source cannot be parsed.
        """
        program = analyse(source, dependence=self.dependence)
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
        for move in moves:
            if isinstance(move.value, str) or move.site >= len(program.blocks):
                return Refused("not a move of this transform")
            block = program.blocks[move.site]
            if block.fixed or not orders.is_legal(block.predecessors, move.value):
                return Refused("illegal order")
            chosen[move.site] = move.value
        text = reordered(program, chosen)
        if not _parses(text):
            return Refused("result does not parse")
        return Rewritten(source=text, evidence="analysis" if self.dependence == "full" else "parsed")


def is_movable(block: Block) -> bool:
    """Whether a block has a legal order other than its own: some two neighbours do not conflict.

    If every neighbouring pair is ordered, the order is total; else swapping that pair is legal.
    """
    return block.fixed is None and any(
        not mask >> (number - 1) & 1 for number, mask in enumerate(block.predecessors) if number
    )


def why_not(program: Program) -> str:
    """The reason to count for a program without a movable block: what stands least in the way."""
    large = [block for block in program.blocks if is_large(block)]
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


def is_large(block: Block) -> bool:
    """Whether a block has two statements, a docstring not counted."""
    return sum(bool(statement.parts) for statement in block.statements) > 1


def obstacle(first: Effects, second: Effects) -> str:
    """Why two neighbours may not change places: one of `OBSTACLES`, the strongest that applies."""
    if (first.flags | second.flags) & (BARRIER | LEAVES_LOOP | ENDS_CALL):
        return "neighbours leave or suspend the block"
    if first.writes & (second.reads | second.writes) or first.reads & second.writes:
        return "neighbours share a variable"
    if (first.flags | second.flags) & ACTS:
        return "a neighbour may run unknown code"
    if (first.flags | second.flags) & STORES:
        return "a neighbour stores what another may see"
    return "two neighbours may raise"


def reordered(program: Program, chosen: Mapping[int, Sequence[int]]) -> str:
    """The program's text with the blocks of these numbers in these orders."""
    text = program.source.encode()
    starts = line_starts(text)
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
            parts = units(text, starts, block)
            pieces = [
                render(part.start, part.end, nested([statement]))
                for part, statement in zip(parts, block.statements, strict=True)
            ]
            order = chosen[numbers[id(block)]]
            out += [text[position : parts[0].start], rearrange(text, parts, [pieces[old] for old in order])]
            position = parts[-1].end
        return b"".join([*out, text[position:end]])

    return render(0, len(text), outermost(program.root)).decode()


def _draw(program: Program, sites: Sequence[int], rng: Random) -> tuple[Move, ...]:
    moves = []
    for site in sites:
        block = program.blocks[site]
        order = orders.sample(block.predecessors, rng)
        if list(order) != sorted(order):
            moves.append(Move(kind="order", site=site, value=order, note=note_of(block, order)))
    return tuple(moves)


def note_of(block: Block, order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    before = [first_line(statement.node) for statement in block.statements]
    moved = [number for number, old in enumerate(order) if number != old]
    old = ", ".join(str(before[number]) for number in moved)
    new = ", ".join(str(before[order[number]]) for number in moved)
    return f"lines {old} -> {new}"


def _parses(text: str) -> bool:
    try:
        parse(text)
    except SourceError:
        return False
    return True


REORDER: Final = Reorder()
REORDER_NAMES_ONLY: Final = Reorder(name="reorder-names-only", dependence="paper")

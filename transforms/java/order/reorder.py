"""`reorder`: the statements of a method in another legal order.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound); each block is drawn uniformly and independently, nested blocks inside their
statement. Only whole statements move: every byte of every statement, its comments included, survives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from codeaudit.transforms.dependence import moves as moves_of
from codeaudit.transforms.dependence.blocks import Block, Statement
from codeaudit.transforms.dependence.moves import is_movable
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.builder import Dependence
from codeaudit.transforms.java.analysis.program import Program, analyse
from codeaudit.transforms.java.function_context import ESCAPED, escaped
from codeaudit.transforms.records import Kind, Move, Unit

OBSTACLES: Final = (*moves_of.OBSTACLES, "neighbours leave the block")
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
            large = [block for block in program.blocks if len(block.statements) > 1]
            return Refused(moves_of.why_not(large, OBSTACLES))
        return moves_of.draw(program.blocks, movable, rng, partial(note_of, program))

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Put the blocks into the orders of the moves; blocks are independent, so any subset is legal."""
        program = analyse(source, dependence=self.dependence)
        if reason := unreadable(program):
            return Refused(reason)
        chosen = moves_of.chosen(program.blocks, moves)
        if isinstance(chosen, Refused):
            return chosen
        text = reordered(program, chosen)
        return Rewritten(source=text, evidence="analysis" if self.dependence == "full" else "none")

    def count(self, source: str) -> int | None:
        """How many legal orders there are besides the text's own."""
        return moves_of.count(analyse(source, dependence=self.dependence).blocks)

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each legal order besides the text's own."""
        program = analyse(source, dependence=self.dependence)
        return moves_of.every(program.blocks, partial(note_of, program))


def unreadable(program: Program) -> str | None:
    """Why Java may read a text otherwise than it was read here, if so."""
    if escaped(program.source):
        return ESCAPED
    return None


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


def note_of(program: Program, block: Block, order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    text = program.reading.source
    before = [text.count(b"\n", 0, statement.start) + 1 for statement in block.statements]
    return moves_of.told(before, order)


REORDER: Final = Reorder()
REORDER_NAMES_ONLY: Final = Reorder(name="reorder-names-only", dependence="names")

"""`reorder`: the statements of a function in another legal order.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound); each block is drawn uniformly and independently, nested blocks inside their
statement. Only whole statements move: every byte of every statement, its comments included, survives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.dependence import moves as moves_of
from codeaudit.transforms.dependence.moves import is_movable
from codeaudit.transforms.edits import line_starts
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.blocks import Block, Statement, first_line
from codeaudit.transforms.python.analysis.program import Dependence, PythonProgram, analyse
from codeaudit.transforms.python.order.units import rearrange, units
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import Kind, Move, Unit

OBSTACLES: Final = (*moves_of.OBSTACLES, "neighbours leave or suspend the block")
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
            large = [block for block in program.blocks if is_large(block)]
            return Refused(moves_of.why_not(large, OBSTACLES))
        return moves_of.draw(program.blocks, movable, rng, note_of)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Put the blocks into the orders of the moves; blocks are independent, so any subset is legal."""
        program = analyse(source, dependence=self.dependence)
        chosen = moves_of.chosen(program.blocks, moves)
        if isinstance(chosen, Refused):
            return chosen
        text = reordered(program, chosen)
        if not _parses(text):
            return Refused("result does not parse")
        return Rewritten(source=text, evidence="analysis" if self.dependence == "full" else "parsed")

    def count(self, source: str) -> int | None:
        """How many legal orders there are besides the text's own."""
        return moves_of.count(analyse(source, dependence=self.dependence).blocks)

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each legal order besides the text's own."""
        return moves_of.every(analyse(source, dependence=self.dependence).blocks, note_of)


def is_large(block: Block) -> bool:
    """Whether a block has two statements, a docstring not counted."""
    return sum(bool(statement.parts) for statement in block.statements) > 1


def reordered(program: PythonProgram, chosen: Mapping[int, Sequence[int]]) -> str:
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


def note_of(block: Block, order: Sequence[int]) -> str:
    """What an order does, for people: the line numbers in their old and their new order."""
    before = [first_line(statement.node) for statement in block.statements]
    return moves_of.told(before, order)


def _parses(text: str) -> bool:
    try:
        parse(text)
    except SourceError:
        return False
    return True


REORDER: Final = Reorder()
REORDER_NAMES_ONLY: Final = Reorder(name="reorder-names-only", dependence="paper")

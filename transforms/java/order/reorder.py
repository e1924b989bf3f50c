"""`reorder`: the statements of a Java method in another legal order.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound). Nested blocks are reordered inside their statement. Only whole statements move,
and every byte of every statement stays, its comments included. The assumptions are those of
`analysis.effects`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms import reordering
from codeaudit.transforms.dependence import obstacles
from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.java.analysis.builder import Dependence
from codeaudit.transforms.java.analysis.program import JavaProgram, analyse
from codeaudit.transforms.java.function_context import ESCAPED, escaped
from codeaudit.transforms.reordering import Reorder

OBSTACLES: Final = (*obstacles.OBSTACLES, "neighbours leave the block")
"""The reasons why a method has only one legal order; the first is the easiest to remove."""


class JavaOrdering:
    """The blocks of a Java method, with their statements as elements."""

    noun: Final = "lines"

    def __init__(self, program: JavaProgram) -> None:
        self.program = program

    @property
    def obstacle(self) -> str:
        """Why Java may read the text otherwise than it was read here; empty if it does not."""
        return ESCAPED if escaped(self.program.source) else ""

    @property
    def blocks(self) -> Sequence[StatementBlock]:
        """Every block, outer before inner."""
        return self.program.blocks

    @property
    def large(self) -> Sequence[StatementBlock]:
        """The blocks with at least two statements."""
        return [block for block in self.blocks if len(block.statements) > 1]

    @property
    def immovable(self) -> str:
        """The reason to count where no block has another legal order."""
        return obstacles.why_not(self.large, OBSTACLES)

    def numbers(self, site: int) -> Sequence[int]:
        """The line of each statement, from 1; comments above belong to the statement."""
        text = self.program.reading.source
        return [text.count(b"\n", 0, statement.start) + 1 for statement in self.blocks[site].statements]

    def changes(self, site: int, order: Sequence[int]) -> bool:
        """Every order changes the text, or is counted as if it did."""
        return True

    def text(self, orders: Mapping[int, Sequence[int]]) -> str:
        """The text with the blocks in these orders."""
        return reordered(self.program, orders)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReorder(Reorder):
    """Puts the statements of a Java method into another legal order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))
    dependence: Dependence = "full"

    def ordering(self, source: str) -> JavaOrdering:
        """The blocks of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return JavaOrdering(analyse(source, dependence=self.dependence))


def reordered(program: JavaProgram, orders: Mapping[int, Sequence[int]]) -> str:
    """The method's text with the blocks of these numbers in these orders."""
    blocks = program.blocks
    return reordering.reordered(
        program.reading.source, blocks, orders, lambda number: blocks[number].statements
    )


REORDER: Final = JavaReorder()
REORDER_NAMES_ONLY: Final = JavaReorder(name="reorder-names-only", dependence="names", evidence="none")

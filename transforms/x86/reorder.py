"""`reorder`: the instructions of a block in another legal order.

The legal orders are the linear extensions of the conflicts of registers, flags and memory (`effects.py`). The
block keeps its effect, but not its cost: `BlockRThroughput` stays, but llvm-mca's cycles change for about a
fifth of all blocks. So the throughput task has to compute the label again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from codeaudit.transforms.reordering import Reorder
from codeaudit.transforms.x86.effects import conflicts
from codeaudit.transforms.x86.reading import BasicBlock, read

ONE: Final = "no two instructions"
TOTAL: Final = "one legal order only"


class Instructions(NamedTuple):
    """The instructions of a block as the elements that are put into order."""

    predecessors: Sequence[int]
    """The conflicts as bit masks."""
    fixed: None = None
    """No block keeps its order whatever its instructions do."""


class InstructionOrdering:
    """A basic block as the one block of its text."""

    noun: Final = "instructions"
    obstacle: Final = ""

    def __init__(self, block: BasicBlock) -> None:
        self.block = block

    @cached_property
    def blocks(self) -> Sequence[Instructions]:
        """The one block."""
        return (Instructions(conflicts(self.block)),)

    @property
    def immovable(self) -> str:
        """The reason to count where no other legal order changes the text."""
        return ONE if len(self.block.operations) < 2 else TOTAL

    def numbers(self, site: int) -> Sequence[int]:
        """The number of each instruction, from 1."""
        return range(1, len(self.block.operations) + 1)

    def changes(self, site: int, order: Sequence[int]) -> bool:
        """Whether the order changes the text; equal instructions may change places without a trace."""
        operations = self.block.operations
        return any(operations[old].text != one.text for old, one in zip(order, operations, strict=True))

    def text(self, orders: Mapping[int, Sequence[int]]) -> str:
        """The text in the order given for block 0."""
        return reordered(self.block, orders[0]) if orders else self.block.source


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionReorder(Reorder):
    """Puts the instructions of a block into another legal order. The whole order is one move."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"x86"}))

    def ordering(self, source: str) -> InstructionOrdering:
        """The instructions of a block.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        return InstructionOrdering(read(source))


def reordered(block: BasicBlock, order: Sequence[int]) -> str:
    """The text of a block in another order. A line takes the comment lines above it along."""
    source = block.source
    pieces: list[str] = []
    done = 0
    for start, operation in zip(block.starts, block.operations, strict=True):
        end = source.find("\n", start + len(operation.text))
        end = len(source) if end < 0 else end
        pieces.append(source[done:end])
        done = min(end + 1, len(source))
    return (
        "\n".join(pieces[number] for number in order)
        + source[done - 1 if source[done - 1] == "\n" else done :]
    )


REORDER: Final = InstructionReorder()

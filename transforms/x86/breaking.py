"""`reorder-breaking`: the control of `reorder` for x86. One instruction stands before the one whose result it
reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.breaking import ReorderBreaking, reversible
from codeaudit.transforms.x86.canonical import canonicalise
from codeaudit.transforms.x86.effects import flow, touch
from codeaudit.transforms.x86.reading import BasicBlock, read
from codeaudit.transforms.x86.reorder import ONE, InstructionOrdering, reordered

NO_PAIR: Final = "no true dependence that stands alone"
STILL: Final = "a renaming of what it was"
"""As `movq %rax, %rbx; movq %rbx, %rax` in the other order, with the registers exchanged."""


class BreakableInstructions(InstructionOrdering):
    """A basic block, with the reads after writes of registers and flags that may be reversed."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no dependence may be reversed."""
        return ONE if len(self.block.operations) < 2 else NO_PAIR

    def pairs(self, site: int) -> Iterator[tuple[int, int]]:
        """Pairs (writer, reader) whose order can be told."""
        found = reversible(self.blocks[site].predecessors, flow(self.block))
        return (pair for pair in found if matters(self.block, *pair))

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Only a read after a write whose order can be told."""
        writer, reader = pair
        return bool(flow(self.block)[reader] >> writer & 1) and matters(self.block, writer, reader)

    def flaw(self, site: int, order: Sequence[int]) -> str:
        """`STILL` if a legal order and a renaming make the result into the block; the control changes
        nothing.
        """
        text = reordered(self.block, order)
        return STILL if canonicalise(self.block.source) == canonicalise(text) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionReorderBreaking(ReorderBreaking):
    """Reverses exactly one read after write of a register or flag; every other pair keeps its order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"x86"}))

    def ordering(self, source: str) -> BreakableInstructions:
        """The instructions of a block.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        return BreakableInstructions(read(source))


def matters(block: BasicBlock, first: int, second: int) -> bool:
    """Whether the order of two dependent instructions changes the result.

    Two instructions that only update the same register may commute (`incq %rax; addq $2, %rax`), so they do
    not count.
    """
    one, other = (touch(block.operations[number]) for number in (first, second))
    shared = one.writes & other.reads
    updated = one.reads & one.writes & other.reads & other.writes
    return bool(shared - updated or one.flags_written & block.operations[second].instruction.rflags_read)


REORDER_BREAKING: Final = InstructionReorderBreaking()

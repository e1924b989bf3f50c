"""`reorder` for x86, and its control `reorder-breaking`: the instructions of a block in another order.

The legal orders are the linear extensions of the conflicts of registers, flags and memory (`effects.py`). The
block keeps its effect, but not its cost: `BlockRThroughput` stays, but llvm-mca's cycles change for about a
fifth of all blocks. So the throughput task has to compute the label again.

The control puts one instruction before the one whose result it reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from codeaudit.transforms.reordering import Reorder, ReorderBreaking, reversible
from codeaudit.transforms.x86.canonical import canonicalise
from codeaudit.transforms.x86.effects import conflicts, flow, touch
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
        return any(
            operations[old].text != operation.text for old, operation in zip(order, operations, strict=True)
        )

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
        # A line break at the end of the text belongs to the text: the last line may be one without it.
        end = source.find("\n", start + len(operation.text))
        end = len(source) if end < 0 else end
        pieces.append(source[done:end])
        done = min(end + 1, len(source))
    return (
        "\n".join(pieces[number] for number in order)
        + source[done - 1 if source[done - 1] == "\n" else done :]
    )


REORDER: Final = InstructionReorder()


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
        """Pairs (writer, reader) whose order can be seen."""
        pairs = reversible(self.blocks[site].predecessors, flow(self.block))
        return (pair for pair in pairs if matters(self.block, *pair))

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Only a read after a write whose order can be seen."""
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
    shared = one.writes & other.reads  # read after write: the only dependence that `flow` holds
    updated = one.reads & one.writes & other.reads & other.writes
    return bool(shared - updated or one.flags_written & block.operations[second].instruction.rflags_read)


REORDER_BREAKING: Final = InstructionReorderBreaking()

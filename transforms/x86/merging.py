"""`rename-merging`: the control that breaks the referent relation (Renamer, Figure 1(c)).

One register takes the name of another register of the block, so two places that named different registers
name the same one. The merged register is one that the block reads before it writes it. There are three kinds
of pairs, and an earlier kind is preferred:

1. The register in an address becomes the register that is loaded through it, as in the figure, where `rsp`
   becomes `rax`. When the block runs repeatedly, each load waits for the one before. This changes the cost
   and the meaning.
2. The register becomes another one that the block writes, which adds a dependence.
3. Both registers are read before they are written.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.x86.effects import touch
from codeaudit.transforms.x86.legality import choices
from codeaudit.transforms.x86.proof import REFERENT, Different, compare
from codeaudit.transforms.x86.reading import BasicBlock, read
from codeaudit.transforms.x86.registers import class_of
from codeaudit.transforms.x86.rename import renamed

NO_PAIR: Final = "no two registers to merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterMerging:
    """Gives one register the name of another. One merge is one move."""

    name: str = "rename-merging"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One merge, of those that make a new dependence where there are any.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        bases = tuple(choices(block).targets)
        for pairs in candidates(block, bases):
            while pairs:
                gone, into = pairs.pop(rng.randrange(len(pairs)))
                if merged(block, gone, into) is not None:
                    note = f"{gone} -> {into} (two registers become one)"
                    return (Move(kind="merge", site=bases.index(gone), value=into, note=note),)
        return Refused(NO_PAIR)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Merge two registers; refuses a move that keeps the referent relation.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        bases = tuple(choices(block).targets)
        if len(moves) != 1 or isinstance(moves[0].value, tuple) or not 0 <= moves[0].site < len(bases):
            return Refused(NOT_A_MOVE)
        gone, into = bases[moves[0].site], moves[0].value
        if not any((gone, into) in pairs for pairs in candidates(block, bases)):
            return Refused(NOT_A_MOVE)
        text = merged(block, gone, into)
        return Refused(NO_PAIR) if text is None else Rewritten(source=text, evidence="analysis")


def candidates(block: BasicBlock, bases: tuple[str, ...]) -> Iterator[list[tuple[str, str]]]:
    """Pairs (gone, into) of registers of one class, in three groups in the order of preference.

    The groups: a load waits for itself; another new dependence; both registers are only read first.
    """
    read_first, written = _uses(block)
    pairs = [
        (gone, into)
        for gone in bases
        for into in bases
        if gone != into and class_of(gone) == class_of(into) and gone in read_first
    ]
    new = [(gone, into) for gone, into in pairs if gone not in written and into in written]
    loads = _loads(block)
    yield [pair for pair in new if pair in loads]
    yield [pair for pair in new if pair not in loads]
    yield [pair for pair in pairs if pair not in new and pair[1] in read_first]


def merged(block: BasicBlock, gone: str, into: str) -> str | None:
    """The text after the merge; `None` if it is not a block, or if it is a renaming of the original."""
    text = renamed(block, {gone: into})
    if text is None:
        return None
    try:
        judged = compare(block, read(text))
    except SourceError:
        return None
    return text if isinstance(judged, Different) and judged.reason == REFERENT else None


def _uses(block: BasicBlock) -> tuple[set[str], set[str]]:
    """The registers that are read before they are written, and those that are written at all."""
    read_first: set[str] = set()
    written: set[str] = set()
    for operation in block.operations:
        touched = touch(operation)
        read_first |= touched.reads - written
        written |= touched.writes
    return read_first, written


def _loads(block: BasicBlock) -> set[tuple[str, str]]:
    """Pairs (address register, target) of loads whose target no other instruction of the block writes."""
    touches = [touch(operation) for operation in block.operations]
    writers = Counter(base for touched in touches for base in touched.writes)
    return {
        (address, target)
        for touched in touches
        for access in touched.memory
        for address in access.bases
        for target in touched.writes
        if not access.writes and writers[target] == 1
    }


RENAME_MERGING: Final = RegisterMerging()

"""`rename-merging`: the control that breaks the referent relation (Renamer, Figure 1(c)).

One register takes the name of another one that the block uses too, so two places that named different
registers name the same one. A register that the block reads before it writes it is merged; preferably into
one that the block writes, so that a dependence comes about that was not there. Best is what the figure does,
where `rsp` becomes the `rax` that is loaded through it: run again and again, each load waits for the one
before, which changes the cost as well as the meaning.
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
        """Merge; refuses what would leave the referent relation as it is."""
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
    """Pairs (gone, into) of registers of one class: those that make a load wait for itself, those that make
    another new dependence, then the rest.
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
    """The merged text; `None` where it is no longer a block, or still a renaming of what it was."""
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
    """Pairs (address, target) of loads whose target nothing else in the block writes."""
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

"""`reorder-breaking`: a control that puts one instruction before the one whose result it reads."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.dependence.reversals import broken, reversed_pair, reversible
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.x86.canonical import canonicalise
from codeaudit.transforms.x86.effects import conflicts, flow, touch
from codeaudit.transforms.x86.reading import Block, read
from codeaudit.transforms.x86.reorder import NOT_A_MOVE, ONE, order_move, reordered

NO_PAIR: Final = "no true dependence that stands alone"
STILL: Final = "a renaming of what it was"
"""As `movq %rax, %rbx; movq %rbx, %rax` in the other order, with the registers exchanged."""


@dataclass(frozen=True, slots=True)
class ReorderBreaking:
    """Reverses exactly one read after write of a register or flag; every other pair keeps its order."""

    name: str = "reorder-breaking"
    kind: Kind = "control"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"x86"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """An order with one pair reversed.

        Raises:
            SourceError: a line of the source is no instruction.
        """
        block = read(source)
        if len(block.operations) < 2:
            return Refused(ONE)
        predecessors = conflicts(block)
        pairs = [pair for pair in reversible(predecessors, flow(block)) if matters(block, *pair)]
        if not pairs:
            return Refused(NO_PAIR)
        while pairs:
            order = reversed_pair(predecessors, *pairs.pop(rng.randrange(len(pairs))))
            if not is_renaming(source, reordered(block, order)):
                return (order_move(order),)
        return Refused(STILL)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rewrite; refuses an order that breaks no pair or more than one, or that gives a renaming."""
        block = read(source)
        if len(moves) != 1 or isinstance(moves[0].value, str) or moves[0].site:
            return Refused(NOT_A_MOVE)
        pairs = broken(conflicts(block), moves[0].value)
        if pairs is None or len(pairs) != 1:
            return Refused("not exactly one broken pair")
        ((first, second),) = pairs
        if not (flow(block)[second] >> first & 1 and matters(block, first, second)):
            return Refused("not exactly one broken pair")
        text = reordered(block, moves[0].value)
        if is_renaming(source, text):
            return Refused(STILL)
        return Rewritten(source=text, evidence="analysis")


def is_renaming(source: str, text: str) -> bool:
    """Whether a legal order and a renaming make one block into the other."""
    return canonicalise(source) == canonicalise(text)


def matters(block: Block, first: int, second: int) -> bool:
    """Whether the order of two dependent instructions can be told: two that only update one register may
    commute (`incq %rax; addq $2, %rax`).
    """
    one, other = (touch(block.operations[number]) for number in (first, second))
    shared = one.writes & other.reads
    updated = one.reads & one.writes & other.reads & other.writes
    return bool(shared - updated or one.flags_written & block.operations[second].instruction.rflags_read)


REORDER_BREAKING: Final = ReorderBreaking()

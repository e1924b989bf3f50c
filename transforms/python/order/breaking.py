"""`reorder-breaking`: a control that reverses exactly one true dependence.

The order is legal but for one pair: a statement that reads a variable is put before the statement whose
value it read (the second half of Definition 4.2 in SPE attention asks a model to notice). A model that
answers the same here and everywhere else is not robust but deaf.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.dependence.moves import NO_BLOCK
from codeaudit.transforms.dependence.reversals import broken, reversed_pair, reversible
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.blocks import Block
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.order.reorder import is_large, note_of, reordered
from codeaudit.transforms.records import Kind, Move, Unit

NO_PAIR: Final = "no true dependence that stands alone"


@dataclass(frozen=True, slots=True)
class ReorderBreaking:
    """Puts one reader directly before the statement that defined what it reads."""

    name: str = "reorder-breaking"
    kind: Kind = "control"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"python"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One block's order with one dependence pair reversed.

        Raises:
            SourceError: the source cannot be parsed.
        """
        program, names = analyse(source), analyse(source, dependence="paper")
        pairs = [
            (site, pair)
            for site, (block, true) in enumerate(zip(program.blocks, names.blocks, strict=True))
            if block.fixed is None
            for pair in reversible(block.predecessors, true.predecessors)
        ]
        if not pairs:
            large = any(is_large(block) for block in program.blocks)
            return Refused(NO_PAIR if large else NO_BLOCK)
        site, (definition, use) = rng.choice(pairs)
        block = program.blocks[site]
        order = reversed_pair(block.predecessors, definition, use)
        return (Move(kind="order", site=site, value=order, note=note_of(block, order)),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rewrite; refuses an order that is legal after all, or breaks more than one pair."""
        program = analyse(source)
        for move in moves:
            if isinstance(move.value, str) or move.site >= len(program.blocks):
                return Refused("not a move of this transform")
            block: Block = program.blocks[move.site]
            pairs = broken(block.predecessors, move.value)
            if block.fixed or pairs is None or len(pairs) != 1:
                return Refused("not exactly one broken pair")
        text = reordered(
            program, {move.site: move.value for move in moves if not isinstance(move.value, str)}
        )
        return Rewritten(source=text, evidence="analysis") if moves else Refused("nothing to break")


REORDER_BREAKING: Final = ReorderBreaking()

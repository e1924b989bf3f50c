"""`reorder-breaking`: a control that reverses exactly one true dependence.

The order is legal but for one pair: a statement that reads a variable is put before the statement whose
value it read (the second half of Definition 4.2 in SPE attention asks a model to notice). A model that
answers the same here and everywhere else is not robust but deaf.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from transforms.dependence import orders
from transforms.dependence.layers import bits, closure, reduction
from transforms.interface import Refused, Rewritten
from transforms.python.analysis.blocks import Block
from transforms.python.analysis.program import analyse
from transforms.python.order.reorder import NO_BLOCK, is_large, note_of, reordered
from transforms.records import Kind, Move, Unit

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
            if block.fixed or len(_broken(block.predecessors, move.value)) != 1:
                return Refused("not exactly one broken pair")
        text = reordered(
            program, {move.site: move.value for move in moves if not isinstance(move.value, str)}
        )
        return Rewritten(source=text, evidence="analysis") if moves else Refused("nothing to break")


def reversible(predecessors: Sequence[int], true: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs (definition, use) of a true dependence that no third statement stands between."""
    for use, mask in enumerate(reduction(predecessors)):
        yield from ((definition, use) for definition in bits(mask & true[use]))


def reversed_pair(predecessors: Sequence[int], definition: int, use: int) -> tuple[int, ...]:
    """An order in which `use` stands directly before `definition` and every other pair keeps its order."""
    ancestors = closure(predecessors)
    before = (ancestors[use] | ancestors[definition]) & ~(1 << definition)
    rest = ((1 << len(predecessors)) - 1) & ~before & ~(1 << definition) & ~(1 << use)
    return (*bits(before), use, definition, *bits(rest))


def _broken(predecessors: Sequence[int], order: Sequence[int]) -> list[tuple[int, int]]:
    """The dependence pairs that an order reverses; everything is broken if it is no permutation."""
    if sorted(order) != list(range(len(predecessors))):
        return [(0, 0), (0, 0)]
    if orders.is_legal(predecessors, order):
        return []
    place = {line: number for number, line in enumerate(order)}
    return [
        (before, line)
        for line, mask in enumerate(predecessors)
        for before in bits(mask)
        if place[before] > place[line]
    ]


REORDER_BREAKING: Final = ReorderBreaking()

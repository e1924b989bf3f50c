"""Breaking a dependence in any language: `reorder-breaking`, the control of `reorder`.

The order of one block is legal but for one pair of elements: an element stands before another one on whose
result it depends (the second half of Definition 4.2 in SPE attention asks a model to notice). A model that
answers the same here and everywhere else is not robust: it ignores the order.

`ReorderBreaking` draws the pair and checks the order; a language says with `Breakable` which pairs it may
reverse.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from codeaudit.transforms.dependence.layers import bits, closure, reduction
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.reordering import UNREADABLE, Ordering, chosen_orders, order_move

NOT_ONE: Final = "not exactly one broken pair"
NOTHING: Final = "nothing to break"


class Breakable(Ordering, Protocol):
    """The blocks of one text, with the dependences that a control may reverse."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no pair may be reversed."""
        ...

    def pairs(self, site: int) -> Iterable[tuple[int, int]]:
        """Pairs (before, after) of a block whose reversal changes the meaning."""
        ...

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Whether `apply` accepts an order that reverses only this pair of conflicting elements."""
        ...

    def flaw(self, site: int, order: Sequence[int]) -> str:
        """Why the order keeps the meaning after all; empty if it does not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReorderBreaking(ABC):
    """Puts one element directly before another one that it depends on; every other pair keeps its order."""

    name: str = "reorder-breaking"
    kind: Kind = "control"
    unit: Unit = "function"

    @abstractmethod
    def ordering(self, source: str) -> Breakable:
        """The blocks of a text.

        Raises:
            SourceError: the source cannot be parsed.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """The order of one block with one pair reversed.

        Raises:
            SourceError: the source cannot be parsed.
        """
        found = self.ordering(source)
        if found.obstacle:
            return Refused(found.obstacle)
        pairs = [(site, pair) for site in range(len(found.blocks)) for pair in found.pairs(site)]
        flaw = found.unbreakable
        while pairs:
            site, pair = pairs.pop(rng.randrange(len(pairs)))
            order = reversed_pair(found.blocks[site].predecessors, *pair)
            flaw = found.flaw(site, order)
            if not flaw:
                return (order_move(found, site, order),)
        return Refused(flaw)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Reorder; refuses an order that breaks no pair, another pair, or more than one.

        Raises:
            SourceError: the source cannot be parsed.
        """
        found = self.ordering(source)
        if found.obstacle:
            return Refused(found.obstacle)
        chosen = chosen_orders(found, moves)
        if isinstance(chosen, Refused):
            return chosen
        if not chosen:
            return Refused(NOTHING)
        for site, order in chosen.items():
            pairs = broken(found.blocks[site].predecessors, order)
            if (
                found.blocks[site].fixed
                or pairs is None
                or len(pairs) != 1
                or not found.breaks(site, pairs[0])
            ):
                return Refused(NOT_ONE)
            if flaw := found.flaw(site, order):
                return Refused(flaw)
        text = found.text(chosen)
        return Refused(UNREADABLE) if text is None else Rewritten(source=text, evidence="analysis")


def reversible(predecessors: Sequence[int], true: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs (definition, use) of a true dependence without a third element that has to stand between them.

    Args:
        predecessors: the conflict relation as bit masks.
        true: the true dependences among them, in the same form.
    """
    for use, mask in enumerate(reduction(predecessors)):
        yield from ((definition, use) for definition in bits(mask & true[use]))


def reversed_pair(predecessors: Sequence[int], definition: int, use: int) -> tuple[int, ...]:
    """An order in which `use` stands directly before `definition` and every other pair keeps its order."""
    ancestors = closure(predecessors)
    # All that the two depend on comes first, then the two, then the rest, each in the order of the text.
    before = (ancestors[use] | ancestors[definition]) & ~(1 << definition)
    rest = ((1 << len(predecessors)) - 1) & ~before & ~(1 << definition) & ~(1 << use)
    return (*bits(before), use, definition, *bits(rest))


def broken(predecessors: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
    """The dependence pairs that an order reverses; `None` if it is not a permutation."""
    if sorted(order) != list(range(len(predecessors))):
        return None
    place = {element: number for number, element in enumerate(order)}
    return tuple(
        (before, element)
        for element, mask in enumerate(predecessors)
        for before in bits(mask)
        if place[before] > place[element]
    )

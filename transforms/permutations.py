"""Puts regions of a text into another order, for rules of any language.

A rule of the catalogue finds regions (the items of a dict, the methods of a class) with the dependences
between them. The functions here choose legal orders and make the patch.
"""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Final

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.patches import Patch, Span

OPTIONS: Final = 12
"""Largest number of orders that one site offers."""
MOST: Final = 48
"""Largest number of regions of one site; a rule splits longer runs into several sites."""


def legal_orders(predecessors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Legal orders other than the text's own: all of them if there are at most `OPTIONS`, else a fixed draw.

    Args:
        predecessors: for each region the set of regions that must stand before it, as a bit mask.
    """
    own = tuple(range(len(predecessors)))
    found = dict.fromkeys(islice(orders.enumerate_orders(predecessors), OPTIONS + 2))
    if len(found) > OPTIONS + 1:
        draws = Random(len(predecessors))
        found = dict.fromkeys(orders.sample(predecessors, draws) for _ in range(2 * OPTIONS))
    return tuple(order for order in found if order != own)[:OPTIONS]


def free(count: int) -> tuple[int, ...]:
    """The `predecessors` of `count` regions that do not depend on one another."""
    return (0,) * count


def permuted(parts: Sequence[Span], order: Sequence[int]) -> Patch:
    """One patch that puts the regions into an order; the text between them stays in its place."""
    pieces: list[Span] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(Span(parts[place - 1].end, parts[place].start))
        pieces.append(parts[number])
    return Patch(parts[0].start, parts[-1].end, tuple(pieces))

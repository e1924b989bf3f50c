"""Regions of a text in another order, in any language: the legal orders that a site offers."""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Final

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.patches import Patch, Span

OPTIONS: Final = 12
"""Most orders that one site offers."""
MOST: Final = 48
"""Most regions of one site; longer runs make several sites."""


def legal_orders(predecessors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Orders other than the text's own: all legal ones where they are few, else a fixed draw of them."""
    own = tuple(range(len(predecessors)))
    found = dict.fromkeys(islice(orders.enumerate_orders(predecessors), OPTIONS + 2))
    if len(found) > OPTIONS + 1:
        draws = Random(len(predecessors))
        found = dict.fromkeys(orders.sample(predecessors, draws) for _ in range(2 * OPTIONS))
    return tuple(order for order in found if order != own)[:OPTIONS]


def free(count: int) -> tuple[int, ...]:
    """The relation in which nothing depends on anything."""
    return (0,) * count


def permuted(parts: Sequence[Span], order: Sequence[int]) -> Patch:
    """One patch that puts the regions into an order; what stands between them stays where it is."""
    pieces: list[Span] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(Span(parts[place - 1].end, parts[place].start))
        pieces.append(parts[number])
    return Patch(parts[0].start, parts[-1].end, tuple(pieces))

"""Colours of lines that no legal order and no renaming changes, and the order that they give.

Colours of lines and variables are refined together until they no longer split (Weisfeiler and Leman 1968, on
the graph of dependences, nesting and occurrences); of lines that still look alike and name other variables
one is told apart, and the colours are refined again.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

from codeaudit.transforms.dependence.layers import bits, layers


class Lined(Protocol):
    """A statement of any language."""

    @property
    def lines(self) -> range:
        """The lines it covers; empty where it has none."""
        ...


class Permutable(Protocol):
    """A block of any language."""

    @property
    def statements(self) -> Sequence[Lined]:
        """In the order of the text."""
        ...

    @property
    def predecessors(self) -> tuple[int, ...]:
        """Bit i of mask j: statement j depends on statement i."""
        ...

    @property
    def fixed(self) -> str | None:
        """Why its text cannot be permuted, if so."""
        ...


def colours(
    looks: Sequence[tuple[object, ...]],
    parents: Sequence[int],
    predecessors: Sequence[int],
    named: Mapping[int, Sequence[int]],
) -> Sequence[str]:
    """A colour for every line.

    Args:
        looks: what tells lines apart at first; no legal order and no renaming may change it.
        parents: of each line the line that it hangs under, -1 for none.
        predecessors: what each line depends on, as masks.
        named: the variables that each line names, in the order of its text; none of lines left out.
    """
    children: dict[int, list[int]] = defaultdict(list)
    successors: dict[int, list[int]] = defaultdict(list)
    for line, mask in enumerate(predecessors):
        children[parents[line]].append(line)
        for before in bits(mask):
            successors[before].append(line)
    layer = layers(predecessors)
    colour = [digest(*look, layer[line]) for line, look in enumerate(looks)]
    hue = {number: "" for numbers in named.values() for number in numbers}
    split = 0
    while True:
        uses: dict[int, list[str]] = defaultdict(list)
        for line, numbers in named.items():
            for place, number in enumerate(numbers):
                uses[number].append(digest(place, colour[line]))
        hue = {number: digest(hue[number], sorted(uses[number])) for number in hue}
        colour = [
            digest(
                colour[line],
                colour[parents[line]] if parents[line] >= 0 else "",
                [hue[number] for number in named.get(line, ())],
                sorted(colour[other] for other in bits(predecessors[line])),
                sorted(colour[other] for other in successors[line]),
                sorted(colour[other] for other in children[line]),
            )
            for line in range(len(looks))
        ]
        now = len(set(colour)) + len(set(hue.values()))
        if now > split:
            split = now
            continue
        alike = _alike(colour, named)
        if alike is None:
            return colour
        colour[alike] = digest(colour[alike])
        split = now


def first_order(block: Permutable, colour: Sequence[str]) -> tuple[int, ...]:
    """The legal order of a block that comes first by layer within the block, then colour."""
    layer = layers(block.predecessors)
    keys = [
        (layer[number], colour[statement.lines.start] if statement.lines else "")
        for number, statement in enumerate(block.statements)
    ]
    # A layer holds only statements that do not depend on each other, and all that a statement depends on
    # lies in earlier layers: sorting by layer is legal.
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def first_orders(blocks: Sequence[Permutable], colour: Sequence[str]) -> dict[int, Sequence[int]]:
    """The first orders of the blocks that can be permuted and do not stand in it already, by number."""
    orders = {
        number: first_order(block, colour) for number, block in enumerate(blocks) if block.fixed is None
    }
    return {number: order for number, order in orders.items() if list(order) != sorted(order)}


def digest(*parts: object) -> str:
    """A colour made of these parts."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def _alike(colour: Sequence[str], named: Mapping[int, Sequence[int]]) -> int | None:
    """One of the first lines of one colour that do not name the same variables."""
    cells: dict[str, list[int]] = defaultdict(list)
    for line, one in enumerate(colour):
        cells[one].append(line)
    tied = (
        cells[one] for one in sorted(cells) if len({tuple(named.get(line, ())) for line in cells[one]}) > 1
    )
    return next((cell[0] for cell in tied), None)

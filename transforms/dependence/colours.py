"""Colours of lines that no legal order and no renaming changes, and the canonical order that they give.

The canonical forms of Python and Java use them. The colours of lines and variables are refined together until
they no longer split (Weisfeiler and Leman 1968, on the graph of dependences, nesting and occurrences). If
lines of one colour name different variables, one of them gets a colour of its own, and the refinement
continues.

Lines of equal colours are taken to be interchangeable; the refinement does not prove it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.graph import bits, layers


def colours(
    looks: Sequence[tuple[object, ...]],
    parents: Sequence[int],
    predecessors: Sequence[int],
    named: Mapping[int, Sequence[int]],
) -> Sequence[str]:
    """A colour for every line: a digest that is equal for lines with equal surroundings.

    Args: looks: the first distinction of lines, such as text and depth; no legal order and no renaming may
        change it. parents: for each line the line that it is nested under, -1 for none. predecessors: for
        each line the mask of the lines that it depends on. named: the variables that a line names, in the
        order of its text; lines without variables may be missing.
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
        # Refinement only splits, so an equal number of colours means that nothing was split.
        now = len(set(colour)) + len(set(hue.values()))
        if now > split:
            split = now
            continue
        alike = _alike(colour, named)
        if alike is None:
            return colour
        colour[alike] = digest(colour[alike])
        split = now


def first_order(block: StatementBlock, colour: Sequence[str]) -> tuple[int, ...]:
    """The legal order of a block that comes first by layer within the block, then colour."""
    layer = layers(block.predecessors)
    keys = [
        (layer[number], colour[statement.lines.start] if statement.lines else "")
        for number, statement in enumerate(block.statements)
    ]
    # A layer holds only statements that do not depend on each other, and all that a statement depends on
    # lies in earlier layers: sorting by layer is legal.
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def first_orders(blocks: Sequence[StatementBlock], colour: Sequence[str]) -> dict[int, Sequence[int]]:
    """The first order of each block that can be permuted and does not have it already, by the block's
    number.
    """
    orders = {
        number: first_order(block, colour) for number, block in enumerate(blocks) if block.fixed is None
    }
    return {number: order for number, order in orders.items() if list(order) != sorted(order)}


def digest(*parts: object) -> str:
    """A colour made of these parts."""
    # A digest, because colours contain colours: written out they would grow with each round.
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def _alike(colour: Sequence[str], named: Mapping[int, Sequence[int]]) -> int | None:
    """The first line of the first colour whose lines do not all name the same variables; `None` without
    one.
    """
    cells: dict[str, list[int]] = defaultdict(list)
    for line, shade in enumerate(colour):
        cells[shade].append(line)
    tied = (
        cells[shade]
        for shade in sorted(cells)
        if len({tuple(named.get(line, ())) for line in cells[shade]}) > 1
    )
    return next((cell[0] for cell in tied), None)

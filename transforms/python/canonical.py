"""The canonical form of a function: the same text for every legal order and every renaming of it.

Put before a model, it makes any model exactly invariant to `reorder`, `rename` and `rename-parameters`.
Statements are sorted by what they are: colours of lines and variables are refined together until they no
longer split (Weisfeiler and Leman 1968, on the graph of dependences, nesting and occurrences); of lines that
still look alike and name other variables one is told apart, and the colours are refined again. Then every
block takes the legal order that is first by (layer, colour), and variables are named v0, v1, … in the order
in which the sorted text names them.
"""

import ast
import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from transforms.dependence.layers import bits, layers
from transforms.edits import Edit, splice
from transforms.errors import SourceError
from transforms.interface import Refused
from transforms.python.analysis.blocks import Block
from transforms.python.analysis.program import Program, analyse
from transforms.python.analysis.scopes import OUTER, Binding, Scopes, resolve
from transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS
from transforms.python.order.reorder import reordered

NAMELESS: Final = "_v"
"""Stands for every variable where only the shape of a line counts."""


def canonicalise(source: str) -> str:
    """The canonical form. It means what the source means; comments above a statement move with it.

    Two functions that differ by a legal order of statements or by names of variables (as far as the
    engines change them) have one canonical form, as far as lines that even their whole surroundings cannot
    tell apart are interchangeable.

    Raises:
        SourceError: the source does not parse or is not one function.
    """
    scopes = resolve(source)
    program = analyse(source)
    colours = _colours(source, program, scopes)
    chosen = {}
    for number, block in enumerate(program.blocks):
        order = _order(block, colours)
        if block.fixed is None and list(order) != sorted(order):
            chosen[number] = order
    return _named(reordered(program, chosen) if chosen else source)


def _variables(scopes: Scopes) -> Mapping[int, Binding]:
    """The variables that the renaming engines may rename."""
    for transform in (RENAME_PARAMETERS, RENAME):
        movable = transform.movable(scopes)
        if not isinstance(movable, Refused):
            return movable
    return {}


def _named(source: str) -> str:
    scopes = resolve(source)
    variables = _variables(scopes)
    kept = {binding.name for binding in scopes.bindings if binding.number not in variables}
    kept |= {binding.name for binding in scopes.bindings if binding.scope == OUTER}
    prefix = "v"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in kept):
        prefix += "v"
    names = {number: f"{prefix}{place}" for place, number in enumerate(sorted(variables))}
    edits = [
        Edit(occurrence.start, occurrence.end, names[number])
        for number, binding in variables.items()
        for occurrence in binding.occurrences
    ]
    return splice(source.encode(), edits).decode()


def _colours(source: str, program: Program, scopes: Scopes) -> Sequence[str]:
    """A colour for every line that no legal order and no renaming changes."""
    variables = _variables(scopes)
    starts = _line_offsets(program, scopes)
    # Where each variable stands: (line, which of the line's names) by place in the text.
    occurrences = sorted(
        (occurrence.start, number)
        for number, binding in variables.items()
        for occurrence in binding.occurrences
    )
    named: dict[int, list[int]] = defaultdict(list)
    for start, number in occurrences:
        named[bisect_right(starts, start) - 1].append(number)
    shape = splice(
        source.encode(),
        [
            Edit(occurrence.start, occurrence.end, NAMELESS)
            for binding in variables.values()
            for occurrence in binding.occurrences
        ],
    ).decode()
    lines = analyse(shape).lines
    if len(lines) != len(program.lines):
        raise SourceError("not readable: the shape of the function is not its own")
    predecessors = program.graph.predecessors
    children: dict[int, list[int]] = defaultdict(list)
    successors: dict[int, list[int]] = defaultdict(list)
    for line, mask in enumerate(predecessors):
        children[lines[line].parent].append(line)
        for before in bits(mask):
            successors[before].append(line)
    layer = layers(predecessors)
    colour = [_digest(line.text, line.depth, layer[number]) for number, line in enumerate(lines)]
    hue = dict.fromkeys(variables, "")
    split = 0
    while True:
        uses: dict[int, list[str]] = defaultdict(list)
        for line, numbers in named.items():
            for place, number in enumerate(numbers):
                uses[number].append(_digest(place, colour[line]))
        hue = {number: _digest(hue[number], sorted(uses[number])) for number in variables}
        colour = [
            _digest(
                colour[line],
                colour[lines[line].parent] if lines[line].parent >= 0 else "",
                [hue[number] for number in named[line]],
                sorted(colour[other] for other in bits(predecessors[line])),
                sorted(colour[other] for other in successors[line]),
                sorted(colour[other] for other in children[line]),
            )
            for line in range(len(lines))
        ]
        now = len(set(colour)) + len(set(hue.values()))
        if now > split:
            split = now
            continue
        alike = _alike(colour, named)
        if alike is None:
            return colour
        colour[alike] = _digest(colour[alike])
        split = now


def _alike(colour: Sequence[str], named: Mapping[int, Sequence[int]]) -> int | None:
    """One of the first lines of one colour that do not name the same variables."""
    cells: dict[str, list[int]] = defaultdict(list)
    for line, one in enumerate(colour):
        cells[one].append(line)
    tied = (
        cells[one] for one in sorted(cells) if len({tuple(named.get(line, ())) for line in cells[one]}) > 1
    )
    return next((cell[0] for cell in tied), None)


def _order(block: Block, colours: Sequence[str]) -> tuple[int, ...]:
    """The legal order that comes first by layer within the block, then colour."""
    layer = layers(block.predecessors)
    keys = [
        (layer[number], colours[statement.lines.start] if statement.lines else "")
        for number, statement in enumerate(block.statements)
    ]
    # A layer holds only statements that do not depend on each other, and all that a statement depends on
    # lies in earlier layers: sorting by layer is legal.
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def _line_offsets(program: Program, scopes: Scopes) -> list[int]:
    """Where each logical line begins, in bytes; `else` and `finally` name nothing and begin with the next."""
    found: list[int] = []
    for node, clause in reversed(program.nodes):
        if clause in ("else", "finally"):
            found.append(found[-1])
            continue
        places = [node, *getattr(node, "decorator_list", [])]
        if isinstance(node, ast.match_case):
            places = [node.pattern]
        found.append(min(scopes.positions.offset(place.lineno, place.col_offset) for place in places))
    return found[::-1]


def _digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()

"""The canonical form of a method: the same text for every legal order and every renaming of it.

Put before a model, it makes any model exactly invariant to `reorder`, `rename` and `rename-parameters`.
First every variable gets a name of its own, since two of one name are told apart with more care. Statements
are sorted by what they are (`dependence.colours`): every block takes the legal order that is first by (layer,
colour). Then variables are named v0, v1, … in the order in which the sorted text names them.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock
from codeaudit.transforms.dependence.colours import colours, first_orders
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.program import JavaProgram, analyse
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.function_context import function_context
from codeaudit.transforms.java.identifiers.variables import JavaVariables, variables
from codeaudit.transforms.java.order.reorder import reordered

_NAMELESS: Final = b"\0"
_LENGTH: Final = b"\1"
_WORDS: Final = re.compile(r"[\w$]+")


def canonicalise(source: str) -> str:
    """The canonical form of the last method or constructor of a text; what stands around it stays.

    It means what the source means; comments above a statement move with it. Two methods that differ by a
    legal order of statements or by names of variables (as far as the engines change them) have one canonical
    form, as far as lines that even their whole surroundings cannot tell apart are interchangeable.

    A text that the engines leave alone is its own form.

    Raises:
        SourceError: the source does not parse, or is nested too deeply.
    """
    part = function_context(source)
    if part.obstacle is not None:
        return source
    return part.before + _form(part.source) + part.after


def _form(source: str) -> str:
    apart = _named(source)
    program = analyse(apart)
    chosen = first_orders(program.blocks, _colours(program, _movable(variables(apart))))
    return _named(reordered(program, chosen)) if chosen else apart


def _movable(known: JavaVariables) -> Mapping[int, JavaBinding]:
    """The variables that the renaming engines may rename."""
    for parameters in (True, False):
        found = known.movable(parameters=parameters)
        if not isinstance(found, Refused):
            return found
    return {}


def _named(source: str) -> str:
    """The text with names in the order of the text, none of which stands in it for anything else."""
    known = variables(source)
    found = _movable(known)
    kept = _WORDS.findall(_shape(known.scopes.reading.source, found).decode())
    prefix = "v"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in kept):
        prefix += "v"
    return known.rewritten({number: f"{prefix}{place}" for place, number in enumerate(sorted(found))})


def _colours(program: JavaProgram, found: Mapping[int, JavaBinding]) -> Sequence[str]:
    """A colour for every line that no legal order and no renaming changes."""
    rows = program.rows
    starts = [row.start for row in rows]

    def line_at(place: int) -> int:
        """The line in whose own text a byte stands; behind the body of a lambda that of its statement."""
        number = bisect_right(starts, place) - 1
        while number > 0 and (
            place >= rows[number].end or any(start <= place < end for start, end in rows[number].cuts)
        ):
            number -= 1
        return number

    named: dict[int, list[int]] = defaultdict(list)
    occurrences = sorted((use.start, number) for number, one in found.items() for use in one.occurrences)
    for start, number in occurrences:
        named[line_at(start)].append(number)
    notes = _comments(program)
    shape = _shape(program.reading.source, found)
    looks = [
        (_without(shape, row.start, row.end, row.cuts), row.depth, notes.get(line, ""))
        for line, row in enumerate(rows)
    ]
    return colours(looks, [row.parent for row in rows], program.graph.predecessors, named)


def _shape(source: bytes, found: Mapping[int, JavaBinding]) -> bytes:
    """A text, byte for byte as long, in which all these variables look alike."""
    text = bytearray(source)
    for binding in found.values():
        for use in binding.occurrences:
            text[use.start : use.end] = _NAMELESS + _LENGTH * (use.end - use.start - 1)
    return bytes(text)


def _without(shape: bytes, start: int, end: int, cuts: Sequence[tuple[int, int]]) -> bytes:
    """A range of a shape without these parts; how long names were is forgotten."""
    pieces = []
    for cut, behind in sorted(cuts):
        pieces.append(shape[start:cut])
        start = behind
    return b"".join([*pieces, shape[start:end]]).replace(_LENGTH, b"")


def _comments(program: JavaProgram) -> Mapping[int, str]:
    """The comments of each statement, by the first of its lines, without those of statements in it."""
    found: dict[int, str] = defaultdict(str)
    for _, start, end in program.reading.comments:
        owner = _statement_at(program.root, start)
        if owner is not None and owner.lines:
            found[owner.lines.start] += program.reading.source[start:end].decode() + "\0"
    return found


def _statement_at(block: StatementBlock, place: int) -> BlockStatement | None:
    """The innermost statement in which a byte stands."""
    for statement in block.statements:
        if statement.start <= place < statement.end:
            inner = (
                _statement_at(part, place) for part in statement.parts if isinstance(part, StatementBlock)
            )
            return next((one for one in inner if one is not None), statement)
    return None

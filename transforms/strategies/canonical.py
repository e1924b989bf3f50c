"""The canonical form of a unit: one text for all of its legal orders and renamings.

A model that sees only canonical forms is invariant to `reorder`, `rename` and `rename-parameters` (`--wrap
canonical`). The form is made in three steps:

1. Every variable gets a name of its own, because the analysis treats variables of one name more cautiously.
2. Every block takes the legal order that is first by (layer, colour) of its statements
(`dependence.colours`).
3. Variables are named v0, v1, … in the order in which the sorted text names them.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock
from codeaudit.transforms.dependence.colours import colours, first_orders
from codeaudit.transforms.dependence.programs import CodeProgram
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.reordering import reordered
from codeaudit.transforms.strategies.rename import CodeVariables
from codeaudit.transforms.syntax.scopes import Binding

_NAMELESS: Final = b"\0"
_LENGTH: Final = b"\1"
_WORDS: Final = re.compile(r"[\w$]+")


def canonical_form(
    source: str, analyse: Callable[[str], CodeProgram], variables: Callable[[str], CodeVariables]
) -> str:
    """The canonical form of one unit. Two units that differ by a legal order of statements or by names of
    variables (as far as the transforms change them) have one canonical form, if lines with the same
    surroundings are interchangeable.

    Args:
        source: the text of the unit.
        analyse: gives the program of a text.
        variables: gives the variables of a text.

    Raises:
        SourceError: the source does not parse, or is nested too deeply.
    """
    # Step 1 of the module's docstring; variables of one name would get more dependences.
    apart = _named(variables(source))
    program = analyse(apart)
    chosen = first_orders(program.blocks, _colours(program, _movable(variables(apart))))
    if not chosen:
        return apart
    return _named(variables(reordered(program.encoded, program.blocks, chosen)))


def _movable(variables: CodeVariables) -> Mapping[int, Binding]:
    """The variables that the renaming transforms may rename, by number."""
    # If the parameters must keep their names, the locals may still change theirs.
    for parameters in (True, False):
        movable = variables.movable(parameters=parameters)
        if not isinstance(movable, Refused):
            return movable
    return {}


def _named(variables: CodeVariables) -> str:
    """The text with variables named in the order of the text; no new name has another use in it."""
    bindings = _movable(variables)
    words = _WORDS.findall(_shape(variables.scopes.reading.source, bindings).decode())
    prefix = "v"
    # A field named v0 stays, so the variables become vv0, vv1, …
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in words):
        prefix += "v"
    return variables.rewritten({number: f"{prefix}{place}" for place, number in enumerate(sorted(bindings))})


def _colours(program: CodeProgram, bindings: Mapping[int, Binding]) -> Sequence[str]:
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
    uses = sorted((use.start, number) for number, local in bindings.items() for use in local.occurrences)
    for start, number in uses:
        named[line_at(start)].append(number)
    notes = _comments(program)
    shape = _shape(program.encoded, bindings)
    looks = [
        (_without(shape, row.start, row.end, row.cuts), row.depth, notes.get(line, ""))
        for line, row in enumerate(rows)
    ]
    return colours(looks, [row.parent for row in rows], program.graph.predecessors, named)


def _shape(source: bytes, bindings: Mapping[int, Binding]) -> bytes:
    """The text with all these variables replaced by placeholders of the same length."""
    text = bytearray(source)
    for binding in bindings.values():
        for use in binding.occurrences:
            text[use.start : use.end] = _NAMELESS + _LENGTH * (use.end - use.start - 1)
    return bytes(text)


def _without(shape: bytes, start: int, end: int, cuts: Sequence[tuple[int, int]]) -> bytes:
    """A range of a shape without these parts, with placeholders of equal length."""
    pieces = []
    for cut, behind in sorted(cuts):
        pieces.append(shape[start:cut])
        start = behind
    return b"".join([*pieces, shape[start:end]]).replace(_LENGTH, b"")


def _comments(program: CodeProgram) -> Mapping[int, str]:
    """The comments of each statement, by the first of its lines, without those of statements in it."""
    comments: dict[int, str] = defaultdict(str)
    for _, start, end in program.comments:
        owner = _statement_at(program.root, start)
        if owner is not None and owner.lines:
            comments[owner.lines.start] += program.encoded[start:end].decode() + "\0"
    return comments


def _statement_at(block: StatementBlock, place: int) -> BlockStatement | None:
    """The innermost statement in which a byte stands."""
    for statement in block.statements:
        if statement.start <= place < statement.end:
            inner = (
                _statement_at(part, place) for part in statement.parts if isinstance(part, StatementBlock)
            )
            return next((nested for nested in inner if nested is not None), statement)
    return None

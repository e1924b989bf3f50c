"""Positions of the expressions inside f-strings.

Python 3.11 parses the fields of an f-string apart from the rest, and the positions that it gives to their
nodes are guesses: they may point at equal text elsewhere in the string. `fix_positions` scans the string
itself and puts the right positions into the nodes. From Python 3.12 on (PEP 701) the parser's own positions
are right, and only the `=` of a self-documenting field has to be found.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from codeaudit.transforms.patches import Positions

PARSER_KNOWS = sys.version_info >= (3, 12)
"""Whether the parser's own positions inside f-strings can be trusted."""

_GAP = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|\\\r|#[^\r\n]*)*")
_OPENING = re.compile(rb"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_QUOTE = re.compile(rb"'''|\"\"\"|'|\"")
_DEBUG = re.compile(rb"(?:[\s)]|#[^\r\n]*)*=(?!=)")
_CONVERSION = re.compile(rb"\s*(?:![A-Za-z]+\s*)?")


_Located: TypeAlias = ast.expr | ast.arg | ast.keyword
"""The nodes inside an expression that have a position."""


class _LostError(Exception):
    """The scan and the parser disagree about the fields of a string."""


@dataclass(slots=True)
class _Field:
    """A field of an f-string: byte offsets of its expression, and the fields nested in its format
    specification.
    """

    start: int
    end: int
    debug: bool = False
    """Whether the field prints its own text (`f"{x=}"`)."""
    nested: "list[_Field]" = field(default_factory=list)


def prints_itself(node: ast.FormattedValue, source: bytes, positions: Positions) -> bool:
    """Whether a field prints its own text, as in `f"{x=}"`. Only for parsers that know positions."""
    end = positions.offset(node.value.end_lineno or 0, node.value.end_col_offset or 0)
    return end >= 0 and _DEBUG.match(source, end) is not None


def fix_positions(node: ast.JoinedStr, source: bytes, positions: Positions) -> set[int]:
    """Put right positions into every node inside an f-string of Python 3.11, in place.

    `node` must not itself lie inside an f-string. Nodes that cannot be found get line 0. Returns the `id` of
    the node of each field that prints its own text (`f"{x=}"`).
    """
    printing: set[int] = set()
    start = positions.offset(node.lineno, node.col_offset)
    end = positions.offset(node.end_lineno or 0, node.end_col_offset or 0)
    try:
        _place(node, list(_literals(source, start, end)), source, positions, printing)
    except (_LostError, SyntaxError, ValueError):
        for inner in ast.walk(node):
            if inner is not node and isinstance(inner, _Located):
                _set(inner, (0, 0), (0, 0))
    return printing


def _place(
    node: ast.JoinedStr, fields: list[_Field], source: bytes, positions: Positions, printing: set[int]
) -> None:
    values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    if len(values) != len(fields):
        raise _LostError
    for value, slot in zip(values, fields, strict=True):
        # Parentheses allow line breaks, as the braces of the field did.
        text = b"(" + source[slot.start : slot.end] + b")"
        fresh = ast.parse(text.decode(), mode="eval").body
        inside = Positions(text)
        for inner in _outermost(fresh):
            printing_inside = fix_positions(inner, text, inside)
            if printing_inside:
                raise _LostError  # a self-documenting field inside another field: give up on the whole string
        _copy(value.value, fresh, slot.start - 1, inside, positions)
        if slot.debug:
            printing.add(id(value))
        if isinstance(value.format_spec, ast.JoinedStr):
            _place(value.format_spec, slot.nested, source, positions, printing)
        elif slot.nested:
            raise _LostError


def _copy(old: ast.AST, fresh: ast.AST, base: int, inside: Positions, positions: Positions) -> None:
    for here, there in zip(ast.walk(old), ast.walk(fresh), strict=True):
        if type(here) is not type(there):
            raise _LostError
        if isinstance(here, _Located) and isinstance(there, _Located):
            if there.lineno <= 0:
                _set(here, (0, 0), (0, 0))
                continue
            start = base + inside.offset(there.lineno, there.col_offset)
            end = base + inside.offset(there.end_lineno or 0, there.end_col_offset or 0)
            _set(here, positions.line_column(start), positions.line_column(end))


def _set(node: _Located, start: tuple[int, int], end: tuple[int, int]) -> None:
    node.lineno, node.col_offset = start
    node.end_lineno, node.end_col_offset = end


def _outermost(node: ast.AST) -> Iterator[ast.JoinedStr]:
    if isinstance(node, ast.JoinedStr):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)


def _literals(source: bytes, start: int, end: int) -> Iterator[_Field]:
    """The fields of all string literals in a row (implicit concatenation), in order."""
    at = start
    while True:
        gap = _GAP.match(source, at, end)
        at = gap.end() if gap else at
        if at >= end:
            return
        opening = _OPENING.match(source, at, end)
        if opening is None:
            raise _LostError
        prefix, quote = opening[1].lower(), opening[2]
        close = _closing(source, opening.end(), quote, end)
        if b"f" in prefix:
            fields, _ = _fields(source, opening.end(), close, raw=b"r" in prefix, nested=False)
            yield from fields
        at = close + len(quote)


def _closing(source: bytes, at: int, quote: bytes, end: int) -> int:
    while at < end:
        # A backslash keeps the next character from ending the string, in raw strings too.
        if source[at] == 0x5C:
            at += 2
        elif source.startswith(quote, at):
            return at
        else:
            at += 1
    raise _LostError


def _fields(source: bytes, at: int, end: int, *, raw: bool, nested: bool) -> tuple[list[_Field], int]:
    """The fields from offset `at` on, and where the text of this level ends (at `}` for a format
    specification).
    """
    fields: list[_Field] = []
    while at < end:
        char = source[at : at + 1]
        if char == b"\\" and not raw:
            # `\N{BULLET}` is one character, no field.
            if source.startswith(b"\\N{", at):
                at = source.index(b"}", at, end) + 1
            else:
                at += 1 if source.startswith(b"{", at + 1) else 2
        # `{{` is a brace, but in a format specification each `{` opens a field.
        elif char == b"{" and not nested and source.startswith(b"{{", at):
            at += 2
        elif char == b"{":
            slot, at = _one_field(source, at + 1, end, raw=raw)
            fields.append(slot)
        elif char == b"}" and nested:
            return fields, at
        else:
            at += 1
    if nested:
        raise _LostError
    return fields, at


def _one_field(source: bytes, start: int, end: int, *, raw: bool) -> tuple[_Field, int]:
    stop = _expression_end(source, start, end)
    slot = _Field(start, stop)
    at = stop
    if source.startswith(b"=", at):
        slot.debug = True
        at += 1
    conversion = _CONVERSION.match(source, at, end)
    at = conversion.end() if conversion else at
    if source.startswith(b":", at):
        slot.nested, at = _fields(source, at + 1, end, raw=raw, nested=True)
    if not source.startswith(b"}", at):
        raise _LostError
    return slot, at + 1


def _expression_end(source: bytes, at: int, end: int) -> int:
    depth = 0
    while at < end:
        char = source[at : at + 1]
        if quote := _QUOTE.match(source, at, end):
            at = source.index(quote[0], quote.end(), end) + len(quote[0])
            continue
        if char in b"([{":
            depth += 1
        elif depth and char in b")]}":
            depth -= 1
        # `!=`, `==`, `<=` and `>=` do not end the expression; a lone `!`, `:` or `=` does.
        elif not depth and char in b"!=<>" and source.startswith(b"=", at + 1):
            at += 1
        elif not depth and char in b"!:}=":
            return at
        at += 1
    raise _LostError

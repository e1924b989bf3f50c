"""What the rules on formatted strings share: fields and their texts, and when formatting may be postponed."""

import ast
import re
import tokenize
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.fstrings import PARSER_KNOWS, fix_positions, prints_itself
from codeaudit.transforms.python.layout.lexemes import Lexeme, Literal, lexemes, token_at
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.python.source import PythonSource

SEVERAL: Final = "string is written in several pieces"
PRINTS_ITSELF: Final = "field prints its own text"
NESTED: Final = "field inside a format"
ORDER: Final = "formatting could meet evaluating"
QUOTES: Final = "quote, backslash or comment inside a field"
COMMENT: Final = "comment between"
NO_FIELD: Final = "no field"
LOST: Final = "field not found in the text"
DIFFERENT: Final = "text could not be kept"

_TEXT_KINDS: Final = frozenset({"str", "bool", "float", "none"})
_BRACED: Final = re.compile(r"\\N\{[^}]*\}|\\.|[{}]|[^\\{}]+", re.DOTALL)
_RAW_BRACED: Final = re.compile(r"[{}]|[^{}]+", re.DOTALL)
_WRAPPED: Final = (ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom)
_TAIL: Final = re.compile(rb"[\s)]*(?:!([ars])\s*)?(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an f-string, with byte offsets."""

    node: ast.FormattedValue
    start: int
    """The offset of its `{`."""
    value_start: int
    """The offset of the value."""
    value_end: int
    """The offset behind the value."""
    end: int
    """The offset behind its `}`."""
    conversion: str
    """`!s`, `!r`, `!a`, or empty."""
    spec: str | None
    """The text behind the colon; `None` if there is no colon."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """An f-string written as one literal, with its fields."""

    token: Lexeme
    literal: Literal
    fields: tuple[Field, ...]

    def texts(self, code: PythonSource) -> list[str]:
        """The texts before, between and behind the fields, as written."""
        begin = self.token.start + len(self.literal.prefix) + len(self.literal.quote)
        cuts = [begin]
        for field in self.fields:
            cuts += [field.start, field.end]
        cuts.append(self.token.end - len(self.literal.quote))
        return [code.source[cuts[n] : cuts[n + 1]].decode() for n in range(0, len(cuts), 2)]


def formatted(code: PythonSource, node: ast.JoinedStr) -> Formatted | str:
    """An f-string with its fields in the order of the text, or the reason why they cannot be found."""
    token = token_at(code, node)
    literal = Literal.read(token.text) if token is not None else None
    if token is None or literal is None or not literal.formatted:
        return SEVERAL
    fields: list[Field] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            found = _field(code, part, token)
            if isinstance(found, str):
                return found
            fields.append(found)
    return Formatted(token, literal, tuple(fields)) if fields else NO_FIELD


def _field(code: PythonSource, node: ast.FormattedValue, token: Lexeme) -> Field | str:
    """One field with its offsets, or the reason why it cannot be found."""
    placed = _values(code).get(id(node))
    if placed is None:
        return LOST
    start, end, prints = placed
    if prints:
        return PRINTS_ITSELF
    opening = token.start + len(code.source[token.start : start].rstrip(b" \t\r\n(")) - 1
    if not token.start < opening or code.source[opening : opening + 1] != b"{":
        return LOST
    if isinstance(node.format_spec, ast.JoinedStr) and not all(
        isinstance(part, ast.Constant) for part in node.format_spec.values
    ):
        return NESTED
    tail = _TAIL.match(code.source, end, token.end)
    if tail is None:
        return LOST
    conversion = f"!{tail[1].decode()}" if tail[1] else ""
    spec = tail[2].decode() if tail[2] is not None else None
    return Field(node, opening, start, end, tail.end(), conversion, spec)


@lru_cache(maxsize=4)
def _values(code: PythonSource) -> Mapping[int, tuple[int, int, bool]]:
    """For each field of an outermost f-string, by `id`: the offsets of its value, and whether it prints its
    own text.

    Before Python 3.12 the parser does not know the positions; they are found on a copy of the string.
    """
    found: dict[int, tuple[int, int, bool]] = {}
    for node in code.nodes():
        if not isinstance(node, ast.JoinedStr):
            continue
        placed = node if PARSER_KNOWS else deepcopy(node)
        printing = set() if PARSER_KNOWS else fix_positions(placed, code.source, code.positions)
        for own, copy in zip(node.values, placed.values, strict=True):
            if not isinstance(own, ast.FormattedValue) or not isinstance(copy, ast.FormattedValue):
                continue
            if copy.value.lineno <= 0:
                continue
            prints = (
                prints_itself(copy, code.source, code.positions) if PARSER_KNOWS else id(copy) in printing
            )
            start, end = code.start(copy.value), code.end(copy.value)
            if isinstance(own.value, ast.Tuple) and code.source[start : start + 1] == b"{":
                start, end = (
                    start + 1,
                    end - 1,
                )  # `fix_positions` parsed the value in parentheses, which became those of a bare tuple
            found[id(own)] = (start, end, prints)
    return found


def may_wait(code: PythonSource, values: Sequence[ast.expr], plain: Sequence[bool]) -> bool:
    """Whether formatting each value at once gives the same as formatting all of them after the last is
    evaluated.

    `plain` says for each value whether it is formatted without a specification. The two are the same if for
    each value either formatting it only computes, or evaluating all later values does.
    """
    return all(
        (bare and code.kind(value) in _TEXT_KINDS)
        or all(code.harmless(later) for later in values[number + 1 :])
        for number, (value, bare) in enumerate(zip(values, plain, strict=True))
    )


def argument(text: str, node: ast.expr) -> str:
    """The text of a value as an argument or an operand of a call."""
    bare_tuple = isinstance(node, ast.Tuple) and not _enclosed(text)
    return f"({text})" if bare_tuple or isinstance(node, _WRAPPED) else text


def inside(code: PythonSource, node: ast.expr, quote: str) -> str | None:
    """The text of an expression as a field of an f-string in these quotes; `None` if Python 3.11 cannot read
    it there.
    """
    text = code.slice(code.span(node))
    if any(mark in text for mark in (quote[0], "\\", "#", "\n")):
        return None
    if any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(node)):
        return None
    text = argument(text, node)
    return f" {text}" if text.startswith("{") else text


def escaped(literal: Literal) -> str:
    r"""The body of a literal for an f-string: braces doubled, named characters (`\N{…}`) unchanged."""
    return "".join(
        unit * 2 if unit in ("{", "}") else unit
        for unit in (_RAW_BRACED if literal.raw else _BRACED).findall(literal.body)
    )


def has_comment(code: PythonSource, start: int, end: int) -> bool:
    """Whether a comment stands in a range."""
    return any(one.type == tokenize.COMMENT and start < one.start < end for one in lexemes(code))


def separated(code: PythonSource, start: int, text: str) -> str:
    """The text, with a blank before it where it would run into the word on its left."""
    before = code.source[start - 1 : start] if start else b""
    return f" {text}" if before.isalnum() or before == b"_" or before > b"\x7f" else text


def pieces(text: str) -> list[str] | None:
    """The parts of an f-string as comparable texts: dumps of its literal texts and of its fields; `None` if
    it does not parse.
    """
    try:
        body = parse(text).body
    except SourceError:
        return None
    match body:
        case [ast.Expr(value=ast.JoinedStr(values=values))]:
            return [ast.dump(value) for value in values]
        case [ast.Expr(value=ast.Constant(value=str()) as value)]:
            return [ast.dump(value)]
        case _:
            return None


def expected(parts: Sequence[str | ast.FormattedValue]) -> list[str]:
    """The `pieces` of an f-string with these texts and fields."""
    merged: list[str | ast.FormattedValue] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return [
        ast.dump(ast.Constant(value=part) if isinstance(part, str) else part) for part in merged if part != ""
    ]


def field(value: ast.expr, conversion: str = "", spec: str | None = None) -> ast.FormattedValue:
    """The node of a field."""
    shown = ast.JoinedStr(values=[ast.Constant(value=spec)] if spec else []) if spec is not None else None
    return ast.FormattedValue(
        value=value, conversion=ord(conversion[1]) if conversion else -1, format_spec=shown
    )


def _enclosed(text: str) -> bool:
    """Whether the text of a tuple has the tuple's own parentheses."""
    try:
        inner = ast.parse(f"f{text}", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(inner, ast.Call) and inner.end_col_offset == len(f"f{text}".encode())

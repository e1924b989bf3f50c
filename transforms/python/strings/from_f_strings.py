"""F-strings rewritten as calls of `format` and as sums, and the control that swaps two fields."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import Formatter
from typing import Final, TypeVar

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.analysis.fstrings import PARSER_KNOWS, fix_positions, prints_itself
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.expressions.identity import compares_objects
from codeaudit.transforms.python.layout.lexemes import Lexeme, Literal, comment_inside, token_at
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import binds

SEVERAL: Final = "string is written in several pieces"
PRINTS_ITSELF: Final = "field prints its own text"
NESTED: Final = "field inside a format"
ORDER: Final = "formatting could meet evaluating"
COMMENT: Final = "comment between"
NO_FIELD: Final = "no field"
LOST: Final = "field not found in the text"
DIFFERENT: Final = "text could not be kept"
UNCERTAIN: Final = "value may be no plain text or number"
ONE_PART: Final = "string is a single field"
BINDS_STR: Final = "text binds the name of a builtin"
SAME: Final = "fields are alike"
SEEN: Final = "a new text may be distinguished from an equal one"

_TEXT_KINDS: Final = frozenset({"str", "bool", "float", "none"})
_CALLS: Final = {"": "str", "!s": "str", "!r": "repr", "!a": "ascii"}
_OPERANDS: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)
"""Expressions that need no parentheses in a sum."""
_WRAPPED: Final = (ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom)
_TAIL: Final = re.compile(rb"[\s)]*(?:!([ars])\s*)?(?::([^{}]*))?\}")
"""What stands behind the value of a field: parentheses, conversion, specification and the `}`."""

_T = TypeVar("_T")


# ── fields ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an f-string, with byte offsets."""

    node: ast.FormattedValue
    start: int
    """The offset of its `{`."""
    value: Span
    end: int
    """The offset behind its `}`."""
    conversion: str
    """`!s`, `!r`, `!a`, or empty."""
    spec: str | None
    """The text behind the colon; `None` if there is no colon."""

    def written(self, code: PythonSource) -> str:
        """The text of the value as an argument of a call."""
        return argument(code.slice(self.value).strip(), self.node.value)


@dataclass(frozen=True, slots=True)
class Formatted:
    """An f-string written as one literal, with its fields in the order of the text."""

    token: Lexeme
    literal: Literal
    fields: tuple[Field, ...]

    def texts(self, code: PythonSource) -> list[str]:
        """The texts before, between and behind the fields, as written."""
        begin = self.token.start + len(self.literal.prefix) + len(self.literal.quote)
        starts = [begin, *(field.end for field in self.fields)]
        ends = [*(field.start for field in self.fields), self.token.end - len(self.literal.quote)]
        return [code.slice(Span(start, end)) for start, end in zip(starts, ends, strict=True)]

    def plain(self, body: str) -> str:
        """A literal without fields, in the quotes of this one."""
        return str(Literal(self.literal.prefix.replace("f", "").replace("F", ""), self.literal.quote, body))

    def has_comment(self, code: PythonSource) -> bool:
        """Whether a field holds a comment (allowed from Python 3.12 on), or a `#` that looks like one."""
        return any(
            "#" in code.slice(Span(field.start, field.end)) for field in self.fields
        ) or comment_inside(code, self.token.start, self.token.end)


def _formatted(code: PythonSource, node: ast.JoinedStr) -> Formatted | Refused:
    """An f-string with its fields, or why they cannot be found."""
    token = token_at(code, node)
    literal = Literal.read(token.text) if token is not None else None
    if token is None or literal is None or not literal.formatted:
        return Refused(SEVERAL)
    fields: list[Field] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            field = _field(code, part, token)
            if isinstance(field, Refused):
                return field
            fields.append(field)
    return Formatted(token, literal, tuple(fields)) if fields else Refused(NO_FIELD)


def _field(code: PythonSource, node: ast.FormattedValue, token: Lexeme) -> Field | Refused:
    """One field with its offsets, or why it cannot be found."""
    placed = _values(code).get(id(node))
    if placed is None:
        return Refused(LOST)
    value, prints = placed
    # `f"{a = }"` shows the text of the field, which no other form does.
    if prints:
        return Refused(PRINTS_ITSELF)
    opening = token.start + len(code.source[token.start : value.start].rstrip(b" \t\r\n(")) - 1
    if not token.start < opening or code.source[opening : opening + 1] != b"{":
        return Refused(LOST)
    if isinstance(node.format_spec, ast.JoinedStr) and not all(
        isinstance(part, ast.Constant) for part in node.format_spec.values
    ):
        return Refused(NESTED)
    tail = _TAIL.match(code.source, value.end, token.end)
    if tail is None:
        return Refused(LOST)
    conversion = f"!{tail[1].decode()}" if tail[1] else ""
    spec = tail[2].decode() if tail[2] is not None else None
    return Field(node, opening, value, tail.end(), conversion, spec)


@lru_cache(maxsize=4)
def _values(code: PythonSource) -> Mapping[int, tuple[Span, bool]]:
    """For each field of an outermost f-string, by `id`: the span of its value, and whether it prints its own
    text.

    Before Python 3.12 the parser does not know the positions; they are found on a copy of the string.
    """
    places: dict[int, tuple[Span, bool]] = {}
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
            span = code.span(copy.value)
            # `fix_positions` parsed the value in parentheses, which became those of a bare tuple.
            if isinstance(own.value, ast.Tuple) and code.source[span.start : span.start + 1] == b"{":
                span = Span(span.start + 1, span.end - 1)
            places[id(own)] = (span, prints)
    return places


def may_wait(code: PythonSource, values: Sequence[ast.expr], plain: Sequence[bool]) -> bool:
    """Whether formatting each value at once gives the same as formatting all of them after the last is
    evaluated.

    `f"{xs} {xs.pop()}"` shows the list before the `pop`, `"{} {}".format(xs, xs.pop())` after it. `plain`
    says for each value whether it is formatted without a specification. The two are the same if for each
    value either formatting it only computes, or evaluating all later values does.
    """
    return all(
        (bare and code.kind(value) in _TEXT_KINDS)
        or all(code.harmless(later) for later in values[number + 1 :])
        for number, (value, bare) in enumerate(zip(values, plain, strict=True))
    )


def is_new(texts: Sequence[str], *, of_sum: bool) -> bool:
    """Whether texts with fields between them certainly make a new object in every form.

    `"a" + s` is `"a"` itself if `s` is empty, `f"{s}"` is `s`, and there is one object of each character.
    """
    return sum(map(bool if of_sum else len, texts)) > 1


def argument(text: str, node: ast.expr) -> str:
    """The text of a value as an argument or an operand of a call."""
    bare_tuple = isinstance(node, ast.Tuple) and not _enclosed(text)
    return f"({text})" if bare_tuple or isinstance(node, _WRAPPED) else text


def _enclosed(text: str) -> bool:
    """Whether the text of a tuple has the tuple's own parentheses: `(a), (b)` has none."""
    try:
        inner = ast.parse(f"f{text}", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(inner, ast.Call) and inner.end_col_offset == len(f"f{text}".encode())


def separated(code: PythonSource, start: int, text: str) -> str:
    """The text, with a blank before it where it would run into the word on its left."""
    before = code.source[start - 1 : start] if start else b""
    return f" {text}" if before.isalnum() or before == b"_" or before > b"\x7f" else text


# ── format ───────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.JoinedStr)
def _to_format(code: PythonSource, node: ast.JoinedStr) -> Site | Refused:
    """Every f-string whose fields may be formatted after all of them have been evaluated."""
    formatted = _formatted(code, node)
    if isinstance(formatted, Refused):
        return formatted
    values = [field.node.value for field in formatted.fields]
    if not may_wait(code, values, [field.spec is None for field in formatted.fields]):
        return Refused(ORDER)
    if formatted.has_comment(code):
        return Refused(COMMENT)
    if not is_new(_parts(node)[0], of_sum=False) and compares_objects(code, "str"):
        return Refused(SEEN)
    text = _template(code, node, formatted)
    if text is None:
        return Refused(DIFFERENT)
    arguments = ", ".join(field.written(code) for field in formatted.fields)
    start = formatted.token.start
    patch = Patch(start, formatted.token.end, (separated(code, start, f"{text}.format({arguments})"),))
    return edit("f-string -> format", formatted.token.line, patch)


def _template(code: PythonSource, node: ast.JoinedStr, formatted: Formatted) -> str | None:
    r"""The literal on which `format` is called; `None` if it would give another text.

    The literal is read again and compared with the f-string's own parts: `format` takes the brace of
    `"\x7b{}"` for the beginning of a field, and an f-string does not.
    """
    body, *rest = formatted.texts(code)
    for field, text in zip(formatted.fields, rest, strict=True):
        body += f"{{{field.conversion}{'' if field.spec is None else f':{field.spec}'}}}{text}"
    literal = formatted.plain(body)
    parts: list[str | tuple[str, str]] = []
    try:
        for text, name, spec, conversion in Formatter().parse(ast.literal_eval(literal)):
            parts += [text] if name is None else [text, (spec or "", conversion or "")]
    except (SyntaxError, ValueError):
        return None
    return literal if texts_and_fields(parts) == _parts(node) else None


def texts_and_fields(parts: Iterable[str | _T]) -> tuple[list[str], list[_T]]:
    """The texts before, between and behind the fields, and the fields."""
    texts, fields = [""], []
    for part in parts:
        if isinstance(part, str):
            texts[-1] += part
        else:
            texts.append("")
            fields.append(part)
    return texts, fields


def _parts(node: ast.JoinedStr) -> tuple[list[str], list[tuple[str, str]]]:
    """The texts of an f-string, and its fields as (specification, conversion)."""
    parts: list[str | tuple[str, str]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            inner = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
            spec = "".join(str(part.value) for part in inner if isinstance(part, ast.Constant))
            parts.append((spec, chr(part.conversion) if part.conversion > 0 else ""))
        elif isinstance(part, ast.Constant):
            parts.append(str(part.value))
    return texts_and_fields(parts)


F_STRING_TO_FORMAT: Final = PythonRule("f-string-to-format", _to_format, "no f-string")


# ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────


def _to_sums(code: PythonSource) -> Iterator[Site | Refused]:
    """Every f-string whose fields are certainly strings, numbers, truth values or `None`."""
    shadowed = any(binds(code, name) for name in ("str", "repr", "ascii"))
    for node in editable_nodes(code):
        if not isinstance(node, ast.JoinedStr):
            continue
        formatted = _formatted(code, node)
        if isinstance(formatted, Refused):
            yield formatted
        elif reason := _no_sum(code, formatted, shadowed):
            yield Refused(reason)
        elif not is_new(_parts(node)[0], of_sum=True) and compares_objects(code, "str"):
            yield Refused(SEEN)
        elif (operands := _summands(code, node, formatted)) is None:
            yield Refused(DIFFERENT)
        else:
            patch = Patch(formatted.token.start, formatted.token.end, (f"({' + '.join(operands)})",))
            yield edit("f-string -> sum", formatted.token.line, patch)


def _no_sum(code: PythonSource, formatted: Formatted, shadowed: bool) -> str | None:
    """Why an f-string cannot become a sum; `None` if it can."""
    if len(formatted.fields) == 1 and not any(formatted.texts(code)):
        return ONE_PART
    for field in formatted.fields:
        kind = code.kind(field.node.value)
        # An f-string calls `__format__` of an object, `str()` calls `__str__`.
        if field.spec or kind not in ("str", "int", "bool", "float", "none"):
            return UNCERTAIN
        if shadowed and (kind != "str" or field.conversion):
            return BINDS_STR
    return COMMENT if formatted.has_comment(code) else None


def _summands(code: PythonSource, node: ast.JoinedStr, formatted: Formatted) -> list[str] | None:
    """The operands of the sum; `None` if a literal would not keep its text."""
    operands: list[str] = []
    values, _ = _parts(node)
    for field, text, value in zip((None, *formatted.fields), formatted.texts(code), values, strict=True):
        if field is not None:
            name = _CALLS[field.conversion]
            if code.kind(field.node.value) == "str" and name == "str":
                operand = code.slice(field.value)
                operands.append(operand if isinstance(field.node.value, _OPERANDS) else f"({operand})")
            else:
                operands.append(f"{name}({field.written(code)})")
        if text:
            literal = formatted.plain(text.replace("{{", "{").replace("}}", "}"))
            try:
                if ast.literal_eval(literal) != value:
                    return None
            except (SyntaxError, ValueError):
                return None
            operands.append(literal)
    return operands


F_STRING_TO_CONCAT: Final = PythonRule("f-string-to-concat", _to_sums, "no f-string")


# ── control ──────────────────────────────────────────────────────────────────────────────────────────────


def _swaps(code: PythonSource) -> Iterator[Site | Refused]:
    """Every two neighbouring fields of an f-string, arguments of `format`, or values behind `%`."""
    for node in editable_nodes(code):
        match node:
            case ast.JoinedStr():
                formatted = _formatted(code, node)
                if isinstance(formatted, Refused):
                    yield formatted
                    continue
                spans = [field.value for field in formatted.fields]
            case (
                ast.Call(
                    func=ast.Attribute(value=ast.Constant(value=str()), attr="format"),
                    args=values,
                    keywords=[],
                )
                | ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=ast.Tuple(elts=values))
            ):
                if any(isinstance(value, ast.Starred) for value in values):
                    continue
                spans = [code.full(value) for value in values]
            case _:
                continue
        for one, other in pairwise(spans):
            if code.slice(one) == code.slice(other):
                yield Refused(SAME)
                continue
            patch = Patch(one.start, other.end, (other, Span(one.end, other.start), one))
            yield edit("two fields swapped", code.line(node), patch)


FIELDS_SWAPPED: Final = control("fields-swapped", _swaps, "no formatted string with two fields")

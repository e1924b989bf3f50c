"""F-strings made from `%`, from calls of `format`, and from sums.

Every new f-string is parsed and compared with the texts and fields that it should have (`_same`), so a
mistake in the escaping becomes a refusal.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.expressions.identity import compares_objects
from codeaudit.transforms.python.layout.lexemes import Literal, comment_inside, token_at
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.python.rewriting import PythonRule, at_each, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.strings.from_f_strings import (
    COMMENT,
    DIFFERENT,
    NESTED,
    NO_FIELD,
    ORDER,
    SEEN,
    SEVERAL,
    argument,
    is_new,
    may_wait,
    separated,
    texts_and_fields,
)

QUOTES: Final = "quote, backslash or comment inside a field"
MAYBE_TUPLE: Final = "value may be a tuple"
COUNT: Final = "fields and values do not match"
CONVERSION: Final = "conversion of another kind"
UNCERTAIN: Final = "type of a value is not certain"
REUSED: Final = "values are not used once and in order"
LOOKS_INSIDE: Final = "field looks inside its value"
SPREAD: Final = "starred value"
BY_ESCAPE: Final = "sign of a field is written by its number"
NO_TEXT: Final = "no text among the values"

_PERCENT: Final = re.compile(
    r"%(?:(?P<flags>[-+0 #]*)(?P<width>\d{0,3})(?:\.(?P<precision>\d{0,3}))?(?P<letter>[a-zA-Z])"
    r"|(?P<percent>%)|(?P<other>.?))",
    re.DOTALL,
)
_INTEGERS: Final = {"d": "d", "i": "d", "u": "d", "x": "x", "X": "X", "o": "o"}
_FRACTIONS: Final = "feEgGF"
_CUT: Final = re.compile(r"\\N\{[^}]*\}|\{\{|\}\}|\{([^{}]*)\}|\\.|[^\\{}]+|(.)", re.DOTALL)
_RAW_CUT: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+|(.)", re.DOTALL)
_FIELD: Final = re.compile(r"([^!:]*)(?:!([ars]))?(?::(.*))?", re.DOTALL)
_BRACED: Final = re.compile(r"\\N\{[^}]*\}|\\.|[{}]|[^\\{}]+", re.DOTALL)
_RAW_BRACED: Final = re.compile(r"[{}]|[^{}]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A field: the value that it shows, and how."""

    value: ast.expr
    conversion: str = ""
    """`!s`, `!r`, `!a`, or empty."""
    spec: str | None = None
    """The format specification; `None` if there is no colon."""

    def written(self, code: PythonSource, quote: str) -> str | None:
        """The field as text inside quotes `quote`; `None` if Python 3.11 cannot read it there."""
        text = code.slice(code.span(self.value))
        if any(mark in text for mark in (quote[0], "\\", "#", "\n")):
            return None
        if any(isinstance(inner, ast.JoinedStr) for inner in ast.walk(self.value)):
            return None
        text = argument(text, self.value)
        # `{{` would be a brace: the blank keeps `{ {1: 2}}` a field.
        blank = " " if text.startswith("{") else ""
        return f"{{{blank}{text}{self.conversion}{'' if self.spec is None else ':' + self.spec}}}"


_Part = str | _Slot
"""The source of a literal text, with braces doubled; or a field."""


# ── % ────────────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.BinOp)
def _percents(code: PythonSource, node: ast.BinOp) -> Site | Refused | None:
    """Every literal with `%` whose values are known well enough.

    `%s` becomes `!s`. Assumed: the text that `__str__` gives is formatted as it is.
    """
    match node:
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text)) as left):
            literal = _literal(code, left)
        case _:
            return None
    if literal is None:
        return Refused(SEVERAL)
    # In `"\x25s"` the source does not show the `%`.
    if text.count("%") != literal.body.count("%"):
        return Refused(BY_ESCAPE)
    match node.right:
        case ast.Tuple(elts=values):
            if any(isinstance(value, ast.Starred) for value in values):
                return Refused(SPREAD)
        # `"%(name)s" % {…}`
        case ast.Dict():
            return Refused(CONVERSION)
        case single:
            # `"%s" % x` spreads `x` if it is a tuple.
            if code.kind(single) in (None, "tuple", "dict"):
                return Refused(MAYBE_TUPLE)
            values = [single]
    parts = _percent_parts(code, literal, values)
    return parts if isinstance(parts, Refused) else _f_string(code, node, literal, parts, "%")


def _percent_parts(code: PythonSource, literal: Literal, values: Sequence[ast.expr]) -> list[_Part] | Refused:
    """The texts and fields of a literal with `%`."""
    parts: list[_Part] = []
    rest = list(values)
    at = 0
    for match in _PERCENT.finditer(literal.body):
        parts.append(_braced(literal, literal.body[at : match.start()]))
        at = match.end()
        if match["percent"]:
            parts.append("%")
            continue
        if match["letter"] is None:
            return Refused(CONVERSION)
        if not rest:
            return Refused(COUNT)
        slot = _percent_slot(code, rest.pop(0), match)
        if isinstance(slot, Refused):
            return slot
        parts.append(slot)
    if rest:
        return Refused(COUNT)
    return [*parts, _braced(literal, literal.body[at:])]


def _percent_slot(code: PythonSource, value: ast.expr, match: re.Match[str]) -> _Slot | Refused:
    """The field for one `%` conversion. Refused unless `format` gives the same text for every value of the
    type.
    """
    flags, width, precision, letter = match["flags"], match["width"], match["precision"], match["letter"]
    kind = code.kind(value)
    left = "<" if flags == "-" and width else ""
    digits = "" if precision is None else f".{precision}"
    if letter in "sra":
        if flags not in ("", "-"):
            return Refused(CONVERSION)
        if not width and precision is None:
            # `format` shows these types as `str` does; of another one it calls `__format__`.
            alike = letter == "s" and kind in ("str", "int", "float", "bool", "none")
            return _Slot(value, "" if alike else f"!{letter}")
        # `%5.s` cuts everything off, and `format` wants digits behind the point.
        if precision == "":
            return Refused(CONVERSION)
        # `%5s` puts any value to the right, `format` only numbers.
        side = left or ">" if width else ""
        return _Slot(value, "" if kind == "str" and letter == "s" else f"!{letter}", f"{side}{width}{digits}")
    # `%0d` without a width is `%d`, and `format` takes the 0 for the width.
    if flags not in ("", "-", "0", "+") or (flags == "0" and not width):
        return Refused(CONVERSION)
    sign = "" if flags == "-" else flags
    if letter in _INTEGERS and kind in ("int", "bool") and precision is None:
        return _Slot(value, "", f"{left}{sign}{width}{_INTEGERS[letter]}")
    # `"%d" % 2.5` is `2`, `f"{2.5:d}"` raises.
    if letter in _FRACTIONS and kind == "float" and precision != "":
        return _Slot(value, "", f"{left}{sign}{width}{digits}{letter}")
    return Refused(UNCERTAIN if letter in _INTEGERS or letter in _FRACTIONS else CONVERSION)


PERCENT_TO_F_STRING: Final = PythonRule("percent-to-f-string", _percents, "no literal with %")


# ── format ───────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.Call)
def _format_calls(code: PythonSource, node: ast.Call) -> Site | Refused | None:
    """Every call of `format` on a literal."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)) as template, attr="format")):
            literal = _literal(code, template)
        case _:
            return None
    if literal is None:
        return Refused(SEVERAL)
    # In `"\x7b}"` the source does not show the brace. Each brace is one character more when it is doubled.
    if text.count("{") + text.count("}") != len(_braced(literal, literal.body)) - len(literal.body):
        return Refused(BY_ESCAPE)
    arguments = {str(number): value for number, value in enumerate(node.args)}
    for keyword in node.keywords:
        if keyword.arg is None:
            return Refused(SPREAD)
        arguments[keyword.arg] = keyword.value
    if any(isinstance(value, ast.Starred) for value in node.args):
        return Refused(SPREAD)
    parts = _format_parts(code, literal, arguments)
    return parts if isinstance(parts, Refused) else _f_string(code, node, literal, parts, "format")


def _format_parts(
    code: PythonSource, literal: Literal, arguments: dict[str, ast.expr]
) -> list[_Part] | Refused:
    """The texts and fields of a template of `format`, given its arguments by name or position."""
    parts: list[_Part] = []
    used: list[str] = []
    automatic = 0
    for match in (_RAW_CUT if literal.raw else _CUT).finditer(literal.body):
        # A brace left over: a field inside a specification, as in `{:{}}`.
        if match[2] is not None:
            return Refused(NESTED)
        if match[1] is None:
            parts.append(match[0])
            continue
        field = _FIELD.fullmatch(match[1])
        if field is None:
            return Refused(NESTED)
        name = field[1]
        if not name:
            name, automatic = str(automatic), automatic + 1
        # `{0.b}` and `{0[b]}` look inside the value.
        if name not in arguments:
            return Refused(COUNT if name.isidentifier() or name.isdigit() else LOOKS_INSIDE)
        used.append(name)
        parts.append(_Slot(arguments[name], f"!{field[2]}" if field[2] else "", field[3]))
    # `"{} {0}"` raises: numbers are given for all fields or for none.
    if automatic and automatic != sum(name.isdigit() for name in used):
        return Refused(COUNT)
    # A call evaluates every argument once, in order; an f-string evaluates each field.
    if used != list(arguments) and not all(
        isinstance(value, ast.Name | ast.Constant) and code.harmless(value) for value in arguments.values()
    ):
        return Refused(REUSED)
    return parts


FORMAT_TO_F_STRING: Final = PythonRule("format-to-f-string", _format_calls, "no call of format on a literal")


# ── + ────────────────────────────────────────────────────────────────────────────────────────────────────


def _sums(code: PythonSource) -> Iterator[Site | Refused]:
    """Every sum of strings with at least one literal and at least one other operand."""
    done: set[int] = set()
    for node in editable_nodes(code):
        # The sums on the left of a rewritten sum are parts of it.
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or id(node) in done:
            continue
        spine, operands = _operands(node)
        literals = [
            node for node in operands if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        if not literals or len(literals) == len(operands):
            if literals or any(code.kind(operand) == "str" for operand in operands):
                yield Refused(NO_TEXT)
            continue
        # `"a" + x` raises if `x` is no string, and an f-string shows it.
        if any(code.kind(operand) != "str" for operand in operands):
            yield Refused(UNCERTAIN)
            continue
        read = {id(literal): _literal(code, literal) for literal in literals}
        first = read[id(literals[0])]
        if first is None or None in read.values():
            yield Refused(SEVERAL)
        # Escapes mean nothing in a raw string, so the texts cannot share one literal.
        elif any(part and (part.prefix, part.quote) != (first.prefix, first.quote) for part in read.values()):
            yield Refused(DIFFERENT)
        else:
            done.update(spine)
            pairs = [(operand, read.get(id(operand))) for operand in operands]
            parts = [
                _braced(part, part.body) if part is not None else _Slot(operand) for operand, part in pairs
            ]
            yield _f_string(code, node, first, parts, "sum")


def _operands(node: ast.BinOp) -> tuple[list[int], list[ast.expr]]:
    """The `id`s of the sums on the left spine of a sum, and its operands from left to right."""
    spine: list[int] = []
    operands: list[ast.expr] = []
    here: ast.expr = node
    while isinstance(here, ast.BinOp) and isinstance(here.op, ast.Add):
        spine.append(id(here))
        operands.append(here.right)
        here = here.left
    return spine, [here, *reversed(operands)]


CONCAT_TO_F_STRING: Final = PythonRule("concat-to-f-string", _sums, "no sum with a text")


# ── all three ────────────────────────────────────────────────────────────────────────────────────────────


def _literal(code: PythonSource, node: ast.Constant) -> Literal | None:
    """The plain or raw string literal that a constant is written as; `None` for several literals in a row."""
    token = token_at(code, node)
    literal = Literal.read(token.text) if token is not None else None
    return literal if literal is not None and literal.prefix.lower() in ("", "r") else None


def _braced(literal: Literal, body: str) -> str:
    r"""A part of a literal's body for an f-string: braces doubled, named characters (`\N{…}`) unchanged."""
    return "".join(
        unit * 2 if unit in ("{", "}") else unit
        for unit in (_RAW_BRACED if literal.raw else _BRACED).findall(body)
    )


def _f_string(
    code: PythonSource, node: ast.expr, literal: Literal, parts: Sequence[_Part], what: str
) -> Site | Refused:
    """The site that replaces `node` by an f-string of these parts, or why it cannot be replaced."""
    slots = [part for part in parts if isinstance(part, _Slot)]
    start, end = code.start(node), code.end(node)
    if not slots:
        return Refused(NO_FIELD)
    if comment_inside(code, start, end):
        return Refused(COMMENT)
    # A sum formats nothing: all its operands are strings.
    if what != "sum" and not may_wait(
        code, [slot.value for slot in slots], [not slot.spec for slot in slots]
    ):
        return Refused(ORDER)
    written = [part if isinstance(part, str) else part.written(code, literal.quote) for part in parts]
    body = "".join(text for text in written if text is not None)
    if None in written:
        return Refused(QUOTES)
    text = str(Literal(f"f{literal.prefix}", literal.quote, body))
    if not _same(literal, parts, text):
        return Refused(DIFFERENT)
    texts, _ = texts_and_fields(part if isinstance(part, _Slot) else _text(literal, part) for part in parts)
    if not is_new(texts, of_sum=what == "sum") and compares_objects(code, "str"):
        return Refused(SEEN)
    patch = Patch(start, end, (separated(code, start, text),))
    return edit(f"{what} -> f-string", code.line(node), patch)


def _same(literal: Literal, parts: Sequence[_Part], text: str) -> bool:
    """Whether the f-string, parsed again, has exactly these texts and fields."""
    try:
        texts, fields = texts_and_fields(
            _field_node(literal, part) if isinstance(part, _Slot) else _text(literal, part) for part in parts
        )
        body = parse(f"({text})").body
    except (SyntaxError, ValueError, SourceError):
        return False
    match body:
        case [ast.Expr(value=ast.JoinedStr(values=values))]:
            read = texts_and_fields(
                str(value.value) if isinstance(value, ast.Constant) else value for value in values
            )
            return read[0] == texts and list(map(ast.dump, read[1])) == list(map(ast.dump, fields))
        case _:
            return False


def _value(literal: Literal, body: str) -> str:
    """What a body means between the quotes of a literal."""
    return str(ast.literal_eval(str(Literal(literal.prefix, literal.quote, body))))


def _text(literal: Literal, part: str) -> str:
    """What a text between fields means."""
    return _value(literal, part).replace("{{", "{").replace("}}", "}")


def _field_node(literal: Literal, slot: _Slot) -> ast.FormattedValue:
    spec = None
    if slot.spec is not None:
        text = _value(literal, slot.spec)
        spec = ast.JoinedStr(values=[ast.Constant(value=text)] if text else [])
    conversion = ord(slot.conversion[1]) if slot.conversion else -1
    return ast.FormattedValue(value=slot.value, conversion=conversion, format_spec=spec)

"""F-strings made from `%`, from calls of `format`, and from sums.

Every new f-string is parsed and compared with the texts and fields that it should have (`_same`), so a
mistake in the escaping becomes a refusal.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.layout.lexemes import Literal, token_at
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.strings.templates import (
    COMMENT,
    DIFFERENT,
    NESTED,
    NO_FIELD,
    ORDER,
    QUOTES,
    SEVERAL,
    escaped,
    expected,
    field,
    has_comment,
    inside,
    may_wait,
    pieces,
    separated,
)

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
_CUT: Final = re.compile(r"\\N\{[^}]*\}|\{\{|\}\}|\{([^{}]*)\}|\\.|[^\\{}]+|(.)", re.DOTALL)
_RAW_CUT: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+|(.)", re.DOTALL)
_FIELD: Final = re.compile(r"([^!:]*)(?:!([ars]))?(?::(.*))?", re.DOTALL)


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
        text = inside(code, self.value, quote)
        if text is None:
            return None
        return f"{{{text}{self.conversion}{'' if self.spec is None else ':' + self.spec}}}"


_Part = str | _Slot
"""The source of a literal text, with braces doubled; or a field."""


# ── % ────────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.BinOp)
def find_percents(code: PythonSource, node: ast.BinOp) -> Site | Refused | None:
    """Every literal with `%` whose values are known well enough.

    `%s` becomes `!s`. Assumed: the text that `__str__` gives is formatted as it is.
    """
    match node:
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text)) as left):
            literal, values = _literal(code, left), _values(code, node.right)
        case _:
            return None
    if literal is None:
        return Refused(SEVERAL)
    if text.count("%") != literal.body.count("%"):
        return Refused(BY_ESCAPE)
    if isinstance(values, str):
        return Refused(values)
    parts = _percent_parts(code, literal, values)
    return parts if isinstance(parts, Refused) else _site(code, node, literal, parts, "%")


def _values(code: PythonSource, right: ast.expr) -> list[ast.expr] | str:
    """The values behind a `%`, or the reason why they are not known."""
    if isinstance(right, ast.Tuple):
        return SPREAD if any(isinstance(one, ast.Starred) for one in right.elts) else right.elts
    if isinstance(right, ast.Dict):
        return CONVERSION
    return [right] if code.kind(right) not in (None, "tuple", "dict") else MAYBE_TUPLE


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
    parts.append(_braced(literal, literal.body[at:]))
    return parts


def _percent_slot(code: PythonSource, value: ast.expr, match: re.Match[str]) -> _Slot | Refused:
    """The field for one `%` conversion. Refused unless `format` gives the same text for every value of the
    type.
    """
    flags, width, precision, letter = match["flags"], match["width"], match["precision"], match["letter"]
    kind = code.kind(value)
    left = "<" if flags == "-" and width else ""
    if letter in "sra":
        if flags not in ("", "-"):
            return Refused(CONVERSION)
        conversion = (
            f"!{letter}" if letter != "s" or kind not in ("str", "int", "float", "bool", "none") else ""
        )
        if not width and precision is None:
            return _Slot(value, conversion)
        if precision == "":
            return Refused(CONVERSION)
        spec = f"{left or '>' if width else ''}{width}{'' if precision is None else '.' + precision}"
        return _Slot(value, f"!{letter}" if kind != "str" or letter != "s" else "", spec)
    if flags not in ("", "-", "0", "+") or (flags == "0" and not width):
        return Refused(CONVERSION)
    sign = "" if flags == "-" else flags
    if letter in _INTEGERS and kind in ("int", "bool") and precision is None:
        return _Slot(value, "", f"{left}{sign}{width}{_INTEGERS[letter]}")
    if letter in "feEgGF" and kind == "float" and precision != "":
        return _Slot(value, "", f"{left}{sign}{width}{'' if precision is None else '.' + precision}{letter}")
    return Refused(UNCERTAIN if letter in _INTEGERS or letter in "feEgGF" else CONVERSION)


# ── format ───────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.Call)
def find_calls(code: PythonSource, node: ast.Call) -> Site | Refused | None:
    """Every call of `format` on a literal."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)) as template, attr="format")):
            literal = _literal(code, template)
        case _:
            return None
    named = {one.arg: one.value for one in node.keywords}
    if literal is None:
        return Refused(SEVERAL)
    if text.count("{") + text.count("}") != len(escaped(literal)) - len(literal.body):
        return Refused(BY_ESCAPE)
    if None in named or any(isinstance(one, ast.Starred) for one in node.args):
        return Refused(SPREAD)
    given = {
        **{str(number): one for number, one in enumerate(node.args)},
        **{str(name): value for name, value in named.items()},
    }
    parts = _format_parts(code, literal, given)
    return parts if isinstance(parts, Refused) else _site(code, node, literal, parts, "format")


def _format_parts(code: PythonSource, literal: Literal, given: dict[str, ast.expr]) -> list[_Part] | Refused:
    """The texts and fields of a template of `format`, given its arguments by name or position."""
    parts: list[_Part] = []
    used: list[str] = []
    automatic = 0
    for match in (_RAW_CUT if literal.raw else _CUT).finditer(literal.body):
        if match[2] is not None:
            return Refused(NESTED)
        if match[1] is None:
            parts.append(match[0])
            continue
        own = _FIELD.fullmatch(match[1])
        if own is None:
            return Refused(NESTED)
        name = own[1]
        if not name:
            name, automatic = str(automatic), automatic + 1
        if name not in given:
            return Refused(COUNT if name.isidentifier() or name.isdigit() else LOOKS_INSIDE)
        used.append(name)
        parts.append(_Slot(given[name], f"!{own[2]}" if own[2] else "", own[3]))
    if automatic and automatic != len([name for name in used if name.isdigit()]):
        return Refused(COUNT)
    if used != list(given) and not all(
        isinstance(value, ast.Name | ast.Constant) and code.harmless(value) for value in given.values()
    ):
        return Refused(REUSED)
    return parts


# ── + ────────────────────────────────────────────────────────────────────────────────────────────────


def find_sums(code: PythonSource) -> Iterator[Site | Refused]:
    """Every sum of strings with at least one literal and at least one other operand."""
    done: set[int] = set()
    for node in editable_nodes(code):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or id(node) in done:
            continue
        spine, operands = _operands(node)
        literals = [one for one in operands if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if not literals or len(literals) == len(operands):
            if literals or any(code.kind(one) == "str" for one in operands):
                yield Refused(NO_TEXT)
            continue
        if any(code.kind(one) != "str" for one in operands):
            yield Refused(UNCERTAIN)
            continue
        read = [_literal(code, one) for one in literals]
        first = read[0]
        if first is None or any(one is None for one in read):
            yield Refused(SEVERAL)
            continue
        if any(one is not None and (one.prefix, one.quote) != (first.prefix, first.quote) for one in read):
            yield Refused(DIFFERENT)
            continue
        parts: list[_Part] = []
        for one in operands:
            own = _literal(code, one) if isinstance(one, ast.Constant) else None
            parts.append(escaped(own) if own is not None else _Slot(one))
        done.update(spine)
        yield _site(code, node, first, parts, "sum")


def _operands(node: ast.BinOp) -> tuple[list[int], list[ast.expr]]:
    """The `id`s of the sums on the left spine of a sum, and its operands from left to right."""
    spine: list[int] = []
    found: list[ast.expr] = []
    here: ast.expr = node
    while isinstance(here, ast.BinOp) and isinstance(here.op, ast.Add):
        spine.append(id(here))
        found.append(here.right)
        here = here.left
    return spine, [here, *reversed(found)]


# ── all three ────────────────────────────────────────────────────────────────────────────────────────


def _literal(code: PythonSource, node: ast.Constant) -> Literal | None:
    """The plain or raw string literal that a constant is written as; `None` for several literals in a row."""
    token = token_at(code, node)
    literal = Literal.read(token.text) if token is not None else None
    return literal if literal is not None and literal.prefix.lower() in ("", "r") else None


def _braced(literal: Literal, body: str) -> str:
    return escaped(Literal(literal.prefix, literal.quote, body))


def _site(
    code: PythonSource, node: ast.expr, literal: Literal, parts: Sequence[_Part], what: str
) -> Site | Refused:
    """The site that replaces `node` by an f-string of these parts, or why it cannot be replaced."""
    slots = [one for one in parts if isinstance(one, _Slot)]
    start, end = code.start(node), code.end(node)
    if not slots:
        return Refused(NO_FIELD)
    if has_comment(code, start, end):
        return Refused(COMMENT)
    if what != "sum" and not may_wait(code, [one.value for one in slots], [not one.spec for one in slots]):
        return Refused(ORDER)
    written = [one if isinstance(one, str) else one.written(code, literal.quote) for one in parts]
    if None in written:
        return Refused(QUOTES)
    text = str(
        Literal(f"f{literal.prefix}", literal.quote, "".join(one for one in written if one is not None))
    )
    if not _same(code, literal, parts, text):
        return Refused(DIFFERENT)
    patch = Patch(start, end, (separated(code, start, text),))
    return Site(((patch,),), f"{what} -> f-string", code.line(node))


def _same(code: PythonSource, literal: Literal, parts: Sequence[_Part], text: str) -> bool:
    """Whether the f-string, parsed again, has exactly these texts and fields."""
    wanted: list[str | ast.FormattedValue] = []
    try:
        for one in parts:
            if isinstance(one, _Slot):
                spec = one.spec
                if spec is not None:
                    spec = ast.literal_eval(str(Literal(literal.prefix, literal.quote, spec)))
                wanted.append(field(one.value, one.conversion, spec))
            else:
                body = ast.literal_eval(str(Literal(literal.prefix, literal.quote, one)))
                wanted.append(body.replace("{{", "{").replace("}}", "}"))
    except (SyntaxError, ValueError):
        return False
    return pieces(f"({text})") == expected(wanted)


PERCENT_TO_F_STRING: Final = PythonRule(
    name="percent-to-f-string", find=find_percents, nothing="no literal with %"
)
FORMAT_TO_F_STRING: Final = PythonRule(
    name="format-to-f-string", find=find_calls, nothing="no call of format on a literal"
)
CONCAT_TO_F_STRING: Final = PythonRule(
    name="concat-to-f-string", find=find_sums, nothing="no sum with a text"
)

"""Numbers and strings written in another way, and the controls that change their values."""

import ast
import re
import tokenize
from collections.abc import Iterator
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.layout.lexemes import (
    Lexeme,
    Literal,
    docstrings,
    expressions,
    gap,
    logical_lines,
    solid,
    token_at,
)
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.rewriting import control, edit, same_tree
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import bodies

OTHER_QUOTES: Final = "quotes in the string"
FIELDS: Final = "quotes in an f-string"
FORMATTED: Final = "f-string"
DOCSTRING: Final = "docstring"
SHORT: Final = "string too short"
COMMENT: Final = "comment between"
OUTSIDE: Final = "not inside brackets"
OTHER_KIND: Final = "strings of different kinds"
JUNCTION: Final = "escape would go on in the next string"
TOUCHING: Final = "number touches a word"
ONE_FORM: Final = "number has no other form"
DEAD: Final = "statement may not run"
UNSEEN: Final = "value may not be seen"

_LARGEST_BITS: Final = 256
"""Size of the largest integer that gets other forms."""
_SMALL: Final = 64
"""Below this value a number is also written in base 2 and 8."""
_GROUPED: Final = 1000
"""From this value on the digits are also grouped by `_`."""
_SHORTEST: Final = 4
"""Fewest characters of a string that is split."""
_UNIT: Final = re.compile(
    r"\r\n|\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r\n|.)|.", re.DOTALL
)
_RAW_UNIT: Final = re.compile(r"\r\n|\\\r\n|\\.|.", re.DOTALL)


# ── strings ──────────────────────────────────────────────────────────────────────────────────────────────


def _quotable(code: PythonSource) -> Iterator[Site | Refused]:
    """Every string whose contents need no escapes between the other quotes."""
    for token, literal in _strings(code):
        # Before Python 3.12, a field of `f'{a["b"]}'` may not contain the quotes of the string.
        if literal.formatted and ("'" in literal.body or '"' in literal.body):
            yield Refused(FIELDS)
        elif (other := _flipped(literal)) is None:
            yield Refused(OTHER_QUOTES)
        else:
            note = f"{literal.quote} -> {other.quote}"
            yield edit(note, token.line, Patch(token.start, token.end, (str(other),)))


def _splittable(code: PythonSource) -> Iterator[Site | Refused]:
    """Every string inside brackets, cut between two characters."""
    texts = docstrings(code)
    apart = {
        code.start(node) for node in code.nodes() if isinstance(node, ast.Constant) and id(node) in texts
    }
    for token, literal in _strings(code):
        if token.start in apart:
            yield Refused(DOCSTRING)
        elif literal.formatted:
            yield Refused(FORMATTED)
        elif not token.depth:
            yield Refused(OUTSIDE)
        elif not (cuts := _cuts(literal)):
            yield Refused(SHORT)
        else:
            begin = token.start + len(literal.prefix) + len(literal.quote)
            options = tuple(
                (Patch(at, at, (f"{literal.quote} {literal.prefix}{literal.quote}",)),)
                for at in (begin + len(literal.body[:cut].encode()) for cut in cuts)
            )
            yield Site(options, "string in two", token.line)


def _neighbours(code: PythonSource) -> Iterator[Site | Refused]:
    """Every two strings of the same kind in a row."""
    for row in logical_lines(code):
        for before, behind in pairwise(row):
            if before.type != tokenize.STRING or behind.type != tokenize.STRING:
                continue
            first, second = Literal.read(before.text), Literal.read(behind.text)
            # Of `f"{a}" "{b}"`, only the first is formatted.
            if first is None or second is None or first.formatted or second.formatted:
                yield Refused(FORMATTED)
            # Of `r"\d" "\n"`, only the second has escapes.
            elif (first.prefix.lower(), first.quote) != (second.prefix.lower(), second.quote):
                yield Refused(OTHER_KIND)
            elif b"#" in gap(code, before, behind):
                yield Refused(COMMENT)
            elif not _goes_on(first, second):
                yield Refused(JUNCTION)
            else:
                end = behind.start + len(second.prefix) + len(second.quote)
                yield edit("two strings in one", before.line, Patch(before.end - len(first.quote), end, ()))


def _strings(code: PythonSource) -> Iterator[tuple[Lexeme, Literal]]:
    for token in solid(code):
        if token.type == tokenize.STRING and (literal := Literal.read(token.text)) is not None:
            yield token, literal


def _flipped(literal: Literal) -> Literal | None:
    """The same contents between the other quotes; `None` if these occur in the contents."""
    mark = "'" if literal.quote[0] == '"' else '"'
    quote = mark * len(literal.quote)
    if quote in literal.body or literal.body.endswith(mark):
        return None
    return Literal(literal.prefix, quote, literal.body)


def _units(literal: Literal) -> list[str]:
    """The body, cut at every place that is not inside an escape."""
    return (_RAW_UNIT if literal.raw else _UNIT).findall(literal.body)


def _cuts(literal: Literal) -> list[int]:
    """Where to cut, as indices into the body: in the middle, and behind the blank nearest to it."""
    units = _units(literal)
    if len(units) < _SHORTEST:
        return []
    # Cut behind its inner quote, `"""a"b"""` would begin with a string that ends in four quotes.
    inner = [at for at in range(1, len(units)) if not {"'", '"'} & {units[at - 1], units[at]}]
    inner.sort(key=lambda at: (abs(at - len(units) / 2), at))
    chosen = inner[:1] + [at for at in inner[1:] if units[at - 1] == " "][:1]
    places = list(accumulate(map(len, units), initial=0))
    return [places[at] for at in chosen]


def _goes_on(first: Literal, second: Literal) -> bool:
    r"""Whether the two bodies, written as one literal, have the value of both strings in a row.

    In `"\1" "2"` the first character has number 1, in `"\12"` number 10.
    """
    if not first.body or not second.body:
        return False
    try:
        joined = ast.literal_eval(f"{first.prefix}{first.quote}{first.body}{second.body}{first.quote}")
        return bool(joined == ast.literal_eval(str(first)) + ast.literal_eval(str(second)))
    except (SyntaxError, ValueError):
        return False


QUOTES: Final = same_tree("quotes", _quotable, "no string")
SPLIT_STRINGS: Final = same_tree("split-strings", _splittable, "no string")
JOIN_STRINGS: Final = same_tree("join-strings", _neighbours, "no strings in a row")


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(code: PythonSource) -> Iterator[Site | Refused]:
    """Every number in its other forms: another base, grouped digits, an exponent."""
    for token in solid(code):
        if token.type != tokenize.NUMBER:
            continue
        around = code.source[token.start - 1 : token.start] + code.source[token.end : token.end + 1]
        # `1else` is `1 else`, but `0x1else` begins with the number `0x1e`.
        if re.search(rb"[\w.]|[^\x00-\x7f]", around):
            yield Refused(TOUCHING)
        elif not (forms := _forms(token.text)):
            yield Refused(ONE_FORM)
        else:
            options = tuple((Patch(token.start, token.end, (form,)),) for form in forms)
            yield Site(options, "number in another form", token.line)


def _forms(text: str) -> list[str]:
    """The other literals with the same value."""
    value = ast.literal_eval(text)
    if isinstance(value, float):
        forms = _float_forms(value)
    elif isinstance(value, int) and value.bit_length() <= _LARGEST_BITS:
        # A decimal number gets other bases; a number in another base, or grouped, becomes a plain one.
        forms = (
            [f"{value:#x}", f"0X{value:X}", f"{value:#b}", f"{value:#o}"] if text.isdigit() else [str(value)]
        )
        forms = forms[: 4 if value < _SMALL else 2]
        forms += [f"{value:_}"] if value >= _GROUPED else []
    else:
        return []
    # The `repr` distinguishes `0.0` from `-0.0` and `1` from `1.0`.
    return [
        form for form in dict.fromkeys(forms) if form != text and repr(ast.literal_eval(form)) == repr(value)
    ]


def _float_forms(value: float) -> list[str]:
    # `1e999` is infinite, and 0 has no first digit for a mantissa.
    if value in (float("inf"), 0.0):
        return []
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)  # a float literal is finite here
    text = "".join(map(str, digits))
    scientific = exponent + len(text) - 1
    mantissa = text[0] + (f".{text[1:]}" if len(text) > 1 else "")
    forms = [repr(value), f"{mantissa}e{scientific}", f"{text}e{exponent}"]
    if 0 < value < 1:
        forms.append(repr(value).removeprefix("0"))
    return [form for form in forms if "." in form or "e" in form]


LITERAL_BASES: Final = same_tree("literal-bases", _numbers, "no number")


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _other_texts(code: PythonSource) -> Iterator[Site | Refused]:
    """Every returned or compared string with a letter: other quotes, and its last letter becomes the next
    one.
    """
    for token, reason in _constants(code, str, bytes):
        literal = Literal.read(token.text)
        if literal is None or literal.formatted:
            continue
        if reason:
            yield Refused(reason)
            continue
        if (other := _flipped(literal)) is None:
            yield Refused(OTHER_QUOTES)
            continue
        units = _units(literal)
        letters = [number for number, unit in enumerate(units) if unit.isascii() and unit.isalpha()]
        if not letters:
            yield Refused(SHORT)
            continue
        letter = units[letters[-1]]
        units[letters[-1]] = {"z": "a", "Z": "A"}.get(letter, chr(ord(letter) + 1))
        changed = Literal(other.prefix, other.quote, "".join(units))
        yield edit("another letter", token.line, Patch(token.start, token.end, (str(changed),)))


def _other_numbers(code: PythonSource) -> Iterator[Site | Refused]:
    """Every returned or compared number, replaced by its neighbour in the same form."""
    # A `bool` is an `int`, but `True` has no neighbour; a complex number is left alone.
    for token, reason in _constants(code, int, float):
        if reason:
            yield Refused(reason)
        elif (text := _neighbour(token.text)) is None:
            yield Refused(ONE_FORM)
        else:
            yield edit(f"{token.text} -> {text}", token.line, Patch(token.start, token.end, (text,)))


def _constants(code: PythonSource, *kinds: type) -> Iterator[tuple[Lexeme, str | None]]:
    """The constants of these types that are one token each, and why a change of each may not be seen."""
    for node in expressions(code):
        if isinstance(node, ast.Constant) and type(node.value) in kinds:
            token = token_at(code, node)
            if token is not None:
                yield token, _unseen(code, node)


def _neighbour(text: str) -> str | None:
    """The literal of a neighbouring value in the same form; `None` if there is none."""
    value = ast.literal_eval(text)
    if isinstance(value, float):
        whole, point, rest = text.partition(".")
        return f"{int(whole) + 1}{point}{rest}" if point and whole.isdigit() else None
    base = text[:2].lower()
    if base not in ("0x", "0b", "0o"):
        return f"{value + 1:_}" if "_" in text else str(value + 1)
    other = value - 1 if value else 1
    if base != "0x":
        return f"{other:#{base[1]}}"
    return text[:2] + (f"{other:X}" if text[2:].isupper() else f"{other:x}")


def _unseen(code: PythonSource, node: ast.expr) -> str | None:
    """Why it is not certain that a value is returned or compared in code that runs; `None` if it is."""
    inner: ast.AST = node
    seen = False
    for above in code.ancestors(node):
        match above:
            case ast.Compare() | ast.Return():
                seen = True
            # A lambda may never be called, `python -O` drops assertions, and `xs[:9]` may equal `xs[:10]`.
            case ast.JoinedStr() | ast.Lambda() | ast.Assert() | ast.Slice():
                return UNSEEN
            # `return len("ab")` may not show the text.
            case ast.Call() if not seen:
                return UNSEEN
            case ast.If(test=ast.Constant()) | ast.While(test=ast.Constant(value=False | 0 | None)):
                return DEAD
            # A handler runs only if something is raised.
            case ast.ExceptHandler():
                return DEAD
        if isinstance(inner, ast.stmt) and _unreachable(inner, above):
            return DEAD
        # A default is not used by a call that gives the argument.
        if isinstance(above, FunctionNode) and inner not in above.body:
            return UNSEEN
        inner = above
    return None if seen else UNSEEN


def _unreachable(node: ast.stmt, above: ast.AST) -> bool:
    """Whether a statement of the block before this one always leaves the block."""
    return any(
        isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)
        for body in bodies(above)
        if node in body
        for statement in body[: body.index(node)]
    )


STRING_CHANGED: Final = control("string-changed", _other_texts, "no string")
LITERAL_CHANGED: Final = control("literal-changed", _other_numbers, "no number")

"""F-strings rewritten as calls of `format` and as sums, and the control that swaps two fields."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from string import Formatter
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.layout.lexemes import Literal
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.strings.templates import (
    COMMENT,
    DIFFERENT,
    ORDER,
    Field,
    Formatted,
    argument,
    formatted,
    has_comment,
    may_wait,
    separated,
)
from codeaudit.transforms.python.suites import binds

UNCERTAIN: Final = "value may be no plain text or number"
ONE_PART: Final = "string is a single field"
BINDS_STR: Final = "text binds the name of a builtin"
SAME: Final = "fields are alike"

_CALLS: Final = {"": "str", "!s": "str", "!r": "repr", "!a": "ascii"}
_ATOMS: Final = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant,
)  # fmt: skip


@at_each(ast.JoinedStr)
def find_formats(code: PythonSource, node: ast.JoinedStr) -> Site | Refused:
    """Every f-string whose fields may be formatted after all of them have been evaluated."""
    found = formatted(code, node)
    if isinstance(found, str):
        return Refused(found)
    values = [one.node.value for one in found.fields]
    if not may_wait(code, values, [one.spec is None for one in found.fields]):
        return Refused(ORDER)
    if _noted(code, found):
        return Refused(COMMENT)
    text = _template(code, node, found)
    if text is None:
        return Refused(DIFFERENT)
    arguments = ", ".join(_written(code, one) for one in found.fields)
    start = found.token.start
    patch = Patch(start, found.token.end, (separated(code, start, f"{text}.format({arguments})"),))
    return Site(((patch,),), "f-string -> format", found.token.line)


def find_sums(code: PythonSource) -> Iterator[Site | Refused]:
    """Every f-string whose fields are certainly strings, numbers, truth values or `None`."""
    shadowed = any(binds(code, name) for name in ("str", "repr", "ascii"))
    for node in editable_nodes(code):
        if not isinstance(node, ast.JoinedStr):
            continue
        found = formatted(code, node)
        if isinstance(found, str):
            yield Refused(found)
        elif reason := _no_sum(code, found, shadowed):
            yield Refused(reason)
        elif (parts := _summands(code, node, found)) is None:
            yield Refused(DIFFERENT)
        else:
            patch = Patch(found.token.start, found.token.end, (f"({' + '.join(parts)})",))
            yield Site(((patch,),), "f-string -> sum", found.token.line)


def find_swaps(code: PythonSource) -> Iterator[Site | Refused]:
    """Every two neighbouring fields of an f-string, arguments of `format`, or values behind `%`."""
    for node in editable_nodes(code):
        match node:
            case ast.JoinedStr():
                found = formatted(code, node)
                if isinstance(found, str):
                    yield Refused(found)
                    continue
                spans = [Span(one.value_start, one.value_end) for one in found.fields]
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str()), attr="format"), args=args, keywords=[]
            ):
                if any(isinstance(one, ast.Starred) for one in args):
                    continue
                spans = [code.full(one) for one in args]
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=ast.Tuple(elts=elements)):
                if any(isinstance(one, ast.Starred) for one in elements):
                    continue
                spans = [code.full(one) for one in elements]
            case _:
                continue
        for one, other in pairwise(spans):
            if code.slice(one) == code.slice(other):
                yield Refused(SAME)
                continue
            between = Span(one.end, other.start)
            patch = Patch(one.start, other.end, (other, between, one))
            yield Site(((patch,),), "two fields swapped", code.line(node))


def _written(code: PythonSource, one: Field) -> str:
    """The text of a field's value as an argument of a call."""
    return argument(code.slice(Span(one.value_start, one.value_end)).strip(), one.node.value)


def _noted(code: PythonSource, found: Formatted) -> bool:
    """Whether a field holds a comment (allowed from Python 3.12 on), or a `#` that looks like one."""
    return any("#" in code.slice(Span(one.start, one.end)) for one in found.fields) or has_comment(
        code, found.token.start, found.token.end
    )


def _template(code: PythonSource, node: ast.JoinedStr, found: Formatted) -> str | None:
    """The literal on which `format` is called; `None` if it would give another text.

    The literal is read again and compared with the f-string's own parts.
    """
    texts = found.texts(code)
    body = texts[0]
    for one, text in zip(found.fields, texts[1:], strict=True):
        spec = "" if one.spec is None else f":{one.spec}"
        body += f"{{{one.conversion}{spec}}}{text}"
    literal = Literal(_without_f(found.literal.prefix), found.literal.quote, body)
    try:
        parsed = list(Formatter().parse(ast.literal_eval(str(literal))))
    except (SyntaxError, ValueError):
        return None
    return str(literal) if _flat(parsed) == _wanted(node) else None


def _flat(parsed: list[tuple[str, str | None, str | None, str | None]]) -> list[tuple[str, ...]]:
    """The parsed template as (text before, specification, conversion) for each field, and the text behind the
    last one.
    """
    found: list[tuple[str, ...]] = []
    text = ""
    for before, name, spec, conversion in parsed:
        text += before
        if name is not None:
            found.append((text, spec or "", conversion or ""))
            text = ""
    return [*found, (text,)]


def _wanted(node: ast.JoinedStr) -> list[tuple[str, ...]]:
    """What `_flat` must give for a template that means the same as the f-string."""
    found: list[tuple[str, ...]] = []
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            spec = ""
            if isinstance(part.format_spec, ast.JoinedStr):
                spec = "".join(
                    str(one.value) for one in part.format_spec.values if isinstance(one, ast.Constant)
                )
            found.append((text, spec, chr(part.conversion) if part.conversion > 0 else ""))
            text = ""
        elif isinstance(part, ast.Constant):
            text += str(part.value)
    return [*found, (text,)]


def _no_sum(code: PythonSource, found: Formatted, shadowed: bool) -> str | None:
    """Why an f-string cannot become a sum; `None` if it can."""
    if len(found.fields) == 1 and not any(found.texts(code)):
        return ONE_PART
    for one in found.fields:
        kind = code.kind(one.node.value)
        if one.spec or kind not in ("str", "int", "bool", "float", "none"):
            return UNCERTAIN
        if shadowed and (kind != "str" or one.conversion):
            return BINDS_STR
    return COMMENT if _noted(code, found) else None


def _summands(code: PythonSource, node: ast.JoinedStr, found: Formatted) -> list[str] | None:
    """The operands of the sum; `None` if a literal would not keep its text."""
    wanted = [text for text, *_ in _wanted(node)]
    parts: list[str] = []
    for number, (text, value) in enumerate(zip(found.texts(code), wanted, strict=True)):
        if number:
            one = found.fields[number - 1]
            name = _CALLS[one.conversion]
            if code.kind(one.node.value) == "str" and name == "str":
                shown = code.slice(Span(one.value_start, one.value_end))
                parts.append(shown if isinstance(one.node.value, _ATOMS) else f"({shown})")
            else:
                parts.append(f"{name}({_written(code, one)})")
        if text:
            body = text.replace("{{", "{").replace("}}", "}")
            literal = str(Literal(_without_f(found.literal.prefix), found.literal.quote, body))
            if not _says(literal, value):
                return None
            parts.append(literal)
    return parts


def _says(literal: str, value: str) -> bool:
    """Whether a literal has this value."""
    try:
        return bool(ast.literal_eval(literal) == value)
    except (SyntaxError, ValueError):
        return False


def _without_f(prefix: str) -> str:
    return prefix.replace("f", "").replace("F", "")


F_STRING_TO_FORMAT: Final = PythonRule(name="f-string-to-format", find=find_formats, nothing="no f-string")
F_STRING_TO_CONCAT: Final = PythonRule(name="f-string-to-concat", find=find_sums, nothing="no f-string")
FIELDS_SWAPPED: Final = PythonRule(
    name="fields-swapped", find=find_swaps, nothing="no formatted string with two fields", kind="control"
)

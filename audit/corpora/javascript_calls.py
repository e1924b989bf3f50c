"""Finds calls for functions of JavaScript, as `calls` does for those of Python.

They stand in the text itself, in the columns of its table, or in its tests, which call the function by its
name or as `candidate`. None are drawn.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.javascript.values import arguments_text
from codeaudit.transforms.records import Sample

if TYPE_CHECKING:
    from codeaudit.transforms.syntax.reader import ParsedText

NO_CALLS: Final = "no call in its table or its tests"
"""The reason against a function whose calls cannot be drawn."""
end: Final = ""
"""Stands behind a call."""

_CALL: Final = re.compile(r"([A-Za-z_$][\w$]*)\(")
_ENDS: Final = re.compile(r"\s*;?\s*")
_DECLARES: Final = frozenset({"function_declaration", "local_variable_declaration"})
"""Statements that bind the name of a function in a script."""


def reading_of(source: str) -> "ParsedText":
    """The text, parsed. The parser is imported when it is first needed.

    Raises:
        SourceError: the text does not parse.
    """
    from codeaudit.transforms.javascript.parsing import read

    return read(source)


def is_last(reading: "ParsedText", before: str) -> bool:
    """Whether the last statement of a text is all that stands on the lines behind this beginning of it."""
    last = reading.root.children[-1:]
    expected = len(f"{before}\n".encode())
    return bool(last) and last[0].kind == "expression_statement" and last[0].start == expected


def function_of(sample: Sample) -> str | None:
    """The name of the function to call: that of its own calls, else that of the label, else the last one;
    `None` without one.

    Raises:
        SourceError: the text does not parse.
    """
    names = functions(sample.source)
    if sample.calls and parted(sample.source) is None:
        callees = (callee(call) for call, _ in sample.calls)
        return next((name for name in callees if name in names), None)
    return str(sample.label) if sample.label in names else names[-1] if names else None


def functions(source: str) -> list[str]:
    """The names of the functions that a script declares.

    Raises:
        SourceError: the text does not parse.
    """
    from codeaudit.transforms.javascript.parsing import unit

    reading = reading_of(source)
    units = (unit(reading, node) for node in reading.root.children if node.kind in _DECLARES)
    return [declared.name for declared in units if declared is not None and declared.name is not None]


def parted(source: str) -> tuple[str, str] | None:
    """The text before the last line, and the call of a function of the text on that line, with literals;
    `None` if there is no such call alone.

    Raises:
        SourceError: the text does not parse.
    """
    text, _, line = source.rstrip().rpartition("\n")
    if not is_last(reading_of(source), text) or not (call := whole_call(line)):
        return None
    return (text.rstrip(), line.rstrip(" ;")) if call[0] in functions(source) else None


def whole_call(text: str) -> tuple[str, str] | None:
    """The function and the arguments, written anew, of a text that is nothing but a call with literals."""
    begins = _CALL.match(text)
    arguments = arguments_text(text, begins.end()) if begins else None
    if begins is None or arguments is None or _ENDS.fullmatch(text, arguments[1]) is None:
        return None
    return begins[1], arguments[0]


def callee(text: str) -> str | None:
    """The name of the function that a text calls; `None` if it does not begin as a call."""
    begins = _CALL.match(text)
    return begins[1] if begins else None


def shown_calls(source: str, name: str) -> set[str]:
    """The calls of a function that its text shows, in code or in comments, with their arguments written
    anew."""
    calls = (arguments_text(source, at.end()) for at in _CALL.finditer(source) if at[1] == name)
    return {f"{name}({arguments[0]})" for arguments in calls if arguments is not None}


def same(call: str) -> str:
    """A call in a form that calls with equal arguments share: that of all calls here."""
    return call


def drawn(sample: Sample) -> list[str] | str:
    """Why no arguments are drawn."""
    return NO_CALLS


def tested(sample: Sample, names: frozenset[str]) -> Iterator[str]:
    """The literal arguments with which tests call one of the functions with these names."""
    try:
        reading = reading_of(sample.tests or "")
    except SourceError:
        return
    for node in reading.root.walk():
        if node.kind == "method_invocation":
            call = whole_call(reading.text(node))
            if call is not None and call[0] in names:
                yield call[1]


def obstacle(sample: Sample) -> str | None:
    """Why a sample has no function to call; `None` if it has one."""
    try:
        name = function_of(sample)
        has_own = bool(functions(sample.source))
    except SourceError:
        return NOT_PARSED
    if name is not None:
        return None
    return "the call in its table is no call of a function in the text" if has_own else "no function to call"

"""The same tokens and the same tree in another layout."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_MEDIAN: Final = """\
def median(values, default=255):
    # An empty sample has no median.
    ordered = sorted(values); size = len(ordered)

    if not size:
        return (default)
    middle = size // 2
    if size % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1]
            + ordered[middle]) / 2
"""

_MARKS: Final = '''\
def marks(value):
    """Say what is known of a value."""
    found = ["my " "note",]
    if value:
        found.append('seen')
        found.append('kept')
    return [*found, 'end']
'''


def _entry(target: str, summary: str, example: str, twin: str | None = None) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.layout.{target}", summary, family="layout", example=example, twin=twin
    )


def _control(target: str, summary: str, example: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.layout.{target}",
        summary,
        family="layout",
        kind="control",
        example=example,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "insert-comments": _entry("comments:INSERT_COMMENTS", "comments that say nothing of the code", _MEDIAN),
    "remove-comments": _entry("comments:REMOVE_COMMENTS", "comments go, except those for tools", _MEDIAN),
    "insert-blank-lines": _entry("lines:INSERT_BLANK_LINES", "blank lines between statements", _MEDIAN),
    "remove-blank-lines": _entry("lines:REMOVE_BLANK_LINES", "blank lines go", _MEDIAN),
    "join-lines": _entry("lines:JOIN_LINES", "lines inside brackets are joined", _MEDIAN),
    "split-lines": _entry("lines:SPLIT_LINES", "lines inside brackets are broken behind commas", _MEDIAN),
    "join-statements": _entry("lines:JOIN_STATEMENTS", "two statements on a line, joined by `;`", _MARKS),
    "split-statements": _entry(
        "lines:SPLIT_STATEMENTS", "statements joined by `;` on lines of their own", _MEDIAN
    ),
    "indentation": _entry(
        "indentation:INDENTATION",
        "blocks indented by 2, 3, 4 or 8 blanks or a tab",
        _MARKS,
        "indentation-changed",
    ),
    "quotes": _entry("literals:QUOTES", "single quotes for double ones, and back", _MARKS, "string-changed"),
    "split-strings": _entry("literals:SPLIT_STRINGS", "one string written as two in a row", _MARKS),
    "join-strings": _entry("literals:JOIN_STRINGS", "strings in a row written as one", _MARKS),
    "literal-bases": _entry(
        "literals:LITERAL_BASES",
        "numbers in another base, with grouped digits or an exponent",
        _MEDIAN,
        "literal-changed",
    ),
    "insert-parentheses": _entry("brackets:INSERT_PARENTHESES", "parentheses that change nothing", _MEDIAN),
    "remove-parentheses": _entry(
        "brackets:REMOVE_PARENTHESES", "parentheses that change nothing go", _MEDIAN
    ),
    "insert-trailing-commas": _entry(
        "brackets:INSERT_TRAILING_COMMAS", "a comma before the closing bracket", _MARKS
    ),
    "remove-trailing-commas": _entry(
        "brackets:REMOVE_TRAILING_COMMAS", "no comma before the closing bracket", _MARKS
    ),
    "spacing": _entry("spacing:SPACING", "blanks around operators and behind commas", _MEDIAN),
    "literal-changed": _control(
        "literals:LITERAL_CHANGED", "control: a returned or compared number changes", _MEDIAN
    ),
    "string-changed": _control(
        "literals:STRING_CHANGED", "control: a returned or compared string changes", _MARKS
    ),
    "indentation-changed": _control(
        "indentation:INDENTATION_CHANGED", "control: a statement moves out of its block or into it", _MARKS
    ),
}

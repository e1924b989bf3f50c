"""Comments, lines, blanks, parentheses and literals of Java: what a text looks like."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_MEDIAN: Final = """\
static double median(double[] values, String name) {
    // The middle of a sorted copy.
    double[] sorted = values.clone();
    java.util.Arrays.sort(sorted);

    int size = (sorted.length);
    char mark = '-';
    if (size > 0x7f) {
        throw new IllegalArgumentException("too " + "many: " + name + mark);
    }
    int middle = Math.min(
        size / 2,
        size - 1);
    return size % 2 == 1 ? sorted[middle] : sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) * 0.5;
}
"""

_MARK: Final = """\
static String mark(int points) {
    if (points > 10) {
        return "good";
    }
    return "poor";
}
"""


def _entry(target: str, summary: str, twin: str | None = None) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.layout.{target}",
        summary,
        family="layout",
        language="java",
        example=_MEDIAN,
        twin=twin,
    )


def _control(target: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.layout.{target}",
        f"control: {summary}",
        family="layout",
        language="java",
        kind="control",
        example=_MARK,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "insert-comments": _entry("comments:INSERT_COMMENTS", "comments that say nothing of the code"),
    "remove-comments": _entry("comments:REMOVE_COMMENTS", "comments go, except those for tools"),
    "insert-blank-lines": _entry("lines:INSERT_BLANK_LINES", "blank lines between statements"),
    "remove-blank-lines": _entry("lines:REMOVE_BLANK_LINES", "blank lines go"),
    "join-lines": _entry("lines:JOIN_LINES", "lines inside brackets are joined"),
    "split-lines": _entry("lines:SPLIT_LINES", "lines inside brackets are broken behind commas"),
    "indentation": _entry("lines:INDENTATION", "blocks indented by 2, 3, 4 or 8 blanks or a tab"),
    "brace-lines": _entry("lines:BRACE_LINES", "an opening brace on a line of its own, or behind its head"),
    "spacing": _entry("lines:SPACING", "blanks around operators"),
    "split-strings": _entry(
        "literals:SPLIT_STRINGS", "one string written as a constant sum of two", "string-changed"
    ),
    "join-strings": _entry("literals:JOIN_STRINGS", "strings in a row written as one", "string-changed"),
    "literal-bases": _entry(
        "literals:LITERAL_BASES",
        "numbers in another base, with grouped digits or another suffix",
        "literal-changed",
    ),
    "character-escapes": _entry("literals:CHARACTER_ESCAPES", "a character by its number", "string-changed"),
    "insert-parentheses": _entry("brackets:INSERT_PARENTHESES", "parentheses that change nothing"),
    "remove-parentheses": _entry("brackets:REMOVE_PARENTHESES", "parentheses that change nothing go"),
    "literal-changed": _control("literals:LITERAL_CHANGED", "a number is one larger"),
    "string-changed": _control("literals:STRING_CHANGED", "a string is longer"),
}

"""Transforms of Java that change comments, lines, blanks, parentheses and the spelling of literals."""

from typing import Final

from codeaudit.transforms.java.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, changes, keeps

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


FAMILY: Final = TransformFamily.of(
    __package__,
    "layout",
    "Comments, lines, blanks, parentheses and literals of Java: what a text looks like.",
    keeps("rules:INSERT_COMMENTS", "comments that say nothing of the code", _MEDIAN),
    keeps(
        "rules:REMOVE_COMMENTS", "comments go, except those for tools", _MEDIAN, undoes=("insert-comments",)
    ),
    keeps("rules:INSERT_BLANK_LINES", "blank lines between statements", _MEDIAN),
    keeps("rules:REMOVE_BLANK_LINES", "blank lines go", _MEDIAN, undoes=("insert-blank-lines",)),
    keeps("rules:JOIN_LINES", "lines inside brackets are joined", _MEDIAN, undoes=("split-lines",)),
    keeps("rules:SPLIT_LINES", "lines inside brackets are broken behind commas", _MEDIAN),
    keeps("rules:INDENTATION", "blocks indented by 2, 3, 4 or 8 blanks or a tab", _MEDIAN),
    keeps("rules:BRACE_LINES", "an opening brace on a line of its own, or behind its head", _MEDIAN),
    keeps("rules:SPACING", "blanks around operators", _MEDIAN),
    keeps("rules:SPLIT_STRINGS", "one string written as a constant sum of two", _MEDIAN, "string-changed"),
    keeps(
        "rules:JOIN_STRINGS",
        "strings in a row written as one",
        _MEDIAN,
        "string-changed",
        undoes=("split-strings",),
    ),
    keeps(
        "rules:LITERAL_BASES",
        "numbers in another base, with grouped digits or another suffix",
        _MEDIAN,
        "literal-changed",
    ),
    keeps("rules:CHARACTER_ESCAPES", "a character by its number", _MEDIAN, "string-changed"),
    keeps("rules:INSERT_PARENTHESES", "parentheses that change nothing", _MEDIAN),
    keeps(
        "rules:REMOVE_PARENTHESES",
        "parentheses that change nothing go",
        _MEDIAN,
        undoes=("insert-parentheses",),
    ),
    changes("rules:LITERAL_CHANGED", "a number is one larger", _MARK),
    changes("rules:STRING_CHANGED", "a string is longer", _MARK),
    rests_on=LAYOUT,
)

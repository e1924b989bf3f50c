"""Transforms of JavaScript that change comments, lines and blanks."""

from typing import Final

from codeaudit.transforms.javascript.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, keeps

_MIDDLE: Final = """\
function middle(values, name) {
    // A sorted copy.
    const sorted = values.slice();
    sorted.sort();

    const text = `
    no line of code
    `;
    if (!sorted.length) {
        return name + text;
    }
    return between(
        sorted[sorted.length >> 1], 1 + 2
    );
}
"""

FAMILY: Final = TransformFamily.of(
    __package__,
    "layout",
    "Comments, lines and blanks of JavaScript: what a text looks like.",
    keeps("rules:INSERT_COMMENTS", "comments that say nothing of the code", _MIDDLE),
    keeps(
        "rules:REMOVE_COMMENTS", "comments go, except those for tools", _MIDDLE, undoes=("insert-comments",)
    ),
    keeps("rules:INSERT_BLANK_LINES", "blank lines between statements", _MIDDLE),
    keeps("rules:REMOVE_BLANK_LINES", "blank lines go", _MIDDLE, undoes=("insert-blank-lines",)),
    keeps("rules:INDENTATION", "blocks indented by 2, 3, 4 or 8 blanks or a tab", _MIDDLE),
    keeps("rules:SPLIT_LINES", "lists over several lines", _MIDDLE),
    keeps("rules:JOIN_LINES", "lists on one line", _MIDDLE, undoes=("split-lines",)),
    keeps("rules:BRACE_LINES", "opening braces on lines of their own, or behind their head", _MIDDLE),
    keeps("rules:SPACING", "blanks around operators come or go", _MIDDLE),
    keeps("rules:INSERT_PARENTHESES", "parentheses around operations", _MIDDLE),
    rests_on=LAYOUT,
)

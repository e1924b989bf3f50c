"""Transforms that reorder the statements of functions."""

from typing import Final

from codeaudit.transforms.javascript.ledger import EFFECTS
from codeaudit.transforms.language import TransformFamily, changes, keeps

_SPREAD: Final = """\
function spread(first, last) {
    let low = 0;
    const seen = [];
    const key = typeof first;
    let text = "from ";
    text += key;
    seen[0] = first;
    return { low, text, seen, last };
}
"""

_AREA: Final = """\
function area(width) {
    let side = 3;
    side = side + 2;
    let whole = side * side;
    return whole + width;
}
"""

FAMILY: Final = TransformFamily.of(
    __name__,
    "order",
    "Statements of JavaScript functions in another order.",
    keeps(
        "reorder:REORDER",
        "statements in another legal order (a linear extension of their dependences)",
        _SPREAD,
        "reorder-breaking",
        related=True,
    ),
    changes("reorder:REORDER_BREAKING", "one dependence is reversed", _AREA),
    rests_on=EFFECTS,
)

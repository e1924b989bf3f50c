"""Transforms that reorder the statements of C functions."""

from typing import Final

from codeaudit.transforms.c.identifiers import CLAMP
from codeaudit.transforms.c.ledger import EFFECTS
from codeaudit.transforms.language import TransformFamily, changes, keeps

_AREA: Final = """\
int area(int width, int depth) {
    int side = width;
    side = side + 2;
    width = side * width;
    return side * width + depth;
}
"""

FAMILY: Final = TransformFamily.of(
    __name__,
    "order",
    "Statements of C functions in another order.",
    keeps("reorder:REORDER", "statements in another legal order (a linear extension of their dependences)",
        CLAMP, "reorder-breaking", related=True),
    changes("reorder:REORDER_BREAKING", "one dependence is reversed", _AREA),
    rests_on=EFFECTS,
)  # fmt: skip

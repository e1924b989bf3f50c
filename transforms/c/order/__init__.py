"""Transforms that reorder the statements of C functions."""

from typing import Final

from codeaudit.transforms.c.ledger import EFFECTS
from codeaudit.transforms.language import TransformFamily, changes, keeps

_SPREAD: Final = """\
int spread(const int *values, int count)
{
    int low = 255;
    int high = 0;
    for (int i = 0; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return high - low;
}
"""

_AREA: Final = """\
int area(int width, int depth)
{
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
        _SPREAD, "reorder-breaking", related=True),
    changes("reorder:REORDER_BREAKING", "one dependence is reversed", _AREA),
    rests_on=EFFECTS,
)  # fmt: skip

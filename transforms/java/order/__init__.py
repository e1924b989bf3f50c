"""Transforms that reorder the statements of Java methods and the members of classes."""

from typing import Final

from codeaudit.transforms.java.ledger import EFFECTS, LAYOUT
from codeaudit.transforms.language import TransformFamily, changes, keeps

_SPREAD: Final = """\
int spread(int[] values) {
    int low = Integer.MAX_VALUE;
    int high = Integer.MIN_VALUE;
    for (int value : values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    return high - low;
}
"""

_AREA: Final = """\
int area(int width) {
    int side = width;
    side = side + 2;
    width = side * width;
    return side * width;
}
"""

_LIMITS: Final = """\
class Limits {
    static final int LOW = -3;
    /** The most. */
    static final int HIGH = 9;
    static final String NAME = "limits";

    // Both ends count.
    static boolean within(int value) {
        return LOW <= value && value <= HIGH;
    }

    static String told(int value) {
        return NAME + ": " + within(value);
    }
}
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "order",
    "Statements of Java methods, and members of classes, in another order.",
    keeps(
        "reorder:REORDER",
        "statements in another legal order (a linear extension of their dependences)",
        _SPREAD,
        "reorder-breaking",
        related=True,
    ),
    keeps(
        "members:REORDER_METHODS",
        "methods, constructors and nested types of a class in another order",
        _LIMITS,
        rests_on=(*LAYOUT, "types-meant", "initialisation-unseen", "members-unlisted"),
    ),
    keeps(
        "members:REORDER_CONSTANTS",
        "constants with literals that stand side by side in another order",
        _LIMITS,
        rests_on=(*LAYOUT, "types-meant", "members-unlisted"),
    ),
    changes("reorder:REORDER_BREAKING", "one dependence is reversed", _AREA),
    rests_on=EFFECTS,
)

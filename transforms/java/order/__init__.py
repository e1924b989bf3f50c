"""Statements of Java methods, and members of classes, in another order."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

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

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "reorder": TransformEntry(
        "codeaudit.transforms.java.order.reorder:REORDER",
        "statements in another legal order (a linear extension of their dependences)",
        family="order",
        language="java",
        example=_SPREAD,
        twin="reorder-breaking",
    ),
    "reorder-methods": TransformEntry(
        "codeaudit.transforms.java.order.members:REORDER_METHODS",
        "methods, constructors and nested types of a class in another order",
        family="order",
        language="java",
        example=_LIMITS,
    ),
    "reorder-constants": TransformEntry(
        "codeaudit.transforms.java.order.members:REORDER_CONSTANTS",
        "constants with literals that stand side by side in another order",
        family="order",
        language="java",
        example=_LIMITS,
    ),
    "reorder-breaking": TransformEntry(
        "codeaudit.transforms.java.order.breaking:REORDER_BREAKING",
        "control: one dependence is reversed",
        family="order",
        kind="control",
        language="java",
        example=_AREA,
    ),
}

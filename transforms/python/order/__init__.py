"""Statements and definitions in another order."""

from collections.abc import Mapping
from typing import Final

from transforms.entries import TransformEntry

_MEAN: Final = """\
def mean(values):
    total = 0
    count = 0
    for value in values:
        total += value
        count += 1
    return total / count
"""

_AREA: Final = """\
def area(width):
    side = width
    side = side * 2
    return side
"""

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "reorder": TransformEntry(
        "transforms.python.order.reorder:REORDER",
        "statements in another legal order (a linear extension of their dependences)",
        family="order",
        example=_MEAN,
        twin="reorder-breaking",
    ),
    "reorder-breaking": TransformEntry(
        "transforms.python.order.breaking:REORDER_BREAKING",
        "control: one true dependence is reversed",
        family="order",
        kind="control",
        example=_AREA,
    ),
}

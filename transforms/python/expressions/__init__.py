"""Expressions written another way."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_AREA: Final = """\
def area(width, height):
    total = 0
    for row in range(3):
        total += 2 * row
        if total - row > 0:
            return row
    return total
"""

_WITHIN: Final = """\
def within(low, value, high, items):
    if low < value < high and not (value in items or value is None):
        return True
    return False
"""

_KNOWN: Final = """\
def known(items):
    if not items:
        return False
    while items and items[-1] is None:
        items.pop()
    return items[0] in ("a", "b") and items[-1] is not None
"""


def _entry(target: str, summary: str, example: str, twin: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.expressions.{target}",
        summary,
        family="expressions",
        example=example,
        twin=twin,
    )


def _control(target: str, summary: str, example: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.expressions.{target}",
        f"control: {summary}",
        family="expressions",
        kind="control",
        example=example,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "swap-operands": _entry(
        "operands:SWAP_OPERANDS",
        "operands of + * & | ^ == != in the other order, where they are known to commute",
        _AREA,
        "operands-swapped-wrong",
    ),
    "flip-comparisons": _entry(
        "operands:FLIP_COMPARISONS", "a < b as b > a", _AREA, "comparison-flipped-wrong"
    ),
    "de-morgan": _entry("logic:DE_MORGAN", "not (a and b) as not a or not b", _WITHIN, "de-morgan-wrong"),
    "double-negation": _entry(
        "logic:DOUBLE_NEGATION", "a condition as not not of it", _KNOWN, "negation-dropped"
    ),
    "negate-comparisons": _entry(
        "logic:NEGATE_COMPARISONS", "a in b as not a not in b", _KNOWN, "negation-dropped"
    ),
    "expand-augmented": _entry("augmented:EXPAND_AUGMENTED", "a += b as a = a + b", _AREA, "augmented-wrong"),
    "contract-augmented": _entry(
        "augmented:CONTRACT_AUGMENTED",
        "a = a + b as a += b",
        _AREA.replace("total += 2 * row", "total = total + 2 * row"),
        "augmented-wrong",
    ),
    "split-comparisons": _entry(
        "chains:SPLIT_COMPARISONS", "a < b < c as a < b and b < c", _WITHIN, "de-morgan-wrong"
    ),
    "merge-comparisons": _entry(
        "chains:MERGE_COMPARISONS",
        "a < b and b < c as a < b < c",
        _WITHIN.replace("low < value < high", "low < value and value < high"),
        "comparison-flipped-wrong",
    ),
    "bool-literals": _entry(
        "literals:BOOL_LITERALS", "True as not False or (1 == 1)", _KNOWN, "bool-literals-wrong"
    ),
    "identity-arithmetic": _entry(
        "literals:IDENTITY_ARITHMETIC", "an int as itself + 0", _AREA, "identity-arithmetic-wrong"
    ),
    "membership-displays": _entry(
        "literals:MEMBERSHIP_DISPLAYS", "x in (1, 2) as x in [1, 2]", _KNOWN, "negation-dropped"
    ),
    "comparison-flipped-wrong": _control(
        "operands:COMPARISON_FLIPPED_WRONG", "one comparison gets another sign", _AREA
    ),
    "operands-swapped-wrong": _control("operands:OPERANDS_SWAPPED_WRONG", "a - b becomes b - a", _AREA),
    "de-morgan-wrong": _control("logic:DE_MORGAN_WRONG", "one and becomes or, or one or and", _WITHIN),
    "negation-dropped": _control("logic:NEGATION_DROPPED", "one not is dropped", _KNOWN),
    "augmented-wrong": _control("augmented:AUGMENTED_WRONG", "one += becomes -=", _AREA),
    "bool-literals-wrong": _control(
        "literals:BOOL_LITERALS_WRONG", "one True becomes False, or one False True", _KNOWN
    ),
    "identity-arithmetic-wrong": _control(
        "literals:IDENTITY_ARITHMETIC_WRONG", "1 is added to one operand", _AREA
    ),
}

"""The family `expressions`: operators, conditions and constants in another form, and its controls."""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import VALUES

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


FAMILY: Final = TransformFamily.of(
    __name__,
    "expressions",
    "Expressions written another way.",
    keeps(
        "operators:SWAP_OPERANDS",
        "operands of + * & | ^ == != in the other order, where they are known to commute",
        _AREA,
        "operands-swapped-wrong",
        rests_on=(*VALUES, "identity-unread"),
    ),
    keeps(
        "operators:FLIP_COMPARISONS",
        "a < b as b > a",
        _AREA,
        "comparison-flipped-wrong",
        undoes=("swap-operands",),
    ),
    keeps(
        "logic:DE_MORGAN",
        "not (a and b) as not a or not b",
        _WITHIN,
        "de-morgan-wrong",
        undoes=("double-negation",),
    ),
    keeps("logic:DOUBLE_NEGATION", "a condition as not not of it", _KNOWN, "negation-dropped"),
    keeps("logic:NEGATE_COMPARISONS", "a in b as not a not in b", _KNOWN, "negation-dropped"),
    keeps("operators:EXPAND_AUGMENTED", "a += b as a = a + b", _AREA, "augmented-wrong"),
    keeps(
        "operators:CONTRACT_AUGMENTED",
        "a = a + b as a += b",
        _AREA.replace("total += 2 * row", "total = total + 2 * row"),
        "augmented-wrong",
    ),
    keeps("logic:SPLIT_COMPARISONS", "a < b < c as a < b and b < c", _WITHIN, "de-morgan-wrong"),
    keeps(
        "logic:MERGE_COMPARISONS",
        "a < b and b < c as a < b < c",
        _WITHIN.replace("low < value < high", "low < value and value < high"),
        "comparison-flipped-wrong",
        undoes=("split-comparisons",),
    ),
    keeps("literals:BOOL_LITERALS", "True as not False or (1 == 1)", _KNOWN, "bool-literals-wrong"),
    keeps(
        "literals:IDENTITY_ARITHMETIC",
        "an int as itself + 0",
        _AREA,
        "identity-arithmetic-wrong",
        rests_on=(*VALUES, "identity-unread"),
    ),
    keeps("literals:MEMBERSHIP_DISPLAYS", "x in (1, 2) as x in [1, 2]", _KNOWN, "negation-dropped"),
    changes("operators:COMPARISON_FLIPPED_WRONG", "one comparison gets another sign", _AREA),
    changes("operators:OPERANDS_SWAPPED_WRONG", "a - b becomes b - a", _AREA),
    changes("logic:DE_MORGAN_WRONG", "one and becomes or, or one or and", _WITHIN),
    changes("logic:NEGATION_DROPPED", "one not is dropped", _KNOWN),
    changes("operators:AUGMENTED_WRONG", "one += becomes -=", _AREA),
    changes("literals:BOOL_LITERALS_WRONG", "one True becomes False, or one False True", _KNOWN),
    changes("literals:IDENTITY_ARITHMETIC_WRONG", "1 is added to one operand", _AREA),
    rests_on=VALUES,
)

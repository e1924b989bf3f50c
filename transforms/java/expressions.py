"""Transforms of Java that rewrite operators, conditions and literals."""

from typing import Final

from codeaudit.transforms.java.ledger import VALUES
from codeaudit.transforms.language import TransformFamily, changes, keeps

_AREA: Final = """\
static int area(int width, int height, int rows) {
    int total = 0;
    for (int row = 0; row < rows; row++) {
        if (width - height == row) {
            continue;
        }
        total += width * height;
        total = total + row;
        width -= 1;
    }
    return Math.max(total, width * 3);
}
"""

_WITHIN: Final = """\
static boolean within(int low, int value, int high, boolean open) {
    boolean outside = value < low || value > high;
    if (!(open && outside) && value != 0) {
        return true;
    }
    return !outside;
}
"""

_POWER: Final = """\
static double power(double base, double exponent) {
    return Math.pow(base, exponent);
}
"""

_SCALED: Final = """\
static int scaled(int value, int factor) {
    java.util.function.IntUnaryOperator scale = new java.util.function.IntUnaryOperator() {
        @Override
        public int applyAsInt(int number) {
            return number * factor;
        }
    };
    java.util.function.IntBinaryOperator joined = (one, other) -> one - other;
    return joined.applyAsInt(scale.applyAsInt(value), 2);
}
"""


FAMILY: Final = TransformFamily.of(
    __package__,
    "expressions",
    "Operators, conditions and numbers of Java written otherwise.",
    keeps(
        "rules:SWAP_OPERANDS",
        "operands of + * & | ^ == != in the other order, where they are known to commute",
        _AREA,
        "operands-swapped-wrong",
        rests_on=(*VALUES, "identity-unread"),
    ),
    keeps(
        "rules:FLIP_COMPARISONS",
        "a < b as b > a",
        _AREA,
        "comparison-flipped-wrong",
        undoes=("swap-operands",),
    ),
    keeps(
        "rules:DE_MORGAN",
        "!(a && b) as !a || !b",
        _WITHIN,
        "de-morgan-wrong",
        undoes=("double-negation", "negate-comparisons"),
    ),
    keeps("rules:DOUBLE_NEGATION", "a condition as !! of it", _WITHIN, "negation-dropped"),
    keeps("rules:NEGATE_COMPARISONS", "a == b as !(a != b)", _WITHIN, "comparison-flipped-wrong"),
    keeps("rules:EXPAND_AUGMENTED", "a += b as a = a + b, where it casts nothing", _AREA, "augmented-wrong"),
    keeps(
        "rules:CONTRACT_AUGMENTED",
        "a = a + b as a += b",
        _AREA,
        "augmented-wrong",
        undoes=("expand-augmented",),
    ),
    keeps("rules:EXPAND_INCREMENTS", "i++ as ++i, i += 1 or i = i + 1", _AREA, "update-dropped"),
    keeps(
        "rules:CONTRACT_INCREMENTS",
        "i += 1 as i++ or ++i",
        _AREA,
        "augmented-wrong",
        undoes=("expand-increments",),
    ),
    keeps("rules:BOOL_LITERALS", "true as !false or (1 == 1)", _WITHIN, "bool-literals-wrong"),
    keeps("rules:IDENTITY_ARITHMETIC", "an int or long as itself + 0", _AREA, "identity-arithmetic-wrong"),
    keeps(
        "functional:ANONYMOUS_TO_LAMBDA",
        "an anonymous class of one method as a lambda (nobody asks for its class or identity)",
        _SCALED,
        rests_on=(*VALUES, "identity-unread", "debug-names-unread"),
    ),
    keeps(
        "functional:LAMBDA_TO_ANONYMOUS",
        "a lambda as an anonymous class, where the text shows its type",
        _SCALED,
        undoes=("anonymous-to-lambda",),
        rests_on=(*VALUES, "identity-unread", "debug-names-unread"),
    ),
    changes("rules:OPERANDS_SWAPPED_WRONG", "a - b becomes b - a", _AREA),
    changes("rules:COMPARISON_FLIPPED_WRONG", "one comparison gets another sign", _AREA),
    changes("rules:DE_MORGAN_WRONG", "one && becomes ||, or one || &&", _WITHIN),
    changes("rules:NEGATION_DROPPED", "one ! is dropped", _WITHIN),
    changes("rules:AUGMENTED_WRONG", "one += becomes -=, or the like", _AREA),
    changes("rules:UPDATE_DROPPED", "one += or ++ is dropped", _AREA),
    changes("rules:BOOL_LITERALS_WRONG", "one true becomes false, or one false true", _WITHIN),
    changes("rules:IDENTITY_ARITHMETIC_WRONG", "1 is added to one operand", _AREA),
    changes("rules:ARGUMENTS_SWAPPED", "two arguments of one type are exchanged", _POWER),
    rests_on=VALUES,
)

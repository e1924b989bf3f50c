"""The families of Java's rewritings that follow a strategy, each with programs that it rewrites."""

from typing import Final

from codeaudit.transforms.java.ledger import LAYOUT, VALUES
from codeaudit.transforms.language import TransformFamily, changes, keeps, layouts, loops

_GRADE: Final = """\
static String grade(int points, int limit) {
    String result;
    // Too few.
    if (points < limit && limit > 0) {
        return "poor";
    }
    if (points == limit) {
        result = "fair";
    } else if (points > 10) {
        result = "best";
    } else {
        result = "good";
    }
    return result;
}
"""

_SIGN: Final = """\
static String sign(int value) {
    int result = 5;
    if (value < 0) {
        return "minus";
    } else {
        if (value > 0) {
            result = 1;
        } else {
            result = 0;
        }
    }
    String label = result == 0 ? "zero" : "other";
    return label + result;
}
"""

_SUM: Final = """\
static int sum(int[] items, int limit) {
    int total = 0;
    for (int i = 0; i < items.length; i++) {
        if (items[i] > limit)
            continue;
        total += items[i];
    }
    for (int item : items) {
        total += item;
    }
    while (total > 100) {
        total -= limit > 0 ? limit : 7;
    }
    do {
        total++;
    } while (total < 3);
    return total;
}
"""

_WITHIN: Final = """\
static boolean within(int low, int value, int high) {
    if (low <= value) {
        if (value <= high) {
            return true;
        }
    }
    return false;
}
"""

_DAYS: Final = """\
static int days(int month) {
    int found = 0;
    switch (month) {
        case 2:
            found = 28;
            break;
        case 4: case 6: case 9: case 11:
            found = 30;
            break;
        default:
            found = 31;
    }
    if (found < 30) {
        found = -found;
    } else {
        found += month;
    }
    return found;
}
"""

_ENDING: Final = """\
static String ending(int number) {
    String found = "th";
    if (number == 1) {
        found = "st";
    } else if (number == 2 || number == 7) {
        return "second or seventh";
    } else {
        found += number;
    }
    return found;
}
"""


CONTROL_FLOW: Final = TransformFamily.of(
    __package__,
    "control-flow",
    "Branches, conditions and loops of Java in another form.",
    keeps(
        "rules:INVERT_IF",
        "if (c) a else b as if (!c) b else a",
        _GRADE,
        "if-inverted-wrong",
        undoes=("nest-elif", "flatten-elif"),
    ),
    keeps("rules:NEST_ELIF", "else if as else { if }", _GRADE, "branch-dropped"),
    keeps("rules:FLATTEN_ELIF", "else { if } as else if", _SIGN, "branch-dropped"),
    keeps(
        "rules:RETURN_TO_ELSE",
        "what follows a branch that leaves goes into an else",
        _GRADE,
        "branch-dropped",
    ),
    keeps(
        "rules:ELSE_TO_RETURN",
        "no else behind a branch that leaves",
        _SIGN,
        "branch-dropped",
        undoes=("flatten-elif",),
    ),
    keeps("rules:INSERT_BRACES", "braces around a lone statement", _SUM, "loop-left-early"),
    keeps(
        "rules:REMOVE_BRACES",
        "no braces around a lone statement",
        _DAYS,
        "if-inverted-wrong",
        undoes=(
            "nest-elif",
            "flatten-elif",
        ),
    ),
    keeps("rules:TERNARY_TO_IF", "x = c ? a : b as if and else", _SIGN, "if-inverted-wrong"),
    keeps("rules:IF_TO_TERNARY", "if and else as x = c ? a : b", _SIGN, "if-inverted-wrong"),
    keeps("rules:SPLIT_CONDITIONS", "if (a && b) as if (a) { if (b) }", _GRADE, "condition-dropped"),
    keeps("rules:MERGE_CONDITIONS", "if (a) { if (b) } as if (a && b)", _WITHIN, "if-inverted-wrong"),
    *loops(_SUM, "while (true)"),
    keeps(
        "arrays:FOR_EACH_TO_FOR",
        "for over an array by index, as the language defines it",
        _SUM,
        "loop-left-early",
    ),
    keeps(
        "rules:SWITCH_TO_IF",
        "switch over a number or string without fall-through as ifs",
        _DAYS,
        "if-inverted-wrong",
    ),
    keeps("rules:IF_TO_SWITCH", "x == 1, else x == 2, … as switch", _ENDING, "branch-dropped"),
    changes("rules:IF_INVERTED_WRONG", "one condition is negated, its branches stay", _SIGN),
    changes("rules:BRANCH_DROPPED", "one else is dropped", _DAYS),
    changes("rules:CONDITION_DROPPED", "of one && only one operand stays", _GRADE),
    changes("rules:FOR_OFF_BY_ONE", "one for takes a turn more or less", _SUM),
    changes("rules:LOOP_LEFT_EARLY", "one loop is left after one turn", _SUM),
    rests_on=VALUES,
)


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

_OUTSIDE: Final = """\
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


EXPRESSIONS: Final = TransformFamily.of(
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
        _OUTSIDE,
        "de-morgan-wrong",
        undoes=("double-negation", "negate-comparisons"),
    ),
    keeps("rules:DOUBLE_NEGATION", "a condition as !! of it", _OUTSIDE, "negation-dropped"),
    keeps("rules:NEGATE_COMPARISONS", "a == b as !(a != b)", _OUTSIDE, "comparison-flipped-wrong"),
    keeps("rules:EXPAND_AUGMENTED", "a += b as a = a + b, where it casts nothing", _AREA, "augmented-wrong"),
    keeps("rules:CONTRACT_AUGMENTED", "a = a + b as a += b", _AREA, "augmented-wrong"),
    keeps("rules:EXPAND_INCREMENTS", "i++ as ++i, i += 1 or i = i + 1", _AREA, "update-dropped"),
    keeps("rules:CONTRACT_INCREMENTS", "i += 1 as i++ or ++i", _AREA, "augmented-wrong"),
    keeps("rules:BOOL_LITERALS", "true as !false or (1 == 1)", _OUTSIDE, "bool-literals-wrong"),
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
    changes("rules:DE_MORGAN_WRONG", "one && becomes ||, or one || &&", _OUTSIDE),
    changes("rules:NEGATION_DROPPED", "one ! is dropped", _OUTSIDE),
    changes("rules:AUGMENTED_WRONG", "one += becomes -=, or the like", _AREA),
    changes("rules:UPDATE_DROPPED", "one += or ++ is dropped", _AREA),
    changes("rules:BOOL_LITERALS_WRONG", "one true becomes false, or one false true", _OUTSIDE),
    changes("rules:IDENTITY_ARITHMETIC_WRONG", "1 is added to one operand", _AREA),
    changes("rules:ARGUMENTS_SWAPPED", "two arguments of one type are exchanged", _POWER),
    rests_on=VALUES,
)


_SUMMED: Final = """\
static int scaled(int[] values, int factor) {
    int sum = 0, count = 0;
    int start = 3;
    int last = start;
    final int[] kept = values.clone();
    int limit;
    limit = kept.length;
    var shift = factor * 2;
    for (int value : kept) {
        sum += value * shift;
        count++;
    }
    return count > limit ? last : sum;
}
"""


_OF_DECLARATIONS: Final = (*LAYOUT, "types-meant", "debug-names-unread")
_OF_FINAL: Final = (*_OF_DECLARATIONS, "parameter-names-unread")

DECLARATIONS: Final = TransformFamily.of(
    __package__,
    "declarations",
    "Declarations of Java's local variables: joined, split, with and without `final`, with `var`.",
    keeps("rules:SPLIT_DECLARATIONS", "int a, b; as two declarations", _SUMMED),
    keeps("rules:JOIN_DECLARATIONS", "two declarations of one type as int a, b;", _SUMMED),
    keeps("rules:SPLIT_INITIALISERS", "int a = 1; as int a; a = 1;", _SUMMED),
    keeps("rules:JOIN_INITIALISERS", "int a; a = 1; as int a = 1;", _SUMMED),
    keeps(
        "locals:INSERT_FINAL",
        "final on what is never assigned again and is no constant",
        _SUMMED,
        rests_on=_OF_FINAL,
    ),
    keeps(
        "locals:REMOVE_FINAL",
        "no final on what is no constant",
        _SUMMED,
        undoes=("insert-final",),
        rests_on=_OF_FINAL,
    ),
    keeps("locals:TYPE_TO_VAR", "var for exactly the type of the value (Java 10)", _SUMMED),
    keeps("locals:VAR_TO_TYPE", "the type of the value for var", _SUMMED, undoes=("type-to-var",)),
    rests_on=_OF_DECLARATIONS,
)


_TOTAL: Final = """\
static int total(int[] values, int start) {
    int result = start;
    for (int value : values) {
        result += value;
        if (result > 1000) {
            result = 0;
        }
    }
    return result;
}
"""


DEAD_CODE: Final = TransformFamily.of(
    __package__,
    "dead-code",
    "Statements of Java that never run or that nothing depends on.",
    keeps(
        "rules:UNUSED_LOCALS",
        "a constant goes into a variable that nobody reads",
        _TOTAL,
        "live-assignment",
    ),
    keeps("rules:DEAD_STORES", "something is computed that nobody reads", _TOTAL, "live-assignment"),
    keeps("rules:UNREACHABLE_BRANCHES", "if (false) and the like", _TOTAL, "reachable-branch"),
    keeps("rules:NO_OP_STATEMENTS", "; and { }", _TOTAL, "reachable-branch"),
    keeps("rules:ELSE_PASS", "else { }", _TOTAL, "reachable-branch"),
    keeps(
        "rules:REDUNDANT_JUMPS",
        "continue or return at the end, where control goes anyway",
        _TOTAL,
        "reachable-branch",
    ),
    changes("rules:LIVE_ASSIGNMENT", "a variable is overwritten before it is read", _TOTAL),
    changes("rules:REACHABLE_BRANCH", "if (true) return before something that matters", _TOTAL),
    rests_on=(*VALUES, "debug-names-unread"),
)


_MEDIAN: Final = """\
static double median(double[] values, String name) {
    // The middle of a sorted copy.
    double[] sorted = values.clone();
    java.util.Arrays.sort(sorted);

    int size = (sorted.length);
    char mark = '-';
    if (size > 0x7f) {
        throw new IllegalArgumentException("too " + "many: " + name + mark);
    }
    int middle = Math.min(
        size / 2,
        size - 1);
    return size % 2 == 1 ? sorted[middle] : sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) * 0.5;
}
"""

_MARK: Final = """\
static String mark(int points) {
    if (points > 10) {
        return "good";
    }
    return "poor";
}
"""


LAYOUT_OF_TEXT: Final = TransformFamily.of(
    __package__,
    "layout",
    "Comments, lines, blanks, parentheses and literals of Java: what a text looks like.",
    *layouts(_MEDIAN),
    keeps("rules:SPLIT_STRINGS", "one string written as a constant sum of two", _MEDIAN, "string-changed"),
    keeps("rules:JOIN_STRINGS", "strings in a row written as one", _MEDIAN, "string-changed"),
    keeps(
        "rules:LITERAL_BASES",
        "numbers in another base, with grouped digits or another suffix",
        _MEDIAN,
        "literal-changed",
    ),
    keeps("rules:CHARACTER_ESCAPES", "a character by its number", _MEDIAN, "string-changed"),
    keeps("rules:INSERT_PARENTHESES", "parentheses that change nothing", _MEDIAN),
    keeps("rules:REMOVE_PARENTHESES", "parentheses that change nothing go", _MEDIAN),
    changes("rules:LITERAL_CHANGED", "a number is one larger", _MARK),
    changes("rules:STRING_CHANGED", "a string is longer", _MARK),
    rests_on=LAYOUT,
)

"""The families of C's rewritings, each with a small program that it rewrites."""

from typing import Final

from codeaudit.transforms.c.ledger import CODE, COMPUTED, LAYOUT
from codeaudit.transforms.language import (
    TransformFamily,
    changes,
    conditionals,
    dead_code,
    keeps,
    layouts,
    loops,
)

_GRADE: Final = """\
int grade(int value, int limit) {
    int result = 0;
    if (value > limit && limit != 3) {
        result = 1;
    }
    if (value == limit) result += 2;
    if (value < 0) {
        result -= 1;
    } else if (value == 7 || !limit) {
        result += 4;
    } else {
        if (value > 9) {
            result += 8;
        }
    }
    if (limit) {
        if (value != limit) {
            result += 16;
        }
    }
    if (value == 12) {
        return result;
    } else {
        result += 32;
    }
    return result;
}
"""

_SUM: Final = """\
int sum(int value, int limit) {
    int total = 0;
    for (int i = 0; i < value; i++) {
        if (i == limit) continue;
        total += i;
    }
    while (total > 20 && total != limit) {
        total -= 7;
    }
    do {
        total++;
    } while (total < 3);
    return total;
}
"""

_CHOICE: Final = """\
int choice(int value, int limit) {
    int result;
    switch (value) {
    case 0:
        result = 1;
        break;
    case 3:
    case 4:
        result = limit;
        break;
    default:
        result = 2;
    }
    if (limit == 1) {
        result += 4;
    } else if (limit == 3) {
        result = 8;
    } else {
        result = 16;
    }
    return value < limit ? result : 9;
}
"""

_MIX: Final = """\
int mix(int value, int limit) {
    int left = value;
    int total;
    total = limit;
    int a = 1, b = 2;
    const int *p = &limit;
    const int *q = p + 0;
    left += 3;
    total = total + left;
    total++;
    a += 1;
    if (!(value && limit) || left > total + 40) {
        total ^= 8;
    }
    if (value == 0) {
        total += q[0] + *(p + 0) - limit;
    }
    return left * 3 + total - a + (b & value) + !limit;
}
"""

_MEMBERS: Final = """\
int norm(const struct point *p) {
    return p->x * p->x + (*p).y * (*p).y;
}
"""

_NOTE: Final = """\
int note(int value, int limit) {
    /* The sum. */
    int sum = value + limit;

    if ((value * 2) > 10 || limit == 'a') {
        printf("sum " "of %d\\n",
               sum);
    }
    return sum - 10;
}
"""

CONTROL_FLOW: Final = TransformFamily.of(
    __package__,
    "control-flow",
    "Branches, conditions and loops of C in another form.",
    *conditionals(_GRADE),
    keeps("rules:RETURN_TO_ELSE", "what follows a branch that leaves goes into an `else`", _SUM),
    keeps("rules:ELSE_TO_RETURN", "an `else` behind a branch that leaves goes", _GRADE, "branch-dropped"),
    keeps("rules:TERNARY_TO_IF", "`?:` becomes an `if`", _CHOICE, "if-inverted-wrong"),
    keeps("rules:IF_TO_TERNARY", "an `if` that assigns or returns becomes `?:`", _CHOICE,
        "if-inverted-wrong"),
    keeps("rules:SWITCH_TO_IF", "a `switch` becomes a chain of `if`", _CHOICE, "branch-dropped"),
    keeps("rules:IF_TO_SWITCH", "a chain of `if` becomes a `switch`", _CHOICE, "branch-dropped"),
    *loops(_SUM, "while (1)"),
    changes("rules:IF_INVERTED_WRONG", "a condition is negated, the branches stay", _GRADE),
    changes("rules:BRANCH_DROPPED", "an `else` goes with its branch", _GRADE),
    changes("rules:CONDITION_DROPPED", "one of two conditions goes", _GRADE),
    changes("rules:FOR_OFF_BY_ONE", "a `for` makes a turn more or less", _SUM),
    changes("rules:LOOP_LEFT_EARLY", "a loop ends after its first turn", _SUM),
    rests_on=CODE,
)  # fmt: skip

EXPRESSIONS: Final = TransformFamily.of(
    __package__,
    "expressions",
    "Operators, operands and pointers of C in another form.",
    keeps("rules:DE_MORGAN", "`a && b` becomes `!(!a || !b)`", _MIX, "de-morgan-wrong"),
    keeps("rules:DOUBLE_NEGATION", "`!!` before a condition", _MIX, "negation-dropped"),
    keeps("rules:NEGATE_COMPARISONS", "`a == b` becomes `!(a != b)`", _MIX, "comparison-flipped-wrong"),
    keeps("rules:FLIP_COMPARISONS", "`a < b` becomes `b > a`", _MIX, "comparison-flipped-wrong"),
    keeps("rules:SWAP_OPERANDS", "operands in the other order, where they commute", _MIX,
        "operands-swapped-wrong"),
    keeps("rules:IDENTITY_ARITHMETIC", "0 is added to a number", _MIX, "identity-arithmetic-wrong"),
    keeps("rules:EXPAND_AUGMENTED", "`a += b` becomes `a = a + b`", _MIX, "augmented-wrong"),
    keeps("rules:CONTRACT_AUGMENTED", "`a = a + b` becomes `a += b`", _MIX, "augmented-wrong"),
    keeps("rules:EXPAND_INCREMENTS", "`i++` becomes `++i`, `i += 1` or `i = i + 1`", _MIX, "update-dropped"),
    keeps("rules:CONTRACT_INCREMENTS", "`i += 1` becomes `i++` or `++i`", _MIX, "update-dropped",
        undoes=("expand-augmented", "contract-augmented")),
    keeps("rules:ARROW_TO_STAR", "`p->x` becomes `(*p).x`", _MEMBERS),
    keeps("rules:STAR_TO_ARROW", "`(*p).x` becomes `p->x`", _MEMBERS, undoes=("arrow-to-star",)),
    keeps("rules:INDEX_TO_POINTER", "`p[i]` becomes `*(p + i)`", _MIX),
    keeps("rules:POINTER_TO_INDEX", "`*(p + i)` becomes `p[i]`", _MIX, undoes=("index-to-pointer",)),
    keeps("rules:NOT_TO_ZERO", "`!x` becomes `x == 0`", _MIX, "negation-dropped",
        undoes=("double-negation",)),
    keeps("rules:ZERO_TO_NOT", "`x == 0` becomes `!x`, and `x != 0` a condition `x`", _MIX,
        "negation-dropped", undoes=("not-to-zero", "negate-comparisons")),
    changes("rules:DE_MORGAN_WRONG", "`&&` becomes `||`, or back", _MIX),
    changes("rules:NEGATION_DROPPED", "a `!` goes", _MIX),
    changes("rules:COMPARISON_FLIPPED_WRONG", "a comparison gets another sign", _MIX),
    changes("rules:OPERANDS_SWAPPED_WRONG", "`a - b` becomes `b - a`", _MIX),
    changes("rules:IDENTITY_ARITHMETIC_WRONG", "1 is added to a number", _MIX),
    changes("rules:AUGMENTED_WRONG", "`a += b` becomes `a -= b`, and the like", _MIX),
    changes("rules:UPDATE_DROPPED", "an update goes", _MIX),
    rests_on=CODE,
)  # fmt: skip

DECLARATIONS: Final = TransformFamily.of(
    __package__,
    "declarations",
    "Declarations of C's locals joined and split.",
    keeps("rules:SPLIT_DECLARATIONS", "`int a, b;` becomes two", _MIX),
    keeps("rules:JOIN_DECLARATIONS", "two declarations of one type become one", _MIX),
    keeps("rules:SPLIT_INITIALISERS", "`int a = 1;` becomes `int a; a = 1;`", _MIX),
    keeps("rules:JOIN_INITIALISERS", "`int a; a = 1;` becomes `int a = 1;`", _MIX),
    rests_on=CODE,
)  # fmt: skip

DEAD_CODE: Final = TransformFamily.of(
    __package__,
    "dead-code",
    "Statements of C that never run or that nothing depends on.",
    *dead_code(_SUM, "reachable-branch"),
    rests_on=COMPUTED,
)  # fmt: skip

LAYOUT_OF_TEXT: Final = TransformFamily.of(
    __package__,
    "layout",
    "Comments, lines, blanks, parentheses and literals of C: what a text looks like.",
    *layouts(_NOTE, (*LAYOUT, "later-than-c89")),
    keeps("rules:INSERT_PARENTHESES", "parentheses that change nothing", _NOTE),
    keeps("rules:REMOVE_PARENTHESES", "parentheses that change nothing go", _NOTE),
    keeps("rules:LITERAL_BASES", "numbers in another base", _NOTE, "literal-changed"),
    keeps("rules:CHARACTER_ESCAPES", "characters by their number", _NOTE),
    keeps("rules:SPLIT_STRINGS", "one string as two side by side", _NOTE, "string-changed"),
    keeps("rules:JOIN_STRINGS", "two strings side by side as one", _NOTE, "string-changed"),
    changes("rules:LITERAL_CHANGED", "a number is one larger", _NOTE),
    changes("rules:STRING_CHANGED", "a string is longer", _NOTE),
    rests_on=LAYOUT,
)  # fmt: skip

FAMILIES: Final = (CONTROL_FLOW, EXPRESSIONS, DECLARATIONS, DEAD_CODE, LAYOUT_OF_TEXT)

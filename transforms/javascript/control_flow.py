"""Transforms that write the branches, conditions and loops of JavaScript in another form."""

from typing import Final

from codeaudit.transforms.javascript.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, changes, keeps

_GRADE: Final = """\
function grade(value, limit) {
    let result = 0;
    if (value > limit && limit !== 3) {
        result = 1;
    }
    if (value === limit) result += 2;
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
    return result;
}
"""

_SUM: Final = """\
function sum(value, limit) {
    let total = 0;
    for (let i = 0; i < value; i++) {
        if (i === limit) continue;
        total += i;
    }
    while (total > 20 && total !== limit) {
        total -= 7;
    }
    do {
        total++;
    } while (total < 3);
    return total;
}
"""

_REST: Final = """\
function rest(value, limit) {
    let sign = value < 0 ? -1 : 1;
    if (limit > 5) {
        return limit;
    } else {
        sign += limit;
    }
    if (value > 3) {
        return value;
    }
    if (sign) {
        sign = 2;
    } else {
        sign = 3;
    }
    return sign;
}
"""

FAMILY: Final = TransformFamily.of(
    __package__,
    "control-flow",
    "Branches, conditions and loops of JavaScript in another form.",
    keeps("rules:INVERT_IF", "condition negated, branches exchanged", _GRADE, "if-inverted-wrong"),
    keeps("rules:NEST_ELIF", "`else if` becomes an `if` in an `else`", _GRADE),
    keeps(
        "rules:FLATTEN_ELIF", "an `if` alone in an `else` becomes `else if`", _GRADE, undoes=("nest-elif",)
    ),
    keeps("rules:INSERT_BRACES", "braces around a body of one statement", _GRADE),
    keeps(
        "rules:REMOVE_BRACES", "no braces around a body of one statement", _GRADE, undoes=("insert-braces",)
    ),
    keeps("rules:SPLIT_CONDITIONS", "`if (a && b)` becomes two", _GRADE, "condition-dropped"),
    keeps(
        "rules:MERGE_CONDITIONS",
        "an `if` alone in an `if` becomes `&&`",
        _GRADE,
        "condition-dropped",
        undoes=("split-conditions",),
    ),
    keeps("rules:DE_MORGAN", "`a && b` in a condition becomes `!(!a || !b)`", _GRADE, "de-morgan-wrong"),
    keeps("rules:DOUBLE_NEGATION", "`!!` before a condition", _GRADE, "negation-dropped"),
    keeps("rules:NEGATE_COMPARISONS", "`a === b` becomes `!(a !== b)`", _GRADE, "if-inverted-wrong"),
    keeps("rules:FOR_TO_WHILE", "a `for` becomes a `while`", _SUM, "loop-left-early"),
    keeps(
        "rules:WHILE_TO_FOR", "a `while` becomes a `for`", _SUM, "loop-left-early", undoes=("for-to-while",)
    ),
    keeps(
        "rules:WHILE_TO_WHILE_TRUE", "a `while` becomes `while (true)` with `break`", _SUM, "loop-left-early"
    ),
    keeps("rules:DO_TO_WHILE_TRUE", "a `do` becomes `while (true)` with `break`", _SUM, "loop-left-early"),
    keeps("rules:RETURN_TO_ELSE", "what follows a branch that leaves goes into its `else`", _REST),
    keeps("rules:ELSE_TO_RETURN", "no `else` behind a branch that leaves", _REST, undoes=("return-to-else",)),
    keeps("rules:TERNARY_TO_IF", "`?:` becomes an `if`", _REST, "arms-swapped-wrong"),
    keeps(
        "rules:IF_TO_TERNARY", "an `if` becomes `?:`", _REST, "arms-swapped-wrong", undoes=("ternary-to-if",)
    ),
    changes("rules:IF_INVERTED_WRONG", "a condition is negated, the branches stay", _GRADE),
    changes("rules:CONDITION_DROPPED", "one of two conditions goes", _GRADE),
    changes("rules:DE_MORGAN_WRONG", "`&&` becomes `||`, or back", _GRADE),
    changes("rules:NEGATION_DROPPED", "a `!` goes", _GRADE),
    changes("rules:FOR_OFF_BY_ONE", "a `for` makes a turn more or less", _SUM),
    changes("rules:BRANCH_DROPPED", "an `else` goes", _GRADE),
    changes("rules:LOOP_LEFT_EARLY", "a loop ends after its first turn", _SUM),
    rests_on=LAYOUT,
)

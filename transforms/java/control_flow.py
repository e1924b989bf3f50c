"""Transforms of Java that rewrite branches, conditions, switches and loops."""

from typing import Final

from codeaudit.transforms.java.ledger import VALUES
from codeaudit.transforms.language import TransformFamily, changes, keeps

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


FAMILY: Final = TransformFamily.of(
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
    keeps("rules:FLATTEN_ELIF", "else { if } as else if", _SIGN, "branch-dropped", undoes=("nest-elif",)),
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
        undoes=("return-to-else", "flatten-elif"),
    ),
    keeps("rules:INSERT_BRACES", "braces around a lone statement", _SUM, "loop-left-early"),
    keeps(
        "rules:REMOVE_BRACES",
        "no braces around a lone statement",
        _DAYS,
        "if-inverted-wrong",
        undoes=("insert-braces", "nest-elif", "flatten-elif"),
    ),
    keeps("rules:TERNARY_TO_IF", "x = c ? a : b as if and else", _SIGN, "if-inverted-wrong"),
    keeps(
        "rules:IF_TO_TERNARY",
        "if and else as x = c ? a : b",
        _SIGN,
        "if-inverted-wrong",
        undoes=("ternary-to-if",),
    ),
    keeps("rules:SPLIT_CONDITIONS", "if (a && b) as if (a) { if (b) }", _GRADE, "condition-dropped"),
    keeps(
        "rules:MERGE_CONDITIONS",
        "if (a) { if (b) } as if (a && b)",
        _WITHIN,
        "if-inverted-wrong",
        undoes=("split-conditions",),
    ),
    keeps(
        "rules:FOR_TO_WHILE",
        "for as while in a block, with the update at each way back",
        _SUM,
        "for-off-by-one",
        undoes=("while-to-for",),
    ),
    keeps("rules:WHILE_TO_FOR", "while (c) as for (; c; )", _SUM, "loop-left-early"),
    keeps("rules:WHILE_TO_WHILE_TRUE", "while (c) as while (true) with a break", _SUM, "loop-left-early"),
    keeps("rules:DO_TO_WHILE_TRUE", "do as while (true) with a break at its end", _SUM, "loop-left-early"),
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
    keeps(
        "rules:IF_TO_SWITCH",
        "x == 1, else x == 2, … as switch",
        _ENDING,
        "branch-dropped",
        undoes=("switch-to-if",),
    ),
    changes("rules:IF_INVERTED_WRONG", "one condition is negated, its branches stay", _SIGN),
    changes("rules:BRANCH_DROPPED", "one else is dropped", _DAYS),
    changes("rules:CONDITION_DROPPED", "of one && only one operand stays", _GRADE),
    changes("rules:FOR_OFF_BY_ONE", "one for takes a turn more or less", _SUM),
    changes("rules:LOOP_LEFT_EARLY", "one loop is left after one turn", _SUM),
    rests_on=VALUES,
)

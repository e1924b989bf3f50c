"""The families of JavaScript's rewritings, each with programs that it rewrites."""

from typing import Final

from codeaudit.transforms.javascript.ledger import LAYOUT
from codeaudit.transforms.language import (
    TransformFamily,
    changes,
    conditionals,
    dead_code,
    keeps,
    layouts,
    loops,
)
from codeaudit.transforms.prose import EVERY, SUMMARY, rephrases

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

CONTROL_FLOW: Final = TransformFamily.of(
    __package__,
    "control-flow",
    "Branches, conditions and loops of JavaScript in another form.",
    *conditionals(_GRADE),
    keeps("rules:DE_MORGAN", "`a && b` in a condition becomes `!(!a || !b)`", _GRADE, "de-morgan-wrong"),
    keeps("rules:DOUBLE_NEGATION", "`!!` before a condition", _GRADE, "negation-dropped"),
    keeps("rules:NEGATE_COMPARISONS", "`a === b` becomes `!(a !== b)`", _GRADE, "if-inverted-wrong"),
    *loops(_SUM, "while (true)", "loop-left-early"),
    keeps("rules:RETURN_TO_ELSE", "what follows a branch that leaves goes into its `else`", _REST),
    keeps("rules:ELSE_TO_RETURN", "no `else` behind a branch that leaves", _REST),
    keeps("rules:TERNARY_TO_IF", "`?:` becomes an `if`", _REST, "arms-swapped-wrong"),
    keeps("rules:IF_TO_TERNARY", "an `if` becomes `?:`", _REST, "arms-swapped-wrong"),
    changes("rules:IF_INVERTED_WRONG", "a condition is negated, the branches stay", _GRADE),
    changes("rules:CONDITION_DROPPED", "one of two conditions goes", _GRADE),
    changes("rules:DE_MORGAN_WRONG", "`&&` becomes `||`, or back", _GRADE),
    changes("rules:NEGATION_DROPPED", "a `!` goes", _GRADE),
    changes("rules:FOR_OFF_BY_ONE", "a `for` makes a turn more or less", _SUM),
    changes("rules:BRANCH_DROPPED", "an `else` goes", _GRADE),
    changes("rules:LOOP_LEFT_EARLY", "a loop ends after its first turn", _SUM),
    rests_on=LAYOUT,
)


_MEASURE: Final = """\
function measure(value, limit) {
    let total = 255, step = 2;
    let found = value === limit;
    const twice = (one) => one * 2;
    const half = one => {
        return one / 2;
    };
    let rest;
    rest = total * step - 3;
    let flag = true;
    if (rest > total) {
        total = total + step;
        step += 1;
    }
    while (step < 9) {
        total -= step;
        step++;
    }
    const shown = { total, found: found, "key": 'text', flag: !flag };
    shown["size"] = half(step) + twice(value);
    if (!shown) {
        return;
    }
    return limit > value ? [shown.size, undefined, rest] : between(shown, total, step);
}
"""

_BELOW: Final = """\
function rest(value, limit) {
    return value < limit ? "below" : "above";
}
"""

EXPRESSIONS: Final = TransformFamily.of(
    __package__,
    "expressions",
    "Expressions of JavaScript written another way.",
    keeps("rules:SWAP_OPERANDS", "`a === b` becomes `b === a`", _MEASURE, "operands-swapped-wrong"),
    keeps("rules:FLIP_COMPARISONS", "`a < b` becomes `b > a`", _MEASURE, "comparison-flipped-wrong"),
    keeps("rules:BOOL_LITERALS", "`true` becomes `!false` or `!0`", _MEASURE, "bool-literals-wrong"),
    keeps("rules:EXPAND_AUGMENTED", "`a += b` becomes `a = a + b`", _MEASURE, "augmented-wrong"),
    keeps(
        "rules:CONTRACT_AUGMENTED",
        "`a = a + b` becomes `a += b`",
        _MEASURE,
        "augmented-wrong",
        undoes=("expand-increments",),
    ),
    keeps("rules:EXPAND_INCREMENTS", "`i++` becomes `++i` or `i += 1`", _MEASURE, "update-dropped"),
    keeps("rules:CONTRACT_INCREMENTS", "`i += 1` becomes `i++`", _MEASURE, "update-dropped"),
    keeps("rules:LITERAL_BASES", "numbers in another base", _MEASURE, "literal-changed"),
    keeps("rules:STRING_QUOTES", "`'a'` becomes `\"a\"`, or back", _MEASURE, "string-changed"),
    keeps("rules:MEMBER_TO_ITEM", '`a.b` becomes `a["b"]`', _MEASURE),
    keeps("rules:ITEM_TO_MEMBER", '`a["b"]` becomes `a.b`', _MEASURE, undoes=("member-to-item",)),
    keeps("rules:EXPAND_SHORTHAND", "`{ a }` becomes `{ a: a }`", _MEASURE),
    keeps("rules:CONTRACT_SHORTHAND", "`{ a: a }` becomes `{ a }`", _MEASURE, undoes=("expand-shorthand",)),
    keeps("rules:KEY_QUOTES", '`{ a: 1 }` becomes `{ "a": 1 }`, or back', _MEASURE),
    keeps("rules:UNDEFINED_TO_VOID", "`undefined` becomes `void 0`", _MEASURE),
    keeps("rules:RETURN_VOID", "`return;` becomes `return void 0;`", _MEASURE),
    keeps("rules:NOT_TO_TERNARY", "`!a` becomes `a ? false : true`", _MEASURE, "negation-dropped"),
    keeps("rules:SWAP_ARMS", "`c ? a : b` becomes `!c ? b : a`", _MEASURE, "arms-swapped-wrong"),
    keeps("rules:ARROW_TO_BLOCK", "`a => b` becomes `a => { return b; }`", _MEASURE),
    keeps(
        "rules:ARROW_TO_EXPRESSION",
        "`a => { return b; }` becomes `a => b`",
        _MEASURE,
        undoes=("arrow-to-block",),
    ),
    keeps("rules:ARROW_PARENTHESES", "`a => b` becomes `(a) => b`, or back", _MEASURE),
    changes("rules:OPERANDS_SWAPPED_WRONG", "`a - b` becomes `b - a`", _MEASURE),
    changes("rules:COMPARISON_FLIPPED_WRONG", "`a < b` becomes `a <= b` or `a > b`", _BELOW),
    changes("rules:BOOL_LITERALS_WRONG", "`true` becomes `false`, or back", _MEASURE),
    changes("rules:ARGUMENTS_SWAPPED", "two arguments of one kind change places", _MEASURE),
    changes("rules:AUGMENTED_WRONG", "`+=` becomes `-=`, and the like", _MEASURE),
    changes("rules:UPDATE_DROPPED", "an update of a variable goes", _MEASURE),
    changes("rules:ARMS_SWAPPED_WRONG", "the arms of `?:` change places, the condition stays", _MEASURE),
    changes("rules:LITERAL_CHANGED", "a number becomes one larger", _MEASURE),
    changes("rules:STRING_CHANGED", "a string becomes longer", _MEASURE),
    rests_on=LAYOUT,
)

DECLARATIONS: Final = TransformFamily.of(
    __package__,
    "declarations",
    "Declarations of JavaScript's variables in another form.",
    keeps("rules:SPLIT_DECLARATIONS", "`let a, b;` becomes two declarations", _MEASURE),
    keeps("rules:JOIN_DECLARATIONS", "two declarations become one", _MEASURE),
    keeps("rules:SPLIT_INITIALISERS", "`let a = 1;` becomes `let a; a = 1;`", _MEASURE),
    keeps("rules:JOIN_INITIALISERS", "`let a; a = 1;` becomes `let a = 1;`", _MEASURE),
    keeps("rules:CONST_AND_LET", "`const` becomes `let`, or back where nothing is assigned", _MEASURE),
    rests_on=LAYOUT,
)

DEAD_CODE: Final = TransformFamily.of(
    __package__,
    "dead-code",
    "Statements of JavaScript that never run or that nothing depends on.",
    *dead_code(_MEASURE),
    rests_on=LAYOUT,
)


_MIDDLE: Final = """\
function middle(values, name) {
    // A sorted copy.
    const sorted = values.slice();
    sorted.sort();

    const text = `
    no line of code
    `;
    if (!sorted.length) {
        return name + text;
    }
    return between(
        sorted[sorted.length >> 1], 1 + 2
    );
}
"""

LAYOUT_OF_TEXT: Final = TransformFamily.of(
    __package__,
    "layout",
    "Comments, lines and blanks of JavaScript: what a text looks like.",
    *layouts(_MIDDLE),
    keeps(
        "rules:INSERT_PARENTHESES",
        "parentheses around operations",
        _MIDDLE,
        rests_on=(*LAYOUT, "messages-unread"),  # `[a] = 5`: "5 is not iterable", and without parentheses more
    ),
    rests_on=LAYOUT,
)


_REQUEST: Final = """\
// Return the sum of all values that are greater than a number.
function above(values, least) {
    return values.filter((value) => value > least).reduce((a, b) => a + b, 0);
}
"""

PROSE: Final = TransformFamily.of(
    __package__,
    "prose",
    SUMMARY,
    *(
        rephrases(f"rules:{name.upper().replace('-', '_')}", summary, _REQUEST)
        for name, (_, summary) in EVERY.items()
    ),
)

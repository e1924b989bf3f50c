"""Transforms that write the expressions and declarations of JavaScript in another form."""

from typing import Final

from codeaudit.transforms.javascript.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, changes, keeps

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
        undoes=("expand-augmented", "expand-increments"),
    ),
    keeps("rules:EXPAND_INCREMENTS", "`i++` becomes `++i` or `i += 1`", _MEASURE, "update-dropped"),
    keeps(
        "rules:CONTRACT_INCREMENTS",
        "`i += 1` becomes `i++`",
        _MEASURE,
        "update-dropped",
        undoes=("expand-increments",),
    ),
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
    keeps(
        "rules:JOIN_DECLARATIONS",
        "two declarations become one",
        _MEASURE,
        undoes=("split-declarations",),
    ),
    keeps("rules:SPLIT_INITIALISERS", "`let a = 1;` becomes `let a; a = 1;`", _MEASURE),
    keeps(
        "rules:JOIN_INITIALISERS",
        "`let a; a = 1;` becomes `let a = 1;`",
        _MEASURE,
        undoes=("split-initialisers",),
    ),
    keeps("rules:CONST_AND_LET", "`const` becomes `let`, or back where nothing is assigned", _MEASURE),
    rests_on=LAYOUT,
)

DEAD_CODE: Final = TransformFamily.of(
    __package__,
    "dead-code",
    "Statements of JavaScript that never run or that nothing depends on.",
    keeps("rules:UNUSED_LOCALS", "variables that nobody reads", _MEASURE, "live-assignment"),
    keeps(
        "rules:DEAD_STORES",
        "variables with something computed that nobody reads",
        _MEASURE,
        "live-assignment",
    ),
    keeps("rules:UNREACHABLE_BRANCHES", "an `if` that is never taken", _MEASURE, "reachable-branch"),
    keeps("rules:NO_OP_STATEMENTS", "`;` and empty blocks", _MEASURE),
    keeps("rules:ELSE_PASS", "an empty `else`", _MEASURE),
    keeps("rules:REDUNDANT_JUMPS", "`continue;` or `return;` at the end", _MEASURE),
    changes("rules:LIVE_ASSIGNMENT", "a variable gets another value before it is read", _MEASURE),
    changes("rules:REACHABLE_BRANCH", "a `return` before something", _MEASURE),
    rests_on=LAYOUT,
)

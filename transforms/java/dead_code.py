"""Transforms of Java that insert statements without an effect: they never run, or nothing depends on them."""

from typing import Final

from codeaudit.transforms.java.ledger import VALUES
from codeaudit.transforms.language import TransformFamily, changes, keeps

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


FAMILY: Final = TransformFamily.of(
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

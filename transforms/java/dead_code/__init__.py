"""Statements of Java that never run or that nothing depends on."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

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


def _entry(target: str, summary: str, twin: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.dead_code.insertions:{target}",
        summary,
        family="dead-code",
        language="java",
        example=_TOTAL,
        twin=twin,
    )


def _control(name: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.dead_code.controls:{name}",
        f"control: {summary}",
        family="dead-code",
        language="java",
        kind="control",
        example=_TOTAL,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "unused-locals": _entry(
        "UNUSED_LOCALS", "a constant goes into a variable that nobody reads", "live-assignment"
    ),
    "dead-stores": _entry("DEAD_STORES", "something is computed that nobody reads", "live-assignment"),
    "unreachable-branches": _entry("UNREACHABLE_BRANCHES", "if (false) and the like", "reachable-branch"),
    "no-op-statements": _entry("NO_OP_STATEMENTS", "; and { }", "reachable-branch"),
    "else-pass": _entry("ELSE_PASS", "else { }", "reachable-branch"),
    "redundant-jumps": _entry(
        "REDUNDANT_JUMPS", "continue or return at the end, where control goes anyway", "reachable-branch"
    ),
    "live-assignment": _control("LIVE_ASSIGNMENT", "a variable is overwritten before it is read"),
    "reachable-branch": _control("REACHABLE_BRANCH", "if (true) return before something that matters"),
}

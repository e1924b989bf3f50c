"""Code that does nothing."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_MEAN: Final = """\
def mean(values):
    \"\"\"The mean of some values.\"\"\"
    total = 0
    # Add them up.
    for value in values:
        if value < 0:
            raise ValueError(value)
        total += value
    return total / len(values)
"""


def _entry(target: str, summary: str, twin: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.dead_code.{target}",
        summary,
        family="dead-code",
        example=_MEAN,
        twin=twin,
    )


def _control(target: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.dead_code.controls:{target}",
        f"control: {summary}",
        family="dead-code",
        kind="control",
        example=_MEAN,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "unused-locals": _entry(
        "insertions:UNUSED_LOCALS", "a constant goes into a variable that nobody reads", "live-assignment"
    ),
    "dead-stores": _entry(
        "insertions:DEAD_STORES", "something is computed that nobody reads", "live-assignment"
    ),
    "unreachable-branches": _entry(
        "insertions:UNREACHABLE_BRANCHES", "if False: and the like", "reachable-branch"
    ),
    "no-op-statements": _entry("insertions:NO_OP_STATEMENTS", "pass, 0, assert True, x = x", "early-return"),
    "else-pass": _entry("ends:ELSE_PASS", "else: pass", "reachable-branch"),
    "after-return": _entry("ends:AFTER_RETURN", "a statement behind return or raise", "early-return"),
    "live-assignment": _control("LIVE_ASSIGNMENT", "a variable is overwritten before it is read"),
    "reachable-branch": _control("REACHABLE_BRANCH", "if True: return before something that matters"),
    "early-return": _control("EARLY_RETURN", "return before something that matters"),
}

"""The family `dead-code`: inserted code that does nothing, and its controls."""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import LAYOUT, VALUES

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


FAMILY: Final = TransformFamily.of(
    __name__,
    "dead-code",
    "Code that does nothing.",
    keeps(
        "insertions:UNUSED_LOCALS",
        "a constant goes into a variable that nobody reads",
        _MEAN,
        "live-assignment",
    ),
    keeps(
        "insertions:DEAD_STORES",
        "something is computed that nobody reads",
        _MEAN,
        "live-assignment",
        rests_on=(*VALUES, "frames-unread", "release-unseen"),
    ),
    keeps("insertions:UNREACHABLE_BRANCHES", "if False: and the like", _MEAN, "reachable-branch"),
    keeps("insertions:NO_OP_STATEMENTS", "pass, 0, assert True, x = x", _MEAN, "early-return"),
    keeps("insertions:ELSE_PASS", "else: pass", _MEAN, "reachable-branch"),
    keeps("insertions:AFTER_RETURN", "a statement behind return or raise", _MEAN, "early-return"),
    changes("insertions:LIVE_ASSIGNMENT", "a variable is overwritten before it is read", _MEAN),
    changes("insertions:REACHABLE_BRANCH", "if True: return before something that matters", _MEAN),
    changes("insertions:EARLY_RETURN", "return before something that matters", _MEAN),
    rests_on=(*LAYOUT, "frames-unread"),
)

"""What tasks with numbers have in common: reading one, comparing two, and the mean of scores."""

from collections.abc import Iterable
from math import isclose, isfinite
from typing import Final

from codeaudit.audit.records import Predicted

TOLERANCE: Final = 1e-6
"""By how much two equal answers may differ, as a share of the larger one."""


def number(answer: object) -> float | None:
    """A finite number, or the text of one."""
    if isinstance(answer, str):
        try:
            answer = float(answer)
        except ValueError:
            return None
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return None
    found = float(answer)
    return found if isfinite(found) else None


def nearly_equal(before: Predicted, after: Predicted) -> bool:
    """Whether two answers are equal up to `TOLERANCE`."""
    one, other = before.answer, after.answer
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=TOLERANCE)
    return one == other


def mean(scores: Iterable[float | None]) -> float | None:
    """The mean of the scores that there are."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None

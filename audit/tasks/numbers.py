"""Numeric answers: reading one, comparing two; and the mean of scores."""

from collections.abc import Iterable
from math import isclose, isfinite
from typing import Final

from codeaudit.audit.records import Predicted

TOLERANCE: Final = 1e-6
"""The difference between two equal answers, relative to the larger one, is at most this."""


def number(answer: object) -> float | None:
    """A finite number, from a number or a text; `None` for anything else."""
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
    """The mean of the scores that are not `None`; `None` if all are."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None

"""Differences of samples whose test by sign flips would take long: how they are rounded for it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Final

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.excess import pair_excess

FINEST: Final = 120
"""The largest common denominator of differences that are tested as they are."""
STEP: Final = Fraction(1, 60)
"""Others are rounded to multiples of it."""


def rounded(differences: Sequence[Fraction]) -> list[Fraction]:
    """The differences, rounded if they have many sizes. Sorted, so that no sum depends on their order.

    A difference and its opposite are rounded to opposites, so a test by sign flips stays exact.
    """
    if lcm(*(one.denominator for one in differences)) > FINEST:
        differences = [STEP * round(one / STEP) for one in differences]
    return sorted(differences)


def excess_of(differences: Sequence[Fraction]) -> Excess:
    """As `pair_excess`, with the exact mean; interval and p are of the rounded differences."""
    found = pair_excess(rounded(differences))
    if found.points is None or found.low is None or found.high is None:
        return found
    points = float(sum(differences, Fraction(0)) / len(differences))
    return replace(found, points=points, low=min(found.low, points), high=max(found.high, points))

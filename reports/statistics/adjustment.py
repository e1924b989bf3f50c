"""The significance level, and the correction for multiple tests."""

from collections.abc import Sequence
from typing import Final

ALPHA: Final = 0.05
"""Significance level of every test in a report, after adjustment."""


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return Holm-adjusted p-values in the same order. The step-down procedure never lowers a p-value.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    adjusted, floor = [0.0] * len(ps), 0.0
    for rank, n in enumerate(order):
        floor = max(floor, min(1.0, (len(ps) - rank) * ps[n]))
        adjusted[n] = floor
    return tuple(adjusted)

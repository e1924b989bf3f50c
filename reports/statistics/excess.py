"""What an edit did beyond noise: answers to variants against as many repeated answers to the same input.

Where an edit has no effect, all answers of a sample are exchangeable, however noise is spread over samples.
So variants and repeats differ from the first answer equally often, and their difference, the excess, is the
effect.

- *Sample excess*: share of samples of which some variant differs from the first answer, minus the share of
  which some of as many repeats does. It is on the scale of the violation rate.
- *Pair excess*: share of pairs (original, variant) of answers that differ, minus the share of pairs of
  originals that differ. It has more power, so it decides whether an effect is shown.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import comb, lcm, sqrt
from typing import Final

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import coin

CELLS: Final = 4_000_000
"""Largest number of cells of an exact distribution."""
DRAWS: Final = 100_000
"""Number of sign flips that are drawn where the distribution has more cells."""


def sample_excess(units: Sequence[tuple[int, int]]) -> Excess:
    """The sample excess.

    Parameters
    ----------
    units
        For each sample, how often it was violated and how often unsteady: 0 or 1 each in a single trial.

    Notes
    -----
    With one trial: Bonett and Price's interval and the exact McNemar test, two-sided. With several, samples
    are clusters: the interval and the test of `pair_excess`.

    References
    ----------
    Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial proportions based
    on paired data.
    """
    differences = [violated - unsteady for violated, unsteady in units]
    found = pair_excess([Fraction(one) for one in differences])
    if any(max(unit) > 1 for unit in units) or not units:
        return found
    more, less = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    p = min(1.0, 2 * coin(max(more, less), min(more, less))) if more or less else 1.0
    return Excess(
        points=found.points,
        low=found.low,
        high=found.high,
        p=p,
        samples=len(units),
        interval="Bonett-Price",
    )


def pair_excess(differences: Sequence[Fraction]) -> Excess:
    """The mean of each sample's difference, with its interval and the two-sided test by sign flips.

    Notes
    -----
    The interval is Wald's after one sample with a difference of 1 and one with -1 are added, which for
    differences of -1, 0 and 1 is Bonett and Price's.
    """
    total = len(differences)
    if not total:
        return Excess()
    points = float(sum(differences, Fraction(0)) / total)
    values = [float(one) for one in differences]
    middle = sum(values) / (total + 2)
    spread = Z * sqrt(max(0.0, (sum(one**2 for one in values) + 2) / (total + 2) - middle**2) / (total + 2))
    return Excess(
        points=points,
        low=max(-1.0, min(points, middle - spread)),
        high=min(1.0, max(points, middle + spread)),
        p=flips(differences),
        samples=total,
        interval="Wald, two samples added",
    )


def flips(differences: Sequence[Fraction], *, above: bool = False) -> float:
    """How often random signs give a sum as far from 0 as the signs that were found; `above`: as large.

    Exact where its distribution has at most `CELLS` cells, else from `DRAWS` drawn flips with a fixed seed.
    """
    import numpy as np
    from scipy.signal import fftconvolve

    moved = [one for one in differences if one]
    if not moved:
        return 1.0
    unit = lcm(*(one.denominator for one in moved))
    sizes = Counter(abs(int(one * unit)) for one in moved)
    found, reach = int(sum(moved) * unit), sum(size * times for size, times in sizes.items())
    if not above and found < 0:
        found = -found
    if 2 * reach + 1 > CELLS:
        signs = np.random.default_rng(0).integers(0, 2, size=(DRAWS, len(moved)), dtype=np.int8) * 2 - 1
        sums = signs @ np.array([float(one) for one in moved])
        # The signs that were found are one of the draws, so that p is never 0.
        target = float(abs(sum(moved)) if not above else sum(moved)) - 1e-12
        tail = (int((sums >= target).sum()) + 1) / (DRAWS + 1)
        return tail if above else min(1.0, 2 * tail)
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for size, times in sizes.items():
        # `times` signs at once: their sum is size * (2 * heads - times).
        spread = np.zeros(2 * size * times + 1)
        spread[:: 2 * size] = [comb(times, heads) / 2**times for heads in range(times + 1)]
        chances = fftconvolve(chances, spread)[size * times : size * times + 2 * reach + 1]
    # A Fourier transform leaves errors of its own where the chance is tiny.
    tail = max(float(chances[reach + found :].sum()), 2.0 ** -len(moved))
    return min(1.0, tail if above else 2 * tail)


def explained(unsteady: int, alpha: float) -> int:
    """How many violated, steady samples noise alone explains, beside `unsteady` that are not violated.

    The largest number B for which a binomial with B + `unsteady` trials at 1/2 is at most `unsteady` with a
    chance above alpha: 6, 9, 11, 13 for 0 to 3 at 0.01.
    """
    found = 0
    while coin(found + 1, unsteady) > alpha:
        found += 1
    return found

"""What an edit did beyond noise: answers to variants against as many repeated answers to the same input.

Where an edit has no effect, all answers of a sample are exchangeable, however noise is spread over samples.
So variants and repeats differ from the first answer equally often, and their difference, the excess, is the
effect.

- *Sample excess*: share of samples of which some variant differs from the first answer, minus the share of
  which some of as many repeats does. It is on the scale of the violation rate.
- *Pair excess*: share of pairs (original, variant) of answers that differ, minus the share of pairs of
  originals that differ. It has more power, so it decides whether an effect is shown.

Where the answers themselves are at hand, `shuffled` tests the pair excess. It has more power than sign flips
(`pair_excess`), which are for scores (`benchmarks/noise_simulation.py`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm, sqrt
from typing import Final

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.bisection import grown, lowest
from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import coin

CELLS: Final = 4_000_000
"""Largest number of cells of an exact distribution."""
DRAWS: Final = 100_000
"""Number of sign flips that are drawn where the distribution has more cells."""
DRAWN: Final = 10_000_000
"""Signs that are drawn at once."""

DIGITS: Final = 12
"""Decimals of an exact p."""

LEAST: Final = Fraction(-1, 2)
"""The smallest difference of pairs: two originals differ, and each variant has the answer of one of them."""
MOST: Final = Fraction(1)
"""The largest: all originals agree, and no variant has their answer."""
AT_MOST, AT_LEAST = 0.5, 0.25
"""Samples with the largest and with the smallest difference that are added for the interval."""
ENOUGH: Final = 9
"""Where more samples differ, less is added: these show how large differences are."""
INTERVAL: Final = "Bayesian bootstrap by moments"


def sample_excess(units: Sequence[tuple[int, int]], *, trials: int = 1) -> Excess:
    """The sample excess.

    Parameters
    ----------
    units
        For each sample, in how many trials it was violated and in how many it was unsteady.
    trials
        Number of trials.

    Notes
    -----
    With one trial: Bonett and Price's interval and the exact McNemar test, two-sided. With several, samples
    are clusters: the interval and the test of `pair_excess`.

    References
    ----------
    Bonett and Price (2012), Adjusted Wald confidence interval for a difference of binomial proportions based
    on paired data.
    """
    most = max([trials, *map(max, units)])
    differences = [violated - unsteady for violated, unsteady in units]
    if most > 1 or not units:
        return pair_excess([Fraction(difference, most) for difference in differences], least=-MOST)
    total, more, less = len(units), differences.count(1), differences.count(-1)
    points = (more - less) / total
    # One sample of each kind is added: 2 to the number of samples, 1 to `more` and to `less`.
    middle = (more - less) / (total + 2)
    spread = Z * sqrt(max(0.0, (more + less + 2) / (total + 2) - middle**2) / (total + 2))
    return Excess(
        points=points,
        low=max(-1.0, min(points, middle - spread)),
        high=min(1.0, max(points, middle + spread)),
        p=min(1.0, 2 * coin(max(more, less), min(more, less))),
        samples=total,
        interval="Bonett-Price",
    )


def pair_excess(differences: Sequence[Fraction], *, least: Fraction = LEAST, most: Fraction = MOST) -> Excess:
    """The mean of each sample's difference, with its interval and the two-sided test by sign flips.

    Parameters
    ----------
    differences
        One for each sample.
    least, most
        The smallest and the largest difference that a sample can have. By default those of pairs of answers.
        A difference outside widens them.

    Notes
    -----
    Most samples have small differences, from noise; a few may have large ones, from an effect. The interval
    must allow for large ones that no sample happened to have. So half a sample with the largest difference
    and a quarter of one with the smallest are added. Where more than nine samples differ, they show how large
    differences are, so both weights are multiplied by nine over their number. The interval has the 2.5 % and
    97.5 % points of the Bayesian bootstrap of all these, from its first three moments (Cornish and Fisher).
    It is widened if need be to hold the mean.

    `benchmarks/noise_simulation.py` has its coverage, and that of the alternatives.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap. Cornish and Fisher (1938), Moments and cumulants in the
    specification of distributions.
    """
    return estimated(differences, flips(differences), least=least, most=most)


def estimated(
    differences: Sequence[Fraction], p: float, *, least: Fraction = LEAST, most: Fraction = MOST
) -> Excess:
    """The mean and the interval of `pair_excess`, with the p of another test."""
    total = len(differences)
    if not total:
        return Excess()
    points = float(sum(differences, Fraction(0)) / total)
    # Sorted, so that rounding does not depend on the order of the samples.
    kinds = [(float(value), float(times)) for value, times in sorted(Counter(differences).items())]
    below, above = min(float(least), kinds[0][0]), max(float(most), kinds[-1][0])
    share = min(1.0, ENOUGH / (sum(map(bool, differences)) or 1))
    low, high = bounds([*kinds, (below, AT_LEAST * share), (above, AT_MOST * share)])
    return Excess(
        points=points,
        low=max(below, min(points, low)),
        high=min(above, max(points, high)),
        p=p,
        samples=total,
        interval=INTERVAL,
    )


def bounds(kinds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The 2.5 % and 97.5 % points of the Bayesian bootstrap of a mean, from its first three moments.

    `kinds` has each value with its weight: the number of samples that have it.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap: the shares of the values have a Dirichlet distribution. Cornish and
    Fisher (1938), Moments and cumulants in the specification of distributions.
    """
    weight = sum(times for _, times in kinds)
    mean = sum(value * times for value, times in kinds) / weight
    second, third = (sum((value - mean) ** n * times for value, times in kinds) / weight for n in (2, 3))
    if second <= 0:
        return mean, mean
    spread = sqrt(second / (weight + 1))
    # The third central moment of a Dirichlet mean is 2 * third / ((weight + 1) * (weight + 2)).
    skewness = 2 * sqrt(weight + 1) / (weight + 2) * third / second**1.5
    shift = (Z**2 - 1) / 6 * skewness
    return mean + spread * (shift - Z), mean + spread * (shift + Z)


def flips(differences: Sequence[Fraction], *, above: bool = False) -> float:
    """How often random signs give a sum as far from 0 as the signs that were found; `above`: as large.

    Exact where its distribution has at most `CELLS` cells, else from `DRAWS` drawn flips with a fixed seed.

    References
    ----------
    Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.2: paired comparisons.
    """
    moved = [difference for difference in differences if difference]
    if not moved:
        return 1.0
    unit = lcm(*(difference.denominator for difference in moved))
    numbers = [int(difference * unit) for difference in moved]
    step = gcd(*numbers)
    # Sorted, so that drawn flips do not depend on the order of the samples.
    sizes = sorted(Counter(abs(number) // step for number in numbers).items())
    observed, reach = sum(numbers) // step, sum(size * times for size, times in sizes)
    if not above:
        observed = abs(observed)
    tail = _exact(sizes, reach, observed) if 2 * reach + 1 <= CELLS else _drawn(sizes, reach, observed)
    return min(1.0, tail if above else 2 * tail)


def _exact(sizes: Sequence[tuple[int, int]], reach: int, observed: int) -> float:
    """Return the chance of a sum of at least `observed`."""
    import numpy as np
    from scipy.fft import irfft, next_fast_len

    cells = next_fast_len(2 * reach + 1, real=True)
    steps = np.arange(cells // 2 + 1)
    # The characteristic function of one sign is a cosine, and that of a sum is a product. The angle is
    # reduced in whole numbers, where nothing is rounded.
    waves = np.ones(len(steps))
    for size, times in sizes:
        waves *= np.cos(2 * np.pi / cells * (size * steps % cells)) ** times
    chances = irfft(waves, cells)
    # Sums below 0 stand at the end.
    tail = chances[max(0, observed) : reach + 1].sum() + (chances[observed:].sum() if observed < 0 else 0.0)
    # A Fourier transform leaves errors in the last digits, which differ between computers.
    return max(round(float(tail), DIGITS), 2.0 ** -sum(times for _, times in sizes))


def _drawn(sizes: Sequence[tuple[int, int]], reach: int, observed: int) -> float:
    """Return the share of drawn sums of at least `observed`."""
    import numpy as np

    rng = np.random.default_rng(0)
    # Sizes from scores may be too large for 64 bits.
    factors = np.array([2 * size / reach for size, _ in sizes])
    numbers = np.array([times for _, times in sizes])
    least, reached, rest = observed / reach - 1e-9, 0, DRAWS
    while rest:
        count = min(rest, max(1, DRAWN // len(sizes)))
        # The number of positive signs among those of one size is binomial.
        reached += int((rng.binomial(numbers, 0.5, (count, len(sizes))) @ factors - 1 >= least).sum())
        rest -= count
    # The signs that were found are one of the draws, so that p is never 0.
    return (reached + 1) / (DRAWS + 1)


def explained(unsteady: int, alpha: float) -> int:
    """How many violated, steady samples noise alone explains, beside `unsteady` that are not violated.

    The largest number B for which a binomial with B + `unsteady` trials at 1/2 is at most `unsteady` with a
    chance above alpha: 6, 9, 11, 13 for 0 to 3 at 0.01.
    """
    number = 0
    while coin(number + 1, unsteady) > alpha:
        number += 1
    return number


FINEST: Final = 120
"""The largest common denominator of differences that are tested as they are."""
STEP: Final = Fraction(1, 60)
"""Others are rounded to multiples of it."""


def rounded(differences: Sequence[Fraction]) -> list[Fraction]:
    """The differences, rounded if they have many sizes. Sorted, so that no sum depends on their order.

    A difference and its opposite are rounded to opposites, so a test by sign flips stays exact.
    """
    if lcm(*(difference.denominator for difference in differences)) > FINEST:
        differences = [STEP * round(difference / STEP) for difference in differences]
    return sorted(differences)


def excess_of(differences: Sequence[Fraction]) -> Excess:
    """The exact mean of each sample's difference; interval and p are of the rounded differences."""
    excess = pair_excess(rounded(differences))
    if excess.points is None or excess.low is None or excess.high is None:
        return excess
    points = float(sum(differences, Fraction(0)) / len(differences))
    return replace(excess, points=points, low=min(excess.low, points), high=max(excess.high, points))


MOST_SAMPLES: Final = 10_000
"""Largest number of samples that `samples_needed` considers."""


def affected(differences: Sequence[Fraction], alpha: float) -> int:
    """The least number of samples on which an edit has an effect.

    Parameters
    ----------
    differences
        Of each sample: the share of its variants that changed the answer minus that of as many repeats.
    alpha
        The largest chance of a number that is too large.

    Notes
    -----
    It is the smallest L for which the samples without the L largest differences pass the test by sign flips
    at alpha.

    Why it is too large in at most alpha of runs: let the edit have an effect on L samples. On the others the
    sign of a difference is as likely to be plus as minus, so the test on these alone rejects with a chance of
    at most alpha. Its p is the chance that the sum of a random part of the differences is at most 0. This
    falls with every single difference. Leaving out the L largest differences instead of those L samples
    leaves smaller ones, so its p is at least as large. Nothing is assumed of the L samples, and noise may
    differ from sample to sample.

    A sample that changes under the edit and when repeated, equally often, has the difference 0 and counts on
    neither side: it cannot be told from noise. If it changes under the edit more often, that counts.

    If all differences have one size, b of them plus and c minus, it is b minus `explained(c, alpha)`: b
    samples are violated and steady, c are unsteady and not violated. The shares tell more than that. In
    `benchmarks/gate_simulation.py` the false alarms are as few, and an effect on 30 % of 158 samples is found
    above a limit of 10 % in nearly all runs at a noise of 20 % of queries, where b and c find it in 2 %.
    """
    ordered = sorted(differences, reverse=True)
    # p grows with the number that is left out, and without differences above 0 it is at least one half. A p
    # that is exactly alpha rejects, and its arithmetic is not exact.
    return lowest(
        -1,
        sum(difference > 0 for difference in ordered),
        lambda left_out: flips(ordered[left_out:], above=True) > alpha + 1e-12,
    )


def samples_needed(differences: Sequence[Fraction], limit: float, alpha: float) -> int | None:
    """The number of samples at which the affected ones would exceed a limit, if the shares of all differences
    stayed as they are; `None` above `MOST_SAMPLES`.
    """
    counts, total = Counter(differences), len(differences)

    def enough(number: int) -> bool:
        scaled = [value for value, times in counts.items() for _ in range(round(times * number / total))]
        rest = sorted(scaled, reverse=True)[int(limit * number + 1e-9) :]
        return flips(rest, above=True) <= alpha

    return grown(total, MOST_SAMPLES, enough)

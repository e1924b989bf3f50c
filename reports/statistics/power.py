"""What a plan can promise: the smallest effect beyond noise that so many samples show, and the reverse.

An effect is given in points of the sample excess, for edits that change the answers of all variants of a
sample. It is *shown* where the test of the pair excess has p at most 0.05.
"""

from math import comb, sqrt
from typing import Final, NamedTuple

from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import MOST, POWER

PRECISION: Final = 1e-4
"""Step of the search: a hundredth of a percentage point."""
COUNTED: Final = 60
"""Up to this number of affected samples their signs are counted; above it their sum is taken as normal."""
LEVEL: Final = 0.025
"""Half of 0.05: the test has two sides."""
TAIL: Final = 6.0
"""Standard deviations beyond which a number of affected samples is too rare to matter."""


class Spread(NamedTuple):
    """Differences of pairs: their moments for steady and for affected samples."""

    noise: float
    """Mean square for a sample without an effect. Its mean is 0."""
    mean: float
    """Mean for a sample with an effect."""
    square: float
    """Mean square for a sample with an effect."""


def detectable(
    samples: int, variants: int, noise: float, *, repeats: int | None = None, power: float = POWER
) -> float | None:
    """The smallest effect that is shown with this power, a fraction; `None` if there is none.

    Parameters
    ----------
    samples
        Number of movable samples.
    variants
        Number of variants of each.
    noise
        Chance that a single answer is not the stable one, below 1, equal for all samples.
    repeats
        Number of repeats of each sample; by default as many as variants. The effect stays in points of the
        excess that as many repeats as variants would have.
    power
        How often it is shown: by default in four of five runs.

    Notes
    -----
    The number of affected samples is binomial, and noise is taken as normal. Up to 60 affected samples the
    sign flips of their differences are counted. `benchmarks/noise_simulation.py` compares.
    """
    if samples < 1 or not 0 <= noise < 1:
        return None
    # Of the samples with an effect, those count that were steady.
    steady = (1 - noise) ** (variants + 1)
    spread = _spread(variants, variants if repeats is None else repeats, noise)
    low, high = 0.0, 1.0
    if _power(samples, high, spread) < power:
        return None
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if _power(samples, middle, spread) >= power else (middle, high)
    return high * steady


def samples_for(
    effect: float, variants: int, noise: float, *, repeats: int | None = None, power: float = POWER
) -> int | None:
    """The number of samples for which `detectable` is at most this effect, to about 1 %; `None` above
    `MOST`.
    """

    def enough(number: int) -> bool:
        found = detectable(number, variants, noise, repeats=repeats, power=power)
        return found is not None and found <= effect

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def chance_of_noise(floor: float) -> float:
    """The chance that a single answer is not the stable one, from the share of pairs of repeated answers
    that differ: two answers agree only where both are stable.
    """
    return 1 - sqrt(max(0.0, 1 - floor))


def _spread(variants: int, repeats: int, noise: float) -> Spread:
    """Return the moments of a sample's difference; random answers are taken as all different."""
    originals = repeats + 1
    quiet = square = mean = 0.0
    for stable in range(originals + 1):
        share = comb(originals, stable) * (1 - noise) ** stable * noise ** (originals - stable)
        within = stable * (stable - 1) / (originals * repeats)
        # With an effect no variant has an answer of an original: all pairs across differ.
        mean += share * within
        square += share * within**2
        for kept in range(variants + 1):
            other = comb(variants, kept) * (1 - noise) ** kept * noise ** (variants - kept)
            quiet += share * other * (within - stable * kept / (originals * variants)) ** 2
    return Spread(quiet, mean, square)


def _power(samples: int, share: float, spread: Spread) -> float:
    """Return how often the test rejects where a share of the samples is affected."""
    import numpy as np
    from scipy.special import bdtr, ndtr

    width = TAIL * sqrt(samples * share * (1 - share)) + 1
    affected = np.arange(max(0, int(samples * share - width)), min(samples, int(samples * share + width)) + 1)
    below = np.where(affected > 0, bdtr(np.maximum(affected - 1.0, 0.0), samples, share), 0.0)
    chances = bdtr(affected.astype(float), samples, share) - below
    quiet = (samples - affected) * spread.noise
    # The sum of the differences of affected samples varies, too.
    varied = np.sqrt(quiet + affected * max(0.0, spread.square - spread.mean**2))
    limits = np.array([_limit(int(a), float(q), spread) for a, q in zip(affected, quiet, strict=True)])
    above = affected * spread.mean - limits
    shown = np.where(varied > 0, ndtr(above / np.where(varied > 0, varied, 1.0)), above >= -1e-9)
    return float(np.sum(chances * shown))


def _limit(affected: int, quiet: float, spread: Spread) -> float:
    """Return the sum that random signs reach with a chance of 0.025.

    They are the signs of `affected` equal differences and of noise whose mean square over all samples is
    `quiet`.
    """
    import numpy as np
    from scipy.special import bdtr, ndtr

    size = sqrt(spread.square)
    if affected > COUNTED:
        return Z * sqrt(affected * spread.square + quiet)
    heads = np.arange(affected + 1)
    if not quiet:
        # The smallest number of positive signs whose tail is small enough; none is where there are too few.
        tails = 1 - np.concatenate([[0.0], bdtr(heads[:-1].astype(float), affected, 0.5)])
        fitting = np.flatnonzero(tails <= LEVEL)
        return float("inf") if not len(fitting) else size * (2 * float(heads[fitting[0]]) - affected)
    masses = np.array([comb(affected, int(n)) / 2**affected for n in heads])
    sums, deviation = size * (2 * heads - affected), sqrt(quiet)
    low, high = 0.0, affected * size + 6 * deviation
    while high - low > 1e-3 * deviation:
        middle = (low + high) / 2
        beyond = float(masses @ ndtr((sums - middle) / deviation))
        low, high = (middle, high) if beyond > LEVEL else (low, middle)
    return high

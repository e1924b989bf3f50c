"""What a plan can promise: the smallest effect beyond noise that so many samples show.

An effect is given in points of the sample excess, for edits that change the answers of all variants of a
sample. It is *shown* where the test of the pair excess has p at most 0.05.
"""

from functools import cache
from math import comb, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from codeaudit.reports.statistics.bisection import crossing
from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import POWER
from codeaudit.reports.statistics.shuffles import Pool, shuffles

if TYPE_CHECKING:
    import numpy as np

PRECISION: Final = 1e-4
"""Step of the search: a hundredth of a percentage point."""
COUNTED: Final = 60
"""Up to this number of affected samples shuffles are counted; above it their sum is taken as normal."""
LEVEL: Final = 0.025
"""Half of 0.05: the test has two sides."""
RARE: Final = 1e-9
"""Chance below which a pattern of noise is left out."""
TAIL: Final = 6.0
"""Standard deviations beyond which a number of affected samples is too rare to matter."""


class Mixture(NamedTuple):
    """Differences of pairs, in units, of samples with noise."""

    unit: int
    noise: float
    """Mean square for a sample without an effect. Its mean is 0."""
    mean: float
    """Mean for a sample with an effect."""
    square: float
    """Mean square for a sample with an effect."""
    dealt: tuple[tuple[int, float], ...]
    """Chance of each difference of a sample with an effect, where its answers are shuffled."""


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
    shuffles of their answers are counted. `benchmarks/noise_simulation.py` compares.
    """
    if samples < 1 or not 0 <= noise < 1:
        return None
    # Of the samples with an effect, those count that were steady.
    steady = (1 - noise) ** (variants + 1)
    mixture = _mixture(variants, variants if repeats is None else repeats, noise)
    limits: dict[int, float] = {}

    def enough(share: float) -> bool:
        return _power(samples, share, mixture, limits) >= power

    return crossing(0.0, 1.0, PRECISION, enough) * steady if enough(1.0) else None


def chance_of_noise(floor: float) -> float:
    """The chance that a single answer is not the stable one, from the share of pairs of repeated answers
    that differ: two answers agree only where both are stable.
    """
    return 1 - sqrt(max(0.0, 1 - floor))


@cache
def _mixture(variants: int, repeats: int, noise: float) -> Mixture:
    """Return what the samples are like; random answers are taken as all different."""
    originals = repeats + 1
    unit = Pool((originals, variants), originals).unit
    quiet = square = mean = 0.0
    dealt: dict[int, float] = {}
    for stable in range(originals + 1):
        share = comb(originals, stable) * (1 - noise) ** stable * noise ** (originals - stable)
        within = stable * (stable - 1) / (originals * repeats)
        # With an effect no variant has an answer of an original: all pairs across differ.
        mean += share * within * unit
        square += share * (within * unit) ** 2
        for kept in range(variants + 1):
            both = share * comb(variants, kept) * (1 - noise) ** kept * noise ** (variants - kept)
            quiet += both * (within - stable * kept / (originals * variants)) ** 2 * unit**2
            if both > RARE:
                others = (1,) * (originals - stable + variants - kept)
                sizes = sorted([size for size in (stable, kept, *others) if size], reverse=True)
                for value, chance in shuffles(Pool(tuple(sizes), originals)).items():
                    dealt[value] = dealt.get(value, 0.0) + both * chance
    return Mixture(unit, quiet, mean, square, tuple(sorted(dealt.items())))


def _power(samples: int, share: float, mixture: Mixture, limits: dict[int, float]) -> float:
    """Return how often the test rejects where a share of the samples is affected."""
    import numpy as np
    from scipy.special import bdtr, ndtr

    width = TAIL * sqrt(samples * share * (1 - share)) + 1
    affected = np.arange(max(0, int(samples * share - width)), min(samples, int(samples * share + width)) + 1)
    below = np.where(affected > 0, bdtr(np.maximum(affected - 1.0, 0.0), samples, share), 0.0)
    chances = bdtr(affected.astype(float), samples, share) - below
    quiet = (samples - affected) * mixture.noise
    # The sum of the differences of affected samples varies, too.
    varied = np.sqrt(quiet + affected * max(0.0, mixture.square - mixture.mean**2))
    for number, noise in zip(affected.tolist(), quiet.tolist(), strict=True):
        if number not in limits:
            limits[number] = _limit(number, noise, mixture)
    above = affected * mixture.mean - np.array([limits[number] for number in affected.tolist()])
    powers = np.where(varied > 0, ndtr(above / np.where(varied > 0, varied, 1.0)), above >= -1e-6)
    return float(np.sum(chances * powers))


def _limit(affected: int, quiet: float, mixture: Mixture) -> float:
    """Return the sum that shuffled answers reach with a chance of 0.025, at most.

    They are those of `affected` samples and of noise whose mean square over all samples is `quiet`.
    """
    import numpy as np
    from scipy.special import ndtr

    if affected > COUNTED:
        variance = sum(value**2 * chance for value, chance in mixture.dealt)
        return Z * sqrt(affected * variance + quiet)
    chances = _sums(mixture, affected)
    sums = np.arange(len(chances)) + affected * mixture.dealt[0][0]
    if not quiet:
        fitting = np.flatnonzero(np.cumsum(chances[::-1])[::-1] <= LEVEL)
        return float(sums[fitting[0]]) if len(fitting) else float("inf")
    deviation = sqrt(quiet)

    def rare(reached: float) -> bool:
        return float(chances @ ndtr((sums - reached) / deviation)) <= LEVEL

    return crossing(0.0, float(sums[-1]) + TAIL * deviation, 1e-3 * deviation, rare)


@cache
def _sums(mixture: Mixture, affected: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the chance of each sum of so many affected samples with shuffled answers, from the lowest on."""
    import numpy as np
    from scipy.signal import fftconvolve

    if not affected:
        return np.ones(1)
    low = mixture.dealt[0][0]
    single = np.zeros(mixture.dealt[-1][0] - low + 1)
    for value, chance in mixture.dealt:
        single[value - low] = chance
    return np.asarray(fftconvolve(_sums(mixture, affected - 1), single))

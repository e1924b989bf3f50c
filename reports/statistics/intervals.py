"""Rates with 95 % intervals. The independent unit is the sample, because variants of one sample are
dependent.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Final

from codeaudit.reports.records import NOTHING, UNKNOWN, Estimate, Rate

Z: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

RESAMPLES: Final = 2000

FEW_CLUSTERS: Final = 10
"""Below this number of samples a percentile bootstrap interval is far too narrow, so Wilson's interval is
used.
"""


def wilson(count: float, total: float, z: float = Z) -> tuple[float, float]:
    """The score interval of a proportion, within [0, 1] and around `count / total`.

    Parameters
    ----------
    count, total
        Successes and trials, `total > 0`. Fractional values are meant: a rate over dependent trials is
        entered with the number of independent units as its total.
    z
        The quantile of the normal distribution at which it ends; by default it is the 95 % interval.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    share = count / total
    spread = z * sqrt(share * (1 - share) / total + (z / total) ** 2 / 4)
    middle, scale = share + z**2 / (2 * total), 1 + z**2 / total
    low, high = (middle - spread) / scale, (middle + spread) / scale
    # At the ends of the range the formula is exact but its arithmetic is not.
    return (0.0 if share == 0 else max(0.0, low), 1.0 if share == 1 else min(1.0, high))


def rate(clusters: Mapping[str, tuple[int, int]], *, seed: int) -> Rate:
    """The pooled share over clusters, with a 95 % interval that respects them.

    `clusters` has `(count, total)` of every independent unit (a sample), in any order; `seed` is that of
    the resampling.

    Notes
    -----
    Where every cluster has one member this is Wilson's interval. Else clusters are drawn with replacement
    2,000 times and the 2.5 % and 97.5 % points taken, widened if need be to hold the rate. Equal shares in
    all clusters (all zeros, say) give a bootstrap nothing, fewer than ten clusters too little: there it is
    Wilson's interval with the clusters as its total, up to 3.84 / (n + 3.84) for no violation in n.

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
    """
    # A sample without a judged pair is no unit: it says nothing.
    return rate_of(Counter(pair for pair in clusters.values() if pair[1] > 0), seed=seed)


def rate_of(kinds: Mapping[tuple[int, int], int], *, seed: int) -> Rate:
    """The pooled share with its interval, from how often each `(count, total)` with a positive total occurs
    among the clusters."""
    units = sum(kinds.values())
    if not units:
        return NOTHING
    count = sum(changed * times for (changed, _), times in kinds.items())
    total = sum(size * times for (_, size), times in kinds.items())
    share, name = count / total, "wilson"
    # As many trials as samples, not pairs: the variants of a sample mostly change together, so 4 variants are
    # not 4 times the evidence.
    low, high = wilson(share * units, units)
    # With one pair per sample (`total == units`) nothing is clustered and Wilson's interval is better.
    if units >= FEW_CLUSTERS and total > units and len({changed / size for changed, size in kinds}) > 1:
        name = "clustered bootstrap"
        low, high = _percentiles(kinds, seed)
    return Rate(
        count=count,
        total=total,
        rate=share,
        # A percentile interval of a skewed distribution need not hold the rate itself.
        low=min(low, share),
        high=max(high, share),
        clusters=units,
        interval=name,
    )


FINE: Final = 400
"""Parts of one to which shares are rounded for a resampling: far less than any interval is wide."""


def mean_share(values: Sequence[float], *, seed: int) -> Estimate:
    """The mean of shares, one of each sample, with a 95 % interval: as that of `rate`, over samples."""
    units = len(values)
    if not units:
        return UNKNOWN
    mean = sum(values) / units
    low, high = wilson(mean * units, units)
    if units >= FEW_CLUSTERS and len(set(values)) > 1:
        low, high = _percentiles(Counter((round(value * FINE), FINE) for value in values), seed)
    return Estimate(value=mean, low=min(low, mean), high=max(high, mean))


def single(outcomes: Iterable[bool]) -> Rate:
    """Return the share of true outcomes among independent ones, with Wilson's interval."""
    return rate({str(n): (int(changed), 1) for n, changed in enumerate(outcomes)}, seed=0)


def _percentiles(kinds: Mapping[tuple[int, int], int], seed: int) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % points of the bootstrap.

    Clusters with equal numbers are drawn together: the number of draws of each kind is multinomial. The
    distribution is the same; only the computation is faster.
    """
    import numpy as np

    # Sorted, so that the drawn numbers do not depend on the order in which samples came.
    ordered = sorted(kinds.items())
    sizes: np.ndarray[tuple[int, int], np.dtype[np.int64]] = np.array([pair for pair, _ in ordered])
    times = np.array([number for _, number in ordered])
    units = int(times.sum())
    drawn = np.random.default_rng(seed).multinomial(units, times / units, size=RESAMPLES)
    sums = drawn @ sizes
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    return float(low), float(high)

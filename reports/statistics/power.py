"""The smallest difference between two models that a paired comparison can detect."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

POWER: Final = 0.8
"""Probability of detecting the smallest detectable difference."""

PRECISION: Final = 1e-4
"""Step of the search: a hundredth of a percentage point."""


def power(difference: float, *, n: int, discordance: float, alpha: float) -> float:
    """How often the exact two-sided McNemar test rejects at `alpha`.

    Parameters
    ----------
    difference
        True difference of the two rates, 0 to 1, at most `discordance`.
    n
        Inputs.
    discordance
        Share of inputs on which exactly one of the two models changes its answer.

    Notes
    -----
    Exact: the number of discordant inputs is binomial, and so is their split, given that number; the sum
    is over all numbers, but for those at the ends which together have a chance below 1e-12.
    """
    import numpy as np
    from scipy.special import bdtr, bdtrik

    if not discordance:
        return 0.0
    numbers, chances = _discordant(n, discordance)
    # The largest count on the rarer side at which the test rejects, by the tail of a fair coin.
    most = np.floor(bdtrik(alpha / 2, numbers, 0.5))
    most = np.where(bdtr(np.maximum(most, 0), numbers, 0.5) <= alpha / 2, most, most - 1)
    one_way = (1 + difference / discordance) / 2
    within = np.maximum(most, 0)
    rejected = bdtr(within, numbers, one_way) + bdtr(within, numbers, 1 - one_way)
    return float(np.sum(chances * np.where(most >= 0, rejected, 0.0)))


def detectable_difference(n: int, discordant: int, *, alpha: float) -> float | None:
    """The smallest difference of two rates that McNemar's exact test shows in four of five comparisons.

    The share of discordant inputs is taken as it was seen (`discordant` of `n`), or as the difference
    itself where that is larger, since a difference needs discordant inputs. `None` where even models that
    differ on every input would not be told apart.
    """
    if n <= 0:
        return None
    seen = discordant / n

    def shown(difference: float) -> bool:
        return power(difference, n=n, discordance=max(seen, difference), alpha=alpha) >= POWER

    low, high = 0.0, 1.0
    if not shown(high):
        return None
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def _discordant(
    n: int, share: float
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    """Return the possible numbers of discordant inputs and their binomial probabilities."""
    import numpy as np
    from scipy.special import gammaln, xlog1py, xlogy

    spread = 8 * (n * share * (1 - share)) ** 0.5 + 8
    numbers = np.arange(max(1, int(n * share - spread)), min(n, int(n * share + spread)) + 1)
    ways = gammaln(n + 1) - gammaln(numbers + 1) - gammaln(n - numbers + 1)
    return numbers, np.exp(ways + xlogy(numbers, share) + xlog1py(n - numbers, -share))

"""Tests whether violations increased from one run to the next; used by the gate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, erfc, sqrt
from typing import Final, NamedTuple

from codeaudit.reports.records import Rise
from codeaudit.transforms.errors import CannotAudit

POWER: Final = 0.8
MOST: Final = 100_000
"""Largest number of samples that a plan considers."""

# The convolution below adds one weight after another to a table of sums. 5,000 samples with 10,000 net
# changes are at the limit, which takes well under a second. With so many weights the sum is close to normal.
EXACT_CELLS: Final = 50_000_000
"""Maximum number of additions for the exact distribution. Beyond it, the normal approximation is equally
good.
"""

METHOD: Final = "exact McNemar, clustered on samples"


class Tally(NamedTuple):
    """Counts of one sample's shared pairs in two runs."""

    pairs: int
    before: int
    """Pairs violated in the baseline."""
    appeared: int
    """Pairs violated only now."""
    gone: int
    """Pairs violated only before."""


def paired_rise(tallies: Sequence[Tally]) -> Rise:
    """Test one-sidedly whether more pairs are violated now than before, with the sample as the unit.

    Each sample has a net change: appeared minus gone. Under the null hypothesis the two models are
    exchangeable, so every net change keeps its size and gets a random sign. p is the share of all sign
    assignments whose sum is at least the observed one, computed exactly. With one pair per sample this is
    McNemar's exact test.

    McNemar's test over pairs is not valid here. All variants of a sample are compared with one answer to the
    original, so a single flip of that answer violates them together. Its p-value is kept as `p_pairs`.

    Raises:
        CannotAudit: there is no pair.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions. Durkalski,
    Palesch, Lipsitz and Rust (2003), Analysis of clustered matched-pair data; here with the exact
    distribution of the net changes under random signs.
    """
    pairs = sum(one.pairs for one in tallies)
    if not pairs:
        raise CannotAudit("no shared pairs: nothing to compare")
    before = sum(one.before for one in tallies)
    appeared, gone = sum(one.appeared for one in tallies), sum(one.gone for one in tallies)
    # A sample whose appeared and gone pairs are equally many has no net change. Like a tie in McNemar's test
    # it says nothing about the direction, so it gets no sign.
    risen, fallen = _net(tallies)
    return Rise(
        method=METHOD,
        pairs=pairs,
        samples=len(tallies),
        before=before,
        now=before + appeared - gone,
        appeared=appeared,
        gone=gone,
        rise=(appeared - gone) / pairs,
        p=flip_tail(risen + fallen, sum(risen)),
        # Told beside p so that a reader sees how much certainty the dependent variants would have pretended:
        # 12 new violations in 3 samples have p 1/8, and over pairs 1/4096.
        p_pairs=flip_tail([1] * (appeared + gone), appeared),
    )


def with_detectable(rise: Rise, tallies: Sequence[Tally], *, alpha: float, margin: float) -> Rise:
    """Return the paired rise with the rises that the rule `p <= alpha and rise > margin` could have detected.

    `detectable` is the best case: new violations are spread evenly over the samples that have room for them.
    `likely` is the worst case: all pairs of a sample change together, and samples change by chance in both
    directions as often as samples were seen to improve. With one pair per sample, both cases are the same.
    """
    _, fallen = _net(tallies)
    # A pair that was violated before cannot be violated for the first time: only the others have room for a
    # rise.
    room = sorted(one.pairs - one.before for one in tallies if one.before < one.pairs)

    def fails(more: int) -> bool:
        # Spread over as many samples as possible: each sample that worsens is one more coin that had to fall
        # the same way. The improvements that were seen stay as they are.
        risen = _spread(more, len(room))
        return (more - sum(fallen)) / rise.pairs > margin and flip_tail(risen + fallen, more) <= alpha

    least = _smallest(sum(room), fails) if room else None
    likely = _likely(rise.samples, len(fallen) / rise.samples, alpha=alpha, margin=margin)
    return replace(
        rise,
        detectable=None if least is None else (least - sum(fallen)) / rise.pairs,
        # A rise that needs more new violations than there is room for cannot happen.
        likely=None if likely is None or likely > sum(room) / rise.pairs else likely,
    )


def flip_tail(weights: Sequence[int], reached: int) -> float:
    """Return the probability that weights, each included by a fair coin, sum to `reached` or more.

    The result is 1 without weights. It is exact up to rounding while the table of sums has at most
    `EXACT_CELLS` cells; beyond that the normal approximation is used.
    """
    if not weights:
        return 1.0
    # The sum of all weights counted as positive: signs are coins, and `reached` is the sum of the positive
    # ones.
    size = sum(weights)
    if len(weights) * size > EXACT_CELLS:
        # Each coin adds a variance of weight² / 4. 0.5 is the continuity correction of a sum of whole
        # numbers.
        spread = sqrt(sum(weight * weight for weight in weights)) / 2
        return 0.5 * erfc((reached - 0.5 - size / 2) / (spread * sqrt(2)))
    import numpy as np

    chances = np.zeros(size + 1)
    chances[0], end = 1.0, 0
    for weight in weights:
        # The new coin is 0 or `weight`: half of the old distribution stays, and half moves up by `weight`.
        half = chances[: end + 1] / 2
        chances[: end + 1] = half
        end += weight
        chances[weight : end + 1] += half
    return min(1.0, float(chances[reached:].sum()))


def _net(tallies: Sequence[Tally]) -> tuple[list[int], list[int]]:
    """Return the net changes of the samples that worsened, and of those that improved."""
    changes = [one.appeared - one.gone for one in tallies]
    return [change for change in changes if change > 0], [-change for change in changes if change < 0]


def _spread(total: int, places: int) -> list[int]:
    """Split a total into `places` parts that are as equal as possible."""
    # With fewer violations than places only `total` samples get one; samples without a change have no sign.
    each, rest = divmod(total, places)
    return [each + 1] * rest + [each] * (places - rest) if each else [1] * rest


def _smallest(most: int, holds: Callable[[int], bool]) -> int | None:
    """Return the smallest number from 1 to `most` for which a monotone condition holds, by bisection."""
    if most < 1 or not holds(most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def power(samples: int, rise: float, *, churn: float, alpha: float, margin: float) -> float:
    """Return how often a true rise fails if all pairs of a sample change together.

    `churn` is the share of samples that improve by chance; the same share is assumed to worsen by chance. The
    rise comes on top.
    """
    return _powers(samples, churn, alpha=alpha, margin=margin)(rise)


def samples_needed(rise: float, wanted: float, *, churn: float, alpha: float, margin: float) -> int | None:
    """Return a number of samples for which `power` is at least `wanted`, the smallest to about 1 %; `None`
    above `MOST`.
    """

    def enough(number: int) -> bool:
        return power(number, rise, churn=churn, alpha=alpha, margin=margin) >= wanted

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    # Power goes up and down a little with the number of samples, because counts are whole numbers: a more
    # precise number would add nothing.
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _likely(samples: int, churn: float, *, alpha: float, margin: float) -> float | None:
    """Return the smallest true rise that fails in four of five runs, to a hundredth of a percentage point;
    `churn` is that of `power`.
    """
    found = _powers(samples, churn, alpha=alpha, margin=margin)
    least = _smallest(10_000, lambda hundredths: found(hundredths / 10_000) >= POWER)
    return None if least is None else least / 10_000


def _powers(samples: int, churn: float, *, alpha: float, margin: float) -> Callable[[float], float]:
    """Return `power` as a function of the rise."""
    import numpy as np
    from scipy.special import bdtr, bdtrc

    # Six standard deviations: what lies outside is too rare to decide whether the power is 0.8.
    spread = 6 * sqrt(samples * churn * (1 - churn))
    gone = np.arange(max(0, int(samples * churn - spread)), min(samples, ceil(samples * churn + spread)) + 1)
    # The chance of each number as the difference of two tails, because scipy.special has no binomial mass.
    below = np.where(gone > 0, bdtr(np.maximum(gone - 1.0, 0.0), samples, churn), 0.0)
    chances = bdtr(gone.astype(float), samples, churn) - below
    needed = np.array([_needed(int(one), samples, alpha=alpha, margin=margin) for one in gone])

    def fails(rise: float) -> float:
        # Samples worsen as often as they improve by chance, and the true rise comes on top of that.
        caught = np.where(needed > samples, 0.0, bdtrc(needed - 1.0, samples, min(1.0, churn + rise)))
        return float(np.sum(chances * caught))

    return fails


def _needed(gone: int, samples: int, *, alpha: float, margin: float) -> int:
    """Return how many samples must worsen to fail if `gone` samples improve; `samples + 1` if no number
    suffices.
    """

    def fails(more: int) -> bool:
        return (more - gone) / samples > margin and _coin(more, gone) <= alpha

    return _smallest(samples, fails) or samples + 1


def _coin(heads: int, tails: int) -> float:
    """Return the probability of at least `heads` heads."""
    from scipy.special import bdtrc

    return float(bdtrc(heads - 1.0, heads + tails, 0.5)) if heads else 1.0

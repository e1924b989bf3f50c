"""Tests whether violations increased from one run to the next; used by the gate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Final, NamedTuple

from codeaudit.reports.records import Rise
from codeaudit.reports.statistics.bisection import grown, lowest
from codeaudit.transforms.errors import CannotAudit

POWER: Final = 0.8
MOST: Final = 100_000
"""Largest number of samples that a plan considers."""

METHOD: Final = "exact McNemar over samples"


class SampleChange(NamedTuple):
    """One sample in two runs: whether an answer changed on any of the pairs that both runs judged."""

    before: bool
    now: bool
    pairs: int = 1
    """Number of these pairs."""


def paired_rise(samples: Sequence[SampleChange]) -> Rise:
    """Test one-sidedly whether more samples are violated now than before.

    Under the null hypothesis each sample that changed is as likely to have appeared as to be gone. p is the
    exact binomial tail.

    The unit is the sample, because the variants of a sample are not independent: all of them are compared
    with one answer to the original, so a single flip of that answer violates them together.

    Raises:
        CannotAudit: there is no sample.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions.
    """
    if not samples:
        raise CannotAudit("no shared pairs: nothing to compare")
    appeared = sum(sample.now and not sample.before for sample in samples)
    gone = sum(sample.before and not sample.now for sample in samples)
    before = sum(sample.before for sample in samples)
    return Rise(
        method=METHOD,
        pairs=sum(sample.pairs for sample in samples),
        samples=len(samples),
        before=before,
        now=before + appeared - gone,
        appeared=appeared,
        gone=gone,
        rise=(appeared - gone) / len(samples),
        p=coin(appeared, gone),
    )


def with_detectable(rise: Rise, *, alpha: float, margin: float) -> Rise:
    """Return the rise with those that the rule `p <= alpha and rise > margin` could have detected.

    `detectable` takes the improvements as they were seen. For `likely`, samples change by chance in both
    directions as often as samples were seen to improve.
    """
    # A sample that was violated before cannot be violated for the first time: only the others have room.
    room = rise.samples - rise.before

    def fails(more: int) -> bool:
        return (more - rise.gone) / rise.samples > margin and coin(more, rise.gone) <= alpha

    least = _smallest(room, fails)
    likely = _likely(rise.samples, rise.gone / rise.samples, alpha=alpha, margin=margin)
    return replace(
        rise,
        detectable=None if least is None else (least - rise.gone) / rise.samples,
        # A rise that needs more new violations than there is room for cannot happen.
        likely=None if likely is None or likely > room / rise.samples else likely,
    )


def _smallest(most: int, holds: Callable[[int], bool]) -> int | None:
    """Return the smallest number from 1 to `most` for which a monotone condition holds."""
    if most < 1 or not holds(most):
        return None
    return lowest(0, most, holds)


def power(samples: int, rise: float, *, churn: float, alpha: float, margin: float) -> float:
    """Return how often a true rise of violated samples fails.

    `churn` is the share of samples that improve by chance; the same share is assumed to worsen by chance. The
    rise comes on top.
    """
    return _powers(samples, churn, alpha=alpha, margin=margin)(rise)


def samples_needed(rise: float, target: float, *, churn: float, alpha: float, margin: float) -> int | None:
    """Return a number of samples for which `power` is at least `target`, the smallest to about 1 %; `None`
    above `MOST`.
    """

    def enough(number: int) -> bool:
        return power(number, rise, churn=churn, alpha=alpha, margin=margin) >= target

    # Power goes up and down a little with the number of samples, because counts are whole numbers: a more
    # precise number would add nothing.
    return grown(1, MOST, enough)


def _likely(samples: int, churn: float, *, alpha: float, margin: float) -> float | None:
    """Return the smallest true rise that fails in four of five runs, to a hundredth of a percentage point;
    `churn` is that of `power`.
    """
    power_of = _powers(samples, churn, alpha=alpha, margin=margin)
    least = _smallest(10_000, lambda hundredths: power_of(hundredths / 10_000) >= POWER)
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
    needed = np.array([_needed(int(number), samples, alpha=alpha, margin=margin) for number in gone])

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
        return (more - gone) / samples > margin and coin(more, gone) <= alpha

    return _smallest(samples, fails) or samples + 1


def coin(heads: int, tails: int) -> float:
    """Return the probability of at least `heads` heads."""
    from scipy.special import bdtrc

    return float(bdtrc(heads - 1.0, heads + tails, 0.5)) if heads else 1.0


DRAWS: Final = 99_999
"""Sign flips for up to `FEW` changed scores."""
FEW: Final = 200
"""Above this number of changed scores the normal distribution is used."""
CELLS: Final = 1 << 22
"""Signs that are drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLoss:
    """The scores of one model on samples that both runs scored."""

    method: str
    samples: int
    worse: int
    """Samples whose score got worse."""
    better: int
    before: float
    """Mean score over these samples in the baseline."""
    now: float
    loss: float
    """Positive means worse, whichever direction is better."""
    p: float
    """One-sided p-value: probability of a loss at least this large under no change."""


def paired_loss(scores: Sequence[tuple[float, float]], *, better: str) -> ScoreLoss:
    """Test one-sidedly whether the mean score got worse; `scores` holds (before, now) of each sample.

    Under the null hypothesis each difference is as likely to have the other sign. Where all differences
    are of one size, as for right and wrong answers, this is the exact McNemar test; else signs are flipped
    at random with fixed draws; with many differences the normal distribution is used.

    Raises:
        CannotAudit: there is no sample.

    References
    ----------
    Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.2: paired comparisons.
    """
    if not scores:
        raise CannotAudit("no shared scores: nothing to compare")
    sign = 1 if better == "higher" else -1
    losses = [sign * (before - now) for before, now in scores if before != now]
    worse = sum(loss > 0 for loss in losses)
    method, p = _tail(losses)
    return ScoreLoss(
        method=method,
        samples=len(scores),
        worse=worse,
        better=len(losses) - worse,
        before=sum(before for before, _ in scores) / len(scores),
        now=sum(now for _, now in scores) / len(scores),
        loss=sum(losses) / len(scores),
        p=p,
    )


def _tail(losses: Sequence[float]) -> tuple[str, float]:
    import numpy as np
    from scipy.special import ndtr

    sizes = {round(abs(loss), 12) for loss in losses}
    worse = sum(loss > 0 for loss in losses)
    if len(sizes) <= 1:
        return "exact McNemar over samples", coin(worse, len(losses) - worse)
    values = np.array(losses)
    total = float(values.sum())
    if len(losses) > FEW:
        return "sign flips over samples, normal", float(ndtr(-total / sqrt(float(values @ values))))
    rng = np.random.default_rng(len(losses))
    reached, rest = 0, DRAWS
    while rest:
        count = min(rest, CELLS // len(losses))
        signs = rng.integers(0, 2, size=(count, len(losses)), dtype=np.int8) * 2 - 1
        # Equal sums may differ in their last digits.
        reached += int((signs @ values >= total - 1e-9).sum())
        rest -= count
    return "sign flips over samples", (reached + 1) / (DRAWS + 1)

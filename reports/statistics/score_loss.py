"""Tests whether the scores of the same samples got worse from one run to the next; used by the gate."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from codeaudit.reports.statistics.mcnemar import coin
from codeaudit.transforms.errors import CannotAudit

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
    worse = sum(one > 0 for one in losses)
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

    sizes = {round(abs(one), 12) for one in losses}
    worse = sum(one > 0 for one in losses)
    if len(sizes) <= 1:
        return "exact McNemar over samples", coin(worse, len(losses) - worse)
    values = np.array(losses)
    total = float(values.sum())
    if len(losses) > FEW:
        return "sign flips over samples, normal", float(ndtr(-total / sqrt(float(values @ values))))
    rng = np.random.default_rng(len(losses))
    reached, left = 0, DRAWS
    while left:
        some = min(left, CELLS // len(losses))
        signs = rng.integers(0, 2, size=(some, len(losses)), dtype=np.int8) * 2 - 1
        # Equal sums may differ in their last digits.
        reached += int((signs @ values >= total - 1e-9).sum())
        left -= some
    return "sign flips over samples", (reached + 1) / (DRAWS + 1)

"""How well the scores of a model tell whether its answers are right: Brier score and calibration error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Final

BINS: Final = 10
"""Bins of equal width for the calibration error."""
_WHOLE: Final = 0.01
"""Scores that differ from 1 by at most this in sum are probabilities."""


def probability(answer: str, scores: Mapping[str, float]) -> float | None:
    """The probability that a model gives its answer; `None` without scores of it and of another one.

    Scores that are no probabilities are logits or log-probabilities: their softmax is taken.
    """
    if len(scores) < 2 or answer not in scores:
        return None
    if min(scores.values()) >= 0 and abs(sum(scores.values()) - 1) <= _WHOLE:
        return min(1.0, scores[answer])
    top = max(scores.values())
    return exp(scores[answer] - top) / sum(exp(score - top) for score in scores.values())


@dataclass(slots=True)
class ScoredAnswers:
    """Sums over answers by the bin of their probability."""

    counts: list[int] = field(default_factory=lambda: [0] * BINS)
    sure: list[float] = field(default_factory=lambda: [0.0] * BINS)
    right: list[float] = field(default_factory=lambda: [0.0] * BINS)
    squares: float = 0.0

    def add(self, sure: float, right: float) -> None:
        """Count an answer with its probability, which is right (1) or wrong (0)."""
        place = min(BINS - 1, int(sure * BINS))
        self.counts[place] += 1
        self.sure[place] += sure
        self.right[place] += right
        self.squares += (sure - right) ** 2

    def join(self, other: "ScoredAnswers") -> None:
        """Count those of another trial."""
        for mine, theirs in ((self.sure, other.sure), (self.right, other.right)):
            mine[:] = [own + more for own, more in zip(mine, theirs, strict=True)]
        self.counts = [own + more for own, more in zip(self.counts, other.counts, strict=True)]
        self.squares += other.squares

    @property
    def total(self) -> int:
        """Number of answers."""
        return sum(self.counts)

    @property
    def brier(self) -> float | None:
        """The Brier score: the mean squared difference of probability and rightness."""
        return self.squares / self.total if self.total else None

    @property
    def error(self) -> float | None:
        """The expected calibration error: the mean over answers of the difference between the mean
        probability of a bin and its share of right answers.

        References
        ----------
        Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning.
        """
        gaps = (abs(sure - right) for sure, right in zip(self.sure, self.right, strict=True))
        return sum(gaps) / self.total if self.total else None

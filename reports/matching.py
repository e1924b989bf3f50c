"""Answers to variants beside as many answers to repeats, sample by sample: what a gate decides on for a model
whose answers to the same input differ.

Where an edit has no effect, all answers of a sample after the first are exchangeable, however noise is spread
over samples. So of equally many variants and repeats the same number differs from the first answer, up to
chance: the sign of a sample's difference is as likely to be plus as minus. With more variants than repeats
this would not be so. Then the first variants of each transform in turn are taken, as many as there are
repeats.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from codeaudit.reports.judged import Judged, PairKey, key_of, pairs_of
from codeaudit.reports.records import ModelSummary
from codeaudit.reports.statistics.excess import affected


class SampleKey(NamedTuple):
    """A sample in one trial."""

    seed: int
    sample: str
    original: str
    """Hash of its source."""


@dataclass(frozen=True, slots=True)
class Matched:
    """One sample: so many variants and as many repeats."""

    number: int
    changed: int
    """Variants with another answer than the first."""
    unsteady: int
    """Repeats with another answer than the first."""

    @property
    def difference(self) -> Fraction:
        """Share of changed variants minus share of changed repeats."""
        return Fraction(self.changed - self.unsteady, self.number)

    @property
    def excess(self) -> int:
        """Whether some variant changed minus whether some repeat did."""
        return int(self.changed > 0) - int(self.unsteady > 0)


def may_be_noisy(model: ModelSummary) -> bool:
    """Whether noise may explain changed answers: somebody else runs the model, or a repeat changed."""
    return model.hosted or model.noise_floor.count > 0


def matched(pairs: Mapping[PairKey, bool], repeats: Mapping[PairKey, bool]) -> dict[SampleKey, Matched]:
    """The samples that have both, with whether each answer is another than the first."""
    again = _by_sample(repeats)
    by_sample = {}
    for key, changed in _by_sample(pairs).items():
        unsteady = again.get(key, [])
        if number := min(len(changed), len(unsteady)):
            by_sample[key] = Matched(number, sum(changed[:number]), sum(unsteady[:number]))
    return by_sample


def _by_sample(pairs: Mapping[PairKey, bool]) -> Mapping[SampleKey, list[bool]]:
    by_sample: dict[SampleKey, list[bool]] = defaultdict(list)
    for key in sorted(pairs, key=lambda key: (key.variant, key.transform)):
        by_sample[SampleKey(key.seed, key.sample, key.original)].append(pairs[key])
    return by_sample


@dataclass(frozen=True, slots=True)
class EffectBound:
    """What noise alone cannot explain of the changed answers under one transform."""

    differences: tuple[Fraction, ...]
    """The difference of each sample with a repeat, over all trials."""
    alpha: float
    used: int
    """Variants of a sample that were held against repeats, at most."""
    variants: int
    """Variants of a sample, at most."""

    @property
    def samples(self) -> int:
        """Number of these samples."""
        return len(self.differences)

    @property
    def surely(self) -> int:
        """The least number of samples on which the edit has an effect; a larger number than is true has a
        chance of at most alpha."""
        return affected(self.differences, self.alpha)

    @property
    def about(self) -> int:
        """The same at a chance of one half: an estimate."""
        return affected(self.differences, 0.5)

    @property
    def more(self) -> int:
        """Number of samples that changed under the edit more often than when repeated."""
        return sum(difference > 0 for difference in self.differences)

    @property
    def less(self) -> int:
        """Number of samples that changed less often."""
        return sum(difference < 0 for difference in self.differences)


def effect_bound(run: Judged, model: str, transform: str, alpha: float) -> EffectBound | None:
    """What noise cannot explain under a transform; `None` if no sample has a judged variant and a repeat."""
    pairs = {
        key_of(run, flip): flip.violated
        for flip in run.flips
        if flip.model == model and flip.transform == transform
    }
    by_sample = matched(pairs, pairs_of(run, "identity").get(model, {}))
    if not by_sample:
        return None
    return EffectBound(
        differences=tuple(_by_witness(by_sample)),
        alpha=alpha,
        used=max(match.number for match in by_sample.values()),
        variants=max(len(changes) for changes in _by_sample(pairs).values()),
    )


def reaction_beyond(run: Judged, model: str) -> list[Fraction]:
    """Each sample's share of controls that change the answer minus that of repeats."""
    controls, repeats = (pairs_of(run, kind).get(model, {}) for kind in ("control", "identity"))
    return _by_witness(matched(controls, repeats))


def _by_witness(by_sample: Mapping[SampleKey, Matched]) -> list[Fraction]:
    """The difference of each sample, summed over its trials: an answer may be the same one in all of them."""
    sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for key, match in by_sample.items():
        sums[key.sample, key.original] += match.difference
    return [sums[key] for key in sorted(sums)]

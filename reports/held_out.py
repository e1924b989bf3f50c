"""How far the score drops under edits on a public benchmark, beside the drop on held-out code.

The drop of a sample is its score on the original less the mean of its scores on variants that keep the
meaning. Noise alone lowers neither more than the other, so the mean drop needs no correction for it. It is
the mean of the samples' own scores, also where the score of a corpus is no mean.

The samples are the units: all variants of a sample, in all trials, give one drop. So it is with the shift of
the probability of the original's answer, where the model gives probabilities.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import hypot
from statistics import fmean
from typing import Final, NamedTuple

from codeaudit.reports.records import (
    UNKNOWN,
    ComparedRun,
    Estimate,
    Excess,
    HeldOut,
    ModelSummary,
    ScoredPair,
)
from codeaudit.reports.statistics.excess import MOST, estimated, flips, rounded
from codeaudit.reports.statistics.intervals import mean_share
from codeaudit.reports.wording import is_share
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.grammar import counted

SHOWS: Final = (
    "A larger drop on the public set than on held-out code is what memorised answers would cause: they fit "
    "the text that was published and not a variant of it."
)
"""What the comparison with held-out code shows."""
SHOWS_NOT: Final = (
    "It is no proof of contamination: other differences between the two sets, such as harder code or more "
    "places to edit, can cause it too, and equal drops do not prove that nothing was memorised."
)
"""What it does not show."""


class _Set(NamedTuple):
    """What one model did on one set of samples."""

    original: float
    """The mean score on the originals."""
    drop: Excess
    shift: Estimate


def check_held_out(runs: Sequence[ComparedRun], held: ComparedRun) -> None:
    """Check that the drops of the runs can stand beside those of held-out code.

    Raises:
        UsageError: the held-out run is one of the others, they have no model in common, or one name means two
            models.
    """
    if held.name in {run.name for run in runs}:
        raise UsageError(f"--held-out: {held.name!r} is also compared; give a run on other code")
    fingerprints = {model.model: model.fingerprint for model in held.summary.models}
    for run in runs:
        for model in run.summary.models:
            if fingerprints.get(model.model, model.fingerprint) != model.fingerprint:
                raise UsageError(
                    f"--held-out: {model.model} of {run.name!r} and of {held.name!r} are two models: their "
                    "fingerprints differ; audit one model on both sets"
                )
    models = {model.model for run in runs for model in run.summary.models}
    if not models & fingerprints.keys():
        raise UsageError(
            f"--held-out: no model answered both sets; {held.name!r} has {', '.join(fingerprints)}, the "
            f"others have {', '.join(sorted(models))}"
        )


def beside_held_out(
    runs: Sequence[ComparedRun], held: ComparedRun
) -> tuple[tuple[HeldOut, ...], tuple[str, ...]]:
    """The drops of each model that answered both sets, and notes on what was left out.

    Raises:
        UsageError: a set has no scores of a model, or the score has a unit of its own.
    """
    check_held_out(runs, held)
    known = {model.model for model in held.summary.models}
    rows: list[HeldOut] = []
    notes: list[str] = []
    for run in runs:
        same = _same_samples(run, held)
        if same:
            notes.append(
                f"{counted(len(same), 'sample')} of {held.name} {'has' if len(same) == 1 else 'have'} the "
                f"text of one of {run.name}, so it is not held out and does not count"
            )
        for model in run.summary.models:
            if model.model not in known:
                notes.append(f"{model.model} was not asked about held-out code, so it has no drop there")
                continue
            row, others = _row(run, held, model, same)
            rows.append(row)
            if others:
                notes.append(f"{model.model}: only edits of both sets count, so not {', '.join(others)}")
    return tuple(rows), (*dict.fromkeys(notes), SHOWS, SHOWS_NOT)


def _same_samples(run: ComparedRun, held: ComparedRun) -> frozenset[str]:
    """The held-out samples whose unchanged text the other run has, too."""
    public = {flip.input for flip in run.flips if flip.kind == "identity"}
    return frozenset(flip.sample for flip in held.flips if flip.kind == "identity" and flip.input in public)


def _row(
    run: ComparedRun, held: ComparedRun, model: ModelSummary, same: frozenset[str]
) -> tuple[HeldOut, list[str]]:
    """The row of a model, and the transforms that only one set has."""
    if not is_share(model.score):
        raise UsageError(
            f"--held-out: {model.score.name} has a unit of its own, so its drops on two sets do not compare"
        )
    here = [pair for pair in run.scored if pair.model == model.model]
    there = [pair for pair in held.scored if pair.model == model.model and pair.sample not in same]
    names = [{pair.transform for pair in pairs} for pairs in (here, there)]
    both = names[0] & names[1]
    if not both:
        raise UsageError(
            f"--held-out: {run.name!r} and {held.name!r} have no edit in common under which {model.model} "
            "has scores; the drop needs samples with a label, and the same --transform for both runs"
        )
    sign = 1 if model.score.better == "higher" else -1
    public, other = (_set(pairs, both, sign) for pairs in (here, there))
    row = HeldOut(
        model=model.model,
        public_run=run.name,
        held_out_run=held.name,
        score=model.score.name,
        better=model.score.better,
        public_original=public.original,
        held_out_original=other.original,
        public_drop=public.drop,
        held_out_drop=other.drop,
        difference=difference(_estimate(public.drop), _estimate(other.drop)),
        public_shift=public.shift,
        held_out_shift=other.shift,
        shift_difference=difference(public.shift, other.shift),
        transforms=tuple(sorted(both)),
    )
    return row, sorted((names[0] | names[1]) - both)


def _set(pairs: Iterable[ScoredPair], transforms: set[str], sign: int) -> _Set:
    """The original score and the drop over samples."""
    samples: dict[str, list[ScoredPair]] = defaultdict(list)
    for pair in pairs:
        if pair.transform in transforms:
            samples[pair.sample].append(pair)
    drops = sorted(
        sum((Fraction(pair.before) - Fraction(pair.after) for pair in pairs), Fraction(0)) * sign / len(pairs)
        for pairs in samples.values()
    )
    return _Set(
        original=fmean(fmean(pair.before for pair in pairs) for pairs in samples.values()),
        drop=estimated(drops, flips(rounded(drops)), least=-MOST),
        shift=mean_share(list(_shifts(samples.values())), seed=0),
    )


def _shifts(samples: Iterable[Sequence[ScoredPair]]) -> Iterator[float]:
    """The mean shift of each sample that has one."""
    for pairs in samples:
        shifts = [pair.shift for pair in pairs if pair.shift is not None]
        if shifts:
            yield fmean(shifts)


def _estimate(drop: Excess) -> Estimate:
    return Estimate(value=drop.points, low=drop.low, high=drop.high)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first mean less the second, over independent samples, with its 95 % interval.

    The interval comes from those of both means, so it is as wide on each side as theirs ask for.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach.
    """
    ends = (first.value, first.low, first.high, second.value, second.low, second.high)
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return UNKNOWN
    mean, low, high, other, other_low, other_high = known
    apart = mean - other
    return Estimate(
        value=apart,
        low=apart - hypot(mean - low, other_high - other),
        high=apart + hypot(high - mean, other - other_low),
    )

"""Decides whether a run passes: absolute limits, and no rise of violations against a baseline.

Without a baseline and with one, it also asks whether each model reacts at all (`codeaudit.reports.reaction`).

The rule for a rise:

- Pair the verdicts under meaning-keeping transforms with those of the baseline if sample, text, transform and
  variant are equal. A sample is violated if an answer changed on any of its pairs.
- Per model, test all transforms together and, if there are several, each transform alone.
- In the same way, pair the verdicts under controls: a sample is insensitive if no answer changed on any of
  its pairs. And pair the scores of the originals.
- Adjust the p-values of all these tests by Holm's method, so that more models or transforms do not cause more
  false alarms.
- Fail if an adjusted p-value is at most `alpha` and the rise exceeds `margin`.
- Where either run has an unsteady sample, violations rise with the noise, too. There two things must have
  risen: the share of changed variants, and the excess, that share minus the share of changed repeats. Both
  p-values are of sign flips over samples, and both rises must exceed `margin`. The excess alone would not
  do, because it also rises where noise falls: noise hides effects. Counts of violated samples would not do
  either: with a noise of 20 % of queries most samples are violated anyway.

The rule for `max_violation_rate`: see `_violations`.

An unjudged pair is never a violation. The gate ends `unknown`, not `passed`, if a requested check could not
be judged, or if too many pairs of the baseline are not in the run or are unjudged now.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from codeaudit.audit.records import EXCUSES
from codeaudit.reports import wording
from codeaudit.reports.cases import Place
from codeaudit.reports.checks import SIGN_FLIPS, Check, Gate, Outcome
from codeaudit.reports.judged import DIGITS, Judged, PairKey, Pairs, key_of, pairs_of
from codeaudit.reports.matching import EffectBound, SampleKey, effect_bound, matched, may_be_noisy
from codeaudit.reports.reaction import reaction
from codeaudit.reports.records import ByTransform, ModelSummary, Rate, Rise, Summary
from codeaudit.reports.statistics.adjustment import holm
from codeaudit.reports.statistics.excess import MOST_SAMPLES, flips, samples_needed
from codeaudit.reports.statistics.intervals import Z
from codeaudit.reports.statistics.mcnemar import (
    SampleChange,
    ScoreLoss,
    paired_loss,
    paired_rise,
    with_detectable,
)
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits for every model of a run, named as the options; `None` if a limit was not requested."""

    max_violation_rate: float | None = None
    """Maximum violation rate of each meaning-keeping transform, 0 to 1."""
    max_f1_drop: float | None = field(default=None, metadata={"most": None})
    """Maximum loss of the score under attack, in the unit of the score."""
    max_missed: float | None = None
    """Maximum share of the flaws found before that each meaning-keeping transform makes the model miss, 0 to
    1."""
    max_score_drop: float | None = None
    """Maximum loss of the score of the originals against the baseline; `None` for `margin`."""
    min_sensitivity: float | None = None
    """Minimum share of changed answers under controls, 0 to 1."""
    margin: float = 0.01
    alpha: float = 0.01
    max_unjudged: float = 0.2
    """Maximum share of pairs without a verdict. Above it the gate decides nothing."""
    max_newly_unjudged: float = 0.05
    """Maximum share of the pairs judged in the baseline that are unjudged now."""
    min_shared: float = 0.9
    """Minimum share of the pairs judged in the baseline that the run has, too."""
    allow_insensitive: bool = False
    """Whether models pass that do not react to their input."""
    must_decide: bool = False
    """Whether the gate ends `unknown` where noise leaves open if a limit is exceeded."""

    @property
    def hold_alone(self) -> bool:
        """Whether one of them holds a run to something without a baseline."""
        limits = (self.max_violation_rate, self.max_f1_drop, self.max_missed, self.min_sensitivity)
        return any(limit is not None for limit in limits)


Subject: TypeAlias = Literal["violations", "insensitivity"]
"""What rises: violated samples, or samples whose answer no control changes."""


@dataclass(frozen=True, slots=True)
class NoisyRise:
    """What rose from one run of a noisy model to another, over the samples that have repeats in both."""

    changed: float
    """Mean share of changed variants, now minus before."""
    changed_p: float
    """One-sided, by sign flips over samples."""
    excess: float
    """The same of the share of changed variants minus that of as many repeats."""
    excess_p: float
    samples: int
    before: int
    """Unsteady samples in the baseline."""
    now: int

    @property
    def p(self) -> float:
        """The larger one of two p-values that must both be small."""
        return max(self.changed_p, self.excess_p)

    def exceeds(self, margin: float) -> bool:
        """Whether both rises do."""
        return min(self.changed, self.excess) > margin


@dataclass(frozen=True, slots=True)
class RiseTest:
    """One rise, and what it is about."""

    model: str
    transform: str
    """Empty for all of them together."""
    rise: Rise
    subject: Subject = "violations"
    noisy: NoisyRise | None = None
    """Decides instead; `None` where neither run has an unsteady sample."""

    @property
    def p(self) -> float:
        """Its p-value, not adjusted."""
        return self.rise.p if self.noisy is None else self.noisy.p

    @property
    def samples(self) -> int:
        """The number of samples that it compares."""
        return self.rise.samples

    @property
    def covers(self) -> bool:
        """Whether it is about all meaning-keeping transforms together, so that it may not be left out."""
        return self.subject == "violations" and not self.transform


@dataclass(frozen=True, slots=True)
class LossTest:
    """A loss of the score of the originals."""

    model: str
    name: str
    """The name of the score."""
    loss: ScoreLoss
    scale: float
    """What the loss is divided by before it is held against a limit: 1 for a score that is a share."""

    @property
    def p(self) -> float:
        """Its p-value, not adjusted."""
        return self.loss.p

    @property
    def samples(self) -> int:
        """The number of samples that it compares."""
        return self.loss.samples

    @property
    def covers(self) -> bool:
        """Never: it is about the score, and may be left out."""
        return False


class Repeated(NamedTuple):
    """Whether the answer to each repeat of one model is another one than the first."""

    now: Mapping[PairKey, bool]
    before: Mapping[PairKey, bool]

    def rise(
        self,
        shared: Collection[PairKey],
        after: Mapping[PairKey, bool],
        before: Mapping[PairKey, bool],
        *,
        sign: int = 1,
    ) -> NoisyRise | None:
        """The rise on the shared pairs, or the fall if the sign is -1; `None` if no sample of either run is
        unsteady, or none has repeats in both.
        """
        if not any(self.now.values()) and not any(self.before.values()):
            return None
        new = matched({key: after[key] for key in shared}, self.now)
        old = matched({key: before[key] for key in shared}, self.before)
        both = sorted(new.keys() & old.keys())
        if not both:
            return None
        changes: dict[SampleKey, list[int]] = defaultdict(list)
        for pair in shared:
            changes[SampleKey(pair.seed, pair.sample, pair.original)].append(after[pair] - before[pair])
        changed: dict[str, Fraction] = defaultdict(Fraction)
        excess: dict[str, Fraction] = defaultdict(Fraction)
        for key in both:
            # Trials of a sample are one witness.
            changed[key.sample] += sign * Fraction(sum(changes[key]), len(changes[key]))
            excess[key.sample] += sign * (new[key].difference - old[key].difference)
        return NoisyRise(
            changed=float(sum(changed.values()) / len(both)),
            changed_p=flips(list(changed.values()), above=True),
            excess=float(sum(excess.values()) / len(both)),
            excess_p=flips(list(excess.values()), above=True),
            samples=len(both),
            before=sum(old[key].unsteady > 0 for key in both),
            now=sum(new[key].unsteady > 0 for key in both),
        )


PairedTest: TypeAlias = RiseTest | LossTest


def gate(
    now: Judged,
    limits: Limits,
    *,
    baseline: Judged | None = None,
    transforms: frozenset[str] | None = None,
) -> Gate:
    """Decide on a run.

    `transforms` restricts the pairs to those of the named transforms; the run's summary must have been made
    of these alone.

    Raises:
        UsageError: run and baseline are of different tasks.
    """
    judged = _preserving(now.summary, transforms)
    checks = [check for model in now.summary.models for check in _absolute(model, now, limits)]
    if limits.allow_insensitive:
        switched = ["whether the models react was not checked: --allow-insensitive"]
    else:
        switched = []
        for model in now.summary.models:
            checks += reaction(now, model, limits.alpha)
    notes = [note for model in now.summary.models for note in _gaps(model, now)]
    if baseline is not None:
        after, before = _violated(now), _violated(baseline)
        compared, more = _against(now, baseline, after, before, limits, frozenset(judged))
        checks += [*compared, *_coverage(now, baseline, after, before, limits, transforms)]
        notes += more
    return Gate(
        outcome=_worst(checks),
        run=now.name,
        baseline=baseline.name if baseline else None,
        transforms=tuple(judged),
        alpha=limits.alpha,
        margin=limits.margin,
        checks=tuple(checks),
        notes=(*notes, *switched),
        warnings=tuple(_warnings(now, baseline)),
    )


FEW: Final = 30
"""A rate over fewer samples has an interval of 20 points or more."""


def _warnings(now: Judged, baseline: Judged | None) -> Iterator[str]:
    if baseline is not None and now.run and now.run == baseline.run:
        yield "the baseline is this run itself"
    counts = [model.samples for model in now.summary.models if model.samples < FEW]
    if counts:
        yield f"{counted(min(counts), 'sample')} only, fewer than {FEW}"


def lasting(now: Judged, baseline: Judged) -> frozenset[Place]:
    """Return the pairs that are violated now and were violated in the baseline."""
    after, before = _violated(now), _violated(baseline)
    return frozenset(
        Place(model, pair.seed, pair.sample, pair.transform, pair.variant)
        for model, partner in _partners(now, baseline).items()
        if partner
        for pair, violated in after.get(model, {}).items()
        if violated and before.get(partner, {}).get(pair)
    )


def _worst(checks: Iterable[Check]) -> Outcome:
    outcomes = {check.outcome for check in checks}
    # Where no check was made nothing passed.
    return next((outcome for outcome in ("failed", "unknown", "passed") if outcome in outcomes), "unknown")


def _preserving(summary: Summary, transforms: frozenset[str] | None) -> list[str]:
    """The meaning-keeping transforms to judge, in the order of the summary."""
    rows = [row.transform for model in summary.models for row in model.by_transform if _keeps(row)]
    return [name for name in dict.fromkeys(rows) if transforms is None or name in transforms]


def _keeps(row: ByTransform) -> bool:
    return row.kind == "preserving"


def _limited(row: ByTransform) -> bool:
    """Whether its violation rate is held to `--max-violation-rate`."""
    return row.kind in ("preserving", "swap", "network")


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────


def _absolute(model: ModelSummary, now: Judged, limits: Limits) -> list[Check]:
    # Asked even if no limit is given: a run in which the model failed on half of the inputs shows no rise
    # either.
    checks = [*_answers(model, now, limits, "preserving", model.pairs)]
    if limits.min_sensitivity is not None:
        checks += _answers(model, now, limits, "control", model.sensitivity)
    if limits.max_violation_rate is not None:
        checks += _violations(model, now, limits, limits.max_violation_rate)
    if limits.max_missed is not None:
        missed = _violations(*of_findings(model, now), limits, limits.max_missed)
        checks += [replace(check, name="missed flaws") for check in missed]
    if limits.max_f1_drop is not None:
        checks.append(_drop(model, limits, limits.max_f1_drop))
    if limits.min_sensitivity is not None:
        checks.append(_sensitivity(model, limits.min_sensitivity))
    return checks


def _answers(model: ModelSummary, now: Judged, limits: Limits, kind: Kind, judged: Rate) -> list[Check]:
    """A check that answers `unknown` if too many pairs are unjudged; empty otherwise."""
    reasons = _missing(now, model.model, kind)
    missing = reasons.total()
    # Unjudged pairs by fault only. A pair whose right answer changes with the text is unjudged by design.
    share = missing / (missing + judged.total) if missing else 0.0
    if share <= limits.max_unjudged:
        return []
    what = "changes of the meaning" if kind == "control" else "pairs"
    return [
        Check(
            model=model.model,
            name="answers",
            outcome="unknown",
            found=f"{missing} of {missing + judged.total} {what} unjudged ({wording.reasons(reasons)})",
            wanted=f"at most {wording.percent(limits.max_unjudged)} unjudged",
            value=share,
            limit=limits.max_unjudged,
        )
    ]


def _missing(now: Judged, model: str, kind: Kind) -> Counter[str]:
    reasons = Counter[str]()
    for (name, of_kind, _), counts in now.unjudged.items():
        if name == model and of_kind == kind:
            reasons.update({reason: number for reason, number in counts.items() if reason not in EXCUSES})
    return reasons


def _gaps(model: ModelSummary, now: Judged) -> list[str]:
    reasons = _missing(now, model.model, "preserving")
    if not reasons:
        return []
    name = wording.plain(model.model)
    unjudged = f"{counted(reasons.total(), 'pair')} unjudged"
    return [f"{name}: {unjudged}, counted nowhere ({wording.reasons(reasons)})"]


def _violations(model: ModelSummary, now: Judged, limits: Limits, limit: float) -> list[Check]:
    """A check for each transform above the limit; if there is none, one for each that is not decided; else
    one for the transform nearest to it.

    The rate itself is compared with the limit if noise explains nothing: the model runs here, and no repeat
    changed. Otherwise it is the share of samples on which the edit surely has an effect (`affected`).
    """
    rows = limited_rows(model)
    if not rows:
        return [_violation(model, "", model.violations, limit)]
    if may_be_noisy(model) and (beyond := _beyond(now, limits, model, rows)):
        return _beyond_noise(model, rows, beyond, limits, limit)
    above = [row for row in rows if (row.violations.rate or 0) > limit]
    nearest = max(rows, key=lambda row: row.violations.rate or 0)
    remarks = () if above or len(rows) == 1 else (f"the highest of {len(rows)} transforms",)
    return [_violation(model, row.transform, row.violations, limit, *remarks) for row in above or [nearest]]


def limited_rows(model: ModelSummary) -> list[ByTransform]:
    """The rows of a model that `--max-violation-rate` is about."""
    return [row for row in model.by_transform if _limited(row) and row.violations.rate is not None]


def of_findings(model: ModelSummary, now: Judged) -> tuple[ModelSummary, Judged]:
    """The model and the run with the samples alone that the original answer found something in: there every
    violation is a missed flaw."""
    rows = [replace(row, violations=row.missed.violations) for row in model.by_transform if _keeps(row)]
    flips = [flip for flip in now.flips if (flip.model, flip.seed, flip.sample) in now.found]
    return replace(model, violations=model.missed.violations, by_transform=tuple(rows)), replace(
        now, flips=tuple(flips)
    )


def noise_alpha(summary: Summary, alpha: float) -> float:
    """The chance of a false alarm for each row of a noisy model: for all of them together it is alpha."""
    # With alpha for each, 5 transforms fail up to 4 % of models that no edit affects, at a limit of 0.
    return alpha / max(1, sum(len(limited_rows(model)) for model in summary.models if may_be_noisy(model)))


def _beyond(
    now: Judged, limits: Limits, model: ModelSummary, rows: Sequence[ByTransform]
) -> Mapping[str, EffectBound]:
    alpha = noise_alpha(now.summary, limits.alpha)
    bounds = {row.transform: effect_bound(now, model.model, row.transform, alpha) for row in rows}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _beyond_noise(
    model: ModelSummary,
    rows: Sequence[ByTransform],
    beyond: Mapping[str, EffectBound],
    limits: Limits,
    limit: float,
) -> list[Check]:
    # Of a transform whose samples have no repeat nothing can be subtracted.
    bare = [
        _violation(
            model, row.transform, row.violations, limit, "no sample has a repeat: noise is not subtracted"
        )
        for row in rows
        if row.transform not in beyond and (row.violations.rate or 0) > limit
    ]
    sure = {name: bound.surely / bound.samples for name, bound in beyond.items()}
    failed = [row for row in rows if sure.get(row.transform, 0.0) > limit]
    about = {name: bound.about / bound.samples for name, bound in beyond.items()}
    chosen = failed or [row for row in rows if about.get(row.transform, 0.0) > limit]
    remarks: tuple[str, ...] = ()
    if not chosen and not bare:
        candidates = [row for row in rows if row.transform in beyond]
        chosen = [max(candidates, key=lambda row: (sure[row.transform], about[row.transform]))]
        remarks = (f"the highest of {len(rows)} transforms",) if len(rows) > 1 else ()
    noisy = [_noisy_violation(model, row, beyond[row.transform], limits, limit, *remarks) for row in chosen]
    return [*bare, *noisy]


def _noisy_violation(
    model: ModelSummary, row: ByTransform, bound: EffectBound, limits: Limits, limit: float, *remarks: str
) -> Check:
    rate, sure = row.violations, bound.surely
    share = sure / bound.samples
    notes = [
        *remarks,
        f"{counted(bound.more, 'sample')} changed under the edit more often than when repeated, {bound.less} "
        f"less often; noise alone explains up to {bound.more - sure} of the {bound.more}",
    ]
    if bound.used < bound.variants:
        notes.append(
            f"{bound.used} of {bound.variants} variants are held against repeats; --repeats {bound.variants} "
            "takes all of them"
        )
    outcome: Outcome = "failed" if share > limit else "passed"
    if outcome == "passed" and bound.about / bound.samples > limit:
        notes.append(_undecided(bound, limit))
        outcome = "unknown" if limits.must_decide else "passed"
    return Check(
        model=model.model,
        name="violations",
        transform=row.transform,
        outcome=outcome,
        found=f"{wording.percent(share)} beyond noise ({sure}/{bound.samples}); "
        f"{wording.percent(rate.rate)} violated ({wording.interval(rate)}, {wording.counts(rate)})",
        wanted=f"at most {_share(limit)}",
        value=share,
        limit=limit,
        notes=tuple(notes),
    )


def _undecided(bound: EffectBound, limit: float) -> str:
    needed = samples_needed(bound.differences, limit, bound.alpha)
    if needed is None:
        return f"not decided: even {MOST_SAMPLES:,} samples would not"
    return f"not decided: {max(1, needed - bound.samples):,} more samples would"


def _violation(model: ModelSummary, transform: str, rate: Rate, limit: float, *remarks: str) -> Check:
    notes = [*remarks]
    noise = model.noise_floor
    if noise.count:
        notes.append(
            f"asked the same again it changed {wording.percent(noise.rate)} ({wording.counts(noise)})"
        )
    # The decision takes the measured rate, not its interval, so the user must see that it is a close one.
    if rate.low is not None and rate.high is not None and rate.low <= limit < rate.high:
        notes.append("the limit lies within the 95 % interval: more samples would decide it")
    failed = rate.rate is not None and rate.rate > limit
    check = _rate_check(model, "violations", rate, limit, f"at most {_share(limit)}", failed, *notes)
    return replace(check, transform=transform)


def _sensitivity(model: ModelSummary, limit: float) -> Check:
    rate, noise = model.sensitivity, model.noise_floor
    wanted = f"at least {_share(limit)}"
    if not noise.count or rate.rate is None:
        return _rate_check(
            model, "sensitivity", rate, limit, wanted, rate.rate is not None and rate.rate < limit
        )
    # Noise changes answers under controls, too.
    beyond = rate.rate - (noise.rate or 0.0)
    check = _rate_check(model, "sensitivity", rate, limit, wanted, beyond < limit)
    text = f"{wording.percent(max(0.0, beyond))} beyond noise; {check.found}"
    return replace(check, found=text, value=beyond)


def _rate_check(
    model: ModelSummary, name: str, rate: Rate, limit: float, wanted: str, failed: bool, *notes: str
) -> Check:
    outcome: Outcome = "failed" if failed else "passed"
    measured = f"{wording.percent(rate.rate)} ({wording.interval(rate)}, {wording.counts(rate)})"
    # A rate over nothing is absent. It met neither a limit from above nor one from below.
    if rate.rate is None:
        outcome, measured, notes = "unknown", "nothing judged", ()
    return Check(
        model=model.model,
        name=name,
        outcome=outcome,
        found=measured,
        wanted=wanted,
        value=rate.rate,
        limit=limit,
        notes=notes,
    )


def _drop(model: ModelSummary, limits: Limits, limit: float) -> Check:
    score = model.score
    share = wording.is_share(score)
    name = f"{score.name} drop"
    wanted = f"at most {wording.value(limit, share=share)}"
    judged = model.violations.total
    if score.drop is None or not judged:
        # Without a judged variant the worst answer is the first one, and nothing seems lost.
        why = "no labels" if score.original is None else "no attack" if judged else "nothing judged"
        return Check(
            model=model.model,
            name=name,
            outcome="unknown",
            found=why,
            wanted=wanted,
            limit=limit,
        )
    drop, original, worst = (
        wording.value(value, share=share) for value in (score.drop, score.original, score.attack_worst_sample)
    )
    measured, lost = f"{drop} ({original} to {worst})", score.drop
    notes: tuple[str, ...] = ()
    outcome: Outcome = "failed" if _exceeds(lost, limit) else "passed"
    excess = score.drop_excess
    if model.noise_floor.count and excess.points is not None and excess.low is not None:
        # The interval ends at 2.5 %; the same spread at alpha.
        spread = (excess.points - excess.low) * -NormalDist().inv_cdf(limits.alpha) / Z
        lost = excess.points - spread
        measured = f"{wording.value(excess.points, share=share)} beyond noise; {measured}"
        outcome = "failed" if _exceeds(lost, limit) else "passed"
        if outcome == "passed" and _exceeds(excess.points, limit):
            notes = (
                f"not decided: with these samples noise explains up to {wording.value(spread, share=share)}",
            )
            outcome = "unknown" if limits.must_decide else "passed"
    return Check(
        model=model.model,
        name=name,
        outcome=outcome,
        found=measured,
        wanted=wanted,
        value=lost,
        limit=limit,
        notes=notes,
    )


# ── the baseline ─────────────────────────────────────────────────────────────────────────────────────────


def _against(
    now: Judged,
    baseline: Judged,
    after: Pairs,
    before: Pairs,
    limits: Limits,
    transforms: frozenset[str],
) -> tuple[list[Check], list[str]]:
    # The same text with another question is no pair, even if the names of samples and transforms agree.
    if now.summary.task != baseline.summary.task:
        raise UsageError(
            f"the baseline is of the task {baseline.summary.task!r}, the run of {now.summary.task!r}"
        )
    partners = _partners(now, baseline)
    notes = [
        f"{wording.plain(model)} is held against {wording.plain(partner)}, the only model of the baseline"
        for model, partner in partners.items()
        if partner and partner != model
    ]
    gaps: dict[str, str] = {}
    tests: list[PairedTest] = []
    more: list[Check] = []
    controls, old_controls = pairs_of(now, "control"), pairs_of(baseline, "control")
    idle, was_idle = pairs_of(now, "identity"), pairs_of(baseline, "identity")
    for model, partner in partners.items():
        if partner is None:
            gaps[model] = "not in the baseline"
            continue
        repeated = Repeated(idle.get(model, {}), was_idle.get(partner, {}))
        rises, gap, note = _paired(
            model,
            _of_transforms(after.get(model, {}), transforms),
            _of_transforms(before.get(partner, {}), transforms),
            _preserving(now.summary, transforms),
            repeated,
        )
        notes += note
        tests += rises
        if gap:
            gaps[model] = gap
            continue
        reacts, reacted = controls.get(model, {}), old_controls.get(partner, {})
        losses, untested = _losses(model, partner, now, baseline, reacts, reacted, repeated, limits)
        tests += losses
        more += untested
    missing = [_rise(model, limits, outcome="unknown", found=gap) for model, gap in gaps.items()]
    return [*_decided(tests, limits), *more, *missing], notes


def _losses(
    model: str,
    partner: str,
    now: Judged,
    baseline: Judged,
    after: Mapping[PairKey, bool],
    before: Mapping[PairKey, bool],
    repeated: Repeated,
    limits: Limits,
) -> tuple[list[PairedTest], list[Check]]:
    """The tests of what a model should keep, sensitivity and score; and checks for what could not be
    tested.

    `after` and `before` say whether its answer changed on each judged pair under controls.
    """
    tests: list[PairedTest] = []
    checks: list[Check] = []
    shared = after.keys() & before.keys()
    if baseline.older:
        checks.append(_untested_loss(model, "sensitivity and score", OLDER))
    elif shared and now.summary.reacts and not limits.allow_insensitive:
        moved: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
        for key in shared:
            moved[key.sample].append((before[key], after[key]))
        changes = [
            SampleChange(
                not any(earlier for earlier, _ in pairs), not any(later for _, later in pairs), len(pairs)
            )
            for pairs in moved.values()
        ]
        noisy = repeated.rise(shared, after, before, sign=-1)
        tests.append(RiseTest(model, "", paired_rise(changes), "insensitivity", noisy))
    old, new = _scores(baseline, partner), _scores(now, model)
    score = next((summary.score for summary in now.summary.models if summary.model == model), None)
    if score is not None and (both := old.keys() & new.keys()):
        loss = paired_loss([(old[key], new[key]) for key in sorted(both)], better=score.better)
        scale = 1.0 if wording.is_share(score) else abs(loss.before) or 1.0
        tests.append(LossTest(model, score.name, loss, scale))
    elif old and not baseline.older:
        name = score.name if score is not None else "score"
        checks.append(_untested_loss(model, f"{name} kept", "no score is shared", outcome="unknown"))
    return tests, checks


OLDER: Final = (
    "the baseline file is of an earlier version, without controls and scores; write it again: "
    "codeaudit report RUN --baseline FILE"
)


def _scores(run: Judged, model: str) -> dict[tuple[int, str, str], float]:
    """The score of each original by trial, sample and text."""
    return {
        (seed, sample, run.originals.get(sample, "")[:DIGITS]): score
        for (seed, sample), score in run.scores.get(model, {}).items()
    }


def _partners(now: Judged, baseline: Judged) -> dict[str, str | None]:
    """The model of the baseline for each model: the one of the same name, or the only one if both runs have
    only one.
    """
    names = [model.model for model in now.summary.models]
    known = [model.model for model in baseline.summary.models]
    # A model is often renamed between two runs: `model-v1` and `model-v2`. With one model in each run it is
    # clear which two are meant.
    if len(names) == len(known) == 1:
        return {names[0]: known[0]}
    return {name: name if name in known else None for name in names}


def _violated(run: Judged) -> Pairs:
    """Whether each judged pair under a meaning-keeping transform is violated."""
    return pairs_of(run, "preserving")


def _of_transforms(pairs: Mapping[PairKey, bool], names: frozenset[str] | None) -> Mapping[PairKey, bool]:
    if names is None:
        return pairs
    return {pair: violated for pair, violated in pairs.items() if pair.transform in names}


def _coverage(
    now: Judged,
    baseline: Judged,
    after: Pairs,
    before: Pairs,
    limits: Limits,
    transforms: frozenset[str] | None,
) -> Iterator[Check]:
    """Checks that answer `unknown` where the run leaves out what the baseline judged; none otherwise.

    A rise is seen on pairs that both runs judged. A suite without the hard inputs, or a model that does not
    answer them, must not pass by that.
    """
    models = {partner: model for model, partner in _partners(now, baseline).items()}
    for partner in (model.model for model in baseline.summary.models):
        model = models.get(partner)
        # All transforms of the baseline, because the run may lack some of them.
        wanted = _of_transforms(before.get(partner, {}), transforms).keys()
        if not wanted:
            continue
        gaps = {key_of(now, pair) for pair in now.gaps.get(model or "", ())}
        judged = len(wanted & after.get(model, {}).keys()) if model else 0
        newly = len(wanted & gaps)
        # Where no pair is shared there is no test of a rise either, and its check says so.
        if model and not judged + newly:
            continue
        name, of = model or partner, f"of {counted(len(wanted), 'pair')} of the baseline"
        if (judged + newly) / len(wanted) < limits.min_shared:
            yield Check(
                model=name,
                name="shared",
                outcome="unknown",
                found=f"{judged + newly} {of} are in this run" if model else "not in this run",
                wanted=f"at least {wording.percent(limits.min_shared)} (--min-shared)",
                value=(judged + newly) / len(wanted),
                limit=limits.min_shared,
            )
        if newly / len(wanted) > limits.max_newly_unjudged:
            yield Check(
                model=name,
                name="newly unjudged",
                outcome="unknown",
                found=f"{newly} {of} are unjudged now",
                wanted=f"at most {wording.percent(limits.max_newly_unjudged)} (--max-newly-unjudged)",
                value=newly / len(wanted),
                limit=limits.max_newly_unjudged,
            )


def _paired(
    model: str,
    after: Mapping[PairKey, bool],
    before: Mapping[PairKey, bool],
    transforms: Sequence[str],
    repeated: Repeated,
) -> tuple[list[RiseTest], str, list[str]]:
    """The tests of one model; or the reason why there is none; and a note about lost pairs."""
    # The key holds the hashes of both texts. If the corpus or a transform changed between the runs, those
    # pairs drop out, and the rest is compared.
    shared = after.keys() & before.keys()
    if not shared:
        return [], "no input is shared: the suites differ" if after else "nothing judged", []
    notes = []
    if len(shared) < max(len(after), len(before)):
        notes.append(
            f"{wording.plain(model)}: {len(shared)} pairs are shared, of {len(after)} judged now "
            f"and {len(before)} in the baseline; only these are compared"
        )
    tallies: dict[str, dict[str, list[tuple[bool, bool]]]] = defaultdict(lambda: defaultdict(list))
    # Once for all transforms together (the key "") and once for its own transform.
    for key in shared:
        for table in (tallies[""], tallies[key.transform]):
            table[key.sample].append((before[key], after[key]))
    names = ["", *(name for name in transforms if name in tallies)]
    # With one transform the test of all of them together is the same test: once is enough, and Holm's
    # adjustment must not count it twice.
    if len(names) == 2:
        names = [""]
    tests = []
    for name in names:
        samples = [
            SampleChange(any(earlier for earlier, _ in pairs), any(later for _, later in pairs), len(pairs))
            for pairs in tallies[name].values()
        ]
        chosen = [key for key in shared if not name or key.transform == name]
        tests.append(RiseTest(model, name, paired_rise(samples), noisy=repeated.rise(chosen, after, before)))
    return tests, "", notes


def adjusted(tests: Sequence[PairedTest], limits: Limits) -> list[float | None]:
    """Return Holm-adjusted p-values; `None` for a test that has too few samples to reject at all.

    Whether a test is left out depends on its number of samples alone, never on the outcome, so the
    adjustment stays valid.
    """
    # n samples reach p = 0.5**n at best. Above alpha / (number of tests) no outcome could reject.
    tested = [test.covers or 0.5**test.samples <= limits.alpha / len(tests) for test in tests]
    values = iter(holm([test.p for test, counts in zip(tests, tested, strict=True) if counts]))
    return [next(values) if counts else None for counts in tested]


def rejected(test: RiseTest, p_adjusted: float | None, limits: Limits) -> bool:
    """Whether a rise fails the gate: its adjusted p-value is at most `alpha` and the rise exceeds the
    margin.
    """
    margin = limits.margin
    above = test.rise.rise > margin if test.noisy is None else test.noisy.exceeds(margin)
    return p_adjusted is not None and p_adjusted <= limits.alpha and above


def _decided(tests: Sequence[PairedTest], limits: Limits) -> list[Check]:
    """Turn the tests into checks."""
    ps = adjusted(tests, limits)
    number = sum(p is not None for p in ps)
    return [_decision(test, p, limits, number=number) for test, p in zip(tests, ps, strict=True)]


def _decision(test: PairedTest, p: float | None, limits: Limits, *, number: int) -> Check:
    if isinstance(test, LossTest):
        return _loss_check(test, p, limits)
    if test.subject == "insensitivity":
        return _insensitive_check(test, p, limits)
    return _untested(test, limits) if p is None else _rise_check(test, p, limits, number=number)


def _insensitive_check(test: RiseTest, p: float | None, limits: Limits) -> Check:
    rise = test.rise
    before, now = 1 - rise.before / rise.samples, 1 - rise.now / rise.samples
    shares = (
        f"{wording.percent(before)} to {wording.percent(now)}: {_points(-rise.rise or 0.0, sign=True)} points"
    )
    failed = rejected(test, p, limits)
    return Check(
        model=test.model,
        name="sensitivity kept",
        outcome="untested" if p is None else "failed" if failed else "passed",
        found=f"{shares}, {_tested(p, rise.samples)}",
        wanted=f"a fall of at most {_points(limits.margin)} points",
        value=rise.rise,
        limit=limits.margin,
        p_adjusted=p,
        notes=(
            f"of {counted(rise.samples, 'sample')} {rise.appeared} no longer react to any control, "
            f"{rise.gone} react for the first time",
        )
        if failed
        else _spared(test, limits),
    )


def _loss_check(test: LossTest, p: float | None, limits: Limits) -> Check:
    loss = test.loss
    limit = limits.margin if limits.max_score_drop is None else limits.max_score_drop
    failed = p is not None and p <= limits.alpha and _exceeds(loss.loss / test.scale, limit)
    means = f"{_score(loss.before, test.scale)} to {_score(loss.now, test.scale)}, mean of samples"
    relative = " of the baseline" if test.scale != 1 else ""
    return Check(
        model=test.model,
        name=f"{test.name} kept",
        outcome="untested" if p is None else "failed" if failed else "passed",
        found=f"{means}, {_tested(p, loss.samples)}",
        wanted=f"at most {_points(limit)} points{relative} worse",
        value=loss.loss / test.scale,
        limit=limit,
        p_adjusted=p,
        notes=(f"of {counted(loss.samples, 'sample')} {loss.worse} are worse, {loss.better} better",)
        if failed
        else (),
    )


def _exceeds(value: float, limit: float) -> bool:
    """Whether a difference of scores is above a limit."""
    # Sums of equal scores may differ in the twelfth digit.
    return round(value - limit, 12) > 0


def _score(value: float, scale: float) -> str:
    return wording.percent(value) if scale == 1 else f"{value:.4g}"


def _tested(p: float | None, samples: int) -> str:
    return f"too few samples ({samples}) for a test" if p is None else f"p {wording.p_value(p)}"


def _untested_loss(model: str, name: str, why: str, *, outcome: Outcome = "untested") -> Check:
    return Check(model=model, name=name, outcome=outcome, found=why, wanted="as in the baseline")


def _rise(model: str, limits: Limits, **fields: Any) -> Check:
    """A check on a rise, without or with a test."""
    wanted = f"at most +{_points(limits.margin)} points"
    return Check(model=model, name="rise", wanted=wanted, limit=limits.margin, **fields)


def _untested(test: RiseTest, limits: Limits) -> Check:
    return _rise(
        test.model,
        limits,
        transform=test.transform,
        outcome="untested",
        found=f"{_change(test.rise)}; too few samples ({test.rise.samples}) for a test of its own",
        value=test.rise.rise,
        rise=test.rise,
    )


def _rise_check(test: RiseTest, p_adjusted: float, limits: Limits, *, number: int) -> Check:
    overall, alpha = not test.transform, limits.alpha / number
    rise = with_detectable(test.rise, alpha=alpha, margin=limits.margin)
    if test.noisy is not None:
        # What can be found depends on the noise, too.
        rise = replace(rise, method=SIGN_FLIPS, p=test.p, detectable=None, likely=None)
    # Only samples that held can worsen. If all of them did and p were still above alpha, the test is blind.
    blind = 0.5 ** (rise.samples - rise.before) > alpha
    # If nearly every sample was violated before, no rise above the margin is possible: blind is no fault.
    full = rise.before / rise.samples >= 1 - limits.margin
    outcome: Outcome = "passed"
    if rejected(test, p_adjusted, limits):
        outcome = "failed"
    # `unknown` only for the test of all transforms together. A single transform with few samples is covered
    # by it.
    elif overall and blind and not full:
        outcome = "unknown"
    # The test of all transforms says this in its note, in a full sentence.
    remark = "" if overall or rise.detectable is None else f"; no rise under {_points(rise.detectable)} shows"
    return _rise(
        test.model,
        limits,
        transform=test.transform,
        outcome=outcome,
        found=f"{_change(rise)}, p {wording.p_value(p_adjusted)}{remark}",
        value=rise.rise,
        p_adjusted=p_adjusted,
        rise=rise,
        notes=(
            *(
                (_note(rise, full=full, blind=blind, noisy=test.noisy is not None),)
                if overall or outcome == "failed"
                else ()
            ),
            *(() if outcome == "failed" else _spared(test, limits)),
        ),
    )


def _spared(test: RiseTest, limits: Limits) -> tuple[str, ...]:
    """The note of a test that passed because of noise."""
    noisy = test.noisy
    if noisy is None or noisy.changed_p > limits.alpha or noisy.changed <= limits.margin:
        return ()
    first = "noise rose" if noisy.now > noisy.before else "noise"
    what, sign = ("variants", 1) if test.subject == "violations" else ("controls", -1)
    return (
        f"{first}: {noisy.before} of {counted(noisy.samples, 'sample')} were unsteady before, {noisy.now} "
        f"are now. The share of changed {what} went by {_points(sign * noisy.changed, sign=True)} points, "
        f"its excess over repeats by {_points(sign * noisy.excess, sign=True)} (p "
        f"{wording.p_value(noisy.excess_p)}): beyond noise no change is shown",
    )


def _note(rise: Rise, *, full: bool, blind: bool, noisy: bool) -> str:
    """Describe the data of a test and the rises that it could have detected."""
    both = f"{counted(rise.samples, 'sample')} ({counted(rise.pairs, 'pair')}) are in both runs"
    text = f"{both}; {rise.appeared} of them are newly violated, {rise.gone} are violated no longer. "
    if full:
        return f"{text}All were violated before, so none could be new"
    if blind:
        return f"{text}So few samples cannot show any rise: give more"
    if noisy:
        return text.rstrip(". ")
    if rise.detectable is None:
        return f"{text}Beside so many that improved no rise is possible"
    text += f"A rise below {_points(rise.detectable)} points cannot fail here"
    if rise.likely is not None:
        text += f"; a true rise of {_points(rise.likely)} points fails in four of five runs"
    return text


def _change(rise: Rise) -> str:
    before, now = rise.before / rise.samples, rise.now / rise.samples
    return f"{wording.percent(before)} to {wording.percent(now)}: {_points(rise.rise, sign=True)} points"


def _points(share: float, *, sign: bool = False) -> str:
    """Format a share in percentage points: `2.9`, or two digits below 0.1."""
    # 0.04 would be rounded to 0.0, as if there were no rise.
    points = 100 * share
    text = f"{points:.2f}" if 0 < abs(points) < 0.1 else f"{points:.1f}"
    return f"+{text}" if sign and share >= 0 else text


def _share(limit: float) -> str:
    """Format a limit as the user gave it: `5 %`, `0.25 %`."""
    # Not `wording.percent`, which would print a limit of 0.25 % as 0.2 %.
    return f"{100 * limit:.6g} %"

"""Computes the summary of a run from its verdicts, and adds the results of worst-case searches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, NamedTuple, get_args

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Attacked, Audited, Searched
from codeaudit.reports import wording
from codeaudit.reports.compare import comparison, noise_counts_as_zero
from codeaudit.reports.digests import (
    Agreements,
    ClusterRow,
    Clusters,
    RunDigest,
    Shifts,
    TransformDigest,
    TrialDigest,
    asked_once,
    clustered,
    family_of,
    mean_shift,
    pooled,
    pooled_language,
    pooled_part,
    pooled_shifts,
    sides_of,
)
from codeaudit.reports.observations import observe
from codeaudit.reports.prompts import PromptDigest
from codeaudit.reports.records import (
    NOTHING,
    Agreement,
    Attack,
    ByFamily,
    ByLanguage,
    ByTransform,
    Calibration,
    Excess,
    ModelHeader,
    ModelSummary,
    PartialRate,
    Rate,
    Repeats,
    RunHeader,
    Summary,
    Trial,
)
from codeaudit.reports.robust import robust
from codeaudit.reports.scores import mean_score
from codeaudit.reports.shared_inputs import Part
from codeaudit.reports.statistics.calibration import ScoredAnswers
from codeaudit.reports.statistics.distances import mean_distance
from codeaudit.reports.statistics.excess import MOST, excess_of, pair_excess, rounded, sample_excess
from codeaudit.reports.statistics.intervals import rate, rate_of
from codeaudit.reports.statistics.shuffles import shuffled
from codeaudit.transforms.records import Kind
from codeaudit.transforms.registration import overrides
from codeaudit.transforms.registry import TRANSFORMS
from codeaudit.transforms.seeding import stream


class BeyondNoise(NamedTuple):
    """The numbers of some transforms; the fields are those of `ByTransform`."""

    noise: Rate = NOTHING
    excess: Excess = Excess()
    pair_excess: Excess = Excess()
    violated_steady: int = 0
    unsteady_kept: int = 0


def is_steady(trials: Sequence[TrialDigest], *, hosted: bool) -> bool:
    """Whether the noise of a model counts as zero, however many variants a sample has.

    It does if the model runs here, each sample was repeated at most once, and no repeat changed.
    A model that nobody asked again is not known to be steady. Of a hosted model noise may go unseen.
    """
    again = [
        table for trial in trials for key, table in trial.clusters.items() if key[:2] == ("identity", None)
    ]
    repeated = any(table.samples for table in again)
    return (
        not hosted
        and repeated
        and repeats_of(trials).per_sample <= 1
        and not any(any(table.changed) for table in again)
    )


def repeats_of(trials: Iterable[TrialDigest]) -> Repeats:
    """How often the samples of a model were asked again."""
    most = max((trial.most_repeats for trial in trials), default=0)
    return Repeats(per_sample=most, stages=min(most, 2))


def beyond_noise(tables: Iterable[Clusters], *, steady: bool, seed: int) -> BeyondNoise:
    """The noise and the excess over samples. Of several trials a sample is one cluster.

    A sample's variants are compared with as many of its repeats: of V judged variants and R judged repeats,
    with the first min(V, R) of both. Rows without a repeat count only if the model is steady. `seed` is that
    of the resampling.
    """
    samples: dict[int, list[ClusterRow]] = defaultdict(list)
    bare = 0
    for row in (row for table in tables for row in table.rows()):
        if row.repeats or steady:
            samples[row.sample].append(row)
        else:
            bare += row.violated
    if not samples:
        return BeyondNoise(violated_steady=bare)
    units = {key: [_unit(row, steady=steady) for row in rows] for key, rows in samples.items()}
    flat = [unit for rows in units.values() for unit in rows]
    again = {key: [row.unsteady for row in rows if row.repeats] for key, rows in samples.items()}
    return BeyondNoise(
        noise=rate_of(Counter((sum(flags), len(flags)) for flags in again.values() if flags), seed=seed),
        excess=_sample_excess(units),
        pair_excess=_pair_excess(units, samples),
        violated_steady=bare + sum(row.violated and not row.unsteady for row in flat),
        unsteady_kept=sum(row.unsteady and not row.violated for row in flat),
    )


class _Unit(NamedTuple):
    """One observation: whether it is violated and unsteady, and its difference over pairs of answers."""

    violated: bool
    unsteady: bool
    pairs: Fraction


def _unit(row: ClusterRow, *, steady: bool) -> _Unit:
    if steady:
        return _Unit(row.changed > 0, False, Fraction(row.changed, row.judged))
    originals = row.repeats + 1
    across = Fraction(row.across, originals * row.judged)
    return _Unit(row.violated, row.unsteady, across - Fraction(row.within, originals * row.repeats // 2))


def _pair_excess(units: Mapping[int, Sequence[_Unit]], samples: Mapping[int, Sequence[ClusterRow]]) -> Excess:
    excess = _excess({key: [row.pairs for row in rows] for key, rows in units.items()})
    rows = [row for group in samples.values() for row in group]
    # Several trials ask one sample again: its answers in all of them are not exchangeable.
    if len(rows) > len(samples) or not all(row.table for row in rows):
        return excess
    return replace(excess, p=shuffled([row.table for row in rows]))


def _sample_excess(units: Mapping[int, Sequence[_Unit]]) -> Excess:
    if all(len(rows) == 1 for rows in units.values()):
        return sample_excess(sorted((row.violated, row.unsteady) for rows in units.values() for row in rows))
    differences = {
        key: [Fraction(int(row.violated) - int(row.unsteady)) for row in rows] for key, rows in units.items()
    }
    return _excess(differences)


def _excess(differences: Mapping[int, Sequence[Fraction]]) -> Excess:
    """The mean is a difference of two shares, so its interval lies between -1 and 1. One difference need not:
    that of a sample that came in more trials than others."""
    excess = excess_of(_shares(differences))
    if excess.low is None or excess.high is None:
        return excess
    return replace(excess, low=max(-1.0, excess.low), high=min(1.0, excess.high))


def _shares(differences: Mapping[int, Sequence[Fraction]]) -> list[Fraction]:
    """One difference for each sample, whose mean is that of all observations."""
    scale = Fraction(len(differences), sum(map(len, differences.values())))
    return [sum(group, Fraction(0)) * scale for group in differences.values()]


PARTS: Final = ("missed", "raised", "unmarked")
"""The rates of a task with a finding, by their field."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def summarise(trials: Iterable[tuple[int, Iterable[Audited]]], *, task: Task, header: RunHeader) -> Summary:
    """Compute the summary of a run over all models and trials.

    Each trial is a seed and a stream of audited samples, of any models in any order. Streams are consumed
    once, one after another, and only numbers of each sample are kept (`reports.digests`). The results of a
    model depend neither on the order of the records nor on the other models.
    """
    digest, prompts = RunDigest(task), PromptDigest(header.models)
    for seed, audited in trials:
        for record in audited:
            observation = observe(record, seed=seed, same=task.same, decided=task.edits_decide)
            digest.add(observation)
            prompts.add(observation)
    models = tuple(
        # A model whose every query failed has no record. It still gets its row, with absent rates.
        _model(model, digest.of(model.name, header.seed), task=task, seed=header.seed)
        for model in header.models
    )
    # As in `pooled`.
    once = {
        name: asked_once((trial.asked for trial in by_seed.values()), "preserving")
        for name, by_seed in digest.trials.items()
    }
    noisy = any(wording.is_noisy(model) for model in models)
    steady = [model.model for model in models if noise_counts_as_zero(model)]

    quiet = {
        model.name: is_steady(list(digest.of(model.name, header.seed).values()), hosted=model.hosted)
        for model in header.models
        if model.prompt
    }

    def counts(model: str, part: Part) -> bool:
        return once[model] or not part[1]

    return Summary(
        task=header.task,
        corpus=header.corpus,
        seed=header.seed,
        skipped=_ordered(Counter(header.skipped)),
        reacts=task.reacts,
        finding=task.finding,
        edits_decide=task.edits_decide,
        tells_apart=task.tells_apart,
        models=models,
        draws=tuple(header.draws),
        told_errors=tuple(header.told_errors),
        prompts=prompts.effects(task, quiet, seed=header.seed),
        statistics=comparison(
            {model.model: model.trials for model in models},
            lambda kind: digest.inputs.outcomes(kind, counts),
            models=len(digest.trials),
            beyond=(lambda kind: digest.inputs.beyond_noise(kind, steady, counts)) if noisy else None,
        ),
    )


def _model(header: ModelHeader, by_seed: Mapping[int, TrialDigest], *, task: Task, seed: int) -> ModelSummary:
    every = [by_seed[number] for number in sorted(by_seed)]
    draw = _draw(header.name, seed)
    # Of the model, not of a trial: what one trial shows is true of all.
    steady = is_steady(every, hosted=header.hosted)
    trials = tuple(
        _trial(digest, number, _draw(header.name, number), steady=steady)
        for number, digest in sorted(by_seed.items())
    )
    reasons = sum((digest.reasons for digest in every), Counter[str]())
    problems = [
        problem
        for digest in every
        for problem in sorted(digest.problems, key=lambda problem: problem.sample.id)
    ]
    return ModelSummary(
        model=header.name,
        fingerprint=header.fingerprint,
        parameters=header.parameters,
        samples=len(set[int]().union(*(digest.plain for digest in every))),
        extra=len(set[int]().union(*(digest.extra for digest in every))),
        score=mean_score([trial.score for trial in trials]),
        **_rates(every, draw, steady=steady),
        hosted=header.hosted,
        draws=max((digest.draws for digest in every), default=0),
        repeats=repeats_of(every),
        max_deviation=max((digest.deviation.get("preserving", 0.0) for digest in every), default=0.0),
        noise_deviation=max((digest.deviation.get("identity", 0.0) for digest in every), default=0.0),
        shift=mean_shift(pooled_shifts(every, "preserving"), seed=draw),
        noise_shift=mean_shift(pooled_shifts(every, "identity"), seed=draw),
        noise=header.noise,
        unjudged=reasons.total(),
        unjudged_reasons=_ordered(reasons),
        skipped=_skipped(every),
        truncated=header.truncated,
        by_transform=tuple(
            _by_transform(name, kind, every, draw, steady=steady) for kind, name in _transforms(every)
        ),
        trials=trials,
        by_family=_by_family(every, draw, steady=steady),
        robust=robust(problems, task.attempts, seed=draw, steady=steady)
        if overrides(task, Task.attempts)
        else (),
        network=header.network,
        agreement=_agreement(every, task),
        criteria={
            name: _partial(list(pooled_part(every, name)), draw, steady=steady) for name in task.criteria
        },
        languages=_languages(every, draw, steady=steady),
        calibration=_calibration(every),
        **_findings(every, draw, steady=steady),
    )


def _languages(trials: Sequence[TrialDigest], draw: int, *, steady: bool) -> dict[str, ByLanguage]:
    samples: defaultdict[str, set[int]] = defaultdict(set)
    for trial in trials:
        for language, numbers in trial.answered.items():
            samples[language] |= numbers
    if len(samples) < 2:
        return {}

    def of_language(language: str) -> ByLanguage:
        return ByLanguage(
            samples=len(samples[language]),
            edited=_partial(list(pooled_language(trials, language, "preserving")), draw, steady=steady),
            sensitivity=clustered(pooled_language(trials, language, "control"), seed=draw),
        )

    return {name: of_language(name) for name in sorted(samples, key=lambda name: (-len(samples[name]), name))}


def _trial(digest: TrialDigest, number: int, draw: int, *, steady: bool) -> Trial:
    return Trial(
        seed=number,
        score=digest.score(steady=steady, seed=draw),
        **_rates([digest], draw, steady=steady),
    )


def _agreement(trials: Iterable[TrialDigest], task: Task) -> Agreement:
    agreements = Agreements(task)
    for trial in trials:
        agreements.join(trial.agreements)
    return agreements.agreement()


def _calibration(trials: Iterable[TrialDigest]) -> Calibration:
    answers = ScoredAnswers()
    for trial in trials:
        answers.join(trial.scored)
    return Calibration(answers=answers.total, brier=answers.brier, error=answers.error)


def _draw(model: str, seed: int) -> int:
    """The seed of the resampling, for all intervals of a model or a trial."""
    # By the name of the model, so that another model in the run does not change its intervals.
    return stream(seed, "interval", model).getrandbits(64)


def _rates(trials: Sequence[TrialDigest], draw: int, *, steady: bool) -> dict[str, Any]:
    """The rates that a model and each of its trials have, by their field. All intervals are resampled from
    one seed.

    - `violations`: the share of samples with a changed answer among samples with a judged pair.
    - `pairs`, `sensitivity`, `noise_floor`: the share of changed answers among judged pairs.
    - `all_samples`: as `violations`, among all answered samples of the plain draw. A sample that no
      transform changed counts as held. Not counted: samples whose pairs are all unjudged, and samples on
      which no meaning-keeping transform was tried.
    - `noise_samples`, `excess`, `pair_excess`: of `violations` (`codeaudit.reports.summarise`).
    """
    preserving, controls = (list(pooled(trials, kind)) for kind in ("preserving", "control"))
    beyond = beyond_noise(preserving, steady=steady, seed=draw)
    return {
        "violations": clustered(preserving, seed=draw, movable=True),
        "pairs": clustered(preserving, seed=draw),
        "all_samples": clustered([trial.whole for trial in trials], seed=draw),
        "sensitivity": clustered(controls, seed=draw),
        "noise_floor": clustered(pooled(trials, "identity"), seed=draw),
        "noise_samples": beyond.noise,
        "excess": beyond.excess,
        "pair_excess": beyond.pair_excess,
        "sensitivity_excess": beyond_noise(controls, steady=steady, seed=draw).pair_excess,
    }


def _skipped(trials: Iterable[TrialDigest]) -> dict[str, int]:
    # By sample, because each trial asks the same sample again.
    failures = set[tuple[int, str]]().union(*(trial.failures for trial in trials))
    return _ordered(Counter(reason for _, reason in failures))


def _transforms(trials: Iterable[TrialDigest]) -> list[tuple[Kind, str]]:
    """All transforms that were tried: meaning-keeping ones first, each kind in the order of the registry."""
    tried = set[tuple[Kind, str]]().union(*(trial.tried for trial in trials))
    # A name that is not in the registry is of a plug-in that is not installed here: it comes last.
    places = {name: position for position, name in enumerate(TRANSFORMS)}
    return sorted(tried, key=lambda key: (KINDS.index(key[0]), places.get(key[1], len(places)), key[1]))


def _by_transform(
    transform: str, kind: Kind, trials: Sequence[TrialDigest], draw: int, *, steady: bool
) -> ByTransform:
    counts = TransformDigest()
    for trial in trials:
        if transform in trial.transforms:
            counts.add(trial.transforms[transform])
    clusters = _clusters(trials, kind, transform)
    moved = mean_distance(counts.draws, seed=draw)
    beyond = BeyondNoise() if kind == "identity" else beyond_noise(clusters, steady=steady, seed=draw)
    return ByTransform(
        transform=transform,
        kind=kind,
        violations=clustered(clusters, seed=draw, movable=True),
        pairs=clustered(clusters, seed=draw),
        applied=counts.applied,
        unjudged=counts.unjudged,
        not_applied=_ordered(counts.not_applied),
        evidence=_ordered(counts.evidence),
        max_deviation=counts.max_deviation,
        shift=mean_shift(_shifts(trials, kind, transform), seed=draw),
        extra=len(counts.extra),
        distance=moved.distance,
        moved=moved.samples,
        score_drop=pair_excess(rounded(counts.drops), least=-MOST),
        **_parts(trials, kind, transform, draw, steady=steady),
        **beyond._asdict(),
    )


def _findings(trials: Sequence[TrialDigest], draw: int, *, steady: bool) -> dict[str, Any]:
    """The fields of a model that only a task with a finding has."""
    rates = {part: _partial(list(pooled_part(trials, part)), draw, steady=steady) for part in PARTS}
    return {**rates, "marked": sum(trial.marked[None] for trial in trials), "sides": sides_of(trials)}


def _parts(
    trials: Sequence[TrialDigest], kind: Kind, transform: str, draw: int, *, steady: bool
) -> dict[str, Any]:
    """The fields of a transform that only a task with a finding has."""
    if kind != "preserving":
        return {}

    def clusters_of(part: str) -> list[Clusters]:
        keys = [(part, transform, extra) for extra in (False, True)]
        return [trial.parts[key] for trial in trials for key in keys if key in trial.parts]

    rates = {part: _partial(clusters_of(part), draw, steady=steady) for part in PARTS}
    return {**rates, "marked": sum(trial.marked[transform] for trial in trials)}


def _partial(tables: Sequence[Clusters], draw: int, *, steady: bool) -> PartialRate:
    beyond = beyond_noise(tables, steady=steady, seed=draw)
    return PartialRate(
        violations=clustered(tables, seed=draw, movable=True),
        noise=beyond.noise,
        excess=beyond.excess,
        pair_excess=beyond.pair_excess,
    )


def _clusters(trials: Iterable[TrialDigest], kind: Kind, transform: str) -> list[Clusters]:
    """The clusters of one transform, of both draws."""
    keys = [(kind, transform, extra) for extra in (False, True)]
    return [trial.clusters[key] for trial in trials for key in keys if key in trial.clusters]


def _shifts(trials: Iterable[TrialDigest], kind: Kind, transform: str) -> list[Shifts]:
    """The shifts of one transform, of both draws."""
    keys = [(kind, transform, extra) for extra in (False, True)]
    return [trial.shifts[key] for trial in trials for key in keys if key in trial.shifts]


def _by_family(trials: Sequence[TrialDigest], draw: int, *, steady: bool) -> tuple[ByFamily, ...]:
    families: dict[str, list[str]] = {}
    for kind, name in _transforms(trials):
        if kind == "preserving":
            families.setdefault(family_of(name), []).append(name)
    if sum(map(len, families.values())) < 2:
        return ()

    def clusters_of(name: str, names: Sequence[str]) -> list[Clusters]:
        if len(names) == 1:
            return _clusters(trials, "preserving", names[0])
        return [trial.families[name] for trial in trials if name in trial.families]

    def family_row(name: str, tables: list[Clusters]) -> ByFamily:
        beyond = beyond_noise(tables, steady=steady, seed=draw)
        return ByFamily(
            family=name,
            violations=clustered(tables, seed=draw, movable=True),
            noise=beyond.noise,
            excess=beyond.excess,
            pair_excess=beyond.pair_excess,
        )

    return tuple(family_row(name, clusters_of(name, names)) for name, names in families.items())


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort counts: largest first, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def with_attacks(summary: Summary, attacked: Iterable[Attacked]) -> Summary:
    """Return the summary with the results of worst-case searches, grouped by model and strategy.

    The rate counts samples on which at least one query was made. A sample searched in several trials is one
    cluster.
    """
    return with_searches(summary, (record.searched for record in attacked))


def with_searches(summary: Summary, searched: Iterable[Searched]) -> Summary:
    """Return the summary with the results of worst-case searches whose texts are not at hand."""
    by_model: dict[str, dict[str, list[Searched]]] = defaultdict(lambda: defaultdict(list))
    for search in searched:
        by_model[search.model][search.strategy].append(search)
    models = tuple(
        replace(
            model,
            attacks=tuple(_attack(every, seed=summary.seed) for every in by_model[model.model].values()),
        )
        for model in summary.models
    )
    return replace(summary, models=models)


def _attack(every: Sequence[Searched], *, seed: int) -> Attack:
    tried = [search for search in every if search.queries]
    clusters: dict[str, tuple[int, int]] = {}
    for search in tried:  # the same sample in several trials is one unit
        count, total = clusters.get(search.sample, (0, 0))
        clusters[search.sample] = (count + search.violated, total + 1)
    # The query that found the violation is the last one: the search stops there.
    ends = Counter(search.queries for search in tried if search.violated)
    budget = every[0].budget
    curve, so_far = [], 0
    for queries in range(1, budget + 1):
        so_far += ends[queries]
        curve.append(so_far)
    # Without a query there was nothing to search, such as a sample that no transform changes.
    reasons = Counter(search.reason for search in every if not search.queries)
    return Attack(
        strategy=every[0].strategy,
        budget=budget,
        violated=rate(clusters, seed=seed),
        curve=tuple(curve),
        certified=sum(search.certified for search in every),
        queries=sum(search.queries for search in tried),
        not_attacked=dict(sorted(reasons.items())),
    )

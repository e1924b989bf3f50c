"""Computes the summary of a run from its verdicts, and adds the results of worst-case searches."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from codeaudit.audit.interface import HasAttempts, Task
from codeaudit.audit.records import Attacked, Audited, Searched
from codeaudit.reports.compare import comparison
from codeaudit.reports.observations import Observation, observe
from codeaudit.reports.records import (
    Attack,
    ByFamily,
    ByTransform,
    ModelHeader,
    ModelSummary,
    Rate,
    RunHeader,
    Summary,
    Trial,
)
from codeaudit.reports.robust import robust
from codeaudit.reports.scores import mean_score, score
from codeaudit.reports.statistics.intervals import rate
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.records import Kind
from codeaudit.transforms.registry import PLUG_INS, TRANSFORMS, entry_of, in_relation
from codeaudit.transforms.seeding import stream

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def summarise(trials: Iterable[tuple[int, Iterable[Audited]]], *, task: Task, header: RunHeader) -> Summary:
    """Compute the summary of a run over all models and trials.

    Each trial is a seed and a stream of audited samples, of any models in any order. Streams are consumed
    once, one after another, and only a digest of each sample is kept. The numbers of a model depend neither
    on the order of the records nor on the other models.
    """
    seen: dict[str, dict[int, list[Observation]]] = defaultdict(dict)
    for seed, audited in trials:
        for each in audited:
            seen[each.model].setdefault(seed, []).append(observe(each, seed=seed))
    # Models answer in batches that may end in any order; the intervals are resampled over samples in this
    # one.
    for by_seed in seen.values():
        for observations in by_seed.values():
            observations.sort(key=lambda each: each.sample.id)
    models = tuple(
        # A model whose every query failed has no record. It still gets its row, with absent rates.
        _model(model, seen.get(model.name) or {header.seed: []}, task=task, seed=header.seed)
        for model in header.models
    )
    return Summary(
        task=header.task,
        corpus=header.corpus,
        seed=header.seed,
        skipped=_ordered(Counter(header.skipped)),
        models=models,
        draws=tuple(header.draws),
        statistics=comparison(
            {model.model: model.trials for model in models},
            {name: _pooled(_flat(by_seed), "preserving") for name, by_seed in seen.items()},
        ),
    )


def _flat(by_seed: Mapping[int, Sequence[Observation]]) -> list[Observation]:
    return [each for seed in sorted(by_seed) for each in by_seed[seed]]


def _plain(observations: Iterable[Observation]) -> list[Observation]:
    """The samples of the plain random draw."""
    return [each for each in observations if not each.extra]


def _pooled(observations: Sequence[Observation], kind: Kind) -> Sequence[Observation]:
    """The samples of a rate over all transforms of a kind.

    A sample that was drawn for one transform is not asked under the others. Among several transforms it
    would give that one more weight, and the rate would depend on how many samples were drawn.
    """
    tried = {pair.transform for each in observations for pair in each.pairs if pair.kind == kind}
    return observations if len(tried) == 1 else _plain(observations)


def _model(
    header: ModelHeader, by_seed: Mapping[int, Sequence[Observation]], *, task: Task, seed: int
) -> ModelSummary:
    every = _flat(by_seed)
    trials = tuple(_trial(header.name, number, by_seed[number], task) for number in sorted(by_seed))
    plain = _plain(every)
    judged = [pair for each in every for pair in each.judged("preserving")]
    idle = [pair for each in every for pair in each.judged("identity")]
    reasons = Counter(pair.reason for each in every for pair in each.pairs if pair.changed is None)
    rates = _Rates(header.name, every, seed)
    return ModelSummary(
        model=header.name,
        fingerprint=header.fingerprint,
        parameters=header.parameters,
        samples=len({each.sample.id for each in plain}),
        extra=len({each.sample.id for each in every if each.extra and each.pairs}),
        score=mean_score([trial.score for trial in trials]),
        **rates.measured(),
        max_deviation=max((pair.deviation for pair in judged), default=0.0),
        noise_deviation=max((pair.deviation for pair in idle), default=0.0),
        noise=header.noise,
        unjudged=reasons.total(),
        unjudged_reasons=_ordered(reasons),
        skipped=_skipped(plain),
        truncated=header.truncated,
        by_transform=tuple(_by_transform(name, kind, every, rates) for kind, name in _transforms(every)),
        trials=trials,
        by_family=_by_family(every, rates),
        robust=robust(plain, task, seed=rates.seed) if isinstance(task, HasAttempts) else (),
    )


def _trial(model: str, seed: int, observations: Sequence[Observation], task: Task) -> Trial:
    rates = _Rates(model, observations, seed)
    return Trial(seed=seed, score=score(_plain(observations), task), **rates.measured())


class _Rates:
    """Rates over observations of one model. All intervals are resampled from one seed."""

    def __init__(self, model: str, observations: Sequence[Observation], seed: int) -> None:
        # Without an answer to the original there is nothing to compare a variant with.
        self._observations = [each for each in observations if each.answer is not None]
        # By the name of the model, so that another model in the run does not change its intervals.
        self.seed = stream(seed, "interval", model).getrandbits(64)

    def measured(self) -> dict[str, Any]:
        """The rates that a model and each of its trials have, by their field."""
        return {
            "violations": self.movable(),
            "pairs": self.pairs("preserving"),
            "all_samples": self.samples(),
            "sensitivity": self.pairs("control"),
            "noise_floor": self.pairs("identity"),
        }

    def pairs(self, kind: Kind, transform: str | None = None) -> Rate:
        """Share of changed answers among judged pairs; over all transforms as `_pooled` says."""

        def tally(each: Observation) -> tuple[int, int]:
            changes = _changes(each, kind, transform)
            return sum(changes), len(changes)

        return self._rate(tally, self._of(kind, transform))

    def movable(self, kind: Kind = "preserving", transform: str | None = None) -> Rate:
        """Share of samples with a changed answer among samples with a judged pair."""

        def tally(each: Observation) -> tuple[int, int]:
            changes = _changes(each, kind, transform)
            return int(any(changes)), int(bool(changes))

        return self._rate(tally, self._of(kind, transform))

    def family(self, transforms: Collection[str]) -> Rate:
        """As `movable`, for some meaning-keeping transforms together."""
        if len(transforms) == 1:
            return self.movable("preserving", *transforms)

        def tally(each: Observation) -> tuple[int, int]:
            changes = [
                bool(pair.changed) for pair in each.judged("preserving") if pair.transform in transforms
            ]
            return int(any(changes)), int(bool(changes))

        return self._rate(tally, _plain(self._observations))

    def samples(self) -> Rate:
        """Share of samples with a changed answer among all answered samples of the plain draw. A sample that
        no transform changed counts as held.

        Not counted: samples whose pairs are all unjudged, and samples on which no meaning-keeping transform
        was tried.
        """

        def tally(each: Observation) -> tuple[int, int]:
            changes = _changes(each, "preserving", None)
            exists = any(pair.kind == "preserving" for pair in each.pairs)
            # A sample that every transform left as it is was tried: no edit could change its answer.
            immovable = not exists and any(gap.kind == "preserving" for gap in each.missing)
            return int(any(changes)), int(bool(changes) or immovable)

        return self._rate(tally, _plain(self._observations))

    def _of(self, kind: Kind, transform: str | None) -> Sequence[Observation]:
        return _pooled(self._observations, kind) if transform is None else self._observations

    def _rate(
        self, tally: Callable[[Observation], tuple[int, int]], observations: Iterable[Observation]
    ) -> Rate:
        clusters: dict[str, tuple[int, int]] = {}
        for each in observations:
            changed, total = clusters.get(each.sample.id, (0, 0))
            more, of = tally(each)
            clusters[each.sample.id] = changed + more, total + of
        return rate(clusters, seed=self.seed)


def _skipped(observations: Iterable[Observation]) -> dict[str, int]:
    # By sample, because each trial asks the same sample again.
    failures = {(each.sample.id, each.failure) for each in observations if each.failure}
    return _ordered(Counter(reason for _, reason in failures))


def _changes(observation: Observation, kind: Kind, transform: str | None) -> list[bool]:
    return [
        bool(pair.changed)
        for pair in observation.judged(kind)
        if transform is None or pair.transform == transform
    ]


def _transforms(observations: Iterable[Observation]) -> list[tuple[Kind, str]]:
    """All transforms that were tried: meaning-keeping ones first, each kind in the order of the registry."""
    tried = set[tuple[Kind, str]]()
    for each in observations:
        tried.update((pair.kind, pair.transform) for pair in each.pairs)
        tried.update((gap.kind, gap.transform) for gap in each.missing)
    # A name that is not in the registry is of a plug-in that is not installed here: it comes last.
    known = {name: position for position, name in enumerate(TRANSFORMS)}
    return sorted(tried, key=lambda key: (KINDS.index(key[0]), known.get(key[1], len(known)), key[1]))


def _by_transform(
    transform: str, kind: Kind, observations: Sequence[Observation], rates: _Rates
) -> ByTransform:
    pairs = [pair for each in observations for pair in each.pairs if pair.transform == transform]
    plain = _plain(observations)
    made = [pair for each in plain for pair in each.pairs if pair.transform == transform]
    gaps = [gap.reason for each in plain for gap in each.missing if gap.transform == transform]
    extra = {
        each.sample.id
        for each in observations
        if each.extra and any(pair.transform == transform for pair in each.pairs)
    }
    return ByTransform(
        transform=transform,
        kind=kind,
        violations=rates.movable(kind, transform),
        pairs=rates.pairs(kind, transform),
        applied=len(made),
        unjudged=sum(pair.changed is None for pair in pairs),
        not_applied=_ordered(Counter(gaps)),
        evidence=_ordered(Counter(pair.evidence for pair in made)),
        max_deviation=max((pair.deviation for pair in pairs), default=0.0),
        extra=len(extra),
    )


def _by_family(observations: Sequence[Observation], rates: _Rates) -> tuple[ByFamily, ...]:
    families: dict[str, list[str]] = {}
    for kind, name in _transforms(observations):
        if kind == "preserving":
            families.setdefault(_family(name), []).append(name)
    if sum(map(len, families.values())) < 2:
        return ()
    return tuple(ByFamily(family=name, violations=rates.family(own)) for name, own in families.items())


def _family(transform: str) -> str:
    try:
        return entry_of(in_relation(transform)[1]).family
    except (UsageError, CannotAudit):  # of a plug-in that is not installed here
        return PLUG_INS


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort counts: largest first, then by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def with_attacks(summary: Summary, attacked: Iterable[Attacked]) -> Summary:
    """Return the summary with the results of worst-case searches, grouped by model and strategy.

    The rate counts samples on which at least one query was made. A sample searched in several trials is one
    cluster.
    """
    return with_searches(summary, (each.searched for each in attacked))


def with_searches(summary: Summary, searched: Iterable[Searched]) -> Summary:
    """As `with_attacks`, without the texts."""
    found: dict[str, dict[str, list[Searched]]] = defaultdict(lambda: defaultdict(list))
    for each in searched:
        found[each.model][each.strategy].append(each)
    models = tuple(
        replace(
            model,
            attacks=tuple(_attack(each, seed=summary.seed) for each in found[model.model].values()),
        )
        for model in summary.models
    )
    return replace(summary, models=models)


def _attack(every: Sequence[Searched], *, seed: int) -> Attack:
    tried = [each for each in every if each.queries]
    clusters: dict[str, tuple[int, int]] = {}
    for each in tried:  # the same sample in several trials is one unit
        count, total = clusters.get(each.sample, (0, 0))
        clusters[each.sample] = (count + each.violated, total + 1)
    # The query that found the violation is the last one: the search stops there.
    ends = Counter(each.queries for each in tried if each.violated)
    budget = every[0].budget
    curve, so_far = [], 0
    for queries in range(1, budget + 1):
        so_far += ends[queries]
        curve.append(so_far)
    # Without a query there was nothing to search, such as a sample that no transform changes.
    reasons = Counter(each.reason for each in every if not each.queries)
    return Attack(
        strategy=every[0].strategy,
        budget=budget,
        violated=rate(clusters, seed=seed),
        curve=tuple(curve),
        certified=sum(each.certified for each in every),
        queries=sum(each.queries for each in tried),
        not_attacked=dict(sorted(reasons.items())),
    )

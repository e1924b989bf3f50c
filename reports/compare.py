"""Compares several models: statistics over trials, and paired tests on shared inputs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from codeaudit.audit.records import EXCUSES
from codeaudit.reports import wording
from codeaudit.reports.held_out import beside_held_out
from codeaudit.reports.records import (
    NOTHING,
    UNKNOWN,
    Better,
    ComparedRun,
    Comparison,
    Coverage,
    Excess,
    Metric,
    ModelSummary,
    Paired,
    Rate,
    Summary,
    Trial,
)
from codeaudit.reports.shared_inputs import SharedInputs, input_key
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.statistics.paired import SampleOutcome, compare_excess, compare_paired
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import is_share
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Kind

Read = Callable[[Trial], float | None]

EXCESS: Final = "excess of violations"
"""The metric over trials of what edits changed beyond noise."""
OTHER_CORPORA: Final = "the runs have different corpora"
"""The beginning of the note that forbids to compare their rates and scores."""

# Pairs of a name and a reader, so that scores and rates go through one loop in the order of the report.
SCORES: Final[tuple[tuple[str, Read], ...]] = (
    ("{score}", lambda trial: trial.score.original),
    ("attack {score}, worst sample", lambda trial: trial.score.attack_worst_sample),
    ("attack {score}, worst round", lambda trial: trial.score.attack_worst_round),
)

NamedRate: TypeAlias = tuple[str, Better, Read]

RATES: Final[tuple[NamedRate, ...]] = (
    ("violation rate", "lower", lambda trial: trial.violations.rate),
    ("changed, over all samples", "lower", lambda trial: trial.all_samples.rate),
    ("changed, per pair", "lower", lambda trial: trial.pairs.rate),
    ("sensitivity", "higher", lambda trial: trial.sensitivity.rate),
)

NOISY_RATES: Final[tuple[NamedRate, ...]] = (
    (EXCESS, "lower", lambda trial: trial.excess.points),
    ("sensitivity beyond noise", "higher", lambda trial: trial.sensitivity_excess.points),
    *RATES,
)
"""The rates of a comparison with a noisy model: first what noise alone does not explain."""

PAIRED: Final[tuple[tuple[str, Better, Kind], ...]] = (
    ("violated movable samples", "lower", "preserving"),
    ("samples sensitive to a control", "higher", "control"),
)

BeyondOutcomes: TypeAlias = Callable[[Kind], Mapping[str, Sequence[SampleOutcome]]]
"""From a kind of transforms, by model: the outcomes of each sample beside the repeats."""
PairedOutcomes = Callable[[Kind], Mapping[str, Sequence[bool]]]
"""From a kind of transforms, by model: the outcomes of samples that all models were judged on."""


def compare(
    runs: Sequence[ComparedRun],
    *,
    groups: Mapping[str, str] | None = None,
    held_out: ComparedRun | None = None,
) -> Comparison:
    """The models of several runs beside each other.

    A group of trials is a model: the same name with the same fingerprint in several runs is one group, and
    trials of the same seed are taken once. One name with several fingerprints gives groups `name (run)`.
    `groups` puts models of other names together, such as one recipe trained with several seeds; only the
    tests over trials use it. The drops of the scores stand beside those on the code of `held_out`; then one
    model is enough.

    Raises:
        UsageError: runs of different tasks, fewer than two models, or drops that cannot stand beside those of
            `held_out`.
    """
    tasks = sorted({run.summary.task for run in (*runs, *([held_out] if held_out else []))})
    if len(tasks) > 1:
        raise UsageError(f"runs of different tasks cannot be compared: {', '.join(tasks)}; give runs of one")
    # A run against itself would count each of its trials twice, and the tests would be too certain.
    repeated = [name for name, times in Counter(run.name for run in runs).items() if times > 1]
    if repeated:
        raise UsageError(f"the run {repeated[0]!r} is named twice; name each run once")
    label_of = labels(runs)
    names = dict.fromkeys(label_of.values())
    if not names:
        raise UsageError("nothing to compare: the runs have no model")
    beside, beside_notes = beside_held_out(runs, held_out) if held_out else ((), ())
    if len(names) < 2 and beside:
        return Comparison(notes=beside_notes, held_out=beside)
    if len(names) < 2:
        raise UsageError(
            f"nothing to compare: the one model here is {', '.join(names)}; give a run of another "
            "model. Two runs of one model: codeaudit gate NEW --baseline OLD"
        )
    trials: dict[str, dict[tuple[str, str, int], Trial]] = {}
    inputs = SharedInputs()
    for run in runs:
        for model in run.summary.models:
            label = label_of[run.name, model.model]
            group = (groups or {}).get(model.model, label)
            for trial in model.trials:
                # The same model, corpus and seed give the same trial: a second copy of it is no second
                # observation.
                key = (label, run.summary.corpus, trial.seed)
                trials.setdefault(group, {}).setdefault(key, trial)
        for flip in run.flips:
            model_name = label_of.get((run.name, flip.model), flip.model)
            inputs.add(
                model_name,
                flip.kind,
                flip.sample,
                input_key(flip.kind, flip.transform, flip.input, flip.variant),
                violated=flip.violated,
                variant=flip.variant,
            )
    made = comparison(
        {group: tuple(members.values()) for group, members in trials.items()},
        inputs.outcomes,
        models=len(inputs.models),
        beyond=_beyond(
            [(label_of[run.name, model.model], model) for run in runs for model in run.summary.models], inputs
        ),
    )
    return Comparison(
        metrics=made.metrics,
        paired=made.paired,
        notes=(*_doubts(runs, shared=bool(made.paired)), *_mixed(runs, label_of), *made.notes, *beside_notes),
        coverage=_coverage(runs, label_of),
        held_out=beside,
    )


def _mixed(runs: Sequence[ComparedRun], label_of: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Whether sampled and greedy models stand side by side."""
    drawn = {label_of[run.name, model.model]: model.draws for run in runs for model in run.summary.models}
    sampled = {name: number for name, number in drawn.items() if number}
    if sampled and len(set(drawn.values())) > 1:
        draws = ", ".join(f"{name} {number}" for name, number in sampled.items())
        yield (
            f"answers are the commonest of several draws of some models ({draws}) and single ones of others, "
            "so their rates do not compare"
        )


def _coverage(runs: Sequence[ComparedRun], label_of: Mapping[tuple[str, str], str]) -> tuple[Coverage, ...]:
    """What is missing of each model, over its runs."""
    by_name: dict[str, dict[tuple[object, ...], ModelSummary]] = {}
    for run in runs:
        for model in run.summary.models:
            # A copy of the same trials is no second observation.
            key = run.summary.corpus, *(trial.seed for trial in model.trials)
            by_name.setdefault(label_of[run.name, model.model], {}).setdefault(key, model)
    return tuple(_covered(name, list(models.values())) for name, models in by_name.items())


def coverage_of(summary: Summary) -> tuple[Coverage, ...]:
    """What is missing of each model of one run."""
    return tuple(_covered(model.model, [model]) for model in summary.models)


def _covered(name: str, models: Sequence[ModelSummary]) -> Coverage:
    reasons = sum((Counter(dict(model.unjudged_reasons)) for model in models), Counter[str]())
    # A pair whose right answer is another one is unjudged by design.
    wanting = {reason: count for reason, count in reasons.items() if reason not in EXCUSES}
    missing = sum(wanting.values())
    rows = [row for model in models for row in model.by_transform]
    return Coverage(
        model=name,
        verdicts=sum(row.pairs.total for row in rows) + missing,
        missing=missing,
        reasons=wanting,
        pairs=_together([model.pairs for model in models]),
        missing_pairs=min(missing, sum(row.unjudged for row in rows if row.kind == "preserving")),
        noise_floor=_together([model.noise_floor for model in models]),
        excess=models[0].excess if len(models) == 1 else Excess(),
        pair_excess=models[0].pair_excess if len(models) == 1 else Excess(),
        shift=models[0].shift if len(models) == 1 else UNKNOWN,
    )


def _together(rates: Sequence[Rate]) -> Rate:
    """The rate over all runs of a model."""
    if len(rates) == 1:
        return rates[0]
    count, total = sum(rate.count for rate in rates), sum(rate.total for rate in rates)
    if not total:
        return NOTHING
    low, high = wilson(count, total)
    return Rate(count=count, total=total, rate=count / total, low=low, high=high, interval="wilson")


def _beyond(models: Sequence[tuple[str, ModelSummary]], inputs: SharedInputs) -> BeyondOutcomes | None:
    """The outcomes beside repeats, if some model is noisy. `models` have the names of the comparison."""
    if not any(wording.is_noisy(model) for _, model in models):
        return None
    restless = {name for name, model in models if not noise_counts_as_zero(model)}
    steady = [name for name, _ in models if name not in restless]
    return lambda kind: inputs.beyond_noise(kind, steady)


def noise_counts_as_zero(model: ModelSummary) -> bool:
    """Whether the noise of a model counts as zero, as in `codeaudit.reports.summarise`."""
    return (
        not model.hosted
        and model.repeats.per_sample == 1
        and bool(model.noise_floor.total)
        and not wording.unsteady(model).count
    )


def comparison(
    trials: Mapping[str, Sequence[Trial]],
    outcomes: PairedOutcomes,
    *,
    models: int,
    beyond: BeyondOutcomes | None = None,
) -> Comparison:
    """The tests over groups of trials, and those of models on shared inputs.

    A single group gives an empty comparison. Paired rows are samples, since variants of one sample are not
    independent: of each sample only the inputs that every model was judged on count, in all trials
    together, and the outcome is whether any of them changed the answer. `models` is the number of models in
    `outcomes`. If some model is noisy, `beyond` has the outcomes beside repeats, and every test and rank is
    of the excess.
    """
    if len(trials) < 2 and models < 2:
        return Comparison()
    notes = []
    # Seeds change the draw of samples and variants, never the weights: the tests do not speak about another
    # training of the same network.
    if any(len(members) > 1 for members in trials.values()):
        notes.append("trials of one run share models and often samples: they speak about other seeds only")
    return Comparison(
        metrics=_metrics(trials, NOISY_RATES if beyond else RATES) if len(trials) > 1 else (),
        paired=(_paired_excess(beyond) if beyond else _paired(outcomes)) if models > 1 else (),
        notes=tuple(notes),
    )


def _paired_excess(beyond: BeyondOutcomes) -> tuple[Paired, ...]:
    paired = ((name, better, beyond(kind)) for name, better, kind in PAIRED)
    return tuple(compare_excess(name, better, rows) for name, better, rows in paired if any(rows.values()))


def _metrics(trials: Mapping[str, Sequence[Trial]], rates: Sequence[NamedRate]) -> tuple[Metric, ...]:
    first = next((trial.score for members in trials.values() for trial in members), None)
    if first is None:
        return ()
    share = is_share(first)
    readings = [(name.format(score=first.name), first.better, read, share) for name, read in SCORES]
    readings += [(name, better, read, True) for name, better, read in rates]
    metrics = []
    for name, better, read, percent in readings:
        values = {
            group: [value for value in map(read, members) if value is not None]
            for group, members in trials.items()
        }
        if any(values.values()):
            metrics.append(compare_trials(name, better, values, percent=percent))
    return tuple(metrics)


def _paired(outcomes: PairedOutcomes) -> tuple[Paired, ...]:
    paired = ((name, better, outcomes(kind)) for name, better, kind in PAIRED)
    return tuple(compare_paired(name, better, rows) for name, better, rows in paired if any(rows.values()))


def labels(runs: Sequence[ComparedRun]) -> dict[tuple[str, str], str]:
    """The display name of each model in each run."""
    prints: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for model in run.summary.models:
            prints[model.model].add(model.fingerprint)

    def label(run: ComparedRun, model: ModelSummary) -> str:
        # `gpt` audited before and after an update of its weights is two models.
        return model.model if len(prints[model.model]) == 1 else f"{model.model} ({run.name})"

    return {(run.name, model.model): label(run, model) for run in runs for model in run.summary.models}


def _doubts(runs: Sequence[ComparedRun], *, shared: bool) -> list[str]:
    corpora = sorted({run.summary.corpus.rstrip("/") for run in runs})
    doubts = []
    if len(corpora) > 1:
        rest = "only their shared inputs compare" if shared else "they share no input, so nothing compares"
        doubts.append(f"{OTHER_CORPORA} ({', '.join(corpora)}): {rest}")
    if any(not run.flips for run in runs):
        doubts.append("some runs have no table of verdicts: they take no part in the paired tests")
    return doubts

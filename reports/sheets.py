"""The tables of a report as rows of text cells, shared by all formats."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import stdev
from typing import Final

from codeaudit.audit.records import DrawnSize, MovableDraw
from codeaudit.reports import wording
from codeaudit.reports.records import (
    ByTransform,
    Comparison,
    Contrast,
    Coverage,
    Excess,
    Group,
    HeldOut,
    JudgeNoise,
    Metric,
    ModelSummary,
    Paired,
    PartialRate,
    Rate,
    RobustPass,
    Score,
    Standing,
    Summary,
)
from codeaudit.reports.statistics.adjustment import ranked
from codeaudit.reports.statistics.agreement import by_label
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.statistics.trials import TIES
from codeaudit.reports.verdict import blind, verdict
from codeaudit.reports.wording import ABSENT, LEVEL
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.language import find_language
from codeaudit.transforms.records import KEEPS_TEXT, Kind

KIND_WORDS: Final[dict[Kind, str]] = {
    "preserving": "keeps meaning",
    "paper": "names only (paper)",
    "control": "control",
    "identity": "unchanged",
    "swap": "swaps the pair",
    "network": "permutes the network",
    "network-control": "breaks the network",
    "prose": "other words (assumed)",
}
ALONE: Final[frozenset[Kind]] = frozenset({"paper", "prose"})
"""The kinds of edits that may be all that a run has."""

STEPS: Final = (1, 4, 16, 64, 256)
"""Numbers of queries for which the table of a search has a column."""
EXHAUSTIVE: Final = "exhaustive"

IN_DETAIL: Final = ("changed, over all samples", "changed, per pair")
"""Metrics that appear only in their own table of a comparison."""

LEGEND: Final = (
    "violation rate: the share of movable samples with {violated} although an edit kept the meaning, with "
    "the 95 % interval. A sample is movable if an edit really changed it. Over all samples: the same share "
    "with those that no edit changed.",
    "sensitivity: {noticed}; here more is better.",
    "unsteady: samples with another answer when the unchanged input was asked again.",
)
EXCESS: Final = (
    "excess: points by which more samples changed under edits than under as many repeats, with the 95 % "
    "interval; counts: samples changed by edits - by repeats / all. p: whether pairs of answers show an "
    "effect. A drop is that of the worst of as many variants as repeats."
)
"""Explains the columns of a run with a noisy model."""


EXCESS_OF_MODELS: Final = (
    "excess: points by which more samples changed under edits than under as many repeats, with the 95 % "
    "interval; samples changed by edits - by repeats / all. Differences are of the excess, and p is of "
    "single answers, by sign flips over samples."
)
"""Explains a comparison with a noisy model."""
OVER_TRIALS: Final = (
    "numbers without counts: the mean over trials ± its standard error, shares in percent. The report of a "
    "run puts the samples of all trials together, so its rates may differ a little."
)
EXTRA: Final = (
    "+ movable: drawn in addition to the plain random draw, each only for the transforms that lacked movable "
    "samples. The rates by transform count them. Every rate over all samples, or over several transforms, is "
    "of the plain draw."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One field of a table."""

    lines: tuple[str, ...]
    """Printed side by side if there is room, otherwise one below the other."""
    bold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The head of one column. It is wrapped between words if there is little room."""

    head: str
    number: bool = False
    """Whether the column holds numbers: right-aligned and never wrapped."""


def words(*heads: str) -> tuple[Column, ...]:
    """Columns of text."""
    return tuple(Column(head=head) for head in heads)


def numbers(*heads: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(head=head, number=True) for head in heads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table with its title, and the notes and legend below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """Sentences about the numbers."""
    legend: tuple[str, ...] = ()
    """Explanations of the columns."""
    lead: tuple[str, ...] = ()
    """Sentences before the table: what it shows."""
    dense: bool = False
    """Whether rows of several lines stand without a blank line between them."""
    stacked: int = 1
    """The number of leading columns that are merged into one if there is little room."""


def sheets(report: Summary | Comparison) -> tuple[Sheet, ...]:
    """Return the tables of a report in reading order."""
    return _summary_sheets(report) if isinstance(report, Summary) else _comparison_sheets(report)


def asked_for(summary: Summary) -> tuple[Sheet, ...]:
    """Return the tables that only some runs have: robust pass@k, likeness of answers, worst-case searches."""
    findings = [_findings(summary)] if summary.finding else []
    sides = [_sides(summary)] if any(model.sides.total for model in summary.models) else []
    robust = [_robust(summary)] if any(model.robust for model in summary.models) else []
    labelled = [_labelled(summary)] if _has_classes(summary) else []
    criteria = [_criteria(summary)] if any(model.criteria for model in summary.models) else []
    likeness = [_likeness(summary)] if any(model.score.likeness for model in summary.models) else []
    attacked = [_attacks(summary)] if any(model.attacks for model in summary.models) else []
    return (*labelled, *findings, *sides, *robust, *criteria, *likeness, *attacked)


def _summary_sheets(summary: Summary) -> tuple[Sheet, ...]:
    drawn = [_drawn(draw, summary) for draw in summary.draws[:1]]
    single = [_languages(summary)] if any(model.languages for model in summary.models) else []
    single += [_by_label(summary)] if _has_classes(summary) else []
    single += [_rightness(summary)] if summary.edits_decide else []
    beyond = [_beyond_noise(summary)] if any(map(wording.is_noisy, summary.models)) else []
    beyond += [_sampled(summary)] if any(model.draws for model in summary.models) else []
    beyond += [_prompts(summary)] if summary.prompts else []
    beyond += [_shifts(summary)] if any(model.shift.value is not None for model in summary.models) else []
    return (
        _models(summary),
        *beyond,
        *asked_for(summary),
        *single,
        _changes(summary),
        *drawn,
        _applied(summary),
    )


def _models(summary: Summary) -> Sheet:
    trials = max((len(model.trials) for model in summary.models), default=1)
    over = f", {trials} trials" if trials > 1 else ""
    where = f"{summary.task} on {wording.plain(summary.corpus)}, seed {summary.seed}{over}"
    score = wording.score_name(summary.models[0].score.name) if summary.models else "score"
    heads = (
        f"{score}",
        f"attack {score}",
        "violation rate",
        "over all samples",
        "sensitivity",
        "unsteady",
    )
    best = {s.model for paired in summary.statistics.paired[:1] for s in paired.standings if s.best}
    told_as = wording.phrases(summary.tells_apart)
    notes = [f"{wording.reading(model, told_as)}." for model in summary.models if _has_preserving(model)]
    notes += wording.relations(wording.transforms_of(summary))
    notes += [f"{paired.name}: {wording.verdict(paired.test)}." for paired in summary.statistics.paired[:1]]
    legend = [line.format(**told_as._asdict()) for line in LEGEND]
    legend.append(_attack_legend(summary, score))
    if any(model.extra for model in summary.models):
        legend.append(EXTRA)
    if trials > 1:
        legend.append("±: standard error over the trials; rates pool them.")
    if losses := wording.losses(summary.models):
        legend.append(f"without an answer, with the reason: {losses}.")
    if summary.skipped:
        legend.append(f"no example of the task: {wording.reasons(summary.skipped)}.")
    return Sheet(
        title=f"{where}: all transforms together",
        columns=(*words("model", "size", "asked"), *numbers(*heads)),
        rows=tuple(
            _model_row(model, model.model in best and not wording.ignores(model)) for model in summary.models
        ),
        notes=tuple(notes),
        legend=tuple(legend),
        stacked=3,
    )


def _has_preserving(model: ModelSummary) -> bool:
    """Whether there is something to say about edits that keep the meaning."""
    kinds = {row.kind for row in model.by_transform}
    return "preserving" in kinds or not kinds & ALONE


def _model_row(model: ModelSummary, best: bool) -> tuple[Cell, ...]:
    return (
        _cell(wording.plain(model.model)),
        _cell(wording.size(model.parameters)),
        Cell(lines=wording.sample_counts(model)),
        _score(model),
        _attack(model),
        Cell(lines=wording.lines(model.violations), bold=best),
        Cell(lines=wording.lines(model.all_samples)),
        Cell(lines=wording.lines(model.sensitivity)),
        Cell(lines=wording.bounded(wording.unsteady(model))),
    )


def _tested(lines: tuple[str, ...], pairs: Excess) -> tuple[str, ...]:
    """An excess with its p; a single dash without one."""
    return (ABSENT,) if pairs.p is None else (*lines, f"p {wording.p_value(pairs.p)}")


def _score(model: ModelSummary) -> Cell:
    share = wording.is_share(model.score)
    lines = [wording.value(model.score.original, share=share)]
    values = [trial.score.original for trial in model.trials if trial.score.original is not None]
    if len(values) > 1:
        lines.append(f"± {wording.value(stdev(values) / sqrt(len(values)), share=share)}")
    return Cell(lines=tuple(lines))


def _attack(model: ModelSummary) -> Cell:
    score, share = model.score, wording.is_share(model.score)
    if score.attack_worst_sample is None:
        return _cell(ABSENT)
    return _cell(
        wording.value(score.attack_worst_sample, share=share),
        f"drop {wording.value(score.drop, share=share)}",
        f"round {wording.value(score.attack_worst_round, share=share)}",
    )


def _attack_legend(summary: Summary, score: str) -> str:
    rounds = max((model.score.rounds for model in summary.models), default=0)
    return (
        f"attack {score}: with each sample's worst answer over its variants, and what that loses; "
        f"round: the worst of {rounds} rounds, each one variant of one transform."
    )


def _beyond_noise(summary: Summary) -> Sheet:
    """What edits did to the noisy models beyond their noise."""
    rows: list[tuple[Cell, ...]] = []
    for model in filter(wording.is_noisy, summary.models):
        name, score = wording.plain(model.model), model.score
        overall = (model.noise_samples, model.excess, model.pair_excess)
        effects = [("all together", *overall)] if model.excess.points is not None else []
        effects += [
            (row.transform, row.noise, row.excess, row.pair_excess)
            for row in model.by_transform
            if row.excess.points is not None
        ]
        rows += [_excess_row(name, *effect) for effect in effects]
        if (controls := model.sensitivity_excess).points is not None:
            rows.append(
                _row_of(name, "controls, per pair", wording.points(controls.points), ABSENT, controls)
            )
        if (drop := score.drop_excess).points is not None:
            text = wording.value(drop.points, share=wording.is_share(score))
            rows.append(_row_of(name, f"drop of {wording.score_name(score.name)}", text, ABSENT, drop, score))
    return Sheet(
        title="What edits changed beyond noise",
        columns=(*words("model", "edits"), *numbers("excess", "95 %", "counts", "p")),
        rows=tuple(rows),
        legend=(EXCESS,),
        stacked=2,
    )


def _prompts(summary: Summary) -> Sheet:
    """What another prompt changed of each model that was asked with several, beside what edits changed."""
    models = {model.model: model for model in summary.models}
    rows: list[tuple[Cell, ...]] = []
    for effect in summary.prompts:
        name = wording.plain(effect.model)
        rows.append(
            _prompt_row(
                name, "another prompt", effect.changed, effect.noise, effect.excess, effect.pair_excess
            )
        )
        for prompt in effect.prompts:
            model = models[f"{effect.model}@{prompt}"]
            rates = (model.violations, model.noise_samples, model.excess, model.pair_excess)
            rows.append(_prompt_row(name, f"edits, asked with {wording.plain(prompt)}", *rates))
    return Sheet(
        title="What another prompt changed, beside what edits changed",
        columns=(*words("model", "what changed"), *numbers("changed", "repeats", "excess", "per pair", "p")),
        rows=tuple(rows),
        legend=(
            "changed: for prompts, originals to which some two prompts got different answers; for edits, the "
            "violation rate. repeats: the share of which as many repeats got another answer. excess: points "
            "beyond that, over samples. per pair: the same over pairs of answers, which does not grow with "
            "the number of prompts or variants; p: whether it shows an effect.",
        ),
        stacked=2,
    )


def _prompt_row(
    model: str, what: str, changed: Rate, noise: Rate, excess: Excess, pairs: Excess
) -> tuple[Cell, ...]:
    return (
        _cell(model),
        _cell(what),
        Cell(lines=wording.lines(changed)),
        _cell(wording.percent(noise.rate)),
        Cell(lines=_spanned(excess)),
        Cell(lines=_spanned(pairs)),
        _cell(wording.p_value(pairs.p)),
    )


def _spanned(excess: Excess) -> tuple[str, ...]:
    """The points and the interval of an excess; a single dash without it."""
    return (ABSENT,) if excess.points is None else (wording.points(excess.points), wording.span(excess))


SHIFT: Final = (
    "shift: by how many points the probability that the model gives to its answer to the original differs "
    "under an edit, up or down; the mean over samples, with its 95 % interval. It also shows edits that move "
    "a model without changing its answer. repeats: the same where the unchanged input was asked again."
)
"""Explains the shift of probability."""


def _shifts(summary: Summary) -> Sheet:
    """How far edits moved the probability of the original's answer."""
    rows: list[tuple[Cell, ...]] = []
    for model in summary.models:
        if model.shift.value is None:
            continue
        name, noise = wording.plain(model.model), wording.estimate_lines(model.noise_shift)
        shifts = [("all together", model.shift, noise)]
        shifts += [
            (row.transform, row.shift, ("",))
            for row in model.by_transform
            if row.kind != "identity" and row.shift.value is not None
        ]
        rows += [
            (_cell(name), _cell(edits), Cell(lines=wording.estimate_lines(shift)), Cell(lines=again))
            for edits, shift, again in shifts
        ]
    return Sheet(
        title="How far edits moved the probability of the original's answer",
        columns=(*words("model", "edits"), *numbers("shift", "repeats")),
        rows=tuple(rows),
        legend=(SHIFT,),
        stacked=2,
    )


def _sampled(summary: Summary) -> Sheet:
    """How far edits moved the distributions of answers of sampled models."""
    rows: list[tuple[Cell, ...]] = []
    for model in summary.models:
        for row in model.by_transform:
            if row.distance.points is None:
                continue
            share, drop = wording.is_share(model.score), row.score_drop
            lost = ABSENT if drop.points is None else wording.value(drop.points, share=share)
            names = (wording.plain(model.model), row.transform, str(model.draws))
            distance = (f"{row.distance.points:.3f}", f"{row.distance.low:.3f} to {row.distance.high:.3f}")
            moved = f"{row.moved}/{row.distance.samples}"
            p = wording.p_value(row.distance.p)
            rows.append(tuple(map(_cell, (*names, *distance, p, moved, lost, wording.p_value(drop.p)))))
    return Sheet(
        title="How far edits moved the distribution of answers",
        columns=(
            *words("model", "edit"),
            *numbers("draws", "distance", "95 %", "p", "moved", "score lost", "p"),
        ),
        rows=tuple(rows),
        legend=(
            "distance: half the squared distance of the two distributions of answers, 0 where they are "
            "equal; below 0 by chance alone. moved: samples that show it alone. score lost: of the mean over "
            "draws.",
        ),
        stacked=2,
    )


def _excess_row(model: str, edits: str, noise: Rate, excess: Excess, pairs: Excess) -> tuple[Cell, ...]:
    amount, _, counts = wording.excess_lines(excess, noise)
    return _row_of(model, edits, amount, counts, replace(excess, p=pairs.p))


def _row_of(
    model: str, edits: str, amount: str, counts: str, excess: Excess, score: Score | None = None
) -> tuple[Cell, ...]:
    ends = wording.ends(excess)
    if score is not None and excess.low is not None:
        share = wording.is_share(score)
        ends = " to ".join(wording.value(end, share=share) for end in (excess.low, excess.high))
    return tuple(map(_cell, (model, edits, amount, ends, counts, wording.p_value(excess.p))))


def _changes(summary: Summary) -> Sheet:
    rows = []
    for transform in _transform_names(summary):
        head = transform
        for model in summary.models:
            for row in model.by_transform:
                if row.transform == transform:
                    texts = wording.lines(row.violations) if row.violations.total else (ABSENT,) * 3
                    texts = (*texts, wording.percent(row.pairs.rate), str(row.unjudged))
                    names = (_cell(head), _cell(wording.plain(model.model)))
                    rows.append((*names, *(_cell(number) for number in texts)))
                    head = ""
    return Sheet(
        title="Changed answers by transform",
        columns=(
            *words("transform", "model"),
            *numbers("rate", "95 %", "samples", "per pair", "unjudged"),
        ),
        rows=tuple(rows),
        notes=tuple(wording.relations(wording.transforms_of(summary))),
    )


def _drawn(draw: MovableDraw, summary: Summary) -> Sheet:
    rows = [
        (
            _cell("all, plain draw"),
            *(_cell(text) for text in (ABSENT, ABSENT, f"{draw.plain.samples:,}")),
            *_sizes(draw.plain),
        )
    ]
    rows += [
        (
            _cell(row.transform),
            *(_cell(f"{number:,}") for number in (row.movable.samples, row.extra, row.tried)),
            *_sizes(row.movable),
        )
        for row in draw.by_transform
    ]
    of = f", seed {draw.seed}" if len(summary.draws) > 1 else ""
    wanted = f"{draw.wanted} wanted for each transform" if draw.wanted else "as the suite holds them"
    return Sheet(
        title=f"Movable samples, {wanted}{of}",
        columns=(
            *words("samples"),
            *numbers("movable", "in addition", "tried", "lines", "statements"),
        ),
        rows=tuple(rows),
        legend=(
            "movable: the transform changes the sample, and every model can read it; in addition: of these, "
            "not in the plain draw; tried: samples that the transform was tried on; lines, statements: "
            "medians, which say how the movable samples differ from all.",
        ),
    )


def _sizes(size: DrawnSize) -> tuple[Cell, Cell]:
    lines, statements = (ABSENT if value is None else f"{value:g}" for value in (size.lines, size.statements))
    return _cell(lines), _cell(statements)


def _robust_excess(model: ModelSummary, block: RobustPass) -> tuple[Cell, Cell]:
    if not wording.is_noisy(model) or block.excess.points is None:
        return _cell(ABSENT), _cell(ABSENT)
    lost = (wording.points(block.excess.points), wording.ends(block.excess))
    return Cell(lines=wording.estimate(block.repeated)), Cell(lines=_tested(lost, block.excess))


def _robust(summary: Summary) -> Sheet:
    noisy = any(map(wording.is_noisy, summary.models))
    rows = [
        (
            _cell(wording.plain(model.model)),
            _cell(block.transform or "all together"),
            _cell(f"{block.k} of {block.attempts}"),
            _cell(str(block.problems)),
            _cell(f"{block.variants / block.problems:.1f}", f"at most {block.most_variants}"),
            *(
                Cell(lines=wording.estimate(estimate))
                for estimate in (block.nominal, block.robust, block.drop, block.relative)
            ),
            *(_robust_excess(model, block) if noisy else ()),
        )
        for model in summary.models
        for block in model.robust
    ]
    return Sheet(
        title="Robust pass@k",
        columns=(
            *words("model", "transform"),
            *numbers(
                "k", "problems", "variants each", "pass@k", "robust pass@k", "robust drop", "robust relative"
            ),
            *(numbers("over repeats", "lost beyond noise") if noisy else ()),
        ),
        rows=tuple(rows),
        legend=(
            "robust pass@k: an attempt passes only if it does for every variant of the problem; robust drop: "
            "what that loses, of pass@k; robust relative: attempts that some variant changes, for the worse "
            "or for the better (ReCode, arXiv 2212.10264). All over the problems that have a variant. "
            "Variants without an answer are left out, which can only raise robust pass@k.",
            *([REPEATED] if noisy else []),
        ),
        stacked=2,
    )


REPEATED: Final = (
    "over repeats: robust pass@k where as many repeats of the prompt stand for the variants; lost beyond "
    "noise: points by which as many variants are below that."
)
MOST_LABELS: Final = 20
"""Labels in the table of single labels; the commonest ones."""


def _has_classes(summary: Summary) -> bool:
    return any(model.agreement.classes for model in summary.models)


def _labelled(summary: Summary) -> Sheet:
    """How answers go with labels."""
    rows = []
    for model in summary.models:
        agreement = model.agreement
        if agreement.classes:
            low, high = wilson((agreement.accuracy or 0.0) * agreement.labels, agreement.labels)
            cells = [
                _cell(wording.plain(model.model)),
                _cell(f"{agreement.labels:,}"),
                _cell(wording.percent(agreement.accuracy), f"{100 * low:.1f}–{100 * high:.1f}"),
                _cell(
                    "–" if agreement.mcc is None else f"{agreement.mcc:.2f}",
                    f"p {wording.p_value(agreement.p)}",
                ),
                _cell(wording.percent(agreement.macro_f1)),
            ]
            rows.append(tuple(cells))
    return Sheet(
        title="How the answers go with the labels",
        columns=(*words("model"), *numbers("samples", "accuracy", "MCC", "macro F1")),
        rows=tuple(rows),
        legend=(
            "for the original inputs. MCC: correlation of answers and labels, 0 for chance and 1 for right; "
            "p: how often chance alone gives as much. macro F1: mean over the labels.",
        ),
    )


def _rightness(summary: Summary) -> Sheet:
    """Right answers by transform, where edits decide what is right."""
    rows = []
    for model in summary.models:
        calibration = model.calibration
        last = [
            _cell(f"{calibration.answers:,}" if calibration.answers else ABSENT),
            _cell(ABSENT if calibration.brier is None else f"{calibration.brier:.3f}"),
            _cell(ABSENT if calibration.error is None else f"{calibration.error:.3f}"),
        ]
        for row in model.by_transform:
            if not row.pairs.total or row.kind not in ("preserving", "control", "identity"):
                continue
            rate = row.pairs
            right, low, high = rate.count, rate.low, rate.high
            if row.kind != "control":
                right = rate.total - right
                low, high = (None if end is None else 1 - end for end in (rate.high, rate.low))
            interval = "" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"
            cells = [_cell(wording.plain(model.model)), _cell(row.transform), _cell(KIND_WORDS[row.kind])]
            cells.append(_cell(wording.percent(right / rate.total), interval, f"{right:,}/{rate.total:,}"))
            rows.append((*cells, *last))
    return Sheet(
        title="Right answers by transform",
        columns=(
            *words("model", "transform", "kind"),
            *numbers("accuracy", "with scores", "Brier", "calibration error"),
        ),
        rows=tuple(rows),
        legend=(
            "accuracy: the share of the judged pairs with the right answer. With scores: the answers to "
            "variants that have some, over all transforms; Brier: mean squared distance of the probability "
            "of an answer from 1 if it is right, else from 0; calibration error: how far probabilities are "
            "from the shares of right answers, in ten bins. Of both, 0 is best.",
        ),
    )


def _findings(summary: Summary) -> Sheet:
    """What edits did to findings, and the rate without those that touch a fix."""
    marked = any(model.marked for model in summary.models)
    rows = []
    for model in summary.models:
        preserving = [row for row in model.by_transform if row.kind == "preserving"]
        overall: list[tuple[str, ModelSummary | ByTransform]] = [("all together", model)]
        for name, rates in [*overall, *((row.transform, row) for row in preserving)]:
            cells = [_cell(wording.plain(model.model)), _cell(name)]
            cells += [_partial(part, model) for part in (rates.missed, rates.raised)]
            more = [_partial(rates.unmarked, model), _cell(f"{rates.marked:,}")] if marked else []
            rows.append((*cells, *more))
    return Sheet(
        title=f"Edits that lose or bring the answer {summary.finding!r}",
        columns=(
            *words("model", "edits"),
            *numbers("missed", "false alarm", *(["off the fix", "marked"] if marked else [])),
        ),
        rows=tuple(rows),
        legend=(
            f"missed: of the samples that were rightly called {summary.finding} (or have no label), those "
            "that are not under some edit that keeps the flaw. false alarm: the reverse.",
            *([OFF_FIX] if marked else []),
            *([BEYOND] if any(map(wording.is_noisy, summary.models)) else []),
        ),
        stacked=2,
    )


def _partial(part: PartialRate, model: ModelSummary) -> Cell:
    """A rate, or of a noisy model its excess."""
    if wording.is_noisy(model):
        return Cell(lines=wording.excess_lines(part.excess, part.noise))
    return Cell(lines=wording.lines(part.violations))


BEYOND: Final = "of noisy models: points beyond noise (samples changed by edits - by repeats / all)."
OFF_FIX: Final = (
    "off the fix: the violation rate without edits of a line of the fix; marked: number of these edits."
)


def _sides(summary: Summary) -> Sheet:
    """The score of PrimeVul for pairs."""
    rows = []
    for model in summary.models:
        sides = model.sides
        counts = (sides.correct, sides.both_found, sides.both_missed, sides.reversed)
        cells = (_counted(count, sides.total) for count in counts)
        rows.append((_cell(wording.plain(model.model)), _cell(f"{sides.total:,}"), *cells))
    return Sheet(
        title="Both sides of a fix",
        columns=(*words("model"), *numbers("pairs", "P-C", "P-V", "P-B", "P-R")),
        rows=tuple(rows),
        legend=(
            "of the original inputs, as in PrimeVul (arXiv 2403.18624). P-C: both right. P-V: both called "
            "vulnerable. P-B: both called safe. P-R: both wrong.",
        ),
    )


def _by_label(summary: Summary) -> Sheet:
    """The rates of each label."""
    rows = []
    hidden = 0
    for model in summary.models:
        labels = by_label(model.agreement.classes)
        hidden = max(hidden, len(labels) - MOST_LABELS)
        for row in labels[:MOST_LABELS]:
            cells = [
                _cell(wording.plain(model.model)),
                _cell(wording.plain(row.label)),
                _counted(row.hits, row.true),
                _counted(row.hits, row.answers),
                _cell(wording.percent(row.f1)),
            ]
            rows.append(tuple(cells))
    return Sheet(
        title="Label by label",
        columns=(*words("model", "label"), *numbers("found", "right", "F1")),
        rows=tuple(rows),
        notes=(f"{counted(hidden, 'rarer label')} not shown.",) if hidden > 0 else (),
        legend=(
            "found: samples of the label that got it as the answer (recall). right: such answers that are "
            "right (precision).",
        ),
        stacked=2,
    )


def _counted(hits: int, total: int) -> Cell:
    return _cell(wording.percent(hits / total if total else None), f"{hits}/{total}")


def _languages(summary: Summary) -> Sheet:
    """The rates by language, over all transforms."""
    rows = [
        (
            _cell(wording.plain(model.model)),
            _cell(_title(name)),
            _cell(f"{language.samples:,}"),
            _partial(language.edited, model),
            Cell(lines=wording.lines(language.sensitivity)),
        )
        for model in summary.models
        for name, language in model.languages.items()
    ]
    return Sheet(
        title="By language, all transforms together",
        columns=(*words("model", "language"), *numbers("samples", "violation rate", "sensitivity")),
        rows=tuple(rows),
        legend=(
            "samples: those that got an answer.",
            *([BEYOND] if any(map(wording.is_noisy, summary.models)) else []),
        ),
        stacked=2,
    )


def _title(language: str) -> str:
    known = find_language(language)  # one of a plug-in that is not installed here has none
    return wording.plain(language) if known is None else known.title


def _criteria(summary: Summary) -> Sheet:
    """The violation rate by each rule of when two answers are the same."""
    rows = [
        (_cell(wording.plain(model.model)), _cell(name), _partial(part, model))
        for model in summary.models
        for name, part in model.criteria.items()
    ]
    return Sheet(
        title="When two answers count as the same",
        columns=(*words("model", "rule"), *numbers("violation rate")),
        rows=tuple(rows),
        legend=(
            "the first rule is that of all other tables.",
            *([_of_judge(summary.judge)] if summary.judge else []),
            *([BEYOND] if any(map(wording.is_noisy, summary.models)) else []),
        ),
        stacked=2,
    )


def _of_judge(noise: JudgeNoise) -> str:
    def share(rate: Rate) -> str:
        return f"{wording.percent(rate.rate)} ({rate.count:,}/{rate.total:,})" if rate.total else ABSENT

    return (
        f"judge {wording.plain(noise.model)} was shown {counted(noise.pairs, 'pair')} of different answers, "
        f"each in both orders. In the other order it said another thing of {share(noise.swapped)}; asked the "
        f"same again, of {share(noise.changed)}. Undecided, and in no rate: {noise.undecided:,}."
    )


def _likeness(summary: Summary) -> Sheet:
    names = list(dict.fromkeys(name for model in summary.models for name in model.score.likeness))
    rows = []
    for model in summary.models:
        before, after = model.score.likeness, model.score.attack_likeness
        cells = [
            _cell(*(wording.value(table.get(name), share=True) for table in (before, after)))
            for name in names
        ]
        rows.append((_cell(wording.plain(model.model)), *cells))
    return Sheet(
        title="How near the answers are",
        columns=(*words("model"), *numbers(*names)),
        rows=tuple(rows),
        legend=("first for the original inputs, then with each sample's worst answer over its variants.",),
    )


def _attacks(summary: Summary) -> Sheet:
    most = max(attack.budget for model in summary.models for attack in model.attacks)
    steps = [step for step in STEPS if step < most]
    rows = []
    for model in summary.models:
        for attack in model.attacks:
            curve = [attack.curve[step - 1] if step <= attack.budget else None for step in steps]
            rows.append(
                (
                    _cell(wording.plain(model.model)),
                    _cell(f"{attack.strategy}, {attack.budget}"),
                    *(_cell(ABSENT if count is None else str(count)) for count in curve),
                    Cell(lines=wording.lines(attack.violated)),
                    _cell(str(attack.certified) if attack.strategy == EXHAUSTIVE else ABSENT),
                    _cell(wording.reasons(attack.not_attacked)),
                )
            )
    return Sheet(
        title="Worst-case search",
        columns=(
            *words("model", "attack, budget"),
            *numbers(*(f"by {step}" for step in steps)),
            *numbers("violated", "certified"),
            *words("not attacked, because"),
        ),
        rows=tuple(rows),
        legend=(
            "violated: samples for which an edit was found that keeps the meaning and changes the answer, of "
            "those that could be edited; by 4: with at most four queries; certified: all edits of the "
            "transforms that can be counted out were tried, and none changes the answer.",
        ),
        stacked=2,
    )


def _applied(summary: Summary) -> Sheet:
    rows = []
    for transform in _transform_names(summary):
        applied = [
            row for model in summary.models for row in model.by_transform if row.transform == transform
        ]
        row = max(applied, key=lambda row: row.applied + sum(row.not_applied.values()))
        attempts = row.applied + sum(row.not_applied.values())
        rows.append(
            (
                _cell(transform),
                _cell(KIND_WORDS[row.kind]),
                _cell(f"{row.applied}/{attempts}"),
                _cell(ABSENT if row.kind in KEEPS_TEXT else wording.reasons(row.evidence)),
                _cell(wording.reasons(row.not_applied)),
            )
        )
    return Sheet(
        title="Where the transforms could be applied",
        columns=(
            *words("transform", "kind"),
            *numbers("applied"),
            *words("shown by", "not applied, because"),
        ),
        rows=tuple(rows),
    )


def _transform_names(summary: Summary) -> list[str]:
    return list(dict.fromkeys(row.transform for model in summary.models for row in model.by_transform))


def _comparison_sheets(comparison: Comparison) -> tuple[Sheet, ...]:
    made = [_beside(comparison)] if comparison.metrics or comparison.paired else []
    if made and comparison.coverage:
        made.append(_coverage(comparison.coverage))
        if any(row.shift.value is not None for row in comparison.coverage):
            made.append(_compared_shifts(comparison.coverage))
    for metric in comparison.metrics:
        if metric.test.p is not None:
            made += [_metric(metric), *_diagram(metric)]
    for paired in comparison.paired:
        made += [_paired(paired), *_diagram(paired), *_contrasts(paired)]
    if comparison.held_out:
        lead = () if made else tuple(verdict(comparison))
        made.append(replace(_held_out(comparison.held_out), lead=lead))
    if not made:
        made.append(Sheet(title="Nothing to compare", columns=(), rows=()))
    made[-1] = replace(made[-1], notes=(*made[-1].notes, *comparison.notes))
    return tuple(made)


def _held_out(contrasts: Sequence[HeldOut]) -> Sheet:
    """The drops of the scores on a public set and on held-out code."""
    shifts = any(contrast.shift_difference.value is not None for contrast in contrasts)
    rows = []
    for contrast in contrasts:
        public, held = contrast.public_drop, contrast.held_out_drop
        apart = Excess(
            points=contrast.difference.value, low=contrast.difference.low, high=contrast.difference.high
        )
        lines = (
            (wording.plain(contrast.public_run), contrast.public_original, public, contrast.public_shift),
            (
                f"{wording.plain(contrast.held_out_run)} (held out)",
                contrast.held_out_original,
                held,
                contrast.held_out_shift,
            ),
            ("difference", None, apart, contrast.shift_difference),
        )
        for name, original, drop, shift in lines:
            cells = [
                _cell(wording.plain(contrast.model)),
                _cell(name),
                _cell("" if original is None else wording.percent(original)),
                Cell(lines=_spanned(drop)),
                _cell(f"{drop.samples:,}" if drop.samples else ""),
            ]
            moved = Excess(points=shift.value, low=shift.low, high=shift.high)
            rows.append((*cells, *([Cell(lines=_spanned(moved))] if shifts else [])))
    return Sheet(
        title="The drop of the score under edits, on the public set and on held-out code",
        columns=(
            *words("model", "set"),
            *numbers("original", "drop", "samples", *(["shift"] if shifts else [])),
        ),
        rows=tuple(rows),
        legend=(
            "original: the mean score of the samples that an edit changed, before any edit. drop: by how "
            "many points the mean over their variants is worse, with the 95 % interval over samples. Only "
            "edits that keep the meaning count, and only those of both sets.",
            *([SHIFT.partition(" repeats:")[0]] if shifts else []),
        ),
        stacked=2,
    )


def _coverage(coverage: Sequence[Coverage]) -> Sheet:
    """What is missing of each model, and its noise."""
    rows = tuple(
        (
            _cell(wording.plain(row.model)),
            _cell(wording.percent(row.share), f"{row.missing:,}/{row.verdicts:,}"),
            _cell(wording.reasons(row.reasons)),
            Cell(lines=wording.lines(row.pairs)),
            Cell(lines=wording.bounded(row.noise_floor)),
        )
        for row in coverage
    )
    return Sheet(
        title="Missing verdicts and noise",
        columns=(
            *words("model"),
            *numbers("unjudged"),
            *words("because"),
            *numbers("per pair", "per repeat"),
        ),
        rows=rows,
        legend=(
            "unjudged: the share of verdicts that are missing, because there was no answer. per pair: the "
            "share of answers that one edit changed; per repeat: the same for the unchanged input. These "
            "two compare.",
        ),
    )


def _compared_shifts(coverage: Sequence[Coverage]) -> Sheet:
    """The shift of probability of each model."""
    return Sheet(
        title="How far edits moved the probability of the original's answer",
        columns=(*words("model"), *numbers("shift")),
        rows=tuple(
            (_cell(wording.plain(row.model)), Cell(lines=wording.estimate_lines(row.shift)))
            for row in coverage
        ),
        legend=(SHIFT.partition(" repeats:")[0],),
    )


def _beside(comparison: Comparison) -> Sheet:
    """The main table of a comparison: means over trials, and changed answers on shared inputs."""
    metrics = [
        metric for metric in comparison.metrics if metric.name not in IN_DETAIL and "round" not in metric.name
    ]
    means = {metric.name: {group.name: group for group in metric.groups} for metric in metrics}
    shared = {paired.name: {row.model: row for row in paired.standings} for paired in comparison.paired}
    names = [name for groups in means.values() for name in groups]
    names += [name for standings in shared.values() for name in standings]
    rows = []
    unmoved = blind(comparison)
    changed = {name for name, group in means.get("violation rate", {}).items() if group.mean}
    noisy = any(paired.by_excess for paired in comparison.paired)
    for name in dict.fromkeys(names):
        cells = [_cell(wording.plain(name))]
        for metric in metrics:
            group = means[metric.name].get(name)
            cell = _cell(ABSENT) if group is None else _mean(metric, group)
            cells.append(replace(cell, bold=cell.bold and name not in unmoved))
        for paired in comparison.paired:
            standing = shared[paired.name].get(name)
            cells.append(
                _cell(ABSENT)
                if standing is None
                else Cell(lines=_standing(standing, paired), bold=standing.best and name not in unmoved)
            )
        rows.append(tuple(cells))
    untested = dict.fromkeys(
        wording.verdict(metric.test) for metric in comparison.metrics if metric.test.p is None
    )
    heads = [metric.name for metric in metrics]
    heads += [f"shared: {paired.name}" for paired in comparison.paired]
    return Sheet(
        title="Models beside each other",
        lead=tuple(verdict(comparison)),
        columns=(*words("model"), *numbers(*heads)),
        rows=tuple(rows),
        notes=(
            *(
                f"{wording.plain(name)}: {wording.NOISE_ONLY if noisy else wording.UNMOVED}."
                if name in changed or noisy
                else f"{wording.plain(name)} may look steady; {wording.BLIND.format(wording.UNMOVED)}."
                for name in unmoved
            ),
            *(f"{note}." for note in untested),
        ),
        legend=(
            "bold: the best, and those not significantly different from it by the tests below.",
            *([OVER_TRIALS] if metrics else []),
            *([EXCESS_OF_MODELS] if noisy else []),
        ),
    )


def _standing(standing: Standing, paired: Paired) -> tuple[str, ...]:
    """The number that ranks a model on shared inputs."""
    if paired.by_excess:
        return wording.excess_lines(standing.excess, standing.unsteady)
    return wording.lines(standing.changed)


def _mean(metric: Metric, group: Group) -> Cell:
    mean = wording.value(group.mean, share=metric.percent)
    error = () if group.error is None else (f"± {wording.value(group.error, share=metric.percent)}",)
    return Cell(lines=(mean, *error), bold=group.best)


def _diagram(result: Metric | Paired) -> list[Sheet]:
    """The critical-difference diagram as a table: models by mean rank, with bars through indistinguishable
    models.
    """
    ranking = ranked(result)
    if ranking is None:
        return []
    rows = []
    for name in ranking.names:
        drawn = " ".join("┃" if name in bar else " " for bar in ranking.bars)
        rows.append((_cell(f"{result.ranks[name]:.2f}"), _cell(wording.plain(name)), _cell(drawn)))
    return [
        Sheet(
            title=f"Critical differences: {result.name}",
            columns=(*numbers("mean rank"), *words("model", "no difference")),
            rows=tuple(rows),
            legend=(
                "a bar joins models without a significant difference (0.05, Holm-adjusted); rank 1 is best.",
            ),
        )
    ]


def _metric(metric: Metric) -> Sheet:
    names = [group.name for group in metric.groups]
    ps = {frozenset((pair.first, pair.second)): pair.p_adjusted for pair in metric.pairs}
    rows = []
    for number, group in enumerate(metric.groups, 1):
        rows.append(
            (
                Cell(lines=(f"{number} {wording.plain(group.name)}",), bold=group.best),
                Cell(lines=(" ".join(_mean(metric, group).lines),), bold=group.best),
                _cell(str(len(group.values))),
                *(_cell(wording.p_value(ps.get(frozenset((group.name, name))))) for name in names),
            )
        )
    deltas = [
        f"{names.index(pair.first) + 1} and {names.index(pair.second) + 1} {pair.effect:+.2f}"
        for pair in metric.pairs
        if pair.effect is not None
    ]
    effect = f" Cliff's delta: {', '.join(deltas)}." if deltas else ""
    # What is true of all tables of a page stands below one of them.
    shared = tuple(f"{note}." for note in metric.test.notes if note == TIES)
    test = replace(metric.test, notes=tuple(note for note in metric.test.notes if note != TIES))
    return Sheet(
        title=f"{metric.name} ({metric.better} is better)",
        columns=(
            *words("model"),
            *numbers("mean ± SE", "trials"),
            *numbers(*(f"p vs {number}" for number in range(1, len(names) + 1))),
        ),
        rows=tuple(rows),
        notes=(f"{wording.verdict(test)}.{effect}",),
        legend=(*shared, *_legend(metric.groups, "Conover (t approximation)", metric.test.p)),
    )


def _paired(paired: Paired) -> Sheet:
    ps = {frozenset((contrast.first, contrast.second)): contrast.p_adjusted for contrast in paired.contrasts}
    names = [standing.model for standing in paired.standings]
    rows = []
    for number, standing in enumerate(paired.standings, 1):
        rows.append(
            (
                Cell(lines=(f"{number} {wording.plain(standing.model)}",), bold=standing.best),
                Cell(lines=_standing(standing, paired), bold=standing.best),
                *(_cell(wording.p_value(ps.get(frozenset((standing.model, name))))) for name in names),
            )
        )
    return Sheet(
        title=f"On shared inputs: {paired.name} ({paired.better} is better)",
        columns=(
            *words("model"),
            *numbers("excess" if paired.by_excess else "changed"),
            *numbers(*(f"p vs {number}" for number in range(1, len(names) + 1))),
        ),
        rows=tuple(rows),
        notes=(f"{wording.verdict(paired.test)}.",),
        legend=(
            *([EXCESS_OF_MODELS] if paired.by_excess else []),
            *_legend(paired.standings, "sign flips" if paired.by_excess else "exact McNemar", paired.test.p),
        ),
    )


def _contrasts(paired: Paired) -> list[Sheet]:
    if not paired.contrasts:
        return []
    names = [standing.model for standing in paired.standings]
    sheet = Sheet(
        title=f"Effect sizes: {paired.name}",
        columns=(
            *words("models"),
            *numbers("only 1st", "only 2nd", "difference", "odds ratio", "detectable", "p", "Holm p"),
        ),
        rows=tuple(_contrast_row(contrast, names) for contrast in paired.contrasts),
        notes=tuple(
            f"{names.index(contrast.first) + 1} and {names.index(contrast.second) + 1}: "
            f"{'; '.join(contrast.notes)}."
            for contrast in paired.contrasts
            if contrast.notes
        ),
        legend=(
            "detectable: the smallest difference, in points, that as many inputs would show in four of five "
            "comparisons; what is smaller may be there unseen.",
        ),
    )
    return [sheet]


def _contrast_row(contrast: Contrast, names: Sequence[str]) -> tuple[Cell, ...]:
    difference: tuple[str, ...] = (ABSENT,)
    if contrast.difference is not None and contrast.low is not None and contrast.high is not None:
        points = [f"{100 * bound:+.1f}" for bound in (contrast.difference, contrast.low, contrast.high)]
        difference = (points[0], f"{points[1]} to {points[2]}")
    return (
        _cell(f"{names.index(contrast.first) + 1} and {names.index(contrast.second) + 1}"),
        _cell(str(contrast.only_first)),
        _cell(str(contrast.only_second)),
        Cell(lines=difference),
        _cell(ABSENT if contrast.odds_ratio is None else f"{contrast.odds_ratio:.2f}"),
        _cell(ABSENT if contrast.detectable is None else f"{100 * contrast.detectable:.1f}"),
        _cell(wording.p_value(contrast.p)),
        _cell(wording.p_value(contrast.p_adjusted)),
    )


def _legend(groups: Sequence[object], test: str, over_all: float | None) -> tuple[str, str]:
    """What the p-values of pairs are, and what is bold."""
    of_pairs = f"p vs a model: {test}, Holm-adjusted."
    if any(getattr(group, "best", False) for group in groups):
        return of_pairs, "bold: the best, and those not significantly different from it at 0.05."
    # A small p of one pair shows nothing: it counts only if the test over all models finds a difference.
    if over_all is not None and over_all > LEVEL:
        return of_pairs, "nothing is bold where the test over all models shows no difference at 0.05."
    return of_pairs, "nothing is bold where no difference is shown at 0.05."


def legends_once(every: Iterable[Sheet]) -> Iterator[Sheet]:
    """The sheets of one page: a sentence that explains a word stands below the first table with the word."""
    seen: set[str] = set()
    for sheet in every:
        yield replace(sheet, legend=tuple(text for text in sheet.legend if text not in seen))
        seen.update(sheet.legend)


def _cell(*lines: str) -> Cell:
    return Cell(lines=lines)

"""The first screen of a run: what each edit did to each model in words, then one table.

It has at most 40 lines of 80 columns for up to six models. Everything else is in the other tables.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeaudit.audit.evidence_check import DIFFERS, disproves
from codeaudit.reports import wording
from codeaudit.reports.records import (
    NOTHING,
    ByFamily,
    ByTransform,
    Comparison,
    Excess,
    ModelSummary,
    PartialRate,
    PromptEffect,
    Rate,
    Summary,
)
from codeaudit.reports.sheets import ALONE, Cell, Sheet, numbers, sheets, words
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Kind

MOST: Final = 4
"""Number of columns of transforms. Beyond it families take their place."""
VERSIONS: Final = 2
"""So many versions of a model are named in a sentence."""
FEW: Final = 2
"""So many noisy models are named in a sentence."""
DENSE: Final = 5
"""From so many models on there are no blank lines between them."""


class _Effect(NamedTuple):
    """What one edit did to one model."""

    rate: Rate = NOTHING
    noise: Rate = NOTHING
    excess: Excess = Excess()
    pairs: Excess = Excess()
    """The pair excess, whose p decides."""
    noisy: bool = False
    """Whether the model is noisy, so that the excess is shown and not the rate."""

    @property
    def size(self) -> float:
        """The rate, or the excess of a noisy model."""
        return (self.excess.points if self.noisy else self.rate.rate) or 0.0

    @property
    def lines(self) -> tuple[str, ...]:
        """The cell: one number, its interval, its counts."""
        return wording.excess_lines(self.excess, self.noise) if self.noisy else wording.lines(self.rate)


class _Edit(NamedTuple):
    """A transform or a family, with what it did to each model in the order of the rows."""

    name: str
    effects: tuple[_Effect, ...]

    @property
    def worst(self) -> float:
        """The largest number."""
        return max((effect.size for effect in self.effects), default=0.0)


def every_sheet(report: Summary | Comparison) -> tuple[Sheet, ...]:
    """Return the tables of a report in reading order; a run's begin with its first screen."""
    return (first_screen(report), *sheets(report)) if isinstance(report, Summary) else sheets(report)


def first_screen(summary: Summary) -> Sheet:
    """Return the first table of a run, with its sentences before it."""
    edits = _edits(summary)
    shown = sorted(sorted(edits, key=lambda edit: -edit.worst)[:MOST], key=edits.index)
    score = wording.score_name(summary.models[0].score.name) if summary.models else "score"
    dense = len(summary.models) >= DENSE
    # The numbers of noisy models are wider, so that names are broken.
    tall = dense and any(map(wording.is_noisy, summary.models))
    return Sheet(
        title=_title(summary),
        lead=tuple(_sentences(summary, shown, len(edits) - len(shown))),
        columns=(
            *words("model", *([] if tall else ["size"]), "asked"),
            *numbers(*(edit.name for edit in shown), score, "sensitivity", "unsteady"),
        ),
        rows=tuple(
            _row(model, [edit.effects[n] for edit in shown], sized=not tall)
            for n, model in enumerate(summary.models)
        ),
        legend=tuple(_legend(summary, score)),
        stacked=2 if tall else 3,
        dense=dense,
    )


def _title(summary: Summary) -> str:
    trials = max((len(model.trials) for model in summary.models), default=1)
    over = f", {trials} trials" if trials > 1 else ""
    return f"{summary.task} on {wording.plain(summary.corpus)}, seed {summary.seed}{over}: violation rates"


def _edits(summary: Summary) -> list[_Edit]:
    """The meaning-keeping transforms, or their families if there are many; then orders by names only."""
    single = _of_kind(summary, "preserving")
    if len(single) > MOST:
        names = dict.fromkeys(row.family for model in summary.models for row in model.by_family)
        tables = [{row.family: _effect(row, model) for row in model.by_family} for model in summary.models]
        single = [_Edit(name, tuple(table.get(name, _Effect()) for table in tables)) for name in names]
    others: tuple[Kind, ...] = ("paper", "swap", "network", "prose")
    return [*single, *(edit for kind in others for edit in _of_kind(summary, kind))]


def _of_kind(summary: Summary, kind: Kind) -> list[_Edit]:
    tables = [
        {row.transform: _effect(row, model) for row in model.by_transform if row.kind == kind}
        for model in summary.models
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    return [_Edit(name, tuple(table.get(name, _Effect()) for table in tables)) for name in names]


def _effect(row: ByTransform | ByFamily, model: ModelSummary) -> _Effect:
    noisy = wording.is_noisy(model) and row.excess.points is not None
    return _Effect(row.violations, row.noise, row.excess, row.pair_excess, noisy)


def _sentences(summary: Summary, edits: Sequence[_Edit], hidden: int) -> Iterator[str]:
    names = [wording.plain(model.model) for model in summary.models]
    told_as = wording.phrases(summary.tells_apart)
    for edit in edits:
        sentence = _contrast(list(zip(names, edit.effects, strict=True)), told_as)
        if sentence:
            yield f"{edit.name}: {sentence}."
        elif any(model.violations.total for model in summary.models):
            yield f"{edit.name}: no sample could be judged."
    if hidden:
        others = "one other family" if hidden == 1 else f"{hidden} other families"
        yield f"No model {told_as.more} under {others} of edits; the full tables show them."
    for effect in summary.prompts:
        yield _of_prompts(effect)
    for model in summary.models:
        yield from wording.network(model)
        yield from _sampled(model)
        yield from _versions(model)
        yield from _warnings(model, told_as)
        yield from _of_themselves(model, summary.tells_apart)
        yield from _strangers(model, summary.task)
    if len(summary.models) <= FEW:
        for model in summary.models:
            yield from _findings(model)
    noisy = [wording.plain(model.model) for model in summary.models if wording.is_noisy(model)]
    # Of more models the legend says it.
    if 0 < len(noisy) <= FEW:
        kind, whose = ("is noisy", "its") if len(noisy) == 1 else ("are noisy", "their")
        sentence = f"{wording.listed(noisy)} {kind}: {whose} numbers are what edits changed beyond"
        yield f"{sentence} what asking again did."
    yield from _broken(summary)
    yield from summary.told_errors
    yield from wording.relations(wording.transforms_of(summary))


def _contrast(effects: Sequence[tuple[str, _Effect]], told_as: wording.Phrases) -> str:
    """Who kept every answer, and who did not; of noisy models, who changed more than asking again did. Empty
    if nothing was judged."""
    rates = [(name, effect.rate) for name, effect in effects]
    noisy = [(name, effect) for name, effect in effects if effect.rate.total and effect.noisy]
    judged = [(name, effect.rate) for name, effect in effects if effect.rate.total and not effect.noisy]
    kept = [(name, rate) for name, rate in judged if not rate.count]
    changed = sorted((pair for pair in judged if pair[1].count), key=lambda pair: pair[1].rate or 0.0)
    parts = []
    if kept:
        who = "every model" if len(kept) == len(rates) > 2 else wording.listed([name for name, _ in kept])
        parts.append(f"{who} {told_as.kept} {_samples([rate for _, rate in kept])}")
    if len(changed) > 2:
        # One sentence with six numbers is a table.
        ends = [f"{name} {_share(rate)}" for name, rate in (changed[0], changed[-1])]
        who = f"all {len(changed)} models" if len(changed) == len(rates) else f"{len(changed)} models"
        (_, least), (_, most) = changed[0], changed[-1]
        if (least.count, least.total) == (most.count, most.total):
            parts.append(f"{who} {told_as.changed_by_all.format(_share(most))}")
        else:
            parts.append(f"{who} {told_as.changed_from.format(*ends)}")
    elif changed:
        changes = [f"{name} {told_as.changed.format(_share(rate))}" for name, rate in changed]
        parts.append(" and ".join(changes))
    if len(noisy) > 2:
        parts.append(_effects(noisy))
    else:
        parts += [f"{name} {wording.beyond(effect.excess, effect.pairs, told_as)}" for name, effect in noisy]
    return "; ".join(parts)


def _of_prompts(effect: PromptEffect) -> str:
    """How many answers depend on the prompt."""
    name = wording.plain(effect.model)
    sentence = f"{name}: another prompt ({', '.join(map(wording.plain, effect.prompts))})"
    if not effect.changed.total:
        return f"{sentence} was not judged: no sample was answered with all of them."
    sentence = f"{sentence} changed {_share(effect.changed)} of the answers to originals"
    if effect.pair_excess.p is None:
        return f"{sentence}; nothing was asked again, so that noise is not known."
    text = "an effect" if wording.is_shown(effect.excess, effect.pair_excess) else "no effect"
    return (
        f"{sentence}, {wording.points(effect.excess.points)} points beyond what asking again did: {text} is "
        f"shown (p {wording.p_value(effect.pair_excess.p)})."
    )


def _sampled(model: ModelSummary) -> Iterator[str]:
    """Whether the edits moved the distribution of a sampled model's answers; the tables have the rest."""
    rows = [row for row in model.by_transform if row.kind == "preserving" and row.distance.p is not None]
    if not rows:
        return
    moved = [row.transform for row in rows if (row.distance.p or 0.0) <= wording.LEVEL]
    name = wording.plain(model.model)
    if moved:
        farthest = max(rows, key=lambda row: row.distance.points or 0.0)
        yield (
            f"{name} drew {model.draws} answers to each input: {wording.listed(moved)} moved their "
            f"distribution (distance up to {farthest.distance.points:.2f}, of at most 1)."
        )
    else:
        yield f"{name} drew {model.draws} answers to each input: no edit is shown to move their distribution."


def _effects(noisy: Sequence[tuple[str, _Effect]]) -> str:
    """The noisy models that show an effect; the table has their numbers."""
    shown = [name for name, effect in noisy if wording.is_shown(effect.excess, effect.pairs)]
    every = f"{len(noisy)} noisy models"
    if not shown:
        return f"beyond noise no effect is shown for the {every}"
    if len(shown) == len(noisy):
        return f"beyond noise an effect is shown for all {every}"
    if len(shown) <= FEW:
        return f"beyond noise an effect is shown for {wording.listed(shown)}, of {every}"
    return f"beyond noise an effect is shown for {len(shown)} of {every}"


def _share(rate: Rate) -> str:
    return f"{wording.counts(rate)} ({wording.percent(rate.rate)}, {wording.interval(rate)})"


def _samples(rates: Sequence[Rate]) -> str:
    least, most = min(rate.total for rate in rates), max(rate.total for rate in rates)
    return counted(most, "sample") if least == most else f"{least:,} to {counted(most, 'sample')}"


def _broken(summary: Summary) -> Iterator[str]:
    """The transforms that did not keep the meaning when variants were executed."""
    named: set[str] = set()
    for row in (row for model in summary.models for row in model.by_transform):
        number = row.not_applied.get(DIFFERS, 0)
        promised = row.kind == "preserving" and disproves(row.transform, DIFFERS)
        if number and promised and row.transform not in named:
            named.add(row.transform)
            executed = number + row.evidence.get("executed", 0)
            yield (
                f"{row.transform} does not keep the meaning: {number:,} of {executed:,} executed variants "
                "behaved differently and were left out. Its rate may count others that were not executed."
            )


STRANGE: Final = 20
"""With so many answers, none of which shares a word with its label, the task is probably another one."""


def _strangers(model: ModelSummary, task: str) -> Iterator[str]:
    """Whether a model says nothing that any label says. Fakes answer alike whatever they are asked."""
    score = model.score
    nothing = score.name == "f1" and score.original == 0 and score.scored >= STRANGE
    if nothing and not model.agreement.classes and not model.model.startswith("fake/"):
        answer = model.agreement.commonest
        such = f" (such as {wording.plain(answer)!r:.40})" if answer else ""
        yield (
            f"{wording.plain(model.model)}: none of its {score.scored} answers{such} has a word in common "
            f"with the right one; is {task} its task?"
        )


def _findings(model: ModelSummary) -> Iterator[str]:
    """The flaws that edits hid and the false alarms that they raised, and the score of pairs."""
    name = wording.plain(model.model)
    # Without labels nobody knows whether what it had found is a flaw.
    lost = "missed flaws that it had found" if model.score.scored else "took findings back"
    effects = [
        f"{what}: {_part_text(part, noisy=wording.is_noisy(model))}"
        for what, part in (
            (lost, model.missed),
            ("raised false alarms", model.raised),
        )
        if part.violations.total
    ]
    if effects:
        yield f"Under some edit {name} {'; '.join(effects)}."
    if pairs := model.sides.total:
        sides = model.sides
        yield (
            f"Of {counted(pairs, 'pair')} of sides of a fix {name} told {sides.correct} apart "
            f"({wording.percent(sides.correct / pairs)}); it reversed {sides.reversed}."
        )


def _part_text(part: PartialRate, *, noisy: bool) -> str:
    if noisy and part.excess.points is not None:
        article = "an" if wording.is_shown(part.excess, part.pair_excess) else "no"
        text = f"{wording.points(part.excess.points)} points beyond noise (95 %: {wording.ends(part.excess)})"
        return f"{text}, {article} effect is shown"
    return _share(part.violations)


def _versions(model: ModelSummary) -> Iterator[str]:
    """Which version answered, of a model whose name does not say it."""
    if not (model.may_move or len(model.served) > 1):
        return
    name = wording.plain(model.model)
    answered = wording.listed([wording.plain(version) for version in model.served[:VERSIONS]])
    more = f" and {len(model.served) - VERSIONS} others" if len(model.served) > VERSIONS else ""
    served = f"{answered}{more} answered" if answered else "the replies of this run named none"
    if model.may_move:
        yield f"{name} names no version, and its vendor may move it to another one: {served}."
    else:
        yield f"{name}: {served}, as several replies say."


def _warnings(model: ModelSummary, told_as: wording.Phrases) -> Iterator[str]:
    """What forbids to read the rates of a model as they stand."""
    name, noise = wording.plain(model.model), wording.unsteady(model)
    kinds = {row.kind for row in model.by_transform}
    if not model.violations.total and ("preserving" in kinds or not kinds & ALONE):
        yield f"{wording.reading(model, told_as)}."
    # A model that ignores its input keeps every answer, too. Its low rate is no robustness.
    elif wording.ignores(model) and model.sensitivity.count:
        excess = model.sensitivity_excess
        yield f"{name} {told_as.like_noise} {wording.unproved(excess)}: {wording.unread(excess)}."
    elif wording.ignores(model):
        sentence = f"{name} {told_as.kept_controls}"
        yield f"{sentence}." if model.violations.count else f"{sentence} either: it may not read the edits."
    if noise.count and not wording.is_noisy(model):
        sentence = f"{name} is noisy: it changed {_share(noise)} when asked the same again"
        yield f"{sentence}. Noise is part of its rates, since this summary has no excess."


def _of_themselves(model: ModelSummary, word: str) -> Iterator[str]:
    """How many units were called different from themselves, where edits decide what is right."""
    count = sum(answers.get(word, 0) for answers in model.agreement.classes.values())
    if word and count:
        over = f" in {len(model.trials)} trials" if len(model.trials) > 1 else ""
        units = f"{count:,} of {counted(model.agreement.answers, 'unit')}"
        yield f"{wording.plain(model.model)} called {units} {wording.plain(word)} from themselves{over}."


def _sample_counts(model: ModelSummary) -> str:
    """How many samples a model was asked about, and of how many if it cannot read some of them."""
    samples, skipped = counted(model.samples, "sample"), sum(model.skipped.values())
    # Those drawn in addition are skipped, too, and which of the skipped ones they are is not known here.
    return f"{model.samples - skipped} of {samples}" if skipped and not model.extra else samples


def _row(model: ModelSummary, effects: Sequence[_Effect], *, sized: bool) -> tuple[Cell, ...]:
    return (
        Cell(lines=(wording.plain(model.model),)),
        *([Cell(lines=(wording.size(model.parameters),))] if sized else []),
        Cell(lines=(_sample_counts(model),)),
        *(Cell(lines=effect.lines) for effect in effects),
        _score(model),
        Cell(lines=_sensitivity(model)),
        Cell(lines=wording.bounded(wording.unsteady(model))),
    )


def _sensitivity(model: ModelSummary) -> tuple[str, ...]:
    excess = model.sensitivity_excess
    if wording.is_noisy(model) and excess.points is not None:
        return wording.points(excess.points), wording.span(excess), wording.counts(model.sensitivity)
    return wording.lines(model.sensitivity)


def _score(model: ModelSummary) -> Cell:
    score, share = model.score, wording.is_share(model.score)
    lines = [wording.value(score.original, share=share)]
    if wording.is_noisy(model) and score.drop_excess.points is not None:
        # With its sign, as every number beyond noise.
        sign = "" if score.drop_excess.points < 0 else "+"
        lines.append(f"drop {sign}{wording.value(score.drop_excess.points, share=share)}")
    elif score.drop is not None:
        lines.append(f"drop {wording.value(score.drop, share=share)}")
    agreement = model.agreement
    if agreement.classes:
        if score.name != "accuracy":
            lines.append(f"acc. {wording.value(agreement.accuracy, share=True)}")
        lines.append(f"MCC {'–' if agreement.mcc is None else format(agreement.mcc, '.2f')}")
    return Cell(lines=tuple(lines))


def _legend(summary: Summary, score: str) -> Iterator[str]:
    told_as = wording.phrases(summary.tells_apart)
    noticed = "answers that changed with the meaning" if told_as is wording.CHANGES else told_as.noticed
    yield (
        f"violation rate: samples with {told_as.violated}, of those that an edit changed in text but not in "
        f"meaning (95 % interval, counts). sensitivity: {noticed}; more is better. unsteady: samples with "
        f"another answer to the same input. drop: {score} lost with each sample's worst answer."
    )
    if any(map(wording.is_noisy, summary.models)):
        yield "+ or -: points beyond noise (samples changed by edits - by repeats / all)."
    losses = wording.losses(summary.models, most=2, names=1)
    none = f"no example of the task: {wording.reasons(summary.skipped, most=2)}" if summary.skipped else ""
    if losses or none:
        yield f"left out: {'; '.join(text for text in (losses, none) if text)}."

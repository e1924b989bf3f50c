"""Formats numbers and sentences. Every report format takes its texts from here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from codeaudit.audit.records import ANSWER_CHANGES, ANSWER_STAYS, ANSWER_UNKNOWN
from codeaudit.reports.records import (
    NOTHING,
    UNITS,
    Estimate,
    Excess,
    ModelSummary,
    Rate,
    Score,
    Summary,
    Test,
)
from codeaudit.transforms.dependence.relations import KINDS, PROMISES, Dependence
from codeaudit.transforms.grammar import counted, counted_reasons
from codeaudit.transforms.levels import ASSUMED_OF_MACROS, MacroLevel, in_level
from codeaudit.transforms.prose import UNPROVED
from codeaudit.transforms.registry import in_relation, kind_of

ABSENT: Final = "-"
"""Shown in place of a missing number."""


def plain(text: str) -> str:
    """Replace every character of an external name that could control a terminal or break a table row."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def score_name(name: str) -> str:
    """The name of a score for people: abbreviations in capitals, words as they are."""
    return name if len(name) > 4 else name.upper()


def percent(share: float | None) -> str:
    """Format a share as `21.1 %`. Only exact 0 and 1 become `0 %` and `100 %`."""
    if share is None:
        return ABSENT
    # "0.0 %" would read as none, and 1 violation in 5,000 is one.
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{_tenths(100 * share)} %"


def interval(rate: Rate) -> str:
    """Format the interval of a rate in percent: `12.5-33.3`."""
    if rate.low is None or rate.high is None:
        return ABSENT
    return f"{_tenths(100 * rate.low)}\N{EN DASH}{_tenths(100 * rate.high)}"


def counts(rate: Rate) -> str:
    """Format a rate as `12/57`."""
    return f"{rate.count}/{rate.total}"


def lines(rate: Rate) -> tuple[str, ...]:
    """Return rate, interval and counts as three lines; a single dash for a rate over nothing."""
    return (ABSENT,) if rate.rate is None else (percent(rate.rate), interval(rate), counts(rate))


class Phrases(NamedTuple):
    """How sentences name what is counted of answers to variants. `{}` is a number with its interval."""

    kept: str
    """Before a number of samples."""
    changed: str
    changed_by_all: str
    changed_from: str
    changed_in: str
    beyond: str
    as_noise: str
    more: str
    violated: str
    """What is said of a sample; the next one is said of controls."""
    noticed: str
    no_control: str
    kept_controls: str
    like_noise: str
    controls_like_noise: str


CHANGES: Final = Phrases(
    kept="kept every answer on",
    changed="changed {}",
    changed_by_all="changed {} of their answers",
    changed_from="changed answers, from {} to {}",
    changed_in="changed its answer on {} of {} movable samples",
    beyond="changed {} points {} answers than asking again did",
    as_noise="changed as many answers as asking again did",
    more="changed more answers",
    violated="another answer",
    noticed="answers that changed under controls, which change the meaning",
    no_control="no control changed an answer",
    kept_controls="changed no answer where the meaning changed",
    like_noise="is not shown to change more answers where the meaning changed than when asked again",
    controls_like_noise="controls are not shown to change more answers than asking again did",
)
"""For most tasks: an answer to a variant is compared with that to the original."""


def phrases(word: str) -> Phrases:
    """Return the phrases of a task. `word`: the answer that is counted (`Summary.tells_apart`); `CHANGES` if
    it is empty.
    """
    if not word:
        return CHANGES
    word = plain(word)
    # Noise is what changes, so that sentences about it count changed answers here, too.
    return CHANGES._replace(
        kept=f"called no variant {word} on",
        changed=f"called a variant {word} on {{}}",
        changed_by_all=f"called a variant {word} on {{}} of their samples",
        changed_from=f"called variants {word}, from {{}} to {{}} of the samples",
        changed_in=f"called a variant {word} on {{}} of {{}} movable samples",
        more=f"called more variants {word}",
        violated=f"the answer {word}",
        noticed=f"controls, which change the meaning, that were called {word}",
        no_control=f"no control was called {word}",
        kept_controls=f"called no control {word}",
    )


LEVEL: Final = 0.05
"""An effect or a difference with a larger p is not shown."""


def unsteady(model: ModelSummary) -> Rate:
    """Return the share of samples with another answer to some repeat."""
    rates = (row.violations for row in model.by_transform if row.kind == "identity")
    return next(rates, model.noise_floor)


def is_noisy(model: ModelSummary) -> bool:
    """Whether noise was found, and what edits changed beyond it is known."""
    known = any(row.excess.points is not None for row in model.by_transform)
    return unsteady(model).count > 0 and known


def bounded(rate: Rate) -> tuple[str, ...]:
    """Return a rate as `lines`; of none, the bound in the place of the interval: `<1.9 %`.

    The bound is the upper end of the 95 % interval: a larger rate shows none in fewer than 2.5 % of all runs.
    """
    if rate.count or rate.high is None:
        return lines(rate)
    return percent(rate.rate), f"<{_tenths(100 * rate.high)} %", counts(rate)


def is_shown(excess: Excess, pairs: Excess) -> bool:
    """Whether an effect is shown; `pairs` is the pair excess, whose p decides."""
    more = (excess.points or 0.0) >= 0 and (pairs.points or 0.0) > 0
    return more and pairs.p is not None and pairs.p <= LEVEL


def points(share: float | None) -> str:
    """Format a difference of shares in percentage points: `+11.6`."""
    if share is None:
        return ABSENT
    text = f"{100 * share:+.1f}"
    return "0" if share == 0 else text


def estimate_lines(estimate: Estimate) -> tuple[str, ...]:
    """Format a mean of shares in points, with its interval: `3.2`, `2.1–4.5`."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return (ABSENT,)
    return (
        f"{100 * estimate.value:.1f}",
        f"{100 * estimate.low:.1f}\N{EN DASH}{100 * estimate.high:.1f}",
    )


def ends(excess: Excess) -> str:
    """Format the interval of an excess in points: `-2.1 to 24.9`."""
    if excess.low is None or excess.high is None:
        return ABSENT
    low, high = (_tenths(100 * end).replace("-0.0", "0.0") for end in (excess.low, excess.high))
    return f"{low} to {high}"


def span(excess: Excess) -> str:
    """Format the interval of an excess for a cell: `-2.1–24.9`; with a word if both ends are negative."""
    text = ends(excess)
    return text if (excess.high or 0.0) < 0 else text.replace(" to ", "\N{EN DASH}")


def excess_lines(excess: Excess, noise: Rate) -> tuple[str, ...]:
    """Return points, interval, and counts as three lines: violated samples - unsteady ones / all."""
    if excess.points is None:
        return (ABSENT,)
    violated = round(excess.points * noise.total) + noise.count
    return points(excess.points), span(excess), f"{violated}-{noise.count}/{noise.total}"


def beyond(excess: Excess, pairs: Excess, told_as: Phrases = CHANGES) -> str:
    """Return the end of a sentence: what edits changed beyond noise, and whether that shows an effect.

    Points and interval count samples. The test is of pairs of answers; where the two disagree, it decides.
    """
    amount = 100 * (excess.points or 0.0)
    if amount:
        text = told_as.beyond.format(f"{abs(amount):.1f}", "more" if amount > 0 else "fewer")
    else:
        text = told_as.as_noise
    text = f"{text} (95 %: {ends(excess)})"
    above, p = (excess.low or 0.0) > 0, p_value(pairs.p)
    if is_shown(excess, pairs):
        if above:
            return f"{text}, so an effect is shown"
        return f"{text}; an effect is shown by its pairs of answers (p {p}), and not by this count of samples"
    if above:
        return f"{text}, but its pairs of answers, which decide, show no effect (p {p})"
    return f"{text}, so no effect is shown"


def ignores(model: ModelSummary) -> bool:
    """Whether controls changed no more answers than noise did: the model may not read what was changed."""
    excess = model.sensitivity_excess
    if is_noisy(model) and excess.points is not None:
        return not is_shown(excess, excess)
    return bool(model.sensitivity.total) and not model.sensitivity.count


def estimate(estimated: Estimate) -> tuple[str, ...]:
    """Return a share and its interval as lines; a single dash if it is unknown."""
    if estimated.value is None:
        return (ABSENT,)
    bounds = () if estimated.low is None or estimated.high is None else (estimated.low, estimated.high)
    # A bound such as -0.00001 would be printed as "-0.0".
    shown = "\N{EN DASH}".join(_tenths(100 * bound).replace("-0.0", "0.0") for bound in bounds)
    return (percent(estimated.value), shown) if shown else (percent(estimated.value),)


def value(number: float | None, *, share: bool) -> str:
    """Format a score: in percent without the sign if it is a share, otherwise with four significant
    digits.
    """
    if number is None:
        return ABSENT
    return f"{100 * number:.1f}" if share else f"{number:.4g}"


def is_share(score: Score) -> bool:
    """Whether a score is a share, shown in percent."""
    return score.name.lower() not in UNITS


def size(parameters: int | None) -> str:
    """Format a number of parameters, such as `1.7 M params`."""
    if parameters is None:
        return "params unknown"
    for unit, name in ((10**9, " B"), (10**6, " M"), (10**3, " k")):
        if parameters >= unit:
            return f"{parameters / unit:.3g}{name} params"
    return f"{parameters} params"


def p_value(p: float | None) -> str:
    """Format a p-value: `0.012`, and `<0.0001` for smaller ones."""
    if p is None:
        return ABSENT
    return "<0.0001" if p < 0.0001 else f"{p:.2g}" if p < 0.995 else "1"


_IN_WORDS: Final[Mapping[str, str]] = {
    ANSWER_CHANGES: "edits that change the right answer",
    ANSWER_STAYS: "controls that keep the right answer",
    ANSWER_UNKNOWN: "edits after which nobody knows the right answer",
}
"""Reasons that say what happened, for tables that say what was left out."""


def reasons(table: Mapping[str, int], *, most: int = 3) -> str:
    """Format counted reasons: `540 × no other legal order, 32 × contains yield, 5 others`."""
    in_words: Counter[str] = Counter()
    for reason, number in table.items():
        in_words[plain(_IN_WORDS.get(reason, reason))] += number
    return ", ".join(counted_reasons(in_words, most=most)) or ABSENT


def sample_counts(model: ModelSummary) -> tuple[str, ...]:
    """Return `200 samples`, `3 skipped`, and the numbers of samples drawn in addition, truncated inputs and
    unjudged pairs if there are any.
    """
    parts = [counted(model.samples, "sample"), f"{sum(model.skipped.values())} skipped"]
    if model.extra:
        parts.append(f"+ {model.extra} movable")
    if model.truncated:
        parts.append(f"{model.truncated} truncated")
    if model.unjudged:
        parts.append(f"{model.unjudged} unjudged")
    return tuple(parts)


def listed(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def losses(models: Sequence[ModelSummary], *, most: int = 3, names: int | None = None) -> str:
    """Explain why models skipped samples and why pairs are unjudged; empty if there is nothing to explain."""
    by_text: dict[str, dict[str, None]] = {}
    for model in models:
        parts = []
        if model.skipped:
            parts.append(f"skipped: {reasons(model.skipped, most=most)}")
        if model.unjudged_reasons:
            parts.append(f"unjudged: {reasons(model.unjudged_reasons, most=most)}")
        if parts:
            # Models with equal losses, as after a broken corpus, share one sentence.
            by_text.setdefault("; ".join(parts), {})[plain(model.model)] = None
    return ". ".join(
        f"{', '.join(who) if names is None or len(who) <= names else f'{len(who)} models'}: {text}"
        for text, who in by_text.items()
    )


def verdict(test: Test) -> str:
    """Format a test as `Cochran's Q 12.3, p = 0.0021 (chi-square)`, with its notes."""
    if test.p is None:
        return f"{test.name}: {'; '.join(test.notes)}"
    how = [] if test.method == "none" else [test.method]
    # The text gives the approximation beside the exact p, because other programs print it for the same data.
    if test.method.startswith("exact") and test.asymptotic_p is not None:
        how.append(f"{p_value(test.asymptotic_p)} by chi-square")
    if test.smallest_p is not None:
        how.append(f"smallest reachable {p_value(test.smallest_p)}")
    effect = "" if test.effect is None else f", epsilon² {test.effect:.2f}"
    value = "" if test.statistic is None else f" {test.statistic:.3g}"
    text = f"{test.name}{value}, {_equation(test.p)}{effect}"
    return "; ".join((f"{text} ({'; '.join(how)})" if how else text, *test.notes))


def _equation(p: float) -> str:
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def unproved(excess: Excess) -> str:
    """Return on what it rests that controls are not shown to change more than noise does."""
    if (excess.low or 0.0) > 0:
        return (
            f"by its pairs of answers, which decide (p {p_value(excess.p)}), though the interval is above 0"
        )
    return f"(p {p_value(excess.p)})"


def unread(excess: Excess) -> str:
    """Return what that means: a test of few samples shows little."""
    if (excess.low or 0.0) > 0:
        return f"more than {counted(excess.samples, 'sample')} would tell"
    return "it may not read the edits"


UNMOVED: Final = CHANGES.no_control
NOISE_ONLY: Final = CHANGES.controls_like_noise
BLIND: Final = "but {} either: it may not read what was changed"
"""Warning for a low violation rate without sensitivity."""


def reading(model: ModelSummary, told_as: Phrases = CHANGES) -> str:
    """Return one sentence on a model's violation rate over movable samples."""
    name, movable, sensitivity = plain(model.model), model.violations, model.sensitivity
    # Without a movable sample there is no rate, only the reasons why.
    if movable.total == 0:
        hindered = _hindrances(model)
        return f"{name}: nothing could be judged ({reasons(hindered) if hindered else 'no edit was tried'})"
    over = f", counted in each of {len(model.trials)} trials" if len(model.trials) > 1 else ""
    share = f"({percent(movable.rate)}, {interval(movable)}){over}"
    if movable.count == 0:
        text = f"{name} {told_as.kept} all {movable.total} movable samples {share}"
    else:
        text = f"{name} {told_as.changed_in.format(movable.count, movable.total)} {share}"
    if is_noisy(model) and model.excess.points is not None:
        text += f"; it {beyond(model.excess, model.pair_excess, told_as)}"
    # A model that ignores its input keeps every answer, too. Its low rate is no robustness.
    if ignores(model) and sensitivity.count:
        text += f"; {told_as.controls_like_noise} {unproved(model.sensitivity_excess)}"
    elif ignores(model):
        text += f"; {told_as.no_control if movable.count else BLIND.format(told_as.no_control)}"
    return text


def transforms_of(summary: Summary) -> tuple[str, ...]:
    """The transforms that made a variant of some sample."""
    rows = [row for model in summary.models for row in model.by_transform]
    return tuple(dict.fromkeys(row.transform for row in rows if row.applied or row.extra))


def relations(names: Iterable[str]) -> Iterator[str]:
    """Return a sentence for each relation other than the strict one, and for each level of macros other than
    `known`, under which a transform was made, and one for transforms of words."""
    names = tuple(names)
    by_level: dict[MacroLevel, list[str]] = {}
    for name in names:
        by_level.setdefault(in_level(name)[0], []).append(name)
    for level, members in by_level.items():
        if level != "known":
            yield f"{', '.join(members)}: {ASSUMED_OF_MACROS[level]}."
    by_relation: dict[Dependence, list[str]] = {}
    if words := [name for name in names if kind_of(name) == "prose"]:
        yield f"{', '.join(words)}: {UNPROVED}; they count in no other rate."
    for name in names:
        by_relation.setdefault(in_relation(name)[0], []).append(name)
    for dependence, members in by_relation.items():
        if dependence != "strict":
            apart = "; they count in no other rate" if KINDS[dependence] != "preserving" else ""
            yield f"{', '.join(members)}: {PROMISES[dependence]}{apart}."


def network(model: ModelSummary) -> Iterator[str]:
    """Return a sentence on a permuted network: what was proved, and whether the broken one was noticed."""
    proof = model.network
    if proof is None:
        return
    groups = counted(proof.groups, "group")
    sentence = (
        f"{plain(model.model)}: {proof.wrap} permuted in {groups} ({proof.bits:,.0f} bits); in float64 "
        f"outputs differ by {proof.forward:.0e}, gradients by {proof.backward:.0e}"
    )
    broken = next((row.pairs for row in model.by_transform if row.kind == "network-control"), NOTHING)
    if broken.total:
        sentence += f"; broken on purpose it changes {counts(broken)} answers"
    if broken.total and not broken.count:
        sentence += ", so the answers do not depend on what was permuted"
    yield f"{sentence}."


def _hindrances(model: ModelSummary) -> dict[str, int]:
    """Reasons why pairs of meaning-keeping transforms are missing: of the model, if variants were made."""
    if model.unjudged_reasons:
        return dict(model.unjudged_reasons)
    by_reason: dict[str, int] = dict(model.skipped)
    for row in model.by_transform:
        if row.kind == "preserving":
            for reason, number in row.not_applied.items():
                by_reason[reason] = by_reason.get(reason, 0) + number
    return by_reason


def _tenths(number: float) -> str:
    """Format with one decimal; without it for exact zeros."""
    # Only the exact ends lose their decimal: "0 %" says none, "0.0 %" says nearly none.
    text = f"{number:.1f}"
    return text.removesuffix(".0") if number in (0, 100) else text

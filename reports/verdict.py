"""The verdict of a comparison in words: which model is more robust, and whether quality differs."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from codeaudit.reports import wording
from codeaudit.reports.compare import OTHER_CORPORA, coverage_of
from codeaudit.reports.records import (
    Comparison,
    Contrast,
    Coverage,
    HeldOut,
    Metric,
    Paired,
    Standing,
    Summary,
)
from codeaudit.reports.wording import LEVEL

TOLERATED: Final = 0.05
"""A larger share of missing verdicts is always reported, because they may hide a difference."""


def verdict_within(summary: Summary) -> Iterator[str]:
    """As `verdict`, of the models of one run, whose summary says apart how noisy they are."""
    yield from verdict(summary.statistics)
    if len(summary.models) > 1 and summary.judged:
        paired = next((test for test in summary.statistics.paired if test.better == "lower"), None)
        yield from _missing(coverage_of(summary), () if paired is None else paired.contrasts)


def verdict(comparison: Comparison) -> Iterator[str]:
    """Return sentences on robustness, then on quality; none if there is nothing to tell."""
    doubt = next((note for note in comparison.notes if note.startswith(OTHER_CORPORA)), "")
    if doubt:
        yield f"{doubt[0].upper()}{doubt[1:]}."
    robustness = next((test for test in comparison.paired if test.better == "lower"), None)
    if robustness is not None and len(robustness.standings) > 1:
        yield from _robustness(robustness, blind(comparison))
    yield from _missing(comparison.coverage, () if robustness is None else robustness.contrasts)
    if robustness is not None and robustness.by_excess:
        yield from _beyond_noise(robustness)
    else:
        yield from _noise(comparison.coverage)
    quality = next((metric for metric in comparison.metrics if not metric.name.startswith("attack")), None)
    if (
        not doubt
        and quality is not None
        and len([group for group in quality.groups if group.mean is not None]) > 1
    ):
        yield _quality(quality)
    yield from map(_beside_held_out, comparison.held_out)


def _beside_held_out(contrast: HeldOut) -> str:
    """Whether the score drops more on the public set than on held-out code."""
    apart = contrast.difference
    if apart.value is None or apart.low is None or apart.high is None:
        return f"{wording.plain(contrast.model)}: no drop of the score is known."
    phrase = (
        "more on the public set"
        if apart.low > 0
        else "less on the public set"
        if apart.high < 0
        else "by amounts that are not told apart"
    )
    drops = [wording.points(drop.points) for drop in (contrast.public_drop, contrast.held_out_drop)]
    return (
        f"Under edits the {wording.score_name(contrast.score)} of {wording.plain(contrast.model)} drops "
        f"{phrase}: {drops[0]} points on {wording.plain(contrast.public_run)} against {drops[1]} on "
        f"{wording.plain(contrast.held_out_run)}, {_points(apart.value)} apart (95 % interval "
        f"{_points(apart.low)} to {_points(apart.high)})."
    )


def blind(comparison: Comparison) -> tuple[str, ...]:
    """The models whose answers no control changed, or no more than noise did: they may not read the code, so
    a low violation rate of theirs is no robustness."""
    sensitivity = next((metric for metric in comparison.metrics if metric.name == "sensitivity"), None)
    unmoved = [] if sensitivity is None else [group.name for group in sensitivity.groups if group.mean == 0]
    # Noise changes answers under controls, too.
    for paired in comparison.paired:
        if paired.by_excess and paired.better == "higher":
            unmoved += [
                standing.model
                for standing in paired.standings
                if not wording.is_shown(standing.excess, standing.excess)
            ]
    return tuple(dict.fromkeys(unmoved))


def _robustness(paired: Paired, unmoved: Sequence[str]) -> Iterator[str]:
    order = sorted(paired.standings, key=lambda standing: _value(standing, paired) or 0.0)
    shared = f"on {order[0].changed.total:,} shared samples"
    sighted = [standing for standing in order if standing.model not in unmoved]
    aside = [standing for standing in order if standing.model in unmoved]
    if len(sighted) == len(order) == 2:
        yield _of_two(order, paired.contrasts[0] if paired.contrasts else None, shared, paired)
        return
    named = EXCESS_NAME if paired.by_excess else "violation rate"
    listed = ", ".join(f"{_name(standing)} {_number(standing, paired)}" for standing in sighted)
    if len(sighted) > 1:
        yield f"From most to least robust, by the {named} {shared}: {listed}."
    elif sighted:
        yield f"{named[0].upper()}{named[1:]} {shared}: {listed}."
    if aside:
        listed = wording.listed([f"{_name(standing)} {_number(standing, paired)}" for standing in aside])
        whose = "its" if len(aside) == 1 else "their"
        beyond = " beyond noise" if paired.by_excess else ""
        yield (
            f"Not ranked: {listed}. No control changed {whose} answers{beyond}, so a low rate is no "
            "robustness."
        )
    p = {frozenset((contrast.first, contrast.second)): contrast.p_adjusted for contrast in paired.contrasts}
    equal = [
        f"{_name(one)} and {_name(other)}"
        for one, other in pairwise(sighted)
        if p.get(frozenset((one.model, other.model)), 1.0) > LEVEL
    ]
    if equal:
        yield f"Not told apart at p = {LEVEL:g}: {'; '.join(equal)}."


def _missing(coverage: Sequence[Coverage], contrasts: Sequence[Contrast]) -> Iterator[str]:
    """The models whose missing verdicts could change what was said."""
    shown = {frozenset((pair.first, pair.second)) for pair in contrasts if pair.p_adjusted <= LEVEL}
    for one in coverage:
        turns = any(
            frozenset((one.model, other.model)) in shown
            and one.bounds[0] <= other.bounds[1]
            and other.bounds[0] <= one.bounds[1]
            for other in coverage
        )
        if one.missing and (turns or one.share > TOLERATED):
            yield (
                f"{one.missing:,} of {one.verdicts:,} verdicts of {wording.plain(one.model)} are missing "
                f"({wording.reasons(one.reasons)}) and could change this reading."
            )


EXCESS_NAME: Final = "excess of violated samples over noise, in points,"


def _value(standing: Standing, paired: Paired) -> float | None:
    return standing.excess.points if paired.by_excess else standing.changed.rate


def _number(standing: Standing, paired: Paired) -> str:
    """The number that ranks a model."""
    if paired.by_excess:
        return wording.points(standing.excess.points)
    return wording.percent(standing.changed.rate)


def _beyond_noise(paired: Paired) -> Iterator[str]:
    """What edits changed of each noisy model beyond its noise."""
    for row in paired.standings:
        if row.unsteady.count:
            yield f"Edits of shared inputs: {_name(row)} {wording.beyond(row.excess, row.excess)}."


def _noise(coverage: Sequence[Coverage]) -> Iterator[str]:
    """The models whose changed answers may be noise. Both shares are of pairs, in contrast to the rates."""
    for row in coverage:
        noise, pairs = row.noise_floor, row.pairs
        if noise.count and pairs.count and noise.high is not None and (pairs.low or 0.0) <= noise.high:
            yield (
                f"{wording.plain(row.model)} changes {wording.percent(noise.rate)} "
                f"({wording.counts(noise)}) of its answers to unchanged inputs: "
                f"{wording.percent(pairs.rate)} ({wording.counts(pairs)}) under single edits is not clearly "
                "more."
            )


def _of_two(order: Sequence[Standing], contrast: Contrast | None, shared: str, paired: Paired) -> str:
    better, worse = order
    named = EXCESS_NAME if paired.by_excess else "violation rate"
    ours, theirs = (_number(standing, paired) if paired.by_excess else _rate(standing) for standing in order)
    rates = f"{ours} against {theirs}"
    if contrast is None or contrast.difference is None:
        return f"{_name(better)} and {_name(worse)} changed answers alike {shared}: {rates}."
    apart = (
        f"{_points(abs(contrast.difference))} points apart{_bounds(contrast)}, p {_p(contrast.p_adjusted)}"
    )
    if contrast.p_adjusted <= LEVEL:
        if paired.by_excess and contrast.low is not None and contrast.low <= 0 <= (contrast.high or 0.0):
            apart += " by the test of single answers, which sees more than this count of samples"
        return f"{_name(better)} is more robust than {_name(worse)}: {named} {shared} {rates}; {apart}."
    both = f"{_name(better)} {ours} against {_name(worse)} {theirs}"
    text = f"Neither is shown to be more robust: {named} {shared} {both}; {apart}."
    if contrast.low is not None and contrast.high is not None and not contrast.low <= 0 <= contrast.high:
        test = "test of single answers" if paired.by_excess else "exact test"
        text += f" The {test}, which decides, is stricter than the interval."
    if contrast.detectable is not None:
        text += f" This many samples show differences of {_points(contrast.detectable)} points or more."
    return text


def _quality(metric: Metric) -> str:
    order = sorted(
        (group for group in metric.groups if group.mean is not None),
        key=lambda group: group.mean or 0.0,
        reverse=metric.better == "higher",
    )
    means = ", ".join(
        f"{wording.plain(group.name)} {wording.value(group.mean, share=metric.percent)}" for group in order
    )
    name = wording.score_name(metric.name)
    if metric.test.p is None:
        return f"{name}: {means}. So few trials cannot show a difference; runs with --trials 5 can."
    phrase = "differs" if metric.test.p <= LEVEL else "is not shown to differ"
    return f"{name} {phrase} (p {_p(metric.test.p)}): {means}."


def _name(standing: Standing) -> str:
    return wording.plain(standing.model)


def _rate(standing: Standing) -> str:
    return f"{wording.percent(standing.changed.rate)} ({wording.counts(standing.changed)})"


def _bounds(contrast: Contrast) -> str:
    if contrast.low is None or contrast.high is None:
        return ""
    ends = sorted((contrast.low, contrast.high), key=lambda end: end * (contrast.difference or 1.0))
    sign = -1 if (contrast.difference or 0) < 0 else 1
    low, high = (_points(sign * end) for end in ends)
    return f" (95 % interval {low} to {high})"


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _p(p: float) -> str:
    text = wording.p_value(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"

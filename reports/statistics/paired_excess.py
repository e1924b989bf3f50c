"""Compares models on the same inputs by what edits changed beyond each model's own noise.

In the place of Cochran's Q and McNemar's tests (`codeaudit.reports.statistics.paired`), which would compare
the noise of one model with the answers of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from statistics import fmean
from typing import Final, NamedTuple

from codeaudit.reports.records import Better, Contrast, Excess, Paired, Standing, Test
from codeaudit.reports.statistics.adjustment import ALPHA, best, holm
from codeaudit.reports.statistics.differences import excess_of, rounded
from codeaudit.reports.statistics.excess import flips, sample_excess
from codeaudit.reports.statistics.intervals import single

NAME: Final = "sign flips of the excess"


class SampleOutcome(NamedTuple):
    """What one model did on one sample."""

    violated: bool
    """Whether some of as many shared variants as repeats has another answer than the first one."""
    unsteady: bool
    """Whether some of as many repeats has."""
    difference: Fraction
    """Share of changed answers among all shared variants, minus the share among all repeats."""


def compare_excess(name: str, better: Better, outcomes: Mapping[str, Sequence[SampleOutcome]]) -> Paired:
    """Models on shared inputs, with the best ones marked.

    Parameters
    ----------
    name, better
        What a violated sample is called, and whether few or many of them are wanted.
    outcomes
        Per model, for the same samples in the same order.

    Notes
    -----
    Points and intervals count samples: violated minus unsteady. Every p is of `SampleOutcome.difference`,
    which has more power, by sign flips over samples: of one model for its standing, of two for a contrast,
    Holm-adjusted over all pairs. The test over all models has the smallest adjusted p of the pairs. Best are
    the model with the best mean difference and those that no pair separates from it at 0.05, and only if that
    test rejects.
    """
    drafts = [
        _contrast(one, other, outcomes[one], outcomes[other]) for one, other in combinations(outcomes, 2)
    ]
    adjusted = holm([draft.p for draft in drafts])
    contrasts = tuple(replace(draft, p_adjusted=p) for draft, p in zip(drafts, adjusted, strict=True))
    p = min(adjusted, default=None)
    means = {model: float(sum(one.difference for one in found)) for model, found in outcomes.items()}
    marked = best(means, contrasts, better) if p is not None and p < ALPHA else frozenset[str]()
    return Paired(
        name=name,
        better=better,
        standings=tuple(
            Standing(
                model=model,
                changed=single(one.violated for one in found),
                best=model in marked,
                unsteady=single(one.unsteady for one in found),
                excess=_excess(found),
            )
            for model, found in outcomes.items()
        ),
        test=Test(name=NAME, method="smallest Holm-adjusted p of the pairs", p=p),
        contrasts=contrasts,
        ranks=_ranks(outcomes, better),
        by_excess=True,
    )


def _excess(found: Sequence[SampleOutcome]) -> Excess:
    counted = sample_excess(sorted((one.violated, one.unsteady) for one in found))
    return replace(counted, p=flips(rounded([one.difference for one in found]))) if found else counted


def _contrast(
    first: str, second: str, left: Sequence[SampleOutcome], right: Sequence[SampleOutcome]
) -> Contrast:
    pairs = list(zip(left, right, strict=True))
    counted = excess_of([Fraction(_counted(one) - _counted(other)) for one, other in pairs])
    moved = rounded([one.difference - other.difference for one, other in pairs])
    p = flips(moved)
    cells = [(one.violated, other.violated) for one, other in pairs]
    return Contrast(
        first=first,
        second=second,
        only_first=cells.count((True, False)),
        only_second=cells.count((False, True)),
        both=cells.count((True, True)),
        neither=cells.count((False, False)),
        p=p,
        p_adjusted=p,
        smallest_p=min(1.0, 2 * 0.5 ** sum(one != 0 for one in moved)),
        difference=counted.points,
        low=counted.low,
        high=counted.high,
        odds_ratio=None,
    )


def _counted(one: SampleOutcome) -> int:
    return int(one.violated) - int(one.unsteady)


def _ranks(outcomes: Mapping[str, Sequence[SampleOutcome]], better: Better) -> dict[str, float]:
    """The mean rank of each model over the samples; equal differences share their mean rank."""
    sign = 1 if better == "lower" else -1
    ranks: dict[str, list[float]] = {model: [] for model in outcomes}
    for row in zip(*outcomes.values(), strict=True):
        values = [sign * one.difference for one in row]
        for model, value in zip(outcomes, values, strict=True):
            below, equal = sum(one < value for one in values), values.count(value)
            ranks[model].append(below + (equal + 1) / 2)
    return {model: fmean(each) for model, each in ranks.items() if each}

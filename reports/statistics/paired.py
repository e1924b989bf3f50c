"""Compares models on the same inputs: Cochran's Q, then exact McNemar tests and what they can detect.

Where repeats tell the noise of each model, sign flips of the excess stand in their place: those tests would
compare the noise of one model with the answers of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from codeaudit.reports.records import Better, Contrast, Excess, Paired, Standing, Test
from codeaudit.reports.statistics.adjustment import ALPHA, best, chi_square_tail, holm
from codeaudit.reports.statistics.bisection import crossing
from codeaudit.reports.statistics.excess import excess_of, flips, rounded, sample_excess
from codeaudit.reports.statistics.intervals import Z, single
from codeaudit.transforms.grammar import counted

if TYPE_CHECKING:
    import numpy as np


NAME: Final = "Cochran's Q"

EXACT_CELLS: Final = 24
"""Below this number of discordant rows times models, p is exact, because the chi-square approximation is
poor.
"""

EXACT_MODELS: Final = 6


def compare_paired(name: str, better: Better, outcomes: Mapping[str, Sequence[bool]]) -> Paired:
    """Models on shared inputs, with the best ones marked.

    Parameters
    ----------
    name, better
        What a true outcome is called, and whether few or many of them are wanted.
    outcomes
        Per model whether its answer changed, for the same inputs in the same order.

    Notes
    -----
    Best are the model with the best rate and those that McNemar's test (Holm-adjusted) does not separate from
    it at 0.05, and only where Cochran's Q rejects at 0.05. The smallest detectable difference is that at the
    strictest level that Holm's adjustment may ask for, 0.05 over the number of pairs.
    """
    test = cochran(list(outcomes.values()))
    drafts = [
        mcnemar(first, second, outcomes[first], outcomes[second])
        for first, second in combinations(outcomes, 2)
    ]
    # Adjusted over the pairs of this question only. The answers under controls are another question with an
    # adjustment of their own.
    adjusted = holm([draft.p for draft in drafts])
    contrasts = tuple(
        replace(draft, p_adjusted=p_adjusted, detectable=_detectable(draft, ALPHA / len(drafts)))
        for draft, p_adjusted in zip(drafts, adjusted, strict=True)
    )
    marked = frozenset[str]()
    if test.p is not None and test.p < ALPHA:
        marked = best({model: sum(changes) for model, changes in outcomes.items()}, contrasts, better)
    return Paired(
        name=name,
        better=better,
        standings=tuple(
            Standing(model=model, changed=single(changes), best=model in marked)
            for model, changes in outcomes.items()
        ),
        test=test,
        contrasts=contrasts,
        ranks=_ranks(outcomes, better),
    )


def cochran(columns: Sequence[Sequence[bool]]) -> Test:
    """Whether the models' rates of true outcomes differ, given that they met the same inputs.

    Only rows on which the models disagree count. While those are few (fewer than 24 cells, up to six
    models) p is exact: each such row's outcomes are dealt out to the models in every way. For two models it
    is McNemar's exact p. Else it is from the chi-square distribution with k - 1 degrees of freedom.

    References
    ----------
    Cochran (1950), The comparison of percentages in matched samples. Tate and Brown (1970), Note on the
    Cochran Q test, for the limit of 24.
    """
    k = len(columns)
    if k < 2:
        return Test(name=NAME, method="none", notes=("fewer than two models: nothing to compare",))
    if not columns[0]:
        return Test(name=NAME, method="none", notes=("no shared inputs",))
    # Rows with equal outcomes shift no model against another, and Q is unchanged without them.
    mixed = [row for row in zip(*columns, strict=True) if 0 < sum(row) < k]
    if not mixed:
        return Test(
            name=NAME, method="none", statistic=0.0, p=1.0, notes=("the models agree on every input",)
        )
    # Whole numbers up to here: Q is rounded once, in the division. The denominator is positive, since each
    # mixed row has fewer ones than models.
    totals = [sum(column) for column in zip(*mixed, strict=True)]
    ones = [sum(row) for row in mixed]
    statistic = (k - 1) * (k * sum(t * t for t in totals) - sum(totals) ** 2)
    statistic_value = statistic / (k * sum(ones) - sum(count * count for count in ones))
    asymptotic = chi_square_tail(statistic_value, k - 1)
    method, p = "chi-square", asymptotic
    if k == 2:
        # With two models the permutations of a row are a coin, so Q's exact test is McNemar's.
        method, p = "exact binomial", _binomial(totals[0], totals[1])
    elif len(mixed) * k < EXACT_CELLS and k <= EXACT_MODELS:
        method, p = "exact permutation", _exact(ones, totals)
    few = (
        (f"the models disagree on only {counted(len(mixed), 'input')}",)
        if len(mixed) * k < EXACT_CELLS
        else ()
    )
    return Test(name=NAME, method=method, statistic=statistic_value, p=p, asymptotic_p=asymptotic, notes=few)


def mcnemar(first: str, second: str, left: Sequence[bool], right: Sequence[bool]) -> Contrast:
    """Two models on the same inputs: exact two-sided McNemar test and effect sizes.

    The difference of the rates has Agresti and Min's interval (half an input added to each of the four
    cells). The odds ratio is that of the discordant inputs; it has no finite value where one kind is
    missing. `p_adjusted` equals `p` here.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions. Agresti
    and Min (2005), Simple improved confidence intervals for comparing matched proportions.
    """
    cells = [(bool(a), bool(b)) for a, b in zip(left, right, strict=True)]
    b, c = cells.count((True, False)), cells.count((False, True))
    difference, low, high = _difference(b, c, len(cells))
    p = _binomial(b, c)
    notes = [] if b + c else ["no discordant inputs: nothing separates the two"]
    # All discordant inputs on one side: 2 · 0.5^n. Five of them reach 0.06, so no result of five is
    # significant.
    smallest = min(1.0, 2 * 0.5 ** (b + c))
    if b + c and smallest >= ALPHA:
        notes.append(f"no split of {counted(b + c, 'discordant input')} could reach p < {ALPHA}")
    return Contrast(
        first=first,
        second=second,
        only_first=b,
        only_second=c,
        both=cells.count((True, True)),
        neither=cells.count((False, False)),
        p=p,
        p_adjusted=p,
        smallest_p=smallest,
        difference=difference,
        low=low,
        high=high,
        odds_ratio=b / c if b and c else None,
        notes=tuple(notes),
    )


def _detectable(contrast: Contrast, alpha: float) -> float | None:
    discordant = contrast.only_first + contrast.only_second
    return detectable_difference(contrast.both + contrast.neither + discordant, discordant, alpha=alpha)


def _binomial(b: int, c: int) -> float:
    """Return the two-sided exact p-value of b heads and c tails of a fair coin."""
    # Whole numbers, so that p is exact before the one division. Twice the smaller tail, since a fair coin is
    # symmetric; for equal counts that is above 1.
    tail = sum(comb(b + c, n) for n in range(min(b, c) + 1))
    return min(1.0, float(2 * tail / 2 ** (b + c)))


def _difference(b: int, c: int, n: int) -> tuple[float | None, float | None, float | None]:
    if not n:
        return None, None, None
    observed = (b - c) / n
    # Agresti and Min add half an input to each of the four cells, that is 2 to n and 1 to b + c; b - c stays.
    more, wide = n + 2, b + c + 1
    middle = (b - c) / more
    spread = Z * sqrt(wide - (b - c) ** 2 / more) / more
    return observed, max(-1.0, min(observed, middle - spread)), min(1.0, max(observed, middle + spread))


def _exact(ones: Sequence[int], totals: Sequence[int]) -> float:
    """Return the share of assignments of each row's ones whose column totals are at least as uneven as the
    observed ones.
    """
    k = len(totals)
    # Assignments with equal column totals so far are counted together, so that the table grows with the
    # totals and not with 2 to the number of cells.
    ways: dict[tuple[int, ...], int] = {(0,) * k: 1}
    for count in ones:
        grown: dict[tuple[int, ...], int] = {}
        for chosen in combinations(range(k), count):
            for state, times in ways.items():
                dealt = tuple(value + (n in chosen) for n, value in enumerate(state))
                grown[dealt] = grown.get(dealt, 0) + times
        ways = grown
    # Q is a growing function of the sum of squared totals when the row sums are fixed, so whole numbers can
    # be compared in its place: no tie is lost to rounding.
    least = sum(total * total for total in totals)
    extreme = sum(times for state, times in ways.items() if sum(v * v for v in state) >= least)
    return extreme / prod(comb(k, count) for count in ones)


POWER: Final = 0.8
"""Probability of detecting the smallest detectable difference."""

PRECISION: Final = 1e-4
"""Step of the search: a hundredth of a percentage point."""


def power(difference: float, *, n: int, discordance: float, alpha: float) -> float:
    """How often the exact two-sided McNemar test rejects at `alpha`.

    Parameters
    ----------
    difference
        True difference of the two rates, 0 to 1, at most `discordance`.
    n
        Inputs.
    discordance
        Share of inputs on which exactly one of the two models changes its answer.

    Notes
    -----
    Exact: the number of discordant inputs is binomial, and so is their split, given that number; the sum
    is over all numbers, but for those at the ends which together have a chance below 1e-12.
    """
    import numpy as np
    from scipy.special import bdtr, bdtrik

    if not discordance:
        return 0.0
    numbers, chances = _discordant(n, discordance)
    # The largest count on the rarer side at which the test rejects, by the tail of a fair coin.
    # `bdtrik` gives a real number. Its floor may be one too large, which the next line corrects.
    most = np.floor(bdtrik(alpha / 2, numbers, 0.5))
    most = np.where(bdtr(np.maximum(most, 0), numbers, 0.5) <= alpha / 2, most, most - 1)
    # Of the discordant inputs the share (1 + d/c) / 2 favours one model, if the rates differ by d and a share
    # c is discordant.
    one_way = (1 + difference / discordance) / 2
    # Below 0 even an undivided split does not reject: such numbers count as never rejected.
    within = np.maximum(most, 0)
    rejected = bdtr(within, numbers, one_way) + bdtr(within, numbers, 1 - one_way)
    return float(np.sum(chances * np.where(most >= 0, rejected, 0.0)))


def detectable_difference(n: int, discordant: int, *, alpha: float) -> float | None:
    """The smallest difference of two rates that McNemar's exact test shows in four of five comparisons.

    The share of discordant inputs is taken as it was seen (`discordant` of `n`), or as the difference
    itself where that is larger, since a difference needs discordant inputs. `None` where even models that
    differ on every input would not be separated.
    """
    if n <= 0:
        return None
    share = discordant / n

    def enough(difference: float) -> bool:
        return power(difference, n=n, discordance=max(share, difference), alpha=alpha) >= POWER

    return crossing(0.0, 1.0, PRECISION, enough) if enough(1.0) else None


def _discordant(
    n: int, share: float
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    """Return the possible numbers of discordant inputs and their binomial probabilities."""
    import numpy as np
    from scipy.special import gammaln, xlog1py, xlogy

    # Eight standard deviations to both sides hold all but about 1e-12 of the probability. 8 more inputs keep
    # the range open where the standard deviation is small.
    spread = 8 * (n * share * (1 - share)) ** 0.5 + 8
    numbers = np.arange(max(1, int(n * share - spread)), min(n, int(n * share + spread)) + 1)
    # Logarithms, because the coefficients overflow from about 1,030 inputs on.
    ways = gammaln(n + 1) - gammaln(numbers + 1) - gammaln(n - numbers + 1)
    return numbers, np.exp(ways + xlogy(numbers, share) + xlog1py(n - numbers, -share))


SIGN_FLIPS: Final = "sign flips of the excess"


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
    means = {
        model: float(sum(sample.difference for sample in samples)) for model, samples in outcomes.items()
    }
    marked = best(means, contrasts, better) if p is not None and p < ALPHA else frozenset[str]()
    return Paired(
        name=name,
        better=better,
        standings=tuple(
            Standing(
                model=model,
                changed=single(sample.violated for sample in samples),
                best=model in marked,
                unsteady=single(sample.unsteady for sample in samples),
                excess=_excess(samples),
            )
            for model, samples in outcomes.items()
        ),
        test=Test(name=SIGN_FLIPS, method="smallest Holm-adjusted p of the pairs", p=p),
        contrasts=contrasts,
        ranks=_ranks(
            {model: [sample.difference for sample in row] for model, row in outcomes.items()}, better
        ),
        by_excess=True,
    )


def _excess(samples: Sequence[SampleOutcome]) -> Excess:
    counted = sample_excess(sorted((sample.violated, sample.unsteady) for sample in samples))
    return (
        replace(counted, p=flips(rounded([sample.difference for sample in samples]))) if samples else counted
    )


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
        smallest_p=min(1.0, 2 * 0.5 ** sum(difference != 0 for difference in moved)),
        difference=counted.points,
        low=counted.low,
        high=counted.high,
        odds_ratio=None,
    )


def _counted(sample: SampleOutcome) -> int:
    return int(sample.violated) - int(sample.unsteady)


def _ranks(outcomes: Mapping[str, Sequence[bool | Fraction]], better: Better) -> dict[str, float]:
    """The mean rank of each model over the inputs; equal outcomes share their mean rank."""
    sign = 1 if better == "lower" else -1
    ranks: dict[str, list[float]] = {model: [] for model in outcomes}
    for row in zip(*outcomes.values(), strict=True):
        for model, outcome in zip(outcomes, row, strict=True):
            before = sum(sign * other < sign * outcome for other in row)
            ranks[model].append(before + (row.count(outcome) + 1) / 2)
    return {model: fmean(numbers) for model, numbers in ranks.items() if numbers}

"""Compares models over repeated trials: Kruskal–Wallis, then Conover (Renamer paper, appendix C)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import combinations, pairwise, permutations
from math import factorial, lcm, prod, sqrt
from statistics import fmean, stdev
from typing import Final, NamedTuple

from codeaudit.reports.records import Better, Group, Metric, Pairwise, Test
from codeaudit.reports.statistics.adjustment import ALPHA, best, chi_square_tail, holm

TIES: Final = "ties: mid-ranks and the tie correction are used"
EXACT_WAYS: Final = 1_000_000
EXACT_STATES: Final = 4_000_000
"""Maximum number of assignments (or of states while counting them) for the exact permutation distribution.
Three groups of five values have 756,756 assignments.
"""

NAME: Final = "Kruskal-Wallis"
LIBRARY: Final = "scikit_posthocs"
"""The module with Conover's test. It is a part of the full installation only."""

Values = Sequence[Sequence[float]]


class _Ranks(NamedTuple):
    """The joint ranks of all groups' values, doubled so that mid-ranks are integers."""

    doubled: tuple[tuple[int, ...], ...]
    squares: int
    """n - 1 times four times the variance of the ranks. Ties make it smaller."""

    @property
    def n(self) -> int:
        return sum(map(len, self.doubled))


def compare_trials(
    name: str, better: Better, values: Mapping[str, Sequence[float]], *, percent: bool = True
) -> Metric:
    """One metric over groups of trials, with the best groups marked.

    Best are the group with the best mean rank and those that Conover's test does not separate from it at
    0.05, and only where Kruskal-Wallis rejects at 0.05: a difference that was not shown is not printed bold.
    """
    # A group without a value, such as a model without labels, has no rank. It keeps its row in the table.
    filled = {group: tuple(numbers) for group, numbers in values.items() if numbers}
    test = kruskal_wallis(list(filled.values()))
    rejected = test.p is not None and test.p < ALPHA
    # The report shows the comparisons even if Kruskal-Wallis does not reject. It then marks none as best.
    pairs = conover(filled) if test.p is not None else ()
    means = _mean_ranks(filled, better)
    marked = best(means, pairs, "lower") if rejected else frozenset[str]()
    return Metric(
        name=name,
        better=better,
        groups=tuple(_group(group, tuple(numbers), group in marked) for group, numbers in values.items()),
        test=test,
        percent=percent,
        pairs=pairs,
        ranks=means,
    )


def kruskal_wallis(groups: Values) -> Test:
    """Whether some group tends to larger values than another.

    The p-value is exact, from every way of dealing the observed values (ties and all) out to groups of
    these sizes, while these are few enough to count; else from the chi-square distribution with k - 1
    degrees of freedom. H is corrected for ties. No result is ever NaN: where there is nothing to test, `p`
    is `None` (or 1, if all values are equal) and a note says why.

    References
    ----------
    Kruskal and Wallis (1952), Use of ranks in one-criterion variance analysis. Tomczak and Tomczak (2014),
    The need to report effect size estimates revisited, for epsilon squared.
    """
    sizes = [len(group) for group in groups]
    if len(groups) < 2:
        return Test(name=NAME, method="none", notes=("fewer than two groups: nothing to compare",))
    # H of single values is the same for every order of the groups, so every p is 1.
    if max(sizes) < 2:
        return Test(name=NAME, method="none", notes=("one trial each: no test; repeat with --trials",))
    ranks = _rank(groups)
    # H divides by the variance of the ranks, which is 0 here.
    if not ranks.squares:
        return Test(name=NAME, method="none", statistic=0.0, p=1.0, notes=("all values are equal",))
    exact = _exact(ranks)
    statistic = _statistic(ranks)
    asymptotic = chi_square_tail(statistic, len(groups) - 1)
    smallest = exact[1] if exact else _smallest_bychi_square_tail(sizes)
    return Test(
        name=NAME,
        method="exact permutation" if exact else "chi-square",
        statistic=statistic,
        p=exact[0] if exact else asymptotic,
        asymptotic_p=asymptotic,
        smallest_p=smallest,
        # Epsilon squared: H / ((n² - 1) / (n + 1)). It is 1 if the values of each group are equal and the
        # groups differ.
        effect=statistic / (ranks.n - 1),
        notes=_notes(groups, smallest),
    )


def check_installed() -> None:
    """Check that the library of `conover` is there, before an audit pays for answers that need it.

    Raises:
        ModuleNotFoundError: it is not.
    """
    if find_spec(LIBRARY) is None:
        raise ModuleNotFoundError(f"No module named {LIBRARY!r}", name=LIBRARY)


def conover(groups: Mapping[str, Sequence[float]]) -> tuple[Pairwise, ...]:
    """Every pair of groups by Conover's t on the joint ranks, Holm-adjusted over all pairs.

    Where every group is constant the pooled variance is zero and t has no value; there the pair's own exact
    Kruskal-Wallis p is used instead, and `method` says so. Groups of values that are all equal have p = 1.

    References
    ----------
    Conover and Iman (1979), On multiple-comparisons procedures, LA-7677-MS. Cliff (1993), Dominance
    statistics, for delta.
    """
    names, ranks = list(groups), _rank(list(groups.values()))
    n, k = ranks.n, len(names)
    raw: list[tuple[str, str, float, str]] = []
    # Each group constant means no variance within groups; testing that on H would be at rounding's mercy.
    if n == k or all(len(set(group)) == 1 for group in ranks.doubled):
        for first, second in combinations(names, 2):
            p = kruskal_wallis([groups[first], groups[second]]).p
            raw.append((first, second, 1.0 if p is None else p, "exact permutation"))
    else:
        from scikit_posthocs import posthoc_conover

        # Unadjusted here: Holm's adjustment below is over all pairs, also those of the branch above.
        table = posthoc_conover([list(groups[name]) for name in names]).to_numpy()
        for i, j in combinations(range(k), 2):
            raw.append((names[i], names[j], float(table[i, j]), "Conover t"))
    adjusted = holm([row[2] for row in raw])
    return tuple(
        Pairwise(
            first=first,
            second=second,
            p=p,
            p_adjusted=q,
            method=method,
            effect=_delta(groups[first], groups[second]),
        )
        for (first, second, p, method), q in zip(raw, adjusted, strict=True)
    )


def _group(name: str, values: tuple[float, ...], is_best: bool) -> Group:
    error = stdev(values) / sqrt(len(values)) if len(values) > 1 else None
    return Group(name=name, values=values, mean=fmean(values) if values else None, error=error, best=is_best)


def _delta(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Cliff's delta: share of pairs with a larger first value minus share of pairs with a larger
    second value.
    """
    # Few values, so that all pairs are compared: five trials of two models are 25 pairs.
    return sum((a > b) - (a < b) for a in first for b in second) / (len(first) * len(second))


def _mean_ranks(groups: Mapping[str, Sequence[float]], better: Better) -> dict[str, float]:
    if not groups:
        return {}
    ranks = _rank(list(groups.values()))
    means = {name: fmean(doubled) / 2 for name, doubled in zip(groups, ranks.doubled, strict=True)}
    # Rank 1 is the best: the smallest value where lower is better, the largest otherwise.
    return means if better == "lower" else {name: ranks.n + 1 - mean for name, mean in means.items()}


def _rank(groups: Values) -> _Ranks:
    counts = sorted(Counter(value for group in groups for value in group).items())
    rank, before = {}, 0
    for value, times in counts:
        # Twice the mid-rank: `times` equal values behind `before` smaller ones have the mean rank before +
        # (times + 1) / 2. Whole numbers keep ties exact, so that `spread >= observed` below is never decided
        # by rounding.
        rank[value] = 2 * before + times + 1
        before += times
    doubled = tuple(tuple(rank[value] for value in group) for group in groups)
    flat = [number for group in doubled for number in group]
    # Ties are corrected for by the real variance of the ranks in place of (n³ - n) / 12.
    return _Ranks(doubled, sum(number**2 for number in flat) - len(flat) * (len(flat) + 1) ** 2)


def _statistic(ranks: _Ranks) -> float:
    n = ranks.n
    between = sum(sum(group) ** 2 / len(group) for group in ranks.doubled) - n * (n + 1) ** 2
    return (n - 1) * between / ranks.squares


def _exact(ranks: _Ranks) -> tuple[float, float] | None:
    """Return the exact p and the smallest reachable p; `None` if there are too many assignments to count.

    Ranks are dealt out one after another. Partial assignments with equal group sizes and rank sums are
    counted together.
    """
    import numpy as np

    sizes = [len(group) for group in ranks.doubled]
    # The number of ways to deal out n values to groups of these sizes, ties counted as different values.
    ways = factorial(ranks.n) // prod(map(factorial, sizes))
    # A state is read as one whole number: the sizes and rank sums so far are its digits in these bases.
    base = [*(size + 1 for size in sizes), *(2 * ranks.n * size + 1 for size in sizes)]
    # A bound on the number of different states, which may be far smaller than the number of ways: two groups
    # of twenty have 1.4e11 ways and are still counted exactly.
    passed = prod((size + 1) * ranks.n * size for size in sizes[:-1])
    # Counts are floats that are exact below 2**53, and the whole number of a state must fit into 64 bits.
    if (ways > EXACT_WAYS and passed > EXACT_STATES) or ways >= 2**53 or prod(base) >= 2**62:
        return None
    weights = np.cumprod([1, *base[:-1]])
    states = np.zeros((1, len(base)), dtype=np.int64)
    times = np.ones(1, dtype=np.float64)
    for rank in sorted(rank for group in ranks.doubled for rank in group):
        grown, counts = [], []
        for group, size in enumerate(sizes):
            room = states[:, group] < size
            more = states[room]
            more[:, group] += 1
            more[:, len(sizes) + group] += rank
            grown.append(more)
            counts.append(times[room])
        every = np.concatenate(grown)
        _, first, which = np.unique(every @ weights, return_index=True, return_inverse=True)
        states = every[first]
        times = np.bincount(which, np.concatenate(counts)).astype(np.float64)
    # H grows with the sum of (rank sum)² / size. Times the common multiple of the sizes it is a whole number.
    common = lcm(*sizes)
    factors = np.array([common // size for size in sizes])
    spread = (states[:, len(sizes) :] ** 2) @ factors
    observed = sum(sum(group) ** 2 * (common // len(group)) for group in ranks.doubled)
    return float(times[spread >= observed].sum() / ways), float(times[spread == spread.max()].sum() / ways)


def _smallest_bychi_square_tail(sizes: Sequence[int]) -> float | None:
    """Return the chi-square p of completely separated groups in their most extreme order; `None` for many
    groups.
    """
    # There are up to k! orders of the groups; the note on the smallest p is not worth more time.
    if len(sizes) > 6:
        return None
    largest = 0.0
    for order in set(permutations(sizes)):
        edges = [sum(order[:n]) for n in range(len(order) + 1)]
        apart = [list(map(float, range(low, high))) for low, high in pairwise(edges)]
        largest = max(largest, _statistic(_rank(apart)))
    return chi_square_tail(largest, len(sizes) - 1)


def _notes(groups: Values, smallest: float | None) -> tuple[str, ...]:
    notes = []
    flat = [value for group in groups for value in group]
    if smallest is not None and smallest >= ALPHA:
        notes.append(f"so few trials cannot show p < {ALPHA}")
    if len(set(flat)) < len(flat):
        notes.append(TIES)
    if any(len(group) > 1 and len(set(group)) == 1 for group in groups):
        notes.append("some groups are constant over their trials")
    if any(len(group) == 1 for group in groups):
        notes.append("some groups have a single trial")
    return tuple(notes)

"""Several tests at once: significance level, Holm's adjustment, groups without a significant difference."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from codeaudit.reports.records import Better, Contrast, Metric, Paired, Pairwise

ALPHA: Final = 0.05
"""Significance level of every test in a report, after adjustment."""


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return Holm-adjusted p-values in the same order. The step-down procedure never lowers a p-value.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    adjusted, floor = [0.0] * len(ps), 0.0
    for rank, n in enumerate(order):
        # A larger p never gets a smaller adjusted one: Holm stops at the first test that does not reject.
        floor = max(floor, min(1.0, (len(ps) - rank) * ps[n]))
        adjusted[n] = floor
    return tuple(adjusted)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The probability that a chi-square variable with these degrees of freedom exceeds the statistic."""
    from scipy.special import chdtrc

    # A statistic of 0 may come out as -1e-16, for which scipy gives NaN.
    return float(chdtrc(degrees, max(0.0, statistic)))


def best(values: Mapping[str, float], pairs: Iterable[Pairwise | Contrast], better: Better) -> frozenset[str]:
    """The names with the best value, and those without a significant difference to the first of them."""
    leader = (max if better == "higher" else min)(values, key=lambda name: values[name])
    alike = [{pair.first, pair.second} for pair in pairs if pair.p_adjusted >= ALPHA]
    return frozenset(name for name in values if name == leader or {name, leader} in alike)


class Ranked(NamedTuple):
    """Models by mean rank, best first, and bars through groups of indistinguishable models."""

    names: tuple[str, ...]
    bars: list[tuple[str, ...]]


def ranked(result: Metric | Paired) -> Ranked | None:
    """Return the content of a diagram; `None` if the overall test does not reject or there are fewer than
    three models.
    """
    # Two models need no diagram: their only pair is in the table of p-values.
    names = tuple(sorted(result.ranks, key=lambda name: result.ranks[name]))
    if len(names) < 3 or result.test.p is None or result.test.p >= ALPHA:
        return None
    pairs = result.pairs if isinstance(result, Metric) else result.contrasts
    alike = [(pair.first, pair.second) for pair in pairs if pair.p_adjusted >= ALPHA]
    return Ranked(names, cliques(names, alike))


def cliques(names: Sequence[str], alike: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the maximal groups of two or more mutually indistinguishable models, in the order of `names`.

    `alike` holds the pairs that no test separates. The search is Bron and Kerbosch's algorithm for maximal
    cliques.
    """
    # No significant difference is no equivalence: a and b, and b and c may be alike while a and c
    # differ. Therefore groups overlap, and these are cliques, not components.
    near: dict[str, set[str]] = {name: set() for name in names}
    for first, second in alike:
        near[first].add(second)
        near[second].add(first)
    groups: list[set[str]] = []

    # `rest` could still join, `done` could have joined but is in a group that was found already. Only a group
    # that neither can enlarge is maximal.
    def grow(chosen: set[str], rest: set[str], done: set[str]) -> None:
        if not rest and not done and len(chosen) > 1:
            groups.append(chosen)
        # Sorted, because sets of texts have another order in each process.
        for name in sorted(rest):
            grow(chosen | {name}, rest & near[name], done & near[name])
            rest, done = rest - {name}, done | {name}

    grow(set(), set(names), set())
    ordered = [tuple(name for name in names if name in group) for group in groups]
    return sorted(ordered, key=lambda group: [names.index(name) for name in group])

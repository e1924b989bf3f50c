"""Which of several models no test tells apart: the bars of a critical-difference diagram.

References
----------
Demšar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.2.4.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codeaudit.reports.records import Metric, Paired
from codeaudit.reports.statistics.adjustment import ALPHA


class Ranked(NamedTuple):
    """Models by mean rank, the best first, and the bars through those that are alike."""

    names: tuple[str, ...]
    bars: list[tuple[str, ...]]


def ranked(result: Metric | Paired) -> Ranked | None:
    """What a diagram shows; `None` where the test over all models shows no difference, or of but two."""
    names = tuple(sorted(result.ranks, key=lambda name: result.ranks[name]))
    if len(names) < 3 or result.test.p is None or result.test.p >= ALPHA:
        return None
    pairs = result.pairs if isinstance(result, Metric) else result.contrasts
    alike = [(each.first, each.second) for each in pairs if each.p_adjusted >= ALPHA]
    return Ranked(names, cliques(names, alike))


def cliques(names: Sequence[str], alike: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The largest groups of two or more names that are all alike, in the order of the names."""
    near: dict[str, set[str]] = {name: set() for name in names}
    for first, second in alike:
        near[first].add(second)
        near[second].add(first)
    found: list[set[str]] = []

    def grow(chosen: set[str], rest: set[str], done: set[str]) -> None:
        if not rest and not done and len(chosen) > 1:
            found.append(chosen)
        for name in sorted(rest):
            grow(chosen | {name}, rest & near[name], done & near[name])
            rest, done = rest - {name}, done | {name}

    grow(set(), set(names), set())
    ordered = [tuple(name for name in names if name in group) for group in found]
    return sorted(ordered, key=lambda group: [names.index(name) for name in group])

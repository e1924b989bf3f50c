"""Adds the results of worst-case searches (`codeaudit run --attack`) to a summary."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from codeaudit.audit.records import Attacked
from codeaudit.reports.records import Attack, Summary
from codeaudit.reports.statistics.intervals import rate


def with_attacks(summary: Summary, attacked: Iterable[Attacked]) -> Summary:
    """Return the summary with the results of worst-case searches, grouped by model and strategy.

    The rate counts samples on which at least one query was made. A sample searched in several trials is one
    cluster.
    """
    found: dict[str, dict[str, list[Attacked]]] = defaultdict(lambda: defaultdict(list))
    for each in attacked:
        found[each.model][each.strategy].append(each)
    models = tuple(
        replace(
            model,
            attacks=tuple(_attack(each, seed=summary.seed) for each in found[model.model].values()),
        )
        for model in summary.models
    )
    return replace(summary, models=models)


def _attack(every: Sequence[Attacked], *, seed: int) -> Attack:
    tried = [each for each in every if each.queries]
    clusters: dict[str, tuple[int, int]] = {}
    for each in tried:  # the same sample in several trials is one unit
        count, total = clusters.get(each.sample.id, (0, 0))
        clusters[each.sample.id] = (count + (each.violated is not None), total + 1)
    ends = Counter(each.queries for each in tried if each.violated is not None)
    budget = every[0].budget
    curve, so_far = [], 0
    for queries in range(1, budget + 1):
        so_far += ends[queries]
        curve.append(so_far)
    reasons = Counter(each.reason for each in every if not each.queries)
    return Attack(
        strategy=every[0].strategy,
        budget=budget,
        violated=rate(clusters, seed=seed),
        curve=tuple(curve),
        certified=sum(each.certified for each in every),
        queries=sum(each.queries for each in tried),
        not_attacked=dict(sorted(reasons.items())),
    )

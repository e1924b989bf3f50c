"""Robust pass@k for tasks whose answers are attempts: under each transform, and under all transforms
together.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from codeaudit.audit.interface import HasAttempts
from codeaudit.reports.observations import Observation
from codeaudit.reports.records import RobustPass
from codeaudit.reports.statistics.pass_at_k import Problem, drop, mean

COUNTS: Final = (1, 5, 10, 100)
"""Values of k to report, if that many attempts were made."""


def robust(observations: Iterable[Observation], task: HasAttempts, *, seed: int) -> tuple[RobustPass, ...]:
    """Return the results of one model over all trials; those under all transforms together come first.

    Each result covers the problems that have a judged variant, so all its numbers are over the same problems.
    Variants with equal text, for example from two trials, count once. If prompts got different numbers of
    attempts, the first ones count.
    """
    own: dict[str, tuple[bool, ...]] = {}
    found: dict[str, dict[str, dict[str, tuple[bool, ...]]]] = defaultdict(lambda: defaultdict(dict))
    for each in observations:
        if each.answer is None or each.score is None:
            continue
        own.setdefault(each.sample.id, task.attempts(each.answer))
        for pair in each.judged("preserving"):
            if pair.answer is not None:
                tried = task.attempts(pair.answer)
                found[""][each.sample.id][pair.input] = tried
                found[pair.transform][each.sample.id][pair.input] = tried
    return tuple(
        block
        for transform in ["", *sorted(found.keys() - {""})]
        for block in _blocks(transform, own, found[transform], seed)
    )


def _blocks(
    transform: str,
    own: Mapping[str, tuple[bool, ...]],
    found: Mapping[str, Mapping[str, tuple[bool, ...]]],
    seed: int,
) -> list[RobustPass]:
    """One result per value of k."""
    if not found:
        return []
    attempts = min(len(one) for key, each in found.items() for one in (own[key], *each.values()))
    problems = [
        Problem(own[key][:attempts], tuple(one[:attempts] for one in found[key].values()))
        for key in sorted(found)
    ]
    return [_block(transform, problems, k, attempts, seed) for k in COUNTS if k <= attempts]


def _block(transform: str, problems: Sequence[Problem], k: int, attempts: int, seed: int) -> RobustPass:
    nominal, kept, changed = zip(*(problem.at(k) for problem in problems), strict=True)
    sizes = [len(problem.perturbed) for problem in problems]
    return RobustPass(
        transform=transform,
        k=k,
        attempts=attempts,
        problems=len(problems),
        variants=sum(sizes),
        most_variants=max(sizes),
        nominal=mean(nominal, seed=seed),
        robust=mean(kept, seed=seed),
        drop=drop(nominal, kept, seed=seed),
        relative=mean(changed, seed=seed),
    )

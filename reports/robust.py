"""Robust pass@k of a model whose answers are attempts: under each transform, and under all of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from codeaudit.audit.interface import HasAttempts
from codeaudit.reports.observations import Observation
from codeaudit.reports.records import RobustPass
from codeaudit.reports.statistics.pass_at_k import Problem, drop, mean

COUNTS: Final = (1, 5, 10, 100)
"""The numbers of attempts that are told, as far as so many were made."""


def robust(observations: Iterable[Observation], task: HasAttempts, *, seed: int) -> tuple[RobustPass, ...]:
    """The blocks of one model over all trials, those under all transforms together first.

    A block is over the problems that have a judged variant: all of its numbers are over the same problems.
    Variants with one text, as in two trials, count once. Of unequally many attempts the first ones count.
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
    """One for each number of attempts."""
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

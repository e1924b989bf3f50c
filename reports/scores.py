"""The task's score of a model, before and under attack.

Both attacks use pairs of meaning-keeping transforms only: those with a verdict, and those whose right answer
is known to change, which are scored against that one. They aggregate as the original score does: they choose
one answer per sample and ask the task for the corpus score of those.

*Worst sample*: per sample the answer with the worst score of its own, among the original and every variant of
every transform; of equally bad ones the original, then the first in the order of transform and variant. For a
micro-averaged score this need not be the global minimum (a sample's own score weighs its errors differently
from the corpus), and a drop can even be negative.

*Worst round*: a round is one variant of one transform over the whole corpus, samples that it cannot change
keeping their original answer; the worst corpus score of all rounds. With one transform and four variants this
is the permutation attack of the SPE paper, appendix C.1, table 6.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from statistics import fmean
from typing import Final, TypeAlias

from codeaudit.audit.interface import GivesPartialCredit, Task
from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import Better, Score
from codeaudit.transforms.records import Sample

Scored: TypeAlias = tuple[Answer | None, Sample]
"""An answer, and the sample whose label it is scored against."""


AVERAGED: Final = (
    "original",
    "macro",
    "attack_worst_sample",
    "attack_worst_round",
    "drop",
    "drop_worst_round",
)
"""Fields of a score that are averaged over trials."""


def score(observations: Sequence[Observation], task: Task) -> Score:
    """Compute the scores of one model in one trial, before and under attack."""
    better = task.better
    # Samples without a label or an answer are in no score, neither before nor under attack, so that the drop
    # compares the same samples.
    labelled = [each for each in observations if each.answer is not None and each.score is not None]
    block = Score(name=task.score_name, better=better)
    if not labelled:
        return block

    def corpus(choose: Callable[[Observation], Scored]) -> float | None:
        # A corpus score may be infinite or NaN; a summary holds finite numbers only.
        value = task.corpus_score(_answers(labelled, choose))
        return value if value is not None and isfinite(value) else None

    def likeness(choose: Callable[[Observation], Scored]) -> Mapping[str, float]:
        return task.likeness(_answers(labelled, choose)) if isinstance(task, GivesPartialCredit) else {}

    original = corpus(_original)
    # Not applied pairs are no round of their own: `_in_round` keeps the original answer for them.
    rounds = sorted({(p.transform, p.variant) for each in labelled for p in each.scored("preserving")})
    reached = [corpus(partial(_in_round, number=number)) for number in rounds]
    worst = partial(_worst, better=better)
    worst_sample = corpus(worst) if rounds else None
    worst_round = _extreme([value for value in reached if value is not None], better)
    return replace(
        block,
        original=original,
        macro=_mean(each.score for each in labelled),
        attack_worst_sample=worst_sample,
        attack_worst_round=worst_round,
        drop=_loss(original, worst_sample, better),
        drop_worst_round=_loss(original, worst_round, better),
        rounds=len(rounds),
        scored=len(labelled),
        likeness=likeness(_original),
        attack_likeness=likeness(worst) if rounds else {},
    )


def mean_score(blocks: Sequence[Score]) -> Score:
    """Return the mean over trials, field by field, over the trials that have a value."""
    # A mean over one block would turn whole counts and absent values into other ones; it is the block itself.
    first = blocks[0]
    if len(blocks) == 1:
        return first
    return Score(
        name=first.name,
        better=first.better,
        **{name: _mean(getattr(block, name) for block in blocks) for name in AVERAGED},
        rounds=max(block.rounds for block in blocks),
        scored=sum(block.scored for block in blocks),
        likeness=_means([block.likeness for block in blocks]),
        attack_likeness=_means([block.attack_likeness for block in blocks]),
    )


def _answers(
    observations: Iterable[Observation], choose: Callable[[Observation], Scored]
) -> list[tuple[Answer, Sample]]:
    chosen = (choose(each) for each in observations)
    return [(answer, sample) for answer, sample in chosen if answer is not None]


def _original(observation: Observation) -> Scored:
    return observation.answer, observation.sample


def _in_round(observation: Observation, number: tuple[str, int]) -> Scored:
    for pair in observation.scored("preserving"):
        if (pair.transform, pair.variant) == number:
            return pair.answer, pair.sample
    return observation.answer, observation.sample


def _worst(observation: Observation, better: Better) -> Scored:
    # With the sign of the direction the worst candidate is always the smallest.
    sign = 1 if better == "higher" else -1
    # Fixed order, because verdicts come in the order of the suite, and ties must not depend on it.
    ordered: list[Pair] = sorted(observation.scored("preserving"), key=lambda p: (p.transform, p.variant))
    candidates: list[tuple[Scored, float | None]] = [
        ((observation.answer, observation.sample), observation.score),
        *(((pair.answer, pair.sample), pair.score) for pair in ordered),
    ]
    scored = [(chosen, sign * value) for chosen, value in candidates if value is not None]
    # `min` takes the first of equal ones: the original before any variant.
    return min(scored, key=lambda candidate: candidate[1])[0]


def _loss(before: float | None, after: float | None, better: Better) -> float | None:
    if before is None or after is None:
        return None
    return before - after if better == "higher" else after - before


def _extreme(values: Sequence[float], better: Better) -> float | None:
    if not values:
        return None
    return min(values) if better == "higher" else max(values)


def _means(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: fmean(table[name] for table in tables if name in table) for name in names}


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None and isfinite(value)]
    return fmean(present) if present else None

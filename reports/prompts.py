"""How much of an answer is the prompt's: originals that one model was asked about with several prompts.

The originals of a sample have one text, so that what differs between two prompts is the prompt, or noise.
Both are told apart as for edits (`codeaudit.reports.statistics.excess`): answers to one prompt and to another
are compared with repeated answers to the same prompt.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations
from math import comb
from typing import Final, NamedTuple

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Answer, Predicted
from codeaudit.reports.observations import Observation
from codeaudit.reports.records import Excess, ModelHeader, PromptEffect, Rate
from codeaudit.reports.statistics.excess import estimated, excess_of, rounded
from codeaudit.reports.statistics.intervals import rate_of
from codeaudit.transforms.seeding import stream

DRAWS: Final = 2_000
"""Number of shuffles of the answers of each sample."""


class PromptGroup(NamedTuple):
    """One model with its prompts."""

    model: str
    """Its name without a prompt."""
    members: tuple[ModelHeader, ...]
    """With each of its prompts, at least two."""


def groups(models: Iterable[ModelHeader]) -> list[PromptGroup]:
    """The models that are asked with several prompts."""
    by_name: defaultdict[str, list[ModelHeader]] = defaultdict(list)
    for model in models:
        if model.prompt:
            by_name[model.name.removesuffix(f"@{model.prompt}")].append(model)
    return [PromptGroup(name, tuple(members)) for name, members in by_name.items() if len(members) > 1]


Answers = tuple[Answer, ...]
"""The first answer to an original, then those to its repeats."""


class PromptDigest:
    """The answers to the originals of the plain draw, of models that are asked with several prompts."""

    def __init__(self, models: Iterable[ModelHeader]) -> None:
        self._groups = groups(models)
        self._answers: dict[str, dict[tuple[int, str], Answers]] = {
            member.name: {} for group in self._groups for member in group.members
        }

    def add(self, observation: Observation) -> None:
        """Count an observation."""
        if observation.model in self._answers and observation.answer is not None and not observation.extra:
            again = [pair.answer for pair in observation.repeats() if pair.answer is not None]
            self._answers[observation.model][observation.seed, observation.sample.id] = (
                observation.answer,
                *again,
            )

    def effects(self, task: Task, steady: Mapping[str, bool], *, seed: int) -> tuple[PromptEffect, ...]:
        """What prompts changed, of each model with several. `steady`: whether its noise counts as zero."""
        return tuple(self._effect(group, task, steady, seed) for group in self._groups)

    def _effect(self, group: PromptGroup, task: Task, steady: Mapping[str, bool], seed: int) -> PromptEffect:
        tables = [(self._answers[member.name], steady[member.name]) for member in group.members]
        draw = stream(seed, "interval", f"prompts of {group.model}").getrandbits(64)
        # By sample: the same one in several trials is one unit.
        units: defaultdict[str, list[_Unit]] = defaultdict(list)
        for key in sorted(set.intersection(*(set(table) for table, _ in tables))):
            # The repeats of a steady model would be its first answer again.
            answers = [table[key][:1] * 2 if quiet else table[key] for table, quiet in tables]
            units[key[1]].append(_unit(answers, task))
        known = {key: trials for key, trials in units.items() if all(unit.known for unit in trials)}
        differences = [_mean([unit.difference for unit in trials]) for trials in known.values()]
        as_many = [_mean([unit.beyond for unit in trials]) for trials in known.values()]
        p = _shuffled([unit for trials in known.values() for unit in trials], draw)
        prompts = len(group.members)
        return PromptEffect(
            model=group.model,
            prompts=tuple(member.prompt for member in group.members),
            changed=_rate(units, lambda unit: (int(unit.changed), 1), draw),
            noise=_rate(known, lambda unit: (unit.unsteady, prompts), draw),
            excess=excess_of(as_many),
            pair_excess=estimated(rounded(differences), p) if differences else Excess(),
        )


class _Unit(NamedTuple):
    """The answers of one sample in one trial."""

    changed: bool
    """Whether the first answers of some two prompts differ."""
    known: bool
    """Whether each prompt was repeated."""
    unsteady: int = 0
    """Number of prompts of which some of as many repeats as other prompts got another answer."""
    beyond: Fraction = Fraction(0)
    """Whether some of as many other prompts as repeats changed the answer, minus the share of `unsteady`."""
    difference: Fraction = Fraction(0)
    """Share of pairs of answers to two prompts that differ, minus that of pairs of answers to one prompt."""
    differ: tuple[tuple[bool, ...], ...] = ()
    """Whether each two of all answers differ."""
    sizes: tuple[int, ...] = ()
    """Number of answers to each prompt."""


def _unit(answers: Sequence[Answers], task: Task) -> _Unit:
    every = [Predicted(answer=answer) for row in answers for answer in row]
    differ = tuple(tuple(not (one is other or task.same(one, other)) for other in every) for one in every)
    starts = list(accumulate((len(row) for row in answers), initial=0))
    firsts = starts[:-1]
    changed = any(differ[one][other] for one, other in combinations(firsts, 2))
    repeats = min(map(len, answers)) - 1
    if not repeats:
        return _Unit(changed=changed, known=False)
    most = min(repeats, len(answers) - 1)
    unsteady = sum(any(differ[start][start + n] for n in range(1, most + 1)) for start in firsts)
    apart = any(differ[firsts[0]][other] for other in firsts[1 : most + 1])
    sizes = tuple(map(len, answers))
    difference = sum(
        (weight * differ[one][other] for (one, other), weight in _weights(sizes).items()), Fraction(0)
    )
    return _Unit(
        changed=changed,
        known=True,
        unsteady=unsteady,
        beyond=Fraction(int(apart)) - Fraction(unsteady, len(answers)),
        difference=difference,
        differ=differ,
        sizes=sizes,
    )


@cache
def _weights(sizes: tuple[int, ...]) -> Mapping[tuple[int, int], Fraction]:
    """How each pair of answers counts in `_Unit.difference`."""
    spans = [range(start, start + size) for start, size in zip(accumulate((0, *sizes)), sizes, strict=False)]
    two = comb(len(sizes), 2)
    weights: dict[tuple[int, int], Fraction] = {}
    for first, second in combinations(spans, 2):
        weights |= {
            (one, other): Fraction(1, two * len(first) * len(second)) for one in first for other in second
        }
    for span in spans:
        weights |= {pair: Fraction(-1, len(sizes) * comb(len(span), 2)) for pair in combinations(span, 2)}
    return weights


def _shuffled(units: Sequence[_Unit], seed: int) -> float:
    """How often shuffled answers of each sample give a sum of differences as far from 0 as the one found.

    Where the prompt has no effect, all answers of a sample are exchangeable. So the test is exact up to the
    number of shuffles (Good 2005, chapter 3).
    """
    import numpy as np

    rng = np.random.default_rng(seed % 2**63)
    observed, sums = 0.0, np.zeros(DRAWS)
    for unit in units:
        if not any(map(any, unit.differ)):  # all its answers agree, whoever gave them
            continue
        weights = np.zeros((len(unit.differ), len(unit.differ)))
        for (row, column), weight in _weights(unit.sizes).items():
            weights[row, column] = float(weight)
        differ = np.array(unit.differ, dtype=float)
        observed += float((weights * differ).sum())
        orders = rng.permuted(np.tile(np.arange(len(differ)), (DRAWS, 1)), axis=1)
        sums += (differ[orders[:, :, None], orders[:, None, :]] * weights).sum(axis=(1, 2))
    reached = int((np.abs(sums) >= abs(observed) - 1e-9).sum())
    # What was found is one of the shuffles, so that p is never 0.
    return (reached + 1) / (DRAWS + 1)


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _rate(units: Mapping[str, Sequence[_Unit]], count: Callable[[_Unit], tuple[int, int]], seed: int) -> Rate:
    kinds = Counter[tuple[int, int]]()
    for trials in units.values():
        counts = [count(unit) for unit in trials]
        kinds[sum(part for part, _ in counts), sum(total for _, total in counts)] += 1
    return rate_of(kinds, seed=seed)

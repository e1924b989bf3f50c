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

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Final, Protocol

from codeaudit.audit.interface import GivesPartialCredit, Task
from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import Better, Score
from codeaudit.transforms.records import Sample

if TYPE_CHECKING:
    import numpy as np

AVERAGED: Final = (
    "original",
    "macro",
    "attack_worst_sample",
    "attack_worst_round",
    "drop",
    "drop_worst_round",
)
"""Fields of a score that are averaged over trials."""


def score(observations: Iterable[Observation], task: Task) -> Score:
    """Compute the scores of one model in one trial, before and under attack."""
    tally = ScoreTally(task)
    for each in observations:
        tally.add(each)
    return tally.score()


class ScoreTally:
    """The parts of the scores of one model in one trial."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._samples: list[str] = []
        self._scores = array("d")
        self._originals, self._worst = _parts(task), _parts(task)
        self._rounds: dict[tuple[str, int], _Round] = {}
        # With partial credit the texts themselves are compared.
        self._texts: list[tuple[tuple[Answer, Sample], tuple[Answer, Sample]]] = []

    def add(self, one: Observation) -> None:
        """Add an observation of the plain draw."""
        # Samples without a label or an answer are in no score, neither before nor under attack, so that the
        # drop compares the same samples.
        if one.answer is None or one.score is None:
            return
        number = len(self._samples)
        self._samples.append(one.sample.id)
        self._scores.append(one.score)
        self._originals.append(one.answer, one.sample, one.score)
        # In a fixed order, because verdicts come in the order of the suite, and ties must not depend on it.
        ordered = sorted(one.scored("preserving"), key=lambda p: (p.transform, p.variant))
        worst = _worst(one, ordered, better=self._task.better)
        self._worst.append(*worst)
        # Not applied pairs are no round of their own: the original answer stands for them.
        for pair in ordered:
            key = (pair.transform, pair.variant)
            if key not in self._rounds:
                self._rounds[key] = _Round(_parts(self._task))
            reached = self._rounds[key]
            if pair.answer is not None and (not reached.places or reached.places[-1] != number):
                reached.places.append(number)
                reached.parts.append(pair.answer, pair.sample, pair.score)
        if isinstance(self._task, GivesPartialCredit):
            self._texts.append(((one.answer, one.sample), worst[:2]))

    def score(self) -> Score:
        """The scores of all that was added, in the order of the samples' ids."""
        task, better = self._task, self._task.better
        block = Score(name=task.score_name, better=better)
        if not self._samples:
            return block
        order = sorted(range(len(self._samples)), key=self._samples.__getitem__)
        rounds = [self._rounds[key] for key in sorted(self._rounds)]
        original = _finite(self._originals.whole(order))
        reached = [_finite(self._originals.whole(order, each)) for each in rounds]
        worst_sample = _finite(self._worst.whole(order)) if rounds else None
        worst_round = _extreme([value for value in reached if value is not None], better)
        credit = task if isinstance(task, GivesPartialCredit) else None
        return replace(
            block,
            original=original,
            macro=_mean(self._scores),
            attack_worst_sample=worst_sample,
            attack_worst_round=worst_round,
            drop=_loss(original, worst_sample, better),
            drop_worst_round=_loss(original, worst_round, better),
            rounds=len(rounds),
            scored=len(self._samples),
            likeness=credit.likeness([self._texts[n][0] for n in order]) if credit else {},
            attack_likeness=credit.likeness([self._texts[n][1] for n in order]) if credit and rounds else {},
        )


class _Parts(Protocol):
    """What answers add to the score of a corpus (`Task.part`)."""

    def append(self, answer: Answer, sample: Sample, score: float | None) -> None:
        """Add an answer with its own score."""
        ...

    def whole(self, order: Sequence[int], reached: "_Round | None" = None) -> float | None:
        """The score over the answers in this order; those of a round in the place of the original ones."""
        ...


@dataclass(slots=True)
class _Round:
    """The answers to one variant of one transform."""

    parts: _Parts
    places: "array[int]" = field(default_factory=lambda: array("Q"))
    """The number of the sample of each answer."""


def _parts(task: Task) -> _Parts:
    # A task with a score of its own needs answers and samples.
    own = type(task).corpus_score is not Task.corpus_score
    return _AnswerParts(task) if own else _NumberParts(task)


@dataclass(slots=True)
class _NumberParts:
    """Parts as columns of numbers."""

    task: Task
    counted: bytearray = field(default_factory=bytearray)
    columns: "list[array[float]]" = field(default_factory=list)

    def append(self, answer: Answer, sample: Sample, score: float | None) -> None:
        # The part of most tasks is the score itself, which is here already.
        own = type(self.task).part is not Task.part
        found = self.task.part(answer, sample) if own else None if score is None else (score,)
        if found is not None and not self.columns:
            self.columns = [array("d", bytes(8 * len(self.counted))) for _ in found]
        self.counted.append(found is not None)
        for number, column in enumerate(self.columns):
            column.append(0.0 if found is None else found[number])

    def whole(self, order: Sequence[int], reached: _Round | None = None) -> float | None:
        import numpy as np

        replaced = reached.parts if reached is not None else None
        assert replaced is None or isinstance(replaced, _NumberParts)
        width = max(len(self.columns), len(replaced.columns) if replaced else 0)
        table = self._table(width)
        if reached is not None and replaced is not None:
            table[:, np.frombuffer(reached.places, dtype=np.uint64).astype(int)] = replaced._table(width)
        table = table[:, np.asarray(order)]
        table = table[1:, table[0] > 0]
        # As lists, because the sums of Python and of numpy differ in the last digits.
        return self.task.whole(table.tolist()) if table.shape[1] else None

    def _table(self, width: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
        """A row that says which answers count, and the columns."""
        import numpy as np

        rows = [np.frombuffer(self.counted, dtype=np.uint8).astype(float)]
        rows += [np.array(column) for column in self.columns]
        rows += [np.zeros(len(self.counted)) for _ in range(width - len(self.columns))]
        return np.stack(rows)


@dataclass(slots=True)
class _AnswerParts:
    """Parts as they are."""

    task: Task
    answers: list[tuple[Answer, Sample]] = field(default_factory=list)

    def append(self, answer: Answer, sample: Sample, score: float | None) -> None:
        self.answers.append((answer, sample))

    def whole(self, order: Sequence[int], reached: _Round | None = None) -> float | None:
        chosen = list(self.answers)
        if reached is not None:
            assert isinstance(reached.parts, _AnswerParts)
            for place, answer in zip(reached.places, reached.parts.answers, strict=True):
                chosen[place] = answer
        return self.task.corpus_score([chosen[n] for n in order])


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


def _worst(one: Observation, pairs: Sequence[Pair], better: Better) -> tuple[Answer, Sample, float]:
    """The answer with the worst score of its own, the sample whose label it is scored against, and the
    score."""
    # With the sign of the direction the worst candidate is always the smallest.
    sign = 1 if better == "higher" else -1
    candidates = [
        (one.answer, one.sample, one.score),
        *((pair.answer, pair.sample, pair.score) for pair in pairs),
    ]
    scored = [
        ((answer, sample, value), sign * value)
        for answer, sample, value in candidates
        if answer is not None and value is not None
    ]
    # `min` takes the first of equal ones: the original before any variant.
    return min(scored, key=lambda candidate: candidate[1])[0]


def _finite(value: float | None) -> float | None:
    """A corpus score may be infinite or NaN; a summary holds finite numbers only."""
    return value if value is not None and isfinite(value) else None


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

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

*Drop beyond noise*: the worst of several noisy answers is worse than one of them though no edit did anything.
So the worst of a sample's original and its first variants is compared with the worst of its original and as
many repeats. Without an effect both have the same distribution.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Final, Protocol

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair
from codeaudit.reports.records import Better, Excess, Score
from codeaudit.reports.statistics.excess import flips
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import overrides

if TYPE_CHECKING:
    import numpy as np

AVERAGED: Final = (
    "original",
    "macro",
    "attack_worst_sample",
    "attack_worst_round",
    "drop",
    "drop_worst_round",
    "repeat_worst_sample",
)
"""Fields of a score that are averaged over trials."""

RESAMPLED: Final = 400_000
"""Number of answers in all draws of a bootstrap."""
LEAST: Final = 200
MOST: Final = 1_000
"""The least and the largest number of draws."""
STEPS: Final = 50
"""Sizes of differences of scores that the test by sign flips tells apart, so that its time is bounded."""


def score(observations: Iterable[Observation], task: Task, *, steady: bool = False, seed: int = 0) -> Score:
    """Compute the scores of one model in one trial, before and under attack."""
    tally = ScoreTally(task)
    for observation in observations:
        tally.add(observation)
    return tally.score(steady=steady, seed=seed)


class ScoreTally:
    """The parts of the scores of one model in one trial."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._samples: list[str] = []
        self._scores = array("d")
        self._originals, self._worst = _parts(task), _parts(task)
        # The worst of the first variants, and of as many repeats.
        self._few, self._again = _parts(task), _parts(task)
        self._worst_scores, self._few_scores, self._again_scores = array("d"), array("d"), array("d")
        self._repeated = False
        self._rounds: dict[tuple[str, int], _Round] = {}
        # With partial credit the texts themselves are compared.
        self._texts: list[tuple[tuple[Answer, Sample], tuple[Answer, Sample]]] = []

    def add(self, observation: Observation) -> None:
        """Add an observation of the plain draw."""
        # Samples without a label or an answer are in no score, neither before nor under attack, so that the
        # drop compares the same samples.
        if observation.answer is None or observation.score is None:
            return
        number = len(self._samples)
        self._samples.append(observation.sample.id)
        self._scores.append(observation.score)
        self._originals.append(observation.answer, observation.sample, observation.score)
        # In a fixed order, because verdicts come in the order of the suite, and ties must not depend on it.
        ordered = sorted(observation.scored("preserving"), key=lambda p: (p.transform, p.variant))
        worst = _worst(observation, ordered, better=self._task.better)
        self._worst.append(*worst)
        self._worst_scores.append(worst[2])
        self._add_repeats(observation, ordered)
        # Not applied pairs are no round of their own: the original answer stands for them.
        for pair in ordered:
            key = (pair.transform, pair.variant)
            if key not in self._rounds:
                self._rounds[key] = _Round(_parts(self._task))
            reached = self._rounds[key]
            if pair.answer is not None and (not reached.places or reached.places[-1] != number):
                reached.places.append(number)
                reached.parts.append(pair.answer, pair.sample, pair.score)
        if overrides(self._task, Task.likeness):
            self._texts.append(((observation.answer, observation.sample), worst[:2]))

    def _add_repeats(self, observation: Observation, pairs: Sequence[Pair]) -> None:
        repeats = sorted(observation.scored("identity"), key=lambda pair: pair.variant)
        self._repeated = self._repeated or bool(repeats)
        most = min(len(pairs), len(repeats))
        # By variant first: of several transforms the first variants.
        first = sorted(pairs, key=lambda pair: (pair.variant, pair.transform))[:most]
        for parts, scores, chosen in (
            (self._few, self._few_scores, first),
            (self._again, self._again_scores, repeats[:most]),
        ):
            worst = _worst(observation, chosen, better=self._task.better)
            parts.append(*worst)
            scores.append(worst[2])

    def score(self, *, steady: bool = False, seed: int = 0) -> Score:
        """The scores of all that was added, in the order of the samples' ids.

        The noise of a `steady` model counts as zero: all variants are compared with the original. `seed` is
        that of the resampling.
        """
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
        texts = self._texts
        again, beyond = self._beyond_noise(order, steady=steady, seed=seed) if rounds else (None, Excess())
        return replace(
            block,
            original=original,
            macro=_mean(self._scores),
            attack_worst_sample=worst_sample,
            attack_worst_round=worst_round,
            drop=_loss(original, worst_sample, better),
            drop_worst_round=_loss(original, worst_round, better),
            repeat_worst_sample=again,
            drop_excess=beyond,
            rounds=len(rounds),
            scored=len(self._samples),
            likeness=task.likeness([texts[n][0] for n in order]) if texts else {},
            attack_likeness=task.likeness([texts[n][1] for n in order]) if texts and rounds else {},
        )

    def _beyond_noise(self, order: Sequence[int], *, steady: bool, seed: int) -> tuple[float | None, Excess]:
        """The score of the repeats' worst answers, and what the variants' worst answers lose against it."""
        if not self._repeated:
            return None, Excess()
        after, before = (self._worst, self._originals) if steady else (self._few, self._again)
        sides = (self._worst_scores, self._scores) if steady else (self._few_scores, self._again_scores)
        better, again = self._task.better, _finite(before.whole(order))
        lost = _loss(again, _finite(after.whole(order)), better)
        if lost is None:
            return again, Excess()
        ends = _bootstrap(before, after, order, better, seed=seed)
        sign = 1 if better == "higher" else -1
        return again, Excess(
            points=lost,
            low=None if ends is None else min(ends[0], lost),
            high=None if ends is None else max(ends[1], lost),
            p=flips(in_steps([sign * (other - one) for one, other in zip(*sides, strict=True)])),
            samples=len(order),
            interval=None if ends is None else "bootstrap",
        )


def in_steps(differences: Iterable[float], steps: int = STEPS) -> list[Fraction]:
    """The differences as shares of the largest one, rounded to so many steps.

    Rounding keeps a test by sign flips exact, because it is the same for both signs. Sorted.
    """
    finite = sorted(difference for difference in differences if isfinite(difference))
    largest = max(map(abs, finite), default=0.0)
    return [
        Fraction(round(difference / largest * steps), steps) if largest else Fraction(0)
        for difference in finite
    ]


def _bootstrap(
    before: "_Parts", after: "_Parts", order: Sequence[int], better: Better, *, seed: int
) -> tuple[float, float] | None:
    """The ends of the 95 % interval of the loss; both scores are of the same drawn samples."""
    import numpy as np

    # A score that is no function of numbers is slow.
    most = LEAST if isinstance(before, _AnswerParts) else MOST
    draws = max(LEAST, min(most, RESAMPLED // len(order)))
    places = np.random.default_rng(seed).integers(len(order), size=(draws, len(order)))
    chosen = np.asarray(order)[places]
    lost = [_loss(_finite(before.whole(row)), _finite(after.whole(row)), better) for row in chosen.tolist()]
    losses = [loss for loss in lost if loss is not None]
    if not losses:
        return None
    low, high = np.quantile(losses, [0.025, 0.975])
    return float(low), float(high)


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
        parts = self.task.part(answer, sample) if own else None if score is None else (score,)
        if parts is not None and not self.columns:
            self.columns = [array("d", bytes(8 * len(self.counted))) for _ in parts]
        self.counted.append(parts is not None)
        for number, column in enumerate(self.columns):
            column.append(0.0 if parts is None else parts[number])

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
        drop_excess=_mean_excess([block.drop_excess for block in blocks]),
        scored=sum(block.scored for block in blocks),
        likeness=_means([block.likeness for block in blocks]),
        attack_likeness=_means([block.attack_likeness for block in blocks]),
    )


def _mean_excess(excesses: Sequence[Excess]) -> Excess:
    """The mean over trials. They may share samples, so the interval is not narrower than that of one trial,
    and p is twice the mean, which holds however the trials depend on each other.
    """
    present = [excess for excess in excesses if excess.points is not None]
    p = _mean(excess.p for excess in present)
    return Excess(
        points=_mean(excess.points for excess in present),
        low=_mean(excess.low for excess in present),
        high=_mean(excess.high for excess in present),
        p=None if p is None else min(1.0, 2 * p),
        samples=max((excess.samples for excess in present), default=0),
        interval=present[0].interval if present else None,
    )


def _worst(observation: Observation, pairs: Sequence[Pair], better: Better) -> tuple[Answer, Sample, float]:
    """The answer with the worst score of its own, the sample whose label it is scored against, and the
    score."""
    # With the sign of the direction the worst candidate is always the smallest.
    sign = 1 if better == "higher" else -1
    candidates = [
        (observation.answer, observation.sample, observation.score),
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

"""The numbers that `summarise` keeps of audited samples, in arrays.

Memory grows by some bytes for each sample and transform. No source and no answer is kept, except for tasks
that need them: those whose score of a corpus is no sum (`Task.corpus_score` is their own), those with partial
credit, and those with attempts.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit.interface import CLOSED, Task
from codeaudit.audit.records import Answer
from codeaudit.reports.observations import Observation, Pair, judged_by
from codeaudit.reports.records import Agreement, Estimate, Rate, Score, Sides
from codeaudit.reports.scores import ScoreTally
from codeaudit.reports.shared_inputs import SharedInputs, input_key
from codeaudit.reports.statistics.agreement import accuracy, chance, correlation, macro_f1
from codeaudit.reports.statistics.calibration import ScoredAnswers
from codeaudit.reports.statistics.distances import Draws, numbered
from codeaudit.reports.statistics.intervals import mean_share, rate_of
from codeaudit.reports.statistics.shuffles import Table, tabled
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.records import Kind, Sample
from codeaudit.transforms.registration import overrides
from codeaudit.transforms.registry import PLUG_INS, entry_of, in_relation

Numbers: TypeAlias = Mapping[str, int]
"""The number of each sample, by its id."""


class ClusterRow(NamedTuple):
    """The numbers of some judged variants of an observation, and of its repeats."""

    sample: int
    changed: int
    """Number of variants with another answer than the first one."""
    judged: int
    """Number of variants."""
    repeats: int = 0
    across: int = 0
    """Number of pairs (original, variant) of answers that differ; the originals are the first answer and the
    repeats."""
    within: int = 0
    """Number of pairs of originals that differ."""
    violated: bool = False
    """Whether some of as many variants as repeats has another answer than the first one; of all variants
    without a repeat."""
    unsteady: bool = False
    """Whether some of as many repeats as variants has."""
    table: Table = ()
    """Its answers, for the test of the pair excess; empty if others than equal answers count as the same."""


@dataclass(slots=True)
class Clusters:
    """One row for each observation that has a judged pair."""

    samples: "array[int]" = field(default_factory=lambda: array("Q"))
    changed: "array[int]" = field(default_factory=lambda: array("Q"))
    judged: "array[int]" = field(default_factory=lambda: array("Q"))
    repeats: "array[int]" = field(default_factory=lambda: array("I"))
    across: "array[int]" = field(default_factory=lambda: array("I"))
    within: "array[int]" = field(default_factory=lambda: array("I"))
    violated: bytearray = field(default_factory=bytearray)
    unsteady: bytearray = field(default_factory=bytearray)
    tables: list[Table] = field(default_factory=list)
    """Few different ones, each of which is kept once."""

    def add(self, row: ClusterRow) -> None:
        """Add the numbers of an observation."""
        if row.judged:
            self.samples.append(row.sample)
            self.changed.append(row.changed)
            self.judged.append(row.judged)
            self.repeats.append(row.repeats)
            self.across.append(row.across)
            self.within.append(row.within)
            self.violated.append(row.violated)
            self.unsteady.append(row.unsteady)
            self.tables.append(_kept_once(row.table))

    def rows(self) -> Iterator[ClusterRow]:
        """All rows."""
        return map(
            ClusterRow,
            self.samples,
            self.changed,
            self.judged,
            self.repeats,
            self.across,
            self.within,
            map(bool, self.violated),
            map(bool, self.unsteady),
            self.tables,
        )


@dataclass(slots=True)
class Shifts:
    """For each observation with a known shift of probability, the sum over its variants and their number."""

    samples: "array[int]" = field(default_factory=lambda: array("Q"))
    sums: "array[float]" = field(default_factory=lambda: array("d"))
    counts: "array[int]" = field(default_factory=lambda: array("I"))

    def add(self, sample: int, values: Sequence[float]) -> None:
        """Add the shifts of an observation."""
        if values:
            self.samples.append(sample)
            self.sums.append(sum(values))
            self.counts.append(len(values))


def mean_shift(shifts: Iterable[Shifts], *, seed: int) -> Estimate:
    """The mean over samples of the mean shift of each."""
    sums: defaultdict[int, float] = defaultdict(float)
    counts = Counter[int]()
    for shift in shifts:
        for sample, value, count in zip(shift.samples, shift.sums, shift.counts, strict=True):
            sums[sample] += value
            counts[sample] += count
    return mean_share([sums[sample] / counts[sample] for sample in sorted(counts)], seed=seed)


@lru_cache(maxsize=4096)
def _kept_once(table: Table) -> Table:
    return table


def row_of(
    observation: Observation,
    number: int,
    pairs: Iterable[Pair],
    repeats: Sequence[Pair],
    *,
    by_equality: bool,
) -> ClusterRow:
    """The numbers of some judged variants of an observation, in any order, and of its judged repeats.

    `by_equality`: whether answers count as the same only if they are equal.
    """
    # By variant first, so that of several transforms the first variants come first; by name, so that the
    # order of the records does not matter.
    ordered = sorted(pairs, key=lambda pair: (pair.variant, pair.transform))
    changed, again = ([bool(pair.changed) for pair in group] for group in (ordered, repeats))
    moved = [bool(pair.changed if pair.moved is None else pair.moved) for pair in ordered]
    most = min(len(changed), len(again))
    return ClusterRow(
        sample=number,
        changed=sum(changed),
        judged=len(changed),
        repeats=len(again),
        across=sum(moved) + sum(pair.apart for pair in ordered),
        within=observation.within,
        violated=any(moved[:most] if again else changed),
        unsteady=any(again[:most]),
        table=_table(observation, ordered, repeats) if by_equality else (),
    )


def _table(observation: Observation, pairs: Sequence[Pair], repeats: Sequence[Pair]) -> Table:
    originals = [observation.answer, *(pair.answer for pair in repeats)]
    if len(originals) < 2:
        # It counts only of a model whose noise counts as zero, which would answer the same.
        originals.append(observation.answer)
    return tuple(sorted(tabled(originals, [pair.answer for pair in pairs])))


def clustered(tables: Iterable[Clusters], *, seed: int, movable: bool = False) -> Rate:
    """Return the rate over samples; each is one cluster, with the sums over its observations.

    With `movable`, an observation counts once: as changed if any of its pairs is.
    """
    import numpy as np

    every = [table for table in tables if table.samples]
    if not every:
        return rate_of(Counter(), seed=seed)
    samples, changed, judged = (
        np.concatenate([np.frombuffer(getattr(table, name), dtype=np.uint64) for table in every]).astype(int)
        for name in ("samples", "changed", "judged")
    )
    if movable:
        changed, judged = np.minimum(changed, 1), np.ones_like(judged)
    # The sums are exact: floats hold all whole numbers up to 2**53.
    sums = [np.bincount(samples, weights=counts).astype(int) for counts in (changed, judged)]
    pairs, times = np.unique(np.stack(sums, axis=1), axis=0, return_counts=True)
    kinds = {
        (int(count), int(total)): int(number)
        for (count, total), number in zip(pairs, times, strict=True)
        if total
    }
    return rate_of(Counter(kinds), seed=seed)


@dataclass(slots=True)
class TransformDigest:
    """What is counted of one transform."""

    applied: int = 0
    unjudged: int = 0
    not_applied: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    max_deviation: float = 0.0
    extra: set[int] = field(default_factory=set)
    """The samples drawn in addition."""
    draws: list[Draws] = field(default_factory=list)
    """The draws of a sampled model for each sample."""
    drops: list[Fraction] = field(default_factory=list)
    """By how much the mean score of the draws is worse, for each sample with a label."""

    def add(self, other: "TransformDigest") -> None:
        """Add the counts of another trial."""
        self.applied += other.applied
        self.unjudged += other.unjudged
        self.not_applied += other.not_applied
        self.evidence += other.evidence
        self.max_deviation = max(self.max_deviation, other.max_deviation)
        self.extra |= other.extra
        self.draws += other.draws
        self.drops += other.drops


FINE: Final = 10**6
"""The largest denominator of a score."""
LONGEST: Final = 200
"""Characters that are kept of the commonest answer."""


KEPT: Final = 1_000
"""Texts that are kept though they came once."""


class Commonest:
    """Counts texts, with the text of each kept only as long as it may be the commonest."""

    def __init__(self) -> None:
        self.counts = Counter[int]()
        self._texts: dict[int, str] = {}

    def add(self, text: str) -> None:
        """Count a text."""
        key = hash(text)
        self.counts[key] += 1
        # Of many texts one that came once is not the commonest.
        if self.counts[key] == 2 or (self.counts[key] == 1 and len(self._texts) < KEPT):
            self._texts[key] = text[:LONGEST]

    def most(self) -> tuple[str, int]:
        """The commonest text and its number; of equally common ones the first by the alphabet."""
        if not self._texts:
            return "", 0
        key = min(self._texts, key=lambda key: (-self.counts[key], self._texts[key]))
        return self._texts[key], self.counts[key]

    def join(self, other: "Commonest") -> None:
        """Count the texts of another trial."""
        self.counts += other.counts
        self._texts |= other._texts


class Agreements:
    """Answers to originals, and how they go with the labels."""

    def __init__(self, task: Task) -> None:
        self._closed = isinstance(task.answers, CLOSED)
        self._answers, self._labels = Commonest(), Commonest()
        self._classes = Counter[tuple[str, str]]()

    def add(self, answer: Answer, label: object) -> None:
        """Count an answer; a label of `None` is none."""
        text = as_text(answer)
        self._answers.add(text)
        if label is not None:
            self._labels.add(as_text(label))
            if self._closed:
                self._classes[as_text(label), text] += 1

    def join(self, other: "Agreements") -> None:
        """Count those of another trial."""
        self._answers.join(other._answers)
        self._labels.join(other._labels)
        self._classes += other._classes

    def agreement(self) -> Agreement:
        """All that was counted."""
        commonest, number = self._answers.most()
        classes: dict[str, dict[str, int]] = {}
        for (label, answer), count in sorted(self._classes.items()):
            classes.setdefault(label, {})[answer] = count
        return Agreement(
            answers=self._answers.counts.total(),
            commonest=commonest,
            commonest_answers=number,
            labels=self._labels.counts.total(),
            commonest_labels=self._labels.most()[1],
            classes=classes,
            accuracy=accuracy(classes) if classes else None,
            macro_f1=macro_f1(classes) if classes else None,
            mcc=correlation(classes) if classes else None,
            p=chance(classes) if classes else None,
        )


def as_text(answer: object) -> str:
    """An answer or a label as one text: the subtokens of a name with blanks between them."""
    return " ".join(map(str, answer)) if isinstance(answer, tuple | list) else str(answer)


class TrialDigest:
    """What is counted of one model in one trial, sample by sample."""

    def __init__(self, task: Task) -> None:
        self.plain, self.extra = set[int](), set[int]()
        """The samples of the plain draw, and those drawn in addition of which a variant was made."""
        self.failures = set[tuple[int, str]]()
        self.reasons = Counter[str]()
        self.deviation: dict[Kind, float] = {}
        self.transforms: defaultdict[str, TransformDigest] = defaultdict(TransformDigest)
        self.tried = set[tuple[Kind, str]]()
        """The transforms that made or did not make a variant."""
        self.asked: defaultdict[Kind, set[str]] = defaultdict(set)
        """The transforms with a variant, by kind."""
        self.asked_answered: defaultdict[Kind, set[str]] = defaultdict(set)
        """The same on samples whose original was answered."""
        self.clusters: defaultdict[tuple[Kind, str | None, bool], Clusters] = defaultdict(Clusters)
        """By kind, transform (`None` for all) and whether the samples were drawn in addition."""
        self.shifts: defaultdict[tuple[Kind, str | None, bool], Shifts] = defaultdict(Shifts)
        """As `clusters`."""
        self.families: defaultdict[str, Clusters] = defaultdict(Clusters)
        """By family of meaning-keeping transforms, of the plain draw."""
        self.parts: defaultdict[tuple[str, str | None, bool], Clusters] = defaultdict(Clusters)
        """Of meaning-keeping transforms, first by `missed`, `raised` or `unmarked` (some of the samples or
        edits, for a task with a finding) or by a rule of `Task.criteria` (all, judged by it); then as
        `clusters`."""
        self.languages: defaultdict[tuple[str, Kind, bool], Clusters] = defaultdict(Clusters)
        """Over all transforms of a kind, by language; then as `clusters`."""
        self.answered: defaultdict[str, set[int]] = defaultdict(set)
        """The numbers of the samples of the plain draw that got an answer, by language."""
        self.marked = Counter[str | None]()
        """Judged pairs whose edit touches the fix, by transform; `None` for all of the plain draw."""
        self.sides: dict[int, dict[bool, bool]] = {}
        """For each pair of sides of a fix: whether the original is called the finding, by whether it is."""
        self.whole = Clusters()
        """All samples of the plain draw, those included that no transform changed."""
        self.scores = ScoreTally(task)
        self.agreements = Agreements(task)
        self.problems: list[Observation] = []
        """The observations of the plain draw, for a task with attempts."""
        self._family: dict[str, str] = {}
        self._repeats = 0
        self._attempts = overrides(task, Task.attempts)
        self._task = task
        self._by_equality = type(task).same is Task.same and type(task).holds is Task.holds
        self.scored = ScoredAnswers()
        """Answers to judged variants, for a task whose edits decide what is right."""
        self.draws = 0
        """The largest number of draws of an answer; 0 unless the model is sampled."""

    def add(self, observation: Observation, number: int) -> None:
        """Count an observation of the sample with this number."""
        self._add_sample(observation, number)
        self._repeats = max(self._repeats, sum(pair.kind == "identity" for pair in observation.pairs))
        for pair in observation.pairs:
            self._add_pair(pair, observation, number)
        for gap in observation.missing:
            self.tried.add((gap.kind, gap.transform))
            if not observation.extra:
                self.transforms[gap.transform].not_applied[gap.reason] += 1
        # Without an answer to the original there is nothing to compare a variant with.
        if observation.answer is not None:
            self._add_changes(observation, number)

    def _add_sample(self, observation: Observation, number: int) -> None:
        if not observation.extra:
            self.plain.add(number)
            if observation.failure:
                self.failures.add((number, observation.failure))
            self.scores.add(observation)
            if observation.answer is not None:
                self.answered[observation.sample.language].add(number)
                self.agreements.add(observation.answer, observation.sample.label)
                self._add_side(observation)
            if self._attempts:
                self.problems.append(observation)
        elif observation.pairs:
            self.extra.add(number)

    def _add_pair(self, pair: Pair, observation: Observation, number: int) -> None:
        self.tried.add((pair.kind, pair.transform))
        self.asked[pair.kind].add(pair.transform)
        counts = self.transforms[pair.transform]
        counts.max_deviation = max(counts.max_deviation, pair.deviation)
        if observation.extra:
            counts.extra.add(number)
        else:
            counts.applied += 1
            counts.evidence[pair.evidence] += 1
        if self._task.edits_decide and pair.changed is not None and None not in (pair.sure, pair.score):
            self.scored.add(pair.sure, pair.score)  # type: ignore[arg-type]
        if pair.changed is None:
            counts.unjudged += 1
            self.reasons[pair.reason] += 1
        else:
            self.deviation[pair.kind] = max(self.deviation.get(pair.kind, 0.0), pair.deviation)

    def _add_changes(self, observation: Observation, number: int) -> None:
        groups: dict[tuple[Kind, str | None], list[Pair]] = {}
        for pair in observation.pairs:
            self.asked_answered[pair.kind].add(pair.transform)
            if pair.changed is not None:
                for name in (None, pair.transform):
                    groups.setdefault((pair.kind, name), []).append(pair)
        row = partial(
            row_of, observation, number, repeats=observation.repeats(), by_equality=self._by_equality
        )
        for (kind, name), pairs in groups.items():
            self.clusters[kind, name, observation.extra].add(row(pairs))
            if name is None:
                self.languages[observation.sample.language, kind, observation.extra].add(row(pairs))
            shifts = [pair.shift for pair in pairs if pair.shift is not None]
            if shifts:
                self.shifts[kind, name, observation.extra].add(number, shifts)
            if kind == "preserving" and self._task.finding:
                self._add_parts(observation, name, pairs, row)
            if kind == "preserving" and name is None:
                self._add_criteria(observation, number)
            if name is not None and kind != "identity" and observation.draws:
                self._add_draws(observation, self.transforms[name], pairs)
        if not observation.extra:
            preserving = groups.get(("preserving", None), [])
            self._add_families(preserving, row)
            exists = any(pair.kind == "preserving" for pair in observation.pairs)
            # A sample that every transform left as it is was tried: no edit could change its answer.
            immovable = not exists and any(gap.kind == "preserving" for gap in observation.missing)
            changed = any(pair.changed for pair in preserving)
            self.whole.add(ClusterRow(number, int(changed), int(bool(preserving) or immovable)))

    def _add_parts(
        self,
        observation: Observation,
        name: str | None,
        pairs: Sequence[Pair],
        row: Callable[[Iterable[Pair]], ClusterRow],
    ) -> None:
        detected, label = observation.answer == self._task.finding, observation.sample.label
        # A wrong answer that an edit turns into the right one is no missed flaw and no false alarm.
        if label is None or (label == self._task.finding) == detected:
            self.parts["missed" if detected else "raised", name, observation.extra].add(row(pairs))
        self.parts["unmarked", name, observation.extra].add(row([pair for pair in pairs if not pair.marked]))
        if name is not None or not observation.extra:
            self.marked[name] += sum(pair.marked for pair in pairs)

    def _add_criteria(self, observation: Observation, number: int) -> None:
        for name, same in self._task.criteria.items():
            judged = judged_by(observation, same)
            row = row_of(judged, number, judged.judged("preserving"), judged.repeats(), by_equality=False)
            self.parts[name, None, observation.extra].add(row)

    def _add_side(self, observation: Observation) -> None:
        finding, sample = self._task.finding, observation.sample
        if finding and sample.other_side and sample.label is not None:
            key = hash(tuple(sorted((sample.source, sample.other_side))))
            self.sides.setdefault(key, {})[sample.label == finding] = observation.answer == finding

    def _add_draws(self, observation: Observation, counts: TransformDigest, pairs: Sequence[Pair]) -> None:
        ordered = sorted(pairs, key=lambda pair: pair.variant)
        if draws := numbered(observation.draws, [pair.draws for pair in ordered]):
            counts.draws.append(draws)
            self.draws = max(self.draws, len(observation.draws))
        before = self._mean_score(observation.draws, observation.sample)
        after = [self._mean_score(pair.draws, pair.sample) for pair in ordered]
        scores = [score for score in after if score is not None]
        if before is not None and scores:
            sign = 1 if self._task.better == "higher" else -1
            counts.drops.append(sign * (before - sum(scores, Fraction(0)) / len(scores)))

    def _mean_score(self, draws: Sequence[Answer], sample: Sample) -> Fraction | None:
        """The mean score of draws; `None` without a label."""
        scores = [self._task.score(answer, sample) for answer in draws]
        known = [Fraction(score).limit_denominator(FINE) for score in scores if score is not None]
        return sum(known, Fraction(0)) / len(known) if known else None

    def _add_families(self, pairs: Iterable[Pair], row: Callable[[Iterable[Pair]], ClusterRow]) -> None:
        by_family: dict[str, list[Pair]] = {}
        for pair in pairs:
            if pair.transform not in self._family:
                self._family[pair.transform] = family_of(pair.transform)
            by_family.setdefault(self._family[pair.transform], []).append(pair)
        for name, group in by_family.items():
            self.families[name].add(row(group))

    @property
    def most_repeats(self) -> int:
        """The largest number of repeats of a sample, judged or not."""
        return self._repeats

    def score(self, *, steady: bool, seed: int) -> Score:
        """The scores of the trial; see `ScoreTally.score`."""
        return self.scores.score(steady=steady, seed=seed)


class RunDigest:
    """What is counted of a run: by model, then by the seed of the trial."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._numbers: dict[str, int] = {}
        self.trials: dict[str, dict[int, TrialDigest]] = {}
        self.inputs = SharedInputs()

    def add(self, observation: Observation) -> None:
        """Count an observation."""
        number = self._numbers.setdefault(observation.sample.id, len(self._numbers))
        by_seed = self.trials.setdefault(observation.model, {})
        # Also a model without any verdict has its place in the order.
        self.inputs.models.setdefault(observation.model)
        if observation.seed not in by_seed:
            by_seed[observation.seed] = TrialDigest(self._task)
        by_seed[observation.seed].add(observation, number)
        for pair in observation.pairs:
            if pair.changed is not None:
                self.inputs.add(
                    observation.model,
                    pair.kind,
                    observation.sample.id,
                    input_key(pair.kind, pair.transform, pair.input, pair.variant),
                    violated=pair.changed,
                    variant=pair.variant,
                    part=(observation.seed, observation.extra),
                )

    def of(self, model: str, seed: int) -> dict[int, TrialDigest]:
        """The trials of a model; an empty one with this seed if it has no record."""
        return self.trials.get(model) or {seed: TrialDigest(self._task)}


def family_of(transform: str) -> str:
    """The family of a transform; that of all plug-ins for one that is not installed here."""
    try:
        return entry_of(in_relation(transform)[1]).family
    except (UsageError, CannotAudit):
        return PLUG_INS


def asked_once(trials: Iterable[Mapping[Kind, set[str]]], kind: Kind) -> bool:
    """Whether exactly one transform of this kind made a variant."""
    return len(set[str]().union(*(trial.get(kind, set()) for trial in trials))) == 1


def sides_of(trials: Iterable[TrialDigest]) -> Sides:
    """The pairs of all trials of which both sides were answered."""
    both = [pair for trial in trials for pair in trial.sides.values() if len(pair) > 1]
    counts = Counter((pair[True], pair[False]) for pair in both)
    return Sides(
        correct=counts[True, False],
        both_found=counts[True, True],
        both_missed=counts[False, False],
        reversed=counts[False, True],
    )


def pooled_part(trials: Iterable[TrialDigest], part: str) -> Iterator[Clusters]:
    """The clusters of a rate over some of the samples or edits (`TrialDigest.parts`)."""
    every = list(trials)
    once = asked_once((trial.asked_answered for trial in every), "preserving")
    for trial in every:
        for extra in (False, True) if once else (False,):
            if (part, None, extra) in trial.parts:
                yield trial.parts[part, None, extra]


def pooled(trials: Iterable[TrialDigest], kind: Kind) -> Iterator[Clusters]:
    """The clusters of a rate over all transforms of a kind.

    A sample that was drawn for one transform is not asked under the others. Among several transforms it
    would give that one more weight, and the rate would depend on how many samples were drawn.
    """
    for trial, extra in _pooled(trials, kind):
        if (kind, None, extra) in trial.clusters:
            yield trial.clusters[kind, None, extra]


def pooled_language(trials: Iterable[TrialDigest], language: str, kind: Kind) -> Iterator[Clusters]:
    """As `pooled`, over the samples of one language."""
    for trial, extra in _pooled(trials, kind):
        if (language, kind, extra) in trial.languages:
            yield trial.languages[language, kind, extra]


def pooled_shifts(trials: Iterable[TrialDigest], kind: Kind) -> Iterator[Shifts]:
    """The shifts over all transforms of a kind."""
    for trial, extra in _pooled(trials, kind):
        if (kind, None, extra) in trial.shifts:
            yield trial.shifts[kind, None, extra]


def _pooled(trials: Iterable[TrialDigest], kind: Kind) -> Iterator[tuple[TrialDigest, bool]]:
    every = list(trials)
    once = asked_once((trial.asked_answered for trial in every), kind)
    yield from ((trial, extra) for trial in every for extra in ((False, True) if once else (False,)))

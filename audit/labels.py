"""Sources of labels: where the right answers for samples come from, and those for their variants.

`labels` chooses a source for a task. By default it is the corpus or a column of a table
(`GivenLabels`). A task with another source names it in `Task.labels`:

- `codeaudit.audit.tasks.throughput.cost_labels`: llvm-mca measures blocks.
- `prompt_labels`: the label is in the code behind the shown part (`PromptLabels`).
- `codeaudit.audit.tasks.output_prediction.call_results`: execution of a call.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeGuard

from typing_extensions import override

from codeaudit.audit.corpora.hub import HubTable
from codeaudit.audit.corpora.records import Corpus, CorpusAround, LabelColumn, LeftOut, Note, Prepare
from codeaudit.audit.corpora.tables import Table
from codeaudit.audit.interface import (
    CLOSED,
    NO_LABELS,
    LabelRequest,
    LabelSource,
    OneLabel,
    Task,
    TextLikelihood,
    as_label,
)
from codeaudit.audit.records import Case, brief
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.records import Outcome, Perturbed, Sample
from codeaudit.transforms.registration import overrides

SANDBOX: Final = "sandbox"
"""The tool of labels that execution gives."""
MCA: Final = "llvm-mca"
SYNTAX: Final = f"{MCA}[:PROCESSOR], COLUMN[/DIVISOR] of a table, or {NO_LABELS}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabels(LabelSource):
    """Labels that exist before the run: the corpus's own, or those in a column of a table."""

    column: LabelColumn | None = None
    """`None`: the corpus's own labels."""
    costs: bool = False
    """Whether a label is a cost. A variant in another order may have another cost, so its label is
    dropped."""
    found: bool = False
    """Whether any sample of the corpus has one."""
    ignored: bool = False
    """`--labels none`: labels of the corpus do not count."""

    @property
    @override
    def about(self) -> Mapping[str, object]:
        if self.column is not None:
            return {"column": self.column.name, "divisor": self.column.divisor}
        return {"corpus": "its own"} if self.found else {}

    @property
    @override
    def follows_variants(self) -> bool:
        return self.costs

    @override
    def settled(self, samples: Iterable[Sample]) -> LabelSource:
        if self.column is not None or self.ignored or all(sample.label is None for sample in samples):
            return self
        return replace(self, found=True)

    @override
    def filled(self, samples: Sequence[Sample]) -> tuple[Sample, ...]:
        """The samples, without labels if these do not count."""
        return tuple(replace(sample, label=None) if self.ignored else sample for sample in samples)

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        return (with_costs(case, {}) for case in cases) if self.costs else cases


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLabels(LabelSource):
    """Labels in the code itself: what follows the shown part, or the tests that come with it."""

    task: Task

    @property
    @override
    def about(self) -> Mapping[str, object]:
        if self.follows_variants:
            return {"tool": SANDBOX}
        return {"corpus": "its own"}

    @property
    @override
    def follows_variants(self) -> bool:
        """Whether execution decides which variants can be asked about."""
        return overrides(self.task, Task.graded)

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; variants that cannot be asked about are not applied."""
        for case in cases:
            yield replace(case, outcomes=self.task.askable(case.sample, case.outcomes))


def labels(
    spec: str | None, task: Task, *, cache: Path | None = None, note: Note | None = None
) -> LabelSource:
    """The source of labels that `--labels` names, or else the task's own.

    Raises:
        UsageError: the task takes no such labels, or a divisor is no positive number.
        CannotAudit: llvm-mca is named and not installed, or does not know the processor.
    """
    request = LabelRequest(task=task, spec=spec, cache=cache, note=note)
    return (task.labels or corpus_labels)(request)


def corpus_labels(request: LabelRequest) -> LabelSource:
    """Labels of the corpus, of a column, or none.

    Raises:
        UsageError: llvm-mca is named, or a divisor is no positive number.
    """
    spec = request.spec
    if spec is not None and spec.partition(":")[0] == MCA:
        raise UsageError(f"--labels {spec}: {MCA} knows no labels of task {request.task.name!r}")
    return given_labels(request, costs=False)


def prompt_labels(request: LabelRequest) -> LabelSource:
    """Labels of a task that shows a part of the code.

    Raises:
        UsageError: `--labels` names another source.
    """
    task = request.task
    place = "are found by execution" if overrides(task, Task.graded) else "stand in the code"
    request.refuse(f"the labels of task {task.name!r} {place}")
    return PromptLabels(task=task)


def given_labels(request: LabelRequest, *, costs: bool) -> LabelSource:
    """Labels of the corpus or of a column, or none. `costs` says that they are costs of code."""
    if request.spec is None:
        return GivenLabels(costs=costs)
    if request.spec == NO_LABELS:
        return GivenLabels(ignored=True, costs=costs)
    return GivenLabels(column=_column(request.spec), costs=costs)


def _column(spec: str) -> LabelColumn:
    # "cycles/100" has a divisor; "a/b" is a column whose name has a slash.
    name, slash, text = spec.rpartition("/")
    if not slash:
        return LabelColumn(name=spec)
    try:
        divisor = float(text)
    except ValueError:
        return LabelColumn(name=spec)
    if not 0 < divisor < float("inf"):
        raise UsageError(f"--labels {spec!r}: the divisor must be a positive number")
    return LabelColumn(name=name, divisor=divisor)


def without_labels(source: LabelSource, task: Task, corpus: Corpus) -> str:
    """A line for the user if a table has no labels and nobody has said so; else an empty text."""
    if not isinstance(source, GivenLabels) or source.found or source.ignored or source.column is not None:
        return ""
    if not isinstance(corpus, Table | HubTable) or isinstance(task.answers, TextLikelihood):
        return ""
    more = ", and llvm-mca, once installed, measures blocks" if source.costs else ""
    return (
        f"{corpus.spec} has no labels of {task.name}, so {task.score_name.upper()} is not known; "
        f"--columns label=COLUMN names a column that has them{more}"
    )


MOST: Final = 500
"""Largest number of labels of a classification. A column with more values holds something else."""
ENOUGH: Final = 12
"""Labelled samples that show whether a column has few values."""
MOST_SHOWN: Final = 5
"""Strange values that a line shows."""
EACH: Final = 4
"""How often each of few values occurs at least, on average."""


class SeenLabels(CorpusAround):
    """A corpus that looks at its labels when it is read: at those of a classification, and at others that are
    no name of the function, which fit no other task."""

    def __init__(self, whole: Corpus, task: Task) -> None:
        self.whole = whole
        self._task = task
        self._labels = Counter[str]()
        self._read = False
        self.labelled = False
        """Whether it has cells for labels, and not only names."""

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """With the words of the task in the place of those of `--label-map`."""
        first = not self._read
        self._read = True
        for raw in self.whole.read(skipped):
            sample = replace(raw, label=self._task.meant(raw.label)) if self._task.words else raw
            # A task about one unit shows no second one.
            if not self._task.beside and (raw.other or raw.candidates or raw.text):
                sample = replace(sample, other="", candidates=(), text="")
            if first and (label := as_label(sample.label)) is not None:
                self._labels[label] += 1
            yield sample
        self.labelled = isinstance(skipped, LeftOut) and skipped.labelled

    def fitted(self) -> Task:
        """The task with the labels that were seen.

        Raises:
            CorpusError: there is one label only, or so many that the column holds something else.
        """
        if not isinstance(self._task.answers, OneLabel):
            return self._task
        number, total = len(self._labels), self._labels.total()
        text = ", ".join(f"{label:.40}" for label in list(self._labels)[:5])
        if number < 2:
            only = f" ({text})" if number else ""
            raise CorpusError(f"{self.spec} has {number} label{only}; a classification needs at least two")
        if number > MOST or (number > ENOUGH and number > total / 2):
            raise CorpusError(
                f"{self.spec} has {number:,} different labels in {total:,} samples ({text}, …): the column "
                "holds something else; name another one with --columns label=COLUMN"
            )
        return self._task.fitted(sorted(self._labels))

    @property
    def few(self) -> Mapping[str, int]:
        """The labels with their numbers, if they are so few that they are no names; else nothing."""
        total = self._labels.total()
        few = 2 <= len(self._labels) <= min(MOST, total // EACH)
        return dict(self._labels.most_common()) if total >= ENOUGH and few else {}


def which_task(place: str, counts: Mapping[str, int], spoken: Mapping[str, Sequence[str]]) -> UsageError:
    """The error for a corpus of labels, or a classifier, where the user has named no task.

    `counts` has the labels of the corpus, and `spoken` those of each classifier.
    """
    parts = []
    if counts:
        text = ", ".join(f"{label} ({number:,})" for label, number in list(counts.items())[:6])
        parts.append(f"{place} has {len(counts)} labels: {text}{', …' if len(counts) > 6 else ''}")
    for name, labels in spoken.items():
        parts.append(f"{name} says {', '.join(labels[:6])}{', …' if len(labels) > 6 else ''}")
    strange = list(
        dict.fromkeys(
            label for labels in spoken.values() for label in labels if counts and label not in counts
        )
    )
    truths = ""
    if counts and counts.keys() <= {"0", "1", "true", "false"}:
        truths = " (or error-detection, if 1 is a bug; vulnerability-detection, if 1 is a vulnerability)"
    return UsageError(
        f"{'; '.join(parts)}. Write --task classification{truths}{_mapping(strange, counts)}; "
        "--task function-name asks for names"
    )


def _mapping(strange: Sequence[str], counts: Mapping[str, int]) -> str:
    """The option for words that are no labels. A pair is proposed only if the two differ in case alone."""
    if not strange:
        return ""
    folded = {label.casefold(): label for label in counts}
    if len(folded) == len(counts) and all(word.casefold() in folded for word in strange):
        return " --label-map " + ",".join(f"{word}={folded[word.casefold()]}" for word in strange)
    words = ", ".join(strange[:6]) + (", …" if len(strange) > 6 else "")
    return f", and --label-map WORD=LABEL,… with the label that each of {words} means"


def check_words(task: Task) -> None:
    """Check the words of `--label-map` once the labels of a run are known.

    Raises:
        UsageError: a word means a label that the task does not have, or the task has no closed set of labels.
    """
    if not task.words:
        return
    if not isinstance(task.answers, CLOSED):
        raise UsageError(f"--label-map says what labels mean, and the task {task.name!r} has none")
    for word, label in task.words.items():
        if task.normalise(label) is None:
            allowed = task.answers.labels if isinstance(task.answers, OneLabel) else task.answers.words
            text = ", ".join(f"{other:.40}" for other in allowed[:8]) + (", …" if len(allowed) > 8 else "")
            raise UsageError(f"--label-map {word}={label}: no label {label}; the labels are {text}")


def are_closed(source: LabelSource, task: Task) -> bool:
    """Whether labels are one of a closed set, and those of the corpus count."""
    return isinstance(source, GivenLabels) and not source.ignored and isinstance(task.answers, CLOSED)


class NamedLabels:
    """Counts the labels of a table that the task does not take, so that none is dropped in silence."""

    def __init__(self, column: str | None, place: str, task: Task, prepare: Prepare) -> None:
        self._named = column is not None
        """Whether the user names their column; else the table has one that is known."""
        self._place = place if column is None else f"column {column!r} of {place}"
        self._task = task
        self._prepare = prepare
        self._lost: dict[str, object] = {}
        """Cells that the task does not take as a label, by sample."""
        self._used = self._idle = 0
        """Examples whose label is that of the column, and those whose label is another one."""

    def prepare(self, raw: Sample) -> Sample | str:
        """The sample as its task asks about it, or the reason why it is no example."""
        sample = self._prepare(raw)
        if isinstance(sample, Sample) and raw.label is not None:
            if sample.label is None:
                self._lost[sample.id] = raw.label
            elif sample.label == self._task.normalise(raw.label):
                self._used += 1
            else:
                self._idle += 1
        return sample

    def summary_line(self, samples: Sequence[Sample]) -> str:
        """A line about these samples, for the user; empty if each has a label of the column.

        Raises:
            CorpusError: no sample has one.
        """
        if self._idle and not self._used:
            line = f"{self._place} has no effect: the labels of {self._task.name} stand in the code"
            return line if self._named else ""
        lost = [self._lost[sample.id] for sample in samples if sample.id in self._lost]
        empty = sum(sample.label is None for sample in samples) - len(lost)
        examples = f"such as {_listed(lost)} (it takes {self._task.accepted})" if lost else ""
        mapping = isinstance(self._task.answers, CLOSED) and bool(lost)
        how = "; --label-map WORD=LABEL,… says what each of them means" if mapping else ""
        if lost and len(lost) + empty == len(samples):
            without = f", and --labels {NO_LABELS} asks without labels" if mapping else ""
            raise CorpusError(
                f"{self._place} has no label of {self._task.name} but other values, {examples}{how}{without}"
            )
        if empty == len(samples):
            if not self._named:
                return f"{self._place} has labels, but none of these {len(samples):,} samples has one"
            raise CorpusError(f"{self._place} has no label: all cells are empty or missing")
        if not lost and not empty:
            return ""
        number = f"{len(lost):,} {'has' if len(lost) == 1 else 'have'}"
        parts = [f"{number} another value, {examples}"] if lost else []
        parts += [f"{empty:,} {'has' if empty == 1 else 'have'} none"] if empty else []
        place = self._place if self._named else f"the labels of {self._place}"
        return f"{place}: {len(samples):,} samples, of which {' and '.join(parts)}{how}"


def _listed(values: Iterable[object]) -> str:
    """The commonest of the values, each with its number."""
    counts = Counter(map(brief, values)).most_common()
    texts = [text if number == 1 or len(counts) == 1 else f"{number:,} × {text}" for text, number in counts]
    return ", ".join(texts[:MOST_SHOWN]) + (", …" if len(texts) > MOST_SHOWN else "")


def may_cost_otherwise(outcome: Outcome) -> TypeGuard[Perturbed]:
    """Whether a variant may have another cost than its sample: its meaning or its order changed."""
    if not isinstance(outcome, Perturbed):
        return False
    return outcome.kind == "control" or any(move.kind == "order" for move in outcome.moves)


def with_costs(case: Case, costs: Mapping[str, float | None]) -> Case:
    """The case; variants whose cost may differ have the label in `costs`, or none."""

    def labelled(outcome: Outcome) -> Outcome:
        if not may_cost_otherwise(outcome):
            return outcome
        return replace(outcome, sample=replace(outcome.sample, label=costs.get(outcome.source)))

    return replace(case, outcomes=tuple(labelled(outcome) for outcome in case.outcomes))

"""The tasks of the networks that read lines: their labels, their answers, and their training data.

A network gives a logit for each label. A name is a set of subtokens, so any number of labels is chosen. For
bugs there is one label, and choosing none is an answer, too.

Dimension key: B batch, K labels.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import torch
from torch import Tensor

from codeaudit.audit.corpora.records import Corpus, split_of
from codeaudit.audit.interface import Task
from codeaudit.audit.papers.lines.trunk import Pooling
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.records import Answer
from codeaudit.audit.tasks.error_detection import BUGGY, CLEAN, ERROR_DETECTION
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.tasks.vulnerability_detection import SAFE, VULNERABILITY_DETECTION, VULNERABLE
from codeaudit.audit.training.splits import NAMES, Splits, content, held_out
from codeaudit.audit.training.trainer import Integers
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

THRESHOLDS: Final = tuple(round(-4 + step / 10, 1) for step in range(51))
"""Logits between which validation chooses."""
MARK: Final = "<buggy>"
"""The label of a function with a flaw. No word of code is spelled so."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Names: those labels that are above a threshold, or the best one."""

    name: str = FUNCTION_NAME.name
    thresholds: tuple[float, ...] = THRESHOLDS
    """The candidates of validation."""
    pooling: Pooling = "mean"
    """How a network's tokens become its answer: a name is about all of a function."""
    copying: bool = True
    """Whether words of the function can be answers."""
    twins: bool = False
    """Whether two samples of a group can be one function with different answers."""

    def truth(self, label: Answer | None) -> tuple[str, ...] | None:
        """A sample's label as labels of the network; `None` for a sample without one."""
        return tuple(sorted(set(map(str, label)))) if isinstance(label, tuple) else None

    def labels(self, truths: Collection[tuple[str, ...]], *, rarest: int) -> tuple[str, ...]:
        """The subtokens of at least `rarest` names, in alphabetical order.

        Raises:
            CorpusError: there is none.
        """
        counts = Counter(part for truth in truths for part in truth)
        labels = tuple(sorted(part for part, count in counts.items() if count >= rarest))
        if not labels:
            raise CorpusError(
                f"each part of the {len(truths)} names occurs in fewer than {rarest} of them, so there is no "
                "label to learn; take a larger corpus, or a smaller --rarest-label"
            )
        return labels

    def decide(self, logits: Tensor, threshold: float) -> Tensor:
        """(B, K) to a (B, K) mask of the chosen labels; of equal best ones the alphabet's first."""
        # The best label is chosen even below the threshold, because no function is without a name.
        best = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, logits.argmax(1, keepdim=True), True)
        return (logits > threshold) | best

    def margin(self, logits: Tensor, threshold: float) -> Tensor:
        """(B, K) to (B,): by how much all logits may move without another choice.

        With two or more labels above the threshold t, one logit must cross it. With one or none the answer is
        the best label alone, and changes when the second crosses t, or when it overtakes the best below t.
        """
        if logits.shape[1] == 1:
            return torch.full_like(logits[:, 0], torch.inf)  # the only label is always the best
        first, second = logits.topk(2, dim=1).values.unbind(1)
        crossing = (logits - threshold).abs().amin(1)
        # Half the gap: the first may fall while the second rises by as much.
        overtaking = torch.maximum((first - second) / 2, first - threshold)
        alone = torch.minimum(threshold - second, overtaking)
        return torch.where(second > threshold, crossing, alone)

    def answer(self, chosen: Sequence[str]) -> Answer:
        """The answer that the chosen labels mean."""
        return tuple(sorted(chosen))

    def name_of(self, label: str) -> str:
        """The name of a label in the scores of an answer."""
        return label


@dataclass(frozen=True, slots=True)
class Detection:
    """Flaws: one label, chosen where its logit is above 0, which is a probability of a half.

    A threshold tuned for F1 would call everything buggy as long as a network knows little: that reaches two
    thirds on balanced data.
    """

    name: str
    flaw: str
    """The word for a function with a flaw."""
    sound: str
    """The word for one without."""
    thresholds: tuple[float, ...] = (0.0,)
    """No choice."""
    pooling: Pooling = "votes"
    """A bug is at one place."""
    copying: bool = False
    """Whether words of the function can be answers; a bug is none."""
    twins: bool = True
    """Whether examples come in pairs: a bug and its fix."""

    def truth(self, label: Answer | None) -> tuple[str, ...] | None:
        """As `Naming.truth`."""
        return {self.flaw: (MARK,), self.sound: ()}.get(label) if isinstance(label, str) else None

    def labels(self, truths: Collection[tuple[str, ...]], *, rarest: int) -> tuple[str, ...]:
        """The one label.

        Raises:
            CorpusError: all functions are buggy, or all clean.
        """
        if len(set(truths)) < 2:
            raise CorpusError(
                f"a detector needs {self.flaw} functions and {self.sound} ones; there is one kind"
            )
        return (MARK,)

    def decide(self, logits: Tensor, threshold: float) -> Tensor:
        """As `Naming.decide`."""
        return logits > threshold

    def margin(self, logits: Tensor, threshold: float) -> Tensor:
        """As `Naming.margin`."""
        return (logits - threshold).abs().amin(1)

    def answer(self, chosen: Sequence[str]) -> Answer:
        """As `Naming.answer`."""
        return self.flaw if chosen else self.sound

    def name_of(self, label: str) -> str:
        """As `Naming.name_of`."""
        return self.flaw


LineTask: TypeAlias = Naming | Detection
NAMING: Final = Naming()
DETECTION: Final = Detection(ERROR_DETECTION.name, BUGGY, CLEAN)
VULNERABILITIES: Final = Detection(VULNERABILITY_DETECTION.name, VULNERABLE, SAFE)
TASKS: Final[Mapping[str, LineTask]] = {task.name: task for task in (NAMING, DETECTION, VULNERABILITIES)}


FEWEST_FILES: Final = 40
"""Corpora with fewer files hold out functions instead of files."""


def read_splits(
    task: Task, train: Corpus, valid: Corpus | None = None, test: Corpus | None = None
) -> Splits[Sample]:
    """The samples of a task.

    A split without a corpus is held out of `train`: one file in 20, or of samples with groups the shares of
    `split_of`. Valid and test leave out what is learned, by content or by a member of its group. Samples that
    stand in one corpus with two labels are left out.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
    """
    splits: Splits[Sample] = Splits([], [], [])
    samples = list(_prepared(task, train))
    grouped = any(sample.group for sample in samples)
    paths = {sample.origin.path for sample in samples}
    keys = [sample.origin.path if len(paths) >= FEWEST_FILES else sample.id for sample in samples]
    # By file where there are enough, because the functions of a file resemble each other.
    for_valid, for_test = held_out(keys, str)
    for sample, key in zip(samples, keys, strict=True):
        side = split_of(sample.group or sample.id) if grouped else ""
        if valid is None and (side == "valid" if grouped else key in for_valid):
            splits.valid.append(sample)
        elif test is None and (side == "test" if grouped else key in for_test):
            splits.test.append(sample)
        else:
            splits.train.append(sample)
    # An id is a hash of the text, so a copy of a learned function in another corpus is found by it.
    known = {sample.id for sample in splits.train}
    groups = {sample.group for sample in splits.train if sample.group}
    for corpus, split in ((valid, splits.valid), (test, splits.test)):
        if corpus is not None:
            split += [
                sample
                for sample in _prepared(task, corpus)
                if sample.id not in known and sample.group not in groups
            ]
    for name, split in zip(NAMES, splits, strict=True):
        if not split:
            raise CorpusError(
                f"no {name} examples of task {task.name!r} in corpus {train.spec!r}"
                + _remedy(name, task, train, len(samples))
            )
    return splits


def _remedy(name: str, task: Task, train: Corpus, count: int) -> str:
    """What to do if a split is empty; `count` examples could be divided."""
    if count:
        return f"; all {count} are in other splits: give --{name} SPEC" if name != NAMES[0] else ""
    if isinstance(TASKS[task.name], Detection):
        reported = task.name == VULNERABILITIES.name
        seeds = f"bugs:reported:{train.spec} seeds bugs in C" if reported else f"bugs:{train.spec} seeds bugs"
        return f": none has a label; --corpus {seeds}, --columns label=NAME names a column"
    return ""


def split_hashes(splits: Splits[Sample]) -> dict[str, str]:
    """Of each split a hash of its samples and labels."""
    return {
        name: content(f"{sample.id}\0{sample.label}\n" for sample in split)
        for name, split in zip(NAMES, splits, strict=True)
    }


def splits_card(
    split_hashes: Mapping[str, str], splits: Mapping[str, tuple[int, Sequence[int] | Integers]]
) -> dict[str, dict[str, object]]:
    """A card's entry about the splits: their sizes, and the functions left out as unparsable or too long."""
    return {
        name: {
            "hash": split_hashes[name],
            "functions": count,
            "unparsable": int(left_out[0]),
            "too_long": int(left_out[1]),
        }
        for name, (count, left_out) in splits.items()
    }


def _prepared(task: Task, corpus: Corpus) -> Iterator[Sample]:
    truth = TASKS[task.name].truth
    by_id: dict[str, list[Sample]] = {}
    for raw in corpus.read(Counter()):
        sample = task.prepare(raw)
        if (
            isinstance(sample, Sample)
            and sample.language in readable_languages()
            and truth(sample.label) is not None
        ):
            by_id.setdefault(sample.id, []).append(sample)
    # Two labels for one text cannot both be learned, and either answer would count as wrong half of the time.
    for same in by_id.values():
        if len({sample.label for sample in same}) == 1:
            yield from same

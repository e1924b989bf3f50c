"""Functions with labels as training, validation and test sets: for all networks that read whole functions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from codeaudit.audit.corpora.records import Corpus, split_of
from codeaudit.audit.interface import Task
from codeaudit.audit.papers.lines.programs import readable_languages
from codeaudit.audit.papers.lines.tasks import TASKS
from codeaudit.audit.training.splits import NAMES, Splits, content, held_out
from codeaudit.audit.training.trainer import Integers
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

FEWEST_FILES: Final = 40
"""Corpora with fewer files hold out functions instead of files."""


def read(
    task: Task, train: Corpus, valid: Corpus | None = None, test: Corpus | None = None
) -> Splits[Sample]:
    """The samples of a task.

    A split without a corpus is held out of `train`: one file in 20, or of samples with groups the shares of
    `split_of`. Valid and test leave out what is learned, by content or by a member of its group. Samples that
    stand in one corpus with two labels are left out.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
    """
    found: Splits[Sample] = Splits([], [], [])
    samples = list(_prepared(task, train))
    grouped = any(sample.group for sample in samples)
    paths = {sample.origin.path for sample in samples}
    keys = [sample.origin.path if len(paths) >= FEWEST_FILES else sample.id for sample in samples]
    for_valid, for_test = held_out(keys, str)
    for sample, key in zip(samples, keys, strict=True):
        side = split_of(sample.group or sample.id) if grouped else ""
        if valid is None and (side == "valid" if grouped else key in for_valid):
            found.valid.append(sample)
        elif test is None and (side == "test" if grouped else key in for_test):
            found.test.append(sample)
        else:
            found.train.append(sample)
    known = {sample.id for sample in found.train}
    groups = {sample.group for sample in found.train if sample.group}
    for corpus, split in ((valid, found.valid), (test, found.test)):
        if corpus is not None:
            split += [
                sample
                for sample in _prepared(task, corpus)
                if sample.id not in known and sample.group not in groups
            ]
    for name, split in zip(NAMES, found, strict=True):
        if not split:
            raise CorpusError(f"no {name} examples of task {task.name!r} in corpus {train.spec!r}")
    return found


def hashes(splits: Splits[Sample]) -> dict[str, str]:
    """Of each split a hash of its samples and labels."""
    return {
        name: content(f"{sample.id}\0{sample.label}\n" for sample in split)
        for name, split in zip(NAMES, splits, strict=True)
    }


def data(
    hashes: Mapping[str, str], splits: Mapping[str, tuple[int, Sequence[int] | Integers]]
) -> dict[str, dict[str, object]]:
    """A card's entry about the splits: their sizes, and the functions left out as unparsable or too long."""
    return {
        name: {
            "hash": hashes[name],
            "functions": count,
            "unparsable": int(left_out[0]),
            "too_long": int(left_out[1]),
        }
        for name, (count, left_out) in splits.items()
    }


def _prepared(task: Task, corpus: Corpus) -> Iterator[Sample]:
    truth = TASKS[task.name].truth
    found: dict[str, list[Sample]] = {}
    for raw in corpus.read(Counter()):
        sample = task.prepare(raw)
        if (
            isinstance(sample, Sample)
            and sample.language in readable_languages()
            and truth(sample.label) is not None
        ):
            found.setdefault(sample.id, []).append(sample)
    for same in found.values():
        if len({sample.label for sample in same}) == 1:
            yield from same

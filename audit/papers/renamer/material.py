"""From corpora of labelled texts to examples, split so that nothing tested was learned under other names.

Texts of which one is a renaming of the other (constants aside) form an alpha class. In BHive a random split
puts the class of two test blocks in three into the training set too, so classes are split, never texts. Where
an answer is proposed in the text, as for pairs of expressions, what it is proposed to decides on the class.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.interface import Task
from codeaudit.audit.labels import LabelSource
from codeaudit.audit.papers.registry import TERM_NETWORKS
from codeaudit.audit.papers.renamer.network import TermBatch, collate
from codeaudit.audit.papers.renamer.recipe import TermRecipe
from codeaudit.audit.papers.renamer.tasks import TASKS, TermTask
from codeaudit.audit.papers.renamer.terms import (
    Choices,
    Term,
    TermInput,
    TermReader,
    renamed,
    spelled,
    tokenizer_of,
)
from codeaudit.audit.records import Failed
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

PARTS: Final = 20
"""Without a corpus of its own, validation gets one alpha class in so many, and the test another."""
NAMES: Final = ("train", "valid", "test")

UNLABELLED: Final = "without label"
LONG: Final = "over the window"
IMPLIED: Final = "with implied registers"
KNOWN: Final = "renamings of what is learned"

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Example:
    """One labelled text."""

    source: str
    terms: tuple[Term, ...]
    label: float
    divider: str = ""
    """The term behind which an answer is proposed."""

    @cached_property
    def alpha(self) -> tuple[str, ...]:
        """Equal for the texts of one alpha class, and for no others."""
        return tuple(spelled(takewhile(lambda term: term.view != self.divider, self.terms), "first use"))


def example(task: TermTask, source: str, label: float) -> Example:
    """A text of a task with its label as a number.

    Raises:
        SourceError: the text cannot be read.
    """
    return Example(source, task.language.terms(source), label, task.language.divider)


class TermExamples:
    """Many texts of one task as one network reads them."""

    def __init__(self, examples: Sequence[Example], reader: TermReader, task: TermTask) -> None:
        self.examples = examples
        self.task = task
        self._reader = reader
        self.inputs = [self._input(example.terms) for example in examples]
        self.lengths = np.array([len(one.ids) for one in self.inputs], dtype=np.int64)
        self.labels = torch.tensor([example.label for example in examples], dtype=torch.float32)

    def __len__(self) -> int:
        return len(self.examples)

    def batch(self, chosen: Integers, renaming: Random | None = None) -> tuple[TermBatch, torch.Tensor]:
        """The chosen texts, padded, with their labels; each under a legal renaming drawn from `renaming`."""
        inputs = [
            self.inputs[number] if renaming is None else self._renamed(int(number), renaming)
            for number in chosen
        ]
        return collate(inputs), self.labels[torch.from_numpy(chosen)]

    @cached_property
    def _choices(self) -> list[Choices]:
        choices = self.task.language.choices
        return [choices(example.source) for example in self.examples]

    def _renamed(self, number: int, rng: Random) -> TermInput:
        return self._input(renamed(self.examples[number].terms, self._choices[number].draw(rng)))

    def _input(self, terms: Sequence[Term]) -> TermInput:
        found = self._reader.read(terms)
        assert not isinstance(found, Failed), "longer texts were left out"
        return found


class TermSplits(NamedTuple):
    """Examples whose alpha classes do not overlap."""

    train: list[Example]
    valid: list[Example]
    test: list[Example]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermMaterial:
    """All that a training reads."""

    tokenizer: Tokenizer
    train: TermExamples
    valid: TermExamples
    test: TermExamples
    hashes: Mapping[str, str]
    """Of the texts and labels of each split."""
    classes: Mapping[str, int]
    """The alpha classes of each split."""
    left_out: Mapping[str, int]
    """Why texts were left out, and how many."""
    labels: Mapping[str, object]
    """Where those of the training set come from."""


def read(
    task: Task,
    recipe: TermRecipe,
    truth: LabelSource,
    train: Corpus,
    valid: Corpus | None = None,
    test: Corpus | None = None,
    *,
    note: Callable[[str], None],
) -> TermMaterial:
    """The labelled texts of a task. For want of another corpus a twentieth of the alpha classes is held out.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
        CannotAudit: the texts cannot be measured.
    """
    left_out: Counter[str] = Counter()
    noun = TASKS[recipe.task].noun

    def examples(corpus: Corpus) -> tuple[list[Example], LabelSource]:
        samples = _samples(task, recipe, corpus, left_out)
        note(f"{corpus.spec}: {len(samples):,} {noun}")
        applied = truth.settled(samples)
        return list(_labelled(recipe, applied.filled(samples), left_out)), applied

    learned, applied = examples(train)
    for_valid, for_test = (None if corpus is None else examples(corpus)[0] for corpus in (valid, test))
    splits = split(learned, for_valid, for_test, left_out)
    for name, some in zip(NAMES, splits, strict=True):
        if not some:
            why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.most_common(3))
            raise CorpusError(
                f"no {name} examples of task {task.name!r} in corpus {train.spec!r}"
                + (f" (left out: {why})" if why else "")
            )
    return material(splits, recipe, left_out, labels=applied.about)


def split(
    train: Sequence[Example],
    valid: Sequence[Example] | None,
    test: Sequence[Example] | None,
    left_out: Counter[str],
) -> TermSplits:
    """Splits that are not given are alpha classes held out of `train`, decided by their hashes.

    From those that are given, what is of a class that is learned is left out.
    """
    keys = sorted({example.alpha for example in train}, key=_hash)
    size = max(1, len(keys) // PARTS)
    for_valid = set(keys[:size]) if valid is None else set()
    for_test = set(keys[size : 2 * size]) if test is None else set()
    found = TermSplits([], [], [])
    for example in train:
        alpha = example.alpha
        place = found.valid if alpha in for_valid else found.test if alpha in for_test else found.train
        place.append(example)
    known = {example.alpha for example in found.train}
    for given, place in ((valid, found.valid), (test, found.test)):
        for example in given or ():
            if example.alpha in known:
                left_out[KNOWN] += 1
            else:
                place.append(example)
    return found


def material(
    splits: TermSplits, recipe: TermRecipe, left_out: Mapping[str, int], *, labels: Mapping[str, object]
) -> TermMaterial:
    """The splits as one network reads them."""
    task, reading = TASKS[recipe.task], TERM_NETWORKS[recipe.network].reading
    words = {one for example in splits.train for one in spelled(example.terms, reading)}
    words |= {one for example in splits.train for term in example.terms for one in term.context}
    tokenizer = tokenizer_of([*words, *task.language.words(reading)])
    reader = TermReader(tokenizer, reading, window=recipe.window, end=task.language.end)
    named = dict(zip(NAMES, splits, strict=True))
    return TermMaterial(
        tokenizer=tokenizer,
        **{name: TermExamples(some, reader, task) for name, some in named.items()},
        hashes={name: _content(some) for name, some in named.items()},
        classes={name: len({example.alpha for example in some}) for name, some in named.items()},
        left_out=dict(left_out),
        labels=labels,
    )


def _samples(task: Task, recipe: TermRecipe, corpus: Corpus, left_out: Counter[str]) -> list[Sample]:
    """The distinct texts of a corpus that can be learned from."""
    language = TASKS[recipe.task].language
    found: dict[str, Sample] = {}
    for raw in corpus.read(left_out):
        sample = task.prepare(raw)
        if isinstance(sample, str):
            left_out[sample] += 1
        elif len(language.terms(sample.source)) > recipe.window:
            left_out[LONG] += 1
        elif not recipe.implied and language.implied(sample.source):
            left_out[IMPLIED] += 1
        else:
            found.setdefault(sample.source, sample)
    return list(found.values())


def _labelled(recipe: TermRecipe, samples: Sequence[Sample], left_out: Counter[str]) -> Iterator[Example]:
    task = TASKS[recipe.task]
    for sample in samples:
        label = task.target.label(sample.label)
        if label is None:
            left_out[UNLABELLED] += 1
        else:
            yield example(task, sample.source, label)


def _hash(alpha: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\0".join(alpha).encode()).digest()


def _content(examples: Sequence[Example]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        digest.update(f"{example.source}\0{example.label!r}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()

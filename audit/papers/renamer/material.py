"""From corpora of labelled texts to examples, split so that no renaming of a learned text is tested.

Texts that are renamings of each other (constants excepted) form an alpha class. In BHive a random split puts
the class of two test blocks in three into the training set too. So classes are split, never texts. A text
that proposes an answer, as a pair of expressions does, has the class of the part before the proposal.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import Final

import numpy as np
import torch
from tokenizers import Tokenizer

from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.interface import LabelSource, Task
from codeaudit.audit.papers.renamer.networks import NETWORKS, Counting, Readout, TermBatch, TermSizes, collate
from codeaudit.audit.papers.renamer.tasks import TASKS, TermTask
from codeaudit.audit.papers.renamer.terms import (
    Term,
    TermChoices,
    TermInput,
    TermReader,
    renamed,
    spelled,
    tokenizer_of,
)
from codeaudit.audit.records import Failed
from codeaudit.audit.tasks.derivative import DERIVATIVE
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.audit.training import splits
from codeaudit.audit.training.splits import NAMES, Splits, content
from codeaudit.audit.training.trainer import Integers, Recipe
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRecipe(Recipe):
    """How Renamer or one of its baselines is trained: BERT-Tiny's sizes, and defaults for throughput."""

    network: str
    task: str = THROUGHPUT.name
    width: int = 128
    layers: int = 2
    heads: int = 2
    window: int = 128
    """Terms; longer texts are left out."""
    readout: Readout = "sum"
    inner: int | None = None
    """Without one 4 times the width."""
    context: bool = True
    positions: Counting = "steps"
    """See `TermSizes`."""
    dropout: float = 0.0
    implied: bool = True
    """Whether blocks are learned from in which an instruction uses a register without a choice."""
    batch: int = 64
    epochs: int = 15
    steps: int | None = None
    """Instead of `epochs` where given."""
    rate: float = 1e-3
    """Peak learning rate: linear warm-up, then a cosine down to a fiftieth."""
    half: bool = False
    """Whether products of matrices are computed in bfloat16 while it learns: twice as fast where the
    processor has instructions for it. Weights and validation stay in float32."""
    warm_up: int = 200
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 1_000_000
    """Epochs without a better validation error before it ends."""
    validation: int = 4000
    """Examples that decide on the best epoch."""
    seed: int = 0

    def sizes(self, vocabulary: int) -> TermSizes:
        """The sizes of the network, once the words are counted."""
        return self.sized(TermSizes, vocabulary=vocabulary)


DEFAULTS: Final[Mapping[str, Mapping[str, object]]] = {
    DERIVATIVE.name: {"window": 256, "readout": "mean", "batch": 32},
}
"""Other defaults, by task. A pair of expressions has at most 254 terms."""


UNLABELLED: Final = "without label"
LONG: Final = "over the window"
IMPLIED: Final = "with implied registers"
KNOWN: Final = "renamings of what is learned"


@dataclass(frozen=True)
class TermExample:
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


def example(task: TermTask, source: str, label: float) -> TermExample:
    """A text of a task with its label as a number.

    Raises:
        SourceError: the text cannot be read.
    """
    return TermExample(source, task.language.terms(source), label, task.language.divider)


class TermExamples:
    """Many texts of one task as one network reads them."""

    def __init__(self, examples: Sequence[TermExample], reader: TermReader, task: TermTask) -> None:
        self.examples = examples
        self.task = task
        self._reader = reader
        self.inputs = [self._input(example.terms) for example in examples]
        self.lengths = np.array([len(encoded.ids) for encoded in self.inputs], dtype=np.int64)
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
    def _choices(self) -> list[TermChoices]:
        choices = self.task.language.choices
        return [choices(example.source) for example in self.examples]

    def _renamed(self, number: int, rng: Random) -> TermInput:
        return self._input(renamed(self.examples[number].terms, self._choices[number].draw(rng)))

    def _input(self, terms: Sequence[Term]) -> TermInput:
        encoded = self._reader.read(terms)
        assert not isinstance(encoded, Failed), "longer texts were left out"
        return encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class TermMaterial:
    """The input of a training."""

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

    def examples(corpus: Corpus) -> tuple[list[TermExample], LabelSource]:
        samples = _samples(task, recipe, corpus, left_out)
        note(f"{corpus.spec}: {len(samples):,} {noun}")
        applied = truth.settled(samples)
        return list(_labelled(recipe, applied.filled(samples), left_out)), applied

    learned, applied = examples(train)
    for_valid, for_test = (None if corpus is None else examples(corpus)[0] for corpus in (valid, test))
    parts = split(learned, for_valid, for_test, left_out)
    for name, part in zip(NAMES, parts, strict=True):
        if not part:
            why = "; ".join(f"{count:,} {reason}" for reason, count in left_out.most_common(3))
            raise CorpusError(
                f"no {name} examples of task {task.name!r} in corpus {train.spec!r}"
                + (f" (left out: {why})" if why else "")
            )
    return material(parts, recipe, left_out, labels=applied.about)


def split(
    train: Sequence[TermExample],
    valid: Sequence[TermExample] | None,
    test: Sequence[TermExample] | None,
    left_out: Counter[str],
) -> Splits[TermExample]:
    """Splits that are `None` are alpha classes held out of `train`; the others leave out learned classes."""
    parts, count = splits.split(
        train, valid, test, group=_alpha, same=_alpha, spelled=lambda alpha: "\0".join(alpha)
    )
    if count:
        left_out[KNOWN] += count
    return parts


def _alpha(example: TermExample) -> tuple[str, ...]:
    return example.alpha


def material(
    parts: Splits[TermExample],
    recipe: TermRecipe,
    left_out: Mapping[str, int],
    *,
    labels: Mapping[str, object],
) -> TermMaterial:
    """The splits as one network reads them."""
    task, reading = TASKS[recipe.task], NETWORKS[recipe.network].reading
    words = {word for example in parts.train for word in spelled(example.terms, reading)}
    # Contexts are words of the same table; unlike names they are known from the training set alone.
    words |= {word for example in parts.train for term in example.terms for word in term.context}
    tokenizer = tokenizer_of([*words, *task.language.words(reading)])
    reader = TermReader(tokenizer, reading, window=recipe.window, end=task.language.end)
    named = dict(zip(NAMES, parts, strict=True))
    return TermMaterial(
        tokenizer=tokenizer,
        **{name: TermExamples(examples, reader, task) for name, examples in named.items()},
        hashes={
            name: content(f"{example.source}\0{example.label!r}\n" for example in examples)
            for name, examples in named.items()
        },
        classes={name: len({example.alpha for example in examples}) for name, examples in named.items()},
        left_out=dict(left_out),
        labels=labels,
    )


def _samples(task: Task, recipe: TermRecipe, corpus: Corpus, left_out: Counter[str]) -> list[Sample]:
    """The distinct texts of a corpus that can be learned from."""
    language = TASKS[recipe.task].language
    by_text: dict[str, Sample] = {}
    for raw in corpus.read(left_out):
        sample = task.prepare(raw)
        if isinstance(sample, str):
            left_out[sample] += 1
        # Longer texts are left out, never cut: the cost of half a block is not known.
        elif len(language.terms(sample.source)) > recipe.window:
            left_out[LONG] += 1
        elif not recipe.implied and language.implied(sample.source):
            left_out[IMPLIED] += 1
        else:
            by_text.setdefault(sample.source, sample)
    return list(by_text.values())


def _labelled(recipe: TermRecipe, samples: Sequence[Sample], left_out: Counter[str]) -> Iterator[TermExample]:
    task = TASKS[recipe.task]
    for sample in samples:
        label = task.target.label(sample.label)
        if label is None:
            left_out[UNLABELLED] += 1
        else:
            yield example(task, sample.source, label)

"""From samples to the input of a training: recipe, words, labels, and features as flat arrays.

Features are computed once and kept on disk between trainings.
"""

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from codeaudit.audit.engines.local import spread
from codeaudit.audit.papers.lines.encoding import (
    NO_REFERENTS,
    PLANES,
    SPECIALS,
    TOO_LONG,
    EncodedLines,
    LineEncoder,
    Relation,
    line_words,
    wordpiece_tokenizer,
)
from codeaudit.audit.papers.lines.tasks import NAMING, LineTask
from codeaudit.audit.papers.lines.tasks import split_hashes as hashes
from codeaudit.audit.papers.lines.trunk import Batch, LineShape, collate
from codeaudit.audit.papers.lines.words import analyse
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.audit.papers.spe_attention.twins import changed_part, find_twins
from codeaudit.audit.records import UNPARSABLE, Failed
from codeaudit.audit.training.learned import learned_hashes
from codeaudit.audit.training.splits import NAMES, Splits, content
from codeaudit.audit.training.trainer import Integers, Recipe
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.language import DEFAULT
from codeaudit.transforms.records import Sample
from codeaudit.transforms.seeding import stream

WINDOW: Final = 512
"""Longest input without another setting, in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRecipe(Recipe):
    """How a network that reads lines is trained. docs/models.md has the settings of the bundled checkpoints.

    Pretraining hides words of the training functions and learns to find them. The next stage learns the
    answers without the blocks: embeddings and head learn within seconds how much each word counts. Then the
    blocks join. Their output layers start at zero, so nothing learned is lost. With random blocks from the
    start, the same budget does not get beyond the most frequent labels. A training with pretraining has no
    need of the second stage.
    """

    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the network: `mask_mode`, `sign`, …"""
    width: int = 128
    layers: int = 2
    heads: int = 4
    inner: int | None = None
    """Without one 4 times the width."""
    window: int = WINDOW
    """Tokens; longer functions are left out."""
    dropout: float = 0.2
    vocabulary: int = 6000
    rarest_label: int = 5
    """A subtoken of fewer training names is no label."""
    batch: int = 64
    pretrain_epochs: int = 0
    bag_epochs: int = 2
    epochs: int = 4
    steps: int | None = None
    """Steps of the last stage; instead of `epochs` where given."""
    bag_rate: float = 2e-3
    rate: float = 1.5e-3
    """Peak learning rate of pretraining, which stays there, and of the last stage: linear warm-up, then a
    cosine down to a twentieth."""
    word_factor: float = 2.0
    """How much faster embeddings and label biases learn."""
    warm_up: int = 300
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 4
    """Epochs of the last stage without a better validation score before it ends."""
    validation: int = 2000
    """Functions that decide on the threshold and the best epoch."""
    dependence: Dependence = "strict"
    """The relation of the masks, and of the orders to draw from."""
    orders: int = 0
    """Legal orders per function to draw from; 0 trains on the text's own order only."""
    neighbours: int | None = None
    """Tokens to each side that a token takes up before the blocks; without a number the network's own."""
    copying: bool = True
    """Whether a word of the function that is no label can be part of a name."""
    pairwise: float = 0.0
    """For bugs: the weight of the loss that the buggy one of two twins has the higher logit. With a weight,
    twins come in one step and count as one example."""
    locate: float = 0.0
    """For bugs: the weight of the loss that the tokens in which a bug differs from its twin stand out."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16; the weights stay in float32."""
    encoder: Mapping[str, object] | None = None
    """The config of a pretrained encoder in the place of blocks and positions, as of `LineShape`."""

    def copies(self, task: LineTask) -> bool:
        """Whether words to copy are read."""
        return self.copying and task.copying

    def shape(self, *, vocabulary: int, labels: int, task: LineTask = NAMING) -> LineShape:
        """The sizes of the network, once the words and labels are counted and the task is known."""
        # Without positions in the line its words are a bag (Table 3), so it has no neighbours either.
        bag = self.options.get("line_positions", True) is False
        neighbours = 0 if bag else NETWORKS[self.network].neighbours
        return self.sized(
            LineShape,
            vocabulary=vocabulary,
            labels=labels,
            pooling=task.pooling,
            neighbours=neighbours if self.neighbours is None else self.neighbours,
            copying=self.copies(task),
        )


C = TypeVar("C")
D = TypeVar("D")
Chosen: TypeAlias = Sequence[int] | Integers
CHUNK: Final = 256
"""Samples that a worker gets at once."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Many encoded functions with their labels, each kind of number in one flat array."""

    # Flat arrays of small integers, not a record per function: the whole corpus is a few arrays in one file,
    # and an example is a few slices of them.
    ids: npt.NDArray[np.uint16]
    line: npt.NDArray[np.uint16]
    position: npt.NDArray[np.uint8]
    referents: npt.NDArray[np.uint16]
    """Of each token as well; empty where names were read."""
    copies: npt.NDArray[np.uint16]
    """Of each token as well; empty without copying."""
    spoken: Integers
    """(count,) the words to copy of each example."""
    named: npt.NDArray[np.bool_]
    """Of each word to copy, whether the name has it."""
    tokens: Integers
    """(count,) the tokens of each example."""
    relation: npt.NDArray[np.uint8]
    """(3, Σ N²) the symmetry mask and SYMC's two distances; (3, 0) where names were not read."""
    lines: Integers
    """(count,) the lines N of each example."""
    orders: npt.NDArray[np.uint16]
    """(orders, Σ N) legal orders of the lines, as old places in new order."""
    labels: npt.NDArray[np.uint16]
    """The known labels of each example as indices, distinct."""
    known: Integers
    """(count,) how many those are."""
    wanted: Integers
    """(count,) how many labels are true, unknown ones included: of a name its distinct subtokens."""
    twins: Integers
    """(count,) the same function with the other label, for bugs; -1 for none."""
    left_out: Integers
    """(2,) how many samples could not be read, as they do not parse, and how many were too long."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _starts(self) -> dict[str, Integers]:
        """Where each example begins in the flat arrays, by what these hold."""
        sizes = {
            "token": self.tokens,
            "line": self.lines,
            "square": self.lines**2,
            "label": self.known,
            "copy": self.spoken,
        }
        return {kind: np.cumsum(size) - size for kind, size in sizes.items()}

    def _part(self, kind: str, example: int, size: int) -> slice:
        start = self._starts[kind][example]
        return slice(start, start + size)

    def save(self, path: Path) -> None:
        """Write all arrays to one compressed file, completely or not at all."""
        # Written beside the file and moved there, so that an interrupted training leaves no half cache.
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **{entry.name: getattr(self, entry.name) for entry in fields(self)})
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Examples | None":
        """The saved examples; `None` where there is no readable file."""
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                return cls(**{entry.name: file[entry.name] for entry in fields(cls)})
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # made again, as a file of another version or a damaged one can be

    def encoded(self, example: int, relation: Relation, order: int | None = None) -> EncodedLines:
        """One example, in one of its stored orders or in the text's own."""
        count = int(self.lines[example])
        tokens = self._part("token", example, self.tokens[example])
        square = self._part("square", example, count * count)
        encoded = EncodedLines(
            ids=self.ids[tokens].astype(np.int32),
            line=self.line[tokens].astype(np.int32),
            position=self.position[tokens].astype(np.int32),
            relation=self.relation[PLANES[relation], square].reshape(-1, count, count),
            referents=self.referents[tokens].astype(np.int32) if relation == "referents" else None,
            copies=self.copies[tokens].astype(np.int32) if len(self.copies) else None,
            spoken=int(self.spoken[example]),
        )
        if order is None:
            return encoded
        return encoded.permuted(self.orders[order, self._part("line", example, count)])

    def batch(self, chosen: Chosen, relation: Relation, orders: Chosen | None = None) -> Batch:
        """The chosen examples, padded to the longest of them; each in its stored order if `orders` says."""
        places = [None] * len(chosen) if orders is None else list(orders)
        pairs = zip(chosen, places, strict=True)
        return collate([self.encoded(int(example), relation, order) for example, order in pairs])

    def pairs(self, chosen: Chosen) -> Integers:
        """(P, 2) the places in `chosen` of twins that are both there; of bugs, clean first."""
        places = {int(example): place for place, example in enumerate(chosen)}
        mates = [(place, places.get(int(self.twins[example]))) for example, place in places.items()]
        pairs = [(one, other) for one, other in mates if other is not None and not self.known[chosen[one]]]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def changed(self, example: int) -> tuple[int, int]:
        """Of an example with a twin, the tokens in which it differs from that: first and end."""
        own, other = (
            self.ids[self._part("token", number, self.tokens[number])]
            for number in (example, self.twins[example])
        )
        return changed_part(own, other)

    def targets(self, chosen: Chosen, labels: int) -> torch.Tensor:
        """(B, K) 1 where the label belongs to the name; with copying (B, K + C)."""
        most = int(self.spoken[np.asarray(chosen)].max(initial=0))
        targets = np.zeros((len(chosen), labels + most), dtype=np.float32)
        for row, example in enumerate(chosen):
            known = self._part("label", int(example), self.known[example])
            targets[row, self.labels[known]] = 1
            copied = self._part("copy", int(example), self.spoken[example])
            targets[row, labels : labels + self.spoken[example]] = self.named[copied]
        return torch.from_numpy(targets)


def featurise(
    samples: Iterable[Sample],
    tokenizer: Tokenizer,
    labels: Mapping[str, int],
    *,
    window: int,
    orders: int = 0,
    seed: int = 0,
    workers: int = 1,
    task: LineTask = NAMING,
    relation: Relation = "every",
    dependence: Dependence = "strict",
    copying: bool = False,
) -> Examples:
    """The features of all samples, in their order; those without features are left out and counted."""
    known = tuple(labels) if copying else None
    work = partial(_encode, _Setting(tokenizer.to_str(), window, orders, seed, relation, dependence, known))
    chunks = _chunks(
        _Labelled(
            sample.id,
            sample.language,
            sample.source,
            task.truth(sample.label) or (),
            sample.group if task.twins else "",
        )
        for sample in samples
    )
    done = spread(work, chunks, workers=workers, chunk=1, few=1)
    return _flat([row for rows in done for row in rows], labels, orders)


def _chunks(samples: Iterable[C]) -> Iterator[list[C]]:
    remaining = iter(samples)
    while chunk := list(islice(remaining, CHUNK)):
        yield chunk


class _Labelled(NamedTuple):
    id: str
    language: str
    source: str
    truth: tuple[str, ...]
    group: str
    """Of twins; empty for none."""


class _Setting(NamedTuple):
    tokenizer: str
    window: int
    orders: int
    seed: int
    relation: Relation
    dependence: Dependence
    labels: tuple[str, ...] | None
    """With copying."""


class _Row(NamedTuple):
    features: EncodedLines
    orders: npt.NDArray[np.uint16]
    truth: tuple[str, ...]
    group: str


# Kept per process: a worker gets many chunks, and the tokenizer's text would be parsed again for each.
@lru_cache(maxsize=1)
def _encoder(setting: _Setting) -> LineEncoder:
    return LineEncoder(
        Tokenizer.from_str(setting.tokenizer),
        window=setting.window,
        relation=setting.relation,
        dependence=setting.dependence,
        labels=setting.labels,
    )


def _encode(setting: _Setting, chunk: list[_Labelled]) -> list[_Row | Failed]:
    encoder = _encoder(setting)
    return [_row(encoder, setting, sample) for sample in chunk]


def _row(encoder: LineEncoder, setting: _Setting, sample: _Labelled) -> _Row | Failed:
    try:
        program = analyse(sample.source, sample.language, setting.dependence)
    except SourceError:
        return UNPARSABLE
    features = encoder.features(program, sample.language)
    if isinstance(features, Failed):
        return features
    # The sample's id is part of the stream: its orders do not depend on the worker or on the samples before
    # it.
    drawn = [
        program.sample_lines(stream(setting.seed, sample.id, "training order", number))
        for number in range(setting.orders)
    ]
    stored = np.array(drawn, dtype=np.uint16).reshape(setting.orders, features.lines)
    return _Row(features, stored, sample.truth, sample.group)


def _flat(outcomes: list[_Row | Failed], labels: Mapping[str, int], orders: int) -> Examples:
    rows = [row for row in outcomes if isinstance(row, _Row)]
    known = [[labels[part] for part in row.truth if part in labels] for row in rows]
    empty = np.zeros(0, dtype=np.int32)  # without rows there would be nothing to concatenate
    referents = [row.features.referents for row in rows if row.features.referents is not None]
    copies = [row.features.copies for row in rows if row.features.copies is not None]
    named = [word in row.truth for row in rows for word in row.features.words]
    return Examples(
        ids=np.concatenate([empty, *(row.features.ids for row in rows)]).astype(np.uint16),
        line=np.concatenate([empty, *(row.features.line for row in rows)]).astype(np.uint16),
        position=np.concatenate([empty, *(row.features.position for row in rows)]).astype(np.uint8),
        referents=np.concatenate([empty, *referents]).astype(np.uint16),
        copies=np.concatenate([empty, *copies]).astype(np.uint16),
        spoken=np.array([row.features.spoken for row in rows], dtype=np.int64),
        named=np.array(named, dtype=np.bool_),
        tokens=np.array([len(row.features.ids) for row in rows], dtype=np.int64),
        relation=np.concatenate(
            [np.zeros((3, 0), np.uint8), *(row.features.relation.reshape(3, -1) for row in rows)], axis=1
        ),
        lines=np.array([row.features.lines for row in rows], dtype=np.int64),
        orders=np.concatenate([np.zeros((orders, 0), np.uint16), *(row.orders for row in rows)], axis=1),
        labels=np.array([label for numbers in known for label in numbers], dtype=np.uint16),
        known=np.array([len(numbers) for numbers in known], dtype=np.int64),
        wanted=np.array([len(row.truth) for row in rows], dtype=np.int64),
        twins=find_twins(
            [row.group for row in rows], [bool(row.truth) for row in rows], [row.features.ids for row in rows]
        ),
        left_out=np.array(
            [len(outcomes) - len(rows) - outcomes.count(TOO_LONG), outcomes.count(TOO_LONG)], np.int64
        ),
    )


SCHEMA: Final = 3
"""Increased whenever the features of a source change, so that no stale cache is read."""

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMaterial:
    """The input of a training."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    """In the alphabet's order; each is a word of the tokenizer."""
    train: Examples
    valid: Examples
    test: Examples
    hashes: Mapping[str, str]
    """Of the samples of each split."""
    task: LineTask = NAMING
    languages: tuple[str, ...] = (DEFAULT,)
    """Of the training samples."""
    learned: bytes = b""
    """Hashes of the training samples (`codeaudit.audit.training.learned`)."""


def prepare(
    splits: Splits[Sample],
    recipe: LineRecipe,
    *,
    cache: Path,
    workers: int,
    note: Note,
    task: LineTask = NAMING,
    speaking: Callable[[Sequence[str]], Tokenizer] | None = None,
) -> LineMaterial:
    """Features and vocabulary; from the cache if they were made before.

    `speaking` makes the tokenizer that has some words as whole ones; without it, the words of the training
    samples are counted.

    Raises:
        CorpusError: the network cannot read a language, or every function of a split is too long.
    """
    cache.mkdir(parents=True, exist_ok=True)
    digests = hashes(splits)
    truths = [task.truth(sample.label) or () for sample in splits.train]
    labels = task.labels(truths, rarest=recipe.rarest_label)
    languages = tuple(sorted({sample.language for sample in splits.train}))
    relation = _reading(recipe, languages)
    if speaking is not None:
        tokenizer = speaking([*SPECIALS, *labels])
    else:
        tokenizer = _tokenizer(
            splits.train,
            labels,
            recipe,
            cache=cache,
            key=digests["train"],
            workers=workers,
            relation=relation,
        )
    read = partial(
        featurise,
        tokenizer=tokenizer,
        labels={label: number for number, label in enumerate(labels)},
        window=recipe.window,
        seed=recipe.seed,
        workers=workers,
        task=task,
        relation=relation,
        dependence=recipe.dependence,
        copying=recipe.copies(task),
    )
    features: dict[str, Examples] = {}
    for name, split in zip(NAMES, splits, strict=True):
        # Only training is augmented: validation and test judge the network on the text as it is.
        orders = recipe.orders if name == "train" else 0
        # Without orders the seed decides nothing here, so trainings with other seeds share the features.
        drawn = (orders, recipe.seed if orders else 0)
        setting = (tokenizer.to_str(), labels, recipe.window, recipe.copies(task))
        groups = content(f"{sample.group}\n" for sample in split) if task.twins else ""
        key = _key(digests[name], *setting, *drawn, *_apart(relation, recipe.dependence), groups)
        path = cache / f"features-{key}.npz"
        examples = Examples.load(path)
        if examples is None:
            note(f"reading {len(split):,} {name} functions")
            examples = read(split, orders=orders)
            examples.save(path)
        if not len(examples):
            raise CorpusError(f"every {name} function is longer than the window of {recipe.window} tokens")
        features[name] = examples
    return LineMaterial(
        tokenizer=tokenizer,
        labels=labels,
        hashes=digests,
        task=task,
        languages=languages,
        learned=learned_hashes(splits.train),
        **features,
    )


def _reading(recipe: LineRecipe, languages: tuple[str, ...]) -> Relation:
    """The relation to keep: one reading serves all networks, except those that read variables by identity.

    Raises:
        CorpusError: the network cannot read one of the languages.
    """
    if NETWORKS[recipe.network].relation != "referents":
        return "every"
    if languages != (DEFAULT,):
        raise CorpusError(f"{recipe.network} learns from Python only: {NO_REFERENTS.reason}")
    return "referents"


def _tokenizer(
    samples: Sequence[Sample],
    labels: tuple[str, ...],
    recipe: LineRecipe,
    *,
    cache: Path,
    key: str,
    workers: int,
    relation: Relation,
) -> Tokenizer:
    path = cache / f"words-{_key(key, *_apart(relation))}.json"
    counts = _read_counts(path)
    if counts is None:
        counts = word_counts(samples, workers=workers, relation=relation)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(counts), encoding="utf-8")
        part.replace(path)
    return wordpiece_tokenizer(counts, labels, size=recipe.vocabulary)


def _read_counts(path: Path) -> Counter[str] | None:
    try:
        counts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Counter(counts) if isinstance(counts, dict) else None


def _apart(relation: Relation, dependence: Dependence = "strict") -> tuple[str, ...]:
    """Part of the cache key for an unusual reading; empty for the usual one."""
    return tuple(setting for setting in (relation, dependence) if setting not in ("every", "strict"))


def word_counts(samples: Sequence[Sample], *, workers: int, relation: Relation = "every") -> Counter[str]:
    """How often each word occurs in the sources, as a network with this relation reads them."""
    count = partial(_count, relation=relation)
    sources = ((sample.language, sample.source) for sample in samples)
    total: Counter[str] = Counter()
    for counts in spread(count, _chunks(sources), workers=workers, chunk=1, few=1):
        total.update(counts)
    return total


def _count(sources: list[tuple[str, str]], relation: Relation) -> Counter[str]:
    counts: Counter[str] = Counter()
    for language, source in sources:
        try:
            read = line_words(analyse(source, language), language, relation)
        except SourceError:
            continue
        if not isinstance(read, Failed):
            for line in read:
                counts.update(word.text for word in line)
    return counts


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((SCHEMA, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:24]

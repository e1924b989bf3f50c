"""From corpora of code to windows of tokens: the tokenizer, the recipe, and the documents.

Tokens are byte-level pairs (Sennrich et al. 2016; Radford et al. 2019) learned from a corpus: every text
can be written in them and read back. A line break is always a token by itself, which ends its line. One
more token, `start`, stands before every text and after it; no text holds it, whatever it spells.

The functions of a file are one document, in their order.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as Bytes
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Steps
from tokenizers.trainers import BpeTrainer
from torch import Tensor

from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.interface import Task
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING
from codeaudit.audit.training import splits
from codeaudit.audit.training.learned import learned_hashes
from codeaudit.audit.training.splits import NAMES, Splits
from codeaudit.audit.training.trainer import Recipe
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.records import Sample

VERSION: Final = 1
"""Counts up whenever a text is shown otherwise to a network."""
WORDS: Final = r"\n| ?[\p{L}_]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}_]+|[^\S\n]+(?!\S)|[^\S\n]+"
"""The pieces that no token crosses: a line break, a word or sign with the blank before it, or blanks."""

Integers = npt.NDArray[np.int64]


class Streams:
    """Text to ids and back."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        newline = tokenizer.token_to_id("\u010a")  # how the byte of a line break is spelled
        if newline is None:
            raise ValueError("a tokenizer without a line break")
        self.tokenizer = tokenizer
        self.newline: int = newline

    @property
    def start(self) -> int:
        """The id of the token before and after every text."""
        return self.tokenizer.get_vocab_size()

    @property
    def vocabulary(self) -> int:
        """How many ids there are."""
        return self.tokenizer.get_vocab_size() + 1

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without `start`.

        Raises:
            SourceError: it holds halves of characters, which are no text.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SourceError("text that cannot be written in UTF-8") from error
        tokens: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens; `start` is nothing. Of characters that are not whole, U+FFFD is left."""
        text: str = self.tokenizer.decode([token for token in ids if token != self.start])
        return text


def learn(texts: Iterable[str], vocabulary: int) -> Streams:
    """A tokenizer of the most frequent pairs in texts: `vocabulary` ids, or fewer without more pairs."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Steps(
        # Bytes last: no text is unknown then, and the alphabet of 256 signs is all that has to be given.
        [Split(Regex(WORDS), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = Bytes()
    trainer = BpeTrainer(
        vocab_size=vocabulary - 1, initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return Streams(tokenizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecipe(Recipe):
    """How CoDE or one of its baselines is trained. The defaults are those of the bundled checkpoint."""

    network: str
    task: str = CODE_MODELLING.name
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the network: `pace`, `mixer`, …"""
    width: int = 128
    layers: int = 4
    """A baseline has one more."""
    heads: int = 4
    inner: int = 352
    window: int = 256
    """Tokens of a training example."""
    tied: bool = True
    """Whether one table serves for reading and predicting."""
    features: int = 64
    sparsity: float = 1e-5
    """α: the weight of the L1 term of CoDE's features."""
    dropout: float = 0.0
    vocabulary: int = 2048
    batch: int = 16
    epochs: int = 1
    steps: int | None = None
    """Instead of `epochs` where given."""
    stretch: int = 250
    """Steps after which validation is asked."""
    rate: float = 3e-3
    """Peak learning rate: linear warm-up, then a cosine down to a twentieth."""
    warm_up: int = 100
    weight_decay: float = 0.1
    clip: float = 1.0
    patience: int = 1_000_000
    """Stretches without a better validation before it ends."""
    validation: int = 256
    """Windows that decide on the best weights."""
    tested: int = 1000
    """Texts of the test set that the card's scores are of."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16 while it learns; weights and validation are in float32."""

    def sizes(self, streams: Streams) -> DecoderSizes:
        """The sizes of the network, once the tokens are known."""
        return self.sized(
            DecoderSizes, vocabulary=streams.vocabulary, newline=streams.newline, start=streams.start
        )


NOTHING: Final = -1
"""Behind the end of a document; no token."""
UNREADABLE: Final = "text that is no Unicode"
KNOWN: Final = "also learned from"


class Windows:
    """Documents cut to one length."""

    def __init__(self, rows: Integers, streams: Streams) -> None:
        """(N, W + 1) ids, `NOTHING` behind the end of a document; the first of each row is `start`."""
        self.rows = rows
        self._bytes = byte_counts(streams)

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, chosen: Integers) -> tuple[Tensor, Tensor]:
        """(B, W) inputs and the (B, W) tokens that follow them, `NOTHING` where none does."""
        rows = torch.from_numpy(self.rows[chosen])
        return rows[:, :-1].clamp(min=0), rows[:, 1:]

    def bytes(self, chosen: Integers) -> int:
        """The bytes of the tokens to predict."""
        targets = self.rows[chosen][:, 1:]
        return int(self._bytes[targets[targets != NOTHING]].sum())


def byte_counts(streams: Streams) -> Integers:
    """The length of each token in bytes; that of `start` is 0."""
    spelled = streams.tokenizer.get_vocab()
    counts = np.zeros(streams.vocabulary, dtype=np.int64)
    for token, number in spelled.items():
        counts[number] = len(token)  # byte-level tokens have one sign for each byte
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMaterial:
    """The input of a training."""

    streams: Streams
    train: Windows
    valid: Windows
    test: Sequence[Sequence[int]]
    """The ids of the test texts, each alone and without `start`."""
    hashes: Mapping[str, str]
    """Of the samples of each split."""
    counts: Mapping[str, int]
    """The samples of each split."""
    languages: tuple[str, ...]
    """Of the training samples."""
    left_out: Mapping[str, int]
    """Why samples were left out, and how many."""
    learned: bytes = b""
    """Hashes of the training samples (`codeaudit.audit.training.learned`)."""


def read(
    task: Task,
    recipe: StreamRecipe,
    train: Corpus,
    valid: Corpus | None = None,
    test: Corpus | None = None,
    *,
    note: Callable[[str], None],
) -> StreamMaterial:
    """The texts of corpora. For want of another corpus a twentieth of the files is held out.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
    """
    left_out: Counter[str] = Counter()

    def samples(corpus: Corpus) -> list[Sample]:
        functions = list(_samples(task, corpus, left_out))
        note(f"{corpus.spec}: {counted(len(functions), 'function')}")
        return functions

    texts = [None if corpus is None else samples(corpus) for corpus in (train, valid, test)]
    parts = split(texts[0] or [], texts[1], texts[2], left_out)
    for name, part in zip(NAMES, parts, strict=True):
        if not part:
            held = valid is None or test is None
            hint = "; to hold texts out takes three files, else name --valid and --test" if held else ""
            raise CorpusError(f"no {name} texts of task {task.name!r} in corpus {train.spec!r}{hint}")
    return material(parts, recipe, left_out)


def split(
    train: Sequence[Sample],
    valid: Sequence[Sample] | None,
    test: Sequence[Sample] | None,
    left_out: Counter[str],
) -> Splits[Sample]:
    """Splits that are `None` are files held out of `train`; validation and test leave out learned texts."""
    parts, count = splits.split(
        train,
        valid,
        test,
        group=lambda sample: sample.origin.path,
        same=lambda sample: sample.id,
        spelled=str,
    )
    left_out[KNOWN] += count
    return parts


def material(parts: Splits[Sample], recipe: StreamRecipe, left_out: Mapping[str, int]) -> StreamMaterial:
    """The splits as tokens that were learned from the first."""
    streams = learn((sample.source for sample in parts.train), recipe.vocabulary)
    named = dict(zip(NAMES, parts, strict=True))
    # A part of the test texts, because each is read alone.
    rng = np.random.default_rng(recipe.seed)
    tested = [parts.test[number] for number in rng.permutation(len(parts.test))[: recipe.tested]]
    return StreamMaterial(
        streams=streams,
        train=windows(parts.train, streams, recipe.window),
        valid=windows(parts.valid, streams, recipe.window),
        test=[streams.ids(sample.source) for sample in tested],
        hashes={name: _content(part) for name, part in named.items()},
        learned=learned_hashes(parts.train),
        counts={name: len(part) for name, part in named.items()},
        languages=tuple(sorted({sample.language for sample in parts.train})),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def documents(samples: Sequence[Sample], streams: Streams) -> Iterator[list[list[int]]]:
    """Of each file the ids of its samples in their order, blank lines between; `start` ends the last."""
    files: dict[str, list[Sample]] = {}
    for sample in samples:
        files.setdefault(sample.origin.path, []).append(sample)
    for path in sorted(files):
        ordered = sorted(files[path], key=lambda sample: (sample.origin.line, sample.id))
        texts = [streams.ids(sample.source.rstrip("\n") + "\n\n") for sample in ordered]
        # One text after another as they stand in the file, because a function uses those above it.
        yield [*texts[:-1], [*texts[-1], streams.start]]


def windows(samples: Sequence[Sample], streams: Streams, size: int) -> Windows:
    """The documents cut to `size` inputs, each window behind a `start` of its own.

    The next window begins where a sample begins in the second half of this one; else with the line that the
    cut went through, if it begins there; else at the cut.
    """
    rows = [
        row
        for texts in documents(samples, streams)
        for row in _cut(texts, size, newline=streams.newline, start=streams.start)
    ]
    return Windows(np.array(rows, dtype=np.int64).reshape(-1, size + 1), streams)


def _cut(texts: Sequence[Sequence[int]], size: int, *, newline: int, start: int) -> Iterator[list[int]]:
    tokens = [token for text in texts for token in text]
    # A window that begins in the middle of a function shows a context that no text has; the second half of
    # the window before it is shown twice then, never left out.
    begins = set(np.cumsum([len(text) for text in texts]).tolist())
    place = 0
    while place < len(tokens):
        row = [start, *tokens[place : place + size]]
        yield row + [NOTHING] * (size + 1 - len(row))
        end = place + size
        second = range(min(end, len(tokens)), place + size // 2, -1)
        fresh = next((at for at in second if at in begins), None)
        line = next((at for at in second if tokens[at - 1] == newline), end)
        place = end if end >= len(tokens) else line if fresh is None else fresh


def _samples(task: Task, corpus: Corpus, left_out: Counter[str]) -> Iterator[Sample]:
    """The distinct texts of a corpus."""
    known: set[str] = set()
    for raw in corpus.read(left_out):
        sample = task.prepare(raw)
        if isinstance(sample, str):
            left_out[sample] += 1
        elif sample.id not in known:
            known.add(sample.id)
            try:
                sample.source.encode()
            except UnicodeEncodeError:
                left_out[UNREADABLE] += 1
            else:
                yield sample


def _content(samples: Sequence[Sample]) -> str:
    return splits.content(f"{sample.id} {sample.origin.path} {sample.origin.line}\n" for sample in samples)

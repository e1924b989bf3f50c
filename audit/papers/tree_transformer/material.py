"""From samples to trees as numbers, in batches: the recipe, the types, the words, and the words of names."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor

from codeaudit.audit.papers.lines.encoding import UNKNOWN
from codeaudit.audit.papers.lines.tasks import NAMING
from codeaudit.audit.papers.lines.tasks import split_hashes as hashes
from codeaudit.audit.papers.tree_transformer.batches import Piece, TreeBatch, collate
from codeaudit.audit.papers.tree_transformer.networks import BEGIN_ID, LONGEST, TreeShape
from codeaudit.audit.papers.tree_transformer.nodes import (
    SPECIALS,
    TOO_LONG,
    Degree,
    NodeReader,
    Spelling,
    Tree,
    TreeInput,
    read,
    spelled,
)
from codeaudit.audit.records import Failed
from codeaudit.audit.training.learned import learned_hashes
from codeaudit.audit.training.splits import NAMES, Splits
from codeaudit.audit.training.trainer import Integers, Recipe
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRecipe(Recipe):
    """How a transformer over trees is trained. The defaults are those of the bundled checkpoint.

    The paper's has 6 layers of width 512 with 8 heads, values as whole words, and 20 epochs at 1e-4.
    """

    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the scheme: `terms`, `dimension`, …"""
    degree: Degree = "full"
    spelling: Spelling = "subtokens"
    width: int = 128
    layers: int = 2
    decoder_layers: int = 1
    heads: int = 4
    inner: int | None = None
    """Without one 4 times the width."""
    levels: int = 16
    embedding: int = 32
    window: int = 250
    """Nodes; longer functions are left out, longer trees to be completed are cut into pieces that overlap by
    half."""
    dropout: float = 0.1
    vocabulary: int = 8000
    """Words of values."""
    rarest_label: int = 10
    """A subtoken of fewer training names is never said."""
    batch: int = 64
    epochs: int = 6
    steps: int | None = None
    """Instead of `epochs` where given."""
    rate: float = 1e-3
    """Peak learning rate: linear warm-up, then a cosine down to a fiftieth."""
    warm_up: int = 200
    weight_decay: float = 0.01
    clip: float = 5.0
    """As in the paper."""
    patience: int = 4
    """Epochs without a better validation score before it ends."""
    validation: int = 1000
    """Functions that decide on the best epoch."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16; the weights stay in float32."""

    def shape(self, *, types: int, values: int, names: int = 0) -> TreeShape:
        """The sizes of the network, once types and words are counted."""
        return self.sized(TreeShape, types=types, values=values, names=names)


IGNORED: Final = -100
"""A target without loss."""


@dataclass(frozen=True, kw_only=True)
class TreeExamples:
    """Many trees, or pieces of trees."""

    nodes: TreeInput
    """Of all trees, one behind the other; parents are places in their own tree."""
    ends: Integers
    """Where each tree ends in these."""
    pieces: npt.NDArray[np.int64]
    """(count, 4) of each example: its tree, first node, end, and the first node that counts."""
    left_out: tuple[int, int]
    """How many samples did not parse, and how many were too long."""

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def lengths(self) -> Integers:
        """(count,) nodes."""
        lengths: Integers = self.pieces[:, 2] - self.pieces[:, 1]
        return lengths

    def tree(self, number: int) -> TreeInput:
        """One tree."""
        inner = slice(int(self.ends[number - 1]) if number else 0, int(self.ends[number]))
        return TreeInput(**{name: getattr(self.nodes, name)[inner] for name in TreeInput.__slots__})

    def batch(self, chosen: Integers, *, levels: int, degree: Degree) -> TreeBatch:
        """The chosen examples, padded."""
        rows = self.pieces[chosen]
        pieces = [Piece(self.tree(int(tree)), int(start), int(stop)) for tree, start, stop, _ in rows]
        return collate(pieces, levels=levels, degree=degree)

    def fresh(self, chosen: Integers) -> Tensor:
        """(B, n) true for the nodes of the chosen examples that no piece before has counted."""
        lengths = self.lengths[chosen]
        place = np.arange(lengths.max())
        begin = (self.pieces[chosen, 3] - self.pieces[chosen, 1])[:, None]
        return torch.from_numpy((place >= begin) & (place < lengths[:, None]))


def flat(
    trees: Sequence[Tree],
    reader: NodeReader,
    *,
    window: int | None = None,
    left_out: tuple[int, int] = (0, 0),
) -> TreeExamples:
    """Trees as examples; with a window those longer than it in pieces of that size that overlap by half.

    Each node counts in one piece only: in the first that it is in.
    """
    inputs = [reader.encode(tree) for tree in trees]
    ends = np.cumsum([len(tree.types) for tree in inputs], dtype=np.int64)
    rows = [row for number, tree in enumerate(inputs) for row in _pieces(number, len(tree.types), window)]
    nodes = {name: np.concatenate([getattr(tree, name) for tree in inputs]) for name in TreeInput.__slots__}
    return TreeExamples(
        nodes=TreeInput(**nodes),
        ends=ends,
        pieces=np.array(rows, dtype=np.int64).reshape(-1, 4),
        left_out=left_out,
    )


def _pieces(tree: int, size: int, window: int | None) -> list[tuple[int, int, int, int]]:
    if window is None or size <= window:
        return [(tree, 0, size, 0)]
    pieces, seen = [], 0
    # Half a window of context for all but the first nodes, and each node counts once: in the first piece it
    # is in.
    for start in range(0, size, max(1, window // 2)):
        stop = min(start + window, size)
        pieces.append((tree, start, stop, seen))
        seen = stop
        if stop == size:
            break
    return pieces


def values_and_targets(names: Sequence[Sequence[int]], spoken: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Names as (B, T) values given to the decoder, and as (B, T) targets.

    `names` are numbers of words, -1 for those that are never said: these are given as unknown, and are no
    targets. `spoken` are the values of the words, the end's first. Words beyond `LONGEST` are left out.
    """
    longest = min(LONGEST, max(len(name) for name in names) + 1)
    values = torch.zeros(len(names), longest, dtype=torch.long)
    targets = torch.full((len(names), longest), IGNORED)
    for row, name in enumerate(names):
        # A word that is never said still stands before the next ones, as unknown.
        before = [BEGIN_ID, *(1 if word < 0 else spoken[word] for word in name)][:longest]
        after = [*(IGNORED if word < 0 else word for word in name), 0][:longest]
        values[row, : len(before)] = torch.tensor(before)
        targets[row, : len(after)] = torch.tensor(after)
    return values, targets


Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTrees:
    """Trees with the names of their functions."""

    examples: TreeExamples
    names: tuple[tuple[int, ...], ...]
    """Of each the words as the network says them: numbers from 1, -1 for those that it never says."""
    gold: tuple[tuple[str, ...], ...]
    """The same as texts."""

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeWords:
    """The types and words of a network."""

    types: tuple[str, ...]
    values: tuple[str, ...]
    """The `SPECIALS` first."""
    labels: tuple[str, ...] = ()
    """The words that it can say; each is a value."""

    @property
    def spoken(self) -> list[int]:
        """The values of the words that can be said, the end first."""
        places = {value: number for number, value in enumerate(self.values)}
        return [SPECIALS.index("</s>"), *(places[label] for label in self.labels)]

    def reader(self, spelling: Spelling, limit: int | None = None) -> NodeReader:
        """A reader of sources."""
        return NodeReader(self.types, self.values, spelling=spelling, limit=limit)

    def tokenizer(self) -> Tokenizer:
        """The values as a file can hold them."""
        return Tokenizer(WordLevel({value: at for at, value in enumerate(self.values)}, unk_token=UNKNOWN))


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMaterial:
    """The input of a namer's training."""

    words: TreeWords
    train: NamedTrees
    valid: NamedTrees
    test: NamedTrees
    hashes: Mapping[str, str]
    """Of the samples of each split."""
    languages: tuple[str, ...]
    """Of the training samples."""
    learned: bytes
    """Hashes of the training samples (`codeaudit.audit.training.learned`)."""


def prepare(splits: Splits[Sample], recipe: TreeRecipe, *, note: Note) -> TreeMaterial:
    """Trees and words of prepared samples of `function-name`.

    Raises:
        CorpusError: no subtoken is frequent enough to be said, or every function is too long.
    """
    by_split: dict[str, tuple[list[Tree], list[tuple[str, ...]], tuple[int, int]]] = {}
    for name, split in zip(NAMES, splits, strict=True):
        note(f"reading {len(split):,} {name} functions")
        by_split[name] = _trees(split, recipe.window)
        if not by_split[name][0]:
            raise CorpusError(f"every {name} function has more than {recipe.window} nodes")
    labels = NAMING.labels(
        [tuple(sorted(set(gold))) for gold in by_split["train"][1]], rarest=recipe.rarest_label
    )
    words = vocabulary(by_split["train"][0], labels, size=recipe.vocabulary, spelling=recipe.spelling)
    reader = words.reader(recipe.spelling)
    numbers = {label: number for number, label in enumerate(labels, start=1)}
    named = {
        name: NamedTrees(
            examples=flat(trees, reader, left_out=left_out),
            names=tuple(tuple(numbers.get(word, -1) for word in parts) for parts in gold),
            gold=tuple(gold),
        )
        for name, (trees, gold, left_out) in by_split.items()
    }
    return TreeMaterial(
        words=words,
        **named,
        hashes=hashes(splits),
        learned=learned_hashes(splits.train),
        languages=tuple(sorted({sample.language for sample in splits.train})),
    )


def vocabulary(trees: Iterable[Tree], labels: Sequence[str], *, size: int, spelling: Spelling) -> TreeWords:
    """All types; as words the labels and the frequent words of values. The alphabet breaks ties."""
    types: set[str] = set()
    counts: Counter[str] = Counter()
    for tree in trees:
        types.update(tree.types)
        for value in tree.values:
            counts.update(spelled(value, spelling))
    entries = dict.fromkeys([*SPECIALS, *labels])
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        if len(entries) >= size:
            break
        entries.setdefault(word)
    return TreeWords(types=tuple(sorted(types)), values=tuple(entries), labels=tuple(labels))


def _trees(
    samples: Sequence[Sample], window: int
) -> tuple[list[Tree], list[tuple[str, ...]], tuple[int, int]]:
    trees: list[Tree] = []
    gold: list[tuple[str, ...]] = []
    long = lost = 0
    for sample in samples:
        tree = read(sample.source, sample.language, limit=window)
        if isinstance(tree, Failed):
            long, lost = long + (tree == TOO_LONG), lost + (tree != TOO_LONG)
        elif isinstance(sample.label, tuple):
            trees.append(tree)
            gold.append(sample.label)
    return trees, gold, (lost, long)

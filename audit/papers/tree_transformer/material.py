"""From samples to trees as numbers: the words, the types, and what can be said."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from codeaudit.audit.papers.lines.splits import hashes
from codeaudit.audit.papers.lines.tasks import NAMING
from codeaudit.audit.papers.lines.vocabulary import UNKNOWN
from codeaudit.audit.papers.tree_transformer.branches import SPECIALS
from codeaudit.audit.papers.tree_transformer.examples import TreeExamples, flat
from codeaudit.audit.papers.tree_transformer.nodes import TOO_LONG, NodeReader, Spelling, Tree, read, spelled
from codeaudit.audit.papers.tree_transformer.recipe import TreeRecipe
from codeaudit.audit.records import Failed
from codeaudit.audit.training.splits import NAMES, Splits
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

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
    """What a network knows."""

    types: tuple[str, ...]
    values: tuple[str, ...]
    """The `SPECIALS` first."""
    labels: tuple[str, ...] = ()
    """The words that it can say; each is a value."""

    @property
    def spoken(self) -> list[int]:
        """The values of what is said, the end first."""
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
    """All that a training of a namer reads."""

    words: TreeWords
    train: NamedTrees
    valid: NamedTrees
    test: NamedTrees
    hashes: Mapping[str, str]
    """Of the samples of each split."""
    languages: tuple[str, ...]
    """Of the training samples."""


def prepare(splits: Splits[Sample], recipe: TreeRecipe, *, note: Note) -> TreeMaterial:
    """Trees and words of prepared samples of `function-name`.

    Raises:
        CorpusError: no subtoken is frequent enough to be said, or every function is too long.
    """
    found: dict[str, tuple[list[Tree], list[tuple[str, ...]], tuple[int, int]]] = {}
    for name, split in zip(NAMES, splits, strict=True):
        note(f"reading {len(split):,} {name} functions")
        found[name] = _trees(split, recipe.window)
        if not found[name][0]:
            raise CorpusError(f"every {name} function has more than {recipe.window} nodes")
    labels = NAMING.labels(
        [tuple(sorted(set(gold))) for gold in found["train"][1]], rarest=recipe.rarest_label
    )
    words = vocabulary(found["train"][0], labels, size=recipe.vocabulary, spelling=recipe.spelling)
    reader = words.reader(recipe.spelling)
    numbers = {label: number for number, label in enumerate(labels, start=1)}
    named = {
        name: NamedTrees(
            examples=flat(trees, reader, left_out=left_out),
            names=tuple(tuple(numbers.get(word, -1) for word in one) for one in gold),
            gold=tuple(gold),
        )
        for name, (trees, gold, left_out) in found.items()
    }
    return TreeMaterial(
        words=words,
        **named,
        hashes=hashes(splits),
        languages=tuple(sorted({sample.language for sample in splits.train})),
    )


def vocabulary(trees: Iterable[Tree], labels: Sequence[str], *, size: int, spelling: Spelling) -> TreeWords:
    """All types; of the values' words the labels and what is frequent. Ties go by the alphabet."""
    types: set[str] = set()
    counts: Counter[str] = Counter()
    for tree in trees:
        types.update(tree.types)
        for value in tree.values:
            counts.update(spelled(value, spelling))
    entries = dict.fromkeys([*SPECIALS, *labels])
    for word in sorted(counts, key=lambda one: (-counts[one], one)):
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

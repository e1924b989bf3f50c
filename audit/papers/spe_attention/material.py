"""From samples to examples: the words, the labels, and the features, which are kept between trainings."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from codeaudit.audit.papers.lines import vocabulary
from codeaudit.audit.papers.lines.encoding import NO_REFERENTS, Relation, line_words
from codeaudit.audit.papers.lines.programs import analyse
from codeaudit.audit.papers.lines.splits import hashes
from codeaudit.audit.papers.lines.tasks import NAMING, LineTask
from codeaudit.audit.papers.spe_attention.examples import CHUNK, Examples, featurise
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.audit.papers.spe_attention.recipe import LineRecipe
from codeaudit.audit.records import Failed
from codeaudit.audit.training.splits import NAMES, Splits
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.languages import DEFAULT
from codeaudit.transforms.records import Sample

SCHEMA: Final = 1
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


def prepare(
    splits: Splits[Sample],
    recipe: LineRecipe,
    *,
    cache: Path,
    workers: int,
    note: Note,
    task: LineTask = NAMING,
) -> LineMaterial:
    """Features and vocabulary; from the cache if they were made before.

    Raises:
        CorpusError: the network cannot read a language, or every function of a split is too long.
    """
    cache.mkdir(parents=True, exist_ok=True)
    digests = hashes(splits)
    truths = [task.truth(sample.label) or () for sample in splits.train]
    labels = task.labels(truths, rarest=recipe.rarest_label)
    languages = tuple(sorted({sample.language for sample in splits.train}))
    kept = _reading(recipe, languages)
    tokenizer = _tokenizer(
        splits.train, labels, recipe, cache=cache, key=digests["train"], workers=workers, relation=kept
    )
    read = partial(
        featurise,
        tokenizer=tokenizer,
        labels={label: number for number, label in enumerate(labels)},
        window=recipe.window,
        seed=recipe.seed,
        workers=workers,
        task=task,
        relation=kept,
    )
    found: dict[str, Examples] = {}
    for name, split in zip(NAMES, splits, strict=True):
        orders = recipe.orders if name == "train" else 0
        drawn = (orders, recipe.seed if orders else 0)
        key = _key(digests[name], tokenizer.to_str(), labels, recipe.window, *drawn, *_apart(kept))
        path = cache / f"features-{key}.npz"
        examples = Examples.load(path)
        if examples is None:
            note(f"reading {len(split):,} {name} functions")
            examples = read(split, orders=orders)
            examples.save(path)
        if not len(examples):
            raise CorpusError(f"every {name} function is longer than the window of {recipe.window} tokens")
        found[name] = examples
    return LineMaterial(
        tokenizer=tokenizer, labels=labels, hashes=digests, task=task, languages=languages, **found
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
    return vocabulary.build(counts, labels, size=recipe.vocabulary)


def _read_counts(path: Path) -> Counter[str] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Counter(found) if isinstance(found, dict) else None


def _apart(relation: Relation) -> tuple[str, ...]:
    """Part of the cache key for an unusual reading; empty for the usual one."""
    return () if relation == "every" else (relation,)


def word_counts(samples: Sequence[Sample], *, workers: int, relation: Relation = "every") -> Counter[str]:
    """How often each word occurs in the sources, as a network with this relation reads them."""
    count = partial(_count, relation=relation)
    sources = ((sample.language, sample.source) for sample in samples)
    chunks = iter(partial(lambda: list(islice(sources, CHUNK))), [])
    total: Counter[str] = Counter()
    if workers == 1:
        for counts in map(count, chunks):
            total.update(counts)
        return total
    with get_context("spawn").Pool(workers) as pool:
        for counts in pool.imap(count, chunks):
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

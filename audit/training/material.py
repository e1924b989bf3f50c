"""From corpora to examples: the splits, the words, the labels, and the features kept between trainings."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from tokenizers import Tokenizer

from audit.corpora.records import Corpus
from audit.features import vocabulary
from audit.features.words import masked_name, words
from audit.interface import Task
from audit.training.examples import CHUNK, Examples, featurise
from audit.training.recipe import Recipe
from transforms.errors import CorpusError, SourceError
from transforms.python.analysis.program import analyse
from transforms.records import Sample

SCHEMA: Final = 1
"""Counts up whenever the features of a source change, so that no stale cache is read."""
PARTS: Final = 20
"""Without a corpus of its own, validation gets one part in so many, and the test another."""
FEWEST_FILES: Final = 40

Note = Callable[[str], None]


class Splits(NamedTuple):
    """Prepared samples."""

    train: list[Sample]
    valid: list[Sample]
    test: list[Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All that a training reads."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    """In the alphabet's order; each is a word of the tokenizer."""
    train: Examples
    valid: Examples
    test: Examples
    hashes: Mapping[str, str]
    """Of the samples of each split."""


def read(task: Task, train: Corpus, valid: Corpus | None = None, test: Corpus | None = None) -> Splits:
    """The examples of a task. For want of another corpus a twentieth of the files is held out.

    Which files is decided by a hash of their paths; with fewer than `FEWEST_FILES`, functions are held
    out instead. What is in the training corpus too, by content, is left out of the others.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
    """
    found = Splits([], [], [])
    samples = list(_prepared(task, train))
    paths = {sample.origin.path for sample in samples}
    keys = [sample.origin.path if len(paths) >= FEWEST_FILES else sample.id for sample in samples]
    for_valid, for_test = _held_out(keys)
    for sample, key in zip(samples, keys, strict=True):
        if valid is None and key in for_valid:
            found.valid.append(sample)
        elif test is None and key in for_test:
            found.test.append(sample)
        else:
            found.train.append(sample)
    known = {sample.id for sample in found.train}
    for corpus, split in ((valid, found.valid), (test, found.test)):
        if corpus is not None:
            split += [sample for sample in _prepared(task, corpus) if sample.id not in known]
    for name, split in zip(Splits._fields, found, strict=True):
        if not split:
            raise CorpusError(f"no {name} examples of task {task.name!r} in corpus {train.spec!r}")
    return found


def _held_out(keys: Sequence[str]) -> tuple[set[str], set[str]]:
    """Two sets of keys, each a twentieth of the distinct ones and at least one, by their hashes."""
    ranked = sorted(set(keys), key=lambda key: hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest())
    size = max(1, len(ranked) // PARTS)
    return set(ranked[:size]), set(ranked[size : 2 * size])


def _prepared(task: Task, corpus: Corpus) -> Iterator[Sample]:
    for raw in corpus.read(Counter()):
        sample = task.prepare(raw)
        if isinstance(sample, Sample) and sample.language == "python" and isinstance(sample.label, tuple):
            yield sample


def prepare(splits: Splits, recipe: Recipe, *, cache: Path, workers: int, note: Note) -> Material:
    """Features and vocabulary, from the cache where they were made before."""
    cache.mkdir(parents=True, exist_ok=True)
    hashes = {name: _hash(split) for name, split in zip(Splits._fields, splits, strict=True)}
    labels = frequent_labels(splits.train, recipe.rarest_label)
    tokenizer = _tokenizer(splits.train, labels, recipe, cache=cache, key=hashes["train"], workers=workers)
    found: dict[str, Examples] = {}
    for name, split in zip(Splits._fields, splits, strict=True):
        orders = recipe.orders if name == "train" else 0
        drawn = (orders, recipe.seed if orders else 0)
        key = _key(hashes[name], tokenizer.to_str(), labels, recipe.window, *drawn)
        path = cache / f"features-{key}.npz"
        examples = Examples.load(path)
        if examples is None:
            note(f"reading {len(split):,} {name} functions")
            index = {label: number for number, label in enumerate(labels)}
            examples = featurise(
                split,
                tokenizer,
                index,
                window=recipe.window,
                orders=orders,
                seed=recipe.seed,
                workers=workers,
            )
            examples.save(path)
        if not len(examples):
            raise CorpusError(f"every {name} function is longer than the window of {recipe.window} tokens")
        found[name] = examples
    return Material(tokenizer=tokenizer, labels=labels, hashes=hashes, **found)


def frequent_labels(samples: Sequence[Sample], rarest: int) -> tuple[str, ...]:
    """The subtokens that stand in at least so many names.

    Raises:
        CorpusError: there is none.
    """
    counts = Counter(part for sample in samples for part in _subtokens(sample))
    labels = tuple(sorted(part for part, count in counts.items() if count >= rarest))
    if not labels:
        raise CorpusError(
            f"no subtoken stands in {rarest} of the {len(samples)} names; take a larger corpus, "
            "or a smaller --rarest-label"
        )
    return labels


def _subtokens(sample: Sample) -> set[str]:
    return set(sample.label) if isinstance(sample.label, tuple) else set()


def _tokenizer(
    samples: Sequence[Sample],
    labels: tuple[str, ...],
    recipe: Recipe,
    *,
    cache: Path,
    key: str,
    workers: int,
) -> Tokenizer:
    path = cache / f"words-{_key(key)}.json"
    counts = _read_counts(path)
    if counts is None:
        counts = word_counts(samples, workers=workers)
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


def word_counts(samples: Sequence[Sample], *, workers: int) -> Counter[str]:
    """How often each word stands in the sources."""
    sources = (sample.source for sample in samples)
    chunks = iter(partial(lambda: list(islice(sources, CHUNK))), [])
    total: Counter[str] = Counter()
    if workers == 1:
        for counts in map(_count, chunks):
            total.update(counts)
        return total
    with get_context("spawn").Pool(workers) as pool:
        for counts in pool.imap(_count, chunks):
            total.update(counts)
    return total


def _count(sources: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for source in sources:
        try:
            lines = analyse(source).lines
        except SourceError:
            continue
        name = masked_name(lines[0].text) if lines else ""
        for line in lines:
            counts.update(words(line, name))
    return counts


def _hash(samples: Sequence[Sample]) -> str:
    digest = hashlib.sha256()
    for sample in samples:
        digest.update(f"{sample.id}\0{sample.label}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((SCHEMA, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:24]

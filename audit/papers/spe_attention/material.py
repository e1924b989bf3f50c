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

from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.corpora.splits import split_of
from codeaudit.audit.interface import Task
from codeaudit.audit.papers.lines import vocabulary
from codeaudit.audit.papers.lines.encoding import NO_REFERENTS, Relation, line_words
from codeaudit.audit.papers.lines.programs import analyse, readable_languages
from codeaudit.audit.papers.lines.tasks import NAMING, LineTask
from codeaudit.audit.papers.lines.tasks import TASKS as LINE_TASKS
from codeaudit.audit.papers.registry import NETWORKS
from codeaudit.audit.papers.spe_attention.examples import CHUNK, Examples, featurise
from codeaudit.audit.papers.spe_attention.recipe import Recipe
from codeaudit.audit.records import Failed
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.languages import DEFAULT
from codeaudit.transforms.records import Sample

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
    task: LineTask = NAMING
    languages: tuple[str, ...] = (DEFAULT,)
    """Of the training samples."""


def read(task: Task, train: Corpus, valid: Corpus | None = None, test: Corpus | None = None) -> Splits:
    """The examples of a task. For want of another corpus a twentieth of the files is held out.

    Which files is decided by a hash of their paths; with fewer than `FEWEST_FILES`, functions are held
    out instead. Samples with groups are parted by `split_of`, in its shares. What is in the training corpus
    too, by content or by a member of its group, is left out of the others, and so is what stands there with
    two labels.

    Raises:
        CorpusError: a corpus cannot be read, or a split is empty.
    """
    found = Splits([], [], [])
    samples = list(_prepared(task, train))
    grouped = any(sample.group for sample in samples)
    paths = {sample.origin.path for sample in samples}
    keys = [sample.origin.path if len(paths) >= FEWEST_FILES else sample.id for sample in samples]
    for_valid, for_test = _held_out(keys)
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
    truth = LINE_TASKS[task.name].truth
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


def prepare(
    splits: Splits, recipe: Recipe, *, cache: Path, workers: int, note: Note, task: LineTask = NAMING
) -> Material:
    """Features and vocabulary, from the cache where they were made before."""
    cache.mkdir(parents=True, exist_ok=True)
    hashes = {name: content_hash(split) for name, split in zip(Splits._fields, splits, strict=True)}
    truths = [task.truth(sample.label) or () for sample in splits.train]
    labels = task.labels(truths, rarest=recipe.rarest_label)
    relation = NETWORKS[recipe.network].relation
    languages = tuple(sorted({sample.language for sample in splits.train}))
    if relation == "referents":
        if languages != (DEFAULT,):
            raise CorpusError(f"{recipe.network} learns from Python only: {NO_REFERENTS.reason}")
        kept: Relation = "referents"
    else:
        kept = "every"  # one reading for all other networks
    tokenizer = _tokenizer(
        splits.train, labels, recipe, cache=cache, key=hashes["train"], workers=workers, relation=kept
    )
    found: dict[str, Examples] = {}
    for name, split in zip(Splits._fields, splits, strict=True):
        orders = recipe.orders if name == "train" else 0
        drawn = (orders, recipe.seed if orders else 0)
        key = _key(hashes[name], tokenizer.to_str(), labels, recipe.window, *drawn, *_apart(kept))
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
                task=task,
                relation=kept,
            )
            examples.save(path)
        if not len(examples):
            raise CorpusError(f"every {name} function is longer than the window of {recipe.window} tokens")
        found[name] = examples
    return Material(
        tokenizer=tokenizer, labels=labels, hashes=hashes, task=task, languages=languages, **found
    )


def _tokenizer(
    samples: Sequence[Sample],
    labels: tuple[str, ...],
    recipe: Recipe,
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
    """What keeps a reading's files apart from those of the usual one."""
    return () if relation == "every" else (relation,)


def word_counts(samples: Sequence[Sample], *, workers: int, relation: Relation = "every") -> Counter[str]:
    """How often each word stands in the sources, as a network with such a relation reads them."""
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


def content_hash(samples: Sequence[Sample]) -> str:
    """A hash of what is learned from: the samples and their labels."""
    digest = hashlib.sha256()
    for sample in samples:
        digest.update(f"{sample.id}\0{sample.label}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((SCHEMA, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:24]

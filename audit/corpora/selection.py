"""Draws the samples of a run from a corpus, by their content and the seed, not by their order."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from codeaudit.audit.corpora import native
from codeaudit.audit.corpora.files import SourceFiles
from codeaudit.audit.corpora.hub import HubTable
from codeaudit.audit.corpora.records import Corpus, LeftOut, Prepare, id_of, prepared
from codeaudit.audit.corpora.tables import Table, names_language
from codeaudit.transforms.errors import NOT_PARSED, OTHER_NOT_PARSED, CorpusError
from codeaudit.transforms.language import (
    DEFAULT,
    LANGUAGES,
    LOOKS,
    NO_ENGINE,
    every_language,
    find_language,
    is_well_known,
    rewritten_today,
)
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target

DUPLICATE: Final = "duplicate"
"""The reason to leave out a copy."""
CONTRADICTION: Final = "duplicate with another label"
"""The reason to leave out the copies of a text that has several labels."""
SLACK: Final = 64
"""Additional candidates kept at first, because some candidates are no examples of the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPart:
    """What the merge of all shards needs to know of the samples of one."""

    places: tuple[int, ...]
    """The rank of each sample: ascending numbers, which put the samples of all shards in order."""
    contents: tuple[str, ...]
    """For each sample, a hash that copies share. Copies in other shards are found when these are joined."""
    raw: str
    """Hash of all raw samples of the corpus: equal in all shards of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The samples of one draw."""

    seed: int
    samples: tuple[Sample, ...]
    """In the order of their ranks."""
    available: int
    """Number of units of the corpus: its raw samples, and what it left out while it was read, except whole
    files."""
    languages: tuple[tuple[str, int], ...]
    """The raw samples of the corpus by language, as (language, count), sorted by language."""
    hash: str
    """Hash of the chosen samples; independent of the order and the names of files."""
    unread: tuple[tuple[str, int], ...]
    """What the corpus left out while it was read, as (reason, count), sorted by reason."""
    details: Mapping[str, str]
    """What a parser said of files that could not be read, by path, where that is more than the reason."""
    unread_files: Mapping[str, str]
    """The paths of the files among these, each with its reason."""
    skipped: tuple[tuple[str, int], ...]
    """The raw samples left out, as (reason, count), sorted by reason."""
    data_sets: tuple[str, ...]
    """The names of the known data sets whose rows were read, sorted."""
    notes: tuple[str, ...]
    """Lines for the user about what was read."""
    shown: tuple[Sample, ...]
    """Examples without their text, maybe copies or of other shards: one of each language that has any, and
    one with a label if there is one.
    """
    part: "DrawnPart | None" = None
    """Only of a shard that draws its own samples alone."""
    further: Iterable[Sample] = field(default=(), compare=False, repr=False)
    """The examples behind these, in the order of their ranks, to the end of the corpus. They are found while
    they are read; each iteration starts anew."""

    @property
    def left_out(self) -> Counter[str]:
        """The number of samples left out by reason, those that could not be read included."""
        return Counter(dict(self.unread)) + Counter(dict(self.skipped))

    @property
    def units_left_out(self) -> Counter[str]:
        """The same without whole files, of which nobody knows how many units they hold.

        The samples, these, and `not_drawn` are together `available`.
        """
        return self.left_out - Counter(self.unread_files.values())

    @property
    def not_drawn(self) -> int:
        """Number of raw samples that the draw did not reach, or that are of other shards."""
        return self.available - len(self.samples) - self.units_left_out.total()


FAR: Final = 64
"""How many times as many candidates are kept after a reading that found no example."""


def select(
    corpus: Corpus,
    prepare: Prepare,
    *,
    limit: int | None,
    seeds: Sequence[int],
    unit: str | None = None,
    spare: int = 0,
    own: Callable[[str], bool] | None = None,
) -> tuple[Selection, ...]:
    """Draw up to `limit` examples for each seed, or all of them for `None`, in one reading of the corpus.

    `unit` is what an error calls the examples; without it, what they are in the language of the corpus.
    `spare` raw samples are kept at least for `Selection.further`; if that needs more, it reads the corpus
    again. Without a limit, a shard draws only the samples whose id is `own`, and counts the others. (With a
    limit, which samples are drawn depends on all of them.)

    Raw samples are ranked by a hash of their id and the seed. From the lowest rank up, those that
    `prepare` accepts and whose syntax tree (docstrings aside) did not come before are taken. Memory is
    bounded by the limit, not by the corpus.

    Raises:
        CorpusError: there is not one example.
    """
    # How many candidates become examples is known only after `prepare`, which may execute code. So a few more
    # than needed are kept, and the corpus is read again in the rare case that they do not suffice.
    size = None if limit is None else max(2 * limit + SLACK, spare)
    own = own if size is None else None
    while True:
        unread = LeftOut()
        draws = [_Draw(seed, size) for seed in seeds]
        languages: Counter[str] = Counter()
        hashes = _RawHash()
        for sample in corpus.read(unread):
            languages[sample.language] += 1
            if own is not None:
                hashes.add(sample)
                if not own(sample.id):
                    continue
            for draw in draws:
                draw.offer(sample)
        available = languages.total()
        readers = [_Examples(prepare) for _ in draws]
        chosen = [list(islice(reader.of(draw), limit)) for reader, draw in zip(readers, draws, strict=True)]
        # Read again only if the corpus has more than was kept and some draw is still short.
        if size is None or available < size or all(len(examples) == limit for examples in chosen):
            break
        # Each reading may take a minute. Where the first one found nothing, there may be nothing to find.
        size *= 4 if any(chosen) else FAR
    if own is not None:
        # Every trial has the same samples.
        readers[0].shown.complete(corpus, prepare, own, languages)
    if not (all(chosen) if own is None else readers[0].shown.examples):
        left_out = unread + readers[0].skipped
        raise CorpusError(_nothing(unit or units(languages), corpus, left_out, languages))
    return tuple(
        Selection(
            seed=draw.seed,
            samples=tuple(example.sample for example in examples),
            available=available + (unread - Counter(unread.files.values())).total(),
            languages=tuple(sorted(languages.items())),
            hash=hash_of(example.sample.id for example in examples),
            unread=tuple(sorted(unread.items())),
            details=unread.details,
            unread_files=unread.files,
            data_sets=tuple(sorted(unread.data_sets)),
            notes=tuple(unread.notes),
            skipped=tuple(sorted(reader.skipped.items())),
            shown=tuple((reader if own is None else readers[0]).shown.examples),
            part=None if own is None else _part(draw.seed, examples, hashes),
            further=_Further(corpus, draw, reader, available),
        )
        for draw, reader, examples in zip(draws, readers, chosen, strict=True)
    )


def hash_of(ids: Iterable[str]) -> str:
    """Hash of the samples with these ids, in any order."""
    return hashlib.sha256("".join(sorted(ids)).encode()).hexdigest()


def _part(seed: int, examples: Sequence["_Example"], hashes: "_RawHash") -> DrawnPart:
    return DrawnPart(
        # A table has signed numbers.
        places=tuple(_rank(seed, example.sample) // 2 for example in examples),
        contents=tuple(example.content.hex() for example in examples),
        raw=hashes.text,
    )


class _RawHash:
    """A hash of raw samples with what comes with them, in any order."""

    def __init__(self) -> None:
        self._sum = 0
        self._context = ""
        self._of_context = b""

    def add(self, sample: Sample) -> None:
        """Count a sample."""
        # The samples of a file share its text, which is long.
        if sample.context is not self._context:
            self._context = sample.context
            self._of_context = hashlib.blake2b(_bytes(sample.context), digest_size=16).digest()
        about = repr((sample.id, sample.label, sample.tests, sample.group, self._of_context))
        self._sum += int.from_bytes(hashlib.sha256(_bytes(about)).digest()[:16], "big")

    @property
    def text(self) -> str:
        """The hash."""
        return f"{self._sum % 2**128:032x}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _ShownExamples:
    """Collects `Selection.shown`."""

    def __init__(self) -> None:
        self.examples: list[Sample] = []
        self._languages: set[str] = set()
        self._labelled = False

    def add(self, example: Sample) -> None:
        """Keep an example that shows more than those before it."""
        labelled = example.label is not None
        if example.language not in self._languages or (labelled and not self._labelled):
            self.examples.append(replace(example, source="", context="", tests=None))
            self._languages.add(example.language)
            self._labelled |= labelled

    def complete(
        self, corpus: Corpus, prepare: Prepare, own: Callable[[str], bool], languages: Collection[str]
    ) -> None:
        """Look at the samples of other shards for what is missing. Mostly nothing is, and nothing is read."""
        for raw in () if self._has_all(languages) else corpus.read(Counter()):
            if not own(raw.id) and not (self._labelled and raw.language in self._languages):
                sample = prepared(prepare, raw)
                if not isinstance(sample, str):
                    self.add(sample)
                if self._has_all(languages):
                    break

    def _has_all(self, languages: Collection[str]) -> bool:
        return self._labelled and self._languages.issuperset(languages)


class _Draw:
    """Keeps the distinct samples with the lowest ranks."""

    def __init__(self, seed: int, size: int | None) -> None:
        self.seed = seed
        self.size = size
        self._samples: dict[str, Sample] = {}
        self.repeats: Counter[str] = Counter()
        """How often each kept id came again."""
        self._labels: dict[str, frozenset[str]] = {}
        """The labels of each of these."""
        self._heap: list[tuple[int, str]] = []

    def offer(self, sample: Sample) -> None:
        """Keep the sample if its rank is one of the lowest so far."""
        if sample.id in self._samples:
            # The same text in two places keeps the label if one has none, and then the origin that sorts
            # first, whatever the order of reading.
            earlier = self._samples[sample.id]
            self._samples[sample.id] = min(
                earlier, sample, key=lambda raw: (not _labels_of(raw), _place(raw))
            )
            self.repeats[sample.id] += 1
            self._labels[sample.id] = self._labels.get(sample.id, _labels_of(earlier)) | _labels_of(sample)
            return
        # `heapq` keeps the smallest on top; with negative ranks that is the worst one kept, the next to go.
        entry = (-_rank(self.seed, sample), sample.id)
        if self.size is None or len(self._heap) < self.size:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            gone = heapq.heapreplace(self._heap, entry)[1]
            del self._samples[gone], self.repeats[gone]
            self._labels.pop(gone, None)
        else:
            return
        self._samples[sample.id] = sample

    def contradicts(self, identity: str) -> bool:
        """Whether one text came with several labels."""
        return len(self._labels.get(identity, ())) > 1

    def candidates(self) -> list[Sample]:
        """The kept samples, lowest rank first."""
        return [self._samples[identity] for _, identity in sorted(self._heap, reverse=True)]


def _labels_of(raw: Sample) -> frozenset[str]:
    """The label of a raw sample as a text, if it has one."""
    label = raw.label
    missing = label is None or label == "" or label != label  # NaN is no label
    return frozenset() if missing else frozenset({repr(label)})


@dataclass(frozen=True, slots=True)
class _Example:
    """An example, with the hash that its copies share."""

    sample: Sample
    content: bytes


class _Examples:
    """Makes examples of candidates. It remembers how far it came and what it has seen."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self.skipped: Counter[str] = Counter()
        self.shown = _ShownExamples()
        self._seen: set[bytes] = set()
        self._read = 0
        """Number of candidates behind it."""

    def copy(self) -> "_Examples":
        """One that goes on from here by itself."""
        other = _Examples(self._prepare)
        other.skipped, other._seen, other._read = self.skipped.copy(), self._seen.copy(), self._read
        return other

    def of(self, draw: _Draw) -> Iterator[_Example]:
        """The next examples of a draw, lowest rank first."""
        for raw in draw.candidates()[self._read :]:
            self._read += 1
            if repeats := draw.repeats[raw.id]:
                self.skipped[CONTRADICTION if draw.contradicts(raw.id) else DUPLICATE] += repeats
            sample = prepared(self._prepare, raw)
            if isinstance(sample, str):
                self.skipped[sample] += 1
                continue
            self.shown.add(sample)
            key = _key(raw, sample)
            if key in self._seen:
                self.skipped[DUPLICATE] += 1
            else:
                self._seen.add(key)
                yield _Example(sample, key)


@dataclass(frozen=True, slots=True)
class _Further:
    """The examples of a draw behind those that `examples` has given."""

    corpus: Corpus
    draw: _Draw
    examples: _Examples
    available: int

    def __iter__(self) -> Iterator[Sample]:
        draw, examples = self.draw, self.examples.copy()
        while True:
            yield from (example.sample for example in examples.of(draw))
            # All that the corpus has was kept.
            if draw.size is None or self.available < draw.size:
                return
            # A larger draw begins with the same candidates, so reading goes on at the same place.
            draw = _Draw(draw.seed, 4 * draw.size)
            for sample in self.corpus.read(Counter()):
                draw.offer(sample)


def rank_of(seed: int, identity: str) -> int:
    """The rank of a sample in the draw of a seed, by a hash: it stays when the corpus grows."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "big")


def _rank(seed: int, sample: Sample) -> int:
    """The rank of a sample. The two sides of a fix have neighbouring ranks, so that a draw has both."""
    if not sample.other_side:
        return rank_of(seed, sample.id)
    first, second = sorted((sample.id, id_of(sample.language, sample.other_side)))
    # Not in the lowest bit, which the places of a shard lack.
    return rank_of(seed, f"{first}:{second}") & ~7 | (2 if sample.id == first else 4)


def _place(sample: Sample) -> tuple[str, int]:
    return sample.origin.path, sample.origin.line


def _key(raw: Sample, prepared: Sample) -> bytes:
    """Equal for two samples that ask the same question about the same code."""
    # Of the raw text: a prepared one has its name masked, so two functions might look like copies. With
    # calls, also of the prepared text: one function with two calls is two questions if it shows them. A hash,
    # because the key of every sample is kept.
    beside = filter(None, (raw.other, *raw.candidates, raw.text))
    parts = (raw.language, _content(raw), prepared.source if raw.calls else "", *beside)
    return hashlib.blake2b(_bytes("\0".join(parts)), digest_size=16).digest()


def _content(sample: Sample) -> str:
    """What two samples share that differ in layout, comments and docstrings only."""
    language = find_language(sample.language)
    if language is None or not language.content:
        return " ".join(sample.source.split())
    content: str = load_target(language.content)(sample.source)
    return content


def units(languages: Collection[str]) -> str:
    """What samples of these languages are called: `functions`, …; `samples` for several languages."""
    records = [find_language(name) for name in languages or (DEFAULT,)]
    words = {"samples" if language is None else language.units for language in records}
    return words.pop() if len(words) == 1 else "samples"


def _nothing(unit: str, corpus: Corpus, reasons: Counter[str], languages: Collection[str]) -> str:
    """The error for a corpus without an example, with the remedy if its language is the reason."""
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(3))
    while (inner := getattr(corpus, "whole", None)) is not None:  # without those that look at what is read
        corpus = inner
    message = f"no {unit} in corpus {corpus.spec!r}" + (f" ({why})" if why else "")
    foreign = [
        reason.removesuffix(NO_ENGINE).removeprefix("row in ").removeprefix(LOOKS)
        for reason in reasons
        if reason.endswith(NO_ENGINE)
    ]
    if foreign and all(map(is_well_known, foreign)):
        return f"{message}; {rewritten_today()}"
    if isinstance(corpus, SourceFiles) and corpus.named and not corpus.roots[0].read_bytes().strip():
        return f"{message}: the file is empty"
    if isinstance(corpus, Table) and next(iter(corpus.rows(Counter())), None) is None:
        return f"{message}: the table has no rows"
    names = ", ".join(sorted(LANGUAGES))
    if strange := [name for name in (*languages, *foreign) if name not in LANGUAGES]:
        message += f"; {', '.join(map(repr, strange))} is no language that codeaudit knows: {names}"
    elif looks := [reason.removeprefix(LOOKS) for reason in reasons if reason.startswith(LOOKS)]:
        near = [language for language in every_language() if language.title in looks[0].split(" or ")]
        message += "".join(
            f"; if it is {language.title}, write --columns language={language.name}" for language in near
        )
    elif reasons.keys() & UNREAD and isinstance(corpus, Table | HubTable) and not _says_language(corpus):
        read_as = " and ".join(sorted(languages)) or DEFAULT
        message += (
            f"; it names no language, so its texts were read as {read_as}; --columns language=NAME names a "
            f"column or the language: {names}"
        )
    return message


UNREAD: Final = frozenset({NOT_PARSED, OTHER_NOT_PARSED, "no function to name"})
"""Reasons that another language would explain."""


def _says_language(table: Table | HubTable) -> bool:
    row = next((row for _, row in table.rows(Counter())), {})
    data_set = native.data_set_of(row)
    # `Java/0`: a task of these data sets begins with the name of its language.
    by_task = data_set is not None and "task_id" in data_set.columns
    return "language" in table.columns or by_task or names_language(row)

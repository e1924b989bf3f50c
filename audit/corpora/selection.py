"""Draws the samples of a run from a corpus, by their content and the seed, not by their order."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from codeaudit.audit.corpora.records import Corpus, Prepare
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.language import DEFAULT, find_language
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target

SLACK: Final = 64
"""Additional candidates kept at first, because some candidates are no examples of the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The samples of one draw."""

    seed: int
    samples: tuple[Sample, ...]
    """In the order of their ranks."""
    available: int
    """Number of raw samples of the corpus."""
    hash: str
    """Hash of the chosen samples; independent of the order and the names of files."""
    skipped: tuple[tuple[str, int], ...]
    """The samples left out, as (reason, count), sorted by reason."""
    further: Iterable[Sample] = field(default=(), compare=False, repr=False)
    """The examples behind these, in the order of their ranks, to the end of the corpus. They are found while
    they are read; each iteration starts anew."""


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
    again. Without a limit, samples whose id is not `own` are drawn, too, but come without their text: a shard
    only counts them.

    Raw samples are ranked by a hash of their id and the seed. From the lowest rank up, those that
    `prepare` accepts and whose syntax tree (docstrings aside) did not come before are taken. Memory is
    bounded by the limit, not by the corpus.

    Raises:
        CorpusError: there is not one example.
    """
    # How many candidates become examples is known only after `prepare`, which may execute code. So a few more
    # than needed are kept, and the corpus is read again in the rare case that they do not suffice.
    size = None if limit is None else max(2 * limit + SLACK, spare)
    while True:
        skipped: Counter[str] = Counter()
        foreign = None if own is None or size is not None else _Foreign(own, prepare)
        draws = [_Draw(seed, size, foreign) for seed in seeds]
        available = 0
        languages: set[str] = set()
        for sample in corpus.read(skipped):
            available += 1
            languages.add(sample.language)
            for draw in draws:
                draw.offer(sample)
        readers = [_Examples(prepare) for _ in draws]
        chosen = [list(islice(reader.of(draw), limit)) for reader, draw in zip(readers, draws, strict=True)]
        # Read again only if the corpus has more than was kept and some draw is still short.
        if size is None or available < size or all(len(samples) == limit for samples in chosen):
            break
        size *= 4
    if not all(chosen):
        raise CorpusError(_nothing(unit or units(languages), corpus.spec, skipped + readers[0].skipped))
    return tuple(
        Selection(
            seed=draw.seed,
            samples=tuple(samples),
            available=available,
            hash=hashlib.sha256("".join(sorted(sample.id for sample in samples)).encode()).hexdigest(),
            skipped=tuple(sorted((skipped + reader.skipped).items())),
            further=_Further(corpus, draw, reader, available),
        )
        for draw, reader, samples in zip(draws, readers, chosen, strict=True)
    )


class _Draw:
    """Keeps the distinct samples with the lowest ranks."""

    def __init__(self, seed: int, size: int | None, foreign: "_Foreign | None" = None) -> None:
        self.seed = seed
        self.size = size
        self.foreign = foreign
        self._kept: dict[str, Sample] = {}
        self.repeats: Counter[str] = Counter()
        """How often each kept id came again."""
        self._heap: list[tuple[int, str]] = []

    def offer(self, sample: Sample) -> None:
        """Keep the sample if its rank is one of the lowest so far."""
        if sample.id in self._kept:
            # The same text in two places keeps the origin that sorts first, whatever the order of reading.
            first = min(self._kept[sample.id], sample, key=_place)
            self._kept[sample.id] = first if self.foreign is None else self.foreign.without_text(first)
            self.repeats[sample.id] += 1
            return
        # `heapq` keeps the smallest on top; with negative ranks that is the worst one kept, the next to go.
        entry = (-_rank(self.seed, sample.id), sample.id)
        if self.size is None or len(self._heap) < self.size:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            gone = heapq.heapreplace(self._heap, entry)[1]
            del self._kept[gone], self.repeats[gone]
        else:
            return
        self._kept[sample.id] = sample if self.foreign is None else self.foreign.without_text(sample)

    def candidates(self) -> list[Sample]:
        """The kept samples, lowest rank first."""
        return [self._kept[identity] for _, identity in sorted(self._heap, reverse=True)]


class _Foreign:
    """Decides at once about samples of other shards, so that their texts need not be kept."""

    def __init__(self, own: Callable[[str], bool], prepare: Prepare) -> None:
        self._own = own
        self._prepare = prepare
        self._found: dict[str, bytes | str] = {}
        self._labelled: set[str] = set()

    def without_text(self, sample: Sample) -> Sample:
        """The sample without its text if it is of another shard."""
        if self._own(sample.id):
            return sample
        if sample.id not in self._found:
            prepared = self._prepare(sample)
            self._found[sample.id] = prepared if isinstance(prepared, str) else _key(sample, prepared)
            if isinstance(prepared, Sample) and prepared.label is not None:
                self._labelled.add(sample.id)
        # Whether there is a label decides where the labels of the run come from.
        label = "" if sample.id in self._labelled else None
        return Sample(id=sample.id, language=sample.language, source="", label=label, origin=sample.origin)

    def decided(self, sample: Sample) -> bytes | str | None:
        """The key of an example of another shard, or the reason against it; `None` for other samples."""
        return self._found.get(sample.id)


class _Examples:
    """Makes examples of candidates. It remembers how far it came and what it has seen."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self.skipped: Counter[str] = Counter()
        self._seen: set[bytes] = set()
        self._read = 0
        """Number of candidates behind it."""

    def copy(self) -> "_Examples":
        """One that goes on from here by itself."""
        found = _Examples(self._prepare)
        found.skipped, found._seen, found._read = self.skipped.copy(), self._seen.copy(), self._read
        return found

    def of(self, draw: _Draw) -> Iterator[Sample]:
        """The next examples of a draw, lowest rank first."""
        for raw in draw.candidates()[self._read :]:
            self._read += 1
            if repeats := draw.repeats[raw.id]:
                self.skipped["duplicate"] += repeats
            decided = None if draw.foreign is None else draw.foreign.decided(raw)
            prepared = self._prepare(raw) if decided is None else raw
            reason = prepared if isinstance(prepared, str) else decided if isinstance(decided, str) else None
            if isinstance(prepared, str) or reason is not None:
                self.skipped[reason or ""] += 1
                continue
            key = decided if isinstance(decided, bytes) else _key(raw, prepared)
            if key in self._seen:
                self.skipped["duplicate"] += 1
            else:
                self._seen.add(key)
                yield prepared


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
            yield from examples.of(draw)
            # All that the corpus has was kept.
            if draw.size is None or self.available < draw.size:
                return
            # A larger draw begins with the same candidates, so reading goes on at the same place.
            draw = _Draw(draw.seed, 4 * draw.size)
            for sample in self.corpus.read(Counter()):
                draw.offer(sample)


# A hash, not a random draw: a sample keeps its rank when the corpus grows, so runs stay comparable.
def _rank(seed: int, identity: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "big")


def _place(sample: Sample) -> tuple[str, int]:
    return sample.origin.path, sample.origin.line


def _key(raw: Sample, prepared: Sample) -> bytes:
    """Equal for two samples that ask the same question about the same code."""
    # Of the raw text: a prepared one has its name masked, so two functions might look like copies. With
    # calls, also of the prepared text: one function with two calls is two questions if it shows them. A hash,
    # because the key of every sample is kept.
    parts = (_content(raw), prepared.source if raw.calls else "")
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _content(sample: Sample) -> str:
    """What two samples share that differ in layout, comments and docstrings only."""
    language = find_language(sample.language)
    if language is None or not language.content:
        return " ".join(sample.source.split())
    found: str = load_target(language.content)(sample.source)
    return found


def units(languages: Collection[str]) -> str:
    """What samples of these languages are called: `functions`, …; `samples` for several languages."""
    records = [find_language(name) for name in languages or (DEFAULT,)]
    found = {"samples" if language is None else language.units for language in records}
    return found.pop() if len(found) == 1 else "samples"


def _nothing(unit: str, spec: str, reasons: Counter[str]) -> str:
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(3))
    return f"no {unit} in corpus {spec!r}" + (f" ({why})" if why else "")

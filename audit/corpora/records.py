"""What a corpus is, what one is made with, how a raw sample is made, and how groups are split."""

import hashlib
import heapq
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias

from typing_extensions import override

from codeaudit.audit.checks import shown
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.grammar import counted_reasons, with_reasons
from codeaudit.transforms.language import NO_ENGINE
from codeaudit.transforms.records import Origin, Sample, TranslationTarget

Note: TypeAlias = Callable[[str], None]
"""Shows a line of progress to the user."""


Prepare: TypeAlias = Callable[[Sample], Sample | str]
"""A task's `prepare`: the sample as the task asks about it, or the reason why it is no example."""


def prepared(prepare: Prepare, raw: Sample) -> Sample | str:
    """What a task makes of a raw sample.

    Raises:
        CannotAudit: a plug-in's task gave something else.
    """
    sample: Any = prepare(raw)
    if not isinstance(sample, Sample | str):
        expected = "a Sample, or the reason why there is none as a text"
        raise CannotAudit(f"the task's `prepare` gave {shown(sample)}; it must give {expected}")
    return sample


class LeftOut(Counter[str]):
    """How much a corpus left out while it was read, by reason."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}
        """The paths of whole files, each with its reason."""
        self.details: dict[str, str] = {}
        """What a parser said of some of them."""
        self.data_sets: set[str] = set()
        """The names of the known data sets whose rows were read."""
        self.notes: dict[str, None] = {}
        """Lines for the user about what was read."""
        self.labelled = False
        """Whether a row had a cell for its label, and not only a name."""


def unread_files_line(files: Mapping[str, str], details: Mapping[str, str]) -> str:
    """One line on files that could not be read, each with what is known of it; empty without such files."""
    # Those in other languages are only counted: a project may have thousands.
    reasons = {path: details.get(path, why) for path, why in files.items() if not why.endswith(NO_ENGINE)}
    return f"not read: {with_reasons(reasons)}" if reasons else ""


def also_left_out(
    skipped: Counter[str],
    reasons: Mapping[str, int],
    files: Mapping[str, str],
    details: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add what an inner corpus left out to what an outer one does."""
    skipped.update(reasons)
    if isinstance(skipped, LeftOut):
        skipped.files.update(files)
        skipped.details.update(details)
        if isinstance(reasons, LeftOut):
            skipped.data_sets |= reasons.data_sets
            skipped.notes |= reasons.notes
            skipped.labelled |= reasons.labelled


class BaseCorpus(Protocol):
    """Base of corpora."""

    __slots__ = ()

    @abstractmethod
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """Every raw sample once, in any order, with one file or one row in memory at a time.

        Counts in `skipped`, by reason, what is left out. If that is a `LeftOut`, it notes whole files, too.

        Raises:
            CorpusError: the place as a whole cannot be read.
            SourceError: the one file that was named cannot be used.
        """


class Corpus(BaseCorpus, Protocol):
    """Raw samples of one place, which can be read again. A raw label is as the place gives it: a name, a
    class, a number or nothing.

    A corpus whose samples are all of one language may say so beforehand by an attribute `language`.
    """

    @property
    @abstractmethod
    def spec(self) -> str:
        """The name that the user gave it."""


class CorpusAround(BaseCorpus):
    """A corpus that reads another one, whose name it has."""

    whole: Corpus
    """The corpus itself."""

    @property
    def spec(self) -> str:
        """The name of the corpus inside."""
        return self.whole.spec


@dataclass(frozen=True, slots=True)
class NotingCorpus(CorpusAround):
    """A corpus that tells what it leaves out, each time it has been read to its end."""

    whole: Corpus
    note: Note

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        left_out = LeftOut()
        yield from self.whole.read(left_out)
        also_left_out(skipped, left_out, left_out.files, left_out.details)
        if left_out:
            self.note(f"corpus {self.spec}: left out: {', '.join(counted_reasons(left_out, most=6))}")
        if line := unread_files_line(left_out.files, left_out.details):
            self.note(line)


@dataclass(frozen=True, slots=True)
class SpreadCorpus(CorpusAround):
    """Some samples of a corpus, spread over it: those whose ids have the smallest hashes. Nothing else is
    decided by these hashes, and so each split gets its share (`split_of`).

    Samples of a group, such as a bug and its fix, come together: the group's hash decides.
    """

    whole: Corpus
    count: int

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        def rank(numbered: tuple[int, Sample]) -> bytes:
            sample = numbered[1]
            return hashlib.sha256(f"spread:{sample.group or sample.id}".encode()).digest()

        chosen = heapq.nsmallest(self.count, enumerate(self.whole.read(skipped)), key=rank)
        yield from (sample for _, sample in sorted(chosen, key=lambda numbered: numbered[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusResources:
    """What slow corpora need."""

    # One record for all corpora, so that a new need of one does not change how every plug-in is called.

    cache: Path | None = None
    """A folder for results that are kept; `None` for the user's cache folder."""
    note: Note | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of a table's columns, by ours: `--columns source=func`."""


class OpensCorpus(Protocol):
    """Makes the corpora `NAME` and `NAME:REST`. Plug-ins register one by an entry point NAME of the group
    `codeaudit.corpora`; the first line of its docstring is shown by `codeaudit list corpora`.
    """

    def __call__(self, spec: str, rest: str, resources: CorpusResources, /) -> Corpus:
        """The corpus of a SPEC `NAME` (then `rest` is empty) or `NAME:REST`. Nothing is read yet.

        Raises:
            CorpusError: there is no such corpus.
        """
        ...


def raw_sample(
    source: str,
    *,
    language: str,
    label: str | float | None,
    path: str,
    line: int,
    tests: str | None = None,
    context: str = "",
    file: str = "",
    group: str = "",
    calls: tuple[tuple[str, str], ...] = (),
    other_side: str = "",
    documentation: str = "",
    other: str = "",
    candidates: tuple[str, ...] = (),
    text: str = "",
    targets: tuple[TranslationTarget, ...] = (),
) -> Sample:
    """A sample whose id is derived from its language, its text, the calls that its table gives, and what a
    model sees beside the text."""
    place = path.encode("utf-8", "replace").decode()  # a file's name may contain bytes that are not text
    return Sample(
        id=id_of(language, source, calls, beside=(other, *candidates, text)),
        language=language,
        source=source,
        label=label,
        origin=Origin(path=place, line=line),
        tests=tests,
        context=context,
        file=file,
        group=group,
        calls=calls,
        other_side=other_side,
        documentation=documentation,
        other=other,
        candidates=candidates,
        text=text,
        targets=targets,
    )


def id_of(
    language: str, source: str, calls: tuple[tuple[str, str], ...] = (), *, beside: tuple[str, ...] = ()
) -> str:
    """The id of a raw sample."""
    # Not from its place: a draw must not change when a file is renamed or another one is added before it.
    # CRUXEval has rows of one function with several inputs: each is a sample of its own.
    texts = filter(None, beside)
    content = "\0".join((language, source, *(part for call in calls for part in call), *texts))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


Split: TypeAlias = Literal["train", "valid", "test"]

SPLITS: Final[tuple[Split, ...]] = ("train", "valid", "test")
_TRAIN: Final = 0.6
_VALID: Final = 0.1


def split_of(group: str) -> Split:
    """The split of a group, by a hash of its name, for corpora without their own splits.

    The shares are those of spe-attention (section 5.1): 70 % for training and 30 % for testing; here 10 % of
    all are taken from training for validation.
    """
    # A hash of the group alone: a corpus may grow, and no group ever moves from training to testing.
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return "train" if place < _TRAIN else "valid" if place < _TRAIN + _VALID else "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumn:
    """The column of a table with the labels."""

    name: str
    divisor: float = 1.0
    """Its numbers are divided by this, for example cycles of 100 iterations by 100."""

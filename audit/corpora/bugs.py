"""Functions with one seeded bug each, beside the functions as they were: examples of error detection.

A bug counts only if execution shows it: on some drawn input the function as it was returns, the same each
time, and the one with the bug does something else. So every clean example was executed, too. Bug and original
are a group, which no split parts. What was found once is kept on disk, a line per function, so that a reading
that was interrupted goes on, and the second one executes nothing.
"""

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from codeaudit.audit.cache import default_folder
from codeaudit.audit.corpora.records import Corpus, raw_sample
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.splits import Split, split_of
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.oracle.oracle import Oracle
from codeaudit.transforms.oracle.records import Agreed, Differed, Inconclusive
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.defects import DEFECTS
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS
from codeaudit.transforms.seeding import stream

NAME: Final = "bugs"
SCHEMA: Final = 1
"""Counts up whenever other bugs are made of the same functions."""
FUNCTIONS: Final = 1_000
"""How many functions of a corpus are tried where no size is asked for."""
TRIES: Final = 6
"""Bugs that are tried on a function before it is given up."""
NOTE_SECONDS: Final = 20.0

CONTROLS: Final = (
    "negation-dropped",
    "condition-dropped",
    "branch-dropped",
    "for-off-by-one",
    "bool-literals-wrong",
    "augmented-wrong",
    "arguments-swapped",
)
"""Controls of the catalogue that are mistakes as people make them."""

NO_PLACE: Final = "no place for a bug"
NOT_SHOWN: Final = "no bug that execution shows"
CLEAN: Final = 0.0
BUGGY: Final = 1.0

Note = Callable[[str], None]


class Seeded(NamedTuple):
    """A function with a bug."""

    source: str
    maker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bugs:
    """Seeded bugs in the functions of another corpus."""

    spec: str
    base: Corpus
    """Where the functions come from."""
    split: Split | None = None
    size: int = FUNCTIONS
    """How many functions are tried: the first in the order of the seed, before they are split."""
    seed: int = 0
    cache: Path | None = None
    """A folder for what was found; by default the user's."""
    note: Note | None = None
    """Where progress is told."""

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """As `Corpus.read`: of each function with a bug the clean text (label 0), then the buggy one (1).

        Raises:
            CannotAudit: something has to be executed, and this machine can't contain programs.
        """
        (drawn,) = select(self.base, _fit, limit=self.size, seeds=[self.seed])
        skipped.update(dict(drawn.skipped))
        wanted = [one for one in drawn.samples if self.split in (None, split_of(one.id))]
        book = Book(self._path())
        with _Seeder(self.seed) as seeder:
            for sample, found in _Progress(self.spec, book, self.note).through(wanted, seeder):
                if isinstance(found, str):
                    skipped[found] += 1
                    continue
                yield _labelled(sample, sample.source, CLEAN)
                yield _labelled(sample, found.source, BUGGY)

    def _path(self) -> Path:
        names = [*(one.name for one in DEFECTS), *CONTROLS]
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        key = hashlib.sha256(repr((SCHEMA, self.seed, TRIES, names, python)).encode()).hexdigest()[:16]
        return (self.cache or default_folder()) / NAME / f"{key}.jsonl"


class Book:
    """What was found of functions, a line each. Several readings may write at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Seeded | str] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for line in lines:
            try:
                row = json.loads(line)
                self._known[row["key"]] = row["reason"] or Seeded(row["source"], row["maker"])
            except (ValueError, KeyError, TypeError):
                continue  # cut off by a kill

    def get(self, sample: Sample) -> Seeded | str | None:
        """The function with a bug, or why there is none; `None` where it was not tried."""
        return self._known.get(_key(sample))

    def add(self, sample: Sample, found: Seeded | str) -> None:
        """Keep what was found."""
        reason, source, maker = (found, "", "") if isinstance(found, str) else ("", *found)
        row = {"key": _key(sample), "reason": reason, "source": source, "maker": maker}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self._known[row["key"]] = found


class _Seeder:
    """Makes bugs and executes them; the sandbox is started with the first."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._stack = ExitStack()
        self._oracle: Oracle | None = None

    def __enter__(self) -> "_Seeder":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def seeded(self, sample: Sample) -> Seeded | str:
        """The first bug that is shown, or why there is none."""
        reason = NO_PLACE
        for bug in islice(_drafts(sample, self._seed), TRIES):
            match self._judged(sample, bug):
                case Differed(returned=True):
                    return Seeded(bug.source, bug.transform)
                case Inconclusive(told):
                    return f"not executed: {told}"
                case Differed() | Agreed():
                    reason = NOT_SHOWN
        return reason

    def _judged(self, sample: Sample, bug: Perturbed) -> Agreed | Differed | Inconclusive:
        if self._oracle is None:
            self._oracle = self._stack.enter_context(Oracle())
        return self._oracle.judge(sample.source, bug.source, setup=sample.context, seed=self._seed)


class _Progress:
    """What was found of each function, from the book or by the seeder, and now and then a line about it."""

    def __init__(self, spec: str, book: Book, note: Note | None) -> None:
        self._spec, self._book, self._note = spec, book, note

    def through(self, wanted: Sequence[Sample], seeder: _Seeder) -> Iterator[tuple[Sample, Seeded | str]]:
        """Each function with what was found of it."""
        untried = sum(self._book.get(sample) is None for sample in wanted)
        bugs, tried = Counter[str](), 0
        began = told = time.monotonic()
        for sample in wanted:
            found = self._book.get(sample)
            if found is None:
                found = seeder.seeded(sample)
                self._book.add(sample, found)
                tried += 1
            if isinstance(found, Seeded):
                bugs[found.maker] += 1
            if tried and time.monotonic() - told >= NOTE_SECONDS:
                told = time.monotonic()
                left = (untried - tried) * (told - began) / tried
                self._tell(
                    f"tried {tried:,} of {untried:,} functions, {bugs.total():,} bugs, {left:,.0f} s left"
                )
            yield sample, found
        makers = ", ".join(f"{name} {count:,}" for name, count in bugs.most_common())
        self._tell(
            f"{bugs.total():,} of {len(wanted):,} functions have a bug that execution shows ({makers})"
        )

    def _tell(self, text: str) -> None:
        if self._note is not None:
            self._note(f"{self._spec}: {text}")


def _fit(sample: Sample) -> Sample | str:
    return sample if sample.language == PYTHON.name else "not Python"


def _drafts(sample: Sample, seed: int) -> Iterator[Perturbed]:
    """One text of each kind of bug that the function has a place for, in an order of its own."""
    makers: list[Transform] = [*DEFECTS, *map(TRANSFORMS.get, CONTROLS)]
    stream(seed, sample.id, NAME).shuffle(makers)
    for maker in makers:
        for one in perturb_one(sample, maker, variants=1, seed=seed, sites="one"):
            if isinstance(one, Perturbed):
                yield one


def _labelled(clean: Sample, source: str, label: float) -> Sample:
    origin = clean.origin
    return raw_sample(
        source,
        language=clean.language,
        label=label,
        path=origin.path,
        line=origin.line,
        context=clean.context,
        group=clean.id,
    )


def _key(sample: Sample) -> str:
    """Of the function and of what it is executed in."""
    context = hashlib.sha256(sample.context.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{sample.id}-{context[:16]}"

"""Functions with one seeded bug each, next to the original functions: examples for error detection.

A bug counts only if execution shows it: on some drawn input the original returns, each time the same, and the
buggy function behaves differently. So every clean example is executed, too. How a language executes is its
`BugExecution`. `bugs:reported:` takes only bugs that a sanitizer reports, which break a rule of the memory or
of the language: flaws for vulnerability detection. Bug and original form a group, which splits never
separate. Results are kept on disk, one line per function, so that an interrupted reading continues and a
repeated one executes nothing.

Two functions in three of a table cannot be executed: they need a module that is not there. `bugs:unexecuted:`
takes the first edit that fits a function, so that a detector has more to learn from. A few of these edits
change nothing that a caller sees. Tests of a detector should keep to executed bugs.
"""

import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, Self, TypeAlias

from typing_extensions import override

from codeaudit.audit.cache import default_folder
from codeaudit.audit.checks import is_text, load_json
from codeaudit.audit.corpora.records import (
    SPLITS,
    BaseCorpus,
    Corpus,
    CorpusResources,
    Note,
    Split,
    also_left_out,
    raw_sample,
    split_of,
)
from codeaudit.audit.corpora.selection import rank_of, select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.languages import LANGUAGE_AUDITS, audit_of
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.grammar import counted, counted_reasons
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle, Verdict
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.seeding import stream

NAME: Final = "bugs"
SCHEMA: Final = 1
"""Version of the procedure; raised whenever the same functions get other bugs."""
FUNCTIONS: Final = 1_000
"""Default number of functions that are tried."""
TRIES: Final = 6
"""Largest number of bugs that are tried on a function."""
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
"""Controls of the catalogue that resemble mistakes of people."""
UNEXECUTED: Final = "unexecuted"
REPORTED: Final = "reported"
OWN_DRAW: Final = 2**60
"""Added to the seed. A run of the same seed that audits these samples would first draw the functions chosen
here, and so mostly clean texts.
"""

NO_PLACE: Final = "no place for a bug"
NO_BUGS: Final = "no seeded bugs in this language"
NOT_SHOWN: Final = "no bug that execution shows"
NO_REPORTS: Final = "not C: sanitizers are asked about faults of C only"
NOT_REPORTED: Final = "no bug that a sanitizer reports"
EXECUTED_LANGUAGES: Final = "Python or C"
"""For messages: what is executed."""
CLEAN: Final = 0.0
BUGGY: Final = 1.0
_FIELD: Final = re.compile(rf"(train|valid|test|{UNEXECUTED}|{REPORTED}|seed\d{{1,9}}|\d{{1,9}}):")
"""A part of a SPEC before the corpus."""


def defects(language: str) -> tuple[Transform, ...]:
    """The controls of a language that resemble mistakes of people, beside `CONTROLS`; empty without any."""
    target = audit_of(language).bugs
    transforms: tuple[Transform, ...] = load_target(target) if target else ()
    return transforms


class Seeded(NamedTuple):
    """A function with a bug."""

    source: str
    maker: str
    report: str = ""
    """What a sanitizer reported."""


class Judges(Protocol):
    """Executes pairs of functions. A context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: object) -> None: ...

    def judge(self, original: str, perturbed: str, *, setup: str = "", seed: int = 0) -> Verdict:
        """Whether the second function does the same as the first one. `setup` is the text of its file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BugExecution:
    """How execution shows bugs of a language."""

    judges: Callable[[], Judges]
    """Raises `CannotAudit` where functions cannot be executed here."""
    identity: Callable[[], str]
    """What decides a verdict beside the functions; part of the key of each result."""
    reports: bool = False
    """Whether sanitizers report."""
    around: Callable[[Sample], str] = lambda sample: sample.context
    """The text around a function that its execution gets."""


PYTHON_EXECUTED: Final = BugExecution(judges=lambda: Oracle(), identity=str)


def confirmation(language: str) -> BugExecution | None:
    """How execution shows bugs of a language; `None` if it does not."""
    target = audit_of(language).executed
    return load_target(target) if target else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededBugs(BaseCorpus):
    """Seeded bugs in the functions of another corpus."""

    spec: str
    base: Corpus
    """The corpus of the functions."""
    split: Split | None = None
    size: int = FUNCTIONS
    """Number of functions that are tried: the first in the order of the seed, before they are split."""
    seed: int = 0
    executed: bool = True
    """Whether execution has to show the bug; only some languages are executed."""
    reported: bool = False
    """Whether a sanitizer has to report the bug."""
    cache: Path | None = None
    """The folder for the results; `None` for the user's cache folder."""
    note: Note | None = None
    _notes: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """For each function with a bug, the clean text (label 0), then the buggy one (1).

        Raises:
            CannotAudit: a function must be executed, and the sandbox does not work on this machine.
        """
        for sample, bug in self.pairs(skipped):
            sides = (bug.source, sample.source) if self.reported else ("", "")
            yield _labelled(sample, sample.source, CLEAN, sides[0])
            yield _labelled(sample, bug.source, BUGGY, sides[1])

    def pairs(self, skipped: Counter[str]) -> Iterator[tuple[Sample, Seeded]]:
        """Each function that got a bug, with the bug. Counts the others by reason.

        Raises:
            CannotAudit: a function must be executed, and the sandbox does not work on this machine.
        """
        fit = self._executable if self.executed else _changeable
        (drawn,) = select(self.base, fit, limit=self.size, seeds=[OWN_DRAW + self.seed])
        also_left_out(skipped, drawn.left_out, drawn.unread_files, drawn.details)
        # The clean text's id names the group, so a bug lies in the same split as its original.
        samples = [sample for sample in drawn.samples if self.split in (None, split_of(sample.id))]
        samples.sort(key=lambda sample: rank_of(self.seed, sample.id))
        book = BugRecords(self._path())
        seeded = _drafted
        if self.executed:
            seeded = _bug_by_report if self.reported else _bug_by_run
        for sample, outcome in _results(samples, book, self.seed, self._tell, seeded):
            if isinstance(outcome, str):
                skipped[outcome] += 1
            else:
                yield sample, outcome

    def _executable(self, sample: Sample) -> Sample | str:
        changeable = _changeable(sample)
        if isinstance(changeable, str):
            return changeable
        how = confirmation(sample.language)
        if how is not None and (how.reports or not self.reported):
            return sample
        if self.reported:
            return NO_REPORTS
        other = self.spec.replace(f"{NAME}:", f"{NAME}:{UNEXECUTED}:", 1)
        return f"not {EXECUTED_LANGUAGES}: try {other}"

    def _tell(self, text: str) -> None:
        # A draw that finds too few samples reads the corpus again, and finds the same.
        if self.note is not None and text not in self._notes:
            self._notes.add(text)
            self.note(f"{self.spec}: {text}")

    def _path(self) -> Path:
        names = [*(maker.name for maker in defects(PYTHON.name)), *CONTROLS]
        if self.reported:
            names.append(REPORTED)
        if not self.executed:
            names.append(UNEXECUTED)
            for language in LANGUAGE_AUDITS:
                if language != PYTHON.name and (makers := defects(language)):
                    names += [language, *(maker.name for maker in makers)]
        # Everything that decides a result, because a stale one would be read as if it had been executed.
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        key = hashlib.sha256(repr((SCHEMA, self.seed, TRIES, names, python)).encode()).hexdigest()[:16]
        return (self.cache or default_folder()) / NAME / f"{key}.jsonl"


def seeded_bugs(spec: str, rest: str, resources: CorpusResources) -> SeededBugs:
    """The corpus `bugs:[unexecuted:|reported:][SIZE:][seedN:][SPLIT:]CORPUS`.

    Raises:
        CorpusError: CORPUS does not exist, a part is given twice, or the size is 0.
    """
    options: dict[str, Any] = {}
    while (field := _FIELD.match(rest)) is not None:
        text, rest = field.group(1), rest[field.end() :]
        name, value = _option(text)
        if name in options:
            part = text if name in ("executed", REPORTED) else f"its {name}"
            raise CorpusError(f"corpus {spec!r} says {part} twice")
        options[name] = value
    if not rest:
        raise CorpusError(f"corpus {spec!r} names no corpus of functions; write bugs:stdlib or bugs:FOLDER")
    if REPORTED in options and "executed" in options:
        raise CorpusError(f"corpus {spec!r} says {REPORTED} and {UNEXECUTED}; only what runs is reported")
    if options.get("size") == 0:
        raise CorpusError(f"corpus {spec!r} needs a size from 1")
    base = corpus(rest, None, resources)
    return SeededBugs(spec=spec, base=base, cache=resources.cache, note=resources.note, **options)


def _option(text: str) -> tuple[str, Split | int | bool]:
    """A part of a SPEC as a field of `SeededBugs` and its value."""
    if text == UNEXECUTED:
        return "executed", False
    if text == REPORTED:
        return REPORTED, True
    if text in SPLITS:
        return "split", text
    return ("seed" if text.startswith("seed") else "size"), int(text.removeprefix("seed"))


class BugRecords:
    """The results on disk, one line per function. Several processes may append at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Seeded | str] = {}
        lines = path.read_bytes().splitlines() if path.is_file() else []
        for line in lines:
            try:
                row = load_json(line)
                key, reason, source, maker = (row[name] for name in ("key", "reason", "source", "maker"))
                report = row.get("report", "")
            except (ValueError, KeyError, TypeError):
                continue  # an incomplete line, left by a killed process
            if all(map(is_text, (key, reason, source, maker, report))) and bool(reason) != bool(source):
                self._known[key] = reason or Seeded(source, maker, report)

    def get(self, sample: Sample) -> Seeded | str | None:
        """The function with a bug, or the reason why there is none; `None` if it was not tried."""
        return self._known.get(_key(sample))

    def add(self, sample: Sample, outcome: Seeded | str) -> None:
        """Append a result."""
        reason, source, maker, report = (outcome, "", "", "") if isinstance(outcome, str) else ("", *outcome)
        row = {"key": _key(sample), "reason": reason, "source": source, "maker": maker}
        if report:
            row["report"] = report
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self._known[row["key"]] = outcome


# A generator, because the sandbox starts with the first bug and ends with the last function; if all results
# are on disk it never starts, so the corpus can be read on machines that cannot contain programs.
def _results(
    samples: Sequence[Sample], book: BugRecords, seed: int, tell: Note, seeded: "Seeds"
) -> Iterator[tuple[Sample, Seeded | str]]:
    """Each function with its result, from disk or made; shows progress."""
    untried = sum(book.get(sample) is None for sample in samples)
    bugs, reports, without, tried = Counter[str](), Counter[str](), Counter[str](), 0
    began = noted = time.monotonic()
    with ExitStack() as stack:
        judges = cache(lambda language: stack.enter_context(_confirming(language).judges()))
        for sample in samples:
            outcome = book.get(sample)
            if outcome is None:
                outcome = seeded(sample, seed, judges)
                book.add(sample, outcome)
                tried += 1
            if isinstance(outcome, Seeded):
                bugs[outcome.maker] += 1
                reports[outcome.report] += bool(outcome.report)
            else:
                without[outcome] += 1
            if tried and time.monotonic() - noted >= NOTE_SECONDS:
                noted = time.monotonic()
                seconds = (untried - tried) * (noted - began) / tried
                every, so_far = counted(untried, "function"), counted(bugs.total(), "bug")
                tell(f"tried {tried:,} of {every}, {so_far}, {seconds:,.0f} s left; bugs:N:… tries N")
            yield sample, outcome
    makers = ", ".join(f"{name} {count:,}" for name, count in bugs.most_common())
    by = f" ({makers})" if makers else ""
    how = "that was not executed" if seeded is _drafted else "that execution shows"
    reasons = ", ".join(counted_reasons(without, most=3))
    others = f"; the others: {reasons}" if reasons else ""
    tell(f"{bugs.total():,} of {len(samples):,} functions have a bug {how}{by}{others}")
    if kinds := ", ".join(f"{name} {count:,}" for name, count in reports.most_common() if count):
        tell(f"sanitizers report {reports.total():,} of them: {kinds}")


def _confirming(language: str) -> BugExecution:
    how = confirmation(language)
    assert how is not None, language  # others are left out
    return how


def _seeded(sample: Sample, seed: int, judges: "JudgesOf", *, reported: bool) -> Seeded | str:
    """The first bug that execution, or a sanitizer, shows; or the reason why there is none."""
    reason = NO_PLACE
    # Where a compiler and sanitizers decide, it forbids no edit that a macro of the file is not understood.
    how = _confirming(sample.language)
    place = replace(sample, context="") if how.reports else sample
    setup = how.around(sample)
    for bug in islice(drafts(place, seed), TRIES):
        match judges(sample.language).judge(sample.source, bug.source, setup=setup, seed=seed):
            # `returned`: the original gave a value. If it raised, who can say which behaviour is the bug?
            case Differed(returned=True, report=report) if report or not reported:
                return Seeded(bug.source, bug.transform, report)
            case Inconclusive(cause, of_variant=False):
                return f"not executed: {cause}"
            case Differed() | Agreed() | Inconclusive():
                reason = NOT_REPORTED if reported else NOT_SHOWN
    return reason


def _bug_by_run(sample: Sample, seed: int, judges: "JudgesOf") -> Seeded | str:
    return _seeded(sample, seed, judges, reported=False)


def _bug_by_report(sample: Sample, seed: int, judges: "JudgesOf") -> Seeded | str:
    return _seeded(sample, seed, judges, reported=True)


def _drafted(sample: Sample, seed: int, judges: "JudgesOf") -> Seeded | str:
    """The first bug that fits the function, or the reason why there is none."""
    for bug in drafts(sample, seed):
        return Seeded(bug.source, bug.transform)
    return NO_PLACE


JudgesOf: TypeAlias = Callable[[str], Judges]
"""By language."""
Seeds: TypeAlias = Callable[[Sample, int, JudgesOf], Seeded | str]


def _changeable(sample: Sample) -> Sample | str:
    return sample if audit_of(sample.language).bugs else NO_BUGS


def drafts(sample: Sample, seed: int, places: int = 1) -> Iterator[Perturbed]:
    """Texts for each kind of bug that fits the function, at so many places, in a random order."""
    controls = (transform_for(name, sample.language) for name in CONTROLS)
    makers = [*defects(sample.language), *controls]
    stream(seed, sample.id, NAME).shuffle(makers)
    # One site per bug: a function with five bugs at once is no mistake that a person makes.
    for maker in makers:
        for draft in perturb_one(sample, maker, variants=places, seed=seed, sites="one"):
            if isinstance(draft, Perturbed):
                yield draft


def _labelled(clean: Sample, source: str, label: float, other_side: str) -> Sample:
    origin = clean.origin
    return raw_sample(
        source,
        language=clean.language,
        label=label,
        path=origin.path,
        line=origin.line,
        context=clean.context,
        file=clean.file,
        group=clean.id,
        other_side=other_side,
    )


def _key(sample: Sample) -> str:
    """Identifies the function, the text of its file, and how it is executed."""
    how = confirmation(sample.language)
    around = sample.context if how is None else how.around(sample)
    context = hashlib.sha256(around.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{sample.id}-{context[:16]} {how.identity() if how else ''}".rstrip()

"""Perturbs a whole source file in place, function by function if the transform is one of functions.

`codeaudit transform` and `verify` call it through `audit.projects`. Every byte outside an edit stays the
same: encoding, byte order mark, line ends, tabs, comments. A file that cannot be written back byte for byte
is refused when it is decoded. A rewriting after which the file would not compile is dropped. How the files of
a language are parsed is said by its `FileFormat`.
"""

import codecs
import hashlib
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Protocol, Self, TypeAlias

from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.language import find_language
from codeaudit.transforms.patches import Edit, line_starts, splice
from codeaudit.transforms.perturb import failure, perturb_one, shown_at
from codeaudit.transforms.records import Evidence, Kind, Move, NotApplied, Origin, Perturbed, Sample, Sites
from codeaudit.transforms.registry import rests_on

LARGEST: Final = 2_000_000
"""Bytes. Larger files are generated tables, and a parser's tree takes a hundred times their size."""

NO_RETURN: Final = "encoding cannot be written back"
NO_ENCODING: Final = "unknown encoding"
_HEAD: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedFile(ABC):
    """A file's text, and how to write it back. Each language extends it with its rules for encodings."""

    text: str
    """The line ends are `\\n` if all were equal; a mixture stays as it is."""
    encoding: str
    newline: str
    """What `\\n` in the text stands for."""

    @classmethod
    def read(cls, data: bytes) -> Self:
        """The text of a file.

        Raises:
            SourceError: as of `decoded_text`, or the file could not be written back.
        """
        text, encoding = decoded_text(data, cls.encoding_of)
        newline = _newline(text)
        decoded = cls(text=text.replace(newline, "\n"), encoding=encoding, newline=newline)
        # Some encodings write one text in several ways, as UTF-7 does.
        if decoded.write(decoded.text) != data:
            raise SourceError(NO_RETURN)
        return decoded

    def write(self, text: str) -> bytes:
        """The bytes of a text in this file's encoding and line ends.

        Raises:
            SourceError: the text holds a character that the encoding lacks.
        """
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise SourceError("not in the file's encoding") from error

    @staticmethod
    def encoding_of(data: bytes) -> str:
        """The encoding of a file by the rules of its language; by default it is always UTF-8.

        Raises:
            SourceError: the file names an encoding that does not exist.
        """
        return utf8(data)

    @abstractmethod
    def compiles(self, text: str) -> bool:
        """Whether the language accepts a file with this text."""


def utf8(data: bytes) -> str:
    """The encoding of files that are always UTF-8, with or without a byte order mark."""
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def decoded_text(data: bytes, encoding_of: Callable[[bytes], str] = utf8) -> tuple[str, str]:
    """A file's text and its encoding. Every command reads source files by this function.

    Raises:
        SourceError: the file is too big, holds null bytes, names an encoding that does not exist or is none
            of texts, or is not in its encoding. The message is a phrase without the file's name, so that
            equal reasons can be counted.
    """
    if len(data) > LARGEST:
        raise SourceError(f"file over {LARGEST // 1_000_000} MB")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _is_wide(data):
        raise SourceError("UTF-16 or UTF-32, not UTF-8")
    if b"\0" in data:
        raise SourceError("null bytes")
    encoding = encoding_of(data)
    not_in_it = "not UTF-8" if encoding.startswith("utf-8") else f"not in its encoding, {encoding}"
    try:
        text = data.decode(encoding)
        text.encode()  # some codecs give halves of surrogate pairs, which no parser takes
    except LookupError as error:
        # `rot13` and `hex` are codecs, but what they read is no text.
        raise SourceError(NO_ENCODING) from error
    except ValueError as error:  # `idna` and others raise more than UnicodeDecodeError
        raise SourceError(not_in_it) from error
    return text, encoding


def _is_wide(data: bytes) -> bool:
    """Whether a file without a byte order mark has a null byte in most of its characters.

    A program or a picture may have as many null bytes, but in runs. A letter of UTF-32 has three of them.
    """
    head = data[:_HEAD]
    return len(head) > 1 and head.count(0) * 5 >= len(head) * 2 and bytes(4) not in head


def _newline(text: str) -> str:
    """The line end of a text in which all line ends are equal; `\\n` for a mixture."""
    breaks = set(re.findall(r"\r\n|\r|\n", text))
    return breaks.pop() if len(breaks) == 1 else "\n"


MODULE: Final = "<module>"
"""The name of the unit that is a whole file."""

NOT_COMPILED: Final = "file would not compile"
WRAPPER_LOST: Final = "more than the function would change"
UNDONE: Final = "undone by a later transform"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """An outermost function or method of a file, or the whole file (`MODULE`)."""

    path: str
    """The file's path relative to the source folder, so that results do not depend on where that is."""
    name: str
    """Qualified: `Class.method`; the second of a name in a file is `Class.method#2`, and so on."""
    line: int
    """Its first line in the unchanged file, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A transform rewrote this unit."""

    unit: SourceUnit
    transform: str
    kind: Kind
    evidence: Evidence
    moves: tuple[Move, ...]
    rests_on: tuple[str, ...] = ()
    """The entries of the language's ledger on which the edit rests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """A transform left this unit as it was."""

    unit: SourceUnit
    transform: str
    kind: Kind
    reason: str
    shown_at: str = ""
    """Where the unchanged file shows that an assumption does not hold, if that is the reason: `path:line`."""


UnitRecord: TypeAlias = Applied | Declined
Choice: TypeAlias = tuple[str, str]
"""A unit's name and a transform's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformSeries:
    """The transforms for every file of a source folder."""

    transforms: tuple[Transform, ...]
    """Applied one after the other, each to the result of the previous one."""
    seed: int
    sites: Sites = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedFile:
    """A file after its transforms."""

    data: bytes
    """The unchanged bytes where nothing was applied."""
    records: tuple[UnitRecord, ...]
    unread: str = ""
    """Why the file could not be read; empty if it could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionLocation:
    """The location of a function in a text."""

    name: str
    first: int
    """Its first line from 1, decorators and annotations included."""
    last: int
    start: int
    """Byte offset in the UTF-8 text."""
    end: int
    """Byte offset of its end, without the last line break."""
    wrapper: str = ""
    """A line that is put above it for the transform, if it cannot be parsed alone; else empty."""
    obstacle: str | None = None
    """Why it cannot be rewritten apart from its file; `None` if it can."""


class Numbering:
    """Tells functions or tests of one name apart."""

    def __init__(self) -> None:
        self._seen = Counter[str]()

    def of(self, name: str) -> str:
        """The name of the next one; the second one of a name is `name#2`."""
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}#{self._seen[name]}"


def located(
    source: bytes, functions: Iterable[tuple[str, int, int, str | None]]
) -> tuple[FunctionLocation, ...]:
    """The locations of functions, each given by its name, its bytes and what keeps it from being
    rewritten."""
    starts, numbering = line_starts(source), Numbering()
    return tuple(
        FunctionLocation(
            name=numbering.of(name),
            first=bisect_right(starts, start),
            last=bisect_right(starts, end - 1),
            start=start,
            end=end,
            obstacle=obstacle,
        )
        for name, start, end, obstacle in functions
    )


class FunctionFinder(Protocol):
    """Finds the outermost functions and methods of a text."""

    def __call__(self, text: str, around: frozenset[str] = frozenset(), /) -> Sequence[FunctionLocation]:
        """The locations in the order of the text. An inner function belongs to its outer one.

        Args:
            text: all of a file.
            around: the names of types that it sees without an import, beside those that it declares.

        Raises:
            SourceError: the text does not parse.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """How the files of a language are read, so that they can be perturbed in place."""

    language: str
    """Its name, as in samples: `python`."""
    decode: Callable[[bytes], DecodedFile]
    places: FunctionFinder
    is_one: Callable[[str, str], bool]
    """(text, wrapper) -> whether the text is still exactly one function under the wrapper line."""
    package: Callable[[str], str] | None = None
    """Text -> the folder, such as `org/example`, whose files see one another's types without an import."""
    types: Callable[[bytes], frozenset[str]] | None = None
    """A file's bytes -> the names of types that it declares and that `places` asks about."""
    encoding_of: Callable[[bytes], str] = utf8
    """A file's bytes -> its encoding, as in `DecodedFile`."""
    supertypes: Callable[[bytes], frozenset[str]] | None = None
    """A file's bytes -> the names of files, without ending, whose types its own types may inherit."""
    other: Callable[[str], str | None] | None = None
    """Text -> the name of the language of a text that is in another one, which has files of this ending, too
    (`Language.named_endings`)."""


def perturb_file(
    form: FileFormat,
    data: bytes,
    path: str,
    series: TransformSeries,
    *,
    only: frozenset[Choice] | None = None,
    around: frozenset[str] = frozenset(),
    place: str = "",
) -> PerturbedFile:
    """One file after these transforms. Raises nothing: a file that cannot be read is declined.

    What a transform makes of a function depends only on the seed and the function's text. Whether it may
    rewrite the function depends on the file and on `around`. A transform of which a later one leaves nothing
    is declined with the reason `UNDONE`.

    Args:
        path: as in `SourceUnit`.
        only: the allowed pairs of a unit and a transform; `None` allows all.
        around: as in `FunctionFinder`.
        place: where the file lies on this machine; empty if it lies nowhere.
    """
    unit = SourceUnit(path=path, name=MODULE, line=1)
    try:
        decoded = form.decode(data)
        lines = {place.name: place.first for place in form.places(decoded.text, around)}
        if not decoded.compiles(decoded.text):
            raise SourceError(NOT_PARSED)
    except SourceError as error:
        # A parser's message holds a place of the file; reasons without it can be counted together.
        reason = str(error) if not str(error).startswith("not valid ") else NOT_PARSED
        declined = [_declined(unit, transform, reason) for transform in series.transforms]
        return PerturbedFile(data=data, records=tuple(declined), unread=str(error))
    file_pass = _FilePass(form, decoded, path, series, only, around, lines, decoded.text, place)
    file_pass.perturb()
    return PerturbedFile(data=decoded.write(file_pass.text), records=tuple(file_pass.outcomes()))


def changed_units(form: FileFormat, before: bytes, after: bytes) -> tuple[str, ...]:
    """The names of the functions whose text differs between two versions of a file.

    `MODULE` is among them if text outside functions differs.
    """
    if before == after:
        return ()
    old, new = _pieces(form, before), _pieces(form, after)
    return tuple(name for name in old if old[name] != new.get(name))


def function_names(form: FileFormat, data: bytes) -> tuple[str, ...]:
    """The names of a file's outermost functions and methods; empty if it cannot be read."""
    return tuple(name for name in _pieces(form, data) if name != MODULE)


def _pieces(form: FileFormat, data: bytes) -> dict[str, bytes]:
    """A file's text by unit; all of it belongs to `MODULE` if it cannot be read."""
    try:
        text = form.decode(data).text
        places = form.places(text)
    except SourceError:
        return {MODULE: data}
    # A null byte, which no source contains, stands for each function: moving text across one is a change.
    source, rest, done = text.encode(), b"", 0
    pieces = {}
    for place in places:
        pieces[place.name] = source[place.start : place.end]
        rest += source[done : place.start] + b"\0"
        done = place.end
    return {**pieces, MODULE: rest + source[done:]}


@dataclass(frozen=True, slots=True)
class _Step:
    """One transform that changed a unit's text."""

    transform: Transform
    before: str
    after: str
    record: Applied


@dataclass(slots=True)
class _FilePass:
    """A text that passes through the transforms."""

    form: FileFormat
    decoded: DecodedFile
    path: str
    series: TransformSeries
    only: frozenset[Choice] | None
    around: frozenset[str]
    lines: Mapping[str, int]
    """The first line of each function in the unchanged file, by name."""
    text: str
    """The text so far."""
    place: str = ""
    """As in `perturb_file`."""
    records: list[UnitRecord] = field(default_factory=list)
    steps: dict[str, list[_Step]] = field(default_factory=dict)
    """By the name of the unit, in the order of the transforms."""

    def perturb(self) -> None:
        """Give the text, or each of its functions, to one transform after the other.

        Consecutive transforms of functions are all applied to one function before the next function. The
        result is the same, and what was computed about a function's text can be reused.
        """
        for unit, together in groupby(self.series.transforms, key=lambda transform: transform.unit):
            if unit == "function":
                self._functions(tuple(together))
            else:
                for transform in together:
                    self._module(transform)

    def _module(self, transform: Transform) -> None:
        if not self.chosen(MODULE, transform):
            return
        unit = self.unit(MODULE, line=1)
        outcome = self.outcome(self.text, unit, transform)
        if isinstance(outcome, Declined):
            self.records.append(outcome)
        elif outcome.source != self.text and not self.decoded.compiles(outcome.source):
            self.records.append(_declined(unit, transform, NOT_COMPILED))
        else:
            record = _applied(unit, outcome)
            if transform.kind != "identity":
                step = _Step(transform, self.text, outcome.source, record)
                self.steps.setdefault(MODULE, []).append(step)
            self.text = outcome.source
            self.records.append(record)

    def _functions(self, transforms: tuple[Transform, ...]) -> None:
        """Rewrite all functions at once; one after the other only if the file then does not compile."""
        source = self.text.encode()
        places = self.form.places(self.text, self.around)
        passes = [_FunctionPass(self, source, place).through(transforms) for place in places]
        text = splice(source, [pass_.edit for pass_ in passes]).decode()
        # Compiling the file costs more than a transform, so each step is compiled only if all together fail.
        if text != self.text and not self.decoded.compiles(text):
            passes = []
            for place in places:
                others = [pass_.edit for pass_ in passes]
                passes.append(_FunctionPass(self, source, place, others).through(transforms))
            text = splice(source, [pass_.edit for pass_ in passes]).decode()
        self.text = text
        for place, pass_ in zip(places, passes, strict=True):
            self.records += pass_.records
            self.steps.setdefault(place.name, []).extend(pass_.steps)

    def outcomes(self) -> Iterator[UnitRecord]:
        """The records, with the steps of which nothing is left as declined."""
        undone = {id(step.record) for steps in self.steps.values() for step in self._undone(steps)}
        for record in self.records:
            if id(record) in undone:
                yield Declined(unit=record.unit, transform=record.transform, kind=record.kind, reason=UNDONE)
            else:
                yield record

    def _undone(self, steps: Sequence[_Step]) -> Iterator[_Step]:
        """The steps of one unit of which its last text shows nothing."""
        last = {step.after: number for number, step in enumerate(steps)}
        kept: list[_Step] = []
        number = 0
        while number < len(steps):
            # Where the text comes back to what it was before this step, all steps up to there are undone.
            back = last.get(steps[number].before, -1)
            if back < number:
                kept.append(steps[number])
                number += 1
            else:
                yield from steps[number : back + 1]
                number = back + 1
        language = find_language(self.form.language)
        opposed = language.opposed if language is not None else {}
        for number, step in enumerate(kept):
            others = opposed.get(step.transform.name, frozenset())
            for later in (behind for behind in kept[number + 1 :] if behind.transform.name in others):
                # Other steps stand between the two, so the later one is asked what it leaves of the earlier.
                with_it, without = (
                    self._text_after(later.transform, step.record.unit, text, named=step.before)
                    for text in (step.after, step.before)
                )
                if with_it == without:
                    yield step
                    if without == step.before:  # all that the later one does is to undo the earlier
                        yield later

    def _text_after(self, transform: Transform, unit: SourceUnit, text: str, *, named: str) -> str:
        outcome = self.outcome(text, unit, transform, named=named)
        return text if isinstance(outcome, Declined) else outcome.source

    def outcome(
        self, text: str, unit: SourceUnit, transform: Transform, *, named: str | None = None
    ) -> Perturbed | Declined:
        """What a transform makes of a text; if it fails, the failure is the reason.

        `named` is a text that decides the draws in place of `text`.
        """
        origin = Origin(path=unit.path, line=unit.line)
        name = self.form.language
        # The id holds neither path nor line: a function that moves keeps its variant.
        drawn = text if named is None else named
        identity = hashlib.sha256(f"{name}\0{drawn}".encode()).hexdigest()[:16]
        sample = Sample(
            id=identity,
            language=name,
            source=text,
            label=None,
            origin=origin,
            context=self.text,
            file=self.place,
        )
        seed, sites = self.series.seed, self.series.sites
        try:
            (outcome,) = perturb_one(sample, transform, variants=1, seed=seed, sites=sites)
        except Exception as error:  # one function on which a transform fails must not end the whole folder
            return _declined(unit, transform, failure(error))
        if isinstance(outcome, NotApplied):
            unchanged = replace(sample, context=self.decoded.text)
            return _declined(unit, transform, outcome.reason, shown_at(unchanged, outcome.reason))
        try:
            self.decoded.write(outcome.source)  # a new character may be missing in the file's encoding
        except SourceError as error:
            return _declined(unit, transform, str(error))
        return outcome

    def unit(self, name: str, line: int) -> SourceUnit:
        """The unit of this name; `line` is used if the unchanged file does not contain the name."""
        return SourceUnit(path=self.path, name=name, line=self.lines.get(name, line))

    def chosen(self, name: str, transform: Transform) -> bool:
        """Whether this transform may rewrite this unit."""
        return self.only is None or (name, transform.name) in self.only


class _FunctionPass:
    """One function that passes through transforms of functions.

    Args:
        file: the file that it belongs to.
        source: the text of the file as UTF-8.
        place: where it is in that text.
        others: edits of other functions with which each step must compile; `None`: steps are not compiled.
    """

    def __init__(
        self, file: _FilePass, source: bytes, place: FunctionLocation, others: Sequence[Edit] | None = None
    ) -> None:
        self.records: list[UnitRecord] = []
        self.steps: list[_Step] = []
        self._file = file
        self._source = source
        self._place = place
        self._others = others
        self._text = place.wrapper + source[place.start : place.end].decode()

    @property
    def edit(self) -> Edit:
        """The edit of the file that all steps so far make."""
        return Edit(self._place.start, self._place.end, self._text.removeprefix(self._place.wrapper))

    def through(self, transforms: Iterable[Transform]) -> Self:
        """Give the function to these transforms."""
        unit = self._file.unit(self._place.name, self._place.first)
        for transform in transforms:
            if self._file.chosen(self._place.name, transform):
                self.records.append(self._step(unit, transform))
        return self

    def _step(self, unit: SourceUnit, transform: Transform) -> UnitRecord:
        if self._place.obstacle is not None:
            return _declined(unit, transform, self._place.obstacle)
        outcome = self._file.outcome(self._text, unit, transform)
        if isinstance(outcome, Declined):
            return outcome
        # A rewriting may put a second statement behind the function, or change the line above it. Text that
        # compiles to the same code does neither.
        proven = outcome.evidence == "compiled" and outcome.source.startswith(self._place.wrapper)
        if not (proven or self._file.form.is_one(outcome.source, self._place.wrapper)):
            return _declined(unit, transform, WRAPPER_LOST)
        before, self._text = self._text, outcome.source
        if self._others is not None:
            text = splice(self._source, [*self._others, self.edit]).decode()
            if not self._file.decoded.compiles(text):
                self._text = before
                return _declined(unit, transform, NOT_COMPILED)
        record = _applied(unit, outcome)
        if transform.kind != "identity":
            self.steps.append(_Step(transform, before, outcome.source, record))
        return record


def _applied(unit: SourceUnit, outcome: Perturbed) -> Applied:
    return Applied(
        unit=unit,
        transform=outcome.transform,
        kind=outcome.kind,
        evidence=outcome.evidence,
        moves=outcome.moves,
        rests_on=tuple(row.id for row in rests_on(outcome)),
    )


def _declined(unit: SourceUnit, transform: Transform, reason: str, place: str = "") -> Declined:
    return Declined(unit=unit, transform=transform.name, kind=transform.kind, reason=reason, shown_at=place)

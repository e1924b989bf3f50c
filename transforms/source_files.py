"""A whole source file, perturbed in place: function by function where a transform asks for functions.

Every byte outside of what a transform changed stays: encoding, line ends, tabs, comments. What there is to
know of a language's files stands in its `FileFormat`.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Protocol, Self, TypeAlias

from codeaudit.transforms.decoding import DecodedFile
from codeaudit.transforms.edits import Edit, splice
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.perturb import NOT_PARSED, perturb_one
from codeaudit.transforms.records import Evidence, Kind, Move, NotApplied, Origin, Perturbed, Sample, Sites

MODULE: Final = "<module>"
"""The name of the unit that is a whole file."""

NOT_COMPILED: Final = "file would not compile"
WRAPPER_LOST: Final = "more than the function would change"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnit:
    """An outermost function or method of a file, or the file."""

    path: str
    """The file's name, which must not depend on where the tree happens to stand."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """A transform left this unit as it was."""

    unit: SourceUnit
    transform: str
    kind: Kind
    reason: str


UnitRecord: TypeAlias = Applied | Declined
Choice: TypeAlias = tuple[str, str]
"""A unit's name and a transform's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformSeries:
    """What is done to every file of a tree."""

    transforms: tuple[Transform, ...]
    """One after the other, each on the result of the one before."""
    seed: int
    sites: Sites = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedFile:
    """A file after its transforms."""

    data: bytes
    """The unchanged bytes where nothing was applied."""
    records: tuple[UnitRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionLocation:
    """Where a function stands in a text."""

    name: str
    first: int
    """Its first line, decorators or annotations included, from 1."""
    last: int
    start: int
    """Byte offset in the UTF-8 text."""
    end: int
    """Without the last line's break."""
    wrapper: str = ""
    """The line under which a transform sees it, if it cannot stand alone."""
    obstacle: str | None = None
    """Why it cannot be taken out of its file, if so."""


class FunctionFinder(Protocol):
    """Finds the outermost functions and methods of a text."""

    def __call__(self, text: str, around: frozenset[str] = frozenset(), /) -> Sequence[FunctionLocation]:
        """The places in the order of the text. Functions in functions belong to their outer one.

        Args:
            text: all of a file.
            around: the names, without endings, of the files beside it.

        Raises:
            SourceError: the text does not parse.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """How the files of a language are read, so that they can be perturbed in place."""

    language: str
    """Its name, as in samples: `python`."""
    decode: Callable[[bytes], DecodedFile]
    places: FunctionFinder
    is_one: Callable[[str, str], bool]
    """Whether a text is still one function under its wrapper."""


def perturb_file(
    form: FileFormat,
    data: bytes,
    path: str,
    series: TransformSeries,
    *,
    only: frozenset[Choice] | None = None,
    around: frozenset[str] = frozenset(),
) -> PerturbedFile:
    """The bytes of one file under these transforms; `only` lets no other units and transforms meet.

    What a transform does to a function depends on the seed and on that function's text alone; whether it may
    touch it depends on the file and on `around`, the names without endings of the files beside it. A
    rewriting after which the file would not compile is dropped. Raises nothing: what cannot be read is
    declined.
    """
    whole = SourceUnit(path=path, name=MODULE, line=1)
    try:
        decoded = form.decode(data)
        tree = _Tree(form, decoded, path, series, only, around)
    except SourceError as error:
        reason = str(error) if not str(error).startswith("not valid ") else NOT_PARSED
        declined = [_declined(whole, transform, reason) for transform in series.transforms]
        return PerturbedFile(data=data, records=tuple(declined))
    tree.perturb()
    return PerturbedFile(data=decoded.write(tree.text), records=tuple(tree.records))


def changed_units(form: FileFormat, before: bytes, after: bytes) -> tuple[str, ...]:
    """The names of the functions whose text differs between two versions of a file.

    `MODULE` is one of them where text outside of functions differs.
    """
    if before == after:
        return ()
    old, new = _pieces(form, before), _pieces(form, after)
    return tuple(name for name in old if old[name] != new.get(name))


def function_names(form: FileFormat, data: bytes) -> tuple[str, ...]:
    """The names of a file's outermost functions and methods; none where it cannot be read."""
    return tuple(name for name in _pieces(form, data) if name != MODULE)


def _pieces(form: FileFormat, data: bytes) -> dict[str, bytes]:
    """A file's text by unit; all of it is `MODULE`'s where it cannot be read."""
    try:
        text = form.decode(data).text
        found = form.places(text)
    except SourceError:
        return {MODULE: data}
    source, rest, done = text.encode(), b"", 0
    pieces = {}
    for place in found:
        pieces[place.name] = source[place.start : place.end]
        rest += source[done : place.start] + b"\0"
        done = place.end
    return {**pieces, MODULE: rest + source[done:]}


class _Tree:
    """A text on its way through the transforms."""

    def __init__(
        self,
        form: FileFormat,
        decoded: DecodedFile,
        path: str,
        series: TransformSeries,
        only: frozenset[Choice] | None,
        around: frozenset[str],
    ) -> None:
        self.form = form
        self.text = decoded.text
        self.records: list[UnitRecord] = []
        self._decoded = decoded
        self._path = path
        self._series = series
        self._only = only
        self._around = around
        self._lines = {place.name: place.first for place in form.places(decoded.text, around)}
        if not decoded.compiles(decoded.text):
            raise SourceError(NOT_PARSED)

    def perturb(self) -> None:
        """Give the text, or each of its functions, to one transform after the other.

        Of transforms of functions that follow each other, all are done to one function before the next
        function's turn, which comes to the same and lets what was found out about a text be used again.
        """
        for unit, together in groupby(self._series.transforms, key=lambda transform: transform.unit):
            if unit == "function":
                self._functions(tuple(together))
            else:
                for transform in together:
                    self._module(transform)

    def _module(self, transform: Transform) -> None:
        if not self.chosen(MODULE, transform):
            return
        unit = self.unit(MODULE)
        outcome = self.outcome(self.text, unit, transform)
        if isinstance(outcome, Declined):
            self.records.append(outcome)
        elif outcome.source != self.text and not self._decoded.compiles(outcome.source):
            self.records.append(_declined(unit, transform, NOT_COMPILED))
        else:
            self.text = outcome.source
            self.records.append(_applied(unit, outcome))

    def _functions(self, transforms: tuple[Transform, ...]) -> None:
        """All functions at once; only if the file then does not compile, one after the other."""
        source = self.text.encode()
        places = self.form.places(self.text, self._around)
        found = [_Chain(self, source, place).through(transforms) for place in places]
        text = splice(source, [chain.edit for chain in found]).decode()
        if text != self.text and not self._decoded.compiles(text):
            kept: list[Edit] = []
            found = []
            for place in places:
                chain = _Chain(self, source, place, tuple(kept)).through(transforms)
                kept.append(chain.edit)
                found.append(chain)
            text = splice(source, kept).decode()
        self.text = text
        self.records += [record for chain in found for record in chain.records]

    def outcome(self, text: str, unit: SourceUnit, transform: Transform) -> Perturbed | Declined:
        """What a transform makes of a text; whatever it does instead is a reason to count."""
        origin = Origin(path=unit.path, line=unit.line)
        name = self.form.language
        identity = hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()[:16]
        sample = Sample(id=identity, language=name, source=text, label=None, origin=origin)
        series = self._series
        try:
            (outcome,) = perturb_one(sample, transform, variants=1, seed=series.seed, sites=series.sites)
        except Exception as error:  # one function on which an engine breaks must not end the tree
            deep = isinstance(error, RecursionError)
            reason = "nested too deeply" if deep else f"transform failed: {type(error).__name__}"
            return _declined(unit, transform, reason)
        if isinstance(outcome, NotApplied):
            return _declined(unit, transform, outcome.reason)
        try:
            self._decoded.write(outcome.source)
        except SourceError as error:
            return _declined(unit, transform, str(error))
        return outcome

    def unit(self, name: str, line: int = 1) -> SourceUnit:
        """The unit with this name, and with this line where the unchanged file does not have the name."""
        return SourceUnit(path=self._path, name=name, line=self._lines.get(name, line))

    def chosen(self, name: str, transform: Transform) -> bool:
        """Whether this unit and this transform may meet."""
        return self._only is None or (name, transform.name) in self._only

    def compiles(self, text: str) -> bool:
        """Whether the file with this text compiles."""
        return self._decoded.compiles(text)


class _Chain:
    """One function on its way through transforms of functions."""

    def __init__(
        self, tree: _Tree, source: bytes, place: FunctionLocation, checked: tuple[Edit, ...] | None = None
    ) -> None:
        self.records: list[UnitRecord] = []
        self._tree = tree
        self._source = source
        self._place = place
        self._checked = checked
        """Edits of other functions, with which each step has to compile; `None` for no such check."""
        self._text = place.wrapper + source[place.start : place.end].decode()

    @property
    def edit(self) -> Edit:
        """What has become of the function."""
        return Edit(self._place.start, self._place.end, self._text.removeprefix(self._place.wrapper))

    def through(self, transforms: Iterable[Transform]) -> Self:
        """Give the function to these transforms."""
        unit = self._tree.unit(self._place.name, self._place.first)
        for transform in transforms:
            if self._tree.chosen(self._place.name, transform):
                self.records.append(self._step(unit, transform))
        return self

    def _step(self, unit: SourceUnit, transform: Transform) -> UnitRecord:
        if self._place.obstacle is not None:
            return _declined(unit, transform, self._place.obstacle)
        outcome = self._tree.outcome(self._text, unit, transform)
        if isinstance(outcome, Declined):
            return outcome
        if not self._tree.form.is_one(outcome.source, self._place.wrapper):
            return _declined(unit, transform, WRAPPER_LOST)
        before, self._text = self._text, outcome.source
        if self._checked is not None and not self._compiles(self._checked):
            self._text = before
            return _declined(unit, transform, NOT_COMPILED)
        return _applied(unit, outcome)

    def _compiles(self, others: Iterable[Edit]) -> bool:
        return self._tree.compiles(splice(self._source, [*others, self.edit]).decode())


def _applied(unit: SourceUnit, outcome: Perturbed) -> Applied:
    return Applied(
        unit=unit,
        transform=outcome.transform,
        kind=outcome.kind,
        evidence=outcome.evidence,
        moves=outcome.moves,
    )


def _declined(unit: SourceUnit, transform: Transform, reason: str) -> Declined:
    return Declined(unit=unit, transform=transform.name, kind=transform.kind, reason=reason)

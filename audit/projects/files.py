"""The source files of a project: found, copied, perturbed in parallel, counted, and shown as diffs.

Called by `codeaudit transform` and, on a copy, by `codeaudit verify`. The ending of a file's name decides its
language.
"""

import difflib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path, PurePath
from stat import S_IMODE, S_IRWXU, S_ISDIR, S_ISLNK, S_ISREG
from typing import Final, Protocol

from codeaudit.audit.corpora.files import walked
from codeaudit.audit.engines.local import spread
from codeaudit.audit.languages import audit_of
from codeaudit.transforms.errors import RunError, SourceError
from codeaudit.transforms.grammar import counted_reasons, first_of, with_reasons
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.language import NO_ENGINE, Language, every_language, without_engine, written_in
from codeaudit.transforms.mixing import Mixed
from codeaudit.transforms.perturb import shown_at
from codeaudit.transforms.records import Kind, NotApplied, Outcome, Perturbed, Sites
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.registry import entry_of, languages_of, rests_on, transform_for
from codeaudit.transforms.source_files import (
    LARGEST,
    MODULE,
    Applied,
    Choice,
    Declined,
    FileFormat,
    TransformSeries,
    UnitRecord,
    perturb_file,
)


class Probes(Protocol):
    """Inserts statements at the start of units, to see whether tests execute them. One per language."""

    @property
    def raising(self) -> str:
        """The statement that raises an error, for the power check."""
        ...

    def noting(self, number: int) -> str:
        """The statement that appends a unit's number to the hits file when it is first executed."""
        ...

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """The file with these statements, by unit name, at the start of the units.

        A unit that cannot hold its statement stays as it is, and so does a file that cannot be read.
        """
        ...


def source_languages() -> Mapping[str, Language]:
    """The languages whose files can be perturbed in place, by the ending of a file's name."""
    return {
        ending: language for language in every_language() if language.files for ending in language.endings
    }


def file_language(path: str, data: bytes) -> Language:
    """The language of a file, by its ending and where two languages share that by what is in it."""
    ending = PurePath(path).suffix
    return written_in(source_languages()[ending], ending, data)


def file_format(path: str, data: bytes) -> FileFormat:
    """How a file is read and written. Its reader is imported at the first call."""
    form: FileFormat = load_target(file_language(path, data).files)
    return form


def probes(path: str, data: bytes) -> Probes:
    """The probes for a file."""
    of_language: Probes = load_target(audit_of(file_language(path, data).name).probes)
    return of_language


def languages(paths: Iterable[str]) -> tuple[str, ...]:
    """The languages of these files."""
    endings = {PurePath(path).suffix for path in paths}
    return tuple(
        dict.fromkeys(language.name for ending, language in source_languages().items() if ending in endings)
    )


def meant(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The transforms that rewrite one of these languages; all of them if none does."""
    every, spoken = tuple(names), set(known)
    fitting = [
        name for name in every if entry_of(name).kind == "identity" or spoken.intersection(languages_of(name))
    ]
    return tuple(fitting) or every


def loaded(names: Iterable[str], name: str) -> tuple[Transform, ...]:
    """The transforms with these names, for a language."""
    transforms = [transform_for(member, name) for member in meant(names, (name,))]
    # A file's functions are rewritten one by one, so a mixture comes apart into its functions' part and the
    # rest.
    return tuple(
        part
        for transform in transforms
        for part in (transform.by_unit() if isinstance(transform, Mixed) else [transform])
    )


NOT_COPIED: Final = frozenset({".git", "__pycache__"})
"""Names that are never copied."""
FEW: Final = 3
"""Up to this number of files no workers are started, because starting them takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlan:
    """The transforms for a source folder, by name, because workers cannot receive transform objects."""

    transforms: tuple[str, ...]
    seed: int
    sites: Sites = "auto"

    def series(self, form: FileFormat) -> TransformSeries:
        """The plan for files of one language, with its transforms loaded."""
        transforms = loaded(self.transforms, form.language)
        return TransformSeries(transforms=transforms, seed=self.seed, sites=self.sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """One file before and after the transforms."""

    path: str
    """Relative to the source folder, with `/`."""
    before: bytes
    after: bytes
    records: tuple[UnitRecord, ...]
    unread: str = ""
    """Why the file could not be read; empty if it could."""


def copy_tree(
    source: Path, target: Path, *, without: Collection[str] = NOT_COPIED, environments: bool = True
) -> dict[Path, int]:
    """Copy a folder with its links, modes and times, but without pipes, sockets and devices.

    Files and folders named in `without` are left out at any depth, virtual environments unless
    `environments`. The copy can be changed: its owner may write into every folder. Returns the modes of the
    folders that were read-only, for `restore_modes`.

    Raises:
        RunError: something cannot be read or written.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        unwanted = {name for name in names if name in without or not _copyable(Path(folder, name))}
        if not environments:
            unwanted |= {name for name in names if Path(folder, name, "pyvenv.cfg").exists()}
        return unwanted

    try:
        shutil.copytree(source, target, symlinks=True, ignore=left_out, dirs_exist_ok=True)
        return open_folders(target)
    except shutil.Error as error:
        _, _, first = error.args[0][0]
        raise RunError(f"cannot copy {str(source)!r}: {first}") from error
    except OSError as error:
        raise RunError(
            f"cannot copy {str(source)!r}: {error.strerror or error}: {error.filename!r}"
        ) from error


def open_folders(root: Path) -> dict[Path, int]:
    """Let the owner write into a folder and all folders in it. Returns the modes that they had.

    Raises:
        OSError: a mode cannot be changed.
    """
    changed: dict[Path, int] = {}
    pending = [root]
    while pending:
        folder = pending.pop()
        mode = S_IMODE(folder.stat().st_mode)
        if mode & S_IRWXU != S_IRWXU:
            changed[folder] = mode
            folder.chmod(mode | S_IRWXU)
        with os.scandir(folder) as entries:
            pending += [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return changed


def restore_modes(modes: Mapping[Path, int]) -> None:
    """Undo `open_folders`."""
    # Inner folders first, because a closed outer folder may not be entered any more.
    for folder, mode in reversed(list(modes.items())):
        folder.chmod(mode)


def remove_tree(root: Path) -> None:
    """Remove a folder as far as possible, with its read-only folders."""
    with suppress(OSError):
        open_folders(root)
    shutil.rmtree(root, ignore_errors=True)


def _copyable(path: Path) -> bool:
    # Reading a pipe would wait for a writer for ever. `lstat`, because a link is copied as a link.
    mode = path.lstat().st_mode
    return S_ISDIR(mode) or S_ISREG(mode) or S_ISLNK(mode)


def source_files(root: Path) -> Iterator[str]:
    """The files below a folder that can be perturbed, as sorted paths relative to it.

    Leaves out hidden folders, virtual environments, build folders (`FOREIGN`) and symbolic links.
    """
    endings = source_languages()
    for path in walked(root):
        # A link leads to a file that is listed itself, or to one outside of the project, which is not ours.
        if path.suffix in endings and path.is_file() and not path.is_symlink():
            yield path.relative_to(root).as_posix()


def others(root: Path) -> Counter[str]:
    """The number of files below a folder in each language without an engine, by the language's title."""
    titles = (without_engine(ending=path.suffix) for path in walked(root) if path.is_file())
    return Counter(title for title in titles if title is not None)


def others_line(counts: Mapping[str, int]) -> str:
    """One line on these files, which stay as they are; empty without any."""
    reasons = {f"in {title}{NO_ENGINE}": number for title, number in counts.items()}
    return ", ".join(counted_reasons(reasons, most=6))


def links_line(root: Path) -> str:
    """One line that names the symbolic links to sources, which stay as they are; empty if there are none."""
    endings = source_languages()
    links = [
        path.relative_to(root).as_posix()
        for path in walked(root)
        if path.suffix in endings and path.is_symlink()
    ]
    return f"symbolic links are left as they are: {first_of(sorted(links))}" if links else ""


def perturb_files(
    root: Path,
    paths: Iterable[str],
    plan: ProjectPlan,
    *,
    workers: int,
    only: Mapping[str, frozenset[Choice]] | None = None,
    home: Callable[[str], Path] | None = None,
) -> Iterator[FileResult]:
    """The files at these paths below `root` after the plan's transforms, in the order of the paths.

    `only` lists by path the allowed pairs of a unit and a transform; files without an entry are left out.
    Nothing is written. `home` says where a file comes from that was copied to `root`: what lies beside it
    there may be asked.

    Raises:
        RunError: a file cannot be read.
    """
    choices = [(path, None if only is None else only.get(path)) for path in paths]
    pending = [
        (path, choice, str((root / path if home is None else home(path)).absolute()))
        for path, choice in choices
        if only is None or choice
    ]
    folders = frozenset(PurePath(path).parent.as_posix() for path in source_files(root))
    return spread(partial(_perturbed, root, folders, plan), pending, workers=workers, chunk=1, few=FEW)


def _perturbed(
    root: Path, folders: frozenset[str], plan: ProjectPlan, item: tuple[str, frozenset[Choice] | None, str]
) -> FileResult:
    path, only, place = item
    before = read_file(root / path)
    form = file_format(path, before)
    around = _around(form, root, folders, root / path, before)
    file = perturb_file(
        form, before[: LARGEST + 1], path, plan.series(form), only=only, around=around, place=place
    )
    after = before if len(before) > LARGEST else file.data
    return FileResult(path=path, before=before, after=after, records=file.records, unread=file.unread)


def unread_line(unread: Mapping[str, str]) -> str:
    """One line that names the files, by path, that could not be read, with the reasons."""
    return f"not read and left as they are: {with_reasons(unread)}"


def _around(form: FileFormat, root: Path, folders: frozenset[str], path: Path, data: bytes) -> frozenset[str]:
    """The names of types that the other files of a file's package declare; it sees them without an import."""
    if form.package is None or form.types is None:
        return frozenset()
    try:
        package = form.package(form.decode(data[: LARGEST + 1]).text)
    except SourceError:
        return frozenset()
    # The same package may have a folder for tests.
    places = {
        path.parent,
        *(root / folder for folder in folders if package and f"/{folder}".endswith(f"/{package}")),
    }
    others = {file for place in places for file in place.glob(f"*{path.suffix}")} - {path}
    names = frozenset(other.stem for other in others)
    for other in others:
        if other.is_file():
            names |= _types(form.language, other, other.stat().st_mtime_ns)
    return names | _inherited(form, root, path, others)


def _inherited(form: FileFormat, root: Path, path: Path, others: Iterable[Path]) -> frozenset[str]:
    """The names of types that the files with a file's supertypes declare, wherever in the project they are.

    A type inherits the types in its supertypes, and these go before imported ones.

    Args:
        others: the other files of its package, where a supertype may have a file of another name.
    """
    if form.supertypes is None:
        return frozenset()
    named = _named(root)
    inherited: frozenset[str] = frozenset()
    names: set[str] = set()
    seen = {path}
    pending = [path]
    while pending:
        current = pending.pop()
        modified = current.stat().st_mtime_ns
        if current != path:
            inherited |= _types(form.language, current, modified)
        for name in _supertypes(current, modified) - names:
            names.add(name)
            above = [
                file for file in named.get(name, others) if file.suffix == path.suffix and file.is_file()
            ]
            pending += [file for file in above if file not in seen]
            seen.update(above)
    return inherited


@lru_cache(maxsize=4)
def _named(root: Path) -> Mapping[str, tuple[Path, ...]]:
    """The files of a project by their names without endings."""
    by_stem: dict[str, tuple[Path, ...]] = {}
    for file in source_files(root):
        path = root / file
        by_stem[path.stem] = (*by_stem.get(path.stem, ()), path)
    return by_stem


@lru_cache(maxsize=20_000)
def _supertypes(path: Path, modified: int) -> frozenset[str]:
    """The supertypes that a file declares (`FileFormat.supertypes`). The time of its last change only keeps
    apart its versions."""
    data = read_file(path)
    form = file_format(path.name, data)
    assert form.supertypes is not None
    return form.supertypes(data)


@lru_cache(maxsize=20_000)
def _types(language: str, path: Path, modified: int) -> frozenset[str]:
    """The names of types that a file declares. The time of its last change only keeps apart its versions."""
    data = read_file(path)
    form = file_format(path.name, data)
    assert form.types is not None
    return form.types(data)


def read_file(path: Path) -> bytes:
    """A file's bytes.

    Raises:
        RunError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's content atomically and keep its mode. A link is replaced, not followed.

    Raises:
        RunError: it cannot be written.
    """
    # Written under another name and renamed, because Ctrl-C in a write would leave half a file.
    place = path.with_name(f".{path.name}.partial")
    try:
        place.write_bytes(data)
        shutil.copymode(path, place)
        place.replace(path)
    except OSError as error:
        with suppress(OSError):
            place.unlink(missing_ok=True)
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


_NO_END: Final = "\\ No newline at end of file\n"


def file_diff(path: str, before: bytes, after: bytes) -> str:
    """The change of a file as a patch for `patch -p1`; empty if nothing changed."""
    return "".join(_diff(f"a/{path}", f"b/{path}", _text(path, before), _text(path, after)))


def unit_diff(path: str, name: str, before: bytes, after: bytes) -> str:
    """The change of one unit; for the unit `MODULE`, the change of the whole file."""
    if name == MODULE:
        return file_diff(path, before, after)
    here = f"{path} {name}"
    return "".join(_diff(here, here, _unit_text(path, before, name), _unit_text(path, after, name)))


def text_diff(name: str, before: str, after: str) -> str:
    """The change of a text; empty if nothing changed."""
    return "".join(_diff(name, name, before + "\n", after + "\n"))


def _diff(old: str, new: str, before: str, after: str) -> Iterator[str]:
    for line in difflib.unified_diff(_lines(before), _lines(after), _quoted(old), _quoted(new)):
        yield line if line.endswith("\n") else f"{line}\n{_NO_END}"


def _quoted(name: str) -> str:
    """A name as git and `patch` quote it, if an end of line in it would begin another header."""
    if name.isprintable():
        return name
    text = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in os.fsencode(name)
    )
    return f'"{text}"'


def _lines(text: str) -> list[str]:
    """The lines with their ends. Only `\\n` ends a line, unlike in `str.splitlines`."""
    # `splitlines` also splits at form feeds, which stand between functions in old Python files, and `patch`
    # does not know such lines.
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _text(path: str, data: bytes) -> str:
    try:
        decoded = file_format(path, data).decode(data)
    except SourceError:  # the diff of a file that cannot be read is shown as well as it can be
        return data.decode("utf-8", "backslashreplace")
    return decoded.text.replace("\n", decoded.newline)


def _unit_text(path: str, data: bytes, name: str) -> str:
    form = file_format(path, data)
    text = form.decode(data).text
    source, units = text.encode(), form.places(text)
    return next((source[p.start : p.end].decode() + "\n" for p in units if p.name == name), "")


@dataclass(slots=True)
class TransformCounts:
    """The counts of one transform."""

    kind: Kind
    changed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why it was not applied."""
    evidence: Counter[str] = field(default_factory=Counter)
    """The evidence of the changed units."""
    rests_on: Counter[str] = field(default_factory=Counter)
    """How many changed units rest on each entry of the ledger."""
    shown_at: dict[str, dict[str, None]] = field(default_factory=dict)
    """The places that show that an assumption does not hold, by the reason."""

    @property
    def units(self) -> int:
        """The number of units that it was given."""
        return self.changed + self.reasons.total()


CountsByTransform = dict[str, TransformCounts]
"""By transform name, in the order of the first record."""


def prepare(counts: CountsByTransform, names: Iterable[str]) -> None:
    """Add a zero count for each of these transforms, so that the table lists all of them."""
    for name in names:
        counts.setdefault(name, TransformCounts(entry_of(name).kind))


def count(counts: CountsByTransform, records: Iterable[UnitRecord | Outcome]) -> None:
    """Add the outcomes for units of a project, or for samples."""
    for record in records:
        totals = counts.setdefault(record.transform, TransformCounts(record.kind))
        match record:
            case Applied() | Perturbed():
                totals.changed += 1
                totals.evidence[record.evidence] += 1
                if isinstance(record, Applied):
                    totals.rests_on.update(record.rests_on)
                else:
                    totals.rests_on.update(row.id for row in rests_on(record))
            case Declined() | NotApplied():
                totals.reasons[record.reason] += 1
                place = (
                    record.shown_at
                    if isinstance(record, Declined)
                    else shown_at(record.sample, record.reason)
                )
                if place:
                    totals.shown_at.setdefault(record.reason, {})[place] = None


def add(counts: CountsByTransform, more: CountsByTransform) -> None:
    """Add the counts of another seed."""
    for name, other in more.items():
        totals = counts.setdefault(name, TransformCounts(other.kind))
        totals.changed += other.changed
        totals.reasons.update(other.reasons)
        totals.evidence.update(other.evidence)
        totals.rests_on.update(other.rests_on)
        for reason, places in other.shown_at.items():
            totals.shown_at.setdefault(reason, {}).update(places)

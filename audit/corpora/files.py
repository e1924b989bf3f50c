"""Corpora of source files: a file, a folder, an installed package, the standard library.

The ending of a file decides its language.
"""

import os
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, TypeAlias

from typing_extensions import override

from codeaudit.audit.corpora.functions import decode
from codeaudit.audit.corpora.records import BaseCorpus, CorpusResources, also_left_out
from codeaudit.audit.languages import audit_of, reads_files, warn_of_broken_readers
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.grammar import counted_reasons
from codeaudit.transforms.language import (
    DEFAULT,
    LANGUAGES,
    NO_ENGINE,
    Language,
    by_ending,
    every_language,
    rewritten_today,
    without_engine,
    written_in,
)
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target, unknown
from codeaudit.transforms.source_files import LARGEST, FileFormat

Units: TypeAlias = Callable[[str, str, Counter[str]], Iterator[Sample]]
"""(text, path, counter of what is left out) -> samples."""


def endings() -> frozenset[str]:
    """The endings of source files whose units can be read."""
    return frozenset(
        ending for language in every_language() if reads_files(language.name) for ending in language.endings
    )


def _language(path: Path) -> Language:
    """The language of a file; a file of unknown ending is read as one of the default language."""
    language = by_ending(path.suffix)
    # Only a file that the user named gets here with another ending: scripts often have none.
    return language if language is not None and reads_files(language.name) else LANGUAGES.get(DEFAULT)


def _text(data: bytes, language: Language) -> str:
    """A file's text, as `transform` reads it.

    Raises:
        SourceError: it cannot be decoded.
    """
    if not language.files:
        return decode(data)
    form: FileFormat = load_target(language.files)
    return decode(data, form.encoding_of)


_PYTHON: Final = frozenset(PYTHON.endings)

FOREIGN: Final = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
"""Folders with generated or foreign code; they are not read."""

TESTS: Final = frozenset({"test", "tests", "idle_test", "testing"})
"""Folders left out of installed packages and the standard library, because tests are another kind of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFiles(BaseCorpus):
    """The functions of files and folders."""

    spec: str
    roots: tuple[Path, ...]
    base: Path
    """The folder that paths of samples are relative to."""
    without: frozenset[str] = FOREIGN
    endings: frozenset[str] = field(default_factory=endings)
    """Endings of the files that are read."""
    counts_others: bool = False
    """Whether files in languages without an engine are counted. In other people's packages nobody asks."""
    named: bool = False
    """Whether the user named one file. A defect of it is an error; other files with defects are skipped."""

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """File by file in the order of their names."""
        has_files = False
        for root in self.roots:
            for path in _source_files(root, self.without, None if self.counts_others else self.endings):
                title = without_engine(ending=path.suffix) if self.counts_others else None
                if title is not None:
                    self._leave_out(path, f"in {title}{NO_ENGINE}", skipped)
                elif path.suffix in self.endings or path == root:
                    has_files = True
                    yield from self._file(path, skipped)
        if not has_files:
            warn_of_broken_readers()
            others = counted_reasons(
                {key: n for key, n in skipped.items() if key.endswith(NO_ENGINE)}, most=3
            )
            why = f" ({', '.join(others)}); {rewritten_today()}" if others else ""
            raise CorpusError(f"no {self._languages} files in {self.spec!r}{why}")

    def _file(self, path: Path, skipped: Counter[str]) -> Iterator[Sample]:
        try:
            data = read_bytes(path)
            language = written_in(_language(path), path.suffix, data)
            units: Units = load_target(audit_of(language.name).reader)
            found_here = units(_text(data, language), self._origin(path), skipped)
            if language.has_macros:  # its headers may be asked
                place = str(path.absolute())
                found_here = (replace(sample, file=place) for sample in found_here)
            yield from found_here
        except SourceError as error:
            # In a folder of thousands a broken file is a count; a file that was named is the whole request.
            # A parser names the line and the fault. Reasons without them can be counted together.
            detail = str(error.__cause__) if isinstance(error.__cause__, SourceError) else str(error)
            if self.named:
                raise SourceError(f"cannot use {str(path)!r}: {detail}") from error
            self._leave_out(path, str(error), skipped, detail)

    def _leave_out(self, path: Path, reason: str, skipped: Counter[str], detail: str = "") -> None:
        here = self._origin(path)
        also_left_out(skipped, {reason: 1}, {here: reason}, {here: detail} if detail else {})

    @property
    def _languages(self) -> str:
        titles = [record.title for record in every_language() if self.endings.intersection(record.endings)]
        return " or ".join((", ".join(titles[:-1]), titles[-1]) if len(titles) > 1 else titles)

    def _origin(self, path: Path) -> str:
        return path.relative_to(self.base).as_posix() if path.is_relative_to(self.base) else path.as_posix()


def read_bytes(path: Path) -> bytes:
    """A file's bytes, at most one more than a source file may have.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)  # one byte more shows that the file is too large
    except OSError as error:
        raise SourceError(f"unreadable: {error.strerror}") from error


def _source_files(root: Path, without: frozenset[str], endings: frozenset[str] | None) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    # Opening a pipe or a device would block. A broken link is kept, to be counted as unreadable.
    paths = walked(root, without)
    sources = (path for path in paths if endings is None or path.suffix in endings)
    yield from (path for path in sources if path.is_file() or not path.exists())


def walked(root: Path, without: frozenset[str] = FOREIGN) -> Iterator[Path]:
    """Everything below a folder that is no folder, in the order of names.

    Leaves out hidden folders, those named in `without`, and virtual environments.
    """
    for folder, folders, names in os.walk(root):
        inside = [name for name in folders if not name.startswith(".") and name not in without]
        # `os.walk` enters the folders in this list. An environment may have any name, but it has this file.
        folders[:] = sorted(name for name in inside if not Path(folder, name, "pyvenv.cfg").exists())
        yield from (Path(folder, name) for name in sorted(names))


def standard_library(spec: str, rest: str, resources: CorpusResources) -> SourceFiles:
    """The running Python's standard library, or the modules in `rest`, without tests.

    Raises:
        CorpusError: there is no such module, or the library is not in a folder (but in an archive).
    """
    modules = tuple(name.strip() for name in rest.split(",") if name.strip())
    if ":" in spec and not modules:
        raise CorpusError(f"corpus {spec!r} names no module; write stdlib:json,textwrap")
    base = Path(sysconfig.get_path("stdlib"))
    if not base.is_dir():
        raise CorpusError(f"the standard library is not in a folder of its own: {base}")
    roots = tuple(_module(base, name) for name in modules) or (base,)
    return _installed(spec, roots, base)


def _installed(spec: str, roots: tuple[Path, ...], base: Path) -> SourceFiles:
    return SourceFiles(spec=spec, roots=roots, base=base, without=FOREIGN | TESTS, endings=_PYTHON)


def _module(base: Path, name: str) -> Path:
    place = base.joinpath(*name.split("."))
    for path in (place.with_name(f"{place.name}.py"), place):
        if path.exists():
            return path
    names = [path.stem for path in base.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    raise CorpusError(unknown("module of the standard library", name, names))


def installed_package(spec: str, name: str, resources: CorpusResources) -> SourceFiles:
    """An installed package by its import or distribution name, without its tests. Nothing is imported.

    Raises:
        CorpusError: it is not installed, or has no Python files.
    """
    if not name:
        raise CorpusError(f"corpus {spec!r} names no package; write package:NAME")
    head, *rest = name.split(".")
    # Only `PathFinder`: built-in and frozen modules have no source to read.
    package = PathFinder.find_spec(head)
    if package is None:
        return _distribution(spec, name)
    if package.submodule_search_locations:
        roots = tuple(Path(place).joinpath(*rest) for place in package.submodule_search_locations)
    else:
        roots = (Path(package.origin or ""),)
    roots = tuple(path for root in roots for path in (root, root.with_suffix(".py")) if path.exists())
    if not roots:
        raise CorpusError(f"package {name!r} has no folder or file of Python code")
    return _installed(spec, roots, roots[0].parent)


def _distribution(spec: str, name: str) -> SourceFiles:
    try:
        files = distribution(name).files or []
    except PackageNotFoundError as error:
        raise CorpusError(f"package {name!r} is not installed here; check the name, or install it") from error
    tops = sorted(
        {Path(str(file.locate())).parents[len(file.parts) - 2] for file in files if _is_code(file.parts)}
    )
    if not tops:
        raise CorpusError(f"package {name!r} has no folder of Python code")
    return _installed(spec, tuple(tops), tops[0].parent)


def _is_code(parts: tuple[str, ...]) -> bool:
    return len(parts) > 1 and parts[-1].endswith(".py") and ".." not in parts

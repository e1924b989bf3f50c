"""Corpora of source files: one file, a folder, an installed package, the standard library.

The ending of a file tells its language.
"""

import os
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, TypeAlias

from codeaudit.audit.corpora.functions import LARGEST_FILE, decode
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.languages import DEFAULT, LANGUAGES, by_ending, every_language
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import unknown

Units: TypeAlias = Callable[[str, str, Counter[str]], Iterator[Sample]]
"""The samples of a text at a path; what is left out is counted."""


def endings() -> frozenset[str]:
    """The endings of source files whose units can be read."""
    return frozenset(
        ending for language in every_language() if language.reader for ending in language.endings
    )


def _reader(path: Path) -> Units:
    """The reader of a file; a file of unknown ending is read as one of the default language."""
    language = by_ending(path.suffix)
    if language is None or not language.reader:
        language = LANGUAGES.get(DEFAULT)
    found: Units = load_target(language.reader)
    return found


_PYTHON: Final = frozenset(PYTHON.endings)

FOREIGN: Final = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
"""Folders that hold no code of the tree they stand in."""

TESTS: Final = frozenset({"test", "tests", "idle_test", "testing"})
"""Folders left out of installed packages and the standard library: tests are other code than the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The functions of files and folders."""

    spec: str
    roots: tuple[Path, ...]
    base: Path
    """What origins are relative to."""
    without: frozenset[str] = FOREIGN
    endings: frozenset[str] = field(default_factory=endings)
    """Of the files that are read."""
    named: bool = False
    """Whether the user named one file, whose defects are errors and not gaps."""

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """As `Corpus.read`: file by file in the order of their names."""
        found = False
        for root in self.roots:
            for path in _source_files(root, self.without, self.endings):
                found = True
                yield from self._file(path, skipped)
        if not found:
            raise CorpusError(f"no {self._languages} files in {self.spec!r}")

    def _file(self, path: Path, skipped: Counter[str]) -> Iterator[Sample]:
        try:
            yield from _reader(path)(decode(read_bytes(path)), self._origin(path), skipped)
        except SourceError as error:
            if self.named:
                raise SourceError(f"cannot use {str(path)!r}: {error}") from error
            skipped[str(error)] += 1

    @property
    def _languages(self) -> str:
        return " or ".join(one.title for one in every_language() if self.endings.intersection(one.endings))

    def _origin(self, path: Path) -> str:
        return path.relative_to(self.base).as_posix() if path.is_relative_to(self.base) else path.as_posix()


def read_bytes(path: Path) -> bytes:
    """A file's bytes, at most one more than a source file may have.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SourceError(f"unreadable: {error.strerror}") from error


def _source_files(root: Path, without: frozenset[str], endings: frozenset[str]) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for folder, folders, names in os.walk(root):
        inside = [name for name in folders if not name.startswith(".") and name not in without]
        folders[:] = sorted(name for name in inside if not Path(folder, name, "pyvenv.cfg").exists())
        paths = [Path(folder, name) for name in sorted(names) if Path(name).suffix in endings]
        # A pipe or a device would block; a broken link is an unreadable file, to be counted.
        yield from (path for path in paths if path.is_file() or not path.exists())


def standard_library(spec: str, modules: tuple[str, ...]) -> Files:
    """The running Python's standard library, or some of its modules, without tests.

    Raises:
        CorpusError: it has no such module, or stands in no folder.
    """
    base = Path(sysconfig.get_path("stdlib"))
    if not base.is_dir():
        raise CorpusError(f"the standard library is not in a folder of its own: {base}")
    roots = tuple(_module(base, name) for name in modules) or (base,)
    return Files(spec=spec, roots=roots, base=base, without=FOREIGN | TESTS, endings=_PYTHON)


def _module(base: Path, name: str) -> Path:
    place = base.joinpath(*name.split("."))
    for path in (place.with_name(f"{place.name}.py"), place):
        if path.exists():
            return path
    known = [path.stem for path in base.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    raise CorpusError(unknown("module of the standard library", name, known))


def installed_package(spec: str, name: str) -> Files:
    """An installed package by the name that it is imported or distributed by, without its tests.

    Nothing is imported.

    Raises:
        CorpusError: it is not installed, or has no Python files.
    """
    head, *rest = name.split(".")
    found = PathFinder.find_spec(head)
    if found is None:
        return _distribution(spec, name)
    if found.submodule_search_locations:
        roots = tuple(Path(place).joinpath(*rest) for place in found.submodule_search_locations)
    else:
        roots = (Path(found.origin or ""),)
    roots = tuple(path for root in roots for path in (root, root.with_suffix(".py")) if path.exists())
    if not roots:
        raise CorpusError(f"package {name!r} has no folder or file of Python code")
    return Files(spec=spec, roots=roots, base=roots[0].parent, without=FOREIGN | TESTS, endings=_PYTHON)


def _distribution(spec: str, name: str) -> Files:
    try:
        files = distribution(name).files or []
    except PackageNotFoundError as error:
        raise CorpusError(f"package {name!r} is not installed here; check the name, or install it") from error
    tops = sorted(
        {Path(str(file.locate())).parents[len(file.parts) - 2] for file in files if _is_code(file.parts)}
    )
    if not tops:
        raise CorpusError(f"package {name!r} has no folder of Python code")
    return Files(spec=spec, roots=tuple(tops), base=tops[0].parent, without=FOREIGN | TESTS, endings=_PYTHON)


def _is_code(parts: tuple[str, ...]) -> bool:
    return len(parts) > 1 and parts[-1].endswith(".py") and ".." not in parts

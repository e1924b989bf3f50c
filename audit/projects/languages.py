"""The languages whose files can be perturbed in place, found by the endings of file names."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Protocol

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.language import Language
from codeaudit.transforms.languages import every_language
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.registry import entry_of, languages_of, transform_for
from codeaudit.transforms.source_files import FileFormat


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


def file_format(path: str) -> FileFormat:
    """How a file is read and written. Its reader is imported at the first call."""
    found: FileFormat = load_target(source_languages()[PurePath(path).suffix].files)
    return found


def probes(path: str) -> Probes:
    """The probes for a file."""
    found: Probes = load_target(source_languages()[PurePath(path).suffix].probes)
    return found


def languages(paths: Iterable[str]) -> tuple[str, ...]:
    """The languages of these files."""
    endings = {PurePath(path).suffix for path in paths}
    return tuple(language.name for ending, language in source_languages().items() if ending in endings)


def meant(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Those of these transforms that rewrite one of these languages; all of them if none does."""
    every, spoken = tuple(names), set(known)
    own = [
        name for name in every if entry_of(name).kind == "identity" or spoken.intersection(languages_of(name))
    ]
    return tuple(own) or every


def loaded(names: Iterable[str], name: str) -> tuple[Transform, ...]:
    """The transforms with these names, for a language."""
    return tuple(transform_for(one, name) for one in meant(names, (name,)))

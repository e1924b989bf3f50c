"""The languages whose files are perturbed in place: by the ending of a file's name."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePath
from typing import Final, Protocol

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.loading import load_target
from codeaudit.transforms.registry import BY_LANGUAGE, ENTRIES, transform_for
from codeaudit.transforms.trees import Language


class Probes(Protocol):
    """Statements that are put first into units, to see whether tests execute them."""

    @property
    def raising(self) -> str:
        """What a unit does in the power check."""
        ...

    def noting(self, number: int) -> str:
        """The statement that notes a unit as executed."""
        ...

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """A file whose units begin with these statements.

        A unit in which the statement cannot stand is left as it is, and so is a file that cannot be read.
        """
        ...


LANGUAGES: Final[Mapping[str, str]] = {".py": "python", ".java": "java"}
"""By ending."""

_FILES: Final[Mapping[str, str]] = {
    "python": "codeaudit.transforms.python.tree:PYTHON",
    "java": "codeaudit.transforms.java.tree:JAVA",
}
_PROBES: Final[Mapping[str, str]] = {
    "python": "codeaudit.audit.projects.probes.python:PROBES",
    "java": "codeaudit.audit.projects.probes.java:PROBES",
}


def language(path: str) -> Language:
    """The language of a file, whose reader is imported when it is first asked for."""
    return _language(LANGUAGES[PurePath(path).suffix])


def probes(path: str) -> Probes:
    """The probes for a file."""
    return _probes(LANGUAGES[PurePath(path).suffix])


@cache
def _language(name: str) -> Language:
    found: Language = load_target(_FILES[name])
    return found


@cache
def _probes(name: str) -> Probes:
    found: Probes = load_target(_PROBES[name])
    return found


def languages(paths: Iterable[str]) -> tuple[str, ...]:
    """The languages of these files."""
    endings = {PurePath(path).suffix for path in paths}
    return tuple(name for ending, name in LANGUAGES.items() if ending in endings)


def meant(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Of these names of transforms those that are one's in some of these languages; all where none is."""
    every = tuple(names)
    own = {name for one in known for name in BY_LANGUAGE[one]}
    own |= {name for name in every if ENTRIES[name].kind == "identity"}
    return tuple(name for name in every if name in own) or every


def loaded(names: Iterable[str], name: str) -> tuple[Transform, ...]:
    """The transforms of these names in a language."""
    return tuple(transform_for(one, name) for one in meant(names, (name,)))

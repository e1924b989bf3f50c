"""A function as lines with dependences, in any language: the source of the networks' features."""

from collections.abc import Sequence
from random import Random
from typing import Protocol

from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.languages import every_language, find_language
from codeaudit.transforms.loading import load_target


def readable_languages() -> tuple[str, ...]:
    """The languages whose functions can be read as lines."""
    return tuple(language.name for language in every_language() if language.lines)


class CodeLine(Protocol):
    """One logical line in normal form."""

    @property
    def text(self) -> str:
        """Without indentation and comments; of a compound statement the header only."""
        ...

    @property
    def depth(self) -> int:
        """Nesting depth, 0 for the header of the function."""
        ...


class LineProgram(Protocol):
    """A parsed function."""

    @property
    def source(self) -> str:
        """Its text."""
        ...

    @property
    def lines(self) -> Sequence[CodeLine]:
        """In the order of the text, the header of the function first."""
        ...

    @property
    def graph(self) -> DependenceGraph:
        """The dependences between the lines."""
        ...

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order, as old indices in new order."""
        ...


def analyse(source: str, language: str) -> LineProgram:
    """The program of one function.

    Raises:
        SourceError: the text is not of that language, or nothing that can be read here.
    """
    record = find_language(language)
    if record is None or not record.lines:
        raise SourceError("no reader for this language")
    found: LineProgram = load_target(record.lines)(source)
    return found

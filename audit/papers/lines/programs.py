"""A function as lines with dependences, in whatever language: what networks are fed from."""

from collections.abc import Sequence
from random import Random
from typing import Final, Protocol

from codeaudit.transforms.dependence.graph import Graph
from codeaudit.transforms.errors import SourceError

LANGUAGES: Final = ("python", "java")
"""Those that can be read."""


class Line(Protocol):
    """One logical line in normal form."""

    @property
    def text(self) -> str:
        """Without indentation and comments; of a compound statement the header only."""
        ...

    @property
    def depth(self) -> int:
        """Nesting depth, 0 for the header of the function."""
        ...


class Program(Protocol):
    """A parsed function."""

    @property
    def source(self) -> str:
        """Its text."""
        ...

    @property
    def lines(self) -> Sequence[Line]:
        """In the order of the text, the header of the function first."""
        ...

    @property
    def graph(self) -> Graph:
        """The dependences between the lines."""
        ...

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order, as old indices in new order."""
        ...


def analyse(source: str, language: str) -> Program:
    """The program of one function.

    Raises:
        SourceError: the text is not of that language, or nothing that can be read here.
    """
    if language == "python":
        from codeaudit.transforms.python.analysis.program import analyse as analyse_python

        return analyse_python(source)
    if language == "java":
        from codeaudit.transforms.java.analysis.program import analyse as analyse_java

        return analyse_java(source)
    raise SourceError("no reader for this language")

"""A function whose variables are read by their identity instead of their names.

Before the text is read, a mark replaces the name of every local variable and parameter; marks are numbered by
first occurrence. The analysis behind the renaming transform decides which words are one variable, so no
renaming changes the features. Variables that a renaming must not touch get marks as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.audit.papers.lines.programs import CodeLine, LineProgram, analyse
from codeaudit.audit.papers.lines.words import VARIABLE, Word, masked_name, words
from codeaudit.transforms.python.identifiers.obstacles import MOVABLE_VIEWS
from codeaudit.transforms.python.identifiers.variables import variables
from codeaudit.transforms.python.language import PYTHON

_STEM: Final = "referent"


@dataclass(frozen=True, slots=True)
class Marked:
    """A function with marks for names."""

    program: LineProgram
    marks: re.Pattern[str]
    """The pattern of a mark; the mark is its group and contains its number."""

    def lines(self) -> Iterator[list[Word]]:
        """The words of each line."""
        lines = self.program.lines
        name = masked_name(lines[0].text) if lines else ""
        for line in lines:
            yield list(self._words(line, name))

    def _words(self, line: CodeLine, name: str) -> Iterator[Word]:
        for text in words(line, name, marks=self.marks):
            if self.marks.fullmatch(text):
                yield Word(VARIABLE, int(text.strip("_").rpartition("_")[2]))
            else:
                yield Word(text)


@lru_cache(maxsize=4)
def marked(source: str) -> Marked:
    """One Python function with marks for its variables.

    Raises:
        SourceError: the text does not parse, or is not one function.
    """
    known = variables(source)
    stem = _STEM
    while stem in source:
        stem += "_x"
    found = [one for one in known.scopes.bindings if one.view in MOVABLE_VIEWS and one.located]
    names = {one.number: f"{stem}_{number}_" for number, one in enumerate(found, 1)}
    return Marked(analyse(known.rewritten(names), PYTHON.name), re.compile(rf"({stem}_\d+_)"))

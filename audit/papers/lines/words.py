"""A function as lines of words with dependences, in any language: the source of the networks' features.

Identifiers fall apart into lower-cased subtokens, so that `read_text` and `readText` are the same two words;
a string keeps a few of its words, because texts hint at the purpose of a function.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Final, NamedTuple, Protocol

from codeaudit.audit.papers.languages import features_of
from codeaudit.audit.tasks.function_name import MASK, subtokens
from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.language import DEFAULT, every_language
from codeaudit.transforms.registration import load_target


def readable_languages() -> tuple[str, ...]:
    """The languages whose functions can be read as lines."""
    return tuple(language.name for language in every_language() if features_of(language.name).lines)


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


def analyse(source: str, language: str, dependence: Dependence = "strict") -> LineProgram:
    """The program of one function, with its dependences under a relation.

    Raises:
        SourceError: the text is not of that language, or nothing that can be read here.
    """
    lines = features_of(language).lines
    if not lines:
        raise SourceError("no reader for this language")
    program: LineProgram = load_target(lines)(source, dependence=dependence)
    return program


NAME: Final = "<name>"
"""Stands for the masked name of the function."""
STRING: Final = "<str>"
NUMBER: Final = "<num>"
DEPTHS: Final = tuple(f"<d{depth}>" for depth in range(7))
"""The first word of a line: how deeply it is nested; the last one also stands for deeper."""
STRING_WORDS: Final = 4
"""How many words of a string are kept."""
SHORT_NUMBER: Final = 3
VARIABLE: Final = "<var>"
"""Stands for any local variable or parameter, where names are not read."""


class Word(NamedTuple):
    """One word of a line."""

    text: str
    referent: int = 0
    """The number of the variable, counted from 1; 0 for other words, and where names are read."""


# One pattern for all languages, tried in this order: a string before the word that its prefix would be
# (`rb"x"`), an operator of two signs before that of one.
_PATTERN: Final = r"""
    (?P<string>(?:\b[rbfuRBFU]{1,2})?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))
  | (?P<number>\d[\w.]*)
  | (?P<word>\w+)
  | (?P<operator>{more}
      \*\*=|//=|>>=|<<=|->|:=|==|!=|<=|>=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|@=|\*\*|//|<<|>>|\.\.\.|\S)
    """
LETTERS: Final = re.compile(r"[^\W\d_]{2,}")
_MASKED: Final = re.compile(rf"\s({MASK}(?:_\d+)?)\s*\(")
"""A name with an opening parenthesis behind `def`, or behind Java's type of the result."""


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """The words of a language's lines, with the operators that it adds to Python's."""
    return re.compile(_PATTERN.replace("{more}", features_of(language).operators), re.VERBOSE | re.DOTALL)


def masked_name(header: str) -> str:
    """The masked name in the header of a function; `MASK` where the name was not masked."""
    match = _MASKED.search(header)
    return match.group(1) if match else MASK


def words(
    line: CodeLine, name: str = MASK, language: str = DEFAULT, marks: re.Pattern[str] | None = None
) -> Iterator[str]:
    """The words of a line, its depth first; the identifier `name` is the masked name of the function.

    A text that matches `marks`, a pattern with one group, is a word unchanged, also inside strings.
    """
    yield DEPTHS[min(line.depth, len(DEPTHS) - 1)]
    for match in _pattern(language).finditer(line.text):
        text = match.group()
        match match.lastgroup:
            case "string":
                yield STRING
                yield from _in_string(text, marks)
            case "number":
                yield text if len(text) <= SHORT_NUMBER else NUMBER
            case "word" if text == name:
                yield NAME
            case "word" if marks is not None and marks.fullmatch(text):
                yield text
            case "word":
                # A name such as `_1` has no subtokens. It stays visible as `_`.
                yield from [part for part in subtokens(text) if not part.isdecimal()] or ["_"]
            case _:
                yield text


def _in_string(text: str, marks: re.Pattern[str] | None) -> Iterator[str]:
    """The first words of a string, and every mark in it."""
    left = STRING_WORDS
    # `split` by a pattern with a group gives texts at even places and the marks between them at odd ones.
    for number, piece in enumerate(marks.split(text) if marks else [text]):
        if number % 2:
            yield piece
        else:
            letters = LETTERS.findall(piece)[:left]
            left -= len(letters)
            yield from (part.lower() for part in letters)

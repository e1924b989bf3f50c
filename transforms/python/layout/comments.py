"""Comments that carry no information are inserted, and comments that no tool reads are removed."""

import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.layout.lexemes import (
    COOKIE,
    Lexeme,
    continued,
    indent_of,
    lexemes,
    logical_lines,
    solid,
    untouchable,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import line_start

FOR_A_TOOL: Final = "comment is for a tool"
ENCODING: Final = "comments at the head name an encoding"
AFTER_BACKSLASH: Final = "comment ends a continued line"

PHRASES: Final = (
    "next part",
    "as described above",
    "see the notes",
    "keep this in mind",
    "to be continued below",
    "part of the same step",
    "this was discussed before",
    "nothing special here",
    "one step further",
    "same as usual",
)
"""Comments that fit everywhere and that no tool takes for a directive."""

_DIRECTIVE: Final = re.compile(
    r"#\s*(?:!|:|-\*-|(?:noqa|pragma|nosec|nopep8)\b|(?:type|pylint|fmt|yapf|isort|mypy|pyright|pyre|pytype|"
    r"ruff|flake8|bandit|doctest|cython|coverage|codespell|vim)\s*:)",
    re.IGNORECASE,
)


def directive(text: str) -> bool:
    """Whether a comment is a directive for a tool: a type, `noqa`, an encoding, an interpreter."""
    return text.startswith("#!") or bool(_DIRECTIVE.match(text) or COOKIE.search(text.encode()))


def find_places(code: PythonSource) -> Iterator[Site | Refused]:
    """The places for comments: above each logical line, at its end, and at line ends inside brackets."""
    head = untouchable(code)
    comments = {one.last: one for one in lexemes(code) if one.type == tokenize.COMMENT}
    rows = logical_lines(code)
    for number, row in enumerate(rows):
        options: list[tuple[Patch, ...]] = []
        indent = indent_of(code, row[0].start)
        above = comments.get(row[0].line - 1)
        free = not indent.strip(" \t") and not continued(code, row[0].line) and row[0].start >= head
        if free and number and not (above is not None and directive(above.text)):
            at = line_start(code, row[0].start)
            options += [(Patch(at, at, (f"{indent}# {phrase}{code.newline}",)),) for phrase in PHRASES]
        options += _at_end(code, row[-1])
        if options:
            yield Site(tuple(options), "comment", row[0].line)
        yield from (
            Site(tuple(_at_end(code, one)), "comment inside brackets", one.line)
            for one, behind in pairwise(row)
            if one.last < behind.line
        )


def find_comments(code: PythonSource) -> Iterator[Site | Refused]:
    """Every comment that no tool reads."""
    head = untouchable(code)
    solid_lines = {line for one in solid(code) for line in range(one.line, one.last + 1)}
    for one in lexemes(code):
        if one.type != tokenize.COMMENT:
            continue
        start, end = one.start, one.end
        if directive(one.text):
            yield Refused(FOR_A_TOOL)
        # Behind code, the comment goes with the blanks before it; alone, its whole line goes.
        elif one.line in solid_lines:
            start = line_start(code, start) + len(code.source[line_start(code, start) : start].rstrip())
            yield Site(((Patch(start, end, ()),),), "comment at the end of a line", one.line)
        elif continued(code, one.line):
            yield Refused(AFTER_BACKSLASH)
        elif start < head:
            yield Refused(ENCODING)
        else:
            start = line_start(code, start)
            stop = code.source.find(b"\n", end)
            end = len(code.source) if stop < 0 else stop + 1
            yield Site(((Patch(start, end, ()),),), "comment", one.line)


def _at_end(code: PythonSource, last: Lexeme) -> list[tuple[Patch, ...]]:
    """The comments that may follow the last token of a line; none if a comment or a backslash already follows
    it.
    """
    if code.source[last.end :].partition(b"\n")[0].strip():
        return []
    return [(Patch(last.end, last.end, (f"  # {phrase}",)),) for phrase in PHRASES]


INSERT_COMMENTS: Final = PythonRule(
    name="insert-comments", find=find_places, nothing="no line to comment", proof="tree"
)
REMOVE_COMMENTS: Final = PythonRule(
    name="remove-comments", find=find_comments, nothing="no comment", proof="tree"
)

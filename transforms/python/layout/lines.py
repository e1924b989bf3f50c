"""Line ends: blank lines, lines inside brackets, statements that share a line."""

import ast
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.layout.lexemes import (
    continued,
    docstrings,
    gap,
    indent_of,
    lexemes,
    logical_lines,
    statement_lists,
    untouchable,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import line_start

HEAD: Final = "line above a function or at the head of a file"
COMMENT: Final = "comment between"
ONE_LINE_BODY: Final = "body stands on the line of its header"
COMPOUND: Final = "compound statement"
DOCSTRING: Final = "docstring"
AFTER_BACKSLASH: Final = "line begins behind a backslash"
_COMPOUND: Final = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


def find_gaps(code: PythonSource) -> Iterator[Site | Refused]:
    """Every place between two logical lines, above the comments of the lower one."""
    head = untouchable(code)
    rows = logical_lines(code)
    for above, below in pairwise(rows):
        at = code.source.find(b"\n", above[-1].end) + 1
        if not 0 < at <= below[0].start or continued(code, below[0].line):
            continue  # a backslash with nothing behind it
        if at < head:
            yield Refused(HEAD)
            continue
        options = tuple((Patch(at, at, (code.newline * count,)),) for count in (1, 2))
        yield Site(options, "blank lines", below[0].line)


def find_blank(code: PythonSource) -> Iterator[Site | Refused]:
    """Every run of blank lines, also inside brackets."""
    head = untouchable(code)
    start, line, previous = -1, 0, 0
    for one in lexemes(code):
        if one.type == tokenize.NL and one.line != previous and not continued(code, one.line):
            if start < 0:
                start, line = line_start(code, one.start), one.line
        elif start >= 0:
            end = line_start(code, one.start)
            if end > start:
                yield (
                    Refused(HEAD) if start < head else Site(((Patch(start, end, ()),),), "blank lines", line)
                )
            start = -1
        previous = one.last


def find_joins(code: PythonSource) -> Iterator[Site | Refused]:
    """Every line break inside brackets or after a backslash."""
    for row in logical_lines(code):
        for one, behind in pairwise(row):
            if one.last == behind.line:
                continue
            if b"#" in gap(code, one, behind):
                yield Refused(COMMENT)
                continue
            tight = one.opens or behind.closes or behind.text in (",", ":")
            tight = tight or (behind.text == "." and one.type != tokenize.NUMBER)
            blank = "" if tight else " "
            yield Site(((Patch(one.end, behind.start, (blank,)),),), "line break removed", one.last)


def find_breaks(code: PythonSource) -> Iterator[Site | Refused]:
    """Every comma inside brackets with more behind it on its line."""
    for row in logical_lines(code):
        indent = _margin(code, row[0].start)
        columns: list[int] = []
        for one, behind in pairwise(row):
            if one.opens:
                columns.append(one.end - line_start(code, one.start))
            if one.closes and columns:
                columns.pop()
            if one.text != "," or not columns or behind.closes or one.last != behind.line:
                continue
            margins = [indent + " " * 4, indent + " " * 8]
            if "\t" not in indent:
                margins.append(" " * columns[-1])
            options = tuple(
                (Patch(one.end, behind.start, (code.newline + margin,)),) for margin in dict.fromkeys(margins)
            )
            yield Site(options, "line break", one.line)


def find_neighbours(code: PythonSource) -> Iterator[Site | Refused]:
    """Every two simple statements on lines of their own with nothing but white space between them."""
    texts = docstrings(code)
    for block in statement_lists(code):
        for first, second in pairwise(block):
            if isinstance(first, _COMPOUND) or isinstance(second, _COMPOUND):
                yield Refused(COMPOUND)
            elif isinstance(first, ast.Expr) and id(first.value) in texts:
                yield Refused(DOCSTRING)
            elif between := code.source[code.end(first) : code.start(second)].strip():
                if between != b";":
                    yield Refused(COMMENT)
            else:
                patch = Patch(code.end(first), code.start(second), ("; ",))
                yield Site(((patch,),), "two statements on a line", code.line(first))


def find_semicolons(code: PythonSource) -> Iterator[Site | Refused]:
    """Every `;` between two statements of a block that does not begin on its header's line."""
    for row in logical_lines(code):
        breaks = [
            (one, behind)
            for one, behind in pairwise(row)
            if one.text == ";" and one.depth == 0 and one.type == tokenize.OP
        ]
        if not breaks:
            continue
        indent = indent_of(code, row[0].start)
        if indent.strip(" \t") or continued(code, row[0].line):
            yield Refused(AFTER_BACKSLASH)
            continue
        if not _begins_statement(code, row[0].start):
            yield Refused(ONE_LINE_BODY)
            continue
        for one, behind in breaks:
            start = len(code.source[: one.start].rstrip(b" \t\f"))
            patch = Patch(start, behind.start, (code.newline + indent,))
            yield Site(((patch,),), "a line for each statement", one.line)


def _begins_statement(code: PythonSource, start: int) -> bool:
    """Whether a simple statement begins at an offset."""
    for block in statement_lists(code):
        for statement in block:
            if code.start(statement) == start:
                return not isinstance(statement, _COMPOUND)
    return False


def _margin(code: PythonSource, offset: int) -> str:
    """The white space at the beginning of the line of an offset."""
    before = indent_of(code, offset)
    return before[: len(before) - len(before.lstrip(" \t"))]


INSERT_BLANK_LINES: Final = PythonRule(
    name="insert-blank-lines", find=find_gaps, nothing="a single line", proof="tree"
)
REMOVE_BLANK_LINES: Final = PythonRule(
    name="remove-blank-lines", find=find_blank, nothing="no blank line", proof="tree"
)
JOIN_LINES: Final = PythonRule(
    name="join-lines", find=find_joins, nothing="no line break inside a statement", proof="tree"
)
SPLIT_LINES: Final = PythonRule(
    name="split-lines", find=find_breaks, nothing="no comma in brackets", proof="tree"
)
JOIN_STATEMENTS: Final = PythonRule(
    name="join-statements", find=find_neighbours, nothing="no two statements in a row", proof="tree"
)
SPLIT_STATEMENTS: Final = PythonRule(
    name="split-statements", find=find_semicolons, nothing="no two statements on a line", proof="tree"
)

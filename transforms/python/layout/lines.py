"""White space and comments: blank lines, line breaks, statements that share a line, blanks around operators,
comments that carry no information.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.comments import marks_section
from codeaudit.transforms.python.layout.lexemes import (
    COOKIE,
    Lexeme,
    docstrings,
    gap,
    indent_of,
    lexemes,
    logical_lines,
    solid,
    statement_lists,
    untouchable,
)
from codeaudit.transforms.python.rewriting import edit, same_tree
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import continued, line_start, next_line

HEAD: Final = "line above a function or at the head of a file"
COMMENT: Final = "comment between"
ONE_LINE_BODY: Final = "body stands on the line of its header"
COMPOUND: Final = "compound statement"
DOCSTRING: Final = "docstring"
CONTINUED: Final = "line begins behind a backslash"
BREAK: Final = "line break beside the operator"
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

_COMPOUND: Final = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
_OPERATORS: Final = frozenset({
    "+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=",
    "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "**=", "&=", "|=", "^=", "<<=", ">>=", ":=", "->",
})  # fmt: skip
_DIRECTIVE: Final = re.compile(
    r"#\s*(?:!|:|-\*-|(?:noqa|pragma|nosec|nopep8)\b|(?:type|pylint|fmt|yapf|isort|mypy|pyright|pyre|pytype|"
    r"ruff|flake8|bandit|doctest|cython|coverage|codespell|vim)\s*:)",
    re.IGNORECASE,
)


# ── blank lines ──────────────────────────────────────────────────────────────────────────────────────────


def _places_for_blank_lines(code: PythonSource) -> Iterator[Site | Refused]:
    """Every place between two logical lines, above the comments of the lower one."""
    head = untouchable(code)
    for above, below in pairwise(logical_lines(code)):
        at = code.source.find(b"\n", above[-1].end) + 1
        if not 0 < at <= below[0].start or continued(code, line_start(code, below[0].start)):
            continue  # a backslash with nothing behind it
        # Pushed down, a declaration of the encoding on line 2 would be a plain comment.
        if at < head:
            yield Refused(HEAD)
            continue
        options = tuple((Patch(at, at, (code.newline * count,)),) for count in (1, 2))
        yield Site(options, "blank lines", below[0].line)


def _blank_lines(code: PythonSource) -> Iterator[Site | Refused]:
    """Every run of blank lines, also inside brackets."""
    head = untouchable(code)
    start, line, previous = -1, 0, 0
    for lexeme in lexemes(code):
        begin = line_start(code, lexeme.start)
        # A line break alone on its line. Behind a backslash, the line is the end of the statement above.
        if lexeme.type == tokenize.NL and lexeme.line != previous and not continued(code, begin):
            if start < 0:
                start, line = begin, lexeme.line
        elif start >= 0:
            if begin > start:
                # Pulled up to line 2, a comment with `coding:` would become a declaration of the encoding.
                refused = start < head
                yield Refused(HEAD) if refused else edit("blank lines", line, Patch(start, begin, ()))
            start = -1
        previous = lexeme.last


INSERT_BLANK_LINES: Final = same_tree("insert-blank-lines", _places_for_blank_lines, "a single line")
REMOVE_BLANK_LINES: Final = same_tree("remove-blank-lines", _blank_lines, "no blank line")


# ── line breaks ──────────────────────────────────────────────────────────────────────────────────────────


def _breaks(code: PythonSource) -> Iterator[Site | Refused]:
    """Every line break inside brackets or after a backslash."""
    for row in logical_lines(code):
        for before, behind in pairwise(row):
            if before.last == behind.line:
                continue
            # The comment would swallow the rest of the joined line.
            if b"#" in gap(code, before, behind):
                yield Refused(COMMENT)
                continue
            tight = before.opens or behind.closes or behind.text in (",", ":")
            # `1 .real` is an attribute of a number, `1.real` is a syntax error.
            tight = tight or (behind.text == "." and before.type != tokenize.NUMBER)
            patch = Patch(before.end, behind.start, ("" if tight else " ",))
            yield edit("line break removed", before.last, patch)


def _places_for_breaks(code: PythonSource) -> Iterator[Site]:
    """Every comma inside brackets with more behind it on its line."""
    for row in logical_lines(code):
        before = indent_of(code, row[0].start)
        indent = before[: len(before) - len(before.lstrip(" \t"))]
        columns: list[int] = []
        """For each open bracket, the column behind it."""
        for lexeme, behind in pairwise(row):
            if lexeme.opens:
                columns.append(lexeme.end - line_start(code, lexeme.start))
            if lexeme.closes and columns:
                columns.pop()
            if lexeme.text != "," or not columns or behind.closes or lexeme.last != behind.line:
                continue
            margins = [indent + " " * 4, indent + " " * 8]
            # Behind tabs, a number of columns says nothing about the place on the screen.
            if "\t" not in indent:
                margins.append(" " * columns[-1])
            options = tuple(
                (Patch(lexeme.end, behind.start, (code.newline + margin,)),)
                for margin in dict.fromkeys(margins)
            )
            yield Site(options, "line break", lexeme.line)


JOIN_LINES: Final = same_tree("join-lines", _breaks, "no line break inside a statement")
SPLIT_LINES: Final = same_tree("split-lines", _places_for_breaks, "no comma in brackets")


# ── statements on one line ───────────────────────────────────────────────────────────────────────────────


def _neighbours(code: PythonSource) -> Iterator[Site | Refused]:
    """Every two simple statements on lines of their own with nothing but white space between them."""
    texts = docstrings(code)
    for block in statement_lists(code):
        for first, second in pairwise(block):
            # `a(); if b: c()` is a syntax error, and in `if b: c(); d()` the last call belongs to the `if`.
            if isinstance(first, _COMPOUND) or isinstance(second, _COMPOUND):
                yield Refused(COMPOUND)
            elif isinstance(first, ast.Expr) and id(first.value) in texts:
                yield Refused(DOCSTRING)
            elif between := code.source[code.end(first) : code.start(second)].strip():
                if between != b";":
                    yield Refused(COMMENT)
            else:
                patch = Patch(code.end(first), code.start(second), ("; ",))
                yield edit("two statements on a line", code.line(first), patch)


def _semicolons(code: PythonSource) -> Iterator[Site | Refused]:
    """Every `;` between two statements of a block that does not begin on its header's line."""
    simple = {
        code.start(statement)
        for block in statement_lists(code)
        for statement in block
        if not isinstance(statement, _COMPOUND)
    }
    for row in logical_lines(code):
        breaks = [
            (lexeme, behind)
            for lexeme, behind in pairwise(row)
            if lexeme.text == ";" and lexeme.depth == 0 and lexeme.type == tokenize.OP
        ]
        if not breaks:
            continue
        first = row[0].start
        indent = indent_of(code, first)
        # The indentation of the statement is not that of its line.
        if indent.strip(" \t") or continued(code, line_start(code, first)):
            yield Refused(CONTINUED)
            continue
        # In `if a: b(); c()`, a `c()` on the next line would run without `a`.
        if first not in simple:
            yield Refused(ONE_LINE_BODY)
            continue
        for semicolon, behind in breaks:
            start = len(code.source[: semicolon.start].rstrip(b" \t\f"))
            patch = Patch(start, behind.start, (code.newline + indent,))
            yield edit("a line for each statement", semicolon.line, patch)


JOIN_STATEMENTS: Final = same_tree("join-statements", _neighbours, "no two statements in a row")
SPLIT_STATEMENTS: Final = same_tree("split-statements", _semicolons, "no two statements on a line")


# ── blanks ───────────────────────────────────────────────────────────────────────────────────────────────


def _operators(code: PythonSource) -> Iterator[Site | Refused]:
    """Every operator between two values with the blanks on both sides, and every comma with those behind it.

    Blanks never separate text that would be read as one token: names, numbers, strings, brackets or a sign
    stand beside an operator, and no operator followed by a sign is another operator.
    """
    for row in logical_lines(code):
        for before, token, behind in zip(row, row[1:], row[2:], strict=False):
            if token.type != tokenize.OP:
                continue
            if token.text == "," and not behind.closes:
                yield _spaced(code, ((token, behind),), "blanks behind a comma")
            # A unary `-` has no value on its left; `*args` and `f(x=)` have none on one side.
            elif (
                token.text in _OPERATORS and before.ends_operand and not behind.closes and behind.text != ","
            ):
                yield _spaced(code, ((before, token), (token, behind)), "blanks around an operator")


def _spaced(code: PythonSource, gaps: tuple[tuple[Lexeme, Lexeme], ...], note: str) -> Site | Refused:
    """The site that writes no, one or two blanks into each of the gaps."""
    now = {gap(code, before, behind) for before, behind in gaps}
    # A line break goes with `JOIN_LINES`, which sees comments.
    if any(text.strip(b" \t") for text in now):
        return Refused(BREAK)
    options = tuple(
        tuple(Patch(before.end, behind.start, (blank,)) for before, behind in gaps)
        for blank in ("", " ", "  ")
        if now != {blank.encode()}
    )
    return Site(options, note, gaps[0][0].line)


SPACING: Final = same_tree("spacing", _operators, "no operator and no comma")


# ── comments ─────────────────────────────────────────────────────────────────────────────────────────────


def directive(text: str) -> bool:
    """Whether a comment is a directive for a tool: a type, `noqa`, an encoding, an interpreter."""
    return text.startswith("#!") or bool(_DIRECTIVE.match(text) or COOKIE.search(text.encode()))


def _places_for_comments(code: PythonSource) -> Iterator[Site]:
    """The places for comments: above each logical line, at its end, and at line ends inside brackets."""
    head = untouchable(code)
    comments = {lexeme.last: lexeme for lexeme in lexemes(code) if lexeme.type == tokenize.COMMENT}
    for number, row in enumerate(logical_lines(code)):
        options: list[tuple[Patch, ...]] = []
        at, indent = line_start(code, row[0].start), indent_of(code, row[0].start)
        above = comments.get(row[0].line - 1)
        free = not indent.strip(" \t") and not continued(code, at) and row[0].start >= head
        # `# pylint: disable-next` must stay right above its line.
        if free and number and not (above is not None and directive(above.text)):
            options += [(Patch(at, at, (f"{indent}# {phrase}{code.newline}",)),) for phrase in PHRASES]
        options += _at_end(code, row[-1])
        if options:
            yield Site(tuple(options), "comment", row[0].line)
        yield from (
            Site(tuple(_at_end(code, before)), "comment inside brackets", before.line)
            for before, behind in pairwise(row)
            if before.last < behind.line
        )


def _at_end(code: PythonSource, last: Lexeme) -> list[tuple[Patch, ...]]:
    """The comments that may follow the last token of a line; none if a comment or a backslash already follows
    it.
    """
    if code.source[last.end :].partition(b"\n")[0].strip():
        return []
    return [(Patch(last.end, last.end, (f"  # {phrase}",)),) for phrase in PHRASES]


def _comments(code: PythonSource) -> Iterator[Site | Refused]:
    """Every comment that no tool reads."""
    head = untouchable(code)
    solid_lines = {line for token in solid(code) for line in range(token.line, token.last + 1)}
    for lexeme in lexemes(code):
        if lexeme.type != tokenize.COMMENT:
            continue
        begin = line_start(code, lexeme.start)
        # A generator may look for `###{part` in the text, so a comment that may mark a section stays, too.
        if directive(lexeme.text) or marks_section(lexeme.text):
            yield Refused(FOR_A_TOOL)
        # Behind code, the comment goes with the blanks before it; alone, its whole line goes.
        elif lexeme.line in solid_lines:
            start = begin + len(code.source[begin : lexeme.start].rstrip())
            yield edit("comment at the end of a line", lexeme.line, Patch(start, lexeme.end, ()))
        # The backslash above would continue into the line below.
        elif continued(code, begin):
            yield Refused(AFTER_BACKSLASH)
        # Line 3 would become line 2, where `# coding: latin-1` declares the encoding.
        elif lexeme.start < head:
            yield Refused(ENCODING)
        else:
            yield edit("comment", lexeme.line, Patch(begin, next_line(code, lexeme.end), ()))


INSERT_COMMENTS: Final = same_tree("insert-comments", _places_for_comments, "no line to comment")
REMOVE_COMMENTS: Final = same_tree("remove-comments", _comments, "no comment")

"""Places at which a statement can be inserted without becoming a docstring, and the variables that are bound
there.
"""

import ast
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeaudit.transforms.patches import Patch
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    bodies,
    continued,
    is_elif,
    line_before,
    line_start,
    starts_line,
)


@dataclass(frozen=True, slots=True)
class InsertionGap:
    """A place before a statement."""

    before: ast.stmt
    """The statement behind the gap."""
    at: int
    """The offset of the line at which lines can be inserted."""
    indentation: str
    """The indentation of the inserted lines."""


@dataclass(frozen=True, slots=True)
class InsertionBlock:
    """The statements of one block of a function."""

    body: Sequence[ast.stmt]
    gaps: tuple[InsertionGap, ...]


def blocks(code: PythonSource) -> Iterator[InsertionBlock]:
    """The blocks of functions whose statements have lines of their own, in the order of the text."""
    comments = _comments(code)
    for node in editable_nodes(code):
        for body in bodies(node):
            if code.function(body[0]) is not None:
                gaps = tuple(_gaps(code, body, comments, documented=isinstance(node, FunctionNode)))
                if gaps:
                    yield InsertionBlock(body, gaps)


def _gaps(
    code: PythonSource, body: Sequence[ast.stmt], comments: frozenset[int], *, documented: bool
) -> Iterator[InsertionGap]:
    """The gaps of one block. There is none before a docstring, an `elif`, or a statement inside a line."""
    for number, statement in enumerate(body):
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if (
            (documented and number == 0 and text)
            or not starts_line(code, statement)
            or is_elif(statement, code)
        ):
            continue
        indentation = code.indentation(statement)
        yield InsertionGap(
            statement, _above_comments(code, code.start(statement), indentation, comments), indentation
        )


def _comments(code: PythonSource) -> frozenset[int]:
    """Offsets of comments. Type comments are left out: they must stay directly below the header of their
    function.
    """
    return frozenset(
        token.start
        for token in code.tokens
        if token.type == tokenize.COMMENT and not token.text.startswith("# type:")
    )


def _above_comments(code: PythonSource, offset: int, indentation: str, comments: frozenset[int]) -> int:
    """The offset of the line of a statement, or of the comment lines directly above it with the same
    indentation.
    """
    begin = line_start(code, offset)
    while begin:
        above = line_start(code, line_before(code, begin))
        start = above + len(indentation)
        if start not in comments or code.source[above:start] != indentation.encode():
            break
        if continued(code, above):
            break
        begin = above
    return begin


def inserted(code: PythonSource, gap: InsertionGap, *lines: str) -> tuple[Patch, ...]:
    """The patch that inserts these lines at a gap, each with indentation and line break."""
    text = "".join(f"{gap.indentation}{line}{code.newline}" for line in lines)
    return (Patch(gap.at, gap.at, (text,)),)


def variables(code: PythonSource, gap: InsertionGap) -> list[str]:
    """The function's own variables that are certainly bound at a gap and that no other function shares;
    sorted.
    """
    facts = code.facts(gap.before)
    if facts is None:
        return []
    return sorted(code.bound(gap.before) & facts.local - facts.captured - facts.fragile)

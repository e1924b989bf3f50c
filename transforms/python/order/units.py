"""The text of statements as byte ranges: the bytes that move when a statement moves.

A statement's unit is the whole lines that it covers, its decorators, the comment lines directly above it, and
a comment behind it. Blank lines and everything else between units stay where they are.
"""

import ast
from collections.abc import Sequence
from typing import NamedTuple

from codeaudit.transforms.python.analysis.blocks import Block, first_line


class Unit(NamedTuple):
    """A half-open byte range without the final line break."""

    start: int
    end: int


def units(text: bytes, starts: Sequence[int], block: Block) -> list[Unit]:
    """The units of a block's statements, in order. The block must not be `fixed`."""
    found = []
    above = block.above
    for statement in block.statements:
        first = _with_comments(text, starts, statement.node, above + 1)
        above = statement.node.end_lineno or first
        found.append(Unit(starts[first - 1], _line_end(text, starts, above)))
    return found


def _with_comments(text: bytes, starts: Sequence[int], node: ast.stmt, lowest: int) -> int:
    """The first of the comment lines directly above a statement, none of them indented deeper."""
    first = first_line(node)
    while first > lowest:
        start = starts[first - 2]
        line = text[start : _line_end(text, starts, first - 1)]
        bare = line.lstrip(b" \t\f")
        if not bare.startswith(b"#") or len(line) - len(bare) > node.col_offset:
            break
        first -= 1
    return first


def _line_end(text: bytes, starts: Sequence[int], line: int) -> int:
    end = starts[line] if line < len(starts) else len(text)
    while end > starts[line - 1] and text[end - 1] in b"\r\n":
        end -= 1
    return end

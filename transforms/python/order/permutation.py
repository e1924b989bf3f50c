"""Regions of a text in another order: the parts that all rules of this family share."""

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.permutations import legal_orders, permuted
from codeaudit.transforms.python.analysis.facts import stored_names
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import line_end

_COOKIE: Final = re.compile(rb"#!|[ \t\f]*#.*?coding[:=]")


def rearranged(
    code: PythonSource, parts: Sequence[Span], predecessors: Sequence[int], note: str
) -> Site | None:
    """A site whose options are the legal orders of these regions; `None` if none of them changes the text.

    `predecessors` holds one bit mask per region: bit i of mask j is set if region j must stand behind region
    i.
    """
    own = [code.slice(part) for part in parts]
    options = tuple(
        (permuted(parts, order),)
        for order in legal_orders(predecessors)
        if [own[number] for number in order] != own
    )
    if not options:
        return None
    line, _ = code.positions.line_column(parts[0].start)
    return Site(options, note, line)


def lines_with_comments(code: PythonSource, node: ast.stmt | ast.excepthandler, above: int) -> Span:
    """The whole lines of a node without the last line break, with the comment lines directly above it.

    `above` is the line on which the code before it ends. A comment that is indented deeper belongs to that
    code.
    """
    first = code.line(node)
    while first - 1 > above:
        line = _line(code, first - 1)
        bare = line.lstrip(b" \t\f")
        if not bare.startswith(b"#") or len(line) - len(bare) > node.col_offset:
            break
        first -= 1
    return Span(code.positions.offset(first, 0), line_end(code, code.end(node)))


def heading(code: PythonSource) -> int:
    """The number of lines that must stay first in a file: those of the interpreter and the encoding."""
    lines = [_line(code, number) for number in (1, 2) if number <= code.source.count(b"\n") + 1]
    return max((number for number, line in enumerate(lines, 1) if _COOKIE.match(line)), default=0)


def line_above(code: PythonSource, body: Sequence[ast.stmt]) -> int:
    """The line on which the header of a body ends."""
    before = bisect_right(code.significant, code.start(body[0]), key=lambda token: token.end)
    return code.positions.line_column(code.significant[before - 1].start)[0] if before else 0


def binders(tree: ast.Module) -> Mapping[str, int]:
    """How often each name is bound anywhere in a text, parameters included."""
    return Counter(stored_names(tree))


def _line(code: PythonSource, number: int) -> bytes:
    begin = code.positions.offset(number, 0)
    return code.source[begin : line_end(code, begin)]

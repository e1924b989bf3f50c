"""A unit as logical lines in blocks, whatever the trees are from which a language makes them.

The dependences hold between the statements of each block, and between all lines.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final, NamedTuple

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import StatementBlock, all_blocks, emitted, line_graph
from codeaudit.transforms.dependence.effects import Effects, conflicts
from codeaudit.transforms.dependence.graph import DependenceGraph

_BLANKS: Final = re.compile(r'("""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|\s+', re.DOTALL)


class Row(NamedTuple):
    """A logical line while the builder is at work."""

    start: int
    """The first byte of its text, from 0."""
    end: int
    depth: int
    parent: int
    effects: Effects
    cuts: tuple[tuple[int, int], ...] = ()
    """The byte ranges inside it that are bodies with lines of their own."""


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """One logical line in normal form."""

    text: str
    """The text without comments, with one blank for several; for a compound statement only the header."""
    depth: int
    """Nesting depth, 0 for the header of the unit."""
    parent: int
    """The header or clause that it is nested under, as a line number; -1 for the first line."""


class CodeProgram:
    """A unit with its dependences. Compare programs by their lines and graph."""

    def __init__(
        self,
        source: str,
        comments: Sequence[tuple[str, int, int]],
        root: StatementBlock,
        rows: Sequence[Row],
    ) -> None:
        self.source = source
        self.encoded = source.encode()
        """The text in UTF-8, to which all offsets belong."""
        self.comments = comments
        """All comments: (kind, first byte, byte behind it), in the order of the text."""
        self.root = root
        self.rows = rows
        """The lines with their places in the text."""

    @cached_property
    def lines(self) -> tuple[LogicalLine, ...]:
        """The logical lines in the order of the text."""
        return tuple(LogicalLine(self._text(row), row.depth, row.parent) for row in self.rows)

    @cached_property
    def graph(self) -> DependenceGraph:
        """The dependences between lines."""
        between = conflicts([row.effects for row in self.rows])
        return line_graph(self.root, [row.parent for row in self.rows], between)

    @cached_property
    def blocks(self) -> tuple[StatementBlock, ...]:
        """Every block, in the order of the text, outer before inner."""
        return tuple(all_blocks(self.root))

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order, as old indices in new order."""
        return tuple(emitted(self.root, lambda block: orders.sample(block.predecessors, rng)))

    def _text(self, row: Row) -> str:
        source, comments = self.encoded, self.comments
        first = bisect_left(comments, row.start, key=lambda comment: comment[1])
        last = bisect_left(comments, row.end, key=lambda comment: comment[1])
        pieces = []
        done = row.start
        # Without bodies that have lines of their own, and without comments.
        for start, end in sorted([*row.cuts, *((start, end) for _, start, end in comments[first:last])]):
            if start >= done:
                pieces += [source[done:start], b" "]
                done = end
        pieces.append(source[done : row.end])
        return _BLANKS.sub(lambda match: match[1] or " ", b"".join(pieces).decode()).strip()

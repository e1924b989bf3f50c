"""The structure of one Java method: its logical lines, its blocks, and the dependences among both.

`reorder`, its control and the canonical form permute the blocks; the networks read the lines and their graph.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Final

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import StatementBlock, all_blocks, emitted, line_graph
from codeaudit.transforms.dependence.effects import conflicts
from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.builder import Dependence, JavaProgramBuilder, Row
from codeaudit.transforms.java.analysis.facts import Facts
from codeaudit.transforms.java.analysis.scopes import resolve

_BLANKS: Final = re.compile(r'("""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|\s+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JavaLine:
    """One logical line in normal form."""

    text: str
    """The text without comments, with one blank for several; for a compound statement only the header."""
    depth: int
    """Nesting depth, 0 for the header of the method."""
    parent: int
    """The header or clause that it is nested under, as a line number; -1 for the first line."""


class JavaProgram:
    """A method with its dependences. Compare programs by their lines and graph."""

    def __init__(self, source: str, facts: Facts, root: StatementBlock, rows: Sequence[Row]) -> None:
        self.source = source
        self.facts = facts
        self.reading = facts.reading
        self.root = root
        self.rows = rows
        """The lines with their places in the text."""

    @property
    def constructor(self) -> bool:
        """Whether it is a constructor; constructors have to assign final fields."""
        return self.facts.scopes.unit.kind != "method_declaration"

    @cached_property
    def lines(self) -> tuple[JavaLine, ...]:
        """The logical lines in the order of the text."""
        return tuple(JavaLine(self._text(row), row.depth, row.parent) for row in self.rows)

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
        source, comments = self.reading.source, self.reading.comments
        first = bisect_left(comments, row.start, key=lambda comment: comment[1])
        last = bisect_left(comments, row.end, key=lambda comment: comment[1])
        pieces = []
        done = row.start
        for start, end in sorted([*row.cuts, *((start, end) for _, start, end in comments[first:last])]):
            if start >= done:
                pieces += [source[done:start], b" "]
                done = end
        pieces.append(source[done : row.end])
        return _BLANKS.sub(lambda match: match[1] or " ", b"".join(pieces).decode()).strip()


@lru_cache(maxsize=8)
def analyse(source: str, *, dependence: Dependence = "full") -> JavaProgram:
    """The program of one method or constructor.

    The last programs are cached, because a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text is not Java, is not one method, or is nested too deeply.
    """
    scopes = resolve(source)
    try:
        facts = Facts(scopes)
        builder = JavaProgramBuilder(facts, dependence)
        root = builder.method(scopes.unit)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller method") from error
    return JavaProgram(source, facts, root, builder.rows)

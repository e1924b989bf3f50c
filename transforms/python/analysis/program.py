"""The structure of one Python function: its logical lines, its blocks, and the dependences among both.

A line is a simple statement, the header of a compound one, or a clause (`else`, `except`, `finally`,
`case`). Compound statements move as a whole; what is nested in them moves inside them. So the relation has
two faces that agree: between the statements of each block (what the reorder engine permutes), and between
all lines of the function (what the networks' symmetry mask is made from).
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Literal, TypeAlias

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.effects import Effects, conflicts, reaching_reads
from codeaudit.transforms.dependence.graph import Graph
from codeaudit.transforms.dependence.layers import bits
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.blocks import Block, DraftLine, all_blocks, emitted
from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder, StatementContext
from codeaudit.transforms.python.analysis.knowledge import BUILTINS
from codeaudit.transforms.python.analysis.normal import clause, header
from codeaudit.transforms.python.parsing import parse

Dependence: TypeAlias = Literal["full", "paper"]
"""`full`: the conflict relation. `paper`: names only, read after write; it does not keep the meaning."""


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """One logical line in normal form."""

    text: str
    """Without indentation, comments and docstring; of a compound statement the header only."""
    depth: int
    """Nesting depth, 0 for the header of the function."""
    parent: int
    """The line it hangs under: a header or a clause; -1 for the first line."""


class PythonProgram:
    """A parsed function with its dependences. Compare programs by their lines and graph."""

    def __init__(
        self,
        source: str,
        tree: ast.Module,
        root: Block,
        builder: PythonProgramBuilder,
        dependence: Dependence,
    ) -> None:
        self.source = source
        self.tree = tree
        self.root = root
        self.dependence = dependence
        self.places: Mapping[int, StatementContext] = builder.places
        """By the `id` of each statement of the tree what is known where it begins."""
        self._rows: Sequence[DraftLine] = builder.rows

    @cached_property
    def lines(self) -> tuple[LogicalLine, ...]:
        """The logical lines in the order of the text."""
        return tuple(LogicalLine(_text(row), row.depth, row.parent) for row in self._rows)

    @property
    def nodes(self) -> Sequence[tuple[ast.AST, str]]:
        """Of each line its node and, where it is a clause of that, which (`else`, `except`, …)."""
        return [(row.node, row.clause) for row in self._rows]

    @property
    def parents(self) -> Sequence[int]:
        """Of each line the line it hangs under, -1 for the first."""
        return [row.parent for row in self._rows]

    @property
    def effects(self) -> Sequence[Effects]:
        """Of each line what it touches by itself."""
        return [row.effects for row in self._rows]

    @cached_property
    def graph(self) -> Graph:
        """The dependences between lines."""
        return self.dependences()

    def dependences(self) -> Graph:
        """The dependences between lines, in agreement with those between the statements of each block.

        Two lines of different statements of a block can depend on each other only if the statements do,
        so that every legal order of the statements keeps every edge.
        """
        if self.dependence == "paper":
            between = reaching_reads(self.effects, kills=[row.certain for row in self._rows])
        else:
            between = conflicts(self.effects)
        found = [0] * len(self._rows)
        _add_edges(self.root, 0, between, found)
        for line, parent in enumerate(self.parents):
            if parent >= 0:
                found[line] |= 1 << parent
        return Graph(tuple(found))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every block, in the order of the text, outer before inner."""
        return tuple(all_blocks(self.root))

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order, as old indices in new order."""
        return tuple(emitted(self.root, lambda block: orders.sample(block.predecessors, rng)))


@lru_cache(maxsize=4)
def analyse(source: str, *, dependence: Dependence = "full") -> PythonProgram:
    """The program of one function (or of a short module, whose own statements then keep their order).

    The last few are remembered, since a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text is not Python, or nested too deeply to be read.
    """
    return analyse_tree(source, parse(source), dependence)


def analyse_tree(source: str, tree: ast.Module, dependence: Dependence = "full") -> PythonProgram:
    """As `analyse`, of a text that is parsed already.

    Raises:
        SourceError: it is nested too deeply to be read.
    """
    rebound = _rebound(tree) if "global" in source else frozenset[str]()
    builder = PythonProgramBuilder(names_only=dependence == "paper", rebound=rebound)
    try:
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef | ast.AsyncFunctionDef):
            root = builder.alone(tree.body[0])
        else:
            root = builder.module(tree)
    except (RecursionError, MemoryError) as error:
        raise SourceError("not readable: nested too deeply") from error
    return PythonProgram(source, tree, root, builder, dependence)


def _rebound(tree: ast.Module) -> frozenset[str]:
    """Builtin names that some function of a text declares global."""
    declared = [node.names for node in ast.walk(tree) if isinstance(node, ast.Global)]
    return frozenset[str]().union(*declared) & BUILTINS


def _add_edges(block: Block, outer: int, between: Sequence[int], found: list[int]) -> None:
    """Fill in the predecessors of all lines of a block, given the outer lines that they may depend on."""
    spans = [_span(statement.lines) for statement in block.statements]
    for statement, mask in zip(block.statements, block.predecessors, strict=True):
        if not statement.parts:
            continue
        allowed, heads = outer, 0
        for number in bits(mask):
            allowed |= spans[number]
            if block.statements[number].lines:
                heads |= 1 << block.statements[number].lines.start
        earlier, clause_before = 0, 0
        for part in statement.parts:
            if isinstance(part, Block):
                _add_edges(part, allowed | earlier, between, found)
                earlier |= sum(_span(inner.lines) for inner in part.statements)
            else:
                found[part] = between[part] & (allowed | earlier) | heads | clause_before
                clause_before = 1 << part
                earlier |= 1 << part
                heads = 0


def _span(lines: range) -> int:
    full: int = (1 << lines.stop) - (1 << lines.start)
    return full


def _text(row: DraftLine) -> str:
    return clause(row.node, row.clause) if row.clause else header(row.node)

"""The structure of one Python function: its logical lines, its blocks, and the dependences among both.

A logical line is a simple statement, the header of a compound one, or a clause (`else`, `except`, `finally`,
`case`). A compound statement moves as a whole; what is nested in it moves inside it. The relation therefore
has two faces that agree: between the statements of each block (which the reorder transforms permute), and
between all lines of the function (from which the symmetry mask of the networks is made).

Lines are compared in normal form, as `ast.unparse` writes them, so that layout and comments do not matter.
"""

import ast
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from random import Random

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import StatementBlock, all_blocks, emitted, line_graph
from codeaudit.transforms.dependence.effects import Effects, conflicts, reaching_reads
from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.builder import (
    COMPOUND,
    DraftLine,
    PythonProgramBuilder,
    StatementContext,
)
from codeaudit.transforms.python.analysis.knowledge import WELL_KNOWN
from codeaudit.transforms.python.analysis.looks import ShownLooks
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE, PackageSummary
from codeaudit.transforms.python.analysis.shown import looks_around, shown_looks
from codeaudit.transforms.python.parsing import FunctionNode, shared_tree
from codeaudit.transforms.python.walking import below


@dataclass(frozen=True, slots=True)
class PythonLine:
    """One logical line in normal form."""

    text: str
    """Without indentation, comments and docstring; only the header of a compound statement."""
    depth: int
    """Nesting depth, 0 for the header of the function."""
    parent: int
    """The number of the header or clause above it; -1 for the first line."""


class PythonProgram:
    """A parsed function with its dependences. Compare programs by their lines and graph."""

    def __init__(
        self,
        source: str,
        tree: ast.Module,
        root: StatementBlock,
        builder: PythonProgramBuilder,
        dependence: Dependence,
        rebound: frozenset[str] = frozenset(),
    ) -> None:
        self.source = source
        self.tree = tree
        self.root = root
        self.dependence = dependence
        self.rebound = rebound
        """Names of builtins and modules to which the text itself gives another meaning."""
        self.places: Mapping[int, StatementContext] = builder.places
        """What is known at each statement, by the `id` of its node."""
        self._rows: Sequence[DraftLine] = builder.rows
        self.looking = builder.looking
        """Whether a function of the text may look at its own variables."""

    @cached_property
    def lines(self) -> tuple[PythonLine, ...]:
        """The logical lines in the order of the text."""
        return tuple(
            PythonLine(
                clause(row.node, row.clause) if row.clause else header(row.node), row.depth, row.parent
            )
            for row in self._rows
        )

    @property
    def nodes(self) -> Sequence[tuple[ast.AST, str]]:
        """The node of each line, with the name of its clause (`else`, `except`, …; empty for a statement or
        header).
        """
        return [(row.node, row.clause) for row in self._rows]

    @property
    def parents(self) -> Sequence[int]:
        """The number of the header or clause above each line, -1 for the first."""
        return [row.parent for row in self._rows]

    @property
    def effects(self) -> Sequence[Effects]:
        """The effects of each line alone."""
        return [row.effects for row in self._rows]

    @cached_property
    def graph(self) -> DependenceGraph:
        """The dependences between lines."""
        return self.dependences()

    def dependences(self) -> DependenceGraph:
        """The dependences between lines, in agreement with those between the statements of each block.

        Two lines of different statements of a block can depend on each other only if the statements do, so
        every legal order of the statements keeps every edge.
        """
        if self.dependence == "paper":
            # The arrows of the paper (Figure 4). Every order that keeps all conflicts on names keeps them.
            between = reaching_reads(self.effects, kills=[row.certain for row in self._rows])
        else:
            # Of two lines in one statement the strict relation decides, because a handler may be around them.
            between = conflicts(self.effects)
        return line_graph(self.root, self.parents, between)

    def true_dependences(self, block: StatementBlock) -> tuple[int, ...]:
        """Predecessor masks of a block: bit i of mask j is set iff j reads a name that i wrote last."""
        # `if c: x = 1` does not replace every earlier value of `x`.
        kills = [
            not statement.lines or not isinstance(self._rows[statement.lines.start].node, COMPOUND)
            for statement in block.statements
        ]
        return reaching_reads(block.effects, kills=kills)

    @cached_property
    def blocks(self) -> tuple[StatementBlock, ...]:
        """Every block, in the order of the text, outer before inner."""
        return tuple(all_blocks(self.root))

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order: old line numbers in their new order, uniform in each block."""
        return tuple(emitted(self.root, lambda block: orders.sample(block.predecessors, rng)))


@lru_cache(maxsize=4)
def analyse(
    source: str,
    *,
    dependence: Dependence = "strict",
    around: str = "",
    package: PackageSummary = NO_PACKAGE,
) -> PythonProgram:
    """The program of one function, or of a short module, whose own statements then keep their order.

    `around` is the text of the file that the function belongs to, if it is known: its classes may act when
    they are looked at, and it may bind names of builtins and modules anew. `package` counts under `confirmed`
    only. The last four results are cached,
    because a transform proposes and applies many times to one text.

    Raises:
        SourceError: the text is not Python, or is nested too deeply to be read.
    """
    return analyse_tree(source, shared_tree(source), dependence, around, package)


def analyse_tree(
    source: str,
    tree: ast.Module,
    dependence: Dependence = "strict",
    around: str = "",
    package: PackageSummary = NO_PACKAGE,
    supposed: ShownLooks | None = None,
) -> PythonProgram:
    """As `analyse`, for a text that is already parsed; `tree` must be the syntax tree of `source`.

    `supposed` stands for what a file shows, in the place of `around`.

    Raises:
        SourceError: the text is nested too deeply to be read.
    """
    # `global len` in any function makes `len` a variable of the module for all of them. Looking for the
    # word first saves walking most trees.
    rebound = frozenset[str]()
    if "global" in source:
        declared = (node.names for node in below(tree) if isinstance(node, ast.Global))
        rebound = WELL_KNOWN.intersection(chain.from_iterable(declared))
    alone = len(tree.body) == 1 and isinstance(tree.body[0], FunctionNode)
    try:
        own = looks = shown_looks(source, tree)
        if not alone:
            rebound |= looks.rebound
        if around or supposed is not None:
            # The function itself may be all that is known.
            file = supposed or (own if around == source else looks_around(around))
            # Above a method stands a wrapper line, and not its class.
            looks = replace(looks | file, bindings=file.bindings)
            rebound |= file.rebound
        builder = PythonProgramBuilder(
            source, dependence=dependence, rebound=rebound, looks=looks, package=package
        )
        root = builder.alone(tree.body[0]) if alone else builder.module(tree)  # type: ignore[arg-type]
    except (RecursionError, MemoryError) as error:
        raise SourceError("not readable: nested too deeply") from error
    return PythonProgram(source, tree, root, builder, dependence, own.rebound)


def header(node: ast.AST) -> str:
    """The text of a simple statement, or of the header of a compound one.

    Decorators stand before their definition on the same line.
    """
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            return f"{_decorators(node)}{word} {node.name}({ast.unparse(node.args)}){result}:"
        case ast.ClassDef(name=name, bases=bases, keywords=keywords):
            parts = [ast.unparse(part) for part in (*bases, *keywords)]
            return f"{_decorators(node)}class {name}({', '.join(parts)}):"
        case _ if isinstance(node, COMPOUND):
            bare = copy(node)
            vars(bare).update(body=[], orelse=[], finalbody=[], handlers=[], cases=[])
            return ast.unparse(bare)
        case _:
            return ast.unparse(node)


def clause(node: ast.AST, name: str) -> str:
    """The text of a clause of a compound statement; `name` is the word of a clause without a node (`else`,
    `finally`).
    """
    match node:
        case ast.ExceptHandler():
            kind = f" {ast.unparse(node.type)}" if node.type else ""
            return f"except{kind}{f' as {node.name}' if node.name else ''}:"
        case ast.match_case():
            guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
            return f"case {ast.unparse(node.pattern)}{guard}:"
        case _:
            return f"{name}:"


def _decorators(node: FunctionNode | ast.ClassDef) -> str:
    return "".join(f"@{ast.unparse(decorator)} " for decorator in node.decorator_list)

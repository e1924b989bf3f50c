"""Blocks, their statements, and the relation of lines, whatever the language.

A line is a simple statement, the header of a compound one, or a clause of it. Compound statements move as a
whole; what is nested in them moves inside them. So the relation has two faces that agree: between the
statements of each block, and between all lines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.dependence.layers import bits


@dataclass(frozen=True, slots=True)
class BlockStatement:
    """One statement of a block, with everything nested in it."""

    start: int
    """Where what moves with it begins: a byte offset, comments above it included."""
    end: int
    """Where that ends, a comment behind it included."""
    lines: range
    """The lines it covers."""
    parts: "tuple[int | StatementBlock, ...]"
    """Its own lines and its blocks, in the order of the text."""


@dataclass(frozen=True, slots=True)
class StatementBlock:
    """A list of statements that run one after the other."""

    statements: tuple[BlockStatement, ...]
    predecessors: tuple[int, ...]
    """Bit i of mask j: statement j depends on statement i."""
    fixed: str | None
    """Why its text cannot be permuted, if so."""
    effects: tuple[Effects, ...]
    """What each statement touches, as the block sees it."""


def all_blocks(block: StatementBlock) -> list[StatementBlock]:
    """A block and every block nested in it, in the order of the text, outer before inner."""
    found = [block]
    for statement in block.statements:
        for part in statement.parts:
            if not isinstance(part, int):
                found += all_blocks(part)
    return found


def emitted(block: StatementBlock, order: Callable[[StatementBlock], Sequence[int]]) -> list[int]:
    """The lines of a block after it and every block in it are put into the orders that `order` gives."""
    lines: list[int] = []
    for number in order(block):
        for part in block.statements[number].parts:
            if isinstance(part, int):
                lines.append(part)
            else:
                lines += emitted(part, order)
    return lines


def line_graph(root: StatementBlock, parents: Sequence[int], between: Sequence[int]) -> DependenceGraph:
    """The dependences between lines, in agreement with those between the statements of each block.

    Two lines of different statements of a block can depend on each other only if the statements do, so that
    every legal order of the statements keeps every edge.

    Args:
        root: the outermost block.
        parents: of each line the line it hangs under, -1 for the first.
        between: the conflicts of the lines by themselves, as masks of predecessors.
    """
    found = [0] * len(parents)
    _gate(root, 0, between, found)
    for line, parent in enumerate(parents):
        if parent >= 0:
            found[line] |= 1 << parent
    return DependenceGraph(tuple(found))


def _gate(block: StatementBlock, outer: int, between: Sequence[int], found: list[int]) -> None:
    """Fill in the predecessors of all lines of a block, given the outer lines that they may depend on."""
    spans = [_span(statement.lines) for statement in block.statements]
    for statement, mask in zip(block.statements, block.predecessors, strict=True):
        allowed, heads = outer, 0
        for number in bits(mask):
            allowed |= spans[number]
            if block.statements[number].lines:  # a docstring has none
                heads |= 1 << block.statements[number].lines.start
        earlier, clause_before = 0, 0
        for part in statement.parts:
            if isinstance(part, int):
                found[part] = between[part] & (allowed | earlier) | heads | clause_before
                clause_before = 1 << part
                earlier |= 1 << part
                heads = 0
            else:
                _gate(part, allowed | earlier, between, found)
                earlier |= sum(_span(inner.lines) for inner in part.statements)


def _span(lines: range) -> int:
    full: int = (1 << lines.stop) - (1 << lines.start)
    return full

"""The records of the program structure: blocks, and the statements that a legal order permutes.

`builder` makes them and `program` holds them; the reorder transforms read them.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeaudit.transforms.dependence.effects import Effects


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a block, with everything nested in it."""

    node: ast.stmt
    """The statement in the syntax tree."""
    lines: range
    """The numbers of the logical lines it covers; empty for a docstring."""
    parts: "tuple[int | Block, ...]"
    """Its own line numbers and its nested blocks, in the order of the text; empty for a docstring."""


@dataclass(frozen=True, slots=True)
class Block:
    """A list of statements that run one after the other."""

    statements: tuple[Statement, ...]
    predecessors: tuple[int, ...]
    """One bit mask per statement: bit i of mask j is set if statement j depends on statement i."""
    fixed: str | None
    """The reason why the text of the block cannot be permuted; `None` if it can."""
    above: int
    """A line number, from 1: everything that stands above the block ends on this line or before it."""
    effects: tuple[Effects, ...] = ()
    """The effects of each statement, as the block sees them."""


@dataclass(slots=True)
class DraftLine:
    """A logical line while the builder is still at work."""

    node: ast.AST
    clause: str
    """The clause that the line is (`else`, `except`, `finally`, `case`); empty for a statement or a header.
    """
    depth: int
    """Nesting depth, 0 for the header of the function."""
    parent: int
    """The number of the header or clause above it; -1 for the first line."""
    effects: Effects
    """The effects of the line alone, without what is nested under it."""
    certain: bool = True
    """Whether the line is evaluated exactly once when control reaches it, so that its writes replace earlier
    ones.
    """


def all_blocks(block: Block) -> list[Block]:
    """The block and every block nested in it, in the order of the text, outer before inner."""
    found = [block]
    for statement in block.statements:
        for part in statement.parts:
            if isinstance(part, Block):
                found += all_blocks(part)
    return found


def emitted(block: Block, order: Callable[[Block], Sequence[int]]) -> list[int]:
    """The line numbers of a block after reordering.

    `order` gives the order of the statements for the block and for every block nested in it.
    """
    lines: list[int] = []
    chosen = order(block)
    for number in chosen:
        for part in block.statements[number].parts:
            if isinstance(part, Block):
                lines += emitted(part, order)
            else:
                lines.append(part)
    return lines


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, from 1; decorators belong to it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])

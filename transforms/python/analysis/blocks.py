"""Blocks and their statements: what a legal order permutes."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeaudit.transforms.dependence.effects import Effects


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a block, with everything nested in it."""

    node: ast.stmt
    lines: range
    """The lines it covers; empty for a docstring."""
    parts: "tuple[int | Block, ...]"
    """Its own lines and its blocks, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Block:
    """A list of statements that run one after the other."""

    statements: tuple[Statement, ...]
    predecessors: tuple[int, ...]
    """Bit i of mask j: statement j depends on statement i."""
    fixed: str | None
    """Why its text cannot be permuted, if so."""
    above: int
    """A line number: what stands above the block ends there or before."""
    effects: tuple[Effects, ...] = ()
    """What each statement touches, as the block sees it."""


@dataclass(slots=True)
class DraftLine:
    """A line under construction."""

    node: ast.AST
    clause: str
    """Empty for a statement or header; else which clause of it."""
    depth: int
    parent: int
    effects: Effects
    certain: bool = True


def all_blocks(block: Block) -> list[Block]:
    """A block and every block nested in it, in the order of the text, outer before inner."""
    found = [block]
    for statement in block.statements:
        for part in statement.parts:
            if isinstance(part, Block):
                found += all_blocks(part)
    return found


def emitted(block: Block, order: Callable[[Block], Sequence[int]]) -> list[int]:
    """The lines of a block after it and every block in it are put into the orders that `order` gives."""
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
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])

"""Blocks, their statements, and the graph of lines: the program structure of Python and Java.

A line is a simple statement, the header of a compound one, or a clause of it. A compound statement moves as a
whole; statements nested in it move inside it. So there are two relations that agree: between the statements
of each block, and between all lines (`line_graph`). `why_not` gives the reason that `reorder` counts if no
block can be reordered.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, ENDS_CALL, LEAVES_LOOP, STORES, Effects
from codeaudit.transforms.dependence.graph import DependenceGraph


class BlockStatement(NamedTuple):
    """One statement of a block, with everything nested in it."""

    start: int
    """The first byte that moves with it, from 0; comments above it move with it."""
    end: int
    """The byte behind the last one that moves with it; a comment behind it on its line moves with it."""
    lines: range
    """The numbers of the lines it covers; empty for a docstring."""
    parts: "tuple[int | StatementBlock, ...]"
    """Its own line numbers and its nested blocks, in the order of the text."""


class StatementBlock(NamedTuple):
    """A list of statements that run one after the other."""

    statements: tuple[BlockStatement, ...]
    predecessors: tuple[int, ...]
    """Bit i of mask j is set if statement j depends on statement i."""
    fixed: str | None
    """Why its text cannot be permuted; `None` if it can."""
    effects: tuple[Effects, ...]
    """The effects of each statement, as the block sees them."""


def all_blocks(block: StatementBlock) -> list[StatementBlock]:
    """A block and every block nested in it, in the order of the text, outer before inner."""
    blocks = [block]
    for statement in block.statements:
        for part in statement.parts:
            if not isinstance(part, int):
                blocks += all_blocks(part)
    return blocks


def emitted(block: StatementBlock, order: Callable[[StatementBlock], Sequence[int]]) -> list[int]:
    """The line numbers of a block after reordering; `order` gives the order of it and of every block in
    it.
    """
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

    Two lines of different statements of a block depend on each other only if the statements do. So every
    legal order of the statements keeps every edge.

    Args:
        root: the outermost block.
        parents: for each line the line that it is nested under, -1 for the first.
        between: the conflicts of the lines by themselves, as masks of predecessors.
    """
    masks = [0] * len(parents)
    _gate(root, 0, between, masks)
    for line, parent in enumerate(parents):
        if parent >= 0:
            masks[line] |= 1 << parent
    return DependenceGraph(tuple(masks))


def _gate(block: StatementBlock, outer: int, between: Sequence[int], masks: list[int]) -> None:
    """Fill in the predecessors of all lines of a block, given the outer lines that they may depend on."""
    covered = starts = 0
    for statement in block.statements:
        covered |= _span(statement.lines)
        if statement.lines:  # a docstring has none
            starts |= 1 << statement.lines.start
    for statement, mask in zip(block.statements, block.predecessors, strict=True):
        before = 0
        # What acts depends on long runs of statements, whose lines stand together.
        for first, last in _runs(mask):
            before |= _span(range(block.statements[first].lines.start, block.statements[last].lines.stop))
        before &= covered
        allowed = outer | before
        # Only the first line of a statement gets an edge from the statements before: the others follow it.
        heads = before & starts
        earlier, clause_before = 0, 0
        for part in statement.parts:
            if isinstance(part, int):
                masks[part] = between[part] & (allowed | earlier) | heads | clause_before
                clause_before = 1 << part  # `else` stays behind its `if`
                earlier |= 1 << part
                heads = 0
            else:
                _gate(part, allowed | earlier, between, masks)
                earlier |= sum(_span(inner.lines) for inner in part.statements)


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """The first and the last position of each run of set bits, lowest first."""
    while mask:
        low = mask & -mask
        carried = mask + low  # the lowest run becomes zeros, and the bit behind it is set
        yield low.bit_length() - 1, (carried & -carried).bit_length() - 2
        mask &= carried


def _span(lines: range) -> int:
    full: int = (1 << lines.stop) - (1 << lines.start)  # typed, because mypy takes `1 << int` for Any
    return full


NO_BLOCK: Final = "no block of two statements"
RAISE: Final = "two neighbours may raise"
STORE: Final = "a neighbour stores what another may see"
ACT: Final = "a neighbour may run unknown code"
SHARE: Final = "neighbours share a variable"
OBSTACLES: Final = (RAISE, STORE, ACT, SHARE)
"""Why two neighbours keep their order, the easiest to remove first. Behind these a language puts its own
reason for neighbours that leave the block.
"""


def why_not(large: Sequence[StatementBlock], obstacles: Sequence[str]) -> str:
    """The reason to count if none of these blocks can be reordered: the one that is easiest to remove.

    Args:
        large: the blocks with at least two statements.
        obstacles: `OBSTACLES` and the language's last one.
    """
    if not large:
        return NO_BLOCK
    if all(block.fixed for block in large):
        return min(block.fixed or "" for block in large)
    # Neighbours decide: if each pair of neighbours is ordered, the order is total.
    reasons = {
        obstacle(first, second, obstacles[-1])
        for block in large
        if block.fixed is None
        for first, second in pairwise(block.effects)
    }
    return next(reason for reason in obstacles if reason in reasons)


def obstacle(first: Effects, second: Effects, leaving: str) -> str:
    """The strongest reason why two neighbours may not change places; `leaving` if one of them leaves the
    block.
    """
    # What cannot be removed by editing one statement comes first.
    if (first.flags | second.flags) & (BARRIER | LEAVES_LOOP | ENDS_CALL):
        return leaving
    if first.writes & (second.reads | second.writes) or first.reads & second.writes:
        return SHARE
    if (first.flags | second.flags) & ACTS:
        return ACT
    if (first.flags | second.flags) & STORES:
        return STORE
    return RAISE

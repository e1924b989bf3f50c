"""`reorder-breaking`: a control that reverses exactly one dependence, and still compiles.

The order is legal but for one pair (the second half of Definition 4.2 in SPE attention asks a model to
notice). Either a statement that reads a variable comes before the one that gave it its value, or a statement
that acts comes before the exit that guards it. A declaration keeps its place before its uses, and a variable
is only read where it has a value in either order.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.dependence.blocks import Block, Statement
from codeaudit.transforms.dependence.effects import (
    ACTS,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    STORES,
    Effects,
    reaching_reads,
)
from codeaudit.transforms.dependence.moves import NO_BLOCK, NOT_A_MOVE
from codeaudit.transforms.dependence.reversals import broken, reversed_pair, reversible
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.library import BUILDERS
from codeaudit.transforms.java.analysis.program import Program, analyse
from codeaudit.transforms.java.analysis.scopes import Binding
from codeaudit.transforms.java.order.reorder import note_of, reordered, unreadable
from codeaudit.transforms.records import Kind, Move, Unit

NO_PAIR: Final = "no dependence that stands alone"
NOT_ONE: Final = "not exactly one broken pair"

_LEAVES: Final = BARRIER | LEAVES_LOOP | ENDS_CALL


@dataclass(frozen=True, slots=True)
class ReorderBreaking:
    """Puts one statement directly before another that it depends on."""

    name: str = "reorder-breaking"
    kind: Kind = "control"
    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One block's order with one dependence pair reversed.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        program = analyse(source)
        if reason := unreadable(program):
            return Refused(reason)
        found = [(site, pair) for site, block in enumerate(program.blocks) for pair in _pairs(program, block)]
        if not found:
            large = any(len(block.statements) > 1 for block in program.blocks)
            return Refused(NO_PAIR if large else NO_BLOCK)
        site, (definition, use) = rng.choice(found)
        block = program.blocks[site]
        order = reversed_pair(block.predecessors, definition, use)
        return (Move(kind="order", site=site, value=order, note=note_of(program, block, order)),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rewrite; refuses an order that is legal after all, or breaks another pair, or more than one."""
        program = analyse(source)
        if reason := unreadable(program):
            return Refused(reason)
        chosen = {}
        for move in moves:
            if isinstance(move.value, str) or move.site >= len(program.blocks):
                return Refused(NOT_A_MOVE)
            block = program.blocks[move.site]
            pairs = broken(block.predecessors, move.value)
            if pairs is None or len(pairs) != 1 or pairs[0] not in set(_pairs(program, block)):
                return Refused(NOT_ONE)
            chosen[move.site] = move.value
        if not moves:
            return Refused("nothing to break")
        return Rewritten(source=reordered(program, chosen), evidence="analysis")


def _pairs(program: Program, block: Block) -> Iterator[tuple[int, int]]:
    """Pairs of statements whose order matters and may be reversed by itself."""
    if block.fixed is not None or len(block.statements) < 2:
        return
    true = reaching_reads(block.effects, kills=[True] * len(block.effects))
    exits = sum(1 << number for number, effect in enumerate(block.effects) if effect.flags & EXITS)
    wanted = [mask | block.predecessors[number] & exits for number, mask in enumerate(true)]
    for before, after in reversible(block.predecessors, wanted):
        first, second = block.effects[before], block.effects[after]
        if (first.flags | second.flags) & _LEAVES or not _compiles(
            program, block.statements[before], first, second
        ):
            continue
        if _is_guard(first, second) or any(
            _matters(program, block, before, after, name) for name in first.writes & second.reads
        ):
            yield before, after


def _is_guard(first: Effects, second: Effects) -> bool:
    """Whether the first may leave the method before the second does what is seen from outside."""
    return bool(first.flags & EXITS and second.flags & (ACTS | STORES))


def _compiles(program: Program, statement: Statement, first: Effects, second: Effects) -> bool:
    """Whether scopes and definite assignment allow the second before the first."""
    shared = first.writes & (second.reads | second.writes) | first.reads & second.writes
    for name in shared:
        if name[0] in ":?" or (name[0] == "." and program.constructor):
            return False
        if name[0] == "v" and not _has_value(_variable(program, name), statement, first):
            return False
    return True


def _has_value(binding: Binding, statement: Statement, first: Effects) -> bool:
    """Whether a variable is known, and has a value, before a statement and whatever that does."""
    if binding.start >= statement.start:
        return False
    if binding.view != "local":
        return True
    node = binding.node
    return node is not None and node.child("value") is not None


def _matters(program: Program, block: Block, before: int, after: int, name: str) -> bool:
    """Whether what the second reads under a name is what the first put there.

    Two that both only update it may commute, as `x += 1` and `x += 2` do; not so where texts are joined.
    """
    first, second = block.effects[before], block.effects[after]
    updated = name in first.reads and name in second.writes
    match name[0]:
        case "v":
            return not updated
        case "{" if name != "{}":
            exact = program.facts.exact(program.facts.scopes.bindings[int(name[1:-1])])
            one, other = (_text(program, block.statements[number]) for number in (before, after))
            return one != other and (exact in BUILDERS or exact in ("ArrayList", "LinkedList") or not updated)
        case ".":
            pattern = re.compile(rf"(?<![\w.$)\]]){re.escape(name[1:])}\b|\bthis\s*{re.escape(name)}\b")
            return not updated and all(
                pattern.search(_text(program, block.statements[number])) for number in (before, after)
            )
        case _:
            return False


def _variable(program: Program, name: str) -> Binding:
    return program.facts.scopes.bindings[int(name[1:])]


def _text(program: Program, statement: Statement) -> str:
    return program.reading.source[statement.start : statement.end].decode()


REORDER_BREAKING: Final = ReorderBreaking()
"""The control of `reorder`."""

"""`reorder`: the statements of a Java method in another legal order.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound). Nested blocks are reordered inside their statement. Only whole statements move,
and every byte of every statement stays, its comments included. The assumptions are those of
`analysis.effects`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from codeaudit.transforms.dependence.blocks import NO_BLOCK, BlockStatement, StatementBlock
from codeaudit.transforms.dependence.blocks import OBSTACLES as SHARED_OBSTACLES
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
from codeaudit.transforms.dependence.relations import EVIDENCE, KINDS, Dependence, related_name
from codeaudit.transforms.java.analysis.library import BUILDERS
from codeaudit.transforms.java.analysis.program import JavaProgram, analyse
from codeaudit.transforms.java.files import DISPUTED, ESCAPED, escaped, obstacle_in_file
from codeaudit.transforms.reordering import Reorder, ReorderBreaking, StatementOrdering, reversible
from codeaudit.transforms.syntax.scopes import Binding

OBSTACLES: Final = (*SHARED_OBSTACLES, "neighbours leave the block")
"""The reasons why a method has only one legal order; the first is the easiest to remove."""


class JavaOrdering(StatementOrdering):
    """The blocks of a Java method, with their statements as elements."""

    def __init__(self, program: JavaProgram, around: str = "") -> None:
        super().__init__(program.reading.source, program.blocks, OBSTACLES)
        self.program = program
        self._around = around

    @property
    def obstacle(self) -> str:
        """Why Java may read the text otherwise than it was read here; empty if it does not."""
        if escaped(self.program.source):
            return ESCAPED
        if self.program.reading.disputed:
            return DISPUTED
        return (obstacle_in_file(self.program.source, self._around) or "") if self._around else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReorder(Reorder):
    """Puts the statements of a Java method into another legal order."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))
    dependence: Dependence = "strict"
    around: str = field(default="", repr=False)
    """The text of the file around the method, as far as it is known."""

    def under(self, dependence: Dependence) -> "JavaReorder":
        """The same transform under another relation."""
        return replace(
            self,
            name=related_name(self.name, dependence),
            kind=KINDS[dependence],
            dependence=dependence,
            evidence=EVIDENCE[dependence],
        )

    def within(self, text: str) -> "JavaReorder":
        """The same transform for the methods of this text."""
        return replace(self, around=text)

    def ordering(self, source: str) -> JavaOrdering:
        """The blocks of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        program = analyse(source, dependence=self.dependence, around=self.around)
        return JavaOrdering(program, self.around)


REORDER: Final = JavaReorder()


NO_PAIR: Final = "no dependence that stands alone"

_LEAVES: Final = BARRIER | LEAVES_LOOP | ENDS_CALL


class JavaBreakable(JavaOrdering):
    """The blocks of a Java method, with the dependences that may be reversed."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no dependence may be reversed."""
        return NO_PAIR if self.large else NO_BLOCK

    def pairs(self, site: int) -> Iterator[tuple[int, int]]:
        """Pairs of statements whose order matters and may be reversed by itself."""
        program, block = self.program, self.blocks[site]
        if block.fixed is not None or len(block.statements) < 2:
            return
        # Every write kills: of `x = 1; x = 2; f(x);` the last statement reads the second value.
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

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Only the pairs that `pairs` offers: another order may not compile."""
        return pair in set(self.pairs(site))


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaReorderBreaking(ReorderBreaking):
    """Puts one statement directly before another that it depends on."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"java"}))
    around: str = field(default="", repr=False)
    """As in `JavaReorder`."""

    def within(self, text: str) -> "JavaReorderBreaking":
        """The same control for the methods of this text."""
        return replace(self, around=text)

    def ordering(self, source: str) -> JavaBreakable:
        """The blocks of the method.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        return JavaBreakable(analyse(source, around=self.around), self.around)


def _is_guard(first: Effects, second: Effects) -> bool:
    """Whether the first may leave the method before the second has an effect that is visible outside.

    `if (n < 0) return; log(n);` becomes `log(n); if (n < 0) return;`.
    """
    return bool(first.flags & EXITS and second.flags & (ACTS | STORES))


def _compiles(program: JavaProgram, statement: BlockStatement, first: Effects, second: Effects) -> bool:
    """Whether scopes and definite assignment allow the second before the first."""
    shared = first.writes & (second.reads | second.writes) | first.reads & second.writes
    for name in shared:
        # `:x` is the declaration of x, `?x` a name that may mean several variables. A constructor may set
        # final fields, which must have a value before they are read.
        if name[0] in ":?" or (name[0] == "." and program.constructor):
            return False
        if name[0] == "v" and not _has_value(_variable(program, name), statement, first):
            return False
    return True


def _has_value(binding: Binding, statement: BlockStatement, first: Effects) -> bool:
    """Whether a variable is known and has a value before a statement."""
    if binding.start >= statement.start:
        return False
    if binding.view != "local":
        return True
    node = binding.node
    return node is not None and node.child("value") is not None


def _matters(program: JavaProgram, block: StatementBlock, before: int, after: int, name: str) -> bool:
    """Whether the second statement reads, under this name, the value that the first one stored.

    Two statements that only update a variable may commute, as `x += 1` and `x += 2` do. Two that append to
    one string builder or list do not commute.
    """
    first, second = block.effects[before], block.effects[after]
    updated = name in first.reads and name in second.writes
    match name[0]:  # the forms of names are those of `JavaEffectCollector.key`
        case "v":
            return not updated
        case "{" if name != "{}":
            # Contents of one container: the order in a set or map may not show.
            exact = program.facts.exact(program.facts.scopes.bindings[int(name[1:-1])])
            one, other = (_text(program, block.statements[number]) for number in (before, after))
            return one != other and (exact in BUILDERS or exact in ("ArrayList", "LinkedList") or not updated)
        case ".":
            # A field counts if both name it alone or as `this.x`; of `a.x` and `b.x` the objects may differ.
            pattern = re.compile(rf"(?<![\w.$)\]]){re.escape(name[1:])}\b|\bthis\s*{re.escape(name)}\b")
            return not updated and all(
                pattern.search(_text(program, block.statements[number])) for number in (before, after)
            )
        case _:
            return False


def _variable(program: JavaProgram, name: str) -> Binding:
    return program.facts.scopes.bindings[int(name[1:])]


def _text(program: JavaProgram, statement: BlockStatement) -> str:
    return program.reading.source[statement.start : statement.end].decode()


REORDER_BREAKING: Final = JavaReorderBreaking()

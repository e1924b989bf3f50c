"""`reorder`: the statements of a unit in another legal order, and its control.

The legal orders of a block are the linear extensions of the conflict relation (SPE attention, section 3.2,
with the relation made sound). Nested blocks are reordered inside their statement. Only whole statements move,
and every byte of every statement stays, its comments included.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

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
)  # fmt: skip
from codeaudit.transforms.dependence.programs import CodeProgram
from codeaudit.transforms.dependence.relations import EVIDENCE, KINDS, Dependence, related_name
from codeaudit.transforms.reordering import Reorder, ReorderBreaking, StatementOrdering, reversible
from codeaudit.transforms.syntax.effects import StatePlace
from codeaudit.transforms.syntax.scopes import Binding

OBSTACLES: Final = (*SHARED_OBSTACLES, "neighbours leave the block")
"""The reasons why a unit has only one legal order; the first is the easiest to remove."""
NO_PAIR: Final = "no dependence that stands alone"
_LEAVES: Final = BARRIER | LEAVES_LOOP | ENDS_CALL


class CodeOrdering(StatementOrdering):
    """The blocks of a unit, with their statements as elements, and the dependences that may be reversed."""

    def __init__(
        self, program: CodeProgram, bindings: Sequence[Binding], obstacle: str | None = None
    ) -> None:
        super().__init__(program.encoded, program.blocks, OBSTACLES)
        self.program = program
        self._bindings = bindings
        self._obstacle = obstacle

    @property
    def obstacle(self) -> str:
        """Why the text may be read otherwise than it was read here; empty if it may not."""
        return self._obstacle or ""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no dependence may be reversed."""
        return NO_PAIR if self.large else NO_BLOCK

    def pairs(self, site: int) -> Iterator[tuple[int, int]]:
        """Pairs of statements whose order matters and may be reversed by itself."""
        block = self.blocks[site]
        if block.fixed is not None or len(block.statements) < 2:
            return
        # Every write kills: of `x = 1; x = 2; f(x);` the last statement reads the second value.
        true = reaching_reads(block.effects, kills=[True] * len(block.effects))
        exits = sum(1 << number for number, effect in enumerate(block.effects) if effect.flags & EXITS)
        masks = [mask | block.predecessors[number] & exits for number, mask in enumerate(true)]
        for before, after in reversible(block.predecessors, masks):
            first, second = block.effects[before], block.effects[after]
            if (first.flags | second.flags) & _LEAVES:
                continue
            if not self._compiles(block.statements[before], first, second):
                continue
            if _is_guard(first, second) or any(
                self._matters(block, before, after, place) for place in first.writes & second.reads
            ):
                yield before, after

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Only the pairs that `pairs` offers: another order may not compile."""
        return pair in set(self.pairs(site))

    @property
    def sets_fields(self) -> bool:
        """Whether the unit may have to give fields their first value, before which they must not be read."""
        return True

    def keeps_order(self, container: Binding) -> bool:
        """Whether a container, which the unit has made, shows the order in which things were put into it."""
        return False

    def _compiles(self, statement: BlockStatement, first: Effects, second: Effects) -> bool:
        """Whether scopes and definite assignment allow the second before the first."""
        shared = first.writes & (second.reads | second.writes) | first.reads & second.writes
        for place in shared:
            if place.kind in ("declaration", "doubt") or (place.kind == "field" and self.sets_fields):
                return False
            if place.kind == "variable" and not _has_value(self._variable(place), statement):
                return False
        return True

    def _matters(self, block: StatementBlock, before: int, after: int, place: StatePlace) -> bool:
        """Whether the second statement reads, at this place, the value that the first one stored.

        Two statements that only update a variable may commute, as `x += 1` and `x += 2` do. Two that append
        to one string builder or list do not commute.
        """
        first, second = block.effects[before], block.effects[after]
        updated = place in first.reads and place in second.writes
        one, other = (self._text(block.statements[number]) for number in (before, after))
        match place.kind:
            case "variable":
                return not updated
            case "contents" if isinstance(place.key, int):
                # Contents of one container: the order in a set or map may not show.
                return one != other and (self.keeps_order(self._variable(place)) or not updated)
            case "field":
                # A field counts if both name it alone or as `this.x`; of `a.x` and `b.x` the objects may
                # differ.
                name = re.escape(str(place.key))
                pattern = re.compile(rf"(?<![\w.$)\]]){name}\b|\bthis\s*\.{name}\b")
                return not updated and all(pattern.search(text) for text in (one, other))
            case _:
                return False

    def _variable(self, place: StatePlace) -> Binding:
        return self._bindings[int(place.key)]

    def _text(self, statement: BlockStatement) -> str:
        return self.program.encoded[statement.start : statement.end].decode()


def _is_guard(first: Effects, second: Effects) -> bool:
    """Whether the first may leave the unit before the second has an effect that is visible outside.

    `if (n < 0) return; log(n);` becomes `log(n); if (n < 0) return;`.
    """
    return bool(first.flags & EXITS and second.flags & (ACTS | STORES))


def _has_value(binding: Binding, statement: BlockStatement) -> bool:
    """Whether a variable is known and has a value before a statement."""
    if binding.start >= statement.start:
        return False
    if binding.view != "local":
        return True
    return binding.node is not None and binding.node.child("value") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReorder(Reorder):
    """Puts the statements of a unit into another legal order."""

    dependence: Dependence = "strict"
    around: str = field(default="", repr=False)
    """The text of the file around the unit, as far as it is known."""

    def under(self, dependence: Dependence) -> Self:
        """The same transform under another relation."""
        return replace(
            self,
            name=related_name(self.name, dependence),
            kind=KINDS[dependence],
            dependence=dependence,
            evidence=EVIDENCE[dependence],
        )

    def within(self, text: str) -> Self:
        """The same transform for the units of this text."""
        return replace(self, around=text)

    @abstractmethod
    def ordering(self, source: str) -> CodeOrdering:
        """The blocks of the unit.

        Raises:
            SourceError: the source does not parse or is not one unit.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReorderBreaking(ReorderBreaking):
    """Puts one statement directly before another that it depends on."""

    around: str = field(default="", repr=False)
    """As in `CodeReorder`."""

    def within(self, text: str) -> Self:
        """The same control for the units of this text."""
        return replace(self, around=text)

    @abstractmethod
    def ordering(self, source: str) -> CodeOrdering:
        """As in `CodeReorder`."""

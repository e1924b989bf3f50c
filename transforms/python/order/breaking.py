"""`reorder-breaking`: the control of `reorder` for Python. It reverses exactly one true dependence.

A statement that reads a variable is put before the statement whose value it read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.breaking import ReorderBreaking, reversible
from codeaudit.transforms.dependence.obstacles import NO_BLOCK
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse
from codeaudit.transforms.python.order.reorder import PythonOrdering

NO_PAIR: Final = "no true dependence that stands alone"


class PythonBreakable(PythonOrdering):
    """The blocks of a Python function, with the true dependences that may be reversed."""

    def __init__(self, program: PythonProgram, names: PythonProgram) -> None:
        super().__init__(program)
        self._names = names
        """The program under the relation of the paper: names only, read after write."""

    @property
    def unbreakable(self) -> str:
        """The reason to count where no dependence may be reversed."""
        return NO_PAIR if self.large else NO_BLOCK

    def pairs(self, site: int) -> Iterator[tuple[int, int]]:
        """Pairs (definition, use) of a variable."""
        block = self.blocks[site]
        if block.fixed is None:
            yield from reversible(block.predecessors, self._names.blocks[site].predecessors)

    def breaks(self, site: int, pair: tuple[int, int]) -> bool:
        """Any reversed conflict is accepted."""
        return True

    def flaw(self, site: int, order: Sequence[int]) -> str:
        """No order is known to keep the meaning after all."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonReorderBreaking(ReorderBreaking):
    """Puts one reader directly before the statement that defined what it reads."""

    languages: frozenset[str] = field(default_factory=lambda: frozenset({"python"}))

    def ordering(self, source: str) -> PythonBreakable:
        """The blocks of the function.

        Raises:
            SourceError: the source cannot be parsed.
        """
        return PythonBreakable(analyse(source), analyse(source, dependence="paper"))


REORDER_BREAKING: Final = PythonReorderBreaking()

"""The control of renaming, in any language: two variables become one.

A renaming keeps apart what was apart, and a merge does not: it breaks the relation between names and
referents. A language extends `Merging` and provides the merges of a text.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit

NO_PAIR: Final = "no two variables to merge"


@dataclass(frozen=True, slots=True, order=True)
class VariableMerge:
    """The merge of variable `gone` into variable `into`, by their numbers in source order."""

    gone: int
    into: int


class Merges(Protocol):
    """The possible merges of one text."""

    @property
    def obstacle(self) -> str:
        """Why no variables may be merged; empty if they may."""
        ...

    @property
    def certain(self) -> Sequence[VariableMerge]:
        """Merges after which some read certainly finds another value."""
        ...

    @property
    def likely(self) -> Sequence[VariableMerge]:
        """The other merges: a read may find another value."""
        ...

    def names(self, pair: VariableMerge) -> tuple[str, str]:
        """The names of the two variables."""
        ...

    def text(self, pair: VariableMerge) -> str | None:
        """The merged text; `None` if the new text would not be exactly this one merge."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging(ABC):
    """Merges a variable into one whose value is still needed. One merge is one move."""

    name: str = "rename-merging"
    kind: Kind = "control"
    unit: Unit = "function"
    foreign: str
    """The reason to refuse a move that does not belong to the text."""

    @abstractmethod
    def merges(self, source: str) -> Merges:
        """The merges of a text.

        Raises:
            SourceError: the source does not parse or is not one function.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One merge; a certain one if the text has any.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        merges = self.merges(source)
        if merges.obstacle:
            return Refused(merges.obstacle)
        for candidates in (merges.certain, merges.likely):
            remaining = list(candidates)
            while remaining:
                pair = remaining.pop(rng.randrange(len(remaining)))
                if merges.text(pair) is not None:
                    old, new = merges.names(pair)
                    note = f"{old} -> {new} (two variables become one)"
                    return (Move(kind="merge", site=pair.gone, value=new, note=note),)
        return Refused(NO_PAIR)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """The text after the merge. A certain merge has evidence `analysis`, another one `parsed`."""
        if not moves:
            return Rewritten(source=source, evidence="parsed")
        merges = self.merges(source)
        if len(moves) == 1:
            for pair in (*merges.certain, *merges.likely):
                if (pair.gone, merges.names(pair)[1]) == (moves[0].site, moves[0].value):
                    text = merges.text(pair)
                    if text is not None:
                        certain = pair in merges.certain
                        return Rewritten(source=text, evidence="analysis" if certain else "parsed")
        return Refused(self.foreign)

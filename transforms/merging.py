"""The control of renaming in any language: two variables become one; the referent relation is broken."""

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
    """Variable `gone` becomes variable `into`."""

    gone: int
    into: int


class Merges(Protocol):
    """The merges of one text."""

    @property
    def obstacle(self) -> str:
        """Why nothing may be merged; empty where nothing stands in the way."""
        ...

    @property
    def certain(self) -> Sequence[VariableMerge]:
        """Those after which a read certainly finds another value."""
        ...

    @property
    def likely(self) -> Sequence[VariableMerge]:
        """The others."""
        ...

    def names(self, pair: VariableMerge) -> tuple[str, str]:
        """What the two variables are called."""
        ...

    def text(self, pair: VariableMerge) -> str | None:
        """The merged text; `None` where it would be more or less than this one merge."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging(ABC):
    """Makes one variable another one that is still needed. One merge is one move."""

    name: str = "rename-merging"
    kind: Kind = "control"
    unit: Unit = "function"
    foreign: str
    """The reason to refuse a move that is none of the text's."""

    @abstractmethod
    def merges(self, source: str) -> Merges:
        """Those of a text.

        Raises:
            SourceError: the source does not parse or is not one function.
        """

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One merge: a certain one where there is any.

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
        """Merge; evidence is `analysis` for a certain merge, `parsed` for another."""
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

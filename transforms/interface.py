"""The seam that an engine implements.

An engine says what it would do (`propose`) and does any part of it (`apply`). The driver in
`perturb.py` is distrustful: it drops variants that equal their input or one another, checks that the
result parses, and stamps the records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol, runtime_checkable

from codeaudit.transforms.records import Evidence, Kind, Move, Unit

NOT_A_MOVE: Final = "not a move of this transform"
"""The reason to refuse a move that the transform would not propose for the text."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An engine's word that it has nothing legal to do, with the reason to count."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A legal rewriting: the new text and the evidence that the engine itself has for it."""

    source: str
    evidence: Evidence


class Transform(Protocol):
    """A rewriting of one unit of code. Implementations are frozen values without state."""

    @property
    def name(self) -> str:
        """The name on the command line, such as `reorder`."""
        ...

    @property
    def kind(self) -> Kind:
        """Whether the meaning is kept."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The languages that it rewrites; empty for all."""
        ...

    @property
    def unit(self) -> Unit:
        """What it is given: `function` or `module`."""
        ...

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """Draw one variant, at as many sites as go together; all randomness comes from `rng`.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ...

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rewrite with these moves, which may be any subset of a proposal; refuse an illegal subset."""
        ...


@runtime_checkable
class Finite(Protocol):
    """What a transform has besides if the variants of a text can be counted, and tried out, all of them."""

    def count(self, source: str) -> int | None:
        """How many variants there are, the text itself aside; `None` where that is too costly to know.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ...

    def every(self, source: str) -> Iterator[tuple[Move, ...]]:
        """The moves of each variant once.

        Raises:
            SourceError: the source cannot be parsed.
        """
        ...

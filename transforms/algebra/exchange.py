"""`rename-views`: the control that breaks views (Renamer, section 3).

The variable of differentiation and another variable exchange their names throughout. This is a bijection, so
the referent relation stays, but the view of x does not. A variant is kept only if the values of the
expressions show that the answer changes.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import COEFFICIENTS, INPUTS, X, parse_pair
from codeaudit.transforms.algebra.merging import UNCHANGED, UNDECIDED, changed
from codeaudit.transforms.algebra.views import EXTRA, movable, renamed
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraViewExchange:
    """Exchanges x and another variable. One exchange is one move."""

    name: str = "rename-views"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"algebra"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One exchange that changes the answer, with a variable of the pair if one does.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        before = holds(parse_pair(source))
        if before is None:
            return Refused(UNDECIDED)
        others = list(partners(source))
        rng.shuffle(others)
        used = movable(source)
        others.sort(key=lambda other: other not in used)
        for other in others:
            if holds(parse_pair(_exchanged(source, other))) is (not before):
                return (Move(kind="exchange", site=0, value=other, note=f"x <-> {other}"),)
        return Refused(UNCHANGED)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Exchange the names; refuses an exchange that does not change the answer."""
        before = holds(parse_pair(source))
        if len(moves) != 1:
            return Refused(NOT_A_MOVE)
        (move,) = moves
        if move.kind != "exchange" or not isinstance(move.value, str) or move.value not in partners(source):
            return Refused(NOT_A_MOVE)
        text = _exchanged(source, move.value)
        return changed(before, parse_pair(text), text)


def partners(source: str) -> tuple[str, ...]:
    """The variables that x may change names with."""
    return tuple(name for name in (*INPUTS, *COEFFICIENTS) if name != EXTRA or EXTRA in source.split())


def _exchanged(source: str, other: str) -> str:
    return renamed(source, {X: other, other: X})


RENAME_VIEWS: Final = AlgebraViewExchange()

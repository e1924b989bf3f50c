"""`rename`: variables become other variables of their view (Renamer, Ankner et al., appendix E).

A renaming is a bijection within each view: coefficients `a0` to `a2` (and `a3` where the text has it), and
the inputs `y` and `z`. It is drawn uniformly; x, constants and operators stay. Differentiation by x treats
the renamed variables as constants whatever they are called, so the candidate is the function's derivative
after the renaming exactly if it was before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.algebra.views import POOLS, equivalent, movable, pool, renamed
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit

DRAWS: Final = 32
"""Draws of a renaming before the identity is taken for the only one."""

NO_VARIABLE: Final = "no variable that may be renamed"
ONLY_IDENTITY: Final = "no other renaming found"
NOT_A_MOVE: Final = "not a move of this transform"
ILLEGAL: Final = "two variables would become one, or one may not be renamed so"
UNVERIFIED: Final = "verification failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """Gives the variables of a pair other names; one variable is one move."""

    name: str = "rename"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"algebra"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """A legal renaming other than the identity.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        parse_pair(source)
        used = movable(source)
        if not used:
            return Refused(NO_VARIABLE)
        for _ in range(DRAWS):
            renaming = _drawn(source, used, rng)
            moves = tuple(
                Move(kind="rename", site=site, value=renaming[old], note=f"{old} -> {renaming[old]}")
                for site, old in enumerate(used)
                if renaming[old] != old
            )
            if moves:
                return moves
        return Refused(ONLY_IDENTITY)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any of the moves; refuses what is not an injection of the variables in use."""
        parse_pair(source)
        used = movable(source)
        renaming = _renaming(moves, used)
        if renaming is None:
            return Refused(NOT_A_MOVE)
        targets = [renaming.get(old, old) for old in used]
        if len(set(targets)) < len(targets):
            return Refused(ILLEGAL)
        if any(target not in pool(old, source) for old, target in zip(used, targets, strict=True)):
            return Refused(ILLEGAL)
        text = renamed(source, renaming)
        return (
            Rewritten(source=text, evidence="analysis") if equivalent(source, text) else Refused(UNVERIFIED)
        )


def _drawn(source: str, used: tuple[str, ...], rng: Random) -> dict[str, str]:
    renaming: dict[str, str] = {}
    for names in POOLS:
        own = [old for old in used if old in names]
        if own:
            renaming |= zip(own, rng.sample(pool(own[0], source), len(own)), strict=True)
    return renaming


def _renaming(moves: tuple[Move, ...], used: tuple[str, ...]) -> Mapping[str, str] | None:
    """What the moves say; `None` where one of them is of no variable in use, or stands twice."""
    renaming: dict[str, str] = {}
    for move in moves:
        if move.kind != "rename" or not isinstance(move.value, str) or not 0 <= move.site < len(used):
            return None
        if used[move.site] in renaming:
            return None
        renaming[used[move.site]] = move.value
    return renaming


RENAME: Final = Rename()

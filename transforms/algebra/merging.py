"""`rename-merging`: the control that breaks the referent relation (Renamer, section 3).

At one place a variable takes the name of another variable of its view. So places that named the same variable
name different ones, or the reverse. A variant is kept only if the values of the expressions show that the
answer changes: a derivative is none any more, or has become one.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import ExpressionPair, parse_pair
from codeaudit.transforms.algebra.rename import NO_VARIABLE
from codeaudit.transforms.algebra.views import movable, pool
from codeaudit.transforms.edits import Edit, splice
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit

TRIES: Final = 32
"""The most pairs of place and name that are tried; each try costs two evaluations."""

UNDECIDED: Final = "the values do not show whether it is the derivative"
UNCHANGED: Final = "no change of the answer found"


class VariablePlace(NamedTuple):
    """One occurrence of a variable."""

    start: int
    """Its first byte in the text, from 0."""
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraMerging:
    """Gives a variable another's name at one place. One place is one move, numbered among all variables'."""

    name: str = "rename-merging"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"algebra"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One place and name that change the answer; names that occur in the pair are tried first.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        before = holds(parse_pair(source))
        if before is None:
            return Refused(UNDECIDED)
        used = movable(source)
        options = [
            (site, old, new)
            for site, (_, old) in enumerate(occurrences(source))
            for new in pool(old, source)
            if new != old
        ]
        if not options:
            return Refused(NO_VARIABLE)
        rng.shuffle(options)
        options.sort(key=lambda option: option[2] not in used)
        for site, old, new in options[:TRIES]:
            if holds(parse_pair(_replaced(source, site, new))) is (not before):
                return (Move(kind="merge", site=site, value=new, note=f"{old} -> {new} at one place"),)
        return Refused(UNCHANGED)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename at one place; refuses a move that does not change the answer."""
        before = holds(parse_pair(source))
        places = occurrences(source)
        if len(moves) != 1:
            return Refused(NOT_A_MOVE)
        (move,) = moves
        if move.kind != "merge" or not isinstance(move.value, str) or not 0 <= move.site < len(places):
            return Refused(NOT_A_MOVE)
        if move.value not in pool(places[move.site].name, source):
            return Refused(NOT_A_MOVE)
        text = _replaced(source, move.site, move.value)
        return changed(before, parse_pair(text), text)


def changed(before: bool | None, pair: ExpressionPair, text: str) -> Rewritten | Refused:
    """The text of the control if its values show another answer than before; else why it is refused."""
    if before is None:
        return Refused(UNDECIDED)
    after = holds(pair)
    return Rewritten(source=text, evidence="executed") if after is (not before) else Refused(UNCHANGED)


def occurrences(source: str) -> tuple[VariablePlace, ...]:
    """Every place of a variable that may have another name, in order."""
    found = []
    place = 0
    names = movable(source)
    for word in source.split():
        place = source.index(word, place)
        if word in names:
            found.append(VariablePlace(len(source[:place].encode()), word))
        place += len(word)
    return tuple(found)


def _replaced(source: str, site: int, new: str) -> str:
    start, old = occurrences(source)[site]
    return splice(source.encode(), [Edit(start, start + len(old), new)]).decode()


RENAME_MERGING: Final = AlgebraMerging()

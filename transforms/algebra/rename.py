"""`rename` and its two controls, for pairs of expressions (Renamer, Ankner et al., section 3 and appendix E).

A renaming is a bijection within each view: the coefficients `a0` to `a2` (and `a3` if the text has it), and
the inputs `y` and `z`. It is drawn uniformly; x, constants and operators stay. Differentiation by x treats
the renamed variables as constants whatever their names are. So the candidate is the derivative after the
renaming exactly if it was before.

`rename-merging` breaks the referent relation: at one place a variable takes the name of another variable of
its view. `rename-views` breaks views: x and another variable exchange their names throughout. A variant of a
control is kept only if the values of the expressions show that the answer changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import COEFFICIENTS, INPUTS, ExpressionPair, X, parse_pair
from codeaudit.transforms.algebra.views import EXTRA, POOLS, equivalent, movable, pool, renamed
from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.records import Evidence, Kind, Move, Unit
from codeaudit.transforms.renaming import Rename

NO_VARIABLE: Final = "no variable that may be renamed"
ONLY_IDENTITY: Final = "no other renaming found"
ILLEGAL: Final = "two variables would become one, or one may not be renamed so"


@dataclass(frozen=True, slots=True)
class PairNames:
    """The variables of a pair that may have another name, in the order in which they first occur."""

    source: str
    used: tuple[str, ...]
    unchanged: str = ONLY_IDENTITY

    @property
    def current(self) -> Mapping[int, str]:
        """The name of each variable."""
        return dict(enumerate(self.used))

    def draw(self, rng: Random) -> Mapping[int, str] | Refused:
        """A legal renaming, uniformly among all of them, the identity included."""
        if not self.used:
            return Refused(NO_VARIABLE)
        renaming: dict[str, str] = {}
        for names in POOLS:
            own = [old for old in self.used if old in names]
            if own:
                renaming |= zip(own, rng.sample(pool(own[0], self.source), len(own)), strict=True)
        return {number: renaming[old] for number, old in enumerate(self.used)}

    def allows(self, names: Mapping[int, str]) -> bool:
        """Whether no two variables get one name, and each stays in its view."""
        targets = [names.get(number, old) for number, old in enumerate(self.used)]
        return len(set(targets)) == len(targets) and all(
            target in pool(old, self.source) for old, target in zip(self.used, targets, strict=True)
        )

    def text(self, names: Mapping[int, str]) -> str:
        """The text with other names."""
        return renamed(self.source, {self.used[number]: name for number, name in names.items()})

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """`analysis` if a bijection that keeps views makes one text into the other."""
        return "analysis" if equivalent(self.source, text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraRename(Rename):
    """Gives the variables of a pair other names. One variable is one move."""

    foreign: str = NOT_A_MOVE
    illegal: str = ILLEGAL
    languages: frozenset[str] = field(default=frozenset({"algebra"}))

    def names(self, source: str) -> PairNames:
        """The variables of a pair.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        parse_pair(source)
        return PairNames(source, movable(source))


RENAME: Final = AlgebraRename()


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

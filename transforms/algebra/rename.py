"""`rename` and its two controls, for pairs of expressions (Renamer, Ankner et al., section 3 and appendix E).

A renaming is a bijection within each view: the coefficients `a0` to `a2` (and `a3` if the text has it), and
the inputs `y` and `z`. It is drawn uniformly; x, constants and operators stay. Differentiation by x treats
the renamed variables as constants whatever their names are. So the candidate is the derivative after the
renaming exactly if it was before.

`rename-merging` breaks the referent relation: at one place a variable takes the name of another variable of
its view. `rename-views` breaks views: x and another variable exchange their names throughout. A variant of a
control is kept only if the values of the expressions show that the answer changes.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import COEFFICIENTS, INPUTS, X, parse_pair
from codeaudit.transforms.algebra.views import POOLS, WORD, equivalent, movable, pool, renamed
from codeaudit.transforms.interface import NOT_A_MOVE, BaseTransform, Refused, Rewritten
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
        # Sampling without replacement gives every injection with the same probability, view by view.
        for names in POOLS:
            olds = [old for old in self.used if old in names]
            if olds:
                renaming |= zip(olds, rng.sample(pool(olds[0], self.source), len(olds)), strict=True)
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
        parse_pair(source)  # raises; names are then found in the words of the text
        return PairNames(source, movable(source))


RENAME: Final = AlgebraRename()

TRIES: Final = 32
"""The most changes that are tried; each try costs two evaluations."""

UNDECIDED: Final = "the values do not show whether it is the derivative"
UNCHANGED: Final = "no change of the answer found"


class PairChange(NamedTuple):
    """A change of names that breaks views or referents. It may keep the answer by chance."""

    site: int
    name: str
    """The name that is given."""
    note: str
    text: str
    """The text after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraControl(BaseTransform):
    """Makes one change of names after which the answer is another one. One change is one move."""

    name: str
    move: str
    """The kind of its moves."""
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"algebra"}))
    unit: Unit = "function"

    @abstractmethod
    def changes(self, source: str) -> list[PairChange]:
        """All changes of a text, in a fixed order."""

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One change that changes the answer; names that occur in the pair are tried first.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        before = holds(parse_pair(source))
        if before is None:
            return Refused(UNDECIDED)
        options = self.changes(source)
        if not options:
            return Refused(NO_VARIABLE)
        used = movable(source)
        rng.shuffle(options)
        # A name that the pair does not have yet would show a model that the pair was changed.
        options.sort(key=lambda option: option.name not in used)
        for option in options[:TRIES]:
            # Values that do not decide (`None`) are no other answer: `is (not before)`, not `!= before`.
            if holds(parse_pair(option.text)) is (not before):
                return (Move(kind=self.move, site=option.site, value=option.name, note=option.note),)
        return Refused(UNCHANGED)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Make one change; refuses a change that keeps the answer.

        Raises:
            SourceError: the source is no pair of expressions.
        """
        before = holds(parse_pair(source))
        wanted = [(move.kind, move.site, move.value) for move in moves]
        for option in self.changes(source):
            if wanted == [(self.move, option.site, option.name)]:
                if before is None:
                    return Refused(UNDECIDED)
                changed = holds(parse_pair(option.text)) is (not before)
                return Rewritten(source=option.text, evidence="executed") if changed else Refused(UNCHANGED)
        # No change, two changes (which may cancel out), or a change that `propose` never makes.
        return Refused(NOT_A_MOVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraMerging(AlgebraControl):
    """Gives a variable another's name at one place. Places are numbered among those of all variables.

    So places that named the same variable name different ones, or the reverse.
    """

    name: str = "rename-merging"
    move: str = "merge"

    def changes(self, source: str) -> list[PairChange]:
        """Each place of a variable with each other name of its view."""
        variables = movable(source)
        places = [match for match in WORD.finditer(source) if match[0] in variables]
        return [
            PairChange(
                site=site,
                name=name,
                note=f"{place[0]} -> {name} at one place",
                text=source[: place.start()] + name + source[place.end() :],
            )
            for site, place in enumerate(places)
            for name in pool(place[0], source)
            if name != place[0]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgebraViewExchange(AlgebraControl):
    """Exchanges the names of x and another variable throughout.

    This is a bijection, so the referent relation stays, but the view of x does not.
    """

    name: str = "rename-views"
    move: str = "exchange"

    def changes(self, source: str) -> list[PairChange]:
        """The exchange with each variable, also with one that the pair does not have."""
        return [
            PairChange(0, name, f"x <-> {name}", renamed(source, {X: name, name: X}))
            for name in (*pool(INPUTS[0], source), *pool(COEFFICIENTS[0], source))
        ]


RENAME_MERGING: Final = AlgebraMerging()
RENAME_VIEWS: Final = AlgebraViewExchange()

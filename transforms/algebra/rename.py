"""`rename`: variables become other variables of their view (Renamer, Ankner et al., appendix E).

A renaming is a bijection within each view: the coefficients `a0` to `a2` (and `a3` if the text has it), and
the inputs `y` and `z`. It is drawn uniformly; x, constants and operators stay. Differentiation by x treats
the renamed variables as constants whatever their names are. So the candidate is the derivative after the
renaming exactly if it was before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.algebra.views import POOLS, equivalent, movable, pool, renamed
from codeaudit.transforms.interface import NOT_A_MOVE, Refused
from codeaudit.transforms.records import Evidence
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

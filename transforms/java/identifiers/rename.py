"""Renaming of variables: the words change, which words are the same variable does not.

A renaming is semantics-preserving in the sense of Renamer (Ankner et al., section 3): it keeps the view of
every name and the referent relation (two occurrences are the same variable after it exactly if they were
before). Only the bytes of the names change. The result is read and resolved anew and compared with the
original (`equivalence`); what is not shown to be alpha-equivalent is refused.

A new name is no word of the text, so it hides nothing there: neither a field nor a type nor a package. Names
that stand elsewhere in the file, or that are inherited, cannot be meant in the method unless they stand in
it, since a local variable goes before every field. The one exception is a class in the method that inherits
from what is not seen: a local that is used in there keeps its name, and so none new comes to stand there.

Never renamed: fields, methods, types, components of records, constants, names with `$`; a local that a `case`
may mean as a constant of an enum; variables with annotations that may read the name; with parameters also
those of methods with such annotations or without a body, and of constructors that may be a record's.

What is not promised: the text that Java makes up for a NullPointerException (it names variables where the
code was compiled with `-g`), names of synthetic fields in which classes keep captured variables, and with
parameters what is read by reflection from code that was compiled with `-parameters`. Comments stay, and so a
`@param` may name a parameter that is called otherwise now.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import Binding
from codeaudit.transforms.java.identifiers.names import JAVA, reserved
from codeaudit.transforms.java.identifiers.variables import NOT_A_MOVE, Variables, variables
from codeaudit.transforms.naming import Strategy, draw, shuffle
from codeaudit.transforms.records import Kind, Move, Unit

COLLISION: Final = "name collision"
UNVERIFIED: Final = "verification failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """Gives other names to variables of a method; one variable is one move, applied or left at will."""

    name: str
    parameters: bool = False
    """Whether parameters are renamed too: callers pass by position, so that only reflection may see it."""
    strategy: Strategy = "natural"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"java"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for every variable that may have one.

        Raises:
            SourceError: the source does not parse or is not one method.
        """
        known = variables(source)
        found = known.movable(parameters=self.parameters)
        if isinstance(found, Refused):
            return found
        moves = tuple(
            Move(kind="rename", site=number, value=name, note=f"{found[number].name} -> {name}")
            for number, name in self._draw(known, found, rng).items()
            if name != found[number].name
        )
        if moves:
            return moves
        return Refused("no two names to shuffle" if self.strategy == "shuffle" else "names are canonical")

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any of the moves; refuses a name that would be captured or taken twice."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        known = variables(source)
        found = known.movable(parameters=self.parameters)
        if isinstance(found, Refused):
            return found
        names = {move.site: move.value for move in moves if isinstance(move.value, str)}
        if len(names) != len(moves) or not names.keys() <= found.keys():
            return Refused(NOT_A_MOVE)
        own = {binding.name for binding in found.values()}
        if not all(usable(name, own) for name in names.values()) or known.collides(names):
            return Refused(COLLISION)
        text = known.rewritten(names)
        if not known.proof(text, names):
            return Refused(UNVERIFIED)
        return Rewritten(source=text, evidence="analysis")

    def _draw(self, known: Variables, found: Mapping[int, Binding], rng: Random) -> dict[int, str]:
        names = {number: binding.name for number, binding in found.items()}
        if self.strategy not in ("shuffle", "canonical"):
            return draw(JAVA, self.strategy, names, known.words, rng)
        bindings = known.scopes.bindings
        kept = {binding.name for binding in bindings if binding.number not in found}
        if self.strategy == "canonical":
            return draw(JAVA, "canonical", names, kept, rng)
        labels = {binding.number for binding in found.values() if binding.view == "label"}
        kept |= {names.pop(number) for number in labels}  # a label is another kind of name
        return shuffle(JAVA, names, kept, rng)


def usable(name: str, own: Collection[str]) -> bool:
    """Whether a name can be given: an identifier that is reserved for nothing."""
    return name.isascii() and name.isidentifier() and (name in own or not reserved(name))


RENAME: Final = Rename(name="rename")
RENAME_RANDOM: Final = Rename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = Rename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = Rename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = Rename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = Rename(name="rename-parameters", parameters=True)

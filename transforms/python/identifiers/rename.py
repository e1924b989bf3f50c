"""Renaming of variables: the words change, which words are the same variable does not.

A renaming is semantics-preserving in the sense of Renamer (Ankner et al., section 3): it keeps the view
of every name (a parameter stays a parameter, a private name private) and the referent relation (two
occurrences are the same variable after it exactly if they were before). Only the bytes of the names
change. The result is read anew and compared with the original, by its compiled code or else by its tree
and its own scopes (`Variables.proof`), so what cannot be shown to be alpha-equivalent is refused.

Never renamed: names of nested functions and classes (their `__name__` may be seen; `functions` renames
those that nobody sees), names that an import chooses, attributes and class-level names, globals and
`nonlocal`s of the text around the function, `__dunder__` and mangled names, `_`, names that an f-string
prints (`f"{x=}"`), names in annotations that may be kept as text, names in type comments, and names that
a class with a metaclass reads. A function that can look at its own names (`locals()`, `eval`, frames) is
refused as a whole.

What is not promised: the text of an UnboundLocalError or NameError, the source lines of a traceback,
`co_varnames`, `co_freevars`, the order of `__closure__`, and whatever a callee reads from its caller's
frame; with parameters also signatures, `__annotations__`, and the text of a TypeError for wrong arguments.
"""

import keyword
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.naming import Strategy
from codeaudit.transforms.python.analysis.scopes import PythonBinding, PythonScopes
from codeaudit.transforms.python.identifiers.names import draw, reserved, shuffle
from codeaudit.transforms.python.identifiers.obstacles import mangled
from codeaudit.transforms.python.identifiers.variables import NOT_A_MOVE, Variables, movable, variables
from codeaudit.transforms.records import Kind, Move, Unit

COLLISION: Final = "name collision"
UNVERIFIED: Final = "verification failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """Gives other names to variables of a function; one variable is one move, applied or left at will."""

    name: str
    parameters: bool = False
    """Whether parameters are renamed too: this keeps the meaning for callers that pass by position."""
    strategy: Strategy = "natural"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for every variable that may have one.

        Raises:
            SourceError: the source does not parse or is not one function.
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
        evidence = known.proof(text, names)
        return Refused(UNVERIFIED) if evidence is None else Rewritten(source=text, evidence=evidence)

    def movable(self, scopes: PythonScopes) -> Mapping[int, PythonBinding] | Refused:
        """The variables that may be renamed, by number, or why there is none."""
        return movable(scopes, parameters=self.parameters)

    def _draw(self, known: Variables, found: Mapping[int, PythonBinding], rng: Random) -> dict[int, str]:
        names = {number: binding.name for number, binding in found.items()}
        if self.strategy in ("shuffle", "canonical"):
            kept = {binding.name for binding in known.scopes.bindings if binding.number not in found}
            return (
                shuffle(names, kept, rng)
                if self.strategy == "shuffle"
                else draw("canonical", names, kept, rng)
            )
        # Not even words of strings and attributes: what reads names as text must not find new ones.
        return draw(self.strategy, names, known.words, rng)


def usable(name: str, own: Collection[str]) -> bool:
    """Whether a name can be given: no keyword, nothing special, and a builtin's only where it is in use."""
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or mangled(name):
        return False
    return name.isascii() and name.isidentifier() and (name in own or not reserved(name))


RENAME: Final = Rename(name="rename")
RENAME_RANDOM: Final = Rename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = Rename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = Rename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = Rename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = Rename(name="rename-parameters", parameters=True)

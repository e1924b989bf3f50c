"""Renaming of the functions inside a function, if no code can see what they are called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import PythonBinding, PythonScopes
from codeaudit.transforms.python.identifiers.names import ACTIONS, draw, usable
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, RenameGuard, reflects
from codeaudit.transforms.python.identifiers.survey import ELSEWHERE, Survey
from codeaudit.transforms.python.identifiers.variables import NOT_A_MOVE, variables
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.renaming import COLLISION, UNVERIFIED

NO_FUNCTION: Final = "no function inside"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameInnerFunctions:
    """Gives other names to nested functions that are only called. One function is one move.

    The name of a function is visible in more ways than that of a variable; `survey` says what has to hold.
    The proof is that of `rename`, with the names of functions mapped too.
    """

    name: str = "rename-inner-functions"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for every nested function that may be renamed.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        known = variables(source)
        found = _movable(source)
        if isinstance(found, Refused):
            return found
        names = {number: binding.name for number, binding in found.items()}
        return tuple(
            Move(kind="rename", site=number, value=name, note=f"{names[number]} -> {name}")
            for number, name in draw("natural", names, known.words, rng, ACTIONS).items()
        )

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any subset of the moves. Refuses a new name that is already in the text."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        known = variables(source)
        found = _movable(source)
        if isinstance(found, Refused):
            return found
        names = {move.site: move.value for move in moves if isinstance(move.value, str)}
        if len(names) != len(moves) or not names.keys() <= found.keys():
            return Refused(NOT_A_MOVE)
        fresh = set(names.values())
        if len(fresh) < len(names) or fresh & known.words or not all(usable(name, ()) for name in fresh):
            return Refused(COLLISION)
        text = known.rewritten(names)
        evidence = known.proof(text, names)
        return Refused(UNVERIFIED) if evidence is None else Rewritten(source=text, evidence=evidence)


@lru_cache(maxsize=4)
def _movable(source: str) -> Mapping[int, PythonBinding] | Refused:
    """The nested functions that may be renamed, by the number of their binding, or the reason why there is
    none.
    """
    scopes = variables(source).scopes
    inner = [binding for binding in scopes.bindings if binding.view == "function"]
    if not inner:
        return Refused(NO_FUNCTION)
    if reflects(scopes):
        return Refused(REFLECTION)
    try:
        survey = Survey(scopes.tree, scopes.source, _definitions(scopes, inner))
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller function") from error
    guard = RenameGuard(scopes)
    several = {
        binding.name
        for binding in scopes.bindings
        for other in scopes.bindings
        if binding.name == other.name and binding is not other
    }
    obstacles: list[str] = []
    found: dict[int, PythonBinding] = {}
    for binding in inner:
        reason = guard.spelling(binding) or survey.obstacles.get(binding.name)
        if reason is None and binding.name in several:
            reason = ELSEWHERE
        if reason is None:
            found[binding.number] = binding
        else:
            obstacles.append(reason)
    return found or Refused(obstacles[0])


def _definitions(scopes: PythonScopes, inner: list[PythonBinding]) -> Iterator[FunctionNode]:
    wanted = {binding.name for binding in inner}
    for scope in scopes.scopes:
        node = scope.node
        if isinstance(node, FunctionNode) and node is not scopes.function and node.name in wanted:
            yield node


RENAME_INNER_FUNCTIONS: Final = RenameInnerFunctions()

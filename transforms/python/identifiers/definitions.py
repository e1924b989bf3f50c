"""Other names for functions and classes, and the control that swaps the names of two functions.

A function inside a function, and a private function or class of a module (`_one`), gets another name if no
code can see what it is called; `survey` says what has to hold. For a module this assumes that no other module
imports its private names, which a single file cannot show.

The control exchanges two definitions' names, so every caller of one function now gets the other. The
arguments of every visible call fit both, so that no call fails at once. Nothing shows that the two functions
do not happen to do the same.
"""

import ast
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from random import Random
from types import CodeType
from typing import Final, Literal, TypeAlias

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import BaseTransform, Refused, Rewritten
from codeaudit.transforms.patches import Edit, Positions, splice
from codeaudit.transforms.python.analysis.capabilities import (
    finds_by_name,
    looks_at_variables,
    shown_by,
    shown_together,
)
from codeaudit.transforms.python.analysis.facts import is_generator
from codeaudit.transforms.python.analysis.scopes import DEFINITION
from codeaudit.transforms.python.identifiers import rename
from codeaudit.transforms.python.identifiers.names import ACTIONS, NATURAL, draw, usable
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, WORDS, RenameGuard, reflects
from codeaudit.transforms.python.identifiers.proofs import NameMapping, same_code
from codeaudit.transforms.python.identifiers.survey import ELSEWHERE, Survey, fits
from codeaudit.transforms.python.parsing import FunctionNode, compiled, parse
from codeaudit.transforms.python.walking import below
from codeaudit.transforms.records import Evidence, Kind, Move, Unit
from codeaudit.transforms.renaming import COLLISION, Rename

Sort: TypeAlias = Literal["function", "class"]

NO_FUNCTION: Final = "no function inside"
NOT_A_MOVE: Final = "not a move of this module"
NOT_COMPILED: Final = "source does not compile"
NO_PAIR: Final = "no two functions to swap"


@dataclass(frozen=True, slots=True)
class DefinitionNames(ABC):
    """The names of the definitions of one text that may change."""

    current: Mapping[int, str]
    """The name of each definition, by the number that is the site of its move."""
    words: frozenset[str]
    """Every word of the text."""
    pool: Sequence[str]
    """The names to draw from."""

    @property
    def unchanged(self) -> str:
        """Never the outcome: `draw` gives every definition a name that the text does not contain."""
        return COLLISION

    def draw(self, rng: Random) -> Mapping[int, str]:
        """Frequent names that are no words of the text."""
        return draw("natural", self.current, self.words, rng, self.pool)

    def allows(self, names: Mapping[int, str]) -> bool:
        """Whether the names are usable, all different, and no words of the text.

        Any word counts: a new name that equals a string could be found by `getattr(module, "name")`.
        """
        fresh = set(names.values())
        return len(fresh) == len(names) and not fresh & self.words and all(map(self.takes, fresh))

    def takes(self, name: str) -> bool:
        """Whether a definition of this sort may have the name."""
        return usable(name, ())

    @abstractmethod
    def text(self, names: Mapping[int, str]) -> str:
        """The text with these names and nothing else changed."""

    @abstractmethod
    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence that a text is the original with exactly these names; `None` if it is not."""


# ── functions inside a function ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _InnerFunctions(DefinitionNames):
    """The functions inside a function, which `rename` knows as variables."""

    variables: rename.PythonVariables

    def text(self, names: Mapping[int, str]) -> str:
        return self.variables.rewritten(names)

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        return self.variables.proof(text, names)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameInnerFunctions(Rename):
    """Gives other names to nested functions that are only called. One function is one move.

    The proof is that of `rename`, with the names of functions mapped too.
    """

    name: str = "rename-inner-functions"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    foreign: str = rename.NOT_A_MOVE
    around: str = field(default="", repr=False)
    """The text of the file around the function, as far as it is known."""

    def within(self, file: str) -> "RenameInnerFunctions":
        """The transform for functions of this file."""
        return replace(self, around=file)

    def names(self, source: str) -> DefinitionNames | Refused:
        """The nested functions that may be renamed, or the reason why there is none.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        names = _inner_functions(source)
        if not isinstance(names, Refused) and shown_together(source, self.around).functions:
            return Refused(REFLECTION)
        return names


@lru_cache(maxsize=4)
def _inner_functions(source: str) -> _InnerFunctions | Refused:
    variables = rename.variables(source)
    scopes = variables.scopes
    inner = [binding for binding in scopes.bindings if binding.view == "function"]
    if not inner:
        return Refused(NO_FUNCTION)
    if reflects(scopes):
        return Refused(REFLECTION)
    wanted = {binding.name for binding in inner}
    nodes = [scope.node for scope in scopes.scopes if scope.node is not scopes.function]
    try:
        survey = Survey(
            scopes.tree,
            scopes.source,
            [node for node in nodes if isinstance(node, FunctionNode) and node.name in wanted],
        )
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller function") from error
    guard = RenameGuard(scopes)
    # The survey knows definitions by name only, so one name must stand for one variable in the whole text.
    uses = Counter(binding.name for binding in scopes.bindings)
    names: dict[int, str] = {}
    reasons: list[str] = []
    for binding in inner:
        reason = guard.spelling(binding) or survey.obstacles.get(binding.name)
        if reason is None and uses[binding.name] > 1:
            reason = ELSEWHERE
        if reason is None:
            names[binding.number] = binding.name
        else:
            reasons.append(reason)
    if not names:
        return Refused(reasons[0])
    return _InnerFunctions(names, variables.words, ACTIONS, variables)


# ── private functions and classes of a module ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameDefinitions(Rename):
    """Gives other names to private functions or classes of a module. One definition is one move."""

    sort: Sort
    """Whether functions or classes are renamed."""
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "module"
    foreign: str = NOT_A_MOVE

    def names(self, source: str) -> DefinitionNames | Refused:
        """The private definitions that may be renamed, or the reason why there is none.

        Raises:
            SourceError: the source does not parse.
        """
        return _private(source, self.sort)


@dataclass(frozen=True, slots=True)
class _PrivateDefinitions(DefinitionNames):
    """The private functions or classes of a module. Their numbers count all private ones of the sort."""

    source: bytes
    code: CodeType
    """The compiled module."""
    places: Mapping[str, Sequence[int]]
    """The byte offsets of every mention, by name."""
    sort: Sort

    def takes(self, name: str) -> bool:
        # A public name would be exported by `from module import *`.
        return usable(name, ()) and _is_private(name)

    def text(self, names: Mapping[int, str]) -> str:
        edits = [
            Edit(start, start + len(old.encode()), name)
            for old, name in self._by_old_name(names).items()
            for start in self.places[old]
        ]
        return splice(self.source, edits).decode()

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        code, new = compiled(text), self._by_old_name(names)
        # The compiler stores the name of a class, and not that of a function, as a constant of its own.
        mapping = NameMapping({}, new, new if self.sort == "class" else {}, new)
        return "compiled" if code is not None and same_code(self.code, code, mapping) else None

    def _by_old_name(self, names: Mapping[int, str]) -> dict[str, str]:
        return {self.current[number]: name for number, name in names.items()}


@lru_cache(maxsize=4)
def _private(source: str, sort: Sort) -> _PrivateDefinitions | Refused:
    tree = parse(source)
    kinds = ast.ClassDef if sort == "class" else FunctionNode
    candidates = [node for node in tree.body if isinstance(node, kinds) and _is_private(node.name)]
    if not candidates:
        return Refused(f"no private {sort}")
    if shown_by(source).functions or looks_at_variables(tree) or finds_by_name(tree):
        return Refused(REFLECTION)
    code = compiled(source)
    if code is None:
        return Refused(NOT_COMPILED)
    text = source.encode()
    try:
        survey = Survey(tree, text, candidates)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller module") from error
    names = {number: node.name for number, node in enumerate(candidates) if node.name not in survey.obstacles}
    if not names:
        return Refused(survey.obstacles[candidates[0].name])
    words, pool = frozenset(WORDS.findall(source)), ACTIONS if sort == "function" else NATURAL
    return _PrivateDefinitions(names, words, pool, text, code, survey.places, sort)


def _is_private(name: str) -> bool:
    # `__x` is mangled in classes, and `_` means a throwaway value.
    return name.startswith("_") and not name.startswith("__") and bool(name.strip("_"))


# ── the control ──────────────────────────────────────────────────────────────────────────────────────────

_Pairs: TypeAlias = Mapping[tuple[int, str], tuple[Edit, Edit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameFunctionsMerging(BaseTransform):
    """Swaps the names of two functions that the module calls. One swap is one move."""

    name: str = "rename-functions-merging"
    kind: Kind = "control"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One swap.

        Raises:
            SourceError: the source does not parse.
        """
        pairs = _pairs(source)
        if not pairs:
            return Refused(NO_PAIR)
        (number, name), (there, _) = rng.choice(list(pairs.items()))
        return (Move(kind="swap", site=number, value=name, note=f"{there.text} <-> {name}"),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Swap two names; the evidence is `parsed`."""
        if not moves:
            return Rewritten(source=source, evidence="parsed")
        pairs = _pairs(source)
        swaps = [(move.site, move.value) for move in moves if isinstance(move.value, str)]
        if len(moves) != 1 or not swaps or swaps[0] not in pairs:
            return Refused(NOT_A_MOVE)
        text = splice(source.encode(), pairs[swaps[0]]).decode()
        if compiled(text) is None:
            return Refused("result does not compile")
        return Rewritten(source=text, evidence="parsed")


@lru_cache(maxsize=4)
def _pairs(source: str) -> _Pairs:
    """The edits of every swap, by the index of the first function and the name of the second."""
    tree, text = parse(source), source.encode()
    positions = Positions(text)
    calls: dict[str, list[ast.Call]] = {}
    bound: dict[str, int] = {}
    for node in below(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.setdefault(node.func.id, []).append(node)
        # A name that is defined twice may mean either definition.
        elif isinstance(node, FunctionNode | ast.ClassDef):
            bound[node.name] = bound.get(node.name, 0) + 1
    edits: dict[tuple[int, str], tuple[Edit, Edit]] = {}
    functions = [
        (number, node)
        for number, node in enumerate(tree.body)
        if isinstance(node, FunctionNode) and node.name in calls and bound[node.name] == 1
    ]
    for (number, one), (_, other) in combinations(functions, 2):
        # A caller whose arguments do not fit the other function would fail with a TypeError at once.
        if not _interchangeable(one, other) or not all(
            fits(one.args, call) and fits(other.args, call) for call in calls[one.name] + calls[other.name]
        ):
            continue
        first = DEFINITION.match(text, positions.offset(one.lineno, one.col_offset))
        second = DEFINITION.match(text, positions.offset(other.lineno, other.col_offset))
        if first and second and first[1] == one.name.encode() and second[1] == other.name.encode():
            edits[number, other.name] = (
                Edit(second.start(1), second.end(1), one.name),
                Edit(first.start(1), first.end(1), other.name),
            )
    return edits


def _interchangeable(one: FunctionNode, other: FunctionNode) -> bool:
    """Whether two functions are called in one way and differ in their text."""
    if one.__class__ is not other.__class__ or is_generator(one) != is_generator(other):
        return False
    if one.decorator_list or other.decorator_list:
        return False
    # Functions of equal bodies would still do the same.
    return [ast.dump(node) for node in one.body] != [ast.dump(node) for node in other.body]


RENAME_INNER_FUNCTIONS: Final = RenameInnerFunctions()
RENAME_FUNCTIONS: Final = RenameDefinitions(name="rename-functions", sort="function")
RENAME_CLASSES: Final = RenameDefinitions(name="rename-classes", sort="class")
RENAME_FUNCTIONS_MERGING: Final = RenameFunctionsMerging()

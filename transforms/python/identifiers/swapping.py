"""The control of renaming functions: two functions of a module take each other's names.

Only the definitions change, so every caller of one function now gets the other. The arguments of every
visible call fit both, so that no call fails at once. Nothing shows that the two functions do not happen to do
the same.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Final, TypeAlias

from codeaudit.transforms.edits import Edit, Positions, splice
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import DEFINITION
from codeaudit.transforms.python.identifiers.bytecode import compiled
from codeaudit.transforms.python.identifiers.modules import NOT_A_MOVE
from codeaudit.transforms.python.identifiers.survey import fits, is_generator
from codeaudit.transforms.python.parsing import FunctionNode, parse
from codeaudit.transforms.records import Kind, Move, Unit

NO_PAIR: Final = "no two functions to swap"

_Pairs: TypeAlias = Mapping[tuple[int, str], tuple[Edit, Edit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameFunctionsMerging:
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.setdefault(node.func.id, []).append(node)
        elif isinstance(node, FunctionNode | ast.ClassDef):
            bound[node.name] = bound.get(node.name, 0) + 1
    found: dict[tuple[int, str], tuple[Edit, Edit]] = {}
    functions = [
        (number, node)
        for number, node in enumerate(tree.body)
        if isinstance(node, FunctionNode) and node.name in calls and bound[node.name] == 1
    ]
    for (number, one), (_, other) in combinations(functions, 2):
        if not _interchangeable(one, other) or not all(
            fits(one.args, call) and fits(other.args, call) for call in calls[one.name] + calls[other.name]
        ):
            continue
        first = DEFINITION.match(text, positions.offset(one.lineno, one.col_offset))
        second = DEFINITION.match(text, positions.offset(other.lineno, other.col_offset))
        if first and second and first[1] == one.name.encode() and second[1] == other.name.encode():
            found[number, other.name] = (
                Edit(second.start(1), second.end(1), one.name),
                Edit(first.start(1), first.end(1), other.name),
            )
    return found


def _interchangeable(one: FunctionNode, other: FunctionNode) -> bool:
    """Whether two functions are called in one way and differ in their text."""
    if one.__class__ is not other.__class__ or is_generator(one) != is_generator(other):
        return False
    if one.decorator_list or other.decorator_list:
        return False
    return [ast.dump(node) for node in one.body] != [ast.dump(node) for node in other.body]


RENAME_FUNCTIONS_MERGING: Final = RenameFunctionsMerging()

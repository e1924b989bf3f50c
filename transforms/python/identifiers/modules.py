"""Renaming of a module's private functions and classes, if nothing in the module can see their names.

Sound for a module whose private names (`_one`) no other module imports; a single file cannot show that.
Inside the module, the conditions of `survey` have to hold, and the module must not look names up by their
text.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from types import CodeType
from typing import Final, Literal, TypeAlias

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.identifiers.bytecode import NameMapping, compiled, same_code
from codeaudit.transforms.python.identifiers.names import ACTIONS, NATURAL, draw, usable
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, WORDS
from codeaudit.transforms.python.identifiers.survey import Candidate, Survey
from codeaudit.transforms.python.parsing import FunctionNode, parse
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.renaming import COLLISION, UNVERIFIED

Sort: TypeAlias = Literal["function", "class"]

NOT_A_MOVE: Final = "not a move of this module"
NOT_COMPILED: Final = "source does not compile"

_READERS: Final = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "__import__", "__getattr__"})
_BY_NAME: Final = frozenset({"getattr", "hasattr", "setattr", "delattr"})
"""Builtins that take a name as text: harmless if that text is a constant."""
_READING_ATTRIBUTES: Final = frozenset(
    {
        "modules", "__dict__", "__globals__", "__code__", "__subclasses__", "f_globals", "f_locals", "f_back",
        "tb_frame", "_getframe", "currentframe", "gi_frame", "cr_frame",
    }
)  # fmt: skip
_READING_MODULES: Final = frozenset(
    {
        "builtins", "cloudpickle", "copyreg", "dill", "doctest", "gc", "importlib", "inspect", "joblib",
        "marshal", "pickle", "pkgutil", "runpy", "shelve",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameDefinitions:
    """Gives other names to private functions or classes of a module. One definition is one move."""

    name: str
    sort: Sort
    """Whether functions or classes are renamed."""
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default=frozenset({"python"}))
    unit: Unit = "module"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """New names for every definition that may be renamed.

        Raises:
            SourceError: the source does not parse.
        """
        private = _private(source, self.sort)
        if isinstance(private, Refused):
            return private
        pool = ACTIONS if self.sort == "function" else NATURAL
        return tuple(
            Move(kind="rename", site=number, value=name, note=f"{private.names[number]} -> {name}")
            for number, name in draw("natural", private.names, private.words, rng, pool).items()
        )

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Rename with any subset of the moves. Refuses a new name that is already in the text."""
        if not moves:
            return Rewritten(source=source, evidence="analysis")
        private = _private(source, self.sort)
        if isinstance(private, Refused):
            return private
        new = {move.site: move.value for move in moves if isinstance(move.value, str)}
        if len(new) != len(moves) or not new.keys() <= private.names.keys():
            return Refused(NOT_A_MOVE)
        fresh = set(new.values())
        fit = all(usable(name, ()) and _is_private(name) for name in fresh)
        if len(fresh) < len(new) or fresh & private.words or not fit:
            return Refused(COLLISION)
        names = {private.names[number]: name for number, name in new.items()}
        text = private.rewritten(names)
        code = compiled(text)
        image = NameMapping({}, names, names if self.sort == "class" else {}, names)
        if code is None or not same_code(private.code, code, image):
            return Refused(UNVERIFIED)
        return Rewritten(source=text, evidence="compiled")


@dataclass(frozen=True, slots=True)
class _Private:
    """A module, with its definitions that may be renamed."""

    source: bytes
    code: CodeType
    """The compiled module."""
    names: Mapping[int, str]
    """The names, by the position of the definition among all private ones of its sort."""
    places: Mapping[str, Sequence[int]]
    """The byte offsets of every mention, by name."""
    words: frozenset[str]
    """Every word of the text."""

    def rewritten(self, names: Mapping[str, str]) -> str:
        """The text with each of these names replaced at every mention."""
        starts = sorted((start, name) for name in names for start in self.places[name])
        parts: list[bytes] = []
        done = 0
        for start, name in starts:
            parts += (self.source[done:start], names[name].encode())
            done = start + len(name.encode())
        return b"".join([*parts, self.source[done:]]).decode()


@lru_cache(maxsize=4)
def _private(source: str, sort: Sort) -> _Private | Refused:
    tree = parse(source)
    candidates = [node for node in _definitions(tree, sort) if _is_private(node.name)]
    if not candidates:
        return Refused(f"no private {sort}")
    if _looks_names_up(tree):
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
    return _Private(text, code, names, survey.places, frozenset(WORDS.findall(source)))


def _definitions(tree: ast.Module, sort: Sort) -> Iterator[Candidate]:
    """The definitions of one sort that stand directly in a module."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            if sort == "class":
                yield node
        elif isinstance(node, FunctionNode) and sort == "function":
            yield node


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and bool(name.strip("_"))


def _looks_names_up(tree: ast.Module) -> bool:
    """Whether a module may find its own names by their text."""
    seen: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) as callee, args=[_, ast.Constant(value=str()), *_]):
                if name in _BY_NAME:
                    seen.add(id(callee))
            case ast.Name(id=name):
                if name in _READERS or (name in _BY_NAME and id(node) not in seen):
                    return True
            case ast.FunctionDef(name="__getattr__"):
                if node in tree.body:
                    return True
            case ast.Attribute(attr=name):
                if name in _READING_ATTRIBUTES:
                    return True
            case ast.Import(names=names):
                if any(alias.name.partition(".")[0] in _READING_MODULES for alias in names):
                    return True
            case ast.ImportFrom(module=module, names=names):
                if (module or "").partition(".")[0] in _READING_MODULES:
                    return True
                if any(alias.name in {"*", "modules", *_READING_ATTRIBUTES} for alias in names):
                    return True
    return False


RENAME_FUNCTIONS: Final = RenameDefinitions(name="rename-functions", sort="function")
RENAME_CLASSES: Final = RenameDefinitions(name="rename-classes", sort="class")

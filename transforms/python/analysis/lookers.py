"""Other names that a file gives to functions which look at the variables of their caller: `show = locals`.

Renaming a variable changes what such a function finds. `reflection` knows the functions by their own names.
"""

import ast
import re
from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from typing import Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.facts import bound_names
from codeaudit.transforms.python.parsing import (
    FunctionNode,
    file_tree,
    normalised,
    parameter_names,
    scopes_of,
    standing_on,
    table_of,
)
from codeaudit.transforms.python.walking import below, children

_OF_BUILTINS: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
_OF_INSPECT: Final = frozenset({"stack", "trace", "currentframe", "getouterframes"})
_OF_FRAMES: Final = frozenset(
    {
        "_getframe", "_getframemodulename", "_current_frames", "currentframe", "getouterframes", "settrace",
        "setprofile",
    }
)  # fmt: skip
"""Functions of `sys` and `inspect`; no other object has attributes of these names."""
_LOOKERS: Final = _OF_BUILTINS | _OF_FRAMES
_MODULES: Final = {"builtins": _OF_BUILTINS, "__builtins__": _OF_BUILTINS, "inspect": _OF_INSPECT}
_UNCALLED: Final = re.compile(rf"(?<!\w)({'|'.join(sorted(_LOOKERS))})\b(?![ \t]*\()")
_OF_MODULES: Final = re.compile(r"(?<!\w)(?:(?:__)?builtins(?:__)?\b|inspect\b)")
_PLAIN: Final = re.compile(
    r"^[ \t]*import (?:builtins|inspect)[ \t]*(?:#.*)?$"
    rf"|(?<!\w)(?:builtins|inspect)\.(?!(?:{'|'.join(sorted(_OF_BUILTINS | _OF_INSPECT))})\b(?!\())\w",
    re.MULTILINE,
)
"""Imports of these modules under their own names, and attributes that are no lookers or are called."""


class Lookers(NamedTuple):
    """What in a function may be a function that looks at variables."""

    names: frozenset[str]
    """Any word."""
    attributes: frozenset[str]
    """Only attributes: the file has another name for their module."""


NONE: Final = Lookers(frozenset(), frozenset())


@lru_cache(maxsize=64)
def other_names(text: str) -> Lookers | None:
    """The other names of a file; `None` if it cannot be read, so that any name may be one.

    A looker that is handed to other code is not followed beyond the statement.
    """
    plain = normalised(text)
    words = frozenset(_UNCALLED.findall(plain))
    modules = _OF_MODULES.search(_PLAIN.sub("", plain)) if "builtins" in plain or "inspect" in plain else None
    if modules is None and not (words and _means_lookers(text, words)):
        return NONE
    try:
        tree = file_tree(text)
    except SourceError:
        return None
    found = _Found()
    while found.grows():
        mentioning = re.compile("|".join({*_LOOKERS, *_OF_INSPECT, *_MODULES, *found.names}))
        for statement, bound, owners in _statements(tree, standing_on(mentioning, text)):
            found.read(statement, bound, owners)
    return Lookers(frozenset(found.names), frozenset(found.attributes))


def _means_lookers(text: str, words: frozenset[str]) -> bool:
    """Whether one of these words may be the builtin, and not a variable of some function."""
    table = table_of(text)
    if table is None or words - _OF_BUILTINS:
        return True
    return any(
        scope.get_type() != "function" or scope.lookup(word).is_global()
        for scope in scopes_of(table)
        for word in words.intersection(scope.get_identifiers())
    )


def _statements(
    tree: ast.Module, wanted: Callable[[ast.stmt], bool]
) -> Iterator[tuple[ast.stmt, frozenset[str], tuple[str, ...]]]:
    """The wanted statements, with the variables and the names of the functions around each."""
    pending: list[tuple[ast.AST, frozenset[str], tuple[str, ...]]] = [
        (one, frozenset(), ()) for one in tree.body
    ]
    while pending:
        node, bound, owners = pending.pop()
        if isinstance(node, ast.stmt):
            if not wanted(node):
                continue
            yield node, bound, owners
        if isinstance(node, FunctionNode):
            bound |= bound_names(node.body) | {*parameter_names(node.args)}
            owners = (*owners, node.name)
        pending += [(one, bound, owners) for one in children(node) if isinstance(one, _HOLDERS)]


_HOLDERS: Final = (ast.stmt, ast.ExceptHandler, ast.match_case)


class _Found:
    """The names that are found so far."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self._size = -1

    def grows(self) -> bool:
        """Whether the last reading found more, or there was none yet."""
        before, self._size = self._size, len(self.names) + len(self.attributes)
        return before < self._size

    def read(self, statement: ast.stmt, bound: Set[str], owners: tuple[str, ...]) -> None:
        """Note the names that a statement gives to lookers; the statements in it come by themselves."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._read_import(statement)
            return
        parts = list(_own_parts(statement))
        called = {id(one.func) for one in parts if isinstance(one, ast.Call)}
        held = {id(one.value) for one in parts if isinstance(one, ast.Attribute)}
        compared = {
            id(part)
            for one in parts
            if isinstance(one, ast.Compare)
            for side in (one.left, *one.comparators)
            for part in below(side)
        }
        for part in parts:
            match part:
                # `b = builtins`, `sys.modules["builtins"]`
                case ast.Name(id=name, ctx=ast.Load()) | ast.Constant(value=str(name)) if (
                    name in _MODULES and id(part) not in held | compared and name not in bound
                ):
                    self.attributes |= _MODULES[name]
        if any(self._offers(part, bound) for part in parts if id(part) not in called):
            self.names.update(filter(str.isidentifier, _bound(statement, parts)))
            if isinstance(statement, ast.Return | ast.Expr):
                self.names.update(owners[-1:])

    def _offers(self, part: ast.AST, bound: Set[str]) -> bool:
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                return name in self.names or (name in _LOOKERS and name not in bound)
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if attr in _MODULES.get(module, ()):
                return True
            case ast.Attribute(attr=attr, ctx=ast.Load()):
                return attr in _OF_FRAMES or attr in self.names or attr in self.attributes
            # `getattr(sys, "_getframe")`
            case ast.Constant(value=str(text)):
                return text in _OF_FRAMES or text in self.attributes
            case _:
                return False

    def _read_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                if alias.asname is not None:
                    self.attributes |= _MODULES.get(alias.name, frozenset())
                continue
            own = _MODULES.get(statement.module or "", frozenset())
            if alias.name == "*":
                self.names |= own - _LOOKERS
            elif alias.name in _LOOKERS | own | self.names:
                self.names.add(alias.asname or alias.name)


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without those of the statements in it."""
    pending: list[ast.AST] = [statement]
    while pending:
        for one in children(pending.pop()):
            if isinstance(one, ast.ExceptHandler | ast.match_case):
                pending.append(one)
            elif not isinstance(one, ast.stmt):
                yield from below(one)


def _bound(statement: ast.stmt, parts: list[ast.AST]) -> Iterator[str]:
    """What a statement binds: variables, attributes, keys, keywords, and the names of what it defines."""
    if isinstance(statement, FunctionNode | ast.ClassDef):
        yield statement.name
    for part in parts:
        match part:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.Subscript(value=value, slice=key, ctx=ast.Store()):
                for inner in (*below(value), *below(key)):
                    if isinstance(inner, ast.Name):
                        yield inner.id
                    elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                        yield inner.value
            case ast.keyword(arg=str(name)) | ast.arg(arg=name):
                yield name
            case (
                ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name))
            ):
                yield name

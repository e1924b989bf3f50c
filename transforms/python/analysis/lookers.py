"""Other names that a file gives to functions which look at the variables of their caller: `show = locals`.

Renaming a variable changes what such a function finds. `reflection` knows the functions by their own names.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.facts import bound_names, own_nodes
from codeaudit.transforms.python.analysis.reflection import readers_of_callers
from codeaudit.transforms.python.parsing import (
    FunctionNode,
    file_tree,
    last_name,
    normalised,
    parameter_names,
    scopes_of,
    standing_on,
    table_of,
)
from codeaudit.transforms.python.walking import HOLDERS, below, children

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
    rf"|(?<!\w)(?:builtins|inspect)\.(?!__|get\b)"
    rf"(?!(?:{'|'.join(sorted(_OF_BUILTINS | _OF_INSPECT))})\b(?!\())\w",
    re.MULTILINE,
)
"""Imports of these modules under their own names, and attributes that are no lookers or are called."""
MOST: Final = 60
"""A file that gives more other names than this is taken to give any name."""


class Lookers(NamedTuple):
    """What in a function may be a function that looks at variables."""

    names: frozenset[str]
    """Any word."""
    attributes: frozenset[str]
    """Only attributes: the file has another name for their module."""


NONE: Final = Lookers(frozenset(), frozenset())


@lru_cache(maxsize=64)
def other_names(text: str) -> Lookers | None:
    """The other names of a file, and those of its functions that read the variables of their callers; `None`
    if it cannot be read, so that any name may be one.

    A looker that is handed to other code is not followed beyond the statement.
    """
    given = _given_names(text)
    try:
        readers = readers_of_callers(text, lambda: file_tree(text))
    except SourceError:
        return None
    return None if given is None or readers is None else given._replace(names=given.names | readers)


def _given_names(text: str) -> Lookers | None:
    """As of `other_names`, without the functions that the file defines."""
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
        known = {*_LOOKERS, *_OF_INSPECT, *_MODULES, *found.names, *(name for _, name in found.local)}
        mentioning = re.compile(rf"(?<!\w)(?:{'|'.join(known)})(?!\w)")
        for statement, around in _statements(tree, standing_on(mentioning, text)):
            found.read(statement, around)
        if len(found.names) > MOST:
            return None
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


class _Around(NamedTuple):
    """The functions around a statement, outermost first."""

    functions: tuple[FunctionNode, ...]
    bound: frozenset[str]
    """Their variables."""


def _statements(tree: ast.Module, wanted: Callable[[ast.stmt], bool]) -> Iterator[tuple[ast.stmt, _Around]]:
    """The wanted statements, in the order of the text."""
    pending: list[tuple[ast.AST, _Around]] = [(one, _Around((), frozenset())) for one in reversed(tree.body)]
    while pending:
        node, around = pending.pop()
        if isinstance(node, ast.stmt):
            if not wanted(node):
                continue
            yield node, around
        if isinstance(node, FunctionNode):
            bound = around.bound | bound_names(node.body) | {*parameter_names(node.args)}
            around = _Around((*around.functions, node), bound)
        pending += [(one, around) for one in reversed(children(node)) if isinstance(one, HOLDERS)]


class _Found:
    """The names that are found so far."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.local: set[tuple[int, str]] = set()
        """Variables of a function, with the function."""
        self.attributes: set[str] = set()
        self._giving: set[str] = set()
        """Functions that return lookers."""
        self._modules: set[str] = set()
        """Names that a module of lookers may have."""
        self._size = -1

    def grows(self) -> bool:
        """Whether the last reading found more, or there was none yet."""
        before = self._size
        self._size = len(self.names) + len(self.local) + len(self.attributes) + len(self._modules)
        self._size += len(self._giving)
        return before < self._size

    def read(self, statement: ast.stmt, around: _Around) -> None:
        """Note the names that a statement gives to lookers; the statements in it come by themselves."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._read_import(statement)
            return
        parts = list(_own_parts(statement))
        plain = {
            id(side) for one in parts if isinstance(one, ast.Compare) for side in (one.left, *one.comparators)
        }
        keys = set[int]()
        for one in parts:
            match one:
                # `builtins.len` is not the module itself, but `builtins.__dict__` is as good.
                case ast.Attribute(value=value, attr=attr) if attr != "get" and not attr.startswith("__"):
                    plain.add(id(value))
                case ast.Call(func=ast.Name(id="getattr"), args=[_, key, *_]) | ast.Subscript(slice=key):
                    keys.add(id(key))
        modules = [one for one in parts if id(one) not in plain and _module(one) in _MODULES]
        for one in modules:
            self.attributes.update(_MODULES[_module(one)])
            self._modules.update(_bound(statement, parts))
        called = {id(one.func) for one in parts if isinstance(one, ast.Call)}
        offered = any(
            self._offers(one, around, called=id(one) in called, key=id(one) in keys, module=bool(modules))
            for one in parts
        )
        if not offered:
            return
        outer = {name for one in around.functions for name in _declared(one)}
        inner = around.functions[-1] if around.functions else None
        for name in filter(str.isidentifier, _bound(statement, parts)):
            if inner is not None and name in around.bound and name not in outer and _is_variable(name, parts):
                self.local.add((id(inner), name))
            else:
                self.names.add(name)
        if isinstance(statement, ast.Return | ast.Expr) and inner is not None:
            self.names.add(inner.name)
            self._giving.add(inner.name)
        if any(isinstance(one, ast.Lambda) for one in parts):
            self._giving.update(_bound(statement, parts))

    def _offers(self, part: ast.AST, around: _Around, *, called: bool, key: bool, module: bool) -> bool:
        """Whether a part of a statement may be a looker; if it is `called`, whether its result may be one."""
        match part:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if called:
                return name in self._giving
            case ast.Name(id=name, ctx=ast.Load()):
                own = any((id(one), name) in self.local for one in around.functions)
                return own or name in self.names or (name in _LOOKERS and name not in around.bound)
            case ast.Attribute(value=value, attr=attr, ctx=ast.Load()):
                owner = last_name(value)
                of_module = attr in _MODULES.get(owner or "", ()) or (
                    owner in self._modules and attr in self.attributes
                )
                return attr in self.names or attr in _OF_FRAMES or of_module
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, given, *_]):
                root = last_name(owner)
                return not isinstance(given, ast.Constant) and (root in _MODULES or root in self._modules)
            # `getattr(sys, "_getframe")`, `vars(tools)["show"]`
            case ast.Constant(value=str(text)):
                return text in _OF_FRAMES or (key and (text in self.names or (module and text in _LOOKERS)))
            case _:
                return False

    def _read_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            if alias.asname is not None or isinstance(statement, ast.ImportFrom):
                self.attributes |= _MODULES.get(alias.name, frozenset())
                if alias.name in _MODULES:
                    self._modules.add(alias.asname or alias.name)
            if isinstance(statement, ast.ImportFrom):
                own = _MODULES.get(statement.module or "", frozenset())
                if alias.name == "*":
                    self.names |= own - _LOOKERS
                elif alias.name in _LOOKERS | own | self.names:
                    self.names.add(alias.asname or alias.name)


def _module(node: ast.AST) -> str:
    """The name of the module that a part of a statement may stand for."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Load())
            | ast.Attribute(attr=name, ctx=ast.Load())
            | ast.Constant(value=str(name))
        ):
            return name
        case _:
            return ""


def _declared(function: FunctionNode) -> Iterator[str]:
    """The names that a function declares to be of the text around it."""
    for node in own_nodes(function.body):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _is_variable(name: str, parts: list[ast.AST]) -> bool:
    """Whether parts of a statement bind a name as a variable only."""
    return not any(
        (isinstance(one, ast.keyword | ast.arg) and one.arg == name)
        or (isinstance(one, ast.Attribute) and one.attr == name)
        for one in parts
    )


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

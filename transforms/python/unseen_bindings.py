"""Names of builtins and modules that a text binds without a statement that says so: `globals()["len"] = f`.

Two answers that agree: `may_bind` needs no syntax tree and may say too much; `bound_in` reads the tree.
"""

import ast
import re
from collections.abc import Set
from functools import lru_cache
from itertools import chain
from typing import Final

from codeaudit.transforms.python.analysis.facts import bound_names, own_nodes
from codeaudit.transforms.python.parsing import (
    last_name,
    normalised,
    parameter_names,
    scopes_of,
    standing_on,
    table_of,
)
from codeaudit.transforms.python.walking import below

ANY_NAME: Final = "*"
"""Stands for every name."""
_WORDS: Final = ("globals", "builtins", "exec", "vars", "locals", "modules")
"""One of these stands on every line that matters."""
_WORD: Final = re.compile("|".join(_WORDS))
_AT_TOP: Final = frozenset({"exec", "vars", "locals"})
"""Functions that may bind names of a module if the module itself calls them."""
_COMPREHENSIONS: Final = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr"})
"""Names of scopes in the interpreter's table."""
_BUILTINS: Final = re.compile(r"(?<!\w)(?:__)?builtins(?:__)?\b(?:\s*\.\s*(\w+))?")
_PLAIN_IMPORT: Final = re.compile(r"^[ \t]*import builtins[ \t]*(?:#.*)?$", re.MULTILINE)
_OWN_MODULE: Final = re.compile(r"modules\b[\s\S]{0,60}?__(?:name|module)__|__globals__|f_globals")
_NAMED: Final = re.compile(r"(?:^|\.)builtins\.(\w*)")
"""A name in a text that names a builtin: `patch("builtins.open")`."""
_LOOKING: Final = frozenset({"get", "keys", "values", "items", "copy"})
"""Methods of a namespace that bind nothing."""
_BINDING: Final = frozenset(
    {
        "__dict__", "__setattr__", "__setitem__", "__delattr__", "__delitem__", "__ior__", "update",
        "setdefault", "pop", "popitem", "clear", "globals", "exec", "vars", "locals", "setattr", "delattr",
    }
)  # fmt: skip
"""Attributes of the module `builtins`, or of its namespace, by which other names may be bound."""
_ASKING: Final = frozenset({"getattr", "hasattr", "dir", "isinstance", "id", "repr", "type"})
"""Functions that bind nothing in a module that they get first."""
_COPYING: Final = frozenset({"set", "list", "tuple", "sorted", "len", "dict", "iter", "any", "all"})
"""Functions that bind nothing in a namespace that they get."""


@lru_cache(maxsize=64)
def may_bind(text: str) -> Set[str]:
    """The names that `bound_in` may find in a text. It needs no syntax tree."""
    plain = normalised(text)
    if not any(map(plain.__contains__, _WORDS)):
        return frozenset()
    anything = frozenset({ANY_NAME})
    table = table_of(text)
    if table is None or _OWN_MODULE.search(plain):
        return anything
    for scope in scopes_of(table):
        names = scope.get_identifiers()
        own = scope.get_type() == "function" and scope.get_name() not in _COMPREHENSIONS
        if not own and scope.get_type() != "class" and not _AT_TOP.isdisjoint(names):
            return anything
        if "globals" in names and (not own or scope.lookup("globals").is_global()):
            return anything
    found = set[str]()
    for match in _BUILTINS.finditer(_PLAIN_IMPORT.sub("", plain)) if "builtins" in plain else ():
        if match[1] is None or match[1] in _BINDING:
            return anything
        found.add(match[1])
    return found


def bound_in(text: str, tree: ast.Module) -> Set[str]:
    """The names that a text may bind in its module, or as builtins, without saying so."""
    statements = list(filter(standing_on(_WORD, text), tree.body))
    nodes = list(chain.from_iterable(map(below, statements)))
    reader = _Reader()
    reader.own = {id(inner) for node in nodes if _binds_globals(node) for inner in below(node)}
    for node in nodes:
        reader.read(node)
    for node in own_nodes(statements):
        reader.read_at_top(node)
    return reader.found


class _Reader:
    """Notes what nodes bind. Nodes come after those around them."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.own: set[int] = set()
        """Nodes of functions that have a variable `globals`."""
        self._plain: set[int] = set()
        """Nodes that are known to bind nothing by themselves."""

    def read(self, node: ast.AST) -> None:
        """Note what one node binds."""
        match node:
            case ast.Subscript(value=value, slice=key) if self._is_namespace(value):
                self._is_plain(value)
                if not isinstance(node.ctx, ast.Load):
                    self._store(key)
                elif isinstance(key, ast.Constant) and key.value in ("__builtins__", "builtins"):
                    self.found.add(ANY_NAME)
            # What a frame belongs to is seldom the module of the text, but may be.
            case ast.Subscript(value=ast.Attribute(attr="f_globals"), slice=key, ctx=ast.Store()):
                self._store(key)
            # Another object stands for the module; its names are bound as before.
            case ast.Subscript(ctx=ast.Store()) if _is_module(node):
                pass
            case ast.Attribute(value=value, attr=attr) if self._is_namespace(value):
                if attr in _LOOKING:
                    self._is_plain(value)
            case ast.Attribute(value=value, attr=attr) if _is_module(value):
                if attr not in _BINDING:
                    self._is_plain(value)
                if not isinstance(node.ctx, ast.Load):
                    self.found.add(attr)
            case ast.Compare(comparators=sides):
                for side in (node.left, *sides):
                    self._is_plain(side)
            # `timeit("f()", globals=globals())`
            case ast.keyword(arg="globals", value=value):
                self._is_plain(value)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, _]) if _is_module(owner):
                self._is_plain(owner)
                self._store(key)
            case ast.Call(func=ast.Name(id=name), args=[owner, *_]) if name in _ASKING and _is_module(owner):
                self._is_plain(owner)
            # `eval("f()", globals())`, `__import__(name, globals(), locals())`
            case ast.Call(func=ast.Name(id="eval" | "__import__"), args=[_, *owners]):
                for owner in owners:
                    self._is_plain(owner)
            case ast.Call(func=ast.Name(id=name), args=[owner, *_]) if (
                name in _COPYING and self._is_namespace(owner)
            ):
                self._is_plain(owner)
            case _:
                self._read_bare(node)

    def _read_bare(self, node: ast.AST) -> None:
        """What may bind any name, because nobody sees what happens to it."""
        match node:
            case ast.Call(func=ast.Name(id="globals")) | ast.Attribute(attr="__globals__"):
                bare = True
            case ast.Name(id="globals"):
                bare = id(node) not in self.own
            case ast.Name(id="builtins" | "__builtins__"):
                bare = True
            case ast.Subscript() | ast.Call() if _is_module(node):
                bare = True
            # `B = "builtins"`, `patch.multiple("builtins", len=f)`, `import_module("builtins")`
            case (
                ast.Assign(value=ast.Constant(value="builtins"))
                | ast.keyword(value=ast.Constant(value="builtins"))
            ):
                bare = True
            case ast.Call(args=arguments) if any(map(_is_text_builtins, arguments)):
                bare = True
            case ast.BinOp(left=left, right=right) if _is_text_builtins(left) or _is_text_builtins(right):
                bare = True
            case ast.Import(names=aliases):
                bare = any(one.name == "builtins" and one.asname for one in aliases)
            case ast.ImportFrom(module=module, names=aliases):
                wanted = {"builtins"} | (_BINDING if module == "builtins" else set())
                bare = any(one.name in wanted for one in aliases)
            # `patch("builtins.open")` of `unittest.mock`
            case ast.Constant(value=str(text)) if "builtins." in text:
                names = _NAMED.findall(text)
                self.found.update(ANY_NAME if not name or name in _BINDING else name for name in names)
                return
            case _:
                return
        if bare and id(node) not in self._plain:
            self.found.add(ANY_NAME)

    def read_at_top(self, node: ast.AST) -> None:
        """Note what a node binds that the module itself evaluates."""
        match node:
            case ast.Call(func=ast.Name(id="exec") as function, args=[_, given, *_]):
                if not isinstance(given, ast.Constant):
                    self._plain.add(id(function))
            case ast.Call(func=ast.Name(id="vars") as function, args=[_]):
                self._plain.add(id(function))
            case ast.Call(func=ast.Name(id="__import__"), args=[_, *owners]):
                for owner in owners:
                    self._is_plain(owner)
            case ast.Subscript(value=ast.Call(func=ast.Name(id=name)) as owner, ctx=ast.Load()):
                if name in _AT_TOP:
                    self._is_plain(owner)
            case ast.Attribute(value=ast.Call(func=ast.Name(id=name)) as owner, attr=attr):
                if name in _AT_TOP and attr in _LOOKING:
                    self._is_plain(owner)
            case ast.Name(id=name, ctx=ast.Load()) if name in _AT_TOP and id(node) not in self._plain:
                self.found.add(ANY_NAME)
            case _:
                pass

    def _is_namespace(self, node: ast.expr) -> bool:
        """Whether an expression gives the names of a module: `globals()`, `f.__globals__`."""
        match node:
            case ast.Call(func=ast.Name(id="globals") as function):
                return id(function) not in self.own
            case ast.Attribute(attr="__globals__") | ast.Name(id="__builtins__"):
                return True
            case _:
                return False

    def _is_plain(self, node: ast.expr) -> None:
        self._plain.add(id(node))
        if isinstance(node, ast.Call):
            self._plain.add(id(node.func))

    def _store(self, key: ast.expr) -> None:
        told = key.value if isinstance(key, ast.Constant) else None
        self.found.add(told if isinstance(told, str) else ANY_NAME)


def _is_module(node: ast.expr) -> bool:
    """Whether an expression is the module `builtins` or the module of the text."""
    match node:
        case ast.Name(id="builtins" | "__builtins__"):
            return True
        case (
            ast.Subscript(value=value, slice=key)
            | ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_])
        ):
            return last_name(value) == "modules" and (
                last_name(key) in ("__name__", "__module__") or _is_text_builtins(key)
            )
        case _:
            return False


def _binds_globals(node: ast.AST) -> bool:
    """Whether a function has a variable `globals`."""
    match node:
        case ast.Lambda():
            return "globals" in parameter_names(node.args)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "globals" in bound_names(node.body) | {*parameter_names(node.args)}
        case _:
            return False


def _is_text_builtins(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "builtins"

"""Names of builtins and modules that a text binds without a statement that says so: `globals()["len"] = f`.

The module of the text may be reached by `import __main__` or `sys.modules[__name__]`, and by the texts
of mock.
"""

import ast
import re
from collections.abc import Callable, Iterator, Set
from typing import Final

from codeaudit.transforms.python.analysis.capabilities import ANY_NAME, PATCHING, SETTERS, patched_in
from codeaudit.transforms.python.analysis.facts import bound_names, own_nodes
from codeaudit.transforms.python.analysis.index import (
    OF_MODULES,
    OWN_MODULE,
    TextIndex,
    names_module,
    text_of,
    words_of,
)
from codeaudit.transforms.python.parsing import last_name, parameter_names
from codeaudit.transforms.python.walking import below

_WORDS: Final = PATCHING | {
    "globals", "__globals__", "f_globals", "builtins", "__builtins__", "exec", "vars", "locals", "modules",
    "f_builtins", "import_module", "__import__", "getmodule", OWN_MODULE,
}  # fmt: skip
"""One of these stands in every text that matters."""
_NAMING: Final = _WORDS - PATCHING
"""One of these, or a text, names what binds; the words of a text may also stand in its comments."""
_INSIDES: Final = frozenset({"__globals__", "f_globals", "f_builtins", "__builtins__"})
"""Namespaces that functions and frames have."""
_GIVING: Final = OF_MODULES | {"getmodule", OWN_MODULE}
"""What may give the module of the text, which then may stand in any variable."""
_AT_TOP: Final = frozenset({"exec", "vars", "locals"})
"""Functions that may bind names of a module if the module itself calls them."""
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


_KEYED: Final = OF_MODULES | _INSIDES
"""What gives a module or a name of one by a key."""
_CALLED: Final = OF_MODULES | _ASKING | _COPYING | {"globals", "setattr", "eval", "get", "__getitem__"}
"""What may give a module or its names, or gets them, in a call."""
_BARE: Final = frozenset({"globals", "builtins", "__builtins__"})


def bound_in(text: str, walked: Callable[[], TextIndex]) -> Set[str]:
    """The names that a text may bind in its module, or as builtins, without saying so.

    Its nodes are only asked for where a word of the text calls for it.
    """
    words = words_of(text)
    if words is not None and words.isdisjoint(_WORDS):
        return frozenset()
    nodes = walked()
    # `getattr(f, "__globals__")`, `case object(__globals__=names)`
    if not _INSIDES.isdisjoint(nodes.spelled | nodes.patterns):
        return frozenset({ANY_NAME})
    in_text = words is None or "builtins" in words
    mentioned = nodes.names | nodes.members | nodes.imported | nodes.imported_names
    giving = not _GIVING.isdisjoint(mentioned) or ("modules" in nodes.spelled and "sys" in mentioned)
    if not in_text and not giving and _NAMING.isdisjoint(mentioned):
        return patched_in(nodes)
    reader = _Reader(nodes.aliases(OWN_MODULE))
    if "globals" in nodes.names and nodes.bound["globals"]:
        scopes = (*nodes.functions, *nodes(ast.Lambda))
        reader.own = {id(inner) for node in scopes if _binds_globals(node) for inner in below(node)}
    # What a node says of its parts comes before what they say themselves.
    rest = [node for node in _relevant(nodes, reader.modules, in_text=in_text) if not reader.read(node)]
    if not _BARE.isdisjoint(nodes.names):
        rest += [node for node in nodes(ast.Name) if node.id in _BARE]
    for node in rest:
        reader.read_bare(node)
    for node in () if _AT_TOP.isdisjoint(nodes.names) else own_nodes(nodes.tree.body):
        reader.read_at_top(node)
    for literal in nodes.texts if in_text else ():
        # `patch("builtins.open")` of `unittest.mock`
        names = _NAMED.findall(literal) if "builtins" in literal else []
        reader.names.update(ANY_NAME if not name or name in _BINDING else name for name in names)
    if giving:
        reader.names.update(_stored(nodes))
    if "exec" in nodes.names and any(map(_binds_outside, nodes(ast.Call))):
        reader.names.add(ANY_NAME)
    return reader.names | patched_in(nodes)


def _relevant(nodes: TextIndex, modules: Set[str], *, in_text: bool) -> Iterator[ast.AST]:
    """The nodes of which `_Reader` may say anything, beside bare names.

    `in_text`: whether a text may be `builtins`.
    """
    for item in nodes(ast.Subscript):
        if item.value.__class__ is ast.Call or last_name(item.value) in _KEYED:
            yield item
    for part in nodes(ast.Attribute):
        made = part.value.__class__ in (ast.Call, ast.Subscript) or part.attr in _INSIDES
        if made or (name := last_name(part.value)) in modules or name in _INSIDES:
            yield part
    yield from nodes(ast.Compare)
    yield from (keyword for keyword in nodes(ast.keyword) if in_text or keyword.arg == "globals")
    yield from (node for node in nodes(ast.Call) if in_text or last_name(node.func) in _CALLED)
    for kind in (ast.Assign, ast.BinOp) if in_text else ():
        yield from nodes(kind)
    yield from (*nodes(ast.Import), *nodes(ast.ImportFrom))


class _Reader:
    """Notes what nodes bind."""

    def __init__(self, modules: Set[str]) -> None:
        self.names: set[str] = set()
        self.modules = modules | {"builtins", "__builtins__"}
        """Names of the module of the text itself, and of that of the builtins."""
        self.own: set[int] = set()
        """Nodes of functions that have a variable `globals`."""
        self._plain: set[int] = set()
        """Nodes that are known to bind nothing by themselves."""

    def read(self, node: ast.AST) -> bool:
        """Note what one node binds, and which of its parts bind nothing; `False` for a node of which only
        `read_bare` tells.
        """
        match node:
            case ast.Subscript(value=value, slice=key) if self._is_namespace(value):
                self._is_plain(value)
                if not isinstance(node.ctx, ast.Load):
                    self._store(key)
                elif isinstance(key, ast.Constant) and key.value in ("__builtins__", "builtins"):
                    self.names.add(ANY_NAME)
            # Any module that is named may be the one of the text.
            case ast.Attribute(value=ast.Subscript() | ast.Call() as owner, attr=attr, ctx=ast.Store()) if (
                names_module(owner) is not None
            ):
                self.names.add(attr)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, _]) if names_module(owner):
                self._is_plain(owner)
                self._store(key)
            # Another object stands for the module; its names are bound as before.
            case ast.Subscript(ctx=ast.Store()) if self._is_module(node):
                pass
            case ast.Attribute(value=value, attr=attr) if self._is_namespace(value):
                if attr in _LOOKING:
                    self._is_plain(value)
            case ast.Attribute(value=value, attr=attr) if self._is_module(value):
                if attr not in _BINDING:
                    self._is_plain(value)
                if not isinstance(node.ctx, ast.Load):
                    self.names.add(attr)
            case ast.Compare(comparators=sides):
                for side in (node.left, *sides):
                    self._is_plain(side)
            # `timeit("f()", globals=globals())`
            case ast.keyword(arg="globals", value=value):
                self._is_plain(value)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, key, _]) if self._is_module(owner):
                self._is_plain(owner)
                self._store(key)
            case ast.Call(func=ast.Name(id=name), args=[owner, *_]) if name in _ASKING and self._is_module(
                owner
            ):
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
                return False
        return True

    def read_bare(self, node: ast.AST) -> None:
        """Note what may bind any name, because nobody sees what happens to it."""
        match node:
            case ast.Call(func=ast.Name(id="globals")):
                bare = True
            case ast.Attribute(attr=attr) if attr in _INSIDES:
                bare = True
            case ast.Name(id="globals"):
                bare = id(node) not in self.own
            case ast.Name(id="builtins" | "__builtins__"):
                bare = True
            case ast.Subscript() | ast.Call() if self._is_module(node):
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
                bare = any(alias.name == "builtins" and alias.asname for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases):
                names = {"builtins"} | (_BINDING if module == "builtins" else set())
                bare = any(alias.name in names for alias in aliases)
            case _:
                return
        if bare and id(node) not in self._plain:
            self.names.add(ANY_NAME)

    def read_at_top(self, node: ast.AST) -> None:
        """Note what a node binds that the module itself evaluates."""
        match node:
            case ast.Call(func=ast.Name(id="exec") as function, args=[_, namespace, *_]):
                if not isinstance(namespace, ast.Constant):
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
                self.names.add(ANY_NAME)
            case _:
                pass

    def _is_module(self, node: ast.expr) -> bool:
        """Whether an expression is the module `builtins` or the module of the text."""
        if isinstance(node, ast.Name):
            return node.id in self.modules
        return names_module(node) in ("builtins", OWN_MODULE)

    def _is_namespace(self, node: ast.expr) -> bool:
        """Whether an expression gives the names of a module: `globals()`, `f.__globals__`."""
        match node:
            case ast.Call(func=ast.Name(id="globals") as function):
                return id(function) not in self.own
            case ast.Name(id="__builtins__"):
                return True
            case ast.Attribute(attr=attr):
                # What a frame belongs to is seldom the module of the text, but may be.
                return attr in _INSIDES
            case _:
                return False

    def _is_plain(self, node: ast.expr) -> None:
        self._plain.add(id(node))
        if isinstance(node, ast.Call):
            self._plain.add(id(node.func))

    def _store(self, key: ast.expr) -> None:
        self.names.add(text_of(key) or ANY_NAME)


def _stored(nodes: TextIndex) -> Iterator[str]:
    """The attributes that a text stores in some object, which may be its own module."""
    for part in nodes(ast.Attribute):
        if part.ctx.__class__ is not ast.Load and last_name(part.value) != "self":
            yield part.attr
    for call in nodes(ast.Call):
        match call.args:
            case [owner, key, *_] if last_name(call.func) in SETTERS and last_name(owner) != "self":
                yield text_of(key) or ANY_NAME
            case _:
                pass


def _binds_outside(call: ast.Call) -> bool:
    """Whether a call runs a text in which `global` may bind a name of the module: `exec("global len")`."""
    match call:
        case ast.Call(func=ast.Name(id="exec"), args=[text], keywords=[]):
            written = text_of(text)
            return written is None or "global" in written
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

"""What calls do: builtins, methods of builtin types, a few functions of standard modules; else anything."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.dependence.effects import ANYTHING, BARRIER, OBSERVES, RAISES
from codeaudit.transforms.python.analysis.facts import use_of
from codeaudit.transforms.python.analysis.knowledge import (
    ASKING,
    BUILTINS,
    COMPUTING,
    CONSUMING,
    CONTAINERS,
    EMPTY_CALLS,
    EXCEPTIONS,
    LAZY,
    MODULE_NAMES,
    MODULES,
    NUMBERS,
    PLAIN,
    RAISING_STR_METHODS,
    REFLECTION,
    SEQUENCES,
    SILENT,
    STR_METHODS,
    VIEWS,
    Use,
)

if TYPE_CHECKING:
    from codeaudit.transforms.python.analysis.effects import Reading

_LOOKS: Final = OBSERVES | RAISES
_ASKED_FOR_TEXT: Final = frozenset({"str", "repr", "ascii", "format"})
"""What these give comes from a method of the value, and may be of a subclass of `str`."""


def call(reading: Reading, node: ast.Call) -> str | None:
    """Collect a call; gives the type of its result where that is certain."""
    func = node.func
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", None)
    if name in REFLECTION:
        reading.flags |= BARRIER
    if isinstance(func, ast.Attribute):
        return _method(reading, node, func)
    if isinstance(func, ast.Name) and func.id in BUILTINS and not reading.is_local(func.id):
        return _builtin(reading, node, func.id)
    return _unknown(reading, node)


def iterated(reading: Reading, node: ast.expr) -> bool:
    """Collect an expression whose items are used up at once, if it is a call that only passes items on."""
    if not isinstance(node, ast.Call) or any(isinstance(part, ast.Starred) for part in node.args):
        return False
    match node.func:
        case ast.Name(id=name) if name in LAZY and not reading.is_local(name) and node.args:
            if any(keyword.arg not in ("start", "strict") for keyword in node.keywords):
                return False
            reading.flags |= RAISES
            for argument in node.args:
                reading.iterate(argument)
            for keyword in node.keywords:
                reading.visit(keyword.value)
            return True
        case ast.Attribute(value=container, attr=attr) if attr in VIEWS and not (node.args or node.keywords):
            if reading.visit(container) != "dict":
                reading.flags |= ANYTHING
            else:
                reading.contents(container)
            return True
        case _:
            return False


def _unknown(reading: Reading, node: ast.Call) -> str | None:
    reading.visit(node.func)
    _arguments(reading, node)
    reading.flags |= ANYTHING
    return None


def _arguments(reading: Reading, node: ast.Call) -> list[str | None]:
    """Collect the arguments; gives the types of the positional ones."""
    kinds: list[str | None] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            reading.iterate(argument.value)
            kinds.append(None)
        else:
            kinds.append(reading.visit(argument))
    for keyword in node.keywords:
        kind = reading.visit(keyword.value)
        if keyword.arg is None and kind != "dict":
            reading.flags |= ANYTHING
    return kinds


# ── builtins ─────────────────────────────────────────────────────────────────────────────────────────────


def _builtin(reading: Reading, node: ast.Call, name: str) -> str | None:
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    count = len(node.args)
    if not (count or node.keywords) and name in EMPTY_CALLS:
        return EMPTY_CALLS[name]
    if name in CONSUMING and not starred and count == 1 and _plain_keywords(reading, node):
        reading.iterate(node.args[0])
        if name not in ("list", "tuple", "any", "all", "bytes"):
            reading.flags |= _LOOKS  # it compares, hashes or adds
        elif name in ("any", "all") or reading.flags & OBSERVES:
            reading.flags |= _LOOKS
        return CONSUMING[name]
    if node.keywords or starred:
        _arguments(reading, node)
        if name not in EXCEPTIONS and name != "dict":
            reading.flags |= ANYTHING
        return "dict" if name == "dict" and not node.args else None
    kinds = _arguments(reading, node)
    first = kinds[0] if kinds else None
    exact = _exact(reading, node, name, kinds)
    if exact is not None:
        return exact
    if name in EXCEPTIONS:
        return None
    if name in SILENT and count <= 1:
        return SILENT[name]
    if name in ASKING and count == 2:
        reading.flags |= 0 if first in PLAIN and _builtin_types(node.args[1]) else OBSERVES
        return ASKING[name]
    if name == "getattr" and count == 3:
        reading.flags |= OBSERVES
        return None
    if name in ("min", "max") and count > 1:
        reading.flags |= 0 if set(kinds) in ({"int"}, {"float"}, {"str"}) else _LOOKS
        return first if len(set(kinds)) == 1 else None
    if name in COMPUTING:
        reading.flags |= _LOOKS
        return None if name in _ASKED_FOR_TEXT else COMPUTING[name]
    reading.flags |= ANYTHING
    return None


def _exact(reading: Reading, node: ast.Call, name: str, kinds: list[str | None]) -> str | None:
    """The result of a builtin on values of types that it takes without raising."""
    first = kinds[0] if kinds else None
    match name, len(kinds):
        case "len", 1 if first in SEQUENCES:
            return "int"
        case "len", 1 if first in CONTAINERS:
            if not reading.is_owned(node.args[0]) and isinstance(node.args[0], ast.Name):
                reading.flags |= OBSERVES
            return "int"
        case "range", 1 | 2 if all(kind == "int" for kind in kinds):
            return "range"
        case "bool", 1 if first in PLAIN:
            return "bool"
        case "str" | "repr", 1 if first in PLAIN:
            reading.flags |= RAISES if first == "int" else 0
            return "str"
        case "int", 1 if first in ("int", "bool"):
            return "int"
        case "float", 1 if first in ("float", "bool"):
            return "float"
        case "abs", 1 if first in NUMBERS:
            return "float" if first == "float" else "int"
        case _:
            return None


def _plain_keywords(reading: Reading, node: ast.Call) -> bool:
    """Collect the keywords `key`, `reverse`, `default` and `start`; false where one may run unknown code."""
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg not in ("key", "reverse", "default", "start"):
            return False
        if keyword.arg != "key":
            reading.visit(value)
        elif isinstance(value, ast.Lambda):
            outer = reading.shadow
            reading.visit(value)
            reading.shadow |= {inner.arg for inner in ast.walk(value.args) if isinstance(inner, ast.arg)}
            reading.visit(value.body)
            reading.shadow = outer
        elif not _is_builtin_function(reading, value):
            return False
    return True


def _is_builtin_function(reading: Reading, node: ast.expr) -> bool:
    match node:
        case ast.Name(id="len" | "str" | "repr" | "int" | "abs" | "float" | "id" | "hash" | "ord" as name):
            return not reading.is_local(name)
        case ast.Attribute(value=ast.Name(id="str" as name)):
            return not reading.is_local(name)
        case ast.Constant(value=None):
            return True
        case _:
            return False


def _builtin_types(node: ast.expr) -> bool:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(
        isinstance(name, ast.Name) and name.id in ("int", "float", "bool", "str", "bytes") for name in names
    )


# ── methods ──────────────────────────────────────────────────────────────────────────────────────────────


def _method(reading: Reading, node: ast.Call, func: ast.Attribute) -> str | None:
    if _is_known_function(reading, func):
        reading.visit(func)
        _arguments(reading, node)
        reading.flags |= _LOOKS
        return None
    receiver = reading.visit(func.value)
    reading.touch(func.value)
    if receiver == "str":
        return _text_method(reading, node, func.attr)
    use = use_of(receiver, node)
    if use is not None:
        return _container_method(reading, node, func.value, use)
    _arguments(reading, node)
    reading.flags |= ANYTHING
    return None


def _is_known_function(reading: Reading, func: ast.Attribute) -> bool:
    if not reading.is_module(func.value):
        return False
    known = MODULES.get(ast.unparse(func.value))
    return known is not None and (not known or func.attr in known)


def is_module_name(node: ast.expr) -> bool:
    """Whether an expression is written like a standard module: `os`, `os.path`, `np`."""
    return (isinstance(node, ast.Name) and node.id in MODULE_NAMES) or ast.unparse(node) in MODULES


def _text_method(reading: Reading, node: ast.Call, attr: str) -> str | None:
    if attr == "join" and len(node.args) == 1 and not node.keywords:
        reading.iterate(node.args[0])
        reading.flags |= RAISES
        return "str"
    kinds = _arguments(reading, node)
    if attr in STR_METHODS and not node.keywords:
        reading.flags |= 0 if all(kind == "str" for kind in kinds) else _LOOKS
        return STR_METHODS[attr]
    if attr in RAISING_STR_METHODS:
        reading.flags |= _LOOKS
        return RAISING_STR_METHODS[attr]
    reading.flags |= ANYTHING
    return None


def _container_method(reading: Reading, node: ast.Call, container: ast.expr, use: Use) -> str | None:
    if use.flags == "iterates":
        reading.iterate(node.args[0])
        reading.flags |= _LOOKS
        kinds: list[str | None] = []
    else:
        kinds = _arguments(reading, node)
    match use.flags:
        case "raises":
            reading.flags |= RAISES | (0 if all(kind in PLAIN for kind in kinds) else OBSERVES)
        case "hashes":
            reading.flags |= 0 if kinds[0] in PLAIN else _LOOKS
        case "compares":
            reading.flags |= _LOOKS
        case _:
            pass
    if use.changes:
        reading.change(container)
    elif not reading.is_owned(container):
        reading.flags |= OBSERVES
    return use.gives

"""The effects of calls: builtins, methods of builtin types, and a few functions of standard modules.

`effects.EffectCollector` calls `call` and `iterated`. The tables are in `knowledge`. A call of anything else
may do anything.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.dependence.effects import ANYTHING, BARRIER, OBSERVES, RAISES
from codeaudit.transforms.python.analysis.facts import method_effect
from codeaudit.transforms.python.analysis.knowledge import (
    BUILTINS,
    CONSUMING,
    CONTAINERS,
    EMPTY_CALLS,
    EXCEPTIONS,
    LAZY,
    MODULE_NAMES,
    MODULES,
    NUMBERS,
    PLAIN,
    PURE,
    RAISING_STR_METHODS,
    READ_ONLY,
    REFLECTION,
    SEQUENCES,
    STATE_TESTS,
    STR_METHODS,
    VIEWS,
    MethodEffect,
)

if TYPE_CHECKING:
    from codeaudit.transforms.python.analysis.effects import PythonEffects

_LOOKS: Final = OBSERVES | RAISES
_ASKED_FOR_TEXT: Final = frozenset({"str", "repr", "ascii", "format"})
"""Builtins whose result comes from a method of the argument, and may therefore be of a subclass of `str`."""


def call(collector: PythonEffects, node: ast.Call) -> str | None:
    """Collect the effects of a call; returns the type of its result if it is certain."""
    func = node.func
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", None)
    if name in REFLECTION:
        collector.flags |= BARRIER
    if isinstance(func, ast.Attribute):
        return _method(collector, node, func)
    if isinstance(func, ast.Name) and func.id in BUILTINS and not collector.is_local(func.id):
        return _builtin(collector, node, func.id)
    return _unknown(collector, node)


def iterated(collector: PythonEffects, node: ast.expr) -> bool:
    """Collect an expression whose items are consumed at once, if it is a call that only passes items on.

    Covers `zip`, `enumerate`, `reversed`, `iter` and the views of a dict. Returns False, with nothing
    collected, for any other expression.
    """
    if not isinstance(node, ast.Call) or any(isinstance(part, ast.Starred) for part in node.args):
        return False
    match node.func:
        case ast.Name(id=name) if name in LAZY and not collector.is_local(name) and node.args:
            if any(keyword.arg not in ("start", "strict") for keyword in node.keywords):
                return False
            collector.flags |= RAISES
            for argument in node.args:
                collector.iterate(argument)
            for keyword in node.keywords:
                collector.visit(keyword.value)
            return True
        case ast.Attribute(value=container, attr=attr) if attr in VIEWS and not (node.args or node.keywords):
            if collector.visit(container) != "dict":
                collector.flags |= ANYTHING
            else:
                collector.contents(container)
            return True
        case _:
            return False


def _unknown(collector: PythonEffects, node: ast.Call) -> str | None:
    collector.visit(node.func)
    _arguments(collector, node)
    collector.flags |= ANYTHING
    return None


def _arguments(collector: PythonEffects, node: ast.Call) -> list[str | None]:
    """Collect the arguments of a call; returns the types of the positional ones."""
    kinds: list[str | None] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            collector.iterate(argument.value)
            kinds.append(None)
        else:
            kinds.append(collector.visit(argument))
    for keyword in node.keywords:
        kind = collector.visit(keyword.value)
        if keyword.arg is None and kind != "dict":
            collector.flags |= ANYTHING
    return kinds


# ── builtins ─────────────────────────────────────────────────────────────────────────────────────────────


def _builtin(collector: PythonEffects, node: ast.Call, name: str) -> str | None:
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    count = len(node.args)
    if not (count or node.keywords) and name in EMPTY_CALLS:
        return EMPTY_CALLS[name]
    if name in CONSUMING and not starred and count == 1 and _plain_keywords(collector, node):
        collector.iterate(node.args[0])
        if name not in ("list", "tuple", "any", "all", "bytes"):
            collector.flags |= _LOOKS  # it compares, hashes or adds
        elif name in ("any", "all") or collector.flags & OBSERVES:
            collector.flags |= _LOOKS
        return CONSUMING[name]
    if node.keywords or starred:
        _arguments(collector, node)
        if name not in EXCEPTIONS and name != "dict":
            collector.flags |= ANYTHING
        return "dict" if name == "dict" and not node.args else None
    kinds = _arguments(collector, node)
    first = kinds[0] if kinds else None
    exact = _exact(collector, node, name, kinds)
    if exact is not None:
        return exact
    if name in EXCEPTIONS:
        return None
    if name in PURE and count <= 1:
        return PURE[name]
    if name in STATE_TESTS and count == 2:
        collector.flags |= 0 if first in PLAIN and _builtin_types(node.args[1]) else OBSERVES
        return STATE_TESTS[name]
    if name == "getattr" and count == 3:
        collector.flags |= OBSERVES
        return None
    if name in ("min", "max") and count > 1:
        collector.flags |= 0 if set(kinds) in ({"int"}, {"float"}, {"str"}) else _LOOKS
        return first if len(set(kinds)) == 1 else None
    if name in READ_ONLY:
        collector.flags |= _LOOKS
        return None if name in _ASKED_FOR_TEXT else READ_ONLY[name]
    collector.flags |= ANYTHING
    return None


def _exact(collector: PythonEffects, node: ast.Call, name: str, kinds: list[str | None]) -> str | None:
    """The result type of a builtin whose argument types it accepts without raising; `None` for any other
    call.
    """
    first = kinds[0] if kinds else None
    match name, len(kinds):
        case "len", 1 if first in SEQUENCES:
            return "int"
        case "len", 1 if first in CONTAINERS:
            if not collector.is_owned(node.args[0]) and isinstance(node.args[0], ast.Name):
                collector.flags |= OBSERVES
            return "int"
        case "range", 1 | 2 if all(kind == "int" for kind in kinds):
            return "range"
        case "bool", 1 if first in PLAIN:
            return "bool"
        case "str" | "repr", 1 if first in PLAIN:
            collector.flags |= RAISES if first == "int" else 0
            return "str"
        case "int", 1 if first in ("int", "bool"):
            return "int"
        case "float", 1 if first in ("float", "bool"):
            return "float"
        case "abs", 1 if first in NUMBERS:
            return "float" if first == "float" else "int"
        case _:
            return None


def _plain_keywords(collector: PythonEffects, node: ast.Call) -> bool:
    """Collect the keywords `key`, `reverse`, `default` and `start`; False if one of them may run unknown
    code.
    """
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg not in ("key", "reverse", "default", "start"):
            return False
        if keyword.arg != "key":
            collector.visit(value)
        elif isinstance(value, ast.Lambda):
            outer = collector.shadow
            collector.visit(value)
            collector.shadow |= {inner.arg for inner in ast.walk(value.args) if isinstance(inner, ast.arg)}
            collector.visit(value.body)
            collector.shadow = outer
        elif not _is_builtin_function(collector, value):
            return False
    return True


def _is_builtin_function(collector: PythonEffects, node: ast.expr) -> bool:
    match node:
        case ast.Name(id="len" | "str" | "repr" | "int" | "abs" | "float" | "id" | "hash" | "ord" as name):
            return not collector.is_local(name)
        case ast.Attribute(value=ast.Name(id="str" as name)):
            return not collector.is_local(name)
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


def _method(collector: PythonEffects, node: ast.Call, func: ast.Attribute) -> str | None:
    if _is_known_function(collector, func):
        collector.visit(func)
        _arguments(collector, node)
        collector.flags |= _LOOKS
        return None
    receiver = collector.visit(func.value)
    collector.touch(func.value)
    if receiver == "str":
        return _text_method(collector, node, func.attr)
    use = method_effect(receiver, node)
    if use is not None:
        return _container_method(collector, node, func.value, use)
    _arguments(collector, node)
    collector.flags |= ANYTHING
    return None


def _is_known_function(collector: PythonEffects, func: ast.Attribute) -> bool:
    if not collector.is_module(func.value):
        return False
    known = MODULES.get(ast.unparse(func.value))
    return known is not None and (not known or func.attr in known)


def is_module_name(node: ast.expr) -> bool:
    """Whether an expression is spelled like a standard module: `os`, `os.path`, `np`."""
    return (isinstance(node, ast.Name) and node.id in MODULE_NAMES) or ast.unparse(node) in MODULES


def _text_method(collector: PythonEffects, node: ast.Call, attr: str) -> str | None:
    if attr == "join" and len(node.args) == 1 and not node.keywords:
        collector.iterate(node.args[0])
        collector.flags |= RAISES
        return "str"
    kinds = _arguments(collector, node)
    if attr in STR_METHODS and not node.keywords:
        collector.flags |= 0 if all(kind == "str" for kind in kinds) else _LOOKS
        return STR_METHODS[attr]
    if attr in RAISING_STR_METHODS:
        collector.flags |= _LOOKS
        return RAISING_STR_METHODS[attr]
    collector.flags |= ANYTHING
    return None


def _container_method(
    collector: PythonEffects, node: ast.Call, container: ast.expr, use: MethodEffect
) -> str | None:
    if use.flags == "iterates":
        collector.iterate(node.args[0])
        collector.flags |= _LOOKS
        kinds: list[str | None] = []
    else:
        kinds = _arguments(collector, node)
    match use.flags:
        case "raises":
            collector.flags |= RAISES | (0 if all(kind in PLAIN for kind in kinds) else OBSERVES)
        case "hashes":
            collector.flags |= 0 if kinds[0] in PLAIN else _LOOKS
        case "compares":
            collector.flags |= _LOOKS
    if use.changes:
        collector.change(container)
    elif not collector.is_owned(container):
        collector.flags |= OBSERVES
    return use.gives

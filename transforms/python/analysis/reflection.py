"""Whether a text may look at its own variables other than by their names: `locals()`, `eval`, frames, code
objects.

Renaming changes what such a look finds, and so does moving a statement that binds a variable. Whatever name
the looker goes by in the text counts: `show = locals` and `from builtins import locals as show` hide the
call.
"""

import ast
import re
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import file_tree, normalised, statements_with
from codeaudit.transforms.python.walking import below

_LISTING: Final = frozenset({"vars", "dir"})
"""They list the variables only if they are called without an argument."""
_SUPER: Final = "super"
"""It reads the first parameter of its caller. A call by this name shows that, a call by another does not."""
_CLASS: Final = "__class__"
"""The variable around a method that `super()` reads too; `nonlocal` lets a method bind it."""
_NAMES: Final = frozenset(
    {
        "locals", "eval", "exec", "__builtins__", "_getframe", "_getframemodulename", "currentframe",
        "getouterframes",
    }
)  # fmt: skip
_OF_BUILTINS: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
_OF_INSPECT: Final = frozenset({"stack", "trace"})
_LOOKERS: Final = _NAMES | _OF_BUILTINS
"""Names of functions that look at the variables of their caller."""
_ATTRIBUTES: Final = frozenset(
    {
        "_getframe", "_getframemodulename", "_current_frames", "currentframe", "getouterframes",
        "getinnerframes", "getframeinfo", "getclosurevars", "getfullargspec", "getargvalues", "getcallargs",
        "settrace", "setprofile", "f_locals", "f_back", "f_code", "tb_frame", "gi_frame", "cr_frame",
        "ag_frame", "gi_code", "cr_code", "ag_code", "__code__", "__closure__", "co_varnames", "co_freevars",
        "co_cellvars", "co_nlocals", "co_consts", "co_names",
    }
)  # fmt: skip
"""Attributes that give a frame or a code object, or belong to one."""


class _Mentions(NamedTuple):
    """What a tree mentions."""

    imported: frozenset[str]
    names: frozenset[str]
    attributes: frozenset[str]
    texts: frozenset[str]
    bare: frozenset[str]
    """Names of `_LISTING` that are not called with an argument, `_SUPER` if it is not called, and `_CLASS` if
    it is bound.
    """


def _is_bound(node: ast.Name) -> bool:
    return node.ctx.__class__ is not ast.Load


@lru_cache(maxsize=4)
def _mentions(tree: ast.AST) -> _Mentions:
    """What this very tree mentions; several transforms ask about one."""
    imported: set[str] = set()
    names: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    bare: set[str] = set()
    called: set[int] = set()
    for node in below(tree):
        kind = node.__class__
        if kind is ast.Name:
            assert isinstance(node, ast.Name)
            names.add(node.id)
            shown = node.id in _LISTING or node.id == _SUPER
            if (shown and id(node) not in called) or (node.id == _CLASS and _is_bound(node)):
                bare.add(node.id)
        elif kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            attributes.add(node.attr)
        elif kind is ast.Call:
            assert isinstance(node, ast.Call)
            if isinstance(node.func, ast.Name) and (node.args or node.func.id == _SUPER):
                called.add(id(node.func))
        elif kind is ast.Constant:
            assert isinstance(node, ast.Constant)
            if isinstance(node.value, str):
                texts.add(node.value)
        elif kind is ast.Import:
            assert isinstance(node, ast.Import)
            imported.update(alias.name for alias in node.names)
        elif kind is ast.ImportFrom:
            assert isinstance(node, ast.ImportFrom)
            imported.add(node.module or "")
            attributes.update(alias.name for alias in node.names)
    return _Mentions(*map(frozenset, (imported, names, attributes, texts, bare)))


def looks_at_variables(tree: ast.AST, outer: Set[str] | None = None) -> bool:
    """Whether code in a tree may read variables or constants of the code around it as data.

    `outer` are the names that the tree takes from outside; if it is `None`, any spelling counts, whatever it
    means.
    """
    imported, names, attributes, texts, bare = _mentions(tree)
    wanted = _ATTRIBUTES
    if "builtins" in imported or "builtins" in names:
        wanted |= _OF_BUILTINS
    if "inspect" in imported or "inspect" in names:
        wanted |= _OF_INSPECT
    # `getattr(frame, "f_locals")` names the attribute in a text.
    spelled = not (texts.isdisjoint(wanted) and texts.isdisjoint(_NAMES))
    if outer is None:
        wanted |= _OF_BUILTINS | _OF_INSPECT
    else:
        names, bare = names & outer, bare & outer
    spoken = not (names.isdisjoint(_NAMES) and names.isdisjoint(_ATTRIBUTES))
    return bool(bare) or spoken or spelled or not attributes.isdisjoint(wanted)


_LOOKER: Final = rf"(?<!\w)(?:{'|'.join(sorted(_LOOKERS | _OF_INSPECT))})\b(?!\s*[(=.:\[])"
_UNCALLED: Final = re.compile(_LOOKER)
_GIVEN: Final = re.compile(rf"(?:[=,(\[{{:*.]|\b(?:or|and|else|if|import)\b)(?:\s|\\|#.*\n)*{_LOOKER}")
"""A looker that is not called, where a value or a name of an import may stand. The words alone are found
faster.
"""
_KEEPING: Final = frozenset({"partial", "staticmethod"})
"""Functions that return something which calls their argument."""


@lru_cache(maxsize=64)
def other_names(text: str) -> frozenset[str]:
    """Names that a file gives to functions that look at variables: `show = locals`.

    Names that it hands to other code are not followed.
    """
    plain = normalised(text)
    if _UNCALLED.search(plain) is None or _GIVEN.search(plain) is None:
        return frozenset()
    try:
        tree = file_tree(text)
    except SourceError:
        return frozenset()
    found: set[str] = set()
    for node in chain.from_iterable(map(below, statements_with(_UNCALLED, text, tree))):
        match node:
            case ast.Assign(targets=targets, value=value) if _is_looker(value):
                found.update(*map(_stored, targets))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ) if _is_looker(value):
                found.update(_stored(target))
            # `globals().update(show=locals)`
            case ast.keyword(arg=str(name), value=value) if _is_looker(value):
                found.add(name)
            case ast.ImportFrom(module=module, names=aliases):
                wanted = _LOOKERS | _OF_INSPECT if module == "inspect" else _LOOKERS
                found.update(one.asname or one.name for one in aliases if one.name in wanted)
    return frozenset(found)


def _is_looker(value: ast.expr) -> bool:
    """Whether a value may be a function that looks at variables, or may hold one."""
    match value:
        case ast.Attribute(value=ast.Name(id="inspect"), attr=name) if name in _OF_INSPECT:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _LOOKERS
        case ast.IfExp(body=first, orelse=second):
            return _is_looker(first) or _is_looker(second)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(map(_is_looker, parts))
        case ast.Dict(values=parts):
            return any(map(_is_looker, parts))
        case ast.NamedExpr(value=inner) | ast.Starred(value=inner) | ast.Lambda(body=inner):
            return _is_looker(inner)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=parts):
            return name in _KEEPING and any(map(_is_looker, parts))
        case _:
            return False


def _stored(target: ast.expr) -> Iterator[str]:
    """The names and attributes that an assignment binds, and the containers and keys that it fills."""
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from chain.from_iterable(map(_stored, parts))
        case ast.Subscript(value=value, slice=key):
            yield from _stored(value)
            yield from _stored(key)
        case ast.Starred(value=value):
            yield from _stored(value)


_PRIVATE: Final = re.compile(r"\b_\w*")


@lru_cache(maxsize=4)
def spells_twice(text: str) -> bool:
    """Whether a text may spell one name in two ways: inside `class C`, `__x` means `_C__x`.

    Any word counts, also in strings: `getattr(self, "_C__x")`.
    """
    words = set(_PRIVATE.findall(normalised(text)))
    hidden = tuple(word for word in words if word.startswith("__") and not word.endswith("__"))
    return any(word.endswith(hidden) and not word.startswith("__") for word in words)

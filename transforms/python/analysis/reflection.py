"""Whether a text may look at its own variables other than by their names: `locals()`, `eval`, frames, code
objects.

Renaming changes what such a look finds, and so does moving a statement that binds a variable. Whatever name
the looker goes by in the text counts: `show = locals` and `from builtins import locals as show` hide the
call.
"""

import ast
import re
from collections.abc import Set
from functools import lru_cache
from typing import Final, NamedTuple

from codeaudit.transforms.python.parsing import normalised
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


_PRIVATE: Final = re.compile(r"\b_\w*")


@lru_cache(maxsize=4)
def spells_twice(text: str) -> bool:
    """Whether a text may spell one name in two ways: inside `class C`, `__x` means `_C__x`.

    Any word counts, also in strings: `getattr(self, "_C__x")`.
    """
    words = set(_PRIVATE.findall(normalised(text)))
    hidden = tuple(word for word in words if word.startswith("__") and not word.endswith("__"))
    return any(word.endswith(hidden) and not word.startswith("__") for word in words)

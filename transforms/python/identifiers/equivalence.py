"""Proof by comparison of trees that two texts are the same function up to the names of its variables.

Two functions are alpha-equivalent if their syntax trees differ in names only, and a bijection between their
variables maps each occurrence of one to the occurrence of the other at the same place. The variables of both
are resolved from their own text, so a name that was captured, missed or replaced in the wrong place is seen.
"""

import ast
from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.python.analysis.scopes import PythonScopes

_NAMES: Final[dict[type[ast.AST], str]] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
    ast.alias: "asname",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
    ast.Global: "names",
    ast.Nonlocal: "names",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
}
"""The fields that hold names covered by `PythonScopes.slots`; they are compared through the variables."""


def is_renaming(before: PythonScopes, after: PythonScopes, names: Mapping[int, str]) -> bool:
    """Whether `after` is `before` with exactly these variables renamed and all others unchanged."""
    if before.slots != after.slots or len(before.bindings) != len(after.bindings):
        return False
    for old, new in zip(before.bindings, after.bindings, strict=True):
        if new.name != names.get(old.number, old.name) or (old.view, old.scope) != (new.view, new.scope):
            return False
    return same_structure(before.tree, after.tree)


def is_merge(before: PythonScopes, after: PythonScopes, gone: int, into: int) -> bool:
    """Whether `after` is `before` with the variable `gone` made the variable `into`, and all others
    unchanged.
    """
    if len(before.slots) != len(after.slots):
        return False
    image: dict[int, int] = {}
    for old, new in zip(before.slots, after.slots, strict=True):
        old = into if old == gone else old
        if image.setdefault(old, new) != new or before.bindings[old].name != after.bindings[new].name:
            return False
    return len(set(image.values())) == len(image) and same_structure(before.tree, after.tree)


def same_structure(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are equal except for the names of variables and for positions."""
    pending: list[tuple[object, object]] = [(one, other)]
    while pending:
        here, there = pending.pop()
        if here.__class__ is not there.__class__:
            return False
        if isinstance(here, ast.AST):
            skipped = _NAMES.get(here.__class__)
            for name in here._fields:
                left, right = getattr(here, name, None), getattr(there, name, None)
                if name == skipped:
                    if (left is None) is not (right is None):
                        return False
                elif left is not right:
                    pending.append((left, right))
        elif isinstance(here, list):
            assert isinstance(there, list)
            if len(here) != len(there):
                return False
            pending += zip(here, there, strict=True)
        elif here != there:
            return False
    return True

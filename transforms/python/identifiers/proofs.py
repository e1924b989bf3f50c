"""Proofs that two texts are one program up to names.

`same_code` is the proof by the compiler. The result of a renaming is compiled anew, and its code object is
compared with that of the original: every instruction with its argument, every constant by type and value,
every name of a global or attribute, every flag. Instructions refer to variables by index, so code that is
equal in all of this does the same whatever its variables are called. The interpreter's own symbol tables,
made from both texts, decide which occurrences are one variable. A name that was captured, missed, merged or
put in a wrong place gives other instructions, constants or names. Code that the compiler drops (`if 0:`,
annotations of locals) does not run and is not compared.

This proof may fail for a correct renaming, because the compiler sorts the variables of closures by name. Then
`PythonVariables.proof` compares the syntax trees with `is_renaming`. Two functions are alpha-equivalent if
their syntax trees differ in names only, and a bijection between their variables maps each occurrence of one
to the occurrence of the other at the same place. The variables of both are resolved from their own text.
"""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Final

from codeaudit.transforms.python.analysis.scopes import PythonScopes

_PLAIN = frozenset({str, bytes, int, bool, type(None), type(Ellipsis)})


@dataclass(frozen=True, slots=True)
class NameMapping:
    """The names that each old name may have become. A name that is not a key must stay."""

    variables: Mapping[str, Collection[str]]
    """Locals, cells and free variables; two variables of one name may get two names."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """Names of functions and classes, also as parts of qualified names."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Names that the compiler itself stores as constants: parameters as keys of `__annotations__`, the names
    of classes. No constant of the text may equal one of them.
    """
    globals: Mapping[str, str] = field(default_factory=dict)
    """Names of the module; none of them may also be the name of an attribute or a keyword."""


def same_code(before: CodeType, after: CodeType, image: NameMapping) -> bool:
    """Whether two code objects, with all code objects in them, are equal up to these names."""
    if (
        before.co_code != after.co_code
        or before.co_exceptiontable != after.co_exceptiontable
        or before.co_flags != after.co_flags
        or before.co_argcount != after.co_argcount
        or before.co_posonlyargcount != after.co_posonlyargcount
        or before.co_kwonlyargcount != after.co_kwonlyargcount
        # A renaming moves no line, and tracebacks show the first one.
        or before.co_firstlineno != after.co_firstlineno
        or len(before.co_consts) != len(after.co_consts)
    ):
        return False
    if not (
        _same_variables(before.co_varnames, after.co_varnames, image.variables)
        and _same_variables(before.co_cellvars, after.co_cellvars, image.variables)
        and _same_variables(before.co_freevars, after.co_freevars, image.variables)
        and _mapped(before.co_names, image.globals) == after.co_names
        and _title(before.co_name, image.definitions) == after.co_name
        and _title(before.co_qualname, image.definitions) == after.co_qualname
    ):
        return False
    for old, new in zip(before.co_consts, after.co_consts, strict=True):
        qualified = (old, new) == (before.co_qualname, after.co_qualname)
        if not (_same_constant(old, new, image) or qualified) and (
            not isinstance(old, str) or image.constants.get(old, old) != new
        ):
            return False
    return True


def has_cells(code: CodeType) -> bool:
    """Whether a code object, or one in it, has variables of closures."""
    return bool(code.co_cellvars or code.co_freevars) or any(
        isinstance(constant, CodeType) and has_cells(constant) for constant in code.co_consts
    )


def _same_variables(
    before: tuple[str, ...], after: tuple[str, ...], variables: Mapping[str, Collection[str]]
) -> bool:
    if len(before) != len(after):
        return False
    for old, new in zip(before, after, strict=True):
        image = variables.get(old)
        if (new != old) if image is None else (new not in image):
            return False
    return True


def _mapped(names: tuple[str, ...], image: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(image.get(name, name) for name in names) if image else names


def _title(name: str, image: Mapping[str, str]) -> str:
    return ".".join(image.get(part, part) for part in name.split(".")) if image else name


def _same_constant(before: object, after: object, image: NameMapping) -> bool:
    """Whether two constants are equal in type, sign and value: `1`, `1.0` and `True` differ, as do `0.0` and
    `-0.0`.
    """
    if before.__class__ is not after.__class__:
        return False
    if before.__class__ in _PLAIN:
        return before == after
    if isinstance(before, CodeType) and isinstance(after, CodeType):
        return same_code(before, after, image)
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_same_constant, before, after, [image] * len(before)))
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        # Equal sets iterate in any order, and `{1}` is equal to `{True}`.
        there = {value: value for value in after}
        return before == after and all(_same_constant(value, there[value], image) for value in before)
    # Floats and complex numbers: `repr` distinguishes 0.0 from -0.0, and `nan` equals itself.
    return repr(before) == repr(after)


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
    # Equal slots and trees have equal scopes and views: what makes a name a local or a global, such as a
    # target or `global`, is an occurrence of the name, and stands in the same scope.
    return (
        before.slots == after.slots
        and [names.get(old.number, old.name) for old in before.bindings]
        == [new.name for new in after.bindings]
        and same_structure(before.tree, after.tree)
    )


def is_merge(before: PythonScopes, after: PythonScopes, gone: int, into: int) -> bool:
    """Whether `after` is `before` with the variable `gone` made the variable `into`, and all others
    unchanged.
    """
    if len(before.slots) != len(after.slots):
        return False
    image: dict[int, int] = {}
    for old, new in zip(before.slots, after.slots, strict=True):
        # The merged variable must be one with `into`, and every other one must stay apart.
        old = into if old == gone else old
        if image.setdefault(old, new) != new or before.bindings[old].name != after.bindings[new].name:
            return False
    return len(set(image.values())) == len(image) and same_structure(before.tree, after.tree)


def same_structure(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are equal except for the names of variables and for positions."""
    # A list instead of recursion: a sum of a thousand terms is a tree of that depth.
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
                    # `except E` and `except E as x` differ in more than a name.
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

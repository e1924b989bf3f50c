"""Proof by the compiler that two texts are one program up to names.

The result of a renaming is read and compiled anew, and its code is compared with that of the original:
every instruction with its argument, every constant by type and value, every name of a global or attribute,
every flag. Instructions refer to variables by place, so code that is equal in all of this does the same
whatever its variables are called. Which occurrences are one variable is decided here by the interpreter's
own symbol tables, from both texts: a name that was captured, missed, merged or put in a wrong place gives
other instructions, constants or names. What the compiler drops (`if 0:`, annotations of locals) does not
run and is not compared.

The proof is of one kind only: it may fail for a good renaming, since the compiler puts the variables of
closures in the order of their names; then trees have to be compared (`equivalence`).
"""

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import CodeType

_PLAIN = frozenset({str, bytes, int, bool, type(None), type(Ellipsis)})


@dataclass(frozen=True, slots=True)
class Image:
    """What may have become of each name; a name that is not a key stays."""

    variables: Mapping[str, Collection[str]]
    """Locals, cells and free variables; two variables of one name may part."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Names that functions and classes bear, also as parts of qualified names."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Names that the compiler itself makes constants of: parameters as keys of `__annotations__`, classes as
    what they are told to be called. No constant of the text equals one of them."""
    globals: Mapping[str, str] = field(default_factory=dict)
    """Names of the module; none of them may also be an attribute's or a keyword's."""


def compiled(source: str) -> CodeType | None:
    """The code of a text, with assertions; `None` where it does not compile, as with a stray `nonlocal`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, "<unit>", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def same_code(before: CodeType, after: CodeType, image: Image) -> bool:
    """Whether the codes are equal up to these names, with all codes in them."""
    if (
        before.co_code != after.co_code
        or before.co_exceptiontable != after.co_exceptiontable
        or before.co_flags != after.co_flags
        or before.co_argcount != after.co_argcount
        or before.co_posonlyargcount != after.co_posonlyargcount
        or before.co_kwonlyargcount != after.co_kwonlyargcount
        or before.co_firstlineno != after.co_firstlineno
        or len(before.co_consts) != len(after.co_consts)
    ):
        return False
    if not (
        _same_variables(before.co_varnames, after.co_varnames, image.variables)
        and _same_variables(before.co_cellvars, after.co_cellvars, image.variables)
        and _same_variables(before.co_freevars, after.co_freevars, image.variables)
        and _mapped(before.co_names, image.globals) == after.co_names
        and _title(before.co_name, image.titles) == after.co_name
        and _title(before.co_qualname, image.titles) == after.co_qualname
    ):
        return False
    for old, new in zip(before.co_consts, after.co_consts, strict=True):
        qualified = (old, new) == (before.co_qualname, after.co_qualname)
        if not (_same_constant(old, new, image) or qualified) and (
            not isinstance(old, str) or image.keys.get(old, old) != new
        ):
            return False
    return True


def _same_variables(
    before: tuple[str, ...], after: tuple[str, ...], variables: Mapping[str, Collection[str]]
) -> bool:
    if before == after:
        return all(name in variables.get(name, (name,)) for name in before)
    if len(before) != len(after):
        return False
    return all(new in variables.get(old, (old,)) for old, new in zip(before, after, strict=True))


def _mapped(names: tuple[str, ...], image: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(image.get(name, name) for name in names) if image else names


def _title(name: str, image: Mapping[str, str]) -> str:
    return ".".join(image.get(part, part) for part in name.split(".")) if image else name


def _same_constant(before: object, after: object, image: Image) -> bool:
    """Equal in type, sign and value: `1`, `1.0` and `True` differ, as do `0.0` and `-0.0`."""
    if before.__class__ is not after.__class__:
        return False
    if before.__class__ in _PLAIN:
        return before == after
    if isinstance(before, CodeType) and isinstance(after, CodeType):
        return same_code(before, after, image)
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(map(_same_constant, before, after, [image] * len(before)))
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        return sorted(map(repr, before)) == sorted(map(repr, after))  # equal sets may list in another order
    return repr(before) == repr(after)

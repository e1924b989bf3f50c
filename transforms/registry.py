"""Names to lazy targets. Looking a name up imports one module; listing imports none.

A name such as `rename` means what it says in every language that has it: `TRANSFORMS.get(name)` is the first
language's transform, `transform_for(name, language)` that of the language asked for.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from codeaudit.transforms import algebra, x86
from codeaudit.transforms.entries import TransformEntry
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.java import control_flow as java_control_flow
from codeaudit.transforms.java import dead_code as java_dead_code
from codeaudit.transforms.java import declarations as java_declarations
from codeaudit.transforms.java import expressions as java_expressions
from codeaudit.transforms.java import identifiers as java_identifiers
from codeaudit.transforms.java import layout as java_layout
from codeaudit.transforms.java import members as java_members
from codeaudit.transforms.java import order as java_order
from codeaudit.transforms.java import strings as java_strings
from codeaudit.transforms.python import (
    control_flow,
    dead_code,
    expressions,
    identifiers,
    layout,
    notes,
    order,
    strings,
)
from codeaudit.transforms.registration import Registry, unknown

FAMILIES: Final = (
    order,
    identifiers,
    expressions,
    control_flow,
    dead_code,
    strings,
    layout,
    notes,
    java_order,
    java_identifiers,
    java_expressions,
    java_control_flow,
    java_declarations,
    java_members,
    java_dead_code,
    java_strings,
    java_layout,
    x86,
    algebra,
)
"""The packages of engines; each holds its `ENTRIES`. Importing them imports no engine."""


_IDENTITY: Final = TransformEntry(
    "codeaudit.transforms.identity:IDENTITY",
    "the unchanged input again: the model's own noise",
    family="identity",
    kind="identity",
)

_NAMED: Final = tuple((name, entry) for family in FAMILIES for name, entry in family.ENTRIES.items())

BY_LANGUAGE: Final[Mapping[str, Mapping[str, TransformEntry]]] = {
    language: {name: entry for name, entry in _NAMED if entry.language == language}
    for language in dict.fromkeys(entry.language for _, entry in _NAMED)
}
"""The transforms of each language by name."""

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "identity": _IDENTITY,
    **{
        name: next(entries[name] for entries in BY_LANGUAGE.values() if name in entries) for name, _ in _NAMED
    },
}
"""Every name with what there is to say of it before it is imported, in the first language that has it."""

TRANSFORMS: Registry[Transform] = Registry(
    "transform", ENTRIES, group="codeaudit.transforms", expects=Transform, project=True
)

_OWN: Final[Mapping[str, Registry[Transform]]] = {
    language: Registry("transform", entries) for language, entries in BY_LANGUAGE.items()
}

STANDARD: Mapping[str, tuple[str, ...]] = {
    "python": ("reorder", "rename", "rename-parameters"),
    "java": ("reorder", "rename", "rename-parameters"),
    "x86": ("reorder", "rename"),
    "algebra": ("rename",),
}
"""The meaning-keeping transforms of a default run, by language."""

CONTROLS: Mapping[str, tuple[str, ...]] = {
    "python": ("reorder-breaking", "rename-merging"),
    "java": ("reorder-breaking", "rename-merging"),
    "x86": ("reorder-breaking", "rename-merging"),
    "algebra": ("rename-merging", "rename-views"),
}
"""The controls of a default run, by language."""

ALL: Final = "all"
"""The name for every transform that keeps the meaning and the interface."""


def transform_for(name: str, language: str) -> Transform:
    """What a name means in a language; where it means nothing there, the transform of another language,
    which refuses that language's samples with a reason to count.

    Raises:
        UsageError: no such name in any language; the message holds the nearest one.
    """
    own = _OWN.get(language)
    return own.get(name) if own is not None and name in own else TRANSFORMS.get(name)


def languages(name: str) -> tuple[str, ...]:
    """The languages in which a name is a transform's; none for the identity, which is for all."""
    return tuple(language for language, entries in BY_LANGUAGE.items() if name in entries)


def expand(
    names: Iterable[str], *, interface: bool = True, languages: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of transforms, with each family's name replaced by its meaning-keeping members.

    Where languages are given, a family (and `all`) stands for its members in these. Without `interface` it
    leaves out the members that change what callers can see: parameters, docstrings, annotations.

    Raises:
        UsageError: no such transform or family; the message holds the nearest one.
    """
    families = {entry.family for _, entry in _NAMED}
    found: list[str] = []
    for name in names:
        if name in ENTRIES:
            found.append(name)
        elif name == ALL or name in families:
            found += [
                member
                for member, entry in _NAMED
                if entry.kind == "preserving"
                and name in (ALL, entry.family)
                and (not languages or entry.language in languages)
                and not (entry.interface and (name == ALL or not interface))
            ]
        else:
            raise UsageError(unknown("transform", name, [*ENTRIES, *sorted(families), ALL]))
    return tuple(dict.fromkeys(found))

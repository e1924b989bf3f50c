"""`hygienic/NAME` and `unknown/NAME`: a transform under another level of what is assumed of macros.

The option `--macros` makes such names. So every suite, table and gate tells the levels apart, and no
comparison pairs one with another. A name without a level is of the first one, `known`.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

if TYPE_CHECKING:
    from codeaudit.transforms.interface import Transform

MacroLevel: TypeAlias = Literal["known", "hygienic", "unknown"]
"""`known`: the macros of a file and its headers are looked up; those of a text without a file are assumed to
be hygienic, which the evidence says. `hygienic`: so are all that the file does not define. `unknown`: any
word that the text does not explain may be a macro that does anything."""

MACRO_LEVELS: Final[tuple[MacroLevel, ...]] = get_args(MacroLevel)
ASSUMED_OF_MACROS: Final[Mapping[MacroLevel, str]] = {
    "known": "macros of the file and its headers are looked up",
    "hygienic": "macros that the file does not define are assumed to be hygienic",
    "unknown": "any word that the text does not explain may be a macro",
}
"""What each level means, in one line."""


def in_level(name: str) -> tuple[MacroLevel, str]:
    """The level in a name such as `unknown/rename`, and the rest of it."""
    first, slash, rest = name.partition("/")
    for level in MACRO_LEVELS[1:] if slash else ():
        if level == first:
            return level, rest
    return "known", name


def level_name(name: str, level: MacroLevel) -> str:
    """The name of a transform under a level; under the first one it is its own name."""
    return name if level == "known" else f"{level}/{name}"


def at_level(transform: "Transform", level: MacroLevel) -> "Transform":
    """The same transform under a level. One that assumes nothing of macros only gets the name."""
    found = cast("Any", transform)
    known = {one.name for one in fields(found)} if is_dataclass(found) else set()
    changed: dict[str, object] = {"name": level_name(found.name, level)} if "name" in known else {}
    if "macros" in known:
        changed["macros"] = level
    if "parts" in known:  # a mixture
        changed["parts"] = tuple(at_part(part, level) for part in found.parts)
    return cast("Transform", replace(found, **changed))


def at_part(transform: "Transform", level: MacroLevel) -> "Transform":
    """A part of a mixture, which keeps the name by which its moves are known."""
    found = cast("Any", transform)
    has_level = is_dataclass(found) and "macros" in {one.name for one in fields(found)}
    return cast("Transform", replace(found, macros=level)) if has_level else transform


def load(name: str, language: str = "") -> "Transform":
    """The transform that a name with a level means in a language.

    Raises:
        UsageError: the transform does not exist.
        CannotAudit: it is a broken plug-in's.
    """
    from codeaudit.transforms.registry import TRANSFORMS, transform_for

    level, plain = in_level(name)
    return at_level(transform_for(plain, language) if language else TRANSFORMS.get(plain), level)

"""`hygienic/NAME` and `unknown/NAME`: a transform under another level of what is assumed of macros.

The option `--macros` makes such names (`registry.transform_at_level`). So every suite, table and gate tells
the levels apart, and no comparison pairs one with another. A name without a level is of the first one,
`known`.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

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

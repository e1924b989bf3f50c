"""`hygienic/NAME` and `unknown/NAME`: a transform under another level of what is assumed of macros."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.levels import MacroLevel, in_level, level_name
from codeaudit.transforms.registry import TRANSFORMS, transform_for


def at_level(transform: Transform, level: MacroLevel) -> Transform:
    """The same transform under a level. One that assumes nothing of macros only gets the name."""
    found = cast("Any", transform)
    known = {one.name for one in fields(found)} if is_dataclass(found) else set()
    changed: dict[str, object] = {"name": level_name(found.name, level)} if "name" in known else {}
    if "macros" in known:
        changed["macros"] = level
    if "parts" in known:  # a mixture
        changed["parts"] = tuple(at_part(part, level) for part in found.parts)
    return cast("Transform", replace(found, **changed))


def at_part(transform: Transform, level: MacroLevel) -> Transform:
    """A part of a mixture, which keeps the name by which its moves are known."""
    found = cast("Any", transform)
    has_level = is_dataclass(found) and "macros" in {one.name for one in fields(found)}
    return cast("Transform", replace(found, macros=level)) if has_level else transform


def load(name: str, language: str = "") -> Transform:
    """The transform that a name with a level means in a language.

    Raises:
        UsageError: the transform does not exist.
        CannotAudit: it is a broken plug-in's.
    """
    level, plain = in_level(name)
    return at_level(transform_for(plain, language) if language else TRANSFORMS.get(plain), level)

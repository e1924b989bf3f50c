"""Symbolic algebra: is one expression the derivative of another? Variables under other names."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_PAIR: Final = "mul a0 sin mul y x =? mul a0 mul y cos mul y x"

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "rename": TransformEntry(
        "codeaudit.transforms.algebra.rename:RENAME",
        "coefficients become other coefficients, inputs other than x other inputs",
        family="algebra",
        language="algebra",
        example=_PAIR,
        twin="rename-merging",
    ),
    "rename-merging": TransformEntry(
        "codeaudit.transforms.algebra.merging:RENAME_MERGING",
        "control: at one place a variable has another one's name, which changes the answer",
        family="algebra",
        kind="control",
        language="algebra",
        example=_PAIR,
    ),
    "rename-views": TransformEntry(
        "codeaudit.transforms.algebra.exchange:RENAME_VIEWS",
        "control: x and another variable change names, which changes the answer",
        family="algebra",
        kind="control",
        language="algebra",
        example=_PAIR,
    ),
}

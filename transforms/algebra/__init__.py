"""Symbolic algebra: is one expression the derivative of another? Transforms that rename the variables."""

from typing import Final

from codeaudit.transforms.language import Language, TransformFamily, changes, keeps

_PAIR: Final = "mul a0 sin mul y x =? mul a0 mul y cos mul y x"


FAMILY: Final = TransformFamily.of(
    __name__,
    "algebra",
    "Symbolic algebra: is one expression the derivative of another? Variables under other names.",
    keeps(
        "rename:RENAME",
        "coefficients become other coefficients, inputs other than x other inputs",
        _PAIR,
        "rename-merging",
    ),
    changes(
        "rename:RENAME_MERGING",
        "at one place a variable has another one's name, which changes the answer",
        _PAIR,
    ),
    changes("rename:RENAME_VIEWS", "x and another variable change names, which changes the answer", _PAIR),
)


ALGEBRA: Final = Language(
    name="algebra",
    title="algebra",
    units="expressions",
    example="mul a0 sin mul y x =? mul a0 mul y cos mul y x",
    families=(FAMILY,),
    standard=("rename",),
    controls=("rename-merging", "rename-views"),
    canonical="codeaudit.transforms.algebra.views:canonical",
)

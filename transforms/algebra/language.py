"""The record of symbolic algebra: pairs of expressions, of which one may be the derivative of the other."""

from typing import Final

from codeaudit.transforms import algebra
from codeaudit.transforms.language import Language

ALGEBRA: Final = Language(
    name="algebra",
    title="algebra",
    units="expressions",
    example="mul a0 sin mul y x =? mul a0 mul y cos mul y x",
    families=(algebra.FAMILY,),
    standard=("rename",),
    controls=("rename-merging", "rename-views"),
    canonical="codeaudit.transforms.algebra.views:canonical",
)

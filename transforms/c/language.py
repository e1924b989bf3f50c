"""The record of C."""

from typing import Final

from codeaudit.transforms.c import families, identifiers, order
from codeaudit.transforms.c.ledger import LEDGER
from codeaudit.transforms.language import Language

C: Final = Language(
    name="c",
    title="C",
    units="functions",
    statements="codeaudit.transforms.c.parsing:statements",
    fence="c",
    example="int f(int a, int b) {\n    int c = a + b;\n    b += c;\n    return b;\n}\n",
    families=(identifiers.FAMILY, *families.FAMILIES, order.FAMILY),
    standard=("rename", "rename-parameters", "reorder"),
    controls=("rename-merging", "reorder-breaking"),
    ledger=LEDGER,
    has_macros=True,
    shown_in="codeaudit.transforms.c.ledger:shown_in",
    canonical="codeaudit.transforms.c.canonical:canonicalise",
    parse="codeaudit.transforms.c.parsing:read",
    function_context="codeaudit.transforms.c.files:function_context",
    endings=(".c", ".h"),
    files="codeaudit.transforms.c.files:C_FILES",
)
"""C: transforms that rename and rewrite functions, and the analysis that proves them."""

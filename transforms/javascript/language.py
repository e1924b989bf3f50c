"""The record of JavaScript."""

from typing import Final

from codeaudit.transforms.javascript import identifiers, order
from codeaudit.transforms.javascript.families import (
    CONTROL_FLOW,
    DEAD_CODE,
    DECLARATIONS,
    EXPRESSIONS,
    LAYOUT_OF_TEXT,
    PROSE,
)
from codeaudit.transforms.javascript.ledger import LEDGER
from codeaudit.transforms.language import Language

JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    units="functions",
    statements="codeaudit.transforms.javascript.parsing:statements",
    fence="js",
    example="function f(a, b) {\n    let c = a + b;\n    b += c;\n    return b;\n}\n",
    families=(
        order.FAMILY,
        identifiers.FAMILY,
        EXPRESSIONS,
        CONTROL_FLOW,
        DECLARATIONS,
        DEAD_CODE,
        LAYOUT_OF_TEXT,
        PROSE,
    ),
    standard=("reorder", "rename", "rename-parameters"),
    controls=("reorder-breaking", "rename-merging"),
    ledger=LEDGER,
    shown_in="codeaudit.transforms.javascript.ledger:shown_in",
    parse="codeaudit.transforms.javascript.parsing:read",
    canonical="codeaudit.transforms.javascript.canonical:canonicalise",
    function_context="codeaudit.transforms.javascript.files:function_context",
    obstacle_in_file="codeaudit.transforms.javascript.files:obstacle_in_file",
    endings=(".js", ".mjs", ".cjs", ".jsx"),
    files="codeaudit.transforms.javascript.files:JAVASCRIPT_FILES",
)
"""JavaScript: transforms that rename and rewrite functions, and the analysis that proves them."""

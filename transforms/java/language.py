"""The record of Java."""

from typing import Final

from codeaudit.transforms.java import identifiers, members, order, strings
from codeaudit.transforms.java.families import (
    CONTROL_FLOW,
    DEAD_CODE,
    DECLARATIONS,
    EXPRESSIONS,
    LAYOUT_OF_TEXT,
)
from codeaudit.transforms.java.ledger import LEDGER
from codeaudit.transforms.language import Language

JAVA: Final = Language(
    name="java",
    title="Java",
    units="methods",
    statements="codeaudit.transforms.java.parsing:statements",
    fence="java",
    example="int f(int a, int b) {\n    int c = a + b;\n    b += c;\n    return b;\n}\n",
    families=(
        order.FAMILY,
        identifiers.FAMILY,
        EXPRESSIONS,
        CONTROL_FLOW,
        DECLARATIONS,
        members.FAMILY,
        DEAD_CODE,
        strings.FAMILY,
        LAYOUT_OF_TEXT,
    ),
    standard=("reorder", "rename", "rename-parameters"),
    controls=("reorder-breaking", "rename-merging"),
    ledger=LEDGER,
    shown_in="codeaudit.transforms.java.ledger:shown_in",
    function_context="codeaudit.transforms.java.files:function_context",
    obstacle_in_file="codeaudit.transforms.java.files:obstacle_in_file",
    parse="codeaudit.transforms.java.parsing:read",
    canonical="codeaudit.transforms.java.canonical:canonicalise",
    endings=(".java",),
    files="codeaudit.transforms.java.files:JAVA_FILES",
)

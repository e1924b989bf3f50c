"""The record of Python."""

from typing import Final

from codeaudit.transforms.language import Language
from codeaudit.transforms.python import (
    assumed,
    control_flow,
    dead_code,
    expressions,
    identifiers,
    layout,
    notes,
    order,
    prose,
    strings,
)
from codeaudit.transforms.python.ledger import LEDGER

PYTHON: Final = Language(
    name="python",
    title="Python",
    units="functions",
    fence="python",
    example="def f(a, b):\n    c = a + b\n    for d in c:\n        b += d\n    return b, c\n",
    families=(
        order.FAMILY,
        identifiers.FAMILY,
        expressions.FAMILY,
        control_flow.FAMILY,
        dead_code.FAMILY,
        strings.FAMILY,
        layout.FAMILY,
        notes.FAMILY,
        assumed.FAMILY,
        prose.FAMILY,
    ),
    standard=("reorder", "rename", "rename-parameters"),
    controls=("reorder-breaking", "rename-merging"),
    ledger=LEDGER,
    shown_in="codeaudit.transforms.python.analysis.capabilities:DeniedEntries",
    forms={"codemod": "codeaudit.transforms.python.codemod:load"},
    function_context="codeaudit.transforms.python.function_context:function_context",
    obstacle_in_file="codeaudit.transforms.python.function_context:obstacle_in_file",
    parse="codeaudit.transforms.python.parsing:parse",
    content="codeaudit.transforms.python.parsing:content",
    statements="codeaudit.transforms.python.parsing:statements",
    canonical="codeaudit.transforms.python.canonical:canonicalise",
    endings=(".py",),
    named_endings=(".pyi",),
    files="codeaudit.transforms.python.files:PYTHON_FILES",
)

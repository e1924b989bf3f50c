"""The seeded bugs of JavaScript and TypeScript (`strategies.defects`), beyond the catalogue's controls."""

from dataclasses import replace
from typing import Final

from codeaudit.transforms.javascript.parsing import TYPESCRIPT
from codeaudit.transforms.javascript.rewriting import JavaScriptRewriting, JavaScriptSource
from codeaudit.transforms.strategies.defects import DefectKinds, defects
from codeaudit.transforms.strategies.dialect import CodeText
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding


def _calculates(code: CodeText, node: Node) -> bool:
    """Whether `+` joins no text, as far as the function shows."""
    return node.operator != "+" or not any(
        inner.kind in ("string_literal", "template_string") or code.type(inner) == "string"
        for inner in node.walk()
    )


def _alike(code: CodeText, one: Binding, other: Binding) -> bool:
    """Whether the values are of one kind, or nothing is known of both; in TypeScript the types are written
    alike."""
    assert isinstance(code, JavaScriptSource)
    types = [
        None if binding.node is None or binding.node.child("type") is None
        else code.text(binding.node.part("type"))
        for binding in (one, other)
    ]  # fmt: skip
    return types[0] == types[1] and code.type_of_variable(one) == code.type_of_variable(other)


KINDS: Final = DefectKinds(
    comparisons={
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    },
    operators={
        "+": ("-",), "-": ("+",), "*": ("+", "/"), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",),
        ">>>": (">>",), "&": ("|",), "|": ("&",),
    },
    calculates=_calculates,
    alike=_alike,
    fixed=frozenset({"switch_case", "literal_type", "enum_assignment"}),
    dropped={"await_expression": "await-forgotten"},
)  # fmt: skip
"""What people mistake in JavaScript."""

DEFECTS: Final = tuple(JavaScriptRewriting.of(defect) for defect in defects(KINDS))

"""Of JavaScript."""
DEFECTS_OF_TYPESCRIPT: Final = tuple(
    replace(defect, language=TYPESCRIPT, languages=frozenset({TYPESCRIPT})) for defect in DEFECTS
)

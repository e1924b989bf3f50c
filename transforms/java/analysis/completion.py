"""Where control goes in Java (Java Language Specification, 14.22).

The scope of pattern variables depends on it, and the order of statements: javac rejects unreachable ones.
"""

from typing import Final

from codeaudit.transforms.java.parsing import CALLABLES
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.reader import Node

_MATCHING: Final = frozenset({"pattern", "record_pattern", "guard"})
"""Parts of a label that are no constants."""

FLOW: Final = Flow(
    nested=CALLABLES | {"lambda_expression", "class_body"},
    varying=frozenset(
        {"method_invocation", "instanceof_expression", "object_creation_expression", "null_literal",
         "array_access", "assignment_expression", "update_expression", "this"}
    ),
    # `null`, a pattern and `Type.CONSTANT` may make a `switch` name every case.
    plain_labels=frozenset(
        {"identifier", "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal",
         "binary_integer_literal", "character_literal", "string_literal", "unary_expression",
         "binary_expression", "parenthesized_expression", "cast_expression", "ternary_expression"}
    ),
)  # fmt: skip


def names_constant(label: Node) -> bool:
    """Whether a label of a `switch` names something that may be a constant of an enum: `A` or `E.A`."""
    pending = [child for child in label.children if child.kind not in _MATCHING]
    return any(inner.kind == "identifier" for child in pending for inner in child.walk())

"""Operands of an expression that may be evaluated in another order without a visible difference.

The rules that swap or move operands ask for it. A `False` means only that the text does not show it.
"""

from typing import Final

from codeaudit.transforms.java.analysis.types import INTEGRAL, PRIMITIVE, Types
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.source import JavaSource, bare

_LITERALS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal", "character_literal", "string_literal",
     "true", "false", "null_literal"}
)  # fmt: skip
_FAILING: Final = frozenset({"/", "%"})


def literal(node: Node) -> bool:
    """Whether an expression is a literal, also in parentheses."""
    return bare(node).kind in _LITERALS


def steady(code: JavaSource, types: Types, node: Node, other: Node) -> bool:
    """Whether an expression may be evaluated before or after another one without a difference.

    This holds for a literal, `this`, and a primitive local that the other expression does not assign. It does
    not hold for a boxed local: unboxing may raise, before or after the other expression.
    """
    node = bare(node)
    if node.kind in _LITERALS or node.kind == "this":
        return True
    return pure(code, types, node) and not written(code, other) & _read(code, node)


def pure(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression only computes with primitive locals and literals, and cannot raise."""
    node = bare(node)
    match node.kind:
        case kind if kind in _LITERALS:
            return kind not in ("null_literal", "string_literal")
        case "identifier":
            return types.of(node) in PRIMITIVE
        case "unary_expression":
            return pure(code, types, node.children[0])
        case "cast_expression":
            return types.of(node) in PRIMITIVE and pure(code, types, node.part("value"))
        case "binary_expression" if len(node.children) == 2:
            left, right = node.children
            if node.operator in _FAILING and types.of(node) in (INTEGRAL | {None}):
                return False
            return types.of(node) in PRIMITIVE and pure(code, types, left) and pure(code, types, right)
        case "ternary_expression":
            return types.of(node) in PRIMITIVE and all(pure(code, types, child) for child in node.children)
        case _:
            return False


def reference(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression is certainly `null` or a local of a type that is never unboxed."""
    node = bare(node)
    if node.kind in ("null_literal", "this", "string_literal"):
        return True
    found = types.of(node) if node.kind == "identifier" else None
    return found is not None and (found == "String" or found.endswith("[]"))


def written(code: JavaSource, node: Node) -> frozenset[int]:
    """The numbers of the variables that an expression or statement assigns."""
    found = set()
    for inner in node.walk():
        if inner.kind in ("assignment_expression", "update_expression"):
            binding = code.binding(bare(inner.children[0]))
            if binding is not None:
                found.add(binding.number)
    return frozenset(found)


def _read(code: JavaSource, node: Node) -> frozenset[int]:
    bindings = (code.binding(inner) for inner in node.walk())
    return frozenset(binding.number for binding in bindings if binding is not None)

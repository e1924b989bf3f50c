"""Which operands of an expression may be evaluated in another order without anybody seeing it."""

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
    """Whether an expression is a literal, perhaps in parentheses."""
    return bare(node).kind in _LITERALS


def steady(code: JavaSource, types: Types, node: Node, other: Node) -> bool:
    """Whether it does not matter if an expression is evaluated before or after another one: a literal,
    `this`, or a primitive local to which the other does not assign.

    A boxed local is unboxed where it stands, which may fail before or after the other; so it is none.
    """
    node = bare(node)
    if node.kind in _LITERALS or node.kind == "this":
        return True
    return pure(code, types, node) and not written(code, other) & _read(code, node)


def pure(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression only computes with primitive locals and literals, and cannot fail."""
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
    """Whether an expression is `null` or a local of a type that is never unboxed, for certain."""
    node = bare(node)
    if node.kind in ("null_literal", "this", "string_literal"):
        return True
    found = types.of(node) if node.kind == "identifier" else None
    return found is not None and (found == "String" or found.endswith("[]"))


def written(code: JavaSource, node: Node) -> frozenset[int]:
    """The variables to which an expression or statement assigns, by number."""
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

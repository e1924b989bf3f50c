"""Parentheses that change nothing come and go; the syntax tree has to stay the same but for them."""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import JavaSource, level, needed, over, span
from codeaudit.transforms.patches import Patch, Site

NEEDED: Final = "parentheses are needed"
_WRAPPED: Final = frozenset(
    {"binary_expression", "ternary_expression", "method_invocation", "identifier", "cast_expression",
     "instanceof_expression", "string_literal", "decimal_integer_literal", "array_access", "field_access",
     "unary_expression", "object_creation_expression"}
)  # fmt: skip
_AROUND: Final = frozenset(
    {"binary_expression", "return_statement", "variable_declarator", "assignment_expression",
     "argument_list", "ternary_expression"}
)  # fmt: skip


def _insert(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.nodes:
        parent = node.parent
        if node.kind not in _WRAPPED or parent is None or parent.kind not in _AROUND:
            continue
        if node.field in ("name", "left") and parent.kind in ("variable_declarator", "assignment_expression"):
            continue
        if node.field == "left" and node.kind in ("identifier", "field_access") and parent.operator in "+-":
            continue  # `(a) - b` looks like a cast
        yield Site(((over(node, "(", span(node), ")"),),), "parentheses", code.line(node))


def _remove(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("parenthesized_expression"):
        if len(node.children) != 1 or not _optional(node):
            continue
        inner = node.children[0]
        if level(inner) < needed(node) or inner.kind in ("lambda_expression", "switch_expression"):
            yield Refused(NEEDED)
            continue
        before = code.source[node.start - 1 : node.start]
        after = code.source[node.end : node.end + 1]
        changes = (
            Patch(node.start, node.start + 1, (" " if _joins(before) else "",)),
            Patch(node.end - 1, node.end, (" " if _joins(after) else "",)),
        )
        yield Site((changes,), "no parentheses", code.line(node))


def _optional(node: Node) -> bool:
    """Whether the grammar has an expression here, with or without parentheses."""
    parent = node.parent
    return parent is not None and (
        parent.kind in _AROUND or (parent.kind == "parenthesized_expression" and len(parent.children) == 1)
    )


def _joins(sign: bytes) -> bool:
    """Whether a word or sign would run together with what is in parentheses."""
    return sign.isalnum() or sign in (b"_", b"$", b"+", b"-", b"&", b"|") or sign > b"\x7f"


INSERT_PARENTHESES: Final = Rewriting(
    name="insert-parentheses", find=_insert, nothing="no expression", proof="tree"
)
REMOVE_PARENTHESES: Final = Rewriting(
    name="remove-parentheses", find=_remove, nothing="no parentheses", proof="tree"
)

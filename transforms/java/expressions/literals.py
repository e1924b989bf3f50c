"""Literals and locals as expressions of the same type and value.

What is constant stays constant (Java Language Specification, 15.29), so that reachability, labels of a switch
and implicit narrowing are what they were.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import Types
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import (
    RELATION,
    SUM,
    UNARY,
    JavaSource,
    bare,
    fitted,
    needed,
    over,
    span,
)
from codeaudit.transforms.patches import Site

LEAST: Final = "literal belongs to its sign"
TARGET: Final = "a variable stands there, not its value"
_WHOLE: Final = frozenset({"int", "long"})
_INTEGERS: Final = frozenset({"decimal_integer_literal", "hex_integer_literal"})


def _booleans(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("true", "false"):
        other = "!false" if node.kind == "true" else "!true"
        told = "1 == 1" if node.kind == "true" else "1 == 0"
        options = (
            (over(node, *fitted((other,), UNARY, needed(node))),),
            (over(node, *fitted((told,), RELATION - 1, needed(node))),),
        )
        yield Site(options, f"{node.kind} as an expression", code.line(node))


def _arithmetic(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("identifier", *_INTEGERS):
        if not _is_value(node):
            continue
        if types.of(node) not in _WHOLE:
            continue
        if _signed(node):
            yield Refused(LEAST)
        elif _target(node):
            yield Refused(TARGET)
        else:
            parts = fitted((span(node), " + 0"), SUM, needed(node))
            yield Site(((over(node, *parts),),), "0 added", code.line(node))


def _is_value(node: Node) -> bool:
    """Whether an identifier or number may be an operand: no name of a declaration, a member or a label."""
    parent = node.parent
    if parent is None or node.field in ("name", "field") or parent.kind == "method_reference":
        return False
    return not (parent.kind == "lambda_expression" and node.field == "parameters") and parent.kind not in (
        "labeled_statement", "break_statement", "continue_statement", "inferred_parameters", "resource",
        "scoped_identifier",
    )  # fmt: skip


def _signed(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.kind == "parenthesized_expression":
        parent = parent.parent
    return parent is not None and parent.kind == "unary_expression" and parent.operator in ("-", "+")


def _target(node: Node) -> bool:
    """Whether an expression is assigned to."""
    here, parent = node, node.parent
    while parent is not None and parent.kind == "parenthesized_expression":
        here, parent = parent, parent.parent
    return parent is not None and (
        parent.kind == "update_expression"
        or (parent.kind == "assignment_expression" and here.field == "left")
    )


def _booleans_wrong(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("true", "false"):
        if any(bare(one).kind in ("true", "false") for one in _conditions(node)):
            yield Refused("literal is a condition")
            continue
        other = "false" if node.kind == "true" else "true"
        yield Site(((over(node, other),),), f"{node.kind} becomes {other}", code.line(node))


def _conditions(node: Node) -> Iterator[Node]:
    """The condition of a statement in which a literal stands, which decides what can be reached."""
    above: Node | None = node
    while above is not None and not above.kind.endswith("statement"):
        if above.field == "condition":
            yield above
        above = above.parent


def _arithmetic_wrong(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("identifier", *_INTEGERS):
        if not _is_value(node) or types.of(node) not in _WHOLE or _signed(node) or _target(node):
            continue
        parent = node.parent
        if parent is None or parent.kind not in ("binary_expression", "return_statement"):
            continue
        parts = fitted((span(node), " + 1"), SUM, needed(node))
        yield Site(((over(node, *parts),),), "1 added", code.line(node))


BOOL_LITERALS: Final = Rewriting(name="bool-literals", find=_booleans, nothing="no true or false")
IDENTITY_ARITHMETIC: Final = Rewriting(name="identity-arithmetic", find=_arithmetic, nothing="no int or long")
BOOL_LITERALS_WRONG: Final = Rewriting(
    name="bool-literals-wrong", find=_booleans_wrong, nothing="no true or false", kind="control"
)
IDENTITY_ARITHMETIC_WRONG: Final = Rewriting(
    name="identity-arithmetic-wrong", find=_arithmetic_wrong, nothing="no int or long in an operation",
    kind="control",
)  # fmt: skip

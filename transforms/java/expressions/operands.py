"""Operands: in the other order, and literals and locals as expressions of the same type and value.

Java evaluates operands from left to right, and unboxing may fail where an operand stands. So one operand has
to be a literal or a primitive local that the other does not assign, or both compute with such alone.

What is constant stays constant (Java Language Specification, 15.29), so that reachability, labels of a switch
and implicit narrowing are what they were: `byte b = 1 + 0;` compiles.
"""

from itertools import combinations
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import (
    NULL,
    NUMERIC,
    PRIMITIVE,
    is_movable_past,
    is_pure,
    is_reference,
)
from codeaudit.transforms.java.precedence import OPERATORS, RELATION, SUM, UNARY
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    each,
    operator_span,
    precedence,
    replace,
    replace_grouped,
    span,
)
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.syntax.reader import Node

ORDER: Final = "order of evaluation could be seen"
UNKNOWN: Final = "operands of unknown type"
TEXT: Final = "operands of + may be strings"
SIGNED: Final = "literal belongs to its sign"
TARGET: Final = "a variable stands there, not its value"
TYPES_DIFFER: Final = "no two arguments of one known type"
_COMMUTING: Final = frozenset({"+", "*", "&", "|", "^", "==", "!="})
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OTHER_OPERATORS: Final = {
    "<": ("<=", ">"), ">": (">=", "<"), "<=": ("<", ">="), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
}  # fmt: skip
_WHOLE: Final = frozenset({"int", "long"})
_INTEGERS: Final = frozenset({"decimal_integer_literal", "hex_integer_literal"})


# ── the other order ──────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _swap(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a + b` as `b + a`."""
    if node.operator not in _COMMUTING:
        return None
    if node.operator == "+" and not all(code.types.numeric(side) for side in node.children):
        return Refused(TEXT)
    return _exchanged(code, node, node.operator) if _is_unordered(code, node) else Refused(ORDER)


@each("binary_expression")
def _flip(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a < b` as `b > a`."""
    if node.operator not in _MIRRORED:
        return None
    return _exchanged(code, node, _MIRRORED[node.operator]) if _is_unordered(code, node) else Refused(ORDER)


def _is_unordered(code: JavaSource, node: Node) -> bool:
    """Whether nobody sees which operand of an operation is evaluated first."""
    types, (left, right) = code.types, node.children
    if is_movable_past(types, left, right) or is_movable_past(types, right, left):
        return True
    return any(all(known(types, side) for side in node.children) for known in (is_pure, is_reference))


def _exchanged(code: JavaSource, node: Node, operator: str) -> Site | Refused:
    """The site that exchanges two operands; refused if a comment stands between them."""
    left, right = node.children
    if code.comments_between(node.start, left, right):
        return Refused(COMMENT)
    mark, least = operator_span(node), OPERATORS[operator]
    parts: tuple[Part, ...] = (
        *_apart(code, right, least), Span(left.end, mark.start), operator,
        Span(mark.end, right.start), *_apart(code, left, least + 1),
    )  # fmt: skip
    return code.site(node, f"operands of {node.operator}", replace(node, *parts))


def _apart(code: JavaSource, node: Node, least: int) -> tuple[Part, ...]:
    """An operand that does not run together with an operator before it, as `-b` in `a--b`."""
    if precedence(node) < least or code.text(node)[0] in "+-":
        return "(", span(node), ")"
    return (span(node),)


# ── other spellings ──────────────────────────────────────────────────────────────────────────────────────


@each("true", "false")
def _booleans(code: JavaSource, node: Node) -> Site:
    """`true` as `!false` or `1 == 1`."""
    negation, comparison = ("!false", "1 == 1") if node.kind == "true" else ("!true", "1 == 0")
    options = (
        (replace_grouped(node, (negation,), UNARY),),
        (replace_grouped(node, (comparison,), RELATION - 1),),
    )
    return Site(options, f"{node.kind} as an expression", code.line(node))


@each("identifier", *_INTEGERS)
def _arithmetic(code: JavaSource, node: Node) -> Site | Refused | None:
    """`n` as `n + 0`, for int and long."""
    if not is_value(node) or code.type(node) not in _WHOLE:
        return None  # of a short the sum is an int, and `-0.0 + 0` is 0.0
    if _is_signed(node):
        return Refused(SIGNED)  # `-2147483648` is no int without its sign (JLS 3.10.1)
    if is_target(node):
        return Refused(TARGET)
    return code.site(node, "0 added", replace_grouped(node, (span(node), " + 0"), SUM))


def is_value(node: Node) -> bool:
    """Whether an identifier or number may be an operand: no name of a declaration, a member or a label."""
    parent = node.parent
    if parent is None or node.field in ("name", "field") or parent.kind == "method_reference":
        return False
    return not (parent.kind == "lambda_expression" and node.field == "parameters") and parent.kind not in (
        "labeled_statement", "break_statement", "continue_statement", "inferred_parameters", "resource",
        "scoped_identifier",
    )  # fmt: skip


def _is_signed(node: Node) -> bool:
    """Whether a sign stands before an expression, also before parentheses around it."""
    above = next((one for one in node.ancestors() if one.kind != "parenthesized_expression"), None)
    return above is not None and above.kind == "unary_expression" and above.operator in ("-", "+")


def is_target(node: Node) -> bool:
    """Whether an expression is assigned to; `(n) = 1` is allowed, too."""
    here, parent = node, node.parent
    while parent is not None and parent.kind == "parenthesized_expression":
        here, parent = parent, parent.parent
    if parent is None:
        return False
    is_left = parent.kind == "assignment_expression" and here.field == "left"
    return is_left or parent.kind == "update_expression"


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _swapped_wrong(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a - b` as `b - a`, for operands of one numeric type."""
    left, right = node.children
    if node.operator not in ("-", "/", "%", "<<", ">>") or code.text(left) == code.text(right):
        return None
    if code.type(left) != code.type(right) or code.type(left) not in NUMERIC:
        return Refused(UNKNOWN)
    if node.operator in ("/", "%") and left.unparenthesized.kind.endswith("literal"):
        return Refused("literal would divide")  # `0 / n` would become `n / 0`, which always fails
    return _exchanged(code, node, node.operator)


@each("binary_expression")
def _flipped_wrong(code: JavaSource, node: Node) -> Site | None:
    """`a < b` as `a <= b` or `a > b`, and the like."""
    others = _OTHER_OPERATORS.get(node.operator)
    if others is None or any(inner.kind == "instanceof_expression" for inner in node.walk()):
        return None
    if node.operator in ("==", "!=") and not {code.type(side) for side in node.children} <= PRIMITIVE | {
        None
    }:
        return None
    mark = operator_span(node)
    options = tuple((Patch(mark.start, mark.end, (other,)),) for other in others)
    return Site(options, f"{node.operator} becomes another", code.line(node))


@each("true", "false")
def _booleans_wrong(code: JavaSource, node: Node) -> Site | Refused:
    """`true` as `false`, and the other way round."""
    for above in (node, *node.ancestors()):
        if above.kind.endswith("statement"):
            break
        if above.field == "condition" and above.unparenthesized.kind in ("true", "false"):
            # `while (true)` decides which statements are reachable.
            return Refused("literal is a condition")
    other = "false" if node.kind == "true" else "true"
    return code.site(node, f"{node.kind} becomes {other}", replace(node, other))


@each("identifier", *_INTEGERS)
def _arithmetic_wrong(code: JavaSource, node: Node) -> Site | None:
    """`n` as `n + 1`."""
    if not is_value(node) or code.type(node) not in _WHOLE or _is_signed(node) or is_target(node):
        return None
    if node.parent is None or node.parent.kind not in ("binary_expression", "return_statement"):
        return None
    return code.site(node, "1 added", replace_grouped(node, (span(node), " + 1"), SUM))


@each("argument_list")
def _arguments_swapped(code: JavaSource, node: Node) -> Site | Refused | None:
    """Two arguments of one type are exchanged, so that the call still compiles."""
    options = tuple(
        (replace(one, span(other)), replace(other, span(one)))
        for one, other in combinations(node.children, 2)
        if code.text(one) != code.text(other)
        and code.type(one) == code.type(other)
        and code.type(one) not in (None, NULL)
    )
    if options:
        return Site(options, "two arguments exchanged", code.line(node))
    return Refused(TYPES_DIFFER) if len(node.children) > 1 else None


SWAP_OPERANDS: Final = Rewriting(name="swap-operands", find=_swap, nothing="no operator that commutes")
FLIP_COMPARISONS: Final = Rewriting(name="flip-comparisons", find=_flip, nothing="no comparison")
BOOL_LITERALS: Final = Rewriting(name="bool-literals", find=_booleans, nothing="no true or false")
IDENTITY_ARITHMETIC: Final = Rewriting(name="identity-arithmetic", find=_arithmetic, nothing="no int or long")
OPERANDS_SWAPPED_WRONG: Final = Rewriting(
    name="operands-swapped-wrong", find=_swapped_wrong, nothing="no operator that does not commute",
    kind="control",
)  # fmt: skip
COMPARISON_FLIPPED_WRONG: Final = Rewriting(
    name="comparison-flipped-wrong", find=_flipped_wrong, nothing="no comparison", kind="control"
)
BOOL_LITERALS_WRONG: Final = Rewriting(
    name="bool-literals-wrong", find=_booleans_wrong, nothing="no true or false", kind="control"
)
IDENTITY_ARITHMETIC_WRONG: Final = Rewriting(
    name="identity-arithmetic-wrong", find=_arithmetic_wrong, nothing="no int or long in an operation",
    kind="control",
)  # fmt: skip
ARGUMENTS_SWAPPED: Final = Rewriting(
    name="arguments-swapped", find=_arguments_swapped, nothing="no call with two arguments", kind="control"
)

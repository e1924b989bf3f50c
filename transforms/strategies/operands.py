"""Operands: in the other order, and literals and variables as expressions of the same type and value.

Operands are exchanged only where nobody sees which one is evaluated first (`CodeText.is_unordered`). What a
compiler evaluates stays a constant: `true` as `!false`, `1` as `1 + 0`.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, UNKNOWN, CodeStrategy, CodeText, Find, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import operator_span, replace, span

ORDER: Final = "order of evaluation could be seen"
SIGNED: Final = "literal belongs to its sign"
TARGET: Final = "a variable stands there, not its value"
TYPES_DIFFER: Final = "no two arguments of one known type"
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OTHER_OPERATORS: Final = {
    "<": ("<=", ">"), ">": (">=", "<"), "<=": ("<", ">="), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
}  # fmt: skip


# ── the other order ──────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _swap(code: CodeText, node: Node) -> Site | Refused | None:
    """`a + b` as `b + a`."""
    if node.operator not in code.dialect.commuting:
        return None
    if reason := code.commutes(node):
        return Refused(reason)
    return _exchanged(code, node, node.operator) if code.is_unordered(node) else Refused(ORDER)


@each("binary_expression")
def _flip(code: CodeText, node: Node) -> Site | Refused | None:
    """`a < b` as `b > a`."""
    if node.operator not in _MIRRORED:
        return None
    return _exchanged(code, node, _MIRRORED[node.operator]) if code.is_unordered(node) else Refused(ORDER)


def _exchanged(code: CodeText, node: Node, operator: str) -> Site | Refused:
    """The site that exchanges two operands; refused if a comment stands between them."""
    left, right = node.children
    if code.comments_between(node.start, left, right):
        return Refused(COMMENT)
    mark, least = operator_span(node), code.precedence.operators[operator]
    parts: tuple[Part, ...] = (
        *_apart(code, right, least), Span(left.end, mark.start), operator,
        Span(mark.end, right.start), *_apart(code, left, least + 1),
    )  # fmt: skip
    return code.site(node, f"operands of {node.operator}", replace(node, *parts))


def _apart(code: CodeText, node: Node, least: int) -> tuple[Part, ...]:
    """An operand that does not run together with an operator before it, as `-b` in `a--b`."""
    if code.precedence.of(node) < least or code.text(node)[0] in "+-":
        return "(", span(node), ")"
    return (span(node),)


# ── other spellings ──────────────────────────────────────────────────────────────────────────────────────


@each("true", "false")
def _booleans(code: CodeText, node: Node) -> Site:
    """`true` as `!false` or `1 == 1`."""
    spellings = code.dialect.booleans.get(node.kind, ())
    options = tuple((code.precedence.replace(node, (text,), own),) for text, own in spellings)
    return Site(options, f"{node.kind} as an expression", code.line(node))


def _arithmetic(code: CodeText, node: Node) -> Site | Refused | None:
    """`n` as `n + 0`, for int and long."""
    if not code.is_value(node) or code.type(node) not in code.dialect.whole:
        return None  # of a short the sum is an int, and `-0.0 + 0` is 0.0
    if _is_signed(node):
        return Refused(SIGNED)  # `-2147483648` is no int without its sign
    if is_target(node):
        return Refused(TARGET)
    return code.site(
        node, "0 added", code.precedence.replace(node, (span(node), " + 0"), code.precedence.sum)
    )


def _is_signed(node: Node) -> bool:
    """Whether a sign stands before an expression, also before parentheses around it."""
    above = next((outer for outer in node.ancestors() if outer.kind != "parenthesized_expression"), None)
    return above is not None and above.kind == "unary_expression" and above.operator in ("-", "+")


def is_target(node: Node) -> bool:
    """Whether an expression is assigned to; `(n) = 1` is allowed, too."""
    whole = node.parenthesized
    if whole.parent is None:
        return False
    is_left = whole.parent.kind == "assignment_expression" and whole.field == "left"
    return is_left or whole.parent.kind == "update_expression"


def _of_numbers(rewrite: Callable[[CodeText, Node], Site | Refused | None]) -> Find[CodeText]:
    """Finds the sites of a rule about names and whole numbers."""

    def find(code: CodeText) -> Iterator[Site | Refused]:
        for node in code.nodes:
            is_operand = node.kind == "identifier" or node.kind in code.dialect.numbers
            if is_operand and (result := rewrite(code, node)) is not None:
                yield result

    return find


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _swapped_wrong(code: CodeText, node: Node) -> Site | Refused | None:
    """`a - b` as `b - a`, for operands of one numeric type."""
    left, right = node.children
    if node.operator not in ("-", "/", "%", "<<", ">>") or code.text(left) == code.text(right):
        return None
    if code.type(left) != code.type(right) or code.type(left) not in code.dialect.numeric:
        return Refused(UNKNOWN)
    if node.operator in ("/", "%") and left.unparenthesized.kind.endswith("literal"):
        return Refused("literal would divide")  # `0 / n` would become `n / 0`, which always fails
    return _exchanged(code, node, node.operator)


@each("binary_expression")
def _flipped_wrong(code: CodeText, node: Node) -> Site | None:
    """`a < b` as `a <= b` or `a > b`, and the like."""
    others = _OTHER_OPERATORS.get(node.operator)
    if others is None or any(inner.kind == "instanceof_expression" for inner in node.walk()):
        return None
    kinds = {code.type(side) for side in node.children}
    if node.operator in ("==", "!=") and not kinds <= code.dialect.primitive | {None}:
        return None
    mark = operator_span(node)
    options = tuple((Patch(mark.start, mark.end, (other,)),) for other in others)
    return Site(options, f"{node.operator} becomes another", code.line(node))


@each("true", "false")
def _booleans_wrong(code: CodeText, node: Node) -> Site | Refused:
    """`true` as `false`, and the other way round."""
    for above in (node, *node.ancestors()):
        if above.kind.endswith("statement"):
            break
        if above.field == "condition" and above.unparenthesized.kind in ("true", "false"):
            # `while (true)` decides which statements are reachable.
            return Refused("literal is a condition")
    other = "false" if node.kind == "true" else "true"
    return code.site(node, f"{node.kind} becomes {other}", replace(node, other))


def _arithmetic_wrong(code: CodeText, node: Node) -> Site | None:
    """`n` as `n + 1`."""
    if (
        not code.is_value(node)
        or code.type(node) not in code.dialect.whole
        or _is_signed(node)
        or is_target(node)
    ):
        return None
    if node.parent is None or node.parent.kind not in ("binary_expression", "return_statement"):
        return None
    return code.site(
        node, "1 added", code.precedence.replace(node, (span(node), " + 1"), code.precedence.sum)
    )


@each("argument_list")
def _arguments_swapped(code: CodeText, node: Node) -> Site | Refused | None:
    """Two arguments of one type are exchanged, so that the call still compiles."""
    options = tuple(
        (replace(one, span(other)), replace(other, span(one)))
        for one, other in combinations(node.children, 2)
        if code.text(one) != code.text(other)
        and code.type(one) == code.type(other)
        and code.type(one) not in (None, code.dialect.nothing)
    )
    if options:
        return Site(options, "two arguments exchanged", code.line(node))
    return Refused(TYPES_DIFFER) if len(node.children) > 1 else None


SWAP_OPERANDS: Final = CodeStrategy(
    name="swap-operands", needs=("commutes", "is_unordered"), find=_swap, nothing="no operator that commutes"
)
FLIP_COMPARISONS: Final = CodeStrategy(
    name="flip-comparisons", needs=("is_unordered",), find=_flip, nothing="no comparison"
)
BOOL_LITERALS: Final = CodeStrategy(
    name="bool-literals", needs=("booleans",), find=_booleans, nothing="no true or false"
)
IDENTITY_ARITHMETIC: Final = CodeStrategy(
    name="identity-arithmetic",
    needs=("type", "whole", "is_value"),
    find=_of_numbers(_arithmetic),
    nothing="no int or long",
)
OPERANDS_SWAPPED_WRONG: Final = CodeStrategy(
    name="operands-swapped-wrong", find=_swapped_wrong, nothing="no operator that does not commute",
    kind="control",
)  # fmt: skip
COMPARISON_FLIPPED_WRONG: Final = CodeStrategy(
    name="comparison-flipped-wrong", find=_flipped_wrong, nothing="no comparison", kind="control"
)
BOOL_LITERALS_WRONG: Final = CodeStrategy(
    name="bool-literals-wrong", find=_booleans_wrong, nothing="no true or false", kind="control"
)
IDENTITY_ARITHMETIC_WRONG: Final = CodeStrategy(
    name="identity-arithmetic-wrong", find=_of_numbers(_arithmetic_wrong),
    nothing="no int or long in an operation",
    kind="control",
)  # fmt: skip
ARGUMENTS_SWAPPED: Final = CodeStrategy(
    name="arguments-swapped", find=_arguments_swapped, nothing="no call with two arguments", kind="control"
)

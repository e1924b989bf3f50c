"""Operands in the other order.

Java evaluates operands from left to right, and unboxing may fail where an operand stands. So one operand has
to be a literal or a primitive local that the other does not assign, or both compute with such alone.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import NULL, NUMERIC, PRIMITIVE, Types, pure, reference, steady
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    RELATION,
    SUM,
    UNARY,
    JavaSource,
    Rewriting,
    bare,
    fitted,
    level,
    level_of,
    needed,
    over,
    sign,
    span,
)
from codeaudit.transforms.patches import Part, Patch, Site, Span

ORDER: Final = "order of evaluation could be seen"
UNKNOWN: Final = "operands of unknown type"
TEXT: Final = "operands of + may be strings"
_COMMUTING: Final = frozenset({"+", "*", "&", "|", "^", "==", "!="})
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OTHER_SIGNS: Final = {"<": ("<=", ">"), ">": (">=", "<"), "<=": ("<", ">="), ">=": (">", "<="),
                       "==": ("!=",), "!=": ("==",)}  # fmt: skip


def _swap(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("binary_expression"):
        if node.operator not in _COMMUTING:
            continue
        left, right = node.children
        if node.operator == "+" and not (types.numeric(left) and types.numeric(right)):
            yield Refused(TEXT)
        elif not _free(code, types, left, right):
            yield Refused(ORDER)
        else:
            yield _exchanged(code, node, node.operator)


def _flip(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("binary_expression"):
        if node.operator not in _MIRRORED:
            continue
        left, right = node.children
        if not _free(code, types, left, right):
            yield Refused(ORDER)
        else:
            yield _exchanged(code, node, _MIRRORED[node.operator])


def _free(code: JavaSource, types: Types, left: Node, right: Node) -> bool:
    """Whether nobody sees which of two operands is evaluated first."""
    if steady(code, types, left, right) or steady(code, types, right, left):
        return True
    if pure(code, types, left) and pure(code, types, right):
        return True
    return reference(code, types, left) and reference(code, types, right)


def _exchanged(code: JavaSource, node: Node, operator: str) -> Site | Refused:
    left, right = node.children
    if not code.uncommented(node.start, left, right):
        return Refused(COMMENT)
    mark, least = sign(node), level_of(operator)
    parts: tuple[Part, ...] = (
        *_apart(code, right, least), Span(left.end, mark.start), operator,
        Span(mark.end, right.start), *_apart(code, left, least + 1),
    )  # fmt: skip
    return Site((((over(node, *parts)),),), f"operands of {node.operator}", code.line(node))


def _apart(code: JavaSource, node: Node, least: int) -> tuple[Part, ...]:
    """An operand that does not run together with a sign before it."""
    if level(node) < least or code.text(node)[0] in "+-":
        return "(", span(node), ")"
    return (span(node),)


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _swapped_wrong(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("binary_expression"):
        if node.operator not in ("-", "/", "%", "<<", ">>"):
            continue
        left, right = node.children
        if code.text(left) == code.text(right):
            continue
        kinds = types.of(left), types.of(right)
        if not (kinds[0] == kinds[1] and kinds[0] in NUMERIC):
            yield Refused(UNKNOWN)
        elif node.operator in ("/", "%") and bare(left).kind.endswith("literal"):
            yield Refused("literal would divide")
        else:
            yield _exchanged(code, node, node.operator)


def _flipped_wrong(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("binary_expression"):
        if node.operator not in _OTHER_SIGNS:
            continue
        left, right = node.children
        if any(inner.kind == "instanceof_expression" for inner in node.walk()):
            continue
        if node.operator in ("<", ">", "<=", ">=") or {types.of(left), types.of(right)} <= PRIMITIVE | {None}:
            mark = sign(node)
            options = tuple((Patch(mark.start, mark.end, (other,)),) for other in _OTHER_SIGNS[node.operator])
            yield Site(options, f"{node.operator} becomes another", code.line(node))


SWAP_OPERANDS: Final = Rewriting(name="swap-operands", find=_swap, nothing="no operator that commutes")
FLIP_COMPARISONS: Final = Rewriting(name="flip-comparisons", find=_flip, nothing="no comparison")
OPERANDS_SWAPPED_WRONG: Final = Rewriting(
    name="operands-swapped-wrong", find=_swapped_wrong, nothing="no operator that does not commute",
    kind="control",
)  # fmt: skip
COMPARISON_FLIPPED_WRONG: Final = Rewriting(
    name="comparison-flipped-wrong", find=_flipped_wrong, nothing="no comparison", kind="control"
)


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


TYPES_DIFFER: Final = "no two arguments of one known type"


def _swapped(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("argument_list"):
        options = tuple(
            (over(one, span(other)), over(other, span(one)))
            for one, other in combinations(node.children, 2)
            if code.text(one) != code.text(other)
            and types.of(one) == types.of(other)
            and types.of(one) not in (None, NULL)
        )
        if options:
            yield Site(options, "two arguments exchanged", code.line(node))
        elif len(node.children) > 1:
            yield Refused(TYPES_DIFFER)


ARGUMENTS_SWAPPED: Final = Rewriting(
    name="arguments-swapped", find=_swapped, nothing="no call with two arguments", kind="control"
)

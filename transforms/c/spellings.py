"""Rewritings that only C has: pointers and members, and tests for zero.

The standard gives each pair one meaning (ISO/IEC 9899:2018): `p->x` and `(*p).x` (6.5.2.3), `a[i]` and
`*(a + i)` (6.5.2.1), `!x` and `x == 0` (6.5.3.3).
"""

from typing import Final

from codeaudit.transforms.c.dialect import POINTER, PRIMARY, UNARY
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.flow import is_truth
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import span

NO_POINTER: Final = "no pointer of this function"
NO_ZERO: Final = "no test for zero"


def _rewritten(code: CodeText, node: Node, note: str, own: int, *parts: Part) -> Site | Refused:
    """A node of other parts, which bind as strongly as `own`; a comment between what stays would be lost."""
    if code.comments_outside(node, *(part for part in parts if isinstance(part, Span))):
        return Refused(COMMENT)
    return code.site(node, note, code.precedence.replace(node, parts, own))


# ── pointers ─────────────────────────────────────────────────────────────────────────────────────────────


@each("field_access")
def _dereference(code: CodeText, node: Node) -> Site | Refused | None:
    """`p->x` as `(*p).x`."""
    if node.operator != "->":
        return None
    pointer, member = node.children
    parts = ("(*", *code.operand(pointer, UNARY), ").", span(member))
    return _rewritten(code, node, "-> as * and .", PRIMARY, *parts)


@each("field_access")
def _point(code: CodeText, node: Node) -> Site | Refused | None:
    """`(*p).x` as `p->x`."""
    object_, member = node.children
    inner = object_.unparenthesized
    if node.operator != "." or inner.kind != "pointer_expression" or inner.operator != "*":
        return None
    parts = (*code.operand(inner.children[0], PRIMARY), "->", span(member))
    return _rewritten(code, node, "* and . as ->", PRIMARY, *parts)


@each("array_access")
def _add(code: CodeText, node: Node) -> Site | Refused:
    """`a[i]` as `*(a + i)`, for a pointer: what looks like an array may be a vector."""
    array, index, *others = node.children  # others since C++23
    if others or code.type(array) != POINTER:
        return Refused(NO_POINTER)
    least = code.precedence.sum
    parts = ("*(", *code.operand(array, least), " + ", *code.operand(index, least + 1), ")")
    return _rewritten(code, node, "[] as * and +", UNARY, *parts)


@each("pointer_expression")
def _index(code: CodeText, node: Node) -> Site | Refused | None:
    """`*(a + i)` as `a[i]`."""
    inner = node.children[0].unparenthesized
    if node.operator != "*" or inner.kind != "binary_expression" or inner.operator != "+":
        return None
    array, index = inner.children
    if code.type(array) != POINTER:
        return Refused(NO_POINTER)
    parts = (*code.operand(array, PRIMARY), "[", span(index), "]")
    return _rewritten(code, node, "* and + as []", PRIMARY, *parts)


# ── zero ─────────────────────────────────────────────────────────────────────────────────────────────────


@each("unary_expression")
def _compare(code: CodeText, node: Node) -> Site | Refused | None:
    """`!x` as `x == 0`."""
    if node.operator != "!":
        return None
    own = code.precedence.operators["=="]
    return _rewritten(code, node, "! as == 0", own, *code.operand(node.children[0], own), " == 0")


@each("binary_expression")
def _truth(code: CodeText, node: Node) -> Site | Refused | None:
    """`x == 0` as `!x`; `x != 0` as `x` where only the truth of it is used."""
    left, right = node.children
    if node.operator not in ("==", "!="):
        return None
    if code.text(right) not in ("0", "NULL") or not code.has_opposite(node):
        return Refused(NO_ZERO)
    parts: tuple[Part, ...] = (span(left),)
    own = code.precedence.of(left)
    if node.operator == "==":
        parts, own = ("!", *code.operand(left, UNARY)), UNARY
    elif not is_truth(node, joined=True):
        return Refused("value is used as a number")
    return _rewritten(code, node, f"{node.operator} 0 as the truth", own, *parts)


ARROW_TO_STAR: Final = CodeStrategy(name="arrow-to-star", find=_dereference, nothing="no ->")
STAR_TO_ARROW: Final = CodeStrategy(name="star-to-arrow", find=_point, nothing="no member of a dereference")
INDEX_TO_POINTER: Final = CodeStrategy(
    name="index-to-pointer", needs=("type",), find=_add, nothing="no element"
)
POINTER_TO_INDEX: Final = CodeStrategy(
    name="pointer-to-index", needs=("type",), find=_index, nothing="no dereference of a sum"
)
NOT_TO_ZERO: Final = CodeStrategy(name="not-to-zero", find=_compare, nothing="no negation")
ZERO_TO_NOT: Final = CodeStrategy(name="zero-to-not", find=_truth, nothing="no test for equality")

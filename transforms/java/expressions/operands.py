"""Operands in the other order.

Java evaluates operands from left to right, and unboxing may fail where an operand stands. So one operand has
to be a literal or a primitive local that the other does not assign, or both compute with such alone.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.purity import pure, reference, steady
from codeaudit.transforms.java.analysis.types import NUMERIC, PRIMITIVE, Types
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import COMMENT, JavaSource, bare, level, level_of, over, sign, span
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

"""Assignments with an operator, written out and back, and what adds 1.

`x op= y` means `x = (T) (x op y)` with x read first and the type T of x (Java Language Specification,
15.26.2). So the cast has to be idle: x is an int, long, float or double, and y does not promote beyond it.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import INTEGRAL, NUMERIC, STRING, Types, promoted
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    bare,
    level,
    level_of,
    over,
    sign,
    span,
)
from codeaudit.transforms.patches import Part, Patch, Site, Span

CAST: Final = "the operator casts"
UNKNOWN: Final = "target is no local of a known type"
VALUE_USED: Final = "value of the assignment is used"
NOT_ITSELF: Final = "value does not begin with the target"
_WIDE: Final = frozenset({"int", "long", "float", "double"})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%"})
_BITS: Final = frozenset({"&", "|", "^"})
_SHIFTS: Final = frozenset({"<<", ">>", ">>>"})
_ONE: Final = frozenset({"1"})
_WRONG: Final = {
    "+=": "-=",
    "-=": "+=",
    "*=": "+=",
    "/=": "*=",
    "<<=": ">>=",
    ">>=": "<<=",
    "&=": "|=",
    "|=": "&=",
}


def stands_alone(node: Node) -> bool:
    """Whether an assignment is a statement, or an update of a `for`: nobody uses its value."""
    parent = node.parent
    if parent is None or node.field in ("init", "update"):
        return parent is not None and parent.kind == "for_statement"
    above = parent.parent
    return parent.kind == "expression_statement" and (above is None or above.kind != "switch_rule")


def _expand(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("assignment_expression"):
        if node.operator != "=":
            yield _expanded(code, types, node)


def _expanded(code: JavaSource, types: Types, node: Node) -> Site | Refused:
    left, right = node.children
    if not stands_alone(node):
        return Refused(VALUE_USED)
    if left.kind != "identifier" or types.of(left) not in _WIDE | {STRING, "boolean"}:
        return Refused(UNKNOWN)
    operator = node.operator.removesuffix("=")
    if not _idle(types, left, operator, right):
        return Refused(CAST)
    mark = sign(node)
    if code.commented(node.start, right.start):
        return Refused(COMMENT)
    tight = level(right) > level_of(operator) and code.text(right)[0] not in "+-"
    value: tuple[Part, ...] = (span(right),) if tight else ("(", span(right), ")")
    parts = (span(left), Span(left.end, mark.start), "=", Span(mark.end, right.start),
             code.text(left), f" {operator} ", *value)  # fmt: skip
    return Site(((over(node, *parts),),), f"{node.operator} written out", code.line(node))


def _idle(types: Types, left: Node, operator: str, right: Node) -> bool:
    """Whether an operator gives exactly the type of its target."""
    own, other = types.of(left), types.of(right)
    if own == STRING:
        return operator == "+"
    if own == "boolean":
        return operator in _BITS and other == "boolean"
    if operator in _SHIFTS:
        return own in ("int", "long") and other in INTEGRAL
    if other not in NUMERIC or (operator in _BITS and other not in INTEGRAL):
        return False
    assert own is not None
    return promoted(own, str(other)) == own


def _contract(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("assignment_expression"):
        left, right = node.children
        inner = bare(right)
        if node.operator != "=" or inner.kind != "binary_expression":
            continue
        operator, (first, second) = inner.operator, inner.children
        if left.kind != "identifier" or first.kind != "identifier" or code.text(left) != code.text(first):
            yield Refused(NOT_ITSELF)
            continue
        if not _contracts(types.of(left), operator):
            yield Refused(UNKNOWN)
            continue
        mark = sign(node)
        if code.commented(node.start, node.end):
            yield Refused(COMMENT)
            continue
        parts = (
            span(left),
            Span(left.end, mark.start),
            f"{operator}=",
            Span(mark.end, right.start),
            span(second),
        )
        yield Site(((over(node, *parts),),), f"{operator} contracted", code.line(node))


def _contracts(own: str | None, operator: str) -> bool:
    """Whether `x = x op y`, which compiles, is `x op= y`: the value has the type of x already."""
    if own == STRING:
        return operator == "+"
    if own == "boolean":
        return operator in _BITS
    return own in _WIDE and operator in _ARITHMETIC | _BITS | _SHIFTS


# ── steps of 1 ───────────────────────────────────────────────────────────────────────────────────────────


def _write_steps(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("update_expression"):
        operand = node.children[0]
        if not stands_alone(node):
            yield Refused(VALUE_USED)
            continue
        if code.commented(node.start, node.end):
            yield Refused(COMMENT)
            continue
        mark = node.operator
        ahead = node.tokens[0][1] < operand.start
        options: list[tuple[Patch, ...]] = [
            (over(node, span(operand), mark) if ahead else over(node, mark, span(operand)),)
        ]
        if operand.kind == "identifier":
            kind = types.of(operand)
            if kind in NUMERIC:
                options.append((over(node, span(operand), f" {mark[0]}= 1"),))
            if kind in _WIDE:
                options.append((over(node, span(operand), f" = {code.text(operand)} {mark[0]} 1"),))
        yield Site(tuple(options), f"{mark} in another form", code.line(node))


def _read_steps(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("assignment_expression"):
        if node.operator not in ("+=", "-="):
            continue
        left, right = node.children
        if code.text(right) not in _ONE:
            continue
        if not stands_alone(node):
            yield Refused(VALUE_USED)
        elif left.kind != "identifier" or types.of(left) not in NUMERIC:
            yield Refused(UNKNOWN)
        elif code.commented(node.start, node.end):
            yield Refused(COMMENT)
        else:
            mark = node.operator[0] * 2
            options = ((over(node, span(left), mark),), (over(node, mark, span(left)),))
            yield Site(options, f"{node.operator} 1 as {mark}", code.line(node))


def _wrong(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("assignment_expression"):
        left, _ = node.children
        if node.operator not in _WRONG:
            continue
        if types.of(left) not in _WIDE:
            yield Refused(UNKNOWN)
            continue
        mark = sign(node)
        change = Patch(mark.start, mark.end, (_WRONG[node.operator],))
        yield Site(((change,),), f"{node.operator} becomes another", code.line(node))


def _dropped(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("update_expression", "assignment_expression"):
        parent = node.parent
        if node.operator == "=" or parent is None or parent.kind != "expression_statement":
            continue
        if stands_alone(node):
            yield Site(((over(parent, ";"),),), "update dropped", code.line(node))


EXPAND_AUGMENTED: Final = Rewriting(
    name="expand-augmented", find=_expand, nothing="no assignment with an operator"
)
CONTRACT_AUGMENTED: Final = Rewriting(
    name="contract-augmented", find=_contract, nothing="no assignment of an operation"
)
EXPAND_INCREMENTS: Final = Rewriting(name="expand-increments", find=_write_steps, nothing="no ++ or --")
CONTRACT_INCREMENTS: Final = Rewriting(
    name="contract-increments", find=_read_steps, nothing="no += 1 or -= 1"
)
AUGMENTED_WRONG: Final = Rewriting(
    name="augmented-wrong", find=_wrong, nothing="no assignment with an operator", kind="control"
)
UPDATE_DROPPED: Final = Rewriting(
    name="update-dropped", find=_dropped, nothing="no update that is a statement", kind="control"
)

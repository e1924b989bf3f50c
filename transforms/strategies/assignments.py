"""Assignments with an operator, written out and back, and what adds 1.

`x op= y` may convert its result to the type of `x`, which `x = x op y` does not; the language knows where it
converts nothing (`CodeText.writes_out`, `contracts`).
"""

import re
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import operator_span, replace, replace_operator, span

CAST: Final = "the operator casts"
NO_LOCAL: Final = "target is no local of a known type"
VALUE_USED: Final = "value of the assignment is used"
NOT_ITSELF: Final = "value does not begin with the target"
EQUAL: Final = "results are equal"
_ZERO: Final = re.compile(r"0(\.0*)?[dDfFlL]?")
_ONES: Final = frozenset({"1", "1L", "1l", "1.0", "1f", "1.0f", "1d"})
_SEES_ZERO: Final = frozenset({"*=", "/=", "&=", "|="})
"""Operators that zero distinguishes from those in their place."""
_WRONG: Final = {
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "<<=": ">>=", ">>=": "<<=", "&=": "|=", "|=": "&=",
}  # fmt: skip


def stands_alone(node: Node) -> bool:
    """Whether an assignment is a statement, or an update of a `for`: nobody uses its value."""
    parent = node.parent
    if parent is None or node.field in ("init", "update"):
        return parent is not None and parent.kind == "for_statement"
    above = parent.parent
    # Behind `case 1 ->` an expression may be the value of the switch.
    return parent.kind == "expression_statement" and (above is None or above.kind != "switch_rule")


@each("assignment_expression")
def _expand(code: CodeText, node: Node) -> Site | Refused | None:
    """`a += b` as `a = a + b`."""
    left, right = node.children
    if node.operator == "=":
        return None
    if not stands_alone(node):
        return Refused(VALUE_USED)
    if left.kind != "identifier" or code.type(left) not in code.dialect.targets:
        return Refused(NO_LOCAL)  # of `a[i()] += 1` the index would be evaluated twice
    operator = node.operator.removesuffix("=")
    if not code.writes_out(left, operator, right):
        return Refused(CAST)
    mark = operator_span(node)
    if code.commented(node.start, right.start):
        return Refused(COMMENT)
    # Parentheses keep a sign apart from the operator: `a - (-b)`.
    tight = (
        code.precedence.of(right) > code.precedence.operators[operator] and code.text(right)[0] not in "+-"
    )
    value: tuple[Part, ...] = (span(right),) if tight else ("(", span(right), ")")
    parts = (span(left), Span(left.end, mark.start), "=", Span(mark.end, right.start),
             code.text(left), f" {operator} ", *value)  # fmt: skip
    return code.site(node, f"{node.operator} written out", replace(node, *parts))


@each("assignment_expression")
def _contract(code: CodeText, node: Node) -> Site | Refused | None:
    """`a = a + b` as `a += b`."""
    left, right = node.children
    inner = right.unparenthesized
    if node.operator != "=" or inner.kind != "binary_expression":
        return None
    operator, (first, second) = inner.operator, inner.children
    if left.kind != "identifier" or first.kind != "identifier" or code.text(left) != code.text(first):
        return Refused(NOT_ITSELF)
    if not code.contracts(left, operator):
        return Refused(NO_LOCAL)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    mark = operator_span(node)
    parts = (Span(left.start, mark.start), f"{operator}=", Span(mark.end, right.start), span(second))
    return code.site(node, f"{operator} contracted", replace(node, *parts))


# ── steps of 1 ───────────────────────────────────────────────────────────────────────────────────────────


@each("update_expression")
def _expand_step(code: CodeText, node: Node) -> Site | Refused:
    """`i++` as `++i`, `i += 1` or `i = i + 1`."""
    target = node.children[0]
    if not stands_alone(node):
        return Refused(VALUE_USED)
    if not code.steps_by_one(node):
        return Refused(NO_LOCAL)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    mark = node.operator
    is_prefix = node.tokens[0][1] < target.start
    # `++*p` is not `*p++`.
    operand = code.precedence.operand(target, code.precedence.primary)
    options = [replace(node, *operand, mark) if is_prefix else replace(node, mark, span(target))]
    kind = code.type(target) if target.kind == "identifier" else None
    if kind in code.dialect.numeric:
        options.append(replace(node, span(target), f" {mark[0]}= 1"))
    if kind in code.dialect.wide:
        options.append(replace(node, span(target), f" = {code.text(target)} {mark[0]} 1"))
    return Site(tuple((patch,) for patch in options), f"{mark} in another form", code.line(node))


@each("assignment_expression")
def _contract_step(code: CodeText, node: Node) -> Site | Refused | None:
    """`i += 1` as `i++` or `++i`."""
    left, right = node.children
    if node.operator not in ("+=", "-=") or code.text(right) != "1":
        return None
    if not stands_alone(node):
        return Refused(VALUE_USED)
    if left.kind != "identifier" or code.type(left) not in code.dialect.numeric:
        return Refused(NO_LOCAL)  # `text += 1` appends
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    mark = node.operator[0] * 2
    options = ((replace(node, span(left), mark),), (replace(node, mark, span(left)),))
    return Site(options, f"{node.operator} 1 as {mark}", code.line(node))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("assignment_expression")
def _wrong(code: CodeText, node: Node) -> Site | Refused | None:
    """`a += b` as `a -= b`, and the like."""
    if node.operator not in _WRONG:
        return None
    if code.type(node.children[0]) not in code.dialect.wide:
        return Refused(NO_LOCAL)
    value = code.text(node.children[1].unparenthesized)
    # `n += 0` and `n -= 0` are one.
    idle = (
        value in _ONES
        if node.operator == "/="
        else node.operator not in _SEES_ZERO and _ZERO.fullmatch(value)
    )
    if idle:
        return Refused(EQUAL)
    other = replace_operator(node, _WRONG[node.operator])
    return code.site(node, f"{node.operator} becomes another", other)


@each("update_expression", "assignment_expression")
def _dropped(code: CodeText, node: Node) -> Site | None:
    parent = node.parent
    if node.operator == "=" or parent is None or parent.kind != "expression_statement":
        return None  # a dropped `=` could leave a variable without a value
    return code.site(node, "update dropped", replace(parent, ";")) if stands_alone(node) else None


EXPAND_AUGMENTED: Final = CodeStrategy(
    name="expand-augmented",
    needs=("type", "writes_out"),
    find=_expand,
    nothing="no assignment with an operator",
)
CONTRACT_AUGMENTED: Final = CodeStrategy(
    name="contract-augmented", needs=("contracts",), find=_contract, nothing="no assignment of an operation"
)
EXPAND_INCREMENTS: Final = CodeStrategy(
    name="expand-increments", needs=("steps_by_one",), find=_expand_step, nothing="no ++ or --"
)
CONTRACT_INCREMENTS: Final = CodeStrategy(
    name="contract-increments", needs=("type", "numeric"), find=_contract_step, nothing="no += 1 or -= 1"
)
AUGMENTED_WRONG: Final = CodeStrategy(
    name="augmented-wrong", find=_wrong, nothing="no assignment with an operator", kind="control"
)
UPDATE_DROPPED: Final = CodeStrategy(
    name="update-dropped", find=_dropped, nothing="no update that is a statement", kind="control"
)

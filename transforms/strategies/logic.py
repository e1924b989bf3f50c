"""Conditions in another form: De Morgan's laws, double negation, negated comparisons.

`!`, `&&` and `||` evaluate the same operands in the same order after each of these edits; which variables are
known and which assignments hold where is symmetric under them, too. Where `&&` gives an operand, not a
boolean, only a value of which the truth alone is used may be rewritten (`CodeText.is_boolean`).
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import grouped, operator_span, replace_operator, span, with_operator

NAN: Final = "operands may be unordered"
BINDS: Final = "condition binds a variable"
INFERRED: Final = "type of a call may be inferred"
NO_BOOLEAN: Final = "more than the truth of the value is used"
_ORDER: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
DUAL: Final = {"&&": "||", "||": "&&"}


def negated(code: CodeText, node: Node) -> tuple[tuple[Part, ...], int]:
    """The parts that say the opposite of a condition, and their precedence."""
    inner = node.unparenthesized
    if code.commented(node.start, inner.start) or code.commented(inner.end, node.end):
        return ("!", *code.operand(node, code.precedence.unary)), code.precedence.unary
    if inner.kind == "unary_expression" and inner.operator == "!" and code.is_boolean(inner):
        operand = inner.children[0].unparenthesized
        if not code.commented(inner.start, operand.start) and not code.commented(operand.end, inner.end):
            return (span(operand),), code.precedence.of(operand)
    opposite = _opposite(code, inner)
    if opposite is None:
        return ("!", *code.operand(inner, code.precedence.unary)), code.precedence.unary
    return with_operator(inner, opposite), code.precedence.operators[opposite]


def _opposite(code: CodeText, node: Node) -> str | None:
    """The operator of the opposite comparison; `None` for what is no comparison or may hold a NaN.

    `x < y` and `x >= y` are both false if one of them is NaN.
    """
    if node.kind != "binary_expression" or not code.has_opposite(node):
        return None
    return _ORDER.get(node.operator) or code.dialect.opposites.get(node.operator)


# ── De Morgan ────────────────────────────────────────────────────────────────────────────────────────────


@each("unary_expression", "binary_expression")
def _de_morgan(code: CodeText, node: Node) -> Site | Refused | None:
    """`!(a && b)` as `!a || !b`, and `a && b` as `!(!a || !b)`."""
    if node.kind == "unary_expression":
        inside = node.children[0].unparenthesized
        if node.operator != "!" or inside.kind != "binary_expression" or inside.operator not in DUAL:
            return None
        if not code.is_boolean(node):
            return Refused(NO_BOOLEAN)
        own = code.precedence.disjunction if inside.operator == "&&" else code.precedence.conjunction
        if code.comments_between(node.start, *_chain(inside)) or code.commented(inside.end, node.end):
            return Refused(COMMENT)
        parts = tuple(_negated_chain(code, inside))
        return code.site(node, f"! over {inside.operator}", code.precedence.replace(node, parts, own))
    if node.operator not in DUAL or _is_inside_chain(node) or _under_not(node):
        return None
    if not code.is_boolean(node):
        return Refused(NO_BOOLEAN)  # `a && b` may give an operand
    if code.comments_between(node.start, *_chain(node)):
        return Refused(COMMENT)
    parts = ("!(", *_negated_chain(code, node), ")")
    return code.site(node, node.operator, code.precedence.replace(node, parts, code.precedence.unary))


def _negated_chain(code: CodeText, node: Node) -> Iterator[Part]:
    """Each operand of a chain of `&&` negated, with `||` between them, or the other way round."""
    operator = DUAL[node.operator]
    least = code.precedence.disjunction if operator == "||" else code.precedence.conjunction
    end: int | None = None
    for link in _chain(node):
        if end is not None:
            assert link.parent is not None
            mark = operator_span(link.parent)
            yield from (Span(end, mark.start), operator, Span(mark.end, link.start))
        parts, own = negated(code, link)
        yield from grouped(parts, own, least + 1)
        end = link.end


def _chain(node: Node) -> list[Node]:
    """The operands of one operator in a row: of `a && (b && c) && d` these are `a`, `(b && c)` and `d`."""
    operands: list[Node] = []
    here = node
    while here.kind == "binary_expression" and here.operator == node.operator:
        operands.append(here.children[1])
        here = here.children[0]
    return [here, *reversed(operands)]


def _is_inside_chain(node: Node) -> bool:
    """Whether an operation is the left part of a longer chain of the same operator."""
    parent = node.parent
    is_left = parent is not None and parent.kind == "binary_expression" and node.field == "left"
    return is_left and parent is not None and parent.operator == node.operator


def _under_not(node: Node) -> bool:
    """Whether `!` stands before the parentheses around a condition; that `!` is a site of its own."""
    above = next((outer for outer in node.ancestors() if outer.kind != "parenthesized_expression"), None)
    return above is not None and above.kind == "unary_expression" and above.operator == "!"


# ── negation ─────────────────────────────────────────────────────────────────────────────────────────────


def _double(code: CodeText) -> Iterator[Site | Refused]:
    """`if (c)` as `if (!!c)`, also in loops and in `?:`."""
    for condition in conditions(code):
        if code.is_inferred(condition):
            yield Refused(INFERRED)
            continue
        parts = ("!!", *code.operand(condition, code.precedence.primary))
        yield code.site(
            condition, "!! before it", code.precedence.replace(condition, parts, code.precedence.unary)
        )


def conditions(code: CodeText) -> Iterator[Node]:
    """The conditions of branches, loops and `?:`, without parentheses."""
    for node in code.nodes:
        if node.field == "condition" and node.parent is not None and node.parent.kind != "switch_expression":
            yield node.unparenthesized


@each("binary_expression")
def _comparisons(code: CodeText, node: Node) -> Site | Refused | None:
    """`a == b` as `!(a != b)`."""
    if node.operator not in _ORDER and node.operator not in code.dialect.opposites:
        return None
    opposite = _opposite(code, node)
    if opposite is None:
        return Refused(NAN)
    parts = ("!(", *with_operator(node, opposite), ")")
    return code.site(
        node, f"{node.operator} negated", code.precedence.replace(node, parts, code.precedence.unary)
    )


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _wrong(code: CodeText, node: Node) -> Site | Refused | None:
    """`a && b` as `a || b`, and the other way round."""
    if node.operator not in DUAL:
        return None
    if code.binds(node):
        return Refused(BINDS)
    other = replace_operator(node, DUAL[node.operator])
    return code.site(node, f"{node.operator} becomes the other", other)


@each("unary_expression")
def _dropped(code: CodeText, node: Node) -> Site | Refused | None:
    """`!a` as `a`."""
    if node.operator != "!":
        return None
    if code.binds(node):
        return Refused(BINDS)
    mark = operator_span(node)
    return code.site(node, "! dropped", Patch(mark.start, mark.end, ()))


DE_MORGAN: Final = CodeStrategy(
    name="de-morgan", needs=("is_boolean",), find=_de_morgan, nothing="no && or ||"
)
DOUBLE_NEGATION: Final = CodeStrategy(
    name="double-negation", needs=("is_inferred",), find=_double, nothing="no condition"
)
NEGATE_COMPARISONS: Final = CodeStrategy(
    name="negate-comparisons", find=_comparisons, nothing="no comparison"
)
DE_MORGAN_WRONG: Final = CodeStrategy(
    name="de-morgan-wrong", find=_wrong, nothing="no && or ||", kind="control"
)
NEGATION_DROPPED: Final = CodeStrategy(
    name="negation-dropped", find=_dropped, nothing="no negation", kind="control"
)

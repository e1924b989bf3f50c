"""Conditions in another form: De Morgan's laws, double negation, negated comparisons.

`!`, `&&` and `||` of Java are defined on booleans alone and evaluate the same operands in the same order
after each of these edits; which pattern variables and which assignments hold where is symmetric under them,
too.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import INTEGRAL, Types
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import (
    AND,
    COMMENT,
    EQUALITY,
    OR,
    PRIMARY,
    RELATION,
    UNARY,
    JavaSource,
    Rewriting,
    bare,
    fitted,
    level,
    needed,
    over,
    placed,
    sign,
    span,
)
from codeaudit.transforms.patches import Part, Patch, Site, Span

NAN: Final = "operands may be unordered"
_EQUAL: Final = {"==": "!=", "!=": "=="}
_OPPOSITE: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_OTHER: Final = {"&&": "||", "||": "&&"}


def negated(code: JavaSource, types: Types, node: Node) -> tuple[tuple[Part, ...], int]:
    """The parts that say the opposite of a condition, and how tightly they bind."""
    inner = bare(node)
    if code.commented(node.start, inner.start) or code.commented(inner.end, node.end):
        return ("!", *placed(node, UNARY)), UNARY
    if inner.kind == "unary_expression" and inner.operator == "!":
        operand = bare(inner.children[0])
        if not code.commented(inner.start, operand.start) and not code.commented(operand.end, inner.end):
            return (span(operand),), level(operand)
    sign_now = opposite(types, inner)
    if sign_now is not None:
        mark = sign(inner)
        return (Span(inner.start, mark.start), sign_now, Span(mark.end, inner.end)), (
            EQUALITY if sign_now in _EQUAL else RELATION
        )
    return ("!", *placed(inner, UNARY)), UNARY


def opposite(types: Types, node: Node) -> str | None:
    """The sign of the opposite comparison; none for what is no comparison or may hold a NaN."""
    if node.kind != "binary_expression":
        return None
    if node.operator in _EQUAL:
        return _EQUAL[node.operator]
    if node.operator in _OPPOSITE and all(types.of(side) in INTEGRAL for side in node.children):
        return _OPPOSITE[node.operator]
    return None


# ── De Morgan ────────────────────────────────────────────────────────────────────────────────────────────


def _de_morgan(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("unary_expression", "binary_expression"):
        if node.kind == "unary_expression":
            inside = bare(node.children[0])
            if node.operator == "!" and inside.kind == "binary_expression" and inside.operator in _OTHER:
                yield _distributed(code, types, node, inside)
        elif node.operator in _OTHER and not _continued(node) and not _under_not(node):
            parts = ("!(", *_opposites(code, types, node), ")")
            if not code.uncommented(node.start, *_chain(node)):
                yield Refused(COMMENT)
            else:
                yield Site(
                    ((over(node, *fitted(parts, UNARY, needed(node))),),), node.operator, code.line(node)
                )


def _distributed(code: JavaSource, types: Types, node: Node, inside: Node) -> Site | Refused:
    if not code.uncommented(node.start, *_chain(inside)) or code.commented(inside.end, node.end):
        return Refused(COMMENT)
    own = OR if inside.operator == "&&" else AND
    parts = fitted(tuple(_opposites(code, types, inside)), own, needed(node))
    return Site(((over(node, *parts),),), f"! over {inside.operator}", code.line(node))


def _opposites(code: JavaSource, types: Types, node: Node) -> Iterator[Part]:
    operator = _OTHER[node.operator]
    least = OR if operator == "||" else AND
    chain = _chain(node)
    for number, operand in enumerate(chain):
        if number:
            left = chain[number - 1]
            mark = _mark(operand)
            yield from (Span(left.end, mark.start), operator, Span(mark.end, operand.start))
        parts, own = negated(code, types, operand)
        yield from fitted(parts, own, least + 1)


def _chain(node: Node) -> list[Node]:
    """The operands of one operator in a row, without those that stand in parentheses."""
    found: list[Node] = []
    here = node
    while here.kind == "binary_expression" and here.operator == node.operator:
        found.append(here.children[1])
        here = here.children[0]
    return [here, *reversed(found)]


def _mark(operand: Node) -> Span:
    """The sign before an operand that is the right one of its parent."""
    assert operand.parent is not None
    return sign(operand.parent)


def _continued(node: Node) -> bool:
    """Whether the same operator goes on around it."""
    parent = node.parent
    return (
        parent is not None
        and parent.kind == "binary_expression"
        and parent.operator == node.operator
        and node.field == "left"
    )


def _under_not(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.kind == "parenthesized_expression":
        parent = parent.parent
    return parent is not None and parent.kind == "unary_expression" and parent.operator == "!"


# ── negation ─────────────────────────────────────────────────────────────────────────────────────────────


def _conditions(code: JavaSource) -> Iterator[Node]:
    """What stands as the condition of a statement or of `?:`."""
    for node in code.nodes:
        if node.field == "condition" and node.parent is not None and node.parent.kind != "switch_expression":
            yield bare(node)


def _double(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _conditions(code):
        parts = ("!!", *placed(node, PRIMARY))
        yield Site(((over(node, *fitted(parts, UNARY, needed(node))),),), "!! before it", code.line(node))


def _comparisons(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("binary_expression"):
        if node.operator not in _EQUAL and node.operator not in _OPPOSITE:
            continue
        now = opposite(types, node)
        if now is None:
            yield Refused(NAN)
            continue
        mark = sign(node)
        parts = ("!(", Span(node.start, mark.start), now, Span(mark.end, node.end), ")")
        yield Site(
            ((over(node, *fitted(parts, UNARY, needed(node))),),), f"{node.operator} negated", code.line(node)
        )


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _wrong(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("binary_expression"):
        if node.operator not in _OTHER:
            continue
        if _matches(node):
            yield Refused("condition binds a variable")
            continue
        mark = sign(node)
        change = Patch(mark.start, mark.end, (_OTHER[node.operator],))
        yield Site(((change,),), f"{node.operator} becomes the other", code.line(node))


def _dropped(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("unary_expression"):
        if node.operator != "!":
            continue
        if _matches(node):
            yield Refused("condition binds a variable")
            continue
        _, start, end = node.tokens[0]
        yield Site(((Patch(start, end, ()),),), "! dropped", code.line(node))


def _matches(node: Node) -> bool:
    return any(inner.kind in ("instanceof_expression", "assignment_expression") for inner in node.walk())


DE_MORGAN: Final = Rewriting(name="de-morgan", find=_de_morgan, nothing="no && or ||")
DOUBLE_NEGATION: Final = Rewriting(name="double-negation", find=_double, nothing="no condition")
NEGATE_COMPARISONS: Final = Rewriting(name="negate-comparisons", find=_comparisons, nothing="no comparison")
DE_MORGAN_WRONG: Final = Rewriting(name="de-morgan-wrong", find=_wrong, nothing="no && or ||", kind="control")
NEGATION_DROPPED: Final = Rewriting(
    name="negation-dropped", find=_dropped, nothing="no negation", kind="control"
)

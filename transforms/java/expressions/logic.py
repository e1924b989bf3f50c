"""Conditions in another form: De Morgan's laws, double negation, negated comparisons.

`!`, `&&` and `||` of Java are defined on booleans alone and evaluate the same operands in the same order
after each of these edits; which pattern variables and which assignments hold where is symmetric under them,
too.

A call that is a whole condition may have the type boolean only because it is one: of `<T> T get(String)` Java
infers T as Boolean in `if (get("k"))`, and as Object in `if (!get("k"))`, which does not compile (JLS
15.12). So such a call becomes no operand (`is_inferred`). The text seldom shows the declaration. Assumed is
that a method with the name of a question, such as `isEmpty`, `hasNext` or `contains`, declares its result as
boolean or Boolean, not as a type parameter of its own.
"""

import re
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import INTEGRAL
from codeaudit.transforms.java.precedence import AND, EQUALITY, OR, PRIMARY, RELATION, UNARY
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    JavaSource,
    Rewriting,
    each,
    grouped,
    operand,
    operator_span,
    precedence,
    replace_grouped,
    replace_operator,
    span,
    with_operator,
)
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.syntax.reader import Node

NAN: Final = "operands may be unordered"
BINDS: Final = "condition binds a variable"
INFERRED: Final = "type of a call may be inferred"
_QUESTION: Final = re.compile(
    r"(?:is|has|have|can|should|will|was|are|does|may|must|needs?|contains|includes|equals|matches|exists|"
    r"starts|ends|supports|requires|accepts|allows|compare|intersects|supersedes)(?![a-z])"
)
"""The beginning of the name of a method that answers yes or no."""
_EQUAL: Final = {"==": "!=", "!=": "=="}
_ORDER: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
DUAL: Final = {"&&": "||", "||": "&&"}


def negated(code: JavaSource, node: Node) -> tuple[tuple[Part, ...], int]:
    """The parts that say the opposite of a condition, and their precedence."""
    inner = node.unparenthesized
    if code.commented(node.start, inner.start) or code.commented(inner.end, node.end):
        return ("!", *operand(node, UNARY)), UNARY
    if inner.kind == "unary_expression" and inner.operator == "!":
        kept = inner.children[0].unparenthesized
        if not code.commented(inner.start, kept.start) and not code.commented(kept.end, inner.end):
            return (span(kept),), precedence(kept)
    opposite = _opposite(code, inner)
    if opposite is None:
        return ("!", *operand(inner, UNARY)), UNARY
    return with_operator(inner, opposite), EQUALITY if opposite in _EQUAL else RELATION


def is_inferred(code: JavaSource, node: Node) -> bool:
    """Whether a whole condition may have its type from its place alone, so that it must stay a whole
    condition.
    """
    node = node.unparenthesized
    match node.kind:
        case "method_invocation" if code.type(node) is None and node.child("type_arguments") is None:
            return not _QUESTION.match(code.text(node.part("name"))) or _is_generic(code, node)
        case "ternary_expression":
            return any(is_inferred(code, arm) for arm in node.children[1:])
        case kind:
            return kind == "switch_expression"


def _is_generic(code: JavaSource, node: Node) -> bool:
    """Whether the text declares a method of this name with type parameters of its own."""
    name = code.text(node.part("name"))
    return any(
        one.kind == "method_declaration"
        and code.text(one.part("name")) == name
        and one.first("type_parameters") is not None
        for one in code.unit.walk()
    )


def _opposite(code: JavaSource, node: Node) -> str | None:
    """The operator of the opposite comparison; `None` for what is no comparison or may hold a NaN.

    `x < y` and `x >= y` are both false if one of them is NaN.
    """
    if node.kind != "binary_expression":
        return None
    if node.operator in _ORDER and not all(code.type(side) in INTEGRAL for side in node.children):
        return None
    return (_EQUAL | _ORDER).get(node.operator)


# ── De Morgan ────────────────────────────────────────────────────────────────────────────────────────────


@each("unary_expression", "binary_expression")
def _de_morgan(code: JavaSource, node: Node) -> Site | Refused | None:
    """`!(a && b)` as `!a || !b`, and `a && b` as `!(!a || !b)`."""
    if node.kind == "unary_expression":
        inside = node.children[0].unparenthesized
        if node.operator != "!" or inside.kind != "binary_expression" or inside.operator not in DUAL:
            return None
        own = OR if inside.operator == "&&" else AND
        if code.comments_between(node.start, *_chain(inside)) or code.commented(inside.end, node.end):
            return Refused(COMMENT)
        parts = tuple(_negated_chain(code, inside))
        return code.site(node, f"! over {inside.operator}", replace_grouped(node, parts, own))
    if node.operator not in DUAL or _is_inside_chain(node) or _under_not(node):
        return None
    if code.comments_between(node.start, *_chain(node)):
        return Refused(COMMENT)
    parts = ("!(", *_negated_chain(code, node), ")")
    return code.site(node, node.operator, replace_grouped(node, parts, UNARY))


def _negated_chain(code: JavaSource, node: Node) -> Iterator[Part]:
    """Each operand of a chain of `&&` negated, with `||` between them, or the other way round."""
    operator = DUAL[node.operator]
    least = OR if operator == "||" else AND
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
    found: list[Node] = []
    here = node
    while here.kind == "binary_expression" and here.operator == node.operator:
        found.append(here.children[1])
        here = here.children[0]
    return [here, *reversed(found)]


def _is_inside_chain(node: Node) -> bool:
    """Whether an operation is the left part of a longer chain of the same operator."""
    parent = node.parent
    is_left = parent is not None and parent.kind == "binary_expression" and node.field == "left"
    return is_left and parent is not None and parent.operator == node.operator


def _under_not(node: Node) -> bool:
    """Whether `!` stands before the parentheses around a condition; that `!` is a site of its own."""
    above = next((one for one in node.ancestors() if one.kind != "parenthesized_expression"), None)
    return above is not None and above.kind == "unary_expression" and above.operator == "!"


# ── negation ─────────────────────────────────────────────────────────────────────────────────────────────


def _double(code: JavaSource) -> Iterator[Site | Refused]:
    """`if (c)` as `if (!!c)`, also in loops and in `?:`."""
    for condition in conditions(code):
        if is_inferred(code, condition):
            yield Refused(INFERRED)
            continue
        parts = ("!!", *operand(condition, PRIMARY))
        yield code.site(condition, "!! before it", replace_grouped(condition, parts, UNARY))


def conditions(code: JavaSource) -> Iterator[Node]:
    """The conditions of branches, loops and `?:`, without parentheses."""
    for node in code.nodes:
        if node.field == "condition" and node.parent is not None and node.parent.kind != "switch_expression":
            yield node.unparenthesized


@each("binary_expression")
def _comparisons(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a == b` as `!(a != b)`."""
    if node.operator not in _EQUAL | _ORDER:
        return None
    opposite = _opposite(code, node)
    if opposite is None:
        return Refused(NAN)
    parts = ("!(", *with_operator(node, opposite), ")")
    return code.site(node, f"{node.operator} negated", replace_grouped(node, parts, UNARY))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("binary_expression")
def _wrong(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a && b` as `a || b`, and the other way round."""
    if node.operator not in DUAL:
        return None
    if binds(node):
        return Refused(BINDS)
    other = replace_operator(node, DUAL[node.operator])
    return code.site(node, f"{node.operator} becomes the other", other)


@each("unary_expression")
def _dropped(code: JavaSource, node: Node) -> Site | Refused | None:
    """`!a` as `a`."""
    if node.operator != "!":
        return None
    if binds(node):
        return Refused(BINDS)
    mark = operator_span(node)
    return code.site(node, "! dropped", Patch(mark.start, mark.end, ()))


def binds(node: Node) -> bool:
    """Whether a variable may be known or set only under the condition, so that the control may not compile.

    `!(o instanceof String s) || f(s)` does not compile without its `!`.
    """
    return any(inner.kind in ("instanceof_expression", "assignment_expression") for inner in node.walk())


DE_MORGAN: Final = Rewriting(name="de-morgan", find=_de_morgan, nothing="no && or ||")
DOUBLE_NEGATION: Final = Rewriting(name="double-negation", find=_double, nothing="no condition")
NEGATE_COMPARISONS: Final = Rewriting(name="negate-comparisons", find=_comparisons, nothing="no comparison")
DE_MORGAN_WRONG: Final = Rewriting(name="de-morgan-wrong", find=_wrong, nothing="no && or ||", kind="control")
NEGATION_DROPPED: Final = Rewriting(
    name="negation-dropped", find=_dropped, nothing="no negation", kind="control"
)

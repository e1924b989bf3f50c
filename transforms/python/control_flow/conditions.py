"""Conditions in other places: conditional expressions and statements, joined and nested conditions."""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.code import Code
from codeaudit.transforms.python.contexts import (
    AND,
    CONDITIONAL,
    OR,
    WALRUS,
    Part,
    broken,
    commented,
    nodes,
    patch,
    placed,
    preceding,
)
from codeaudit.transforms.python.rewriting import Rewriting
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    SHARED,
    colon,
    even,
    inline,
    is_elif,
    line_end,
    next_line,
    starts_line,
    step,
    tail,
)

HAS_ELSE: Final = "condition has an else"
OTHER_BODIES: Final = "branches are not one assignment or return each"


def _head(code: Code, node: ast.Assign | ast.Return) -> tuple[Part, ...]:
    """What stands before the value: `x = `, `return `."""
    assert node.value is not None
    last = preceding(code, code.full(node.value).start)
    assert last is not None
    return Span(code.start(node), last.end), " "


def _to_if(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        match node:
            case ast.Assign(value=ast.IfExp() as value) | ast.Return(value=ast.IfExp() as value):
                yield _spread(code, node, value)
            case _:
                pass


def _spread(code: Code, node: ast.Assign | ast.Return, value: ast.IfExp) -> Site | Refused:
    if not code.alone(node) or not starts_line(code, node):
        return Refused(SHARED)
    if commented(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    outside, newline = code.indentation(node), code.newline
    inside = outside + code.step
    if len(set(inside)) > 1:
        return Refused(INDENTATION)
    head = _head(code, node)
    parts = (
        "if ", *placed(code, value.test, WALRUS), f":{newline}{inside}",
        *head, *placed(code, value.body, CONDITIONAL), f"{newline}{outside}else:{newline}{inside}",
        *head, *placed(code, value.orelse, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return Site(((change,),), "conditional expression to if", node.lineno)


def _to_ternary(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        if isinstance(node, ast.If) and node.orelse and not is_elif(code, node):
            yield _gathered(code, node)


def _gathered(code: Code, node: ast.If) -> Site | Refused:
    match node.body, node.orelse:
        case [ast.Assign() as one], [ast.Assign() as other]:
            same = [ast.dump(target) for target in one.targets] == [ast.dump(t) for t in other.targets]
        case [ast.Return(value=ast.expr()) as one], [ast.Return(value=ast.expr()) as other]:
            same = True
        case _:
            return Refused(OTHER_BODIES)
    if not same:
        return Refused(OTHER_BODIES)
    if commented(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    assert one.value is not None
    assert other.value is not None
    parts = (
        *_head(code, one), *placed(code, one.value, OR), " if ", *placed(code, node.test, OR), " else ",
        *placed(code, other.value, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return Site(((change,),), "if to conditional expression", node.lineno)


# ── joined conditions ────────────────────────────────────────────────────────────────────────────────────


def _split(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        match node:
            case ast.If(test=ast.BoolOp(op=ast.And()) as test):
                yield _halved(code, node, test)
            case _:
                pass


def _halved(code: Code, node: ast.If, test: ast.BoolOp) -> Site | Refused:
    if node.orelse:
        return Refused(HAS_ELSE)
    begin, mark = code.full(test).start, colon(code, node.body)
    if commented(code, begin, mark.start):
        return Refused(COMMENT)
    if not even(code, node):
        return Refused(INDENTATION)
    outside, deeper, newline = code.indentation(node), step(code, node), code.newline
    end = tail(code, node.body[-1], outside)
    options = []
    for number in range(1, len(test.values)):
        first = _joined(code, test.values[:number])
        second = _joined(code, test.values[number:])
        opening = (*first, f":{newline}{outside}{deeper}if ", *second)
        options.append((patch(code, begin, end, *opening, *_shifted(code, node, end, add=deeper)),))
    return Site(tuple(options), "and to nested if", node.lineno)


def _joined(code: Code, values: list[ast.expr]) -> tuple[Part, ...]:
    """Operands of one `and` as a condition of their own."""
    if len(values) == 1:
        return placed(code, values[0], CONDITIONAL)
    span = Span(code.full(values[0]).start, code.full(values[-1]).end)
    return ("(", span, ")") if broken(code, span) else (span,)


def _shifted(code: Code, node: ast.If, end: int, *, add: str = "", drop: str = "") -> tuple[Part, ...]:
    """The colon, what stands behind it, and the body with other indentation."""
    mark = colon(code, node.body).start
    if inline(code, node.body):
        return (Span(mark, end),)
    header = line_end(code, mark)
    begin = next_line(code, header)
    return Span(mark, header), code.newline, Span(begin, end, add=add, drop=drop)


def _merge(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        match node:
            case ast.If(body=[ast.If() as inner]):
                yield _merged(code, node, inner)
            case _:
                pass


def _merged(code: Code, node: ast.If, inner: ast.If) -> Site | Refused:
    if node.orelse or inner.orelse:
        return Refused(HAS_ELSE)
    outside, inside = code.indentation(node), code.indentation(inner)
    if not inside.startswith(outside) or not even(code, node, inner):
        return Refused(INDENTATION)
    begin, mark = code.full(node.test).start, colon(code, inner.body).start
    if commented(code, begin, mark):
        return Refused(COMMENT)
    end = tail(code, inner.body[-1], outside)
    test = (*placed(code, node.test, AND), " and ", *placed(code, inner.test, AND))
    change = patch(code, begin, end, *test, *_shifted(code, inner, end, drop=inside[len(outside) :]))
    return Site(((change,),), "nested if to and", node.lineno)


TERNARY_TO_IF: Final = Rewriting(
    name="ternary-to-if", find=_to_if, nothing="no conditional expression that is assigned or returned"
)
IF_TO_TERNARY: Final = Rewriting(name="if-to-ternary", find=_to_ternary, nothing="no if with else")
SPLIT_CONDITIONS: Final = Rewriting(name="split-conditions", find=_split, nothing="no if with and")
MERGE_CONDITIONS: Final = Rewriting(name="merge-conditions", find=_merge, nothing="no if alone in an if")

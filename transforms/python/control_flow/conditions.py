"""Conditions in another form: conditional expressions against statements, `and` against nested `if`.

The condition and the branches are evaluated in the same order and equally often before and after.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import (
    AND,
    CONDITIONAL,
    OR,
    WALRUS,
    Part,
    breaks_line,
    has_comment,
    parenthesized,
    patch_range,
    token_before,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    SHARED,
    block_end,
    block_indent,
    evenly_indented,
    header_colon,
    is_elif,
    shifted_body,
    starts_line,
)

HAS_ELSE: Final = "condition has an else"
OTHER_BODIES: Final = "branches are not one assignment or return each"


def _head(code: PythonSource, node: ast.Assign | ast.Return) -> tuple[Part, ...]:
    """The parts of a statement before its value: `x = `, `return `."""
    assert node.value is not None
    last = token_before(code, code.full(node.value).start)
    assert last is not None
    return Span(code.start(node), last.end), " "


@at_each(ast.Assign, ast.Return)
def _to_if(code: PythonSource, node: ast.Assign | ast.Return) -> Site | Refused | None:
    """`x = a if c else b` to `if c: x = a` and `else: x = b`."""
    value = node.value
    if not isinstance(value, ast.IfExp):
        return None
    if not code.alone(node) or not starts_line(code, node):
        return Refused(SHARED)
    if has_comment(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    outside, newline = code.indentation(node), code.newline
    inside = outside + code.step
    if len(set(inside)) > 1:
        return Refused(INDENTATION)
    head = _head(code, node)
    parts = (
        "if ", *parenthesized(code, value.test, WALRUS), f":{newline}{inside}",
        *head, *parenthesized(code, value.body, CONDITIONAL), f"{newline}{outside}else:{newline}{inside}",
        *head, *parenthesized(code, value.orelse, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return Site(((change,),), "conditional expression to if", node.lineno)


@at_each(ast.If)
def _to_ternary(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: x = a` and `else: x = b` to `x = a if c else b`; the same for `return`."""
    if not node.orelse or is_elif(node, code):
        return None
    match node.body, node.orelse:
        case [ast.Assign() as one], [ast.Assign() as other]:
            same = [ast.dump(target) for target in one.targets] == [ast.dump(t) for t in other.targets]
        case [ast.Return(value=ast.expr()) as one], [ast.Return(value=ast.expr()) as other]:
            same = True
        case _:
            return Refused(OTHER_BODIES)
    if not same:
        return Refused(OTHER_BODIES)
    if has_comment(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    assert one.value is not None
    assert other.value is not None
    parts = (
        *_head(code, one), *parenthesized(code, one.value, OR),
        " if ", *parenthesized(code, node.test, OR),
        " else ", *parenthesized(code, other.value, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return Site(((change,),), "if to conditional expression", node.lineno)


# ── joined conditions ────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _split(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if a and b:` to `if a:` with `if b:` in it; each `and` is one option."""
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    # With an `else`, the second condition would need the same `else` again.
    if node.orelse:
        return Refused(HAS_ELSE)
    begin, mark = code.full(test).start, header_colon(code, node.body)
    if has_comment(code, begin, mark.start):
        return Refused(COMMENT)
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    outside, deeper, newline = code.indentation(node), block_indent(code, node), code.newline
    end = block_end(code, node.body[-1], outside)
    body = shifted_body(code, node.body, end, add=deeper)
    options = []
    for number in range(1, len(test.values)):
        first = _joined(code, test.values[:number])
        second = _joined(code, test.values[number:])
        opening = (*first, f":{newline}{outside}{deeper}if ", *second)
        options.append((patch_range(code, begin, end, *opening, *body),))
    return Site(tuple(options), "and to nested if", node.lineno)


def _joined(code: PythonSource, values: list[ast.expr]) -> tuple[Part, ...]:
    """Operands of one `and` as a condition of their own."""
    if len(values) == 1:
        return parenthesized(code, values[0], CONDITIONAL)
    span = Span(code.full(values[0]).start, code.full(values[-1]).end)
    return ("(", span, ")") if breaks_line(code, span) else (span,)


@at_each(ast.If)
def _merge(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if a:` with `if b:` alone in it to `if a and b:`."""
    if len(node.body) != 1 or not isinstance(inner := node.body[0], ast.If):
        return None
    if node.orelse or inner.orelse:
        return Refused(HAS_ELSE)
    outside, inside = code.indentation(node), code.indentation(inner)
    if not inside.startswith(outside) or not evenly_indented(code, node, inner):
        return Refused(INDENTATION)
    begin, mark = code.full(node.test).start, header_colon(code, inner.body).start
    if has_comment(code, begin, mark):
        return Refused(COMMENT)
    end = block_end(code, inner.body[-1], outside)
    test = (*parenthesized(code, node.test, AND), " and ", *parenthesized(code, inner.test, AND))
    body = shifted_body(code, inner.body, end, drop=inside[len(outside) :])
    return Site(((patch_range(code, begin, end, *test, *body),),), "nested if to and", node.lineno)


TERNARY_TO_IF: Final = PythonRule(
    name="ternary-to-if", find=_to_if, nothing="no conditional expression that is assigned or returned"
)
IF_TO_TERNARY: Final = PythonRule(name="if-to-ternary", find=_to_ternary, nothing="no if with else")
SPLIT_CONDITIONS: Final = PythonRule(name="split-conditions", find=_split, nothing="no if with and")
MERGE_CONDITIONS: Final = PythonRule(name="merge-conditions", find=_merge, nothing="no if alone in an if")

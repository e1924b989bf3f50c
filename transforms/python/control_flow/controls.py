"""Controls of the control-flow family: they look like its transforms and change what a function does."""

import ast
from collections.abc import Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import (
    ATOM,
    parenthesized,
    patch_node,
    patch_range,
    token_after,
)
from codeaudit.transforms.python.control_flow.branches import NO_ELSE, negation
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    always_leaves,
    block_end,
    header_colon,
    is_elif,
    is_inline,
    line_end,
)

LEFT: Final = "body leaves anyway"
IDLE: Final = "block does nothing"
_SUM: Final = 11
"""Precedence of `+`: arguments that bind less tightly need parentheses before `+ 1`."""


@at_each(ast.If)
def _not_exchanged(code: PythonSource, node: ast.If) -> Site:
    """`if c:` to `if not c:`, with the branches where they were."""
    return Site(((negation(code, node),),), "condition negated", node.lineno)


@at_each(ast.For)
def _off_by_one(code: PythonSource, node: ast.For) -> Site | None:
    """One of the first two arguments of `range`, one higher or lower."""
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as arguments, keywords=[]):
            if any(isinstance(argument, ast.Starred) for argument in arguments):
                return None
        case _:
            return None
    options = [
        (patch_range(code, full.start, full.end, *parenthesized(code, argument, _SUM), change),)
        for argument in arguments[:2]
        for full in [code.full(argument)]
        for change in (" - 1", " + 1")
    ]
    return Site(tuple(options), "range moved by 1", node.lineno)


@at_each(ast.For, ast.While, ast.AsyncFor)
def _left_early(code: PythonSource, node: ast.For | ast.While | ast.AsyncFor) -> Site | Refused:
    """`break` at the end of a loop's body."""
    # A `break` behind a statement that leaves would never run.
    if always_leaves(node.body):
        return Refused(LEFT)
    first, newline = code.start(node.body[0]), code.newline
    if is_inline(code, node.body):
        inside = code.indentation(node) + code.step
        end = line_end(code, code.end(node.body[-1]))
        parts = (f"{newline}{inside}", Span(first, end), f"{newline}{inside}break")
        change = Patch(header_colon(code, node.body).end, end, parts)
    else:
        inside = code.indentation(node.body[0])
        end = block_end(code, node.body[-1], code.indentation(node))
        change = Patch(first, end, (Span(first, end), f"{newline}{inside}break"))
    return Site(((change,),), "left after one turn", node.lineno)


@at_each(ast.If)
def _dropped(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """An `if` without its `else`."""
    if not node.orelse:
        return Refused(NO_ELSE)
    if is_elif(node.orelse[0], code):
        return None
    # Without such an `else` the function may do the same, which is no control.
    if _idle(node.orelse):
        return Refused(IDLE)
    begin = block_end(code, node.body[-1], code.indentation(node))
    return Site(((Patch(begin, code.end(node.orelse[-1]), ()),),), "else dropped", node.lineno)


def _idle(body: Sequence[ast.stmt]) -> bool:
    """Whether a block may do the same as no block at all."""
    match body:
        case [ast.Pass() | ast.Continue() | ast.Return(value=None | ast.Constant(value=None))]:
            return True
        case _:
            return False


@at_each(ast.If)
def _condition_dropped(code: PythonSource, node: ast.If) -> Site | None:
    """`if a and b:` to `if a:` or `if b:`."""
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    options = tuple((patch_node(code, test, *parenthesized(code, one, ATOM)),) for one in test.values)
    return Site(options, "all but one condition dropped", node.lineno)


@at_each(ast.Return)
def _return_dropped(code: PythonSource, node: ast.Return) -> Site | Refused | None:
    """`return x` to `x`."""
    if node.value is None:
        return None
    if isinstance(node.value, ast.Constant) and node.value.value is None:
        return Refused(IDLE)
    begin = code.start(node)
    first = token_after(code, begin + len("return"))
    assert first is not None
    return Site(((Patch(begin, first.start, ()),),), "return dropped", node.lineno)


IF_INVERTED_WRONG: Final = PythonRule(
    name="if-inverted-wrong", find=_not_exchanged, nothing="no if", kind="control"
)
FOR_OFF_BY_ONE: Final = PythonRule(
    name="for-off-by-one", find=_off_by_one, nothing="no for over a range", kind="control"
)
LOOP_LEFT_EARLY: Final = PythonRule(
    name="loop-left-early", find=_left_early, nothing="no loop", kind="control"
)
BRANCH_DROPPED: Final = PythonRule(name="branch-dropped", find=_dropped, nothing="no if", kind="control")
CONDITION_DROPPED: Final = PythonRule(
    name="condition-dropped", find=_condition_dropped, nothing="no if with and", kind="control"
)
RETURN_DROPPED: Final = PythonRule(
    name="return-dropped", find=_return_dropped, nothing="no return with a value", kind="control"
)

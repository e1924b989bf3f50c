"""Controls: edits that look like those of this family and change what a function does."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import (
    ATOM,
    editable_nodes,
    parenthesized,
    patch_node,
    patch_range,
    token_after,
)
from codeaudit.transforms.python.control_flow.branches import NO_ELSE, negation
from codeaudit.transforms.python.rewriting import PythonRule
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


def _not_exchanged(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, ast.If):
            yield Site(((negation(code, node),),), "condition negated", node.lineno)


def _off_by_one(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[])):
                pass
            case _:
                continue
        if not arguments or any(isinstance(argument, ast.Starred) for argument in arguments):
            continue
        options = [
            (patch_range(code, code.full(argument).start, code.full(argument).end, *parts),)
            for argument in arguments[:2]
            for change in (" - 1", " + 1")
            for parts in [(*parenthesized(code, argument, _SUM), change)]
        ]
        yield Site(tuple(options), "range moved by 1", node.lineno)


def _left_early(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if not isinstance(node, ast.For | ast.While | ast.AsyncFor):
            continue
        if always_leaves(node.body):
            yield Refused(LEFT)
            continue
        newline, inside = code.newline, code.indentation(node) + code.step
        if is_inline(code, node.body):
            begin = code.start(node.body[0])
            end = line_end(code, code.end(node.body[-1]))
            change = Patch(
                header_colon(code, node.body).end,
                end,
                (f"{newline}{inside}", Span(begin, end), f"{newline}{inside}break"),
            )
        else:
            inside = code.indentation(node.body[0])
            begin = code.start(node.body[0])
            end = block_end(code, node.body[-1], code.indentation(node))
            change = Patch(begin, end, (Span(begin, end), f"{newline}{inside}break"))
        yield Site(((change,),), "left after one turn", node.lineno)


def _dropped(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if not isinstance(node, ast.If):
            continue
        if not node.orelse:
            yield Refused(NO_ELSE)
            continue
        first, last = node.orelse[0], node.orelse[-1]
        if isinstance(first, ast.If) and is_elif(first, code):
            continue
        if _idle(node.orelse):
            yield Refused(IDLE)
            continue
        change = Patch(block_end(code, node.body[-1], code.indentation(node)), code.end(last), ())
        yield Site(((change,),), "else dropped", node.lineno)


def _idle(body: Sequence[ast.stmt]) -> bool:
    """Whether a block may do what happens without it."""
    match body:
        case [ast.Pass() | ast.Continue() | ast.Return(value=None | ast.Constant(value=None))]:
            return True
        case _:
            return False


def _condition_dropped(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.If(test=ast.BoolOp(op=ast.And(), values=values) as test):
                options = tuple(
                    (patch_node(code, test, *parenthesized(code, value, ATOM)),) for value in values
                )
                yield Site(options, "all but one condition dropped", node.lineno)


def _return_dropped(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            yield Refused(IDLE)
            continue
        begin = code.start(node)
        first = token_after(code, begin + len("return"))
        assert first is not None
        yield Site(((Patch(begin, first.start, ()),),), "return dropped", node.lineno)


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

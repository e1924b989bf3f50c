"""Controls: edits that look like those of this family and change what a function does."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.code import Code
from codeaudit.transforms.python.contexts import ATOM, following, nodes, over, patch, placed
from codeaudit.transforms.python.control_flow.branches import NO_ELSE, negation
from codeaudit.transforms.python.rewriting import Rewriting
from codeaudit.transforms.python.suites import colon, inline, is_elif, leaves, line_end, tail

LEFT: Final = "body leaves anyway"
IDLE: Final = "block does nothing"
_SUM: Final = 11


def _not_exchanged(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        if isinstance(node, ast.If):
            yield Site(((negation(code, node),),), "condition negated", node.lineno)


def _off_by_one(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[])):
                pass
            case _:
                continue
        if not arguments or any(isinstance(argument, ast.Starred) for argument in arguments):
            continue
        options = [
            (patch(code, code.full(argument).start, code.full(argument).end, *parts),)
            for argument in arguments[:2]
            for change in (" - 1", " + 1")
            for parts in [(*placed(code, argument, _SUM), change)]
        ]
        yield Site(tuple(options), "range moved by 1", node.lineno)


def _left_early(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        if not isinstance(node, ast.For | ast.While | ast.AsyncFor):
            continue
        if leaves(node.body):
            yield Refused(LEFT)
            continue
        newline, inside = code.newline, code.indentation(node) + code.step
        if inline(code, node.body):
            begin = code.start(node.body[0])
            end = line_end(code, code.end(node.body[-1]))
            change = Patch(
                colon(code, node.body).end,
                end,
                (f"{newline}{inside}", Span(begin, end), f"{newline}{inside}break"),
            )
        else:
            inside = code.indentation(node.body[0])
            begin = code.start(node.body[0])
            end = tail(code, node.body[-1], code.indentation(node))
            change = Patch(begin, end, (Span(begin, end), f"{newline}{inside}break"))
        yield Site(((change,),), "left after one turn", node.lineno)


def _dropped(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        if not isinstance(node, ast.If):
            continue
        if not node.orelse:
            yield Refused(NO_ELSE)
            continue
        first, last = node.orelse[0], node.orelse[-1]
        if isinstance(first, ast.If) and is_elif(code, first):
            continue
        if _idle(node.orelse):
            yield Refused(IDLE)
            continue
        change = Patch(tail(code, node.body[-1], code.indentation(node)), code.end(last), ())
        yield Site(((change,),), "else dropped", node.lineno)


def _idle(body: Sequence[ast.stmt]) -> bool:
    """Whether a block may do what happens without it."""
    match body:
        case [ast.Pass() | ast.Continue() | ast.Return(value=None | ast.Constant(value=None))]:
            return True
        case _:
            return False


def _condition_dropped(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        match node:
            case ast.If(test=ast.BoolOp(op=ast.And(), values=values) as test):
                options = tuple((over(code, test, *placed(code, value, ATOM)),) for value in values)
                yield Site(options, "all but one condition dropped", node.lineno)
            case _:
                pass


def _return_dropped(code: Code) -> Iterator[Site | Refused]:
    for node in nodes(code):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            yield Refused(IDLE)
            continue
        begin = code.start(node)
        first = following(code, begin + len("return"))
        assert first is not None
        yield Site(((Patch(begin, first.start, ()),),), "return dropped", node.lineno)


IF_INVERTED_WRONG: Final = Rewriting(
    name="if-inverted-wrong", find=_not_exchanged, nothing="no if", kind="control"
)
FOR_OFF_BY_ONE: Final = Rewriting(
    name="for-off-by-one", find=_off_by_one, nothing="no for over a range", kind="control"
)
LOOP_LEFT_EARLY: Final = Rewriting(
    name="loop-left-early", find=_left_early, nothing="no loop", kind="control"
)
BRANCH_DROPPED: Final = Rewriting(name="branch-dropped", find=_dropped, nothing="no if", kind="control")
CONDITION_DROPPED: Final = Rewriting(
    name="condition-dropped", find=_condition_dropped, nothing="no if with and", kind="control"
)
RETURN_DROPPED: Final = Rewriting(
    name="return-dropped", find=_return_dropped, nothing="no return with a value", kind="control"
)

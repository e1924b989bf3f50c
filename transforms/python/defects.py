"""Defects that people make, each at one place: the seeded bugs of the corpus `bugs`, beyond the catalogue's
controls.

They are controls: an edit is meant to change what the function does, and only execution can say whether it
does. The text around the place stays the author's, so that nothing but the defect distinguishes a bug from
its original.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.contexts import (
    ATOM,
    NOT,
    editable_nodes,
    parenthesized,
    patch_node,
    patch_range,
    replace_with,
    tokens_between,
)
from codeaudit.transforms.python.rewriting import Finder, PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Lt: ("<=",), ast.LtE: ("<",), ast.Gt: (">=",), ast.GtE: (">",), ast.Eq: ("!=",), ast.NotEq: ("==",),
    ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
_OPERATORS: Final[dict[type[ast.operator], tuple[str, ...]]] = {
    ast.Add: ("-",), ast.Sub: ("+",), ast.Mult: ("+", "//"), ast.Div: ("//", "*"), ast.FloorDiv: ("/", "%"),
    ast.Mod: ("//",), ast.LShift: (">>",), ast.RShift: ("<<",), ast.BitAnd: ("|",), ast.BitOr: ("&",),
}  # fmt: skip
_OWNERS: Final = frozenset({"self", "cls"})
_MOST_NAMES: Final = 4
"""Most variables offered in exchange for one."""


def _compared(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, node.comparators, strict=False):
                signs = _COMPARISONS[type(operator)]
                yield _signs(code, left, right, signs, "another comparison")


@at_each(ast.BinOp)
def _calculated(code: PythonSource, node: ast.BinOp) -> Site | None:
    """`a + b` to `a - b`, and the like for other operators."""
    for side in (node.left, node.right):
        text = isinstance(side, ast.Constant) and isinstance(side.value, str | bytes)
        if text or isinstance(side, ast.JoinedStr):
            return None  # strings support no other operator that fits
    signs = _OPERATORS.get(type(node.op))
    return _signs(code, node.left, node.right, signs, "another operator") if signs else None


@at_each(ast.BoolOp)
def _connected(code: PythonSource, node: ast.BoolOp) -> Site | None:
    """`a and b` to `a or b`, and the other way round."""
    if len(node.values) != 2:
        return None
    sign = "and" if isinstance(node.op, ast.Or) else "or"
    return _signs(code, node.values[0], node.values[1], (sign,), f"{sign} instead")


def _signs(code: PythonSource, left: ast.expr, right: ast.expr, signs: tuple[str, ...], note: str) -> Site:
    tokens = tokens_between(code, code.full(left).end, code.full(right).start)
    start, end = tokens[0].start, tokens[-1].end
    # Only words need blanks around them; blanks around a sign would show that it was inserted.
    options = (
        patch_range(code, start, end, sign) if sign[0].isalpha() else Patch(start, end, (sign,))
        for sign in signs
    )
    return Site(tuple((option,) for option in options), note, left.lineno)


@at_each(ast.Name)
def _mistaken(code: PythonSource, node: ast.Name) -> Site | None:
    """A variable that is read, and others that are certainly bound there."""
    if not isinstance(node.ctx, ast.Load):
        return None
    above = code.parent(node)
    names = code.bound(node) - _OWNERS
    # A called name is a function, which no variable replaces without a crash.
    if node.id not in names or (isinstance(above, ast.Call) and above.func is node):
        return None
    options = tuple((patch_node(code, node, name),) for name in sorted(names - {node.id})[:_MOST_NAMES])
    return Site(options, f"not {node.id}", node.lineno) if options else None


@at_each(ast.Call)
def _uncalled(code: PythonSource, node: ast.Call) -> Site | None:
    """`f(x)` to `x`, and `x.f()` to `x`."""
    # `x.close()` without its call would be a statement without effect, which gives the defect away.
    if isinstance(code.parent(node), ast.Expr | ast.Raise | ast.Await):
        return None
    match node:
        case ast.Call(func=ast.Name(), args=[ast.Starred() | ast.GeneratorExp()]):
            return None
        case ast.Call(func=ast.Name(), args=[value], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=value), args=[], keywords=[]):
            pass
        case _:
            return None
    change = patch_node(code, node, *parenthesized(code, value, ATOM))
    return Site(((change,),), "call left out", node.lineno)


@at_each(ast.If, ast.While, ast.IfExp)
def _negated(code: PythonSource, node: ast.If | ast.While | ast.IfExp) -> Site | None:
    """A condition that is not a comparison, negated. In front of a comparison, `not` would show that it was
    inserted.
    """
    test = node.test
    if not isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    change = replace_with(code, test, NOT, "not ", *parenthesized(code, test, NOT))
    return Site(((change,),), "condition negated", test.lineno)


@at_each(ast.Constant, ast.UnaryOp)
def _shifted(code: PythonSource, node: ast.Constant | ast.UnaryOp) -> Site | None:
    """An integer between -1000 and 1000, one higher or lower; from 0 only higher."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(size))) if size:
            value = -size
        case ast.Constant(value=int(value)):
            above = code.parent(node)
            # `-5` is one number.
            if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.USub):
                return None
        case _:
            return None
    if isinstance(value, bool) or abs(value) >= 1000:
        return None
    changes = [value + 1, value - 1] if value else [1]
    options = tuple((patch_node(code, node, str(change)),) for change in changes)
    return Site(options, "number one off", node.lineno)


def _defect(name: str, find: Finder, nothing: str) -> PythonRule:
    return PythonRule(name=name, find=find, nothing=nothing, kind="control")


COMPARISON_MISTAKEN: Final = _defect("comparison-mistaken", _compared, "no comparison")
OPERATOR_MISTAKEN: Final = _defect("operator-mistaken", _calculated, "no arithmetic")
LOGIC_MISTAKEN: Final = _defect("logic-mistaken", _connected, "no `and` or `or`")
VARIABLE_MISTAKEN: Final = _defect("variable-mistaken", _mistaken, "no variable to mistake")
CALL_FORGOTTEN: Final = _defect("call-forgotten", _uncalled, "no call with a value")
CONDITION_NEGATED: Final = _defect("condition-negated", _negated, "no condition")
NUMBER_MISTAKEN: Final = _defect("number-mistaken", _shifted, "no number")

DEFECTS: Final = (
    COMPARISON_MISTAKEN,
    OPERATOR_MISTAKEN,
    LOGIC_MISTAKEN,
    VARIABLE_MISTAKEN,
    CALL_FORGOTTEN,
    CONDITION_NEGATED,
    NUMBER_MISTAKEN,
)

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
from codeaudit.transforms.python.rewriting import PythonRule
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


def _calculated(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            if any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (node.left, node.right)):
                continue  # strings support no other operator that fits
            yield _signs(code, node.left, node.right, _OPERATORS[type(node.op)], "another operator")


def _connected(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.BoolOp(op=operator, values=[left, right]):
                sign = "and" if isinstance(operator, ast.Or) else "or"
                yield _signs(code, left, right, (sign,), f"{sign} instead")


def _signs(code: PythonSource, left: ast.expr, right: ast.expr, signs: tuple[str, ...], note: str) -> Site:
    tokens = tokens_between(code, code.full(left).end, code.full(right).start)
    start, end = tokens[0].start, tokens[-1].end
    # Only words need blanks around them; blanks around a sign would show that it was inserted.
    options = (
        patch_range(code, start, end, sign) if sign[0].isalpha() else Patch(start, end, (sign,))
        for sign in signs
    )
    return Site(tuple((option,) for option in options), note, left.lineno)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _mistaken(code: PythonSource) -> Iterator[Site | Refused]:
    """A variable that is read, and others that are certainly bound there."""
    for node in editable_nodes(code):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        above = code.parent(node)
        known = code.bound(node) - _OWNERS
        if node.id not in known or (isinstance(above, ast.Call) and above.func is node):
            continue
        others = sorted(known - {node.id})[:_MOST_NAMES]
        if others:
            yield Site(
                tuple((patch_node(code, node, name),) for name in others), f"not {node.id}", node.lineno
            )


def _uncalled(code: PythonSource) -> Iterator[Site | Refused]:
    """`f(x)` becomes `x`, and `x.f()` becomes `x`."""
    for node in editable_nodes(code):
        if not isinstance(node, ast.Call) or node.keywords:
            continue
        if isinstance(code.parent(node), ast.Expr | ast.Raise | ast.Await):
            continue
        match node:
            case ast.Call(func=ast.Name(), args=[kept]) if not isinstance(
                kept, ast.Starred | ast.GeneratorExp
            ):
                pass
            case ast.Call(func=ast.Attribute(value=kept), args=[]):
                pass
            case _:
                continue
        yield Site(
            ((patch_node(code, node, *parenthesized(code, kept, ATOM)),),), "call left out", node.lineno
        )


def _negated(code: PythonSource) -> Iterator[Site | Refused]:
    """A condition that is not a comparison, negated. In front of a comparison, `not` would show that it was
    inserted.
    """
    for node in editable_nodes(code):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if isinstance(
                test, ast.Name | ast.Attribute | ast.Call | ast.Subscript
            ):
                change = replace_with(code, test, NOT, "not ", *parenthesized(code, test, NOT))
                yield Site(((change,),), "condition negated", test.lineno)


def _shifted(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool) and value < 1000:
                changes = [value + 1, value - 1] if value else [1]
                options: tuple[tuple[Patch, ...], ...] = tuple(
                    (patch_node(code, node, str(change)),) for change in changes
                )
                yield Site(options, "number one off", node.lineno)


COMPARISON_MISTAKEN: Final = PythonRule(
    name="comparison-mistaken", find=_compared, nothing="no comparison", kind="control"
)
OPERATOR_MISTAKEN: Final = PythonRule(
    name="operator-mistaken", find=_calculated, nothing="no arithmetic", kind="control"
)
LOGIC_MISTAKEN: Final = PythonRule(
    name="logic-mistaken", find=_connected, nothing="no and or or", kind="control"
)
VARIABLE_MISTAKEN: Final = PythonRule(
    name="variable-mistaken", find=_mistaken, nothing="no variable to mistake", kind="control"
)
CALL_FORGOTTEN: Final = PythonRule(
    name="call-forgotten", find=_uncalled, nothing="no call with a value", kind="control"
)
CONDITION_NEGATED: Final = PythonRule(
    name="condition-negated", find=_negated, nothing="no condition", kind="control"
)
NUMBER_MISTAKEN: Final = PythonRule(
    name="number-mistaken", find=_shifted, nothing="no number", kind="control"
)

DEFECTS: Final = (
    COMPARISON_MISTAKEN,
    OPERATOR_MISTAKEN,
    LOGIC_MISTAKEN,
    VARIABLE_MISTAKEN,
    CALL_FORGOTTEN,
    CONDITION_NEGATED,
    NUMBER_MISTAKEN,
)

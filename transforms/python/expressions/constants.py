"""Numbers that a text itself computes: `2 ** 4`, `-1`.

The controls ask: an edit that exchanges equal numbers changes nothing.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
SIGNS: Final = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_LARGEST: Final = 1 << 64
_LEFT: Final = (2, 3, 7, 100)
"""Values tried for an unknown left operand."""


def number(node: ast.expr) -> int | float | None:
    """The number that an expression of constants gives; `None` if it is none, or too large."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = number(operand)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            first, second = number(left), number(right)
            return None if first is None or second is None else applied(type(op), first, second)
        case _:
            return None


def applied(op: type[ast.operator], left: float, right: float) -> int | float | None:
    """The result of an operator; `None` if it raises, is no number of this kind, or is too large."""
    found = result(op, left, right)
    return found if isinstance(found, int | float) and abs(found) < _LARGEST else None


def result(op: type[ast.operator], left: float, right: float) -> object:
    """The result of an operator, or the type of its error; another object each time if it may be large."""
    if op in (ast.Pow, ast.LShift) and not abs(right) <= 64:
        return object()
    try:
        return BINARY[op](left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        return type(error)


def alike(one: type[ast.operator], other: type[ast.operator], right: ast.expr) -> bool:
    """Whether two operators give the same with this right operand, whatever the left one is, as of 0."""
    value = number(right)
    if value is None:
        return False
    return all(result(one, left, value) == result(other, left, value) for left in _LEFT)

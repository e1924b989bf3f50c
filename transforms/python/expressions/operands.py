"""Operands that change places.

An operator on foreign objects is a call, and the order of the operands decides which method of which operand
is called. Therefore both types must be certain, with one exception: a comparison for equality with an `int`,
`str`, `bytes` or `None` asks the other operand's `__eq__` (or `__ne__`) exactly once in either order, because
these types leave foreign types to the other side.

Not counted as a difference: the sign bit of a NaN. A sum of two NaNs keeps the sign of either.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.knowledge import NUMBERS, PLAIN
from codeaudit.transforms.python.contexts import (
    Part,
    parenthesized,
    patch_node,
    patch_range,
    side_precedences,
    tokens_between,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource

_WHOLE: Final = frozenset({"int", "bool"})
_DEFERRING: Final = frozenset({"int", "str", "bytes", "none"})
"""Types whose `__eq__` answers for no foreign type, and is asked after that of a subclass."""

_MIRRORED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not",
}  # fmt: skip
"""The operator that means the same with exchanged operands."""
_WRONG: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Lt: (">", ">="), ast.LtE: (">", ">="), ast.Gt: ("<", "<="), ast.GtE: ("<", "<="), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
"""The operators that the control puts in the place of each operator."""

UNKNOWN: Final = "operands of unknown type"
ORDER: Final = "order of evaluation would change"
CHAINED: Final = "chained comparison"
EQUAL: Final = "operands are equal"


def independent(code: PythonSource, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions may be evaluated in either order, each of them once."""
    calm, busy = (one, other) if code.harmless(one) else (other, one)
    if not code.harmless(calm):
        return False
    if code.harmless(busy):
        return True
    # The other expression may read the name that a walrus binds.
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(busy)):
        return False
    # One may change an object that the other reads, unless its value is immutable.
    met = {node.id for node in ast.walk(busy) if isinstance(node, ast.Name)}
    return all(
        node.id not in met or code.kind(node) in PLAIN
        for node in ast.walk(calm)
        if isinstance(node, ast.Name)
    )


def exchanged(code: PythonSource, node: ast.BinOp | ast.Compare, sign: str) -> Site:
    """The site that exchanges the operands of a single operator and writes `sign` between them."""
    left, right = node.left, node.right if isinstance(node, ast.BinOp) else node.comparators[0]
    first, second = code.full(left), code.full(right)
    tokens = tokens_between(code, first.end, second.start)
    before, behind = Span(first.end, tokens[0].start), Span(tokens[-1].end, second.start)
    lower, upper = side_precedences(node)
    parts: tuple[Part, ...] = (
        *parenthesized(code, right, lower),
        before,
        _spaced(code, sign, before, behind),
        behind,
    )
    parts += parenthesized(code, left, upper)
    return Site(((patch_node(code, node, *parts),),), f"operands of {sign} change places", node.lineno)


def _spaced(code: PythonSource, sign: str, before: Span, behind: Span) -> str:
    """The operator; one that is a word gets blanks where it would run into its new neighbours."""
    if not sign[0].isalpha():
        return sign
    return " " * (before.start == before.end) + sign + " " * (behind.start == behind.end)


@at_each(ast.BinOp, ast.Compare)
def _swap(code: PythonSource, node: ast.BinOp | ast.Compare) -> Site | Refused | None:
    """`a + b` to `b + a`, and the like for other commutative operators."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Mult()):
            exact = NUMBERS
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            exact = _WHOLE
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            return _turned(code, node)
        case _:
            return None
    assert isinstance(node, ast.BinOp)
    if not {code.kind(node.left), code.kind(node.right)} <= exact:
        return Refused(UNKNOWN)
    if not independent(code, node.left, node.right):
        return Refused(ORDER)
    return exchanged(code, node, _sign(code, node))


@at_each(ast.Compare)
def _flip(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b` to `b > a`."""
    match node.ops:
        case [ast.In() | ast.NotIn()]:
            return None
        case [_]:
            return _turned(code, node)
        case _:
            return Refused(CHAINED)


def _turned(code: PythonSource, node: ast.Compare) -> Site | Refused:
    """The site that mirrors one comparison, or the reason why it cannot be mirrored."""
    left, right, op = node.left, node.comparators[0], node.ops[0]
    kinds = (code.kind(left), code.kind(right))
    match op:
        case ast.Is() | ast.IsNot():
            exact = True
        case ast.Eq() | ast.NotEq():
            exact = set(kinds) <= PLAIN or not _DEFERRING.isdisjoint(kinds)
        case _:
            exact = set(kinds) <= NUMBERS or set(kinds) in ({"str"}, {"bytes"})
    if not exact:
        return Refused(UNKNOWN)
    if not independent(code, left, right):
        return Refused(ORDER)
    return exchanged(code, node, _MIRRORED[type(op)])


def _sign(code: PythonSource, node: ast.BinOp) -> str:
    """The operator as it is written."""
    return tokens_between(code, code.full(node.left).end, code.full(node.right).start)[0].text


@at_each(ast.Compare)
def _flip_wrongly(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b` to `a > b` or `a >= b`."""
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return None
    if len(node.ops) > 1:
        return Refused(CHAINED)
    tokens = tokens_between(code, code.full(node.left).end, code.full(node.comparators[0]).start)
    start, end = tokens[0].start, tokens[-1].end
    options = tuple((patch_range(code, start, end, sign),) for sign in _WRONG[type(node.ops[0])])
    return Site(options, f"{code.slice(Span(start, end))} becomes another sign", node.lineno)


@at_each(ast.BinOp)
def _swap_wrongly(code: PythonSource, node: ast.BinOp) -> Site | Refused | None:
    """`a - b` to `b - a`."""
    if not isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        return None
    if ast.dump(node.left) == ast.dump(node.right):
        return Refused(EQUAL)
    return exchanged(code, node, _sign(code, node))


SWAP_OPERANDS: Final = PythonRule(name="swap-operands", find=_swap, nothing="no commutative operator")
FLIP_COMPARISONS: Final = PythonRule(name="flip-comparisons", find=_flip, nothing="no comparison")
COMPARISON_FLIPPED_WRONG: Final = PythonRule(
    name="comparison-flipped-wrong", find=_flip_wrongly, nothing="no comparison", kind="control"
)
OPERANDS_SWAPPED_WRONG: Final = PythonRule(
    name="operands-swapped-wrong", find=_swap_wrongly, nothing="no operator to swap", kind="control"
)

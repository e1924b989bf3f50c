"""Operators with their operands in the other order, and `a += b` against `a = a + b`; and the controls.

An operator on foreign objects is a call, and the order of the operands decides which method of which operand
is called. Therefore both types must be certain, with one exception: a comparison for equality with an `int`,
`str`, `bytes` or `None` asks the other operand's `__eq__` (or `__ne__`) exactly once in either order, because
these types leave foreign types to the other side.

A list adds in place, and so does every object with an `__iadd__`. The message of the TypeError for an operand
that does not fit names the operator (`+=` or `+`). Therefore the type of an augmented variable must be
certain and immutable, and the operator must be defined for both operands.

Not counted as a difference: the sign bit of a NaN. A sum of two NaNs keeps the sign of either.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from codeaudit.transforms.dependence.effects import EXPECTS, LOOKS_UP
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.analysis.comparisons import is_exact
from codeaudit.transforms.python.analysis.expressions import LOOKS
from codeaudit.transforms.python.analysis.knowledge import NUMBERS, PLAIN
from codeaudit.transforms.python.contexts import (
    has_parentheses,
    operator_between,
    parenthesized,
    patch_node,
    patch_span,
    precedence,
    side_precedences,
    token_after,
    tokens_between,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource, PythonToken

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
    value = result(op, left, right)
    return value if isinstance(value, int | float) and abs(value) < _LARGEST else None


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


UNKNOWN: Final = "operands of unknown type"
ORDER: Final = "order of evaluation would change"
CHAINED: Final = "chained comparison"
EQUAL: Final = "operands or results are equal"
UNKNOWN_VARIABLE: Final = "variable of unknown type"
OTHER: Final = "operator may not be defined for the operand"
LAYOUT: Final = "comment or line break between the parts"
TARGET: Final = "target is no variable"

_LOOKING_UP: Final = LOOKS_UP | EXPECTS
_WHOLE: Final = frozenset({"int", "bool"})
_DEFERRING: Final = frozenset({"int", "str", "bytes", "none"})
"""Types whose `__eq__` answers for no foreign type, and is asked after that of a subclass."""
_SEQUENCES: Final = frozenset({"str", "bytes", "tuple"})
"""Immutable types whose `+` refuses a foreign operand in words that do not name the operator."""

_MIRRORED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not",
}  # fmt: skip
"""The operator that means the same with exchanged operands."""
_WRONG_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Lt: (">", ">="), ast.LtE: (">", ">="), ast.Gt: ("<", "<="), ast.GtE: ("<", "<="), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
_WRONG_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*",
    ast.Mod: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>",
    ast.RShift: "<<", ast.Pow: "*",
}  # fmt: skip
"""The operators that the controls put in the place of each operator."""


# ── operands that change places ──────────────────────────────────────────────────────────────────────────


@at_each(ast.BinOp, ast.Compare)
def find_swapped(code: PythonSource, node: ast.BinOp | ast.Compare) -> Site | Refused | None:
    """`a + b` to `b + a`, and the like for other commutative operators."""
    match node:
        # `"a" + "b"` and `[1] + [2]` do not commute; the sum and product of numbers do.
        case ast.BinOp(op=ast.Add() | ast.Mult()):
            exact = NUMBERS
        # `{1: 2} | {1: 3}` is `{1: 3}`: for other types than integers, the right operand may win.
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            exact = _WHOLE
        case ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            return _mirrored(code, node)
        case _:
            return None
    assert isinstance(node, ast.BinOp)
    if not {code.kind(node.left), code.kind(node.right)} <= exact:
        return Refused(UNKNOWN)
    if not _independent(code, node.left, node.right):
        return Refused(ORDER)
    return _exchanged(code, node, code.slice(operator_between(code, node.left, node.right)))


@at_each(ast.Compare)
def find_flipped(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b` to `b > a`."""
    match node.ops:
        case [ast.In() | ast.NotIn()]:
            return None
        case [_]:
            return _mirrored(code, node)
        # In `a < b < c`, `b` belongs to both comparisons.
        case _:
            return Refused(CHAINED)


def _mirrored(code: PythonSource, node: ast.Compare) -> Site | Refused:
    """The site that mirrors one comparison, or the reason why it cannot be mirrored."""
    left, right, op = node.left, node.comparators[0], node.ops[0]
    kinds = code.kind(left), code.kind(right)
    # `a < b` calls `a.__lt__(b)`, and `b > a` calls `b.__gt__(a)`.
    deferring = isinstance(op, ast.Eq | ast.NotEq) and not _DEFERRING.isdisjoint(kinds)
    if not deferring and not is_exact(op, *kinds):
        return Refused(UNKNOWN)
    if not _independent(code, left, right):
        return Refused(ORDER)
    return _exchanged(code, node, _MIRRORED[type(op)])


def _independent(code: PythonSource, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions may be evaluated in either order, each of them once."""
    calm, busy = (one, other) if code.harmless(one) else (other, one)
    # `next(it) - next(it)`: each may change what the other gives, or raise first.
    if not code.harmless(calm):
        # `type(x) is Row`: what only looks up may come before or after what only looks.
        sides = [code.effects(side) for side in (one, other)]
        looking = not any(side.writes or side.flags & ~(LOOKS | _LOOKING_UP) for side in sides)
        return looking and any(not side.flags & ~_LOOKING_UP for side in sides)
    if code.harmless(busy):
        return True
    # `n + (n := 4)`: the other expression may read the name that a walrus binds.
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(busy)):
        return False
    # `xs == xs.pop()`: one may change an object that the other reads, unless its value is immutable.
    met = {node.id for node in ast.walk(busy) if isinstance(node, ast.Name)}
    return all(
        node.id not in met or code.kind(node) in PLAIN
        for node in ast.walk(calm)
        if isinstance(node, ast.Name)
    )


def _exchanged(code: PythonSource, node: ast.BinOp | ast.Compare, sign: str) -> Site:
    """The site that exchanges the operands of a single operator and writes `sign` between them."""
    left, right = node.left, node.right if isinstance(node, ast.BinOp) else node.comparators[0]
    operator = operator_between(code, left, right)
    before, behind = Span(code.full(left).end, operator.start), Span(operator.end, code.full(right).start)
    lower, upper = side_precedences(node)
    # An operator that is a word gets blanks where it would run into its new neighbours: `(a)is(b)`.
    if sign[0].isalpha():
        written = " " * (before.start == before.end) + sign + " " * (behind.start == behind.end)
    else:
        written = sign
    parts = (*parenthesized(code, right, lower), before, written, behind, *parenthesized(code, left, upper))
    return edit(f"operands of {sign} change places", node.lineno, patch_node(code, node, *parts))


def swapped(code: PythonSource, node: ast.BinOp | ast.Compare) -> Site:
    """The site that exchanges the operands of a single operator, which has to commute or to have a mirror."""
    if isinstance(node, ast.Compare):
        return _exchanged(code, node, _MIRRORED[type(node.ops[0])])
    return _exchanged(code, node, code.slice(operator_between(code, node.left, node.right)))


SWAP_OPERANDS: Final = PythonRule("swap-operands", find_swapped, "no commutative operator")
FLIP_COMPARISONS: Final = PythonRule("flip-comparisons", find_flipped, "no comparison")


# ── augmented assignments ────────────────────────────────────────────────────────────────────────────────


def _augmented_obstacle(code: PythonSource, name: ast.Name, op: ast.operator, value: ast.expr) -> str | None:
    """Why `a op= b` may differ from `a = a op b`; `None` if they mean the same."""
    # Only a local has a certain type: other functions may rebind a global.
    facts = code.facts(name)
    kind = facts.types.get(name.id) if facts is not None and name.id in facts.local else None
    other = code.kind(value)
    if kind in NUMBERS:
        fits = NUMBERS
        if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift):
            fits = _WHOLE
        # `n += a` may raise "unsupported operand type(s) for +=", and `n = n + a` says "for +".
        if kind not in fits or other not in fits or isinstance(op, ast.MatMult):
            return OTHER
        return None
    # `xs += [1]` changes the list that `ys = xs` names too.
    if kind not in _SEQUENCES:
        return UNKNOWN_VARIABLE
    # Errors of these do not name the operator (see `_SEQUENCES`).
    if isinstance(op, ast.Add) or (isinstance(op, ast.Mod) and kind == "str"):
        return None
    return None if isinstance(op, ast.Mult) and other in _WHOLE else OTHER


def _operator_after(code: PythonSource, node: ast.expr) -> PythonToken:
    token = token_after(code, code.full(node).end)
    assert token is not None
    return token


@at_each(ast.AugAssign)
def _expand(code: PythonSource, node: ast.AugAssign) -> Site | Refused:
    """`a += b` to `a = a + b`."""
    # `a[f()] += 1` calls `f` once.
    if not isinstance(node.target, ast.Name):
        return Refused(TARGET)
    if obstacle := _augmented_obstacle(code, node.target, node.op, node.value):
        return Refused(obstacle)
    token, value = _operator_after(code, node.target), code.full(node.value)
    name, sign = node.target.id, token.text[:-1]
    patches = [Patch(token.start, token.end, (f"= {name} {sign}",))]
    right = side_precedences(ast.BinOp(node.target, node.op, node.value))[1]
    # `a -= b - c` is `a = a - (b - c)`.
    if not has_parentheses(code, node.value) and precedence(code, node.value) < right:
        patches.append(patch_span(code, value, "(", value, ")"))
    return edit(f"{name} {token.text} written out", node.lineno, *patches)


@at_each(ast.Assign)
def _contract(code: PythonSource, node: ast.Assign) -> Site | Refused | None:
    """`a = a + b` to `a += b`."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name) as target],
            value=ast.BinOp(left=ast.Name(id=left), op=op, right=right) as value,
        ) if name == left:
            obstacle = _augmented_obstacle(code, target, op, right)
        case _:
            return None
    if obstacle is not None:
        return Refused(obstacle)
    tokens = tokens_between(code, code.end(target), code.full(right).start)
    start, end = tokens[0].start, tokens[-1].end
    # The three tokens are `=`, the name and the operator; more of them are parentheses.
    if len(tokens) != 3 or has_parentheses(code, value) or b"\n" in code.source[start:end]:
        return Refused(LAYOUT)
    sign = f"{tokens[-1].text}="
    return edit(f"{name} {sign} contracted", node.lineno, Patch(start, end, (sign,)))


EXPAND_AUGMENTED: Final = PythonRule("expand-augmented", _expand, "no augmented assignment")
CONTRACT_AUGMENTED: Final = PythonRule("contract-augmented", _contract, "no assignment to augment")


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.Compare)
def _flip_wrongly(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b` to `a > b` or `a >= b`."""
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return None
    if len(node.ops) > 1:
        return Refused(CHAINED)
    sign = operator_between(code, node.left, node.comparators[0])
    options = tuple((patch_span(code, sign, wrong),) for wrong in _WRONG_COMPARISONS[type(node.ops[0])])
    return Site(options, f"{code.slice(sign)} becomes another sign", node.lineno)


@at_each(ast.BinOp)
def _swap_wrongly(code: PythonSource, node: ast.BinOp) -> Site | Refused | None:
    """`a - b` to `b - a`."""
    if not isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        return None
    # `n - n` stays what it was, which is no control.
    if ast.dump(node.left) == ast.dump(node.right):
        return Refused(EQUAL)
    # Neither does `2 ** 4`.
    left, right = number(node.left), number(node.right)
    if (
        left is not None
        and right is not None
        and result(type(node.op), left, right) == result(type(node.op), right, left)
    ):
        return Refused(EQUAL)
    return _exchanged(code, node, code.slice(operator_between(code, node.left, node.right)))


@at_each(ast.AugAssign, ast.Assign)
def _augment_wrongly(code: PythonSource, node: ast.AugAssign | ast.Assign) -> Site | Refused | None:
    """Another operator in `a += b` or `a = a + b`."""
    match node:
        case ast.AugAssign(target=before, op=op, value=right):
            suffix = "="
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=left) as before, op=op, right=right),
        ) if name == left:
            suffix = ""
        case _:
            return None
    if type(op) not in _WRONG_OPERATORS:
        return None
    wrong = _WRONG_OPERATORS[type(op)]
    # `x += 0` and `x -= 0` are one.
    if alike(type(op), SIGNS[wrong], right):
        return Refused(EQUAL)
    token = _operator_after(code, before)
    change = Patch(token.start, token.end, (f"{wrong}{suffix}",))
    return edit(f"{token.text} becomes another", node.lineno, change)


COMPARISON_FLIPPED_WRONG: Final = control("comparison-flipped-wrong", _flip_wrongly, "no comparison")
OPERANDS_SWAPPED_WRONG: Final = control("operands-swapped-wrong", _swap_wrongly, "no operator to swap")
AUGMENTED_WRONG: Final = control("augmented-wrong", _augment_wrongly, "no augmented assignment")

"""Conditions in another form: De Morgan's laws, double negation, negated comparisons.

In a condition (of `if`, `while`, `assert`, a conditional expression, a comprehension, a guard) every operand
is tested for truth at most once, in the order of the text, however `and`, `or` and `not` are nested around
it. Where the value itself is used, `not (a and b)` tests the deciding operand twice. There, the truth test of
the operands must run no foreign code, and an operand that may become the value must be a bool.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.knowledge import KNOWN, NUMBERS, PLAIN
from codeaudit.transforms.python.contexts import (
    NOT,
    has_comment,
    in_condition,
    is_bool,
    negated,
    parenthesized,
    parenthesized_inside,
    patch_range,
    replace_with,
    tokens_between,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource

_OPPOSITE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip

NO_BOOL: Final = "value may not be a bool"
TESTS: Final = "number of truth tests would change"
UNKNOWN: Final = "operands of unknown type"
NAN: Final = "operands may be unordered"
CHAINED: Final = "chained comparison"
COMMENT: Final = "comment between the parts"


@at_each(ast.UnaryOp, ast.BoolOp)
def _de_morgan(code: PythonSource, node: ast.UnaryOp | ast.BoolOp) -> Site | Refused | None:
    """De Morgan's laws in both directions, and `a and b` to `not (not a or not b)`."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as inside):
            return _distributed(code, node, inside)
        case ast.BoolOp(values=values) if not _is_not(code.parent(node)):
            return _gathered(code, node) if all(map(_is_not, values)) else _twice_negated(code, node)
        case _:
            return None


def _distributed(code: PythonSource, node: ast.UnaryOp, inside: ast.BoolOp) -> Site | Refused:
    """`not (a and b)` to `not a or not b`; the parentheses stay."""
    tested = in_condition(code, node)
    if not tested and not _calm(code, inside):
        return Refused(TESTS)
    if _annotated(code, inside):
        return Refused(COMMENT)
    patches = [without_not(code, node), *_other_words(code, inside)]
    for value in inside.values:
        full = code.full(value)
        parts = negated(code, value, tested=tested)
        patches.append(patch_range(code, full.start, full.end, *parts))
    return Site((tuple(patches),), f"not ({_word(inside)}) spread", node.lineno)


def _gathered(code: PythonSource, node: ast.BoolOp) -> Site | Refused:
    """`not a or not b` to `not (a and b)`."""
    if not in_condition(code, node) and not _calm(code, node, inside=True):
        return Refused(TESTS)
    if _annotated(code, node):
        return Refused(COMMENT)
    patches = [_around(code, node), *_other_words(code, node)]
    for value in node.values:
        assert isinstance(value, ast.UnaryOp)
        full = code.full(value)
        patches.append(patch_range(code, full.start, full.end, *parenthesized(code, value.operand, NOT)))
    return Site((tuple(patches),), f"not {_word(node)} not gathered", node.lineno)


def _twice_negated(code: PythonSource, node: ast.BoolOp) -> Site | Refused:
    """`a and b` to `not (not a or not b)`."""
    tested = in_condition(code, node)
    if not tested and not all(is_bool(code, value) for value in node.values):
        return Refused(NO_BOOL)
    if _annotated(code, node):
        return Refused(COMMENT)
    patches = [_around(code, node), *_other_words(code, node)]
    for value in node.values:
        full = code.full(value)
        patches.append(patch_range(code, full.start, full.end, *negated(code, value, tested=tested)))
    return Site((tuple(patches),), f"{_word(node)} negated twice", node.lineno)


def _calm(code: PythonSource, node: ast.BoolOp, *, inside: bool = False) -> bool:
    """Whether testing the operands for truth, once or twice, runs no foreign code.

    With `inside`, the operands of the `not`s are tested and not the `not`s themselves.
    """
    values = [value.operand if inside and isinstance(value, ast.UnaryOp) else value for value in node.values]
    return all(is_bool(code, value) or code.kind(value) in KNOWN for value in values[:-1]) and not any(
        isinstance(value, ast.BoolOp) and not _calm(code, value) for value in values
    )


def _annotated(code: PythonSource, node: ast.BoolOp) -> bool:
    """Whether a comment stands between the `not` of an operand and the operand, or behind it in its
    parentheses.
    """
    for value in node.values:
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            outer, inner = code.full(value), code.full(value.operand)
            if has_comment(code, outer.start, inner.start) or has_comment(code, inner.end, outer.end):
                return True
    return False


def _around(code: PythonSource, node: ast.expr) -> Patch:
    """A patch that writes `not (…)` around an expression."""
    return replace_with(code, node, NOT, "not (", code.span(node), ")")


def _other_words(code: PythonSource, node: ast.BoolOp) -> list[Patch]:
    """The patches that exchange `and` and `or`."""
    word = "and" if isinstance(node.op, ast.Or) else "or"
    found = []
    for one, other in zip(node.values, node.values[1:], strict=False):
        (token,) = tokens_between(code, code.full(one).end, code.full(other).start)
        found.append(patch_range(code, token.start, token.end, word))
    return found


def _word(node: ast.BoolOp) -> str:
    return "or" if isinstance(node.op, ast.Or) else "and"


def without_not(code: PythonSource, node: ast.UnaryOp) -> Patch:
    """A patch that drops the `not` of an expression and the blanks behind it."""
    start = code.start(node)
    end = start + len("not")
    while code.source[end : end + 1] in (b" ", b"\t"):
        end += 1
    return Patch(start, end, ())


# ── double negation ──────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.expr)
def _double(code: PythonSource, node: ast.expr) -> Site | Refused | None:
    """`not not x` to `x`, and the other way round."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=operand) as inner):
            if not in_condition(code, node) and not is_bool(code, operand):
                return Refused(NO_BOOL)
            changes = (without_not(code, node), without_not(code, inner))
            return Site((changes,), "not not dropped", node.lineno)
        case ast.Constant() | ast.Starred():
            return None
    if _is_not(node) or _is_not(code.parent(node)):
        return None
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return None
    if in_condition(code, node) and not isinstance(code.parent(node), ast.IfExp | ast.BoolOp):
        return _doubled(code, node)
    if isinstance(node, ast.BoolOp | ast.Compare | ast.Call | ast.Name) and _stored(code, node):
        return _doubled(code, node) if is_bool(code, node) else Refused(NO_BOOL)
    return None


def _is_not(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _stored(code: PythonSource, node: ast.expr) -> bool:
    """Whether an expression is the value of an assignment or a return, or an operand of `and` or `or` in a
    condition.
    """
    above = code.parent(node)
    if isinstance(above, ast.Assign | ast.Return):
        return True
    return isinstance(above, ast.BoolOp) and in_condition(code, node)


def _doubled(code: PythonSource, node: ast.expr) -> Site:
    change = replace_with(code, node, NOT, "not not ", *parenthesized_inside(code, node, NOT))
    return Site(((change,),), "negated twice", node.lineno)


# ── negated comparisons ──────────────────────────────────────────────────────────────────────────────────


@at_each(ast.UnaryOp, ast.Compare)
def _negate(code: PythonSource, node: ast.UnaryOp | ast.Compare) -> Site | Refused | None:
    """`not a == b` to `a != b`, and the other way round."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as inside):
            if obstacle := _obstacle(code, inside):
                return Refused(obstacle)
            changes = (without_not(code, node), _opposite(code, inside))
            return Site((changes,), "not goes into the comparison", node.lineno)
        case ast.Compare() if not _is_not(code.parent(node)):
            if obstacle := _obstacle(code, node):
                return Refused(obstacle)
            around = replace_with(code, node, NOT, "not ", *parenthesized_inside(code, node, NOT))
            return Site(((around, _opposite(code, node)),), "opposite comparison, negated", node.lineno)
        case _:
            return None


def _obstacle(code: PythonSource, node: ast.Compare) -> str | None:
    """Why the negated opposite comparison may give another value; `None` if it gives the same."""
    if len(node.ops) > 1:
        return CHAINED
    kinds = {code.kind(node.left), code.kind(node.comparators[0])}
    match node.ops[0]:
        case ast.Is() | ast.IsNot() | ast.In() | ast.NotIn():
            pass
        case ast.Eq() | ast.NotEq():
            if not kinds <= PLAIN:
                return UNKNOWN
        case _:
            if not kinds <= NUMBERS and kinds not in ({"str"}, {"bytes"}):
                return UNKNOWN
            # With a NaN, both `a < b` and `a >= b` are false.
            if "float" in kinds:
                return NAN
    start, end = _sign(code, node)
    return COMMENT if has_comment(code, start, end) else None


def _sign(code: PythonSource, node: ast.Compare) -> tuple[int, int]:
    """The offsets of the beginning and the end of a comparison's operator."""
    tokens = tokens_between(code, code.full(node.left).end, code.full(node.comparators[0]).start)
    return tokens[0].start, tokens[-1].end


def _opposite(code: PythonSource, node: ast.Compare) -> Patch:
    return patch_range(code, *_sign(code, node), _OPPOSITE[type(node.ops[0])])


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.BoolOp)
def _other_word(code: PythonSource, node: ast.BoolOp) -> Site:
    """`a and b` to `a or b`, and the other way round."""
    return Site((tuple(_other_words(code, node)),), f"{_word(node)} becomes the other", node.lineno)


@at_each(ast.UnaryOp, ast.Compare)
def _drop(code: PythonSource, node: ast.UnaryOp | ast.Compare) -> Site | None:
    """`not x` to `x`, `not in` to `in`, `is not` to `is`."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            change = without_not(code, node)
        case ast.Compare(ops=[ast.NotIn() | ast.IsNot()]):
            change = _opposite(code, node)
        case _:
            return None
    return Site(((change,),), "not dropped", node.lineno)


DE_MORGAN: Final = PythonRule(name="de-morgan", find=_de_morgan, nothing="no condition with and or or")
DOUBLE_NEGATION: Final = PythonRule(name="double-negation", find=_double, nothing="no condition")
NEGATE_COMPARISONS: Final = PythonRule(name="negate-comparisons", find=_negate, nothing="no comparison")
DE_MORGAN_WRONG: Final = PythonRule(
    name="de-morgan-wrong", find=_other_word, nothing="no condition with and or or", kind="control"
)
NEGATION_DROPPED: Final = PythonRule(
    name="negation-dropped", find=_drop, nothing="no negation", kind="control"
)

"""Conditions in another form: De Morgan's laws, double negation, negated comparisons, `a < b < c` against
`a < b and b < c`; and the controls.

In a condition (of `if`, `while`, `assert`, a conditional expression, a comprehension, a guard) every operand
is tested for truth at most once, in the order of the text, however `and`, `or` and `not` are nested around
it. Where the value itself is used, `not (a and b)` tests the deciding operand twice. There, the truth test of
the operands must run no foreign code, and an operand that may become the value must be a bool.

Both forms of a chain test the first comparison, and both give its value if it is false. `a < b and b < c`
reads the middle operand twice, so the operand must be a constant or a variable that only this function can
rebind. If the value is an operand of another `and`, `or` or `not`, one form is tested for truth more often
than the other; there, the comparisons must be known to give bools.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.analysis.comparisons import is_exact
from codeaudit.transforms.python.analysis.knowledge import KNOWN
from codeaudit.transforms.python.contexts import (
    AND,
    NOT,
    editable_nodes,
    has_comment,
    has_parentheses,
    in_condition,
    negated,
    operator_between,
    parenthesized_inside,
    patch_span,
    replace_with,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import COMMENT

NO_BOOL: Final = "value may not be a bool"
TESTS: Final = "number of truth tests would change"
UNKNOWN: Final = "operands of unknown type"
NAN: Final = "operands may be unordered"
CHAINED: Final = "chained comparison"
MIDDLE: Final = "middle may not be read twice"
LAYOUT: Final = "comment or parentheses between the parts"
NO_COMMON: Final = "comparisons share no operand"

_OPPOSITE: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_CHAINED_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)
"""Operators that comparisons must have to be chained."""


# ── De Morgan's laws ─────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.UnaryOp, ast.BoolOp)
def _de_morgan(code: PythonSource, node: ast.UnaryOp | ast.BoolOp) -> Site | Refused | None:
    """De Morgan's laws in both directions, and `a and b` to `not (not a or not b)`."""
    strip = tested = in_condition(code, node)
    match node:
        # `not (a and b)` to `not a or not b`; the parentheses stay. The first form tests a false `a` twice,
        # for `and` and for `not`.
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp() as inside):
            reason = None if tested or _calm(code, inside) else TESTS
            outer, note = _without_not(code, node), f"not ({_word(inside)}) spread"
        case ast.BoolOp(values=values) if not _is_not(code.parent(node)):
            inside = node
            outer = replace_with(code, node, NOT, "not (", code.span(node), ")")
            # `not a or not b` to `not (a and b)`: the same the other way round.
            if all(map(_is_not, values)):
                reason = None if tested or _calm(code, node, inside=True) else TESTS
                strip, note = True, f"not {_word(node)} not gathered"
            # `a and b` may give `[]`, and `not (not a or not b)` gives `False` then.
            else:
                reason = None if tested or all(code.kind(value) == "bool" for value in values) else NO_BOOL
                note = f"{_word(node)} negated twice"
        case _:
            return None
    if reason:
        return Refused(reason)
    if _annotated(code, inside):
        return Refused(COMMENT)
    negations = [
        patch_span(code, code.full(value), *negated(code, value, tested=strip)) for value in inside.values
    ]
    return edit(note, node.lineno, outer, *_other_words(code, inside), *negations)


def _calm(code: PythonSource, node: ast.BoolOp, *, inside: bool = False) -> bool:
    """Whether testing the operands for truth, once or twice, runs no foreign code.

    With `inside`, the operands of the `not`s are tested and not the `not`s themselves.
    """
    values = [value.operand if inside and isinstance(value, ast.UnaryOp) else value for value in node.values]
    return all(code.kind(value) in KNOWN for value in values[:-1]) and not any(
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


def _other_words(code: PythonSource, node: ast.BoolOp) -> list[Patch]:
    """The patches that exchange `and` and `or`."""
    word = "and" if isinstance(node.op, ast.Or) else "or"
    return [
        patch_span(code, operator_between(code, one, other), word) for one, other in pairwise(node.values)
    ]


def _word(node: ast.BoolOp) -> str:
    return "or" if isinstance(node.op, ast.Or) else "and"


def _without_not(code: PythonSource, node: ast.UnaryOp) -> Patch:
    """A patch that drops the `not` of an expression and the blanks behind it."""
    start = code.start(node)
    end = start + len("not")
    while code.source[end : end + 1] in (b" ", b"\t"):
        end += 1
    return Patch(start, end, ())


DE_MORGAN: Final = PythonRule("de-morgan", _de_morgan, "no condition with `and` or `or`")


# ── double negation ──────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.expr)
def _double(code: PythonSource, node: ast.expr) -> Site | Refused | None:
    """`not not x` to `x`, and the other way round."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=operand) as inner):
            # `not not []` is `False`, and `[]` is a list.
            if not in_condition(code, node) and code.kind(operand) != "bool":
                return Refused(NO_BOOL)
            return edit("not not dropped", node.lineno, _without_not(code, node), _without_not(code, inner))
        case ast.Constant() | ast.Starred():
            return None
    above = code.parent(node)
    if _is_not(node) or _is_not(above) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return None
    tested = in_condition(code, node)
    if not tested or isinstance(above, ast.IfExp | ast.BoolOp):
        # The value itself is used, or an operand of it: `x = a`, `return a`, `if a and b`.
        stored = isinstance(above, ast.Assign | ast.Return) or (tested and isinstance(above, ast.BoolOp))
        if not stored or not isinstance(node, ast.BoolOp | ast.Compare | ast.Call | ast.Name):
            return None
        if code.kind(node) != "bool":
            return Refused(NO_BOOL)
    change = replace_with(code, node, NOT, "not not ", *parenthesized_inside(code, node, NOT))
    return edit("negated twice", node.lineno, change)


def _is_not(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


DOUBLE_NEGATION: Final = PythonRule("double-negation", _double, "no condition")


# ── negated comparisons ──────────────────────────────────────────────────────────────────────────────────


@at_each(ast.UnaryOp, ast.Compare)
def _negate(code: PythonSource, node: ast.UnaryOp | ast.Compare) -> Site | Refused | None:
    """`not a == b` to `a != b`, and the other way round."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as inside):
            outer, note = _without_not(code, node), "not goes into the comparison"
        case ast.Compare() as inside if not _is_not(code.parent(node)):
            outer = replace_with(code, node, NOT, "not ", *parenthesized_inside(code, node, NOT))
            note = "opposite comparison, negated"
        case _:
            return None
    if obstacle := _obstacle(code, inside):
        return Refused(obstacle)
    return edit(note, node.lineno, outer, _opposite(code, inside))


def _obstacle(code: PythonSource, node: ast.Compare) -> str | None:
    """Why the negated opposite comparison may give another value; `None` if it gives the same."""
    # `not a < b < c` is true if either comparison is false; `a >= b >= c` asks that both are.
    if len(node.ops) > 1:
        return CHAINED
    left, right = node.left, node.comparators[0]
    op, kinds = node.ops[0], (code.kind(left), code.kind(right))
    if not isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
        # `a == b` calls `__eq__`, which need not be the opposite of `__ne__` and may give no bool.
        # `{1} < {2}` and `{1} >= {2}` are both false.
        if not is_exact(op, *kinds):
            return UNKNOWN
        # With a NaN, both `a < b` and `a >= b` are false.
        if "float" in kinds and not isinstance(op, ast.Eq | ast.NotEq):
            return NAN
    span = operator_between(code, left, right)
    return COMMENT if has_comment(code, span.start, span.end) else None


def _opposite(code: PythonSource, node: ast.Compare) -> Patch:
    operator = operator_between(code, node.left, node.comparators[0])
    return patch_span(code, operator, _OPPOSITE[type(node.ops[0])])


NEGATE_COMPARISONS: Final = PythonRule("negate-comparisons", _negate, "no comparison")


# ── chained comparisons ──────────────────────────────────────────────────────────────────────────────────


@at_each(ast.Compare)
def _split_chain(code: PythonSource, node: ast.Compare) -> Site | Refused | None:
    """`a < b < c` to `a < b and b < c`."""
    if len(node.ops) < 2:
        return None
    middles = node.comparators[:-1]
    if not all(_readable_twice(code, middle) for middle in middles):
        return Refused(MIDDLE)
    if not _same_tests(code, node):
        return Refused(TESTS)
    patches = [replace_with(code, node, AND, *parenthesized_inside(code, node, AND))]
    for middle in middles:
        full = code.full(middle)
        patches.append(patch_span(code, full, full, " and ", code.span(middle)))
    return edit("chain split", node.lineno, *patches)


def _readable_twice(code: PythonSource, node: ast.expr) -> bool:
    """Whether reading an operand twice gives the same object and does nothing else; `f()` may do either."""
    return isinstance(node, ast.Name | ast.Constant) and code.harmless(node)


def _same_tests(code: PythonSource, node: ast.expr) -> bool:
    """Whether a chain and its parts joined by `and` are tested for truth equally often."""
    return (
        in_condition(code, node)
        or code.kind(node) == "bool"
        or isinstance(code.parent(node), ast.Return | ast.Assign | ast.Call)
    )


def _merge_chain(code: PythonSource) -> Iterator[Site | Refused]:
    """`a < b and b < c` to `a < b < c`, for every two neighbours of an `and`."""
    for node in editable_nodes(code):
        if not isinstance(node, ast.BoolOp) or not isinstance(node.op, ast.And):
            continue
        for one, other in pairwise(node.values):
            if isinstance(one, ast.Compare) and isinstance(other, ast.Compare):
                # `x = a < b and b < c and d` tests a false `a < b` once, `x = a < b < c and d` twice.
                same = code.kind(node) == "bool" or len(node.values) == 2 or in_condition(code, node)
                yield _chained(code, one, other) if same and _same_tests(code, node) else Refused(TESTS)


def _chained(code: PythonSource, one: ast.Compare, other: ast.Compare) -> Site | Refused:
    """The site that chains two comparisons, or the reason why they cannot be chained."""
    first, second = one.comparators[-1], other.left
    # The dumps of `1`, `True` and `1.0` differ, though the values are equal.
    if (
        not all(isinstance(op, _CHAINED_ORDERS) for op in (*one.ops, *other.ops))
        or not isinstance(first, ast.Name | ast.Constant)
        or ast.dump(first) != ast.dump(second)
    ):
        return Refused(NO_COMMON)
    if not _readable_twice(code, first):
        return Refused(MIDDLE)
    start, end = code.full(first), code.full(second)
    # The text from the first `b` to the second goes; `(a < b) < c` would be another comparison.
    if has_parentheses(code, one) or has_parentheses(code, other) or has_comment(code, start.end, end.end):
        return Refused(LAYOUT)
    return edit("comparisons chained", one.lineno, Patch(start.start, end.end, (start,)))


SPLIT_COMPARISONS: Final = PythonRule("split-comparisons", _split_chain, "no chained comparison")
MERGE_COMPARISONS: Final = PythonRule("merge-comparisons", _merge_chain, "no two comparisons joined by and")


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.BoolOp)
def _other_word(code: PythonSource, node: ast.BoolOp) -> Site:
    """`a and b` to `a or b`, and the other way round."""
    return edit(f"{_word(node)} becomes the other", node.lineno, *_other_words(code, node))


@at_each(ast.UnaryOp, ast.Compare)
def _drop_not(code: PythonSource, node: ast.UnaryOp | ast.Compare) -> Site | None:
    """`not x` to `x`, `not in` to `in`, `is not` to `is`."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return edit("not dropped", node.lineno, _without_not(code, node))
        case ast.Compare(ops=[ast.NotIn() | ast.IsNot()]):
            return edit("not dropped", node.lineno, _opposite(code, node))
        case _:
            return None


DE_MORGAN_WRONG: Final = control("de-morgan-wrong", _other_word, "no condition with `and` or `or`")
NEGATION_DROPPED: Final = control("negation-dropped", _drop_not, "no negation")

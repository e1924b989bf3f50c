"""`if` in another form: branches exchanged, nested, flattened or left early, conditions split or joined,
conditional expressions; and the controls.

A condition is evaluated and tested once before and after, and in the same order. Comments move with the
branch in which they stand; comment lines right above an `else` or `elif` belong to it.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.contexts import (
    AND,
    ATOM,
    CONDITIONAL,
    OR,
    WALRUS,
    Part,
    breaks_line,
    has_comment,
    negated,
    parenthesized,
    patch_node,
    patch_range,
    patch_span,
    token_after,
    token_before,
)
from codeaudit.transforms.python.rewriting import PythonRule, at_each, control, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    SHARED,
    always_leaves,
    block_end,
    block_indent,
    block_of,
    clause_keyword,
    evenly_indented,
    extra_indentation,
    header_colon,
    is_elif,
    is_inline,
    line_before,
    line_end,
    line_start,
    next_line,
    shifted_body,
    starts_line,
)

NO_ELSE: Final = "no else"
NOT_LEFT: Final = "branch does not always leave"
NOTHING_BEHIND: Final = "nothing behind the branch"
IS_ELIF: Final = "branch of another condition"
DECLARES: Final = "branch declares a variable as global"
DEEP: Final = "nested deeply"
HAS_ELSE: Final = "condition has an else"
OTHER_BODIES: Final = "branches are not one assignment or return each"
IDLE: Final = "block does nothing"
_WITHOUT_RESULT: Final = frozenset({
    "print", "setattr", "delattr", "exec", "append", "extend", "insert", "remove", "clear", "sort", "reverse",
    "add", "discard", "update", "close", "sleep",
})  # fmt: skip
"""Names of functions and methods that return `None`."""
_DEEPEST: Final = 60
"""Number of ancestors up to which sites are nested deeper: Python reads at most 100 levels of indentation."""


# ── inversion ────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _invert(code: PythonSource, node: ast.If) -> Site | Refused:
    """`if c: a else: b` to `if not c: b else: a`."""
    if not node.orelse:
        return Refused(NO_ELSE)
    # Exchanged, `if c: global x; x = 1` with `else: x = 2` is a syntax error: `x` is assigned before it is
    # declared.
    if any(isinstance(inner, ast.Global | ast.Nonlocal) for inner in own_nodes([node])):
        return Refused(DECLARES)
    changes = _exchanged(code, node)
    if isinstance(changes, Refused):
        return changes
    return edit("branches exchanged", node.lineno, _negation(code, node), *changes)


def _negation(code: PythonSource, node: ast.If) -> Patch:
    """A patch that negates the condition; `not x` becomes `x`."""
    return patch_span(code, code.full(node.test), *negated(code, node.test, tested=True))


def _exchanged(code: PythonSource, node: ast.If) -> tuple[Patch, ...] | Refused:
    """The patches that exchange the two branches, without the negation of the condition.

    Branches on lines of their own are moved as whole lines. An `elif` moves into the `if` part, one level
    deeper, and the first branch becomes its `else`.
    """
    outside, newline = code.indentation(node), code.newline
    deeper = block_indent(code, node)
    first = Span(header_colon(code, node.body).end, block_end(code, node.body[-1], outside))
    end = block_end(code, node.orelse[-1], outside)
    last = node.orelse[0]
    chained = is_elif(last, code)
    clause = line_start(code, code.start(last) if chained else clause_keyword(code, node.orelse).start)
    comments: tuple[Part, ...] = ()
    """The comment lines between the branches, with the line break behind them."""
    if has_comment(code, first.end, clause):
        begin = _first_filled_line(code, next_line(code, first.end))
        comments = (Span(begin, line_before(code, clause), add=deeper), newline)
    parts: tuple[Part, ...]
    if chained:
        if reason := _not_deeper(code, node):
            return Refused(reason)
        parts = (newline, *comments, Span(clause, end, add=deeper), newline, f"{outside}else:", first)
        return Patch(first.start, end, parts), _elif_to_if(code, last)
    opening = header_colon(code, node.orelse).end
    if not comments:
        parts = (Span(opening, end),)
    # In `else: b()` there is no line between header and block for the comments.
    elif is_inline(code, node.orelse):
        return Refused(COMMENT)
    else:
        header = line_end(code, opening)
        parts = (Span(opening, header), newline, *comments[:-1], Span(header, end))
    return (Patch(first.start, end, (*parts, newline, Span(clause, opening), first)),)


def _first_filled_line(code: PythonSource, begin: int) -> int:
    """The offset of the first line from `begin` on that is not blank."""
    while not code.source[begin : line_end(code, begin)].strip():
        begin = next_line(code, begin)
    return begin


def _elif_to_if(code: PythonSource, node: ast.stmt) -> Patch:
    start = code.start(node)
    return Patch(start, start + len("elif"), ("if",))


def _not_deeper(code: PythonSource, node: ast.If, *, more: int = 0) -> str | None:
    """Why lines of an `if` cannot be moved one level deeper (and `more` levels by other sites); `None` if
    they can.
    """
    # A step of spaces in front of a tab is a `TabError`, or another block.
    if not evenly_indented(code, node):
        return INDENTATION
    # The number of ancestors is an upper bound of the indentation level, and needs no layout.
    return DEEP if sum(1 for _ in code.ancestors(node)) + more > _DEEPEST else None


INVERT_IF: Final = PythonRule("invert-if", _invert, "no if")


# ── elif and else: if ────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _nest(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`elif c:` to `else:` with `if c:` in it."""
    if not is_elif(node, code):
        return None
    if reason := _not_deeper(code, node):
        return Refused(reason)
    outside = code.indentation(node)
    begin, end = line_start(code, code.start(node)), block_end(code, _last(node), outside)
    body = Span(begin, end, add=block_indent(code, node))
    nested = Patch(begin, end, (f"{outside}else:{code.newline}", body))
    return edit("elif to else: if", node.lineno, nested, _elif_to_if(code, node))


def _last(node: ast.If) -> ast.stmt:
    """The last statement of an `if` with its `else`."""
    return node.orelse[-1] if node.orelse else node.body[-1]


@at_each(ast.If)
def _flatten(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`else:` with `if c:` alone in it to `elif c:`."""
    if len(node.orelse) != 1 or not isinstance(inner := node.orelse[0], ast.If) or is_elif(inner, code):
        return None
    extra = extra_indentation(code, node, inner)
    if extra is None:
        return Refused(INDENTATION)
    begin, word = line_start(code, clause_keyword(code, node.orelse).start), code.start(inner)
    # The lines from `else:` to `if` are dropped, and a comment between them would be lost.
    if has_comment(code, begin, word):
        return Refused(COMMENT)
    end = block_end(code, _last(inner), code.indentation(node))
    flat = Patch(begin, end, (Span(line_start(code, word), end, drop=extra),))
    return edit("else: if to elif", inner.lineno, flat, Patch(word, word, ("el",)))


NEST_ELIF: Final = PythonRule("nest-elif", _nest, "no elif")
FLATTEN_ELIF: Final = PythonRule("flatten-elif", _flatten, "no if alone in an else")


# ── branches that leave ──────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _drop_else(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: return x else: rest` to `if c: return x` with the rest behind it."""
    if not node.orelse:
        return None
    # In `if a: f() elif b: return 1 else: g()`, a `g()` behind the whole `if` would run after `f()` too.
    if is_elif(node, code):
        return Refused(IS_ELIF)
    if not always_leaves(node.body):
        return Refused(NOT_LEFT)
    first = node.orelse[0]
    if is_elif(first, code):
        return edit("elif to if", node.lineno, _elif_to_if(code, first))
    outside, inside = code.indentation(node), code.indentation(first)
    begin = line_start(code, clause_keyword(code, node.orelse).start)
    opening = header_colon(code, node.orelse).end
    if is_inline(code, node.orelse):
        return edit("no else", node.lineno, Patch(begin, code.start(first), (outside,)))
    # The line of the `else` goes, and its comment would go with it.
    if has_comment(code, begin, line_end(code, opening)):
        return Refused(COMMENT)
    if not inside.startswith(outside) or len(set(inside)) > 1:
        return Refused(INDENTATION)
    end = block_end(code, node.orelse[-1], outside)
    rest = Span(next_line(code, opening), end, drop=inside[len(outside) :])
    return edit("no else", node.lineno, Patch(begin, end, (rest,)))


@at_each(ast.If)
def _add_else(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: return x` with a rest behind it to `if c: return x else: rest`."""
    if is_elif(node, code):
        return None
    branches = [node]
    while branches[-1].orelse and is_elif(below := branches[-1].orelse[0], code):
        branches.append(below)
    if branches[-1].orelse:
        return None
    # Behind `if c: f()` the rest runs in either case; in an `else` it would not run after `f()`.
    if not all(always_leaves(branch.body) for branch in branches):
        return Refused(NOT_LEFT)
    place = block_of(code, node)
    if place is None or place[1] + 1 == len(place[0]):
        return Refused(NOTHING_BEHIND)
    block, number = place
    # Every earlier `if` of the block may be nested too, and each makes the rest one level deeper.
    if reason := _not_deeper(code, node, more=sum(isinstance(inner, ast.If) for inner in block[:number])):
        return Refused(reason)
    outside = code.indentation(node)
    start = block_end(code, branches[-1].body[-1], outside)
    begin, end = _first_filled_line(code, next_line(code, start)), line_end(code, code.end(block[-1]))
    rest = Span(begin, end, add=block_indent(code, node))
    opening = f"{code.newline}{outside}else:{code.newline}"
    return edit("else around the rest", node.lineno, Patch(start, end, (opening, rest)))


RETURN_TO_ELSE: Final = PythonRule("return-to-else", _add_else, "no if without else")
ELSE_TO_RETURN: Final = PythonRule("else-to-return", _drop_else, "no else")


# ── conditional expressions ──────────────────────────────────────────────────────────────────────────────


def _before_value(code: PythonSource, node: ast.stmt, value: ast.expr) -> tuple[Part, ...]:
    """The parts of a statement before its value: `x = `, `return `."""
    last = token_before(code, code.full(value).start)
    assert last is not None
    return Span(code.start(node), last.end), " "


@at_each(ast.Assign, ast.Return)
def _to_if(code: PythonSource, node: ast.Assign | ast.Return) -> Site | Refused | None:
    """`x = a if c else b` to `if c: x = a` and `else: x = b`."""
    value = node.value
    if not isinstance(value, ast.IfExp):
        return None
    # `y = 1; if c: …` and `if a: if c: …` are syntax errors: an `if` must begin its line.
    if not code.alone(node) or not starts_line(code, node):
        return Refused(SHARED)
    if has_comment(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    outside, newline = code.indentation(node), code.newline
    inside = outside + code.step
    if len(set(inside)) > 1:
        return Refused(INDENTATION)
    head = _before_value(code, node, value)
    parts = (
        "if ", *parenthesized(code, value.test, WALRUS), f":{newline}{inside}",
        *head, *parenthesized(code, value.body, CONDITIONAL), f"{newline}{outside}else:{newline}{inside}",
        *head, *parenthesized(code, value.orelse, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return edit("conditional expression to if", node.lineno, change)


@at_each(ast.If)
def _to_ternary(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: x = a` and `else: x = b` to `x = a if c else b`; the same for `return`."""
    if not node.orelse or is_elif(node, code):
        return None
    # An assignment evaluates its targets last, so `c` stays first. `x += a if c else b` would read `x` before
    # it tests `c`.
    match node.body, node.orelse:
        case [ast.Assign(value=one) as first], [ast.Assign(value=other) as second]:
            same = list(map(ast.dump, first.targets)) == list(map(ast.dump, second.targets))
        case [ast.Return(value=ast.expr() as one) as first], [ast.Return(value=ast.expr() as other)]:
            same = True
        case _:
            return Refused(OTHER_BODIES)
    if not same:
        return Refused(OTHER_BODIES)
    if has_comment(code, code.start(node), code.end(node)):
        return Refused(COMMENT)
    parts = (
        *_before_value(code, first, one), *parenthesized(code, one, OR),
        " if ", *parenthesized(code, node.test, OR),
        " else ", *parenthesized(code, other, CONDITIONAL),
    )  # fmt: skip
    change = Patch(code.start(node), code.end(node), parts)
    return edit("if to conditional expression", node.lineno, change)


TERNARY_TO_IF: Final = PythonRule(
    "ternary-to-if", _to_if, "no conditional expression that is assigned or returned"
)
IF_TO_TERNARY: Final = PythonRule("if-to-ternary", _to_ternary, "no if with else")


# ── joined conditions ────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _split(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if a and b:` to `if a:` with `if b:` in it; each `and` is one option."""
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    # With an `else`, the second condition would need the same `else` again.
    if node.orelse:
        return Refused(HAS_ELSE)
    begin = code.full(test).start
    # The text around an `and` is written anew, and a comment there would be lost.
    if has_comment(code, begin, header_colon(code, node.body).start):
        return Refused(COMMENT)
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    outside, deeper = code.indentation(node), block_indent(code, node)
    end = block_end(code, node.body[-1], outside)
    body = shifted_body(code, node.body, end, add=deeper)
    options = []
    for number in range(1, len(test.values)):
        first, second = _joined(code, test.values[:number]), _joined(code, test.values[number:])
        opening = (*first, f":{code.newline}{outside}{deeper}if ", *second)
        options.append((patch_range(code, begin, end, *opening, *body),))
    return Site(tuple(options), "and to nested if", node.lineno)


def _joined(code: PythonSource, values: list[ast.expr]) -> tuple[Part, ...]:
    """Operands of one `and` as a condition of their own."""
    if len(values) == 1:
        return parenthesized(code, values[0], CONDITIONAL)
    span = Span(code.full(values[0]).start, code.full(values[-1]).end)
    return ("(", span, ")") if breaks_line(code, span) else (span,)


@at_each(ast.If)
def _merge(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if a:` with `if b:` alone in it to `if a and b:`."""
    if len(node.body) != 1 or not isinstance(inner := node.body[0], ast.If):
        return None
    # The `else` of either `if` would run in two cases: `a` is false, or `b` is.
    if node.orelse or inner.orelse:
        return Refused(HAS_ELSE)
    extra = extra_indentation(code, node, inner)
    if extra is None:
        return Refused(INDENTATION)
    begin = code.full(node.test).start
    if has_comment(code, begin, header_colon(code, inner.body).start):
        return Refused(COMMENT)
    end = block_end(code, inner.body[-1], code.indentation(node))
    test = (*parenthesized(code, node.test, AND), " and ", *parenthesized(code, inner.test, AND))
    body = shifted_body(code, inner.body, end, drop=extra)
    return edit("nested if to and", node.lineno, patch_range(code, begin, end, *test, *body))


SPLIT_CONDITIONS: Final = PythonRule("split-conditions", _split, "no if with and")
MERGE_CONDITIONS: Final = PythonRule("merge-conditions", _merge, "no if alone in an if")


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _negate_only(code: PythonSource, node: ast.If) -> Site:
    """`if c:` to `if not c:`, with the branches where they were."""
    return edit("condition negated", node.lineno, _negation(code, node))


@at_each(ast.If)
def _drop_branch(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """An `if` without its `else`."""
    if not node.orelse:
        return Refused(NO_ELSE)
    if is_elif(node.orelse[0], code):
        return None
    # Without such an `else` the function may do the same, which is no control.
    match node.orelse:
        case [ast.Pass() | ast.Continue() | ast.Return(value=None | ast.Constant(value=None))]:
            return Refused(IDLE)
    begin = block_end(code, node.body[-1], code.indentation(node))
    return edit("else dropped", node.lineno, Patch(begin, code.end(node.orelse[-1]), ()))


@at_each(ast.If)
def _drop_condition(code: PythonSource, node: ast.If) -> Site | None:
    """`if a and b:` to `if a:` or `if b:`."""
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    options = tuple((patch_node(code, test, *parenthesized(code, value, ATOM)),) for value in test.values)
    return Site(options, "all but one condition dropped", node.lineno)


def _gives_none(node: ast.expr) -> bool:
    """Whether an expression gives `None`, or may well do so: `xs.sort()`."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _WITHOUT_RESULT
        case ast.Await(value=value):
            return _gives_none(value)
        case _:
            return False


@at_each(ast.Return)
def _drop_return(code: PythonSource, node: ast.Return) -> Site | Refused | None:
    """`return x` to `x`."""
    if node.value is None:
        return None
    # At the end of a function, `None` alone returns `None` too.
    if _gives_none(node.value):
        return Refused(IDLE)
    begin = code.start(node)
    first = token_after(code, begin + len("return"))
    assert first is not None
    return edit("return dropped", node.lineno, Patch(begin, first.start, ()))


IF_INVERTED_WRONG: Final = control("if-inverted-wrong", _negate_only, "no if")
BRANCH_DROPPED: Final = control("branch-dropped", _drop_branch, "no if")
CONDITION_DROPPED: Final = control("condition-dropped", _drop_condition, "no if with and")
RETURN_DROPPED: Final = control("return-dropped", _drop_return, "no return with a value")

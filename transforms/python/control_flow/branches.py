"""Branches in another arrangement: exchanged under the opposite condition, nested, flattened, or left early.

A condition is evaluated and tested once before and after. Comments move with the branch in which they stand;
comment lines right above an `else` or `elif` belong to it.
"""

import ast
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.contexts import Part, has_comment, negated, patch_range
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    always_leaves,
    block_end,
    block_indent,
    block_of,
    clause_keyword,
    evenly_indented,
    header_colon,
    is_elif,
    is_inline,
    line_before,
    line_end,
    line_start,
    next_line,
)

NO_ELSE: Final = "no else"
NOT_LEFT: Final = "branch does not always leave"
NOTHING_BEHIND: Final = "nothing behind the branch"
IS_ELIF: Final = "branch of another condition"
DECLARES: Final = "branch declares a variable as global"
DEEP: Final = "nested deeply"
_DEEPEST: Final = 60
"""Number of ancestors up to which sites are nested deeper: Python reads at most 100 levels of indentation."""


def negation(code: PythonSource, node: ast.If | ast.While) -> Patch:
    """A patch that negates the condition; `not x` becomes `x`."""
    full = code.full(node.test)
    return patch_range(code, full.start, full.end, *negated(code, node.test, tested=True))


# ── inversion ────────────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _invert(code: PythonSource, node: ast.If) -> Site | Refused:
    """`if c: a else: b` to `if not c: b else: a`."""
    if not node.orelse:
        return Refused(NO_ELSE)
    if any(isinstance(inner, ast.Global | ast.Nonlocal) for inner in own_nodes([node])):
        return Refused(DECLARES)  # a declaration has to stand before every use of the name
    changes = _exchanged(code, node)
    if isinstance(changes, Refused):
        return changes
    return Site(((negation(code, node), *changes),), "branches exchanged", node.lineno)


def _exchanged(code: PythonSource, node: ast.If) -> tuple[Patch, ...] | Refused:
    """The patches that exchange the two branches, without the negation of the condition.

    Branches on lines of their own are moved as whole lines. An `elif` moves into the `if` part, one level
    deeper, and the first branch becomes its `else`.
    """
    outside, deeper, newline = code.indentation(node), block_indent(code, node), code.newline
    first = Span(header_colon(code, node.body).end, block_end(code, node.body[-1], outside))
    end = block_end(code, node.orelse[-1], outside)
    last = node.orelse[0]
    chained = is_elif(last, code)
    mark = line_start(code, code.start(last) if chained else clause_keyword(code, node.orelse).start)
    parts: list[Part] = []
    between = _comments(code, first.end, mark, deeper)
    if chained:
        if not evenly_indented(code, node):
            return Refused(INDENTATION)
        if _depth(code, node) > _DEEPEST:
            return Refused(DEEP)
        parts += [newline, *between, Span(mark, end, add=deeper), newline, f"{outside}else:", first]
        word = code.start(last)
        return Patch(first.start, end, tuple(parts)), Patch(word, word + len("elif"), ("if",))
    opening = header_colon(code, node.orelse).end
    if not between:
        parts.append(Span(opening, end))
    elif is_inline(code, node.orelse):
        return Refused(COMMENT)
    else:
        header = line_end(code, opening)
        parts += [Span(opening, header), newline, *between[:-1], Span(header, end)]
    parts += [newline, Span(mark, opening), first]
    return (Patch(first.start, end, tuple(parts)),)


def _comments(code: PythonSource, start: int, mark: int, deeper: str) -> list[Part]:
    """The comment lines between two branches, with the line break behind them; empty if there are none."""
    if not has_comment(code, start, mark):
        return []
    begin = _filled(code, next_line(code, start))
    return [Span(begin, line_before(code, mark), add=deeper), code.newline]


def _filled(code: PythonSource, begin: int) -> int:
    """The offset of the first line from `begin` on that is not blank."""
    while not code.source[begin : line_end(code, begin)].strip():
        begin = next_line(code, begin)
    return begin


# ── elif and else: if ────────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _nest(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`elif c:` to `else:` with `if c:` in it."""
    if not is_elif(node, code):
        return None
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    if _depth(code, node) > _DEEPEST:
        return Refused(DEEP)
    outside = code.indentation(node)
    begin, word = line_start(code, code.start(node)), code.start(node)
    end = block_end(code, _last(node), outside)
    body = Span(begin, end, add=block_indent(code, node))
    changes = (
        Patch(begin, end, (f"{outside}else:{code.newline}", body)),
        Patch(word, word + len("elif"), ("if",)),
    )
    return Site((changes,), "elif to else: if", node.lineno)


def _depth(code: PythonSource, node: ast.If) -> int:
    """Number of nodes around a statement. An upper bound of its indentation level that needs no layout."""
    return sum(1 for _ in code.ancestors(node))


def _last(node: ast.If) -> ast.stmt:
    """The last statement of an `if` with its `else`."""
    return node.orelse[-1] if node.orelse else node.body[-1]


@at_each(ast.If)
def _flatten(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`else:` with `if c:` alone in it to `elif c:`."""
    if len(node.orelse) != 1 or not isinstance(inner := node.orelse[0], ast.If) or is_elif(inner, code):
        return None
    outside, inside = code.indentation(node), code.indentation(inner)
    if not inside.startswith(outside) or not evenly_indented(code, node, inner):
        return Refused(INDENTATION)
    begin, word = line_start(code, clause_keyword(code, node.orelse).start), code.start(inner)
    # The lines from `else:` to `if` are dropped, and a comment between them would be lost.
    if has_comment(code, begin, word):
        return Refused(COMMENT)
    first = line_start(code, word)
    end = block_end(code, _last(inner), outside)
    changes = (
        Patch(begin, end, (Span(first, end, drop=inside[len(outside) :]),)),
        Patch(word, word, ("el",)),
    )
    return Site((changes,), "else: if to elif", inner.lineno)


# ── branches that leave ──────────────────────────────────────────────────────────────────────────────────


@at_each(ast.If)
def _unnest(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: return x else: rest` to `if c: return x` with the rest behind it."""
    if not node.orelse:
        return None
    if is_elif(node, code):
        return Refused(IS_ELIF)
    if not always_leaves(node.body):
        return Refused(NOT_LEFT)
    first = node.orelse[0]
    if is_elif(first, code):
        word = code.start(first)
        return Site(((Patch(word, word + len("elif"), ("if",)),),), "elif to if", node.lineno)
    outside = code.indentation(node)
    begin = line_start(code, clause_keyword(code, node.orelse).start)
    opening = header_colon(code, node.orelse).end
    if is_inline(code, node.orelse):
        return Site(((Patch(begin, code.start(first), (outside,)),),), "no else", node.lineno)
    if has_comment(code, begin, line_end(code, opening)):
        return Refused(COMMENT)
    inside = code.indentation(first)
    if not inside.startswith(outside) or len(set(inside)) > 1:
        return Refused(INDENTATION)
    end = block_end(code, node.orelse[-1], outside)
    body = Span(next_line(code, opening), end, drop=inside[len(outside) :])
    return Site(((Patch(begin, end, (body,)),),), "no else", node.lineno)


@at_each(ast.If)
def _renest(code: PythonSource, node: ast.If) -> Site | Refused | None:
    """`if c: return x` with a rest behind it to `if c: return x else: rest`."""
    if is_elif(node, code):
        return None
    last = node
    while last.orelse and is_elif(below := last.orelse[0], code):
        last = below
    if last.orelse:
        return None
    if not _all_leave(node):
        return Refused(NOT_LEFT)
    held = block_of(code, node)
    if held is None or held[1] + 1 == len(held[0]):
        return Refused(NOTHING_BEHIND)
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    # Every earlier `if` of the block may be nested too, and each makes the rest one level deeper.
    before = sum(isinstance(one, ast.If) for one in held[0][: held[1]])
    if _depth(code, node) + before > _DEEPEST:
        return Refused(DEEP)
    outside = code.indentation(node)
    start = block_end(code, last.body[-1], outside)
    begin, end = _filled(code, next_line(code, start)), line_end(code, code.end(held[0][-1]))
    rest = Span(begin, end, add=block_indent(code, node))
    opening = f"{code.newline}{outside}else:{code.newline}"
    return Site(((Patch(start, end, (opening, rest)),),), "else around the rest", node.lineno)


def _all_leave(node: ast.If) -> bool:
    """Whether every branch of an `if` and its `elif`s leaves."""
    return always_leaves(node.body) and (not node.orelse or _all_leave(node.orelse[0]))  # type: ignore[arg-type]


INVERT_IF: Final = PythonRule(name="invert-if", find=_invert, nothing="no if")
NEST_ELIF: Final = PythonRule(name="nest-elif", find=_nest, nothing="no elif")
FLATTEN_ELIF: Final = PythonRule(name="flatten-elif", find=_flatten, nothing="no if alone in an else")
RETURN_TO_ELSE: Final = PythonRule(name="return-to-else", find=_renest, nothing="no if without else")
ELSE_TO_RETURN: Final = PythonRule(name="else-to-return", find=_unnest, nothing="no else")

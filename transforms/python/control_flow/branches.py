"""Branches in another arrangement: inverted, nested, flattened, or left early.

A condition is evaluated and tested once before and after. Comments move with the branch that they stand in;
comment lines right above an `else` or `elif` belong to it.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.analysis.facts import own_nodes
from codeaudit.transforms.python.code import Code
from codeaudit.transforms.python.contexts import Part, commented, negated, nodes, patch
from codeaudit.transforms.python.rewriting import Rewriting
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    block_of,
    clause,
    colon,
    even,
    inline,
    is_elif,
    leaves,
    line_before,
    line_end,
    line_start,
    next_line,
    step,
    tail,
)

NO_ELSE: Final = "no else"
NOT_LEFT: Final = "branch does not always leave"
NOTHING_BEHIND: Final = "nothing behind the branch"
IS_ELIF: Final = "branch of another condition"
DECLARES: Final = "branch declares a variable as global"
DEEP: Final = "nested deeply"
_DEEPEST: Final = 60
"""Levels up to which sites are nested: Python reads 100 levels of indentation."""


def _ifs(code: Code) -> Iterator[ast.If]:
    for node in nodes(code):
        if isinstance(node, ast.If):
            yield node


def negation(code: Code, node: ast.If | ast.While) -> Patch:
    """The condition negated; `not x` becomes `x`."""
    full = code.full(node.test)
    return patch(code, full.start, full.end, *negated(code, node.test, tested=True))


# ── inversion ────────────────────────────────────────────────────────────────────────────────────────────


def _invert(code: Code) -> Iterator[Site | Refused]:
    for node in _ifs(code):
        if not node.orelse:
            yield Refused(NO_ELSE)
            continue
        if any(isinstance(inner, ast.Global | ast.Nonlocal) for inner in own_nodes([node])):
            yield Refused(DECLARES)  # a declaration has to stand before every use of the name
            continue
        changes = _exchanged(code, node)
        if isinstance(changes, Refused):
            yield changes
        else:
            yield Site(((negation(code, node), *changes),), "branches exchanged", node.lineno)


def _exchanged(code: Code, node: ast.If) -> tuple[Patch, ...] | Refused:
    outside, deeper, newline = code.indentation(node), step(code, node), code.newline
    first = Span(colon(code, node.body).end, tail(code, node.body[-1], outside))
    end = tail(code, node.orelse[-1], outside)
    last = node.orelse[0]
    chained = isinstance(last, ast.If) and is_elif(code, last)
    mark = line_start(code, code.start(last) if chained else clause(code, node.orelse).start)
    parts: list[Part] = []
    between = _comments(code, first.end, mark, deeper)
    if chained:
        if not even(code, node):
            return Refused(INDENTATION)
        if _depth(code, node) > _DEEPEST:
            return Refused(DEEP)
        parts += [newline, *between, Span(mark, end, add=deeper), newline, f"{outside}else:", first]
        word = code.start(last)
        return Patch(first.start, end, tuple(parts)), Patch(word, word + len("elif"), ("if",))
    opening = colon(code, node.orelse).end
    if not between:
        parts.append(Span(opening, end))
    elif inline(code, node.orelse):
        return Refused(COMMENT)
    else:
        header = line_end(code, opening)
        parts += [Span(opening, header), newline, *between[:-1], Span(header, end)]
    parts += [newline, Span(mark, opening), first]
    return (Patch(first.start, end, tuple(parts)),)


def _comments(code: Code, start: int, mark: int, deeper: str) -> list[Part]:
    """The comment lines between two branches, with the line break behind them."""
    if not commented(code, start, mark):
        return []
    begin = _filled(code, next_line(code, start))
    return [Span(begin, line_before(code, mark), add=deeper), code.newline]


def _filled(code: Code, begin: int) -> int:
    """The first line from an offset on that is not blank."""
    while not code.source[begin : line_end(code, begin)].strip():
        begin = next_line(code, begin)
    return begin


# ── elif and else: if ────────────────────────────────────────────────────────────────────────────────────


def _nest(code: Code) -> Iterator[Site | Refused]:
    for node in _ifs(code):
        if not is_elif(code, node):
            continue
        if not even(code, node):
            yield Refused(INDENTATION)
            continue
        if _depth(code, node) > _DEEPEST:
            yield Refused(DEEP)
            continue
        outside = code.indentation(node)
        begin, word = line_start(code, code.start(node)), code.start(node)
        end = tail(code, _last(node), outside)
        body = Span(begin, end, add=step(code, node))
        changes = (
            Patch(begin, end, (f"{outside}else:{code.newline}", body)),
            Patch(word, word + len("elif"), ("if",)),
        )
        yield Site((changes,), "elif to else: if", node.lineno)


def _depth(code: Code, node: ast.If) -> int:
    return sum(1 for _ in code.ancestors(node))


def _last(node: ast.If) -> ast.stmt:
    return node.orelse[-1] if node.orelse else node.body[-1]


def _flatten(code: Code) -> Iterator[Site | Refused]:
    for node in _ifs(code):
        match node.orelse:
            case [ast.If() as inner] if not is_elif(code, inner):
                yield _flattened(code, node, inner)
            case _:
                pass


def _flattened(code: Code, node: ast.If, inner: ast.If) -> Site | Refused:
    outside, inside = code.indentation(node), code.indentation(inner)
    if not inside.startswith(outside) or not even(code, node, inner):
        return Refused(INDENTATION)
    begin, word = line_start(code, clause(code, node.orelse).start), code.start(inner)
    if commented(code, begin, word):
        return Refused(COMMENT)
    first = line_start(code, word)
    end = tail(code, _last(inner), outside)
    changes = (
        Patch(begin, end, (Span(first, end, drop=inside[len(outside) :]),)),
        Patch(word, word, ("el",)),
    )
    return Site((changes,), "else: if to elif", inner.lineno)


# ── branches that leave ──────────────────────────────────────────────────────────────────────────────────


def _unnest(code: Code) -> Iterator[Site | Refused]:
    """`if c: return x else: rest` to `if c: return x` and the rest behind it."""
    for node in _ifs(code):
        if not node.orelse:
            continue
        if is_elif(code, node):
            yield Refused(IS_ELIF)
        elif not leaves(node.body):
            yield Refused(NOT_LEFT)
        else:
            yield _unnested(code, node)


def _unnested(code: Code, node: ast.If) -> Site | Refused:
    first = node.orelse[0]
    if isinstance(first, ast.If) and is_elif(code, first):
        word = code.start(first)
        return Site(((Patch(word, word + len("elif"), ("if",)),),), "elif to if", node.lineno)
    outside = code.indentation(node)
    begin, opening = line_start(code, clause(code, node.orelse).start), colon(code, node.orelse).end
    if inline(code, node.orelse):
        return Site(((Patch(begin, code.start(first), (outside,)),),), "no else", node.lineno)
    if commented(code, begin, line_end(code, opening)):
        return Refused(COMMENT)
    inside = code.indentation(first)
    if not inside.startswith(outside) or len(set(inside)) > 1:
        return Refused(INDENTATION)
    end = tail(code, node.orelse[-1], outside)
    body = Span(next_line(code, opening), end, drop=inside[len(outside) :])
    return Site(((Patch(begin, end, (body,)),),), "no else", node.lineno)


def _renest(code: Code) -> Iterator[Site | Refused]:
    """`if c: return x` and a rest to `if c: return x else: rest`."""
    for node in _ifs(code):
        if is_elif(code, node):
            continue
        last = node
        while last.orelse and isinstance(last.orelse[0], ast.If) and is_elif(code, last.orelse[0]):
            last = last.orelse[0]
        if last.orelse:
            continue
        yield _renested(code, node, last)


def _renested(code: Code, node: ast.If, last: ast.If) -> Site | Refused:
    if not _all_leave(node):
        return Refused(NOT_LEFT)
    held = block_of(code, node)
    if held is None or held[1] + 1 == len(held[0]):
        return Refused(NOTHING_BEHIND)
    if not even(code, node):
        return Refused(INDENTATION)
    before = sum(isinstance(one, ast.If) for one in held[0][: held[1]])
    if _depth(code, node) + before > _DEEPEST:
        return Refused(DEEP)
    outside = code.indentation(node)
    start = tail(code, last.body[-1], outside)
    begin, end = _filled(code, next_line(code, start)), line_end(code, code.end(held[0][-1]))
    rest = Span(begin, end, add=step(code, node))
    opening = f"{code.newline}{outside}else:{code.newline}"
    return Site(((Patch(start, end, (opening, rest)),),), "else around the rest", node.lineno)


def _all_leave(node: ast.If) -> bool:
    return leaves(node.body) and (not node.orelse or _all_leave(node.orelse[0]))  # type: ignore[arg-type]


INVERT_IF: Final = Rewriting(name="invert-if", find=_invert, nothing="no if")
NEST_ELIF: Final = Rewriting(name="nest-elif", find=_nest, nothing="no elif")
FLATTEN_ELIF: Final = Rewriting(name="flatten-elif", find=_flatten, nothing="no if alone in an else")
RETURN_TO_ELSE: Final = Rewriting(name="return-to-else", find=_renest, nothing="no if without else")
ELSE_TO_RETURN: Final = Rewriting(name="else-to-return", find=_unnest, nothing="no else")

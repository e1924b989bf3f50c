"""`with` of several items and `try` with `finally`, nested or not.

The language reference defines each of the two forms by the other ("The with statement", "The try statement").
"""

import ast
from collections.abc import Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import Part, breaks_line, has_comment
from codeaudit.transforms.python.rewriting import PythonRule, at_each, edit
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    block_end,
    block_indent,
    evenly_indented,
    extra_indentation,
    header_colon,
    line_start,
    shifted_body,
)

LINES: Final = "items over several lines"
NO_HANDLER: Final = "no except beside the finally"
_With = ast.With | ast.AsyncWith
_Try = ast.Try | ast.TryStar


def _items(code: PythonSource, node: _With) -> list[Span]:
    """The spans of the items, each from its expression to its target."""
    return [
        Span(code.full(item.context_expr).start, code.full(item.optional_vars or item.context_expr).end)
        for item in node.items
    ]


def _header(node: _With, first: ast.withitem, items: Sequence[Span]) -> tuple[Part, ...]:
    """`with a as x, b`, without the colon; `first` is the node of the first item."""
    parts: list[Part] = ["async with " if isinstance(node, ast.AsyncWith) else "with "]
    # `with (a, b):` has two items, and no tuple.
    if len(items) == 1 and isinstance(first.context_expr, ast.Tuple) and first.optional_vars is None:
        return (*parts, "(", *items, ")")
    for number, item in enumerate(items):
        parts += [", ", item] if number else [item]
    return tuple(parts)


@at_each(ast.With, ast.AsyncWith)
def _split_with(code: PythonSource, node: _With) -> Site | Refused | None:
    """`with a, b:` to `with a:` with `with b:` in it; each comma is one option."""
    if len(node.items) < 2:
        return None
    items = _items(code, node)
    # The header is written anew, and a comment in it would be lost.
    if has_comment(code, code.start(node), header_colon(code, node.body).start):
        return Refused(COMMENT)
    # Without the parentheses around all items, an item that is broken over lines would not parse.
    if any(breaks_line(code, item) for item in items):
        return Refused(LINES)
    # Spaces in front of a tab are a `TabError`, or another block.
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    outside, deeper = code.indentation(node), block_indent(code, node)
    end = block_end(code, node.body[-1], outside)
    between = f":{code.newline}{outside}{deeper}"
    body = shifted_body(code, node.body, end, add=deeper)
    options = []
    for number in range(1, len(items)):
        outer = _header(node, node.items[0], items[:number])
        inner = _header(node, node.items[number], items[number:])
        parts = (*outer, between, *inner, *body)
        options.append((Patch(code.start(node), end, parts),))
    return Site(tuple(options), "with nested", node.lineno)


@at_each(ast.With, ast.AsyncWith)
def _merge_with(code: PythonSource, node: _With) -> Site | Refused | None:
    """`with a:` with `with b:` alone in it to `with a, b:`."""
    inner = node.body[0]
    # `with` and `async with` have no common form.
    if len(node.body) != 1 or type(inner) is not type(node):
        return None
    assert isinstance(inner, _With)
    if has_comment(code, code.start(node), header_colon(code, inner.body).start):
        return Refused(COMMENT)
    items = [*_items(code, node), *_items(code, inner)]
    if any(breaks_line(code, item) for item in items):
        return Refused(LINES)
    extra = extra_indentation(code, node, inner)
    if extra is None:
        return Refused(INDENTATION)
    end = block_end(code, inner.body[-1], code.indentation(node))
    parts = (*_header(node, node.items[0], items), *shifted_body(code, inner.body, end, drop=extra))
    return edit("with joined", node.lineno, Patch(code.start(node), end, parts))


@at_each(ast.Try, ast.TryStar)
def _split_try(code: PythonSource, node: _Try) -> Site | Refused | None:
    """`try` with `except` and `finally` to a `try` with `except` inside a `try` with `finally`."""
    if not node.finalbody:
        return None
    # The inner `try` would have neither `except` nor `finally`, which is a syntax error.
    if not node.handlers:
        return Refused(NO_HANDLER)
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    outside, begin = code.indentation(node), line_start(code, code.start(node))
    end = block_end(code, _last(node), outside)
    parts = (f"{outside}try:{code.newline}", Span(begin, end, add=block_indent(code, node)))
    return edit("try nested in try with finally", node.lineno, Patch(begin, end, parts))


@at_each(ast.Try)
def _merge_try(code: PythonSource, node: ast.Try) -> Site | Refused | None:
    """A `try` with `except` alone in a `try` with `finally` to one `try`."""
    match node:
        case ast.Try(
            body=[ast.Try(finalbody=[]) | ast.TryStar(finalbody=[]) as inner],
            handlers=[],
            finalbody=[_, *_],
        ):
            pass
        case _:
            return None
    begin, first = line_start(code, code.start(node)), line_start(code, code.start(inner))
    # The line of the outer `try` goes, and a comment on it or below it would go with it.
    if has_comment(code, begin, first):
        return Refused(COMMENT)
    extra = extra_indentation(code, node, inner)
    if extra is None:
        return Refused(INDENTATION)
    end = block_end(code, _last(inner), code.indentation(node))
    change = Patch(begin, end, (Span(first, end, drop=extra),))
    return edit("try joined with its finally", node.lineno, change)


def _last(node: _Try) -> ast.stmt:
    """The last statement before the `finally`."""
    return node.orelse[-1] if node.orelse else node.handlers[-1].body[-1]


SPLIT_WITH: Final = PythonRule("split-with", _split_with, "no with of several items")
MERGE_WITH: Final = PythonRule("merge-with", _merge_with, "no with alone in a with")
SPLIT_TRY: Final = PythonRule("split-try", _split_try, "no try with finally")
MERGE_TRY: Final = PythonRule("merge-try", _merge_try, "no try alone in a try")

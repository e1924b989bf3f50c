"""`with` of several items and `try` with `finally`, nested or not.

The language reference defines one form by the other.
"""

import ast
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import Part, breaks_line, editable_nodes, has_comment
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    COMMENT,
    INDENTATION,
    block_end,
    block_indent,
    evenly_indented,
    header_colon,
    line_start,
    shifted_body,
)

LINES: Final = "items over several lines"
NO_HANDLER: Final = "no except beside the finally"
_With = ast.With | ast.AsyncWith
_Try = ast.Try | ast.TryStar


def _items(code: PythonSource, node: _With) -> list[Span]:
    found = []
    for item in node.items:
        last = item.optional_vars if item.optional_vars is not None else item.context_expr
        found.append(Span(code.full(item.context_expr).start, code.full(last).end))
    return found


def _opening(code: PythonSource, node: _With) -> str:
    return "async with " if isinstance(node, ast.AsyncWith) else "with "


def _listed(spans: list[Span]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for span in spans:
        parts += [", ", span] if parts else [span]
    return tuple(parts)


def _split_with(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, _With) and len(node.items) > 1:
            yield _nested(code, node)


def _nested(code: PythonSource, node: _With) -> Site | Refused:
    mark, items = header_colon(code, node.body), _items(code, node)
    if has_comment(code, code.start(node), mark.start):
        return Refused(COMMENT)
    if any(breaks_line(code, item) for item in items):
        return Refused(LINES)
    if not evenly_indented(code, node):
        return Refused(INDENTATION)
    outside, deeper, newline = code.indentation(node), block_indent(code, node), code.newline
    end = block_end(code, node.body[-1], outside)
    opening = _opening(code, node)
    options = []
    for number in range(1, len(items)):
        head: tuple[Part, ...] = (opening, *_listed(items[:number]), f":{newline}{outside}{deeper}")
        head += (opening, *_listed(items[number:]))
        options.append((Patch(code.start(node), end, head + shifted_body(code, node.body, end, add=deeper)),))
    return Site(tuple(options), "with nested", node.lineno)


def _merge_with(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if isinstance(node, _With) and len(node.body) == 1 and type(node.body[0]) is type(node):
            inner = node.body[0]
            assert isinstance(inner, _With)
            yield _flat(code, node, inner)


def _flat(code: PythonSource, node: _With, inner: _With) -> Site | Refused:
    outside, inside = code.indentation(node), code.indentation(inner)
    if has_comment(code, code.start(node), header_colon(code, inner.body).start):
        return Refused(COMMENT)
    items = [*_items(code, node), *_items(code, inner)]
    if any(breaks_line(code, item) for item in items):
        return Refused(LINES)
    if not inside.startswith(outside) or not evenly_indented(code, node, inner):
        return Refused(INDENTATION)
    end = block_end(code, inner.body[-1], outside)
    head = (_opening(code, node), *_listed(items))
    body = shifted_body(code, inner.body, end, drop=inside[len(outside) :])
    return Site(((Patch(code.start(node), end, head + body),),), "with joined", node.lineno)


def _split_try(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        if not isinstance(node, _Try) or not node.finalbody:
            continue
        if not node.handlers:
            yield Refused(NO_HANDLER)
        elif not evenly_indented(code, node):
            yield Refused(INDENTATION)
        else:
            outside, begin = code.indentation(node), line_start(code, code.start(node))
            end = block_end(code, _last(node), outside)
            inner = Span(begin, end, add=block_indent(code, node))
            change = Patch(begin, end, (f"{outside}try:{code.newline}", inner))
            yield Site(((change,),), "try nested in try with finally", node.lineno)


def _merge_try(code: PythonSource) -> Iterator[Site | Refused]:
    for node in editable_nodes(code):
        match node:
            case ast.Try(body=[ast.Try() | ast.TryStar() as inner], handlers=[], finalbody=[_, *_]):
                if not inner.finalbody:
                    yield _joined(code, node, inner)


def _joined(code: PythonSource, node: ast.Try, inner: _Try) -> Site | Refused:
    outside, inside = code.indentation(node), code.indentation(inner)
    begin, first = line_start(code, code.start(node)), line_start(code, code.start(inner))
    if has_comment(code, begin, first):
        return Refused(COMMENT)
    if not inside.startswith(outside) or not evenly_indented(code, node, inner):
        return Refused(INDENTATION)
    end = block_end(code, _last(inner), outside)
    body = Span(first, end, drop=inside[len(outside) :])
    return Site(((Patch(begin, end, (body,)),),), "try joined with its finally", node.lineno)


def _last(node: _Try) -> ast.stmt:
    """The last statement before the `finally`."""
    return node.orelse[-1] if node.orelse else node.handlers[-1].body[-1]


SPLIT_WITH: Final = PythonRule(name="split-with", find=_split_with, nothing="no with of several items")
MERGE_WITH: Final = PythonRule(name="merge-with", find=_merge_with, nothing="no with alone in a with")
SPLIT_TRY: Final = PythonRule(name="split-try", find=_split_try, nothing="no try with finally")
MERGE_TRY: Final = PythonRule(name="merge-try", find=_merge_try, nothing="no try alone in a try")

"""The width of indentation, and the control that moves a statement into or out of a block."""

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.layout.lexemes import indent_of, statement_lists, wrapped
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource

FORM_FEED: Final = "form feed in an indentation"
MIXED: Final = "tabs and spaces are mixed"
STEPS: Final = ("  ", "   ", "    ", " " * 8, "\t")
"""The indentations of one level that are tried."""
ELSE: Final = "block has an else"
ALWAYS: Final = "block may always run just once"
NO_EFFECT: Final = "statement may do nothing"
SHARED_LINE: Final = "statement shares its line"
_FEED: Final = re.compile(rb"^[ \t]*\f", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Block:
    """An indented block: its byte range, the indentation of the statement around it, and its own."""

    start: int
    end: int
    outer: str
    inner: str


def find_widths(code: PythonSource) -> Iterator[Site | Refused]:
    """One site: all blocks at once with the same step, unless all of them have that step now."""
    if _FEED.search(code.source):
        yield Refused(FORM_FEED)
        return
    found = list(_blocks(code))[1 if wrapped(code) else 0 :]
    if not found:
        return
    if any(not block.inner.startswith(block.outer) for block in found) or any(
        len(set(block.inner)) > 1 for block in found
    ):
        yield Refused(MIXED)
        return
    steps = {block.inner[len(block.outer) :] for block in found}
    around = found[0].outer
    options = tuple(
        tuple(_shift(block, step) for block in found)
        for step in STEPS
        if steps != {step} and len(set(around + step)) == 1
    )
    yield Site(options, "indentation", code.positions.line_column(found[0].start)[0] - 1)


def _shift(block: _Block, step: str) -> Patch:
    """A patch that gives a block another step."""
    span = Span(block.start, block.end, add=block.outer + step, drop=block.inner)
    return Patch(block.start, block.end, (span,))


def _blocks(code: PythonSource) -> Iterator[_Block]:
    """The indented blocks in the order of the text, each with the comments above, in and below it.

    Raises:
        SourceError: the tokenizer cannot read the text.
    """
    found: list[tuple[int, int, str, str]] = []
    stack: list[int] = []
    after = 0  # where the line behind the last logical line begins
    indents = [""]
    for token in code.tokens:
        if token.type == tokenize.NEWLINE:
            end = code.source.find(b"\n", max(token.start, 0))
            after = len(code.source) if end < 0 else end + 1
        elif token.type == tokenize.INDENT:
            inner = indent_of(code, token.end)
            found.append((after, -1, indents[-1], inner))
            stack.append(len(found) - 1)
            indents.append(inner)
        elif token.type == tokenize.DEDENT:
            if not stack:
                raise SourceError("not readable by tokens")
            number = stack.pop()
            indents.pop()
            start, _, outer, inner = found[number]
            found[number] = (start, _with_comments(code, after, inner), outer, inner)
    return (_Block(*one) for one in found)


def _with_comments(code: PythonSource, end: int, indent: str) -> int:
    """The end of a block with the comment lines below it that are indented at least as far."""
    at = end
    while at < len(code.source):
        stop = code.source.find(b"\n", at) + 1 or len(code.source)
        line = code.source[at:stop]
        bare = line.strip()
        if bare.startswith(b"#") and line.startswith(indent.encode()):
            end = stop
        elif bare:
            break
        at = stop
    return end


def find_moves(code: PythonSource) -> Iterator[Site | Refused]:
    """The last statement of an `if` or `for` body moved behind it, or the statement behind it moved in."""
    for block in statement_lists(code):
        for number, node in enumerate(block):
            if not isinstance(node, ast.If | ast.For):
                continue
            if node.orelse or not code.alone(node):
                yield Refused(ELSE if node.orelse else SHARED_LINE)
                continue
            if isinstance(node, ast.If) and isinstance(node.test, ast.Constant):
                yield Refused(ALWAYS)
                continue
            if any(_leaves(one) for one in block[:number]):
                yield Refused(NO_EFFECT)
                continue
            yield from _out(code, node)
            if number + 1 < len(block):
                yield from _into(code, node, block[number + 1])


def _out(code: PythonSource, node: ast.If | ast.For) -> Iterator[Site | Refused]:
    """The site that moves the last statement of a body behind its block."""
    last = node.body[-1]
    if len(node.body) < 2:
        return
    if any(_leaves(one) for one in node.body[:-1]) or not _acts(last, node):
        yield Refused(NO_EFFECT)
        return
    if not code.alone(last) or not code.alone(node.body[0]):
        yield Refused(SHARED_LINE)
        return
    lines = code.lines(last, last)
    span = Span(lines.start, lines.end, add=code.indentation(node), drop=code.indentation(last))
    yield Site(((Patch(lines.start, lines.end, (span,)),),), "statement out of its block", code.line(last))


def _into(code: PythonSource, node: ast.If | ast.For, behind: ast.stmt) -> Iterator[Site | Refused]:
    """The site that moves the statement behind a block to the block's beginning."""
    empty = isinstance(behind, ast.Return) and (
        behind.value is None or (isinstance(behind.value, ast.Constant) and behind.value.value is None)
    )
    if empty or not _acts(behind, node):
        yield Refused(NO_EFFECT)
        return
    if not code.alone(behind) or not code.alone(node.body[0]):
        yield Refused(SHARED_LINE)
        return
    lines = code.lines(behind, behind)
    span = Span(lines.start, lines.end, add=code.indentation(node.body[0]), drop=code.indentation(behind))
    yield Site(((Patch(lines.start, lines.end, (span,)),),), "statement into the block", code.line(behind))


def _acts(node: ast.stmt, around: ast.If | ast.For) -> bool:
    """Whether a caller certainly sees that a statement runs, and in a loop also how often."""
    match node:
        case ast.Return() | ast.Raise() | ast.AugAssign() | ast.Expr(value=ast.Call() | ast.Yield()):
            return True
        case ast.Assign():
            return isinstance(around, ast.If)
        case _:
            return False


def _leaves(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)


INDENTATION: Final = PythonRule(
    name="indentation", find=find_widths, nothing="no indented block", proof="tree"
)
INDENTATION_CHANGED: Final = PythonRule(
    name="indentation-changed", find=find_moves, nothing="no if or for", kind="control"
)

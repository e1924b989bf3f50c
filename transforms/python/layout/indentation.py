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
from codeaudit.transforms.python.rewriting import control, edit, same_tree
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import SHARED, next_line

FORM_FEED: Final = "form feed in an indentation"
MIXED: Final = "tabs and spaces are mixed"
STEPS: Final = ("  ", "   ", "    ", " " * 8, "\t")
"""The indentations of one level that are tried."""
ELSE: Final = "block has an else"
ALWAYS: Final = "block may always run just once"
NO_EFFECT: Final = "statement may do nothing"
_FEED: Final = re.compile(rb"^[ \t]*\f", re.MULTILINE)


# ── width ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Block:
    """An indented block: its byte range, the indentation of the statement around it, and its own."""

    start: int
    end: int
    outer: str
    inner: str

    def shifted(self, step: str) -> Patch:
        """A patch that gives the block another step."""
        span = Span(self.start, self.end, add=self.outer + step, drop=self.inner)
        return Patch(self.start, self.end, (span,))


def _widths(code: PythonSource) -> Iterator[Site | Refused]:
    """One site: all blocks at once with the same step, unless all of them have that step now."""
    # A form feed sets the column of the indentation back to 0.
    if _FEED.search(code.source):
        yield Refused(FORM_FEED)
        return
    # The outermost block of an indented function is that of its wrapper line.
    blocks = _blocks(code)[1 if wrapped(code) else 0 :]
    if not blocks:
        return
    # A tab and eight spaces are different indentations, so a mixed one cannot be replaced piece by piece.
    if any(not block.inner.startswith(block.outer) or len(set(block.inner)) > 1 for block in blocks):
        yield Refused(MIXED)
        return
    steps = {block.inner[len(block.outer) :] for block in blocks}
    around = blocks[0].outer
    options = tuple(
        tuple(block.shifted(step) for block in blocks)
        for step in STEPS
        if steps != {step} and len(set(around + step)) == 1
    )
    yield Site(options, "indentation", code.positions.line_column(blocks[0].start)[0] - 1)


def _blocks(code: PythonSource) -> list[_Block]:
    """The indented blocks in the order of the text, each with the comments above, in and below it.

    Raises:
        SourceError: the tokenizer cannot read the text.
    """
    blocks: list[_Block] = []
    opened: list[tuple[int, str, str]] = []
    after = 0
    """The offset behind the last logical line; comments from there on belong to the next block."""
    for token in code.tokens:
        if token.type == tokenize.NEWLINE:
            after = next_line(code, token.start)
        elif token.type == tokenize.INDENT:
            opened.append((after, opened[-1][2] if opened else "", indent_of(code, token.end)))
        elif token.type == tokenize.DEDENT:
            if not opened:
                raise SourceError("not readable by tokens")
            start, outer, inner = opened.pop()
            blocks.append(_Block(start, _with_comments(code, after, inner), outer, inner))
    return sorted(blocks, key=lambda block: block.start)


def _with_comments(code: PythonSource, end: int, indent: str) -> int:
    """The end of a block with the comment lines below it that are indented at least as far."""
    at = end
    while at < len(code.source):
        stop = next_line(code, at)
        line = code.source[at:stop]
        text = line.strip()
        if text.startswith(b"#") and line.startswith(indent.encode()):
            end = stop
        elif text:
            break
        at = stop
    return end


INDENTATION: Final = same_tree("indentation", _widths, "no indented block")


# ── control ──────────────────────────────────────────────────────────────────────────────────────────────


def _moves(code: PythonSource) -> Iterator[Site | Refused]:
    """The last statement of an `if` or `for` body moved behind it, or the statement behind it moved in."""
    for block in statement_lists(code):
        for number, node in enumerate(block):
            if not isinstance(node, ast.If | ast.For):
                continue
            # Between a body and its `else` there is no place for a statement.
            if node.orelse or not code.alone(node):
                yield Refused(ELSE if node.orelse else SHARED)
            # The body of `if 1:` runs exactly when what stands behind it does.
            elif isinstance(node, ast.If) and isinstance(node.test, ast.Constant):
                yield Refused(ALWAYS)
            elif any(map(_leaves, block[:number])):
                yield Refused(NO_EFFECT)
            else:
                if len(node.body) > 1:
                    acts = _acts(node.body[-1], node) and not any(map(_leaves, node.body[:-1]))
                    yield _moved(code, node, node.body[-1], node) if acts else Refused(NO_EFFECT)
                if number + 1 < len(block):
                    behind = block[number + 1]
                    acts = _acts(behind, node) and not _returns_nothing(behind)
                    yield _moved(code, node, behind, node.body[0]) if acts else Refused(NO_EFFECT)


def _moved(code: PythonSource, around: ast.If | ast.For, node: ast.stmt, beside: ast.stmt) -> Site | Refused:
    """The site that gives a statement the indentation of another one, and so moves it out of the block or
    into it.
    """
    if not code.alone(node) or not code.alone(around.body[0]):
        return Refused(SHARED)
    lines = code.lines(node, node)
    span = Span(lines.start, lines.end, add=code.indentation(beside), drop=code.indentation(node))
    note = "statement out of its block" if beside is around else "statement into the block"
    return edit(note, code.line(node), Patch(lines.start, lines.end, (span,)))


def _acts(node: ast.stmt, around: ast.If | ast.For) -> bool:
    """Whether a caller certainly sees that a statement runs, and in a loop also how often."""
    match node:
        case ast.Return() | ast.Raise() | ast.AugAssign() | ast.Expr(value=ast.Call() | ast.Yield()):
            return True
        # `x = 1` at the end of a loop may do the same behind it.
        case ast.Assign():
            return isinstance(around, ast.If)
        case _:
            return False


def _returns_nothing(node: ast.stmt) -> bool:
    """Whether a statement is a `return` that does what the end of the function does anyway."""
    match node:
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
        case _:
            return False


def _leaves(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)


INDENTATION_CHANGED: Final = control("indentation-changed", _moves, "no if or for")

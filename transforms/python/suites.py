"""The blocks of compound statements as text: where they begin and end, which comments belong to them, how
parts of them change places, and new names.

Used by the transforms that move or insert statements (control_flow, dead_code, order, layout, notes). Offsets
count bytes.
"""

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Final, TypeGuard
from zlib import crc32

from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.capabilities import (
    NAMES_SEEN,
    has_text_evaluated,
    looks_at_variables,
)
from codeaudit.transforms.python.analysis.facts import bound_by, stored_names
from codeaudit.transforms.python.comments import bounds, first_comment, marks_section
from codeaudit.transforms.python.contexts import token_before
from codeaudit.transforms.python.identifiers.names import NATURAL, reserved
from codeaudit.transforms.python.source import PythonSource, PythonToken
from codeaudit.transforms.rules import MOST, legal_orders, permuted

REFLECTION: Final = NAMES_SEEN
SHARED: Final = "statement shares its line"
COMMENT: Final = "comment between the parts"
INDENTATION: Final = "mixed indentation"

_TYPE_PARAMETERS: Final = frozenset({"TypeVar", "TypeVarTuple", "ParamSpec"})
_WORDS: Final = re.compile(r"\w+")


def line_start(code: PythonSource, offset: int) -> int:
    """The offset at which the line of an offset begins."""
    return code.source.rfind(b"\n", 0, offset) + 1


def line_end(code: PythonSource, offset: int) -> int:
    """The offset at which the line of an offset ends, before its line break."""
    end = code.source.find(b"\n", offset)
    if end < 0:
        return len(code.source)
    return end - 1 if end > offset and code.source[end - 1 : end] == b"\r" else end


def next_line(code: PythonSource, offset: int) -> int:
    """The offset at which the next line begins; the end of the text if there is none."""
    end = code.source.find(b"\n", offset)
    return len(code.source) if end < 0 else end + 1


def line_before(code: PythonSource, begin: int) -> int:
    """The offset at which the line before the one that begins at `begin` ends, before its line break."""
    return begin - 2 if code.source[begin - 2 : begin] == b"\r\n" else begin - 1


def header_colon(code: PythonSource, body: Sequence[ast.stmt]) -> PythonToken:
    """The colon above a block."""
    token = token_before(code, code.start(body[0]))
    assert token is not None
    return token


def clause_keyword(code: PythonSource, body: Sequence[ast.stmt]) -> PythonToken:
    """The word (`else`, `finally`, `try`) right before the colon above a block."""
    token = token_before(code, header_colon(code, body).start)
    assert token is not None
    return token


def is_elif(node: ast.stmt, code: PythonSource) -> TypeGuard[ast.If]:
    """Whether a statement is an `if` written as the `elif` of another one."""
    return isinstance(node, ast.If) and code.source.startswith(b"elif", code.start(node))


def starts_line(code: PythonSource, node: ast.stmt) -> bool:
    """Whether a statement begins a line that no backslash continues from the line above."""
    begin = line_start(code, code.start(node))
    return not continued(code, begin) and not code.indentation(node).strip(" \t")


def continued(code: PythonSource, begin: int) -> bool:
    """Whether a backslash ends the line before the one that begins at an offset."""
    return code.source[max(0, begin - 3) : begin].rstrip(b"\r\n").endswith(b"\\")


def is_inline(code: PythonSource, body: Sequence[ast.stmt]) -> bool:
    """Whether a block stands on the line of its header."""
    return not starts_line(code, body[0])


def block_indent(code: PythonSource, node: ast.stmt) -> str:
    """The indentation that the block of a statement has beyond the statement."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if body and not is_inline(code, body):
        outer, inner = code.indentation(node), code.indentation(body[0])
        if inner.startswith(outer):
            return inner[len(outer) :]
    return code.step


def evenly_indented(code: PythonSource, *nodes: ast.stmt) -> bool:
    """Whether the statements and their blocks are indented by spaces alone, or by tabs alone."""
    return len(set("".join(code.indentation(node) + block_indent(code, node) for node in nodes))) < 2


def extra_indentation(code: PythonSource, node: ast.stmt, inner: ast.stmt) -> str | None:
    """The indentation that a statement inside `node` has beyond it; `None` if spaces and tabs are mixed."""
    outer, own = code.indentation(node), code.indentation(inner)
    return own[len(outer) :] if own.startswith(outer) and evenly_indented(code, node, inner) else None


def block_end(code: PythonSource, last: ast.stmt, outside: str) -> int:
    """The offset at which a block ends: behind its last statement and the comment lines below that are
    indented deeper than `outside`.
    """
    end = line_end(code, code.end(last))
    at = next_line(code, end)
    while at < len(code.source):
        stop = line_end(code, at)
        line = code.source[at:stop].decode()
        bare = line.lstrip(" \t")
        if bare.startswith("#"):
            if len(line) - len(bare) <= len(outside):
                break
            end = stop
        elif bare:
            break
        at = next_line(code, stop)
    return end


def shifted_body(
    code: PythonSource, body: Sequence[ast.stmt], end: int, *, add: str = "", drop: str = ""
) -> tuple[str | Span, ...]:
    """The parts of a patch from the colon above a block to `end`, with the block indented otherwise."""
    mark = header_colon(code, body).start
    if is_inline(code, body):
        return (Span(mark, end),)
    header = line_end(code, mark)
    return Span(mark, header), code.newline, Span(next_line(code, header), end, add=add, drop=drop)


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly under a node, in the order of the text."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            yield body


def block_of(code: PythonSource, node: ast.stmt) -> tuple[list[ast.stmt], int] | None:
    """The block that holds a statement, and the index of the statement in it; `None` if no block does."""
    above = code.parent(node)
    for body in bodies(above) if above is not None else ():
        if node in body:
            return body, body.index(node)
    return None


def always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether control certainly never reaches the end of a block."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        # Without `else`, the test may be false. A `while True` is not looked into.
        case ast.If(body=then, orelse=otherwise) if otherwise:
            return always_leaves(then) and always_leaves(otherwise)
        case _:
            return False


def reflects(code: PythonSource) -> bool:
    """Whether anyone may look at the names of the text's own variables."""
    return code.sees.variables or looks_at_variables(code.tree) or has_text_evaluated(code.tree)


def binds(code: PythonSource, name: str) -> bool:
    """Whether the text gives a name a meaning of its own anywhere, so that it may not be the builtin."""
    return bound_in(code.tree, name)


def bound_in(tree: ast.AST, name: str) -> bool:
    """Whether anything in a tree, nested scopes included, binds, declares or deletes a name."""
    for node in ast.walk(tree):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                if name in names:
                    return True
            case _:
                # `import *` may bind any name. Type parameters belong to a generic definition: `def f[T]()`.
                bound = {*bound_by(node)}
                if type(node).__name__ in _TYPE_PARAMETERS:
                    bound.add(getattr(node, "name", ""))
                if name in bound or "*" in bound:
                    return True
    return False


def fresh_names(code: PythonSource) -> Iterator[str]:
    """Names that occur nowhere in the text, not even in strings; the same ones for the same text, without
    end.
    """
    used = set(_WORDS.findall(code.text))
    if not code.text.isascii():
        used.update(_WORDS.findall(ast.dump(code.tree)))  # the parser normalises names (NFKC)
    pool = [name for name in NATURAL if not reserved(name)]
    # Another order for every text, and the same order whenever this text is read again.
    Random(crc32(code.source)).shuffle(pool)
    number = 0
    while True:
        for name in pool:
            if (proposal := f"{name}_{number}" if number else name) not in used:
                used.add(proposal)
                yield proposal
        number += 1


_COOKIE: Final = re.compile(rb"#!|[ \t\f]*#.*?coding[:=]")


def rearranged(
    code: PythonSource, parts: Sequence[Span], predecessors: Sequence[int], note: str
) -> Site | None:
    """A site whose options are the legal orders of these regions; `None` if none of them changes the text.

    `predecessors` holds one bit mask per region: bit i of mask j is set if region j must stand behind region
    i. No region moves past a comment that marks a section, nor a statement past any comment that stays.
    """
    texts = [code.slice(part) for part in parts]
    ends = [number for number in range(1, len(parts)) if _bounded(code, parts[number - 1], parts[number])]
    runs = list(pairwise([0, *ends, len(parts)]))
    within = [mask | (1 << start) - 1 for start, end in runs for mask in predecessors[start:end]]
    options = tuple(
        tuple(
            permuted(parts[start:end], [number - start for number in order[start:end]])
            for start, end in runs
            if list(order[start:end]) != list(range(start, end))
        )
        for order in legal_orders(within)
        if [texts[number] for number in order] != texts  # equal regions may change places unseen
    )
    if not options:
        return None
    line, _ = code.positions.line_column(parts[0].start)
    return Site(options, note, line)


def _bounded(code: PythonSource, before: Span, after: Span) -> bool:
    """Whether a comment line between two neighbouring regions bounds what moves."""
    if code.source[after.start - 1 : after.start] == b"\n":
        return bounds(code.source, before.end, after.start)
    return any(
        marks_section(token.text) for token in code.comment_lines if before.end <= token.start < after.start
    )


def lines_with_comments(code: PythonSource, node: ast.stmt | ast.excepthandler, above: int) -> Span:
    """The whole lines of a node without the last line break, with the comment lines directly above it.

    `above` is the line on which the code before it ends.
    """
    first = first_comment(partial(_line, code), code.line(node), node.col_offset, above)
    return Span(code.positions.offset(first, 0), line_end(code, code.end(node)))


def stacked(code: PythonSource, nodes: Sequence[ast.stmt | ast.excepthandler], above: int) -> list[Span]:
    """The lines of neighbours, each with its comments; `above` is the line on which the code before ends."""
    parts = []
    for node in nodes:
        parts.append(lines_with_comments(code, node, above))
        above = node.end_lineno or above
    return parts


def runs(
    body: Sequence[ast.stmt], wanted: Callable[[ast.stmt], bool], above: int
) -> Iterator[tuple[int, int, int]]:
    """The runs of neighbours that are wanted, of at most `MOST` statements.

    Yields the indices of the first and behind the last statement of each run, and the line on which the code
    before it ends: at least `above`.
    """
    start = 0
    for end, node in enumerate([*body, None]):
        if node is not None and wanted(node) and end - start < MOST:
            continue
        if end > start:
            yield start, end, above
            above = body[end - 1].end_lineno or 0
        if node is None or wanted(node):
            start = end
        else:
            start, above = end + 1, max(above, node.end_lineno or 0)


def heading(code: PythonSource) -> int:
    """The number of lines that must stay first in a file: those of the interpreter and the encoding."""
    lines = [_line(code, number) for number in (1, 2) if number <= code.source.count(b"\n") + 1]
    return max((number for number, line in enumerate(lines, 1) if _COOKIE.match(line)), default=0)


def line_above(code: PythonSource, body: Sequence[ast.stmt]) -> int:
    """The line on which the header of a body ends."""
    before = bisect_right(code.significant, code.start(body[0]), key=lambda token: token.end)
    return code.positions.line_column(code.significant[before - 1].start)[0] if before else 0


def binders(tree: ast.Module) -> Mapping[str, int]:
    """How often each name is bound anywhere in a text, parameters included."""
    return Counter(stored_names(tree))


def _line(code: PythonSource, number: int) -> bytes:
    begin = code.positions.offset(number, 0)
    return code.source[begin : line_end(code, begin)]

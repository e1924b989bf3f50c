"""Insertions where control never arrives or nothing happens: an `else` that passes, statements behind one
that leaves.
"""

import ast
import itertools
from collections.abc import Iterator
from random import Random
from typing import Final
from zlib import crc32

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.python.contexts import editable_nodes
from codeaudit.transforms.python.rewriting import PythonRule, at_each
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import (
    SHARED,
    block_end,
    block_indent,
    continued,
    line_end,
    next_line,
    starts_line,
)

HAS_ELSE: Final = "has an else"
_UNREACHED: Final = ("pass", "0", "None", "raise AssertionError", "assert False", "return")


@at_each(ast.stmt)
def _else(code: PythonSource, node: ast.stmt) -> Site | Refused | None:
    """`else: pass` behind an `if` or a loop."""
    if not isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While):
        return None
    if node.orelse:
        return Refused(HAS_ELSE)
    outside, newline = code.indentation(node), code.newline
    start, end = code.start(node), block_end(code, node.body[-1], outside)
    text = f"{newline}{outside}else:{newline}{outside}{block_indent(code, node)}pass"
    return Site(((Patch(start, end, (Span(start, end), text)),),), "else that passes", node.lineno)


def _behind(code: PythonSource) -> Iterator[Site | Refused]:
    # Seeded by the text: `find` must give the same options whenever the same text is read.
    rng = Random(crc32(code.source))
    for node in editable_nodes(code):
        if not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            continue
        end = line_end(code, code.end(node))
        if not starts_line(code, node) or not code.alone(node) or continued(code, next_line(code, end)):
            yield Refused(SHARED)
            continue
        texts = [text for text in _UNREACHED if text != "return" or _may_return(code, node)]
        start = code.start(node)
        opening = f"{code.newline}{code.indentation(node)}"
        options = tuple(
            (Patch(start, end, (Span(start, end), f"{opening}{text}")),) for text in rng.sample(texts, 3)
        )
        yield Site(options, "statement that is never reached", node.lineno)


def _may_return(code: PythonSource, node: ast.stmt) -> bool:
    """Whether a `return` may stand in the place of a statement: not outside of functions, and not in
    `except*`.
    """
    function = code.function(node)
    if function is None:
        return False
    around = itertools.takewhile(lambda above: above is not function, code.ancestors(node))
    return not any(isinstance(above, ast.TryStar) for above in around)


ELSE_PASS: Final = PythonRule(name="else-pass", find=_else, nothing="no if or loop")
AFTER_RETURN: Final = PythonRule(
    name="after-return", find=_behind, nothing="no statement that leaves a block"
)

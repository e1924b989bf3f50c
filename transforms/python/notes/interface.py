"""Notes of a function that its callers could read: docstring and annotations of outermost functions.

The meaning is kept for callers that read neither. Assumed: the annotations of a function that was defined
once were evaluated without an exception, and looking up their names, attributes and subscripts only computes.
"""

import ast
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.layout.lexemes import solid
from codeaudit.transforms.python.notes.local import documented, without_docstring
from codeaudit.transforms.python.notes.places import COMMENT, SHARED_LINE, known_decorators, reads_notes
from codeaudit.transforms.python.parsing import FunctionNode, parameter_nodes
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.strings.templates import has_comment
from codeaudit.transforms.python.suites import continued, line_start

READ: Final = "text reads docstrings or annotations"
DECORATED: Final = "decorator may read docstring or annotations"
ACTS: Final = "annotation does more than name a type"

PHRASES: Final = (
    "Do the work.",
    "See the notes.",
    "Part of the whole.",
    "Used by its callers.",
    "What the name says.",
)
"""Docstrings that are true of every function."""

_TYPES: Final = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr,
    ast.Starred, ast.Load,
)  # fmt: skip
"""The nodes of annotations that only name a type."""


def find_docstrings(code: PythonSource) -> Iterator[Site | Refused]:
    """Every docstring of an outermost function or method."""
    for node in _outermost(code):
        if documented(node):
            reason = _obstacle(code, node)
            yield Refused(reason) if reason else without_docstring(code, node)


def find_undocumented(code: PythonSource) -> Iterator[Site | Refused]:
    """Every outermost function or method without a docstring."""
    for node in _outermost(code):
        if documented(node):
            continue
        if reason := _obstacle(code, node):
            yield Refused(reason)
            continue
        at = line_start(code, code.start(node.body[0]))
        indent = code.source[at : code.start(node.body[0])].decode()
        if indent.strip(" \t") or continued(code, at):
            yield Refused(SHARED_LINE)
            continue
        options = tuple((Patch(at, at, (f'{indent}"""{phrase}"""{code.newline}',)),) for phrase in PHRASES)
        yield Site(options, "docstring", code.line(node.body[0]))


def find_annotations(code: PythonSource) -> Iterator[Site | Refused]:
    """Every annotation of a parameter or a result of an outermost function or method."""
    for node in _outermost(code):
        places = list(_annotated(code, node))
        reason = _obstacle(code, node) if places else None
        for start, annotation in places:
            end = code.full(annotation).end
            if reason:
                yield Refused(reason)
            elif any(not isinstance(inner, _TYPES) for inner in ast.walk(annotation)):
                yield Refused(ACTS)
            elif has_comment(code, start, end):
                yield Refused(COMMENT)
            else:
                yield Site(((Patch(start, end, ()),),), "annotation", code.line(annotation))


def _annotated(code: PythonSource, node: FunctionNode) -> Iterator[tuple[int, ast.expr]]:
    """Each annotation, with the offset behind the parameter's name or the list of parameters that it belongs
    to.
    """
    tokens = solid(code)
    begins = [one.start for one in tokens]
    for one in parameter_nodes(node.args):
        if one.annotation is not None:
            yield tokens[bisect_left(begins, code.start(one))].end, one.annotation
    if node.returns is not None:
        arrow = bisect_left(begins, code.full(node.returns).start) - 1
        yield tokens[arrow - 1].end, node.returns


def _outermost(code: PythonSource) -> Iterator[FunctionNode]:
    """Functions and methods that are not inside another function."""
    for node in code.nodes():
        if isinstance(node, FunctionNode) and not any(
            isinstance(above, FunctionNode) for above in code.ancestors(node)
        ):
            yield node


def _obstacle(code: PythonSource, node: FunctionNode) -> str | None:
    """Why the notes of a function stay; `None` if nothing reads them."""
    if reads_notes(code):
        return READ
    return None if known_decorators(node) else DECORATED


REMOVE_DOCSTRINGS: Final = PythonRule(name="remove-docstrings", find=find_docstrings, nothing="no docstring")
INSERT_DOCSTRINGS: Final = PythonRule(
    name="insert-docstrings", find=find_undocumented, nothing="every function has a docstring"
)
REMOVE_ANNOTATIONS: Final = PythonRule(
    name="remove-annotations", find=find_annotations, nothing="no annotation"
)

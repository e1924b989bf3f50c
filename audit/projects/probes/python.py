"""Inserts a statement at the start of Python units, after the docstring.

Called by `codeaudit verify` to note which units tests execute, and to make units raise (the power check).
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import Edit, Positions, splice
from codeaudit.transforms.python.files import DecodedPython, places
from codeaudit.transforms.python.parsing import first_line, parse
from codeaudit.transforms.source_files import MODULE

_COMPOUND: Final = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With,
    ast.AsyncWith, ast.Match, ast.Try, ast.TryStar,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PythonProbes:
    """The `Probes` of Python."""

    raising: str = 'raise RuntimeError("codeaudit power check")'

    def noting(self, number: int) -> str:
        """A call into `support/_codeaudit_probe.py`, which is on the import path of the tests."""
        return f'__import__("_codeaudit_probe").hit({number})'

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """The file with a statement at the start of each named unit; names are those of `places`.

        If the file does not compile with all statements, only those are kept that compile alone.
        """
        try:
            decoded = DecodedPython.read(data)
            edits = _edits(decoded.text, statements)
        except SourceError:
            return data
        source = decoded.text.encode()
        if not decoded.compiles(splice(source, edits).decode()):
            edits = [edit for edit in edits if decoded.compiles(splice(source, [edit]).decode())]
        return decoded.write(splice(source, edits).decode())


PROBES: Final = PythonProbes()


def _edits(text: str, statements: Mapping[str, str]) -> list[Edit]:
    source = text.encode()
    positions = Positions(source)
    bodies = {place.name: place.node.body for place in places(text)}
    bodies[MODULE] = parse(text).body
    return [
        _edit(source, positions, bodies[name], statement)
        for name, statement in statements.items()
        if bodies.get(name)
    ]


def _edit(source: bytes, positions: Positions, body: list[ast.stmt], statement: str) -> Edit:
    first = next((node for node in body if not _stays_first(node)), None)
    if first is None:
        # Nothing but a docstring or `from __future__`: the statement follows on the same line.
        end = positions.offset(body[-1].end_lineno or 0, body[-1].end_col_offset or 0)
        return Edit(end, end, f"; {statement}")
    start = positions.offset(first_line(first), 0)
    # `def f(): return 1` has its body on the line of its head, so a simple statement gets a `;` before it.
    if not isinstance(first, _COMPOUND):
        here = positions.offset(first.lineno, first.col_offset)
        return Edit(here, here, f"{statement}; ")
    # No `;` may precede a compound statement, so it gets a line of its own with the same indentation.
    line = source[start:]
    blank = line[: len(line) - len(line.lstrip(b" \t\f"))].decode()
    return Edit(start, start, f"{blank}{statement}\n")


def _stays_first(node: ast.stmt) -> bool:
    match node:
        # A `__future__` import behind another statement is a syntax error, and a docstring would be none.
        case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
            return True
        case _:
            return False

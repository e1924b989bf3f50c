"""Python files for the project tools: their encoding, where each function stands, and how a transform is
shown it.

A coding cookie in the first two lines declares the encoding. An indented function is shown to a transform
under one wrapper line that stands for the text around it, so that no line of it, and no string that runs
over lines, has to be moved.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.parsing import FunctionNode, compiled, first_line, parse
from codeaudit.transforms.source_files import (
    NO_ENCODING,
    DecodedFile,
    FileFormat,
    FunctionLocation,
    Numbering,
)

IN_CLASS: Final = "class _:\n"
"""The wrapper line of a method. A class whose name is all underscores mangles no names."""
IN_BLOCK: Final = "if 1:\n"
"""The wrapper line of a function in an `if`, `try`, `with` or loop of the module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedPython(DecodedFile):
    """A Python file's text, with the facts needed to write it back byte for byte."""

    @staticmethod
    def encoding_of(data: bytes) -> str:
        """The encoding that the file itself declares (UTF-8 by default).

        Raises:
            SourceError: the encoding is unknown, or the first lines are not in it.
        """
        try:
            return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError as error:
            unknown = "unknown encoding" in str(error)
            raise SourceError(NO_ENCODING if unknown else "not UTF-8") from error

    def compiles(self, text: str) -> bool:
        """Whether Python reads the bytes of this text as a file in the same encoding, and compiles them."""
        try:
            data = self.write(text)
            # The bytes are read anew: a new comment in line 1 or 2 may be a coding cookie.
            return self.encoding_of(data) == self.encoding and compiled(data) is not None
        except (SourceError, ValueError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPlace(FunctionLocation):
    """A function in a text, its indentation included."""

    node: FunctionNode
    """The definition in the syntax tree of the whole text."""


@lru_cache(maxsize=4)
def places(text: str, around: frozenset[str] = frozenset(), /) -> tuple[FunctionPlace, ...]:
    """The outermost functions and methods of a text, in the order of the text.

    A function inside a function belongs to the outer one.

    Raises:
        SourceError: the text does not parse.
    """
    source = text.encode()
    starts = line_starts(source)
    numbering = Numbering()  # a property has up to three functions of one name
    return tuple(
        _place(source, starts, numbering.of(name), node, wrapper)
        for name, node, wrapper in _definitions(parse(text).body, "", IN_BLOCK)
    )


def _definitions(
    body: Sequence[ast.stmt], inside: str, wrapper: str
) -> Iterator[tuple[str, FunctionNode, str]]:
    for node in body:
        if isinstance(node, FunctionNode):
            yield inside + node.name, node, wrapper
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{inside}{node.name}.", IN_CLASS)
        else:
            yield from _definitions(list(_nested(node)), inside, wrapper)


def _nested(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a statement that opens no scope."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _place(
    source: bytes, starts: Sequence[int], name: str, node: FunctionNode, wrapper: str
) -> FunctionPlace:
    first, last = first_line(node), node.end_lineno or node.lineno
    start, end = starts[first - 1], starts[last] if last < len(starts) else len(source)
    while end > start and source[end - 1] in b"\r\n":
        end -= 1
    line = source[start:end]
    blank = line[: len(line) - len(line.lstrip(b" \t\f"))]
    obstacle = None
    # Form feeds at the beginning of a line do not indent it; behind blanks they reset the column.
    if not blank.strip(b"\f"):
        start, blank = start + len(blank), b""
    elif b"\f" in blank:
        obstacle = "form feed in an indentation"
    # A backslash joins the first line to the one above, which the transform would not see.
    if source[: starts[first - 1]].rstrip(b"\r\n").endswith(b"\\"):
        obstacle = "function begins inside a continued line"
    return FunctionPlace(
        name=name,
        first=first,
        last=last,
        start=start,
        end=end,
        wrapper=wrapper if blank else "",
        obstacle=obstacle,
        node=node,
    )


def _still_one_function(text: str, wrapper: str) -> bool:
    """Whether a rewritten text is still one function under the same wrapper line."""
    if not text.startswith(wrapper):
        return False
    try:
        body = parse(text).body
    except SourceError:
        return False
    if wrapper and len(body) == 1 and isinstance(body[0], ast.ClassDef | ast.If):
        # A dedented `else` would have become that of the wrapper line.
        if getattr(body[0], "orelse", []):
            return False
        body = body[0].body
    return len(body) == 1 and isinstance(body[0], FunctionNode)


PYTHON_FILES: Final = FileFormat(
    language="python",
    decode=DecodedPython.read,
    places=places,
    is_one=_still_one_function,
    encoding_of=DecodedPython.encoding_of,
)
"""Files that end with `.py`."""

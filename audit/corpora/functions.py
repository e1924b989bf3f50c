"""Reads the functions of a Python file, each as a separate text."""

import ast
import gc
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.errors import NOT_PARSED, ReaderLimitError, SourceError
from codeaudit.transforms.python import parsing as reading
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, first_line
from codeaudit.transforms.records import Sample
from codeaudit.transforms.remembering import digest, fact
from codeaudit.transforms.source_files import decoded_text, utf8

SHORTEST: Final = 3
"""Smallest number of lines of a function, because shorter ones have nothing to perturb."""
LONGEST: Final = 60
MOST_CHARACTERS: Final = 8000


def decode(data: bytes, encoding_of: Callable[[bytes], str] = utf8) -> str:
    """The text of a file with `\\n` as line ends, in the encoding that its language's rules say.

    Raises:
        SourceError: as of `decoded_text`.
    """
    text, _ = decoded_text(data, encoding_of)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(text: str) -> ast.Module:
    """The syntax tree of a file, without the parser's warnings.

    Raises:
        SourceError: it does not parse. The message is the same for all such files, so that reasons count.
        ReaderLimitError: another Python reads it, or it is nested too deeply.
    """
    # A tree has no cycles, and looking for some after every few hundred nodes takes a fifth of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return reading.parse(text)
    except ReaderLimitError:
        raise
    except SourceError as error:
        # Python's own messages name lines and tokens, so each would be a reason of its own.
        raise SourceError(NOT_PARSED) from error
    finally:
        if collects:
            gc.enable()


def functions(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """Every top-level function and method of a suitable length, dedented, with its decorators.

    Nested functions are part of their outer function. The raw label is the function's name.

    Raises:
        SourceError: the text does not parse.
    """
    lines = text.split("\n")
    for name, start, end, unfit in fact(text, f"functions by {_own_code()}", lambda: _function_rows(text)):
        source = dedented(lines[start - 1 : end])
        reason = unfit or unfit_size(source, "function")
        if reason is None:
            yield raw_sample(source, language=PYTHON.name, label=name, path=path, line=start, context=text)
        else:
            left_out[reason] += 1


def _function_rows(text: str) -> list[tuple[str, int, int | None, str | None]]:
    """Name, first line and last line of each function of a text, and why it is no example."""
    return [
        (node.name, first_line(node), node.end_lineno, _unfit(node))
        for node in _definitions(parse(text).body)
    ]


@cache
def _own_code() -> str:
    """A hash of this module: other code may find other functions."""
    return digest(Path(__file__).read_text(encoding="utf-8"))


def unfit_size(source: str, noun: str) -> str | None:
    """Why a unit is too short or too long for an example; `None` if it is neither."""
    count = source.count("\n") + 1
    if count < SHORTEST:
        return f"{noun} under {SHORTEST} lines"
    if count > LONGEST:
        return f"{noun} over {LONGEST} lines"
    # Sixty lines may hold a table of thousands of characters, which no model reads as a whole.
    return f"{noun} over {MOST_CHARACTERS} characters" if len(source) > MOST_CHARACTERS else None


def _definitions(body: list[ast.stmt]) -> Iterator[FunctionNode]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node
            case ast.ClassDef() | ast.With():
                yield from _definitions(node.body)
            # Definitions under a condition count too: `if sys.platform == "win32": def f(): ...`
            case ast.If():
                yield from _definitions(node.body + node.orelse)
            case ast.Try():
                handlers = [statement for handler in node.handlers for statement in handler.body]
                yield from _definitions(node.body + handlers + node.orelse + node.finalbody)
            case _:
                pass


def _unfit(node: FunctionNode) -> str | None:
    if node.name.startswith("__") and node.name.endswith("__"):
        return "dunder name"
    for decorator in node.decorator_list:
        name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", None)
        if name == "overload":
            return "overload"  # a signature for type checkers; the code stands in another definition
    return "stub" if all(_says_nothing(statement) for statement in node.body) else None


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, `...`, `pass` or `raise NotImplementedError`."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError")):
            return True
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
        case _:
            return False


def cut_out(source: bytes, start: int, end: int) -> tuple[str, int]:
    """A part of a file as a text of its own, dedented, and its first line in the file, from 1."""
    begin = source.rfind(b"\n", 0, start) + 1
    indent = source[begin:start]
    if indent.strip():
        indent = b""  # something else stands before it
    lines = (indent + source[start:end]).decode().split("\n")
    return dedented(lines), source.count(b"\n", 0, start) + 1


def dedented(unit: list[str]) -> str:
    """The lines without the first line's indentation. Lines of strings that are indented less stay."""
    # Not `textwrap.dedent`: one line of a multi-line string at column 0 would keep it from removing anything.
    indent = unit[0][: len(unit[0]) - len(unit[0].lstrip())]
    return "\n".join(line.removeprefix(indent) if line.strip() else "" for line in unit)

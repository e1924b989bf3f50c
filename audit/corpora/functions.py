"""Reads the functions of a Python file, each as a separate text."""

import ast
import gc
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from typing import Final

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.python import parsing as reading
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, first_line
from codeaudit.transforms.records import Sample

SHORTEST: Final = 3
"""Smallest number of lines of a function, because shorter ones have nothing to perturb."""
LONGEST: Final = 60
MOST_CHARACTERS: Final = 8000
LARGEST_FILE: Final = 2_000_000
"""Largest file in bytes. Larger ones are generated tables, whose syntax tree takes 100 times their size."""


def decode(data: bytes) -> str:
    """The text of a Python file, decoded by its coding cookie, with `\\n` as line ends.

    Raises:
        SourceError: the file is too large, has null bytes, or does not fit its encoding. The message does
            not name the file, so that equal reasons count together.
    """
    if len(data) > LARGEST_FILE:
        raise SourceError(f"file over {LARGEST_FILE // 1_000_000} MB")
    if b"\0" in data:
        raise SourceError("null bytes")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except SyntaxError as error:
        raise SourceError("unknown encoding" if "unknown encoding" in str(error) else "not UTF-8") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise SourceError(
            "not UTF-8" if isinstance(error, UnicodeDecodeError) else "unknown encoding"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(text: str) -> ast.Module:
    """The syntax tree of a file, without the parser's warnings.

    Raises:
        SourceError: it does not parse. The message is the same for all such files, so that reasons count.
    """
    # A tree has no cycles, and looking for some after every few hundred nodes takes a fifth of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return reading.parse(text)
    except SourceError as error:
        # Python's own messages name lines and tokens, so each would be a reason of its own.
        deep = "nested too deeply" in str(error) or "too many nested" in str(error)
        raise SourceError("nested too deeply" if deep else NOT_PARSED) from error
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
    for node in _definitions(parse(text).body):
        start = first_line(node)
        source = dedented(lines[start - 1 : node.end_lineno])
        reason = _unfit(node) or unfit_size(source, "function")
        if reason is None:
            yield raw_sample(
                source, language=PYTHON.name, label=node.name, path=path, line=start, context=text
            )
        else:
            left_out[reason] += 1


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


def dedented(unit: list[str]) -> str:
    """The lines without the first line's indentation. Lines of strings that are indented less stay."""
    # Not `textwrap.dedent`: one line of a multi-line string at column 0 would keep it from removing anything.
    indent = unit[0][: len(unit[0]) - len(unit[0].lstrip())]
    return "\n".join(line.removeprefix(indent) if line.strip() else "" for line in unit)

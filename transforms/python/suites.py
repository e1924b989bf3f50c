"""The blocks of compound statements as text: where they begin and end, whose the comments are, new names."""

import ast
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final
from zlib import crc32

from codeaudit.transforms.python.contexts import token_before
from codeaudit.transforms.python.identifiers.names import NATURAL, reserved
from codeaudit.transforms.python.source import PythonSource, PythonToken

REFLECTION: Final = "reflection on names"
SHARED: Final = "statement shares its line"
COMMENT: Final = "comment between the parts"
INDENTATION: Final = "mixed indentation"

_REFLECTIVE_NAMES: Final = frozenset(
    {
        "locals", "vars", "dir", "eval", "exec", "_getframe", "_getframemodulename", "currentframe", "stack",
        "getouterframes", "getinnerframes", "getframeinfo", "f_locals", "f_back", "tb_frame", "gi_frame",
        "cr_frame", "ag_frame", "__code__", "co_varnames", "co_nlocals", "getargvalues", "settrace",
    }
)  # fmt: skip
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
    """The offset at which the line behind that of an offset begins."""
    end = code.source.find(b"\n", offset)
    return len(code.source) if end < 0 else end + 1


def line_before(code: PythonSource, begin: int) -> int:
    """Where the line before the one that begins at an offset ends, before its line break."""
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


def is_elif(code: PythonSource, node: ast.If) -> bool:
    """Whether an `if` is written as a clause of another."""
    return code.source.startswith(b"elif", code.start(node))


def starts_line(code: PythonSource, node: ast.stmt) -> bool:
    """Whether a statement begins a line of its own, and not one that a backslash continues."""
    begin = line_start(code, code.start(node))
    return not continued(code, begin) and not code.indentation(node).strip(" \t")


def continued(code: PythonSource, begin: int) -> bool:
    """Whether a backslash ends the line before the one that begins at an offset."""
    return code.source[max(0, begin - 3) : begin].rstrip(b"\r\n").endswith(b"\\")


def is_inline(code: PythonSource, body: Sequence[ast.stmt]) -> bool:
    """Whether a block stands on the line of its header."""
    return not starts_line(code, body[0])


def block_indent(code: PythonSource, node: ast.stmt) -> str:
    """The indentation that a block of a statement has more than the statement."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if body and not is_inline(code, body):
        outer, inner = code.indentation(node), code.indentation(body[0])
        if inner.startswith(outer):
            return inner[len(outer) :]
    return code.step


def evenly_indented(code: PythonSource, *nodes: ast.stmt) -> bool:
    """Whether the statements are indented by spaces alone, or by tabs alone, as one level is."""
    return (
        len(
            set(
                "".join(
                    [*(code.indentation(node) for node in nodes), *(block_indent(code, n) for n in nodes)]
                )
            )
        )
        < 2
    )


def block_end(code: PythonSource, last: ast.stmt, outside: str) -> int:
    """Where a block ends, with the comment lines behind it that stand further right than `outside`."""
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


def block_of(code: PythonSource, node: ast.stmt) -> tuple[list[ast.stmt], int] | None:
    """The block that holds a statement, and its place there."""
    above = code.parent(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and node in block:
            return block, block.index(node)
    return None


def always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block certainly never reaches its end."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.If(body=then, orelse=otherwise) if otherwise:
            return always_leaves(then) and always_leaves(otherwise)
        case _:
            return False


def reflects(code: PythonSource) -> bool:
    """Whether the text may look at the names of its own variables."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if (
                name in _REFLECTIVE_NAMES
            ):
                return True
    return False


def binds(code: PythonSource, name: str) -> bool:
    """Whether the text gives a name a meaning of its own anywhere, so that it may not be the builtin."""
    return bound_in(code.tree, name)


def bound_in(tree: ast.AST, name: str) -> bool:
    """Whether something in a tree, nested scopes included, binds, declares or deletes a name."""
    return any(_bound_by(node, name) for node in ast.walk(tree))


def _bound_by(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=other, ctx=ast.Store() | ast.Del()) | ast.arg(arg=other):
            return other == name
        case ast.FunctionDef(name=other) | ast.AsyncFunctionDef(name=other) | ast.ClassDef(name=other):
            return other == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.alias(name=whole, asname=short):
            return (short or whole.partition(".")[0]) in (name, "*")
        case ast.ExceptHandler(name=other) | ast.MatchAs(name=other) | ast.MatchStar(name=other):
            return other == name
        case ast.MatchMapping(rest=other):
            return other == name
        case _:
            # The parameters of a generic definition: `def f[name]()`.
            return type(node).__name__ in _TYPE_PARAMETERS and getattr(node, "name", None) == name


def fresh_names(code: PythonSource) -> Iterator[str]:
    """Names that occur nowhere in the text, not even in strings; the same ones for the same text, no end."""
    used = set(_WORDS.findall(code.text))
    if not code.text.isascii():
        used.update(_WORDS.findall(ast.dump(code.tree)))  # letters that are one letter to the parser
    pool = [name for name in NATURAL if not reserved(name)]
    Random(crc32(code.source)).shuffle(pool)
    number = 0
    while True:
        for name in pool:
            if (proposal := f"{name}_{number}" if number else name) not in used:
                used.add(proposal)
                yield proposal
        number += 1

"""Tokens as the rules of layout see them: the same on every version of Python.

Since 3.12 the tokenizer goes into f-strings. Here an f-string is one string, as it was before, so that no
rule reaches inside.
"""

import ast
import keyword
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.source import Located, PythonSource
from codeaudit.transforms.python.suites import bodies, line_start
from codeaudit.transforms.python.tree import IN_BLOCK, IN_CLASS

COOKIE: Final = re.compile(rb"coding[:=][ \t]*[-\w.]+")
_START: Final = getattr(tokenize, "FSTRING_START", -1)
_END: Final = getattr(tokenize, "FSTRING_END", -1)
_APART: Final = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING})
_TEXTLESS: Final = frozenset({tokenize.NL, tokenize.NEWLINE})
_STRING: Final = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A token with the number of brackets around it; a bracket itself counts as outside of its pair."""

    type: int
    text: str
    start: int
    end: int
    depth: int
    line: int
    """The line of its first byte, from 1."""
    last: int
    """The line of its last byte."""

    @property
    def breaks(self) -> bool:
        """Whether it is a line break, of a statement or of a line inside brackets."""
        return self.type in _TEXTLESS

    @property
    def opens(self) -> bool:
        """Whether it is an opening bracket."""
        return self.type == tokenize.OP and self.text in ("(", "[", "{")

    @property
    def closes(self) -> bool:
        """Whether it is a closing bracket."""
        return self.type == tokenize.OP and self.text in (")", "]", "}")

    @property
    def ends_operand(self) -> bool:
        """Whether a value may end with it, so that an operator behind it has a left side."""
        if self.type == tokenize.NAME:
            return not keyword.iskeyword(self.text) or self.text in ("None", "True", "False")
        return self.closes or self.text == "..." or self.type in (tokenize.NUMBER, tokenize.STRING)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string token in its parts."""

    prefix: str
    quote: str
    body: str

    @classmethod
    def read(cls, text: str) -> "Literal | None":
        """The parts of a token's text."""
        match = _STRING.fullmatch(text)
        return cls(match[1], match[2], match[3]) if match else None

    @property
    def formatted(self) -> bool:
        """Whether it is an f-string."""
        return "f" in self.prefix.lower()

    @property
    def raw(self) -> bool:
        """Whether backslashes are only backslashes."""
        return "r" in self.prefix.lower()

    def __str__(self) -> str:
        return f"{self.prefix}{self.quote}{self.body}{self.quote}"


@lru_cache(maxsize=4)
def lexemes(code: PythonSource) -> tuple[Lexeme, ...]:
    """Every token but indentation, with f-strings in one piece; none of the line above an indented function.

    Raises:
        SourceError: the tokenizer cannot read the text, or is wrong about where tokens stand.
    """
    found: list[Lexeme] = []
    depth, opened, begin = 0, 0, 0
    skipped = wrapped(code)
    for token in code.tokens:
        kind, text, start = token.type, token.text, token.start
        if kind == _START:
            begin = begin if opened else start
            opened += 1
            continue
        if kind == _END:
            opened -= 1
            kind, start = tokenize.STRING, begin
            text = code.source[start : token.end].decode()
        if opened or kind in _APART:
            continue
        if kind not in _TEXTLESS and code.source[start : token.end] != text.encode():
            raise SourceError("not readable by tokens")
        depth -= kind == tokenize.OP and text in (")", "]", "}")
        line = code.positions.line_column(start)[0]
        if line == 1 and skipped:
            continue
        last = code.positions.line_column(max(start, token.end - 1))[0]
        found.append(Lexeme(kind, text, start, token.end, depth, line, last))
        depth += kind == tokenize.OP and text in ("(", "[", "{")
    return tuple(found)


def solid(code: PythonSource) -> tuple[Lexeme, ...]:
    """The tokens without comments and line breaks."""
    return tuple(one for one in lexemes(code) if not one.breaks and one.type != tokenize.COMMENT)


@lru_cache(maxsize=4)
def logical_lines(code: PythonSource) -> tuple[tuple[Lexeme, ...], ...]:
    """The solid tokens of each logical line; statements joined by `;` are one line."""
    found: list[tuple[Lexeme, ...]] = []
    row: list[Lexeme] = []
    for one in lexemes(code):
        if one.type == tokenize.NEWLINE:
            if row:
                found.append(tuple(row))
            row = []
        elif not one.breaks and one.type != tokenize.COMMENT:
            row.append(one)
    if row:
        found.append(tuple(row))
    return tuple(found)


@lru_cache(maxsize=4)
def pairs(code: PythonSource) -> Mapping[int, int]:
    """For the offset of each opening bracket that of the bracket that closes it."""
    stack: list[int] = []
    found: dict[int, int] = {}
    for one in lexemes(code):
        if one.opens:
            stack.append(one.start)
        elif one.closes and stack:
            found[stack.pop()] = one.start
    return found


def gap(code: PythonSource, before: Lexeme, behind: Lexeme) -> bytes:
    """What stands between two tokens."""
    return code.source[before.end : behind.start]


def indent_of(code: PythonSource, offset: int) -> str:
    """What stands before an offset on its line."""
    return code.source[line_start(code, offset) : offset].decode()


def continued(code: PythonSource, line: int) -> bool:
    """Whether a line goes on from the one above by a backslash."""
    start = code.positions.offset(line, 0)
    return code.source[max(start - 3, 0) : start].rstrip(b"\r\n").endswith(b"\\")


def wrapped(code: PythonSource) -> bool:
    """Whether the first line only stands for what is around an indented function."""
    return code.text.startswith((IN_CLASS, IN_BLOCK))


def untouchable(code: PythonSource) -> int:
    """Up to which offset no line may come or go.

    That is the line above an indented function, or the comments at the head of a file where one of them
    looks like the name of an encoding: on the first two lines that is what it is, further down it is not.
    """
    if wrapped(code):
        return code.source.find(b"\n") + 1
    first = solid(code)[:1]
    head = first[0].start if first else len(code.source)
    return head if COOKIE.search(code.source, 0, head) else 0


def docstrings(code: PythonSource) -> frozenset[int]:
    """The `id` of each constant that is the docstring of a module, class or function."""
    found: set[int] = set()
    for node in code.nodes():
        if isinstance(node, ast.Module | ast.ClassDef | FunctionNode):
            match node.body[:1]:
                case [ast.Expr(value=ast.Constant(value=str()) as text)]:
                    found.add(id(text))
    return frozenset(found)


def expressions(code: PythonSource) -> Iterator[ast.expr]:
    """Expressions that stand where their text may be written in other ways.

    Left out: what is inside of f-strings and of patterns, and the line above an indented function.
    """
    above = 1 if wrapped(code) else 0
    apart: set[int] = set()
    for node in code.nodes():
        if isinstance(node, ast.pattern):
            apart.update(id(inner) for inner in ast.walk(node))
        if isinstance(node, ast.expr) and id(node) not in apart and node.lineno > above:
            yield node


def token_at(code: PythonSource, node: Located) -> Lexeme | None:
    """The token that is all of a node; none where the node has several."""
    start, end = code.start(node), code.end(node)
    return next((one for one in solid(code) if one.start == start and one.end == end), None)


def statement_lists(code: PythonSource) -> Iterator[list[ast.stmt]]:
    """Every list of statements, in the order of the text."""
    return (body for node in code.nodes() for body in bodies(node))

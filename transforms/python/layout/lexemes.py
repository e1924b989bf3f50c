"""Tokens for the rules of layout: the same on every version of Python.

Since 3.12 the tokenizer reads the insides of f-strings. Here an f-string is one string token, as it was
before, so that no rule reaches inside.
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
from codeaudit.transforms.python.files import IN_BLOCK, IN_CLASS
from codeaudit.transforms.python.source import Located, PythonSource
from codeaudit.transforms.python.suites import bodies, line_start

COOKIE: Final = re.compile(rb"coding[:=][ \t]*[-\w.]+")
_START: Final = getattr(tokenize, "FSTRING_START", -1)
_END: Final = getattr(tokenize, "FSTRING_END", -1)
_APART: Final = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING})
_BREAKS: Final = frozenset({tokenize.NL, tokenize.NEWLINE})
_STRING: Final = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A token with the number of brackets around it; a bracket counts as outside of its own pair."""

    type: int
    text: str
    start: int
    """Byte offset in the UTF-8 text."""
    end: int
    """Byte offset behind it."""
    depth: int
    """Number of brackets around it."""
    line: int
    """The line of its first byte, from 1."""
    last: int
    """The line of its last byte."""

    @property
    def solid(self) -> bool:
        """Whether it is neither a comment nor a line break."""
        return self.type != tokenize.COMMENT and self.type not in _BREAKS

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
        # `a -1` subtracts, `return -1` has a sign.
        if self.type == tokenize.NAME:
            return not keyword.iskeyword(self.text) or self.text in ("None", "True", "False")
        return self.closes or self.text == "..." or self.type in (tokenize.NUMBER, tokenize.STRING)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string token, split into prefix, quote and body."""

    prefix: str
    quote: str
    body: str

    @classmethod
    def read(cls, text: str) -> "Literal | None":
        """The parts of a token's text; `None` if it is no string."""
        match = _STRING.fullmatch(text)
        return cls(match[1], match[2], match[3]) if match else None

    @property
    def formatted(self) -> bool:
        """Whether it is an f-string."""
        return "f" in self.prefix.lower()

    @property
    def raw(self) -> bool:
        """Whether a backslash is just a backslash."""
        return "r" in self.prefix.lower()

    def __str__(self) -> str:
        return f"{self.prefix}{self.quote}{self.body}{self.quote}"


@lru_cache(maxsize=4)
def lexemes(code: PythonSource) -> tuple[Lexeme, ...]:
    """Every token but indentation, with f-strings in one piece; the wrapper line of an indented function is
    left out.

    Raises:
        SourceError: the tokenizer cannot read the text, or gives wrong positions.
    """
    pieces: list[Lexeme] = []
    depth, opened, begin = 0, 0, 0
    skipped = wrapped(code)
    for token in code.tokens:
        kind, text, start = token.type, token.text, token.start
        # f-strings may be nested: only the outermost one becomes a token.
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
        # An edit at a wrong position would destroy the text.
        if kind not in _BREAKS and code.source[start : token.end] != text.encode():
            raise SourceError("not readable by tokens")
        # Counted before the token itself, so that a closing bracket is as deep as its opening one.
        depth -= kind == tokenize.OP and text in (")", "]", "}")
        line = code.positions.line_column(start)[0]
        if line == 1 and skipped:
            continue
        # The line of the last byte; the line break that `tokenize` adds at the end of a text has no byte.
        last = code.positions.line_column(max(start, token.end - 1))[0]
        pieces.append(Lexeme(kind, text, start, token.end, depth, line, last))
        depth += kind == tokenize.OP and text in ("(", "[", "{")
    return tuple(pieces)


@lru_cache(maxsize=4)
def solid(code: PythonSource) -> tuple[Lexeme, ...]:
    """The tokens without comments and line breaks."""
    return tuple(lexeme for lexeme in lexemes(code) if lexeme.solid)


@lru_cache(maxsize=4)
def logical_lines(code: PythonSource) -> tuple[tuple[Lexeme, ...], ...]:
    """The solid tokens of each logical line; statements joined by `;` are one line."""
    rows: list[list[Lexeme]] = [[]]
    for lexeme in lexemes(code):
        if lexeme.type == tokenize.NEWLINE:
            rows.append([])
        elif lexeme.solid:
            rows[-1].append(lexeme)
    return tuple(tuple(row) for row in rows if row)


def gap(code: PythonSource, before: Lexeme, behind: Lexeme) -> bytes:
    """The bytes between two tokens."""
    return code.source[before.end : behind.start]


def indent_of(code: PythonSource, offset: int) -> str:
    """The text between the beginning of the line and an offset."""
    return code.source[line_start(code, offset) : offset].decode()


def wrapped(code: PythonSource) -> bool:
    """Whether the first line is the wrapper line of an indented function."""
    return code.text.startswith((IN_CLASS, IN_BLOCK))


def untouchable(code: PythonSource) -> int:
    """The offset up to which no line may be added or removed; 0 if there is no limit.

    That is the end of the wrapper line of an indented function, or of the comments at the head of a file if
    one of them looks like a declaration of the encoding: Python takes it for one on the first two lines, but
    not further down.
    """
    if wrapped(code):
        return code.source.find(b"\n") + 1
    first = solid(code)[:1]
    head = first[0].start if first else len(code.source)
    return head if COOKIE.search(code.source, 0, head) else 0


def comment_inside(code: PythonSource, start: int, end: int) -> bool:
    """Whether a comment begins inside a range, its first byte included."""
    return any(lexeme.type == tokenize.COMMENT and start <= lexeme.start < end for lexeme in lexemes(code))


def docstring(node: ast.AST) -> ast.Expr | None:
    """The docstring of a module, class or function, as a statement."""
    match node:
        case ast.Module(body=[first, *_]) | ast.ClassDef(body=[first, *_]):
            pass
        case ast.FunctionDef(body=[first, *_]) | ast.AsyncFunctionDef(body=[first, *_]):
            pass
        case _:
            return None
    match first:
        case ast.Expr(value=ast.Constant(value=str())):
            return first
        case _:
            return None


def docstrings(code: PythonSource) -> frozenset[int]:
    """The `id` of each constant that is the docstring of a module, class or function."""
    texts = map(docstring, code.nodes())
    return frozenset(id(text.value) for text in texts if text is not None)


def expressions(code: PythonSource) -> Iterator[ast.expr]:
    """Expressions whose text may be written in other ways.

    Left out: the insides of f-strings, and the wrapper line of an indented function. Patterns are left out
    too, because they have a syntax of their own: `case (A).b:` is an error.
    """
    above = 1 if wrapped(code) else 0
    apart: set[int] = set()
    for node in code.nodes():
        if isinstance(node, ast.pattern):
            apart.update(id(inner) for inner in ast.walk(node))
        if isinstance(node, ast.expr) and id(node) not in apart and node.lineno > above:
            yield node


@lru_cache(maxsize=4)
def _by_range(code: PythonSource) -> Mapping[tuple[int, int], Lexeme]:
    return {(lexeme.start, lexeme.end): lexeme for lexeme in solid(code)}


def token_at(code: PythonSource, node: Located) -> Lexeme | None:
    """The token that is all of a node; `None` if the node has several tokens."""
    return _by_range(code).get((code.start(node), code.end(node)))


def statement_lists(code: PythonSource) -> Iterator[list[ast.stmt]]:
    """Every list of statements, in the order of the text."""
    return (body for node in code.nodes() for body in bodies(node))

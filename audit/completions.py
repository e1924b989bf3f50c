"""Programs from replies: the prompt together with the completion that a model wrote.

`completed` accepts these forms, each also in a fence, with prose around it, or without its indentation:

- the continuation of the prompt, as base models write it; they often go on with other functions;
- the whole function again with its imports, as chat models write it.

A reply in no such form is appended to the prompt unchanged.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import first_line, parse

_FENCE: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BEGINS: Final = re.compile(r"(?:(?:async\s+)?def|class|from|import)\s|@")
"""An unindented line that begins a definition or an import."""
_TURNS: Final = re.compile(rf"{_BEGINS.pattern}|(?:print|assert|if\s+__name__)\b|#")
"""An unindented line with which a model leaves the function that it had to finish."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def completed(prompt: str, reply: str) -> str:
    """The program that a reply to a prompt means. It need not parse."""
    text = reply.replace("\r\n", "\n")
    opened = _Opened.of(prompt)
    if opened is None:
        return prompt + text
    blocks = [found["code"] for found in _FENCE.finditer(text)]
    blocks = [block for block in blocks if opened.defined_in(block)] or blocks[:1]
    written = blocks[0] if blocks else text
    if opened.defined_in(written):
        return opened.before + _definitions(dedent(written))
    return prompt + next(_continuations(prompt, opened.margin, written))


@dataclass(frozen=True, slots=True)
class _Opened:
    """The unfinished function at the end of a prompt."""

    name: str
    before: str
    """The prompt's text before the function."""
    margin: str
    """The indentation of its statements."""

    @staticmethod
    def of(prompt: str) -> "_Opened | None":
        for text in (prompt, f"{prompt}    pass\n"):
            try:
                last = parse(text).body[-1]
            except (SourceError, IndexError):
                continue
            if isinstance(last, Function):
                lines = text.splitlines(keepends=True)
                line = lines[last.body[0].lineno - 1]
                before = "".join(lines[: first_line(last) - 1])
                return _Opened(last.name, before, line[: len(line) - len(line.lstrip())] or "    ")
        return None

    def defined_in(self, text: str) -> bool:
        """Whether a text defines the function again."""
        return (
            re.search(rf"^[ \t]*(?:async\s+)?def\s+{re.escape(self.name)}\b", text, re.MULTILINE) is not None
        )


def _definitions(text: str) -> str:
    """The imports and definitions of a text, without prose around them and without examples of use."""
    lines = text.split("\n")
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    for start in begins:
        for end in [len(lines), *reversed(_margins(lines, start + 1))]:
            if (tree := _tree("\n".join(lines[start:end]))) is not None:
                kept = (node for node in tree.body if not isinstance(node, ast.Expr | ast.Assert | ast.If))
                parts = (lines[start:end][first_line(node) - 1 : node.end_lineno] for node in kept)
                return "\n".join(line for part in parts for line in part) + "\n"
    return text


def _continuations(prompt: str, margin: str, text: str) -> Iterator[str]:
    """The continuations that may be meant, the likeliest first; the last one ends where the text leaves the
    function."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    plain = _until_margin(prompt, lines)
    if plain.strip() and _tree(prompt + plain) is not None:
        yield plain
    if first is not None and not lines[first][:1].isspace() and not _TURNS.match(lines[first]):
        yield from _moved(prompt, margin, lines[first:])
    yield plain


def _moved(prompt: str, margin: str, lines: Sequence[str]) -> Iterator[str]:
    """The same for lines that lost the indentation of all lines or of the first, or that begin with prose."""
    whole = indent("\n".join(lines), margin)
    if _tree(prompt + whole) is not None:
        yield whole
    second = next((line for line in lines[1:] if line.strip()), "")
    if second[:1].isspace():
        stripped = _until_margin(prompt, [margin + lines[0], *lines[1:]])
        if _tree(prompt + stripped) is not None:
            yield stripped
    for end in range(len(lines) - 1, 0, -1):
        part = indent("\n".join(lines[:end]), margin) + "\n"
        if _tree(prompt + part) is not None:
            yield part
    inner = next((number for number, line in enumerate(lines) if line[:1].isspace() and line.strip()), None)
    if inner is not None:
        yield _until_margin(prompt, lines[inner:])


def _until_margin(prompt: str, lines: Sequence[str]) -> str:
    """The lines up to an unindented one at which the function can end. Comments do not end it."""
    ends = _margins(lines, 0)
    for end in ends:
        part = "".join(f"{line}\n" for line in lines[:end])
        if _tree(prompt + part) is not None:
            return part
    whole = "\n".join(lines)
    if not ends or _tree(prompt + whole) is not None:
        return whole
    return "".join(f"{line}\n" for line in lines[: ends[0]])


def _margins(lines: Sequence[str], start: int) -> list[int]:
    """The numbers of unindented lines that are neither empty nor comments nor closing brackets."""
    return [
        number
        for number, line in enumerate(lines)
        if number >= start and line and not line[0].isspace() and line[0] not in "#)]}"
    ]


def _tree(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except SourceError:
        return None

"""Programs from replies in languages whose functions have their statements in braces.

As `solutions.completed`: a reply continues the prompt, or has the whole function again, in a fence or not.
What a model writes behind its function (examples of use, another fence) is left out.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from codeaudit.audit.prompt_cut import FunctionBody, body_of
from codeaudit.transforms.errors import SourceError

_EXPORT: Final = re.compile(
    r"^export\s+(?:default\s+)?(?=(?:async\s+)?function\b|const\b|let\b|var\b|class\b)", re.M
)
"""Modules export; the programs that run here are scripts."""
_DECLARED: Final = re.compile(
    r"^(?:async\s+)?(?:function\*?\s+|const\s+|let\s+|var\s+|class\s+)([\w$]+)", re.M
)
"""A name that a line at the margin declares."""
_ARGUMENTS: Final = r"<[^<>\n;(){}=]*(?:<[^<>\n;(){}=]*>[^<>\n;(){}=]*)*>"
# Each repeated part begins otherwise: others would take forever on a line of stars.
_BEFORE: Final = (
    r"^[ \t]*(?!(?:return|else|do|case|default|throw|await|yield|goto|new|delete|typeof|co_\w+)\b)"
    rf"(?:[\w$*]|::)(?:[\w$*& \t]|::|{_ARGUMENTS})*(?:(?<=[ \t*&>])|\n[ \t]*)"
)
"""What stands before the name of a function where it is defined: its type, and no word that begins a
statement which calls it."""
_CLOSES: Final = re.compile(r"^\}")
MOST_CLOSED: Final = 20
"""Braces at the margin that may end the function. Each costs a parse; functions with helpers have fewer."""


def completed_in_braces(prompt: str, text: str, blocks: Sequence[str], language: str) -> str:
    """The program that a reply means; `blocks` are its fences. It need not parse."""
    opened = _opened(prompt, language)
    if opened is None:
        return prompt + text
    defining = [block for block in blocks if _defines(block, opened.name)]
    written = (defining or blocks or [text])[0]
    if _defines(written, opened.name):
        whole = _EXPORT.sub("", _definition(written, opened.name, language, fenced=bool(blocks)))
        before = opened.source[: opened.start]
        # A reply that brings the helpers of the prompt, too, would declare them twice.
        again = set(_DECLARED.findall(before)) & set(_DECLARED.findall(whole))
        return whole if again else before + whole
    return prompt + _continuation(prompt, opened.name, written, language)


def rewritten_in_braces(source: str, text: str, blocks: Sequence[str], language: str) -> str | None:
    """As `solutions.rewritten`."""
    opened = _opened(source, language)
    if opened is None or not any(_defines(one, opened.name) for one in (*blocks, text)):
        return None
    return completed_in_braces(source, text, blocks, language)


def opened_name_in_braces(prompt: str, language: str) -> str | None:
    """As `solutions.opened_name`."""
    opened = _opened(prompt, language)
    return None if opened is None else opened.name


def _opened(prompt: str, language: str) -> FunctionBody | None:
    """The unfinished function at the end of a prompt."""
    for ending in ("0;\n}", "}", ""):
        try:
            found = body_of(prompt + ending, language)
        except SourceError:
            continue
        if isinstance(found, FunctionBody):
            return found
    return None


def _defines(text: str, name: str) -> bool:
    """Whether a text defines the function again."""
    return re.search(rf"{_BEFORE}{re.escape(name)}\s*[=(:<]", text, re.MULTILINE) is not None


def _definition(text: str, name: str, language: str, *, fenced: bool) -> str:
    """The definitions of a text up to the function, without prose around them."""
    lines = text.split("\n")
    starts = (
        [0]
        if fenced
        else [n for n, line in enumerate(lines) if _DECLARED.match(line) or _defines(line, name)]
    )
    for start in starts:
        for part in _closed(lines[start:]):
            found = _read(part, language)
            if found is not None and found.name == name:
                return part
    return text


def _continuation(prompt: str, name: str, text: str, language: str) -> str:
    """The part of a text that ends the function."""
    for part in _closed(text.split("\n")):
        found = _read(prompt + part, language)
        if found is not None and found.name == name:
            return part
    return text


def _closed(lines: Sequence[str]) -> Iterator[str]:
    """The beginnings of a text that end with one of its first braces at the margin, and all of it."""
    closed = (number for number, line in enumerate(lines, start=1) if _CLOSES.match(line))
    for number in islice(closed, MOST_CLOSED):
        yield "\n".join(lines[:number]) + "\n"
    yield "\n".join(lines)


def _read(text: str, language: str) -> FunctionBody | None:
    try:
        found = body_of(text, language)
    except SourceError:
        return None
    return found if isinstance(found, FunctionBody) else None

"""Which Python reads a text that this one cannot read.

Nothing here decides what a text means: the answer is only shown to the user. The newer constructs of a text
are replaced by older ones; if this Python then reads it, they were the reason. Each text is passed through a
bounded number of times, because files of other people may be long and hostile.
"""

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

Version: TypeAlias = tuple[int, int]

_DEEPEST: Final = 20
"""Strings in strings."""
_TOKEN: Final = re.compile(
    r"#[^\n]*"
    r"|(?<![\w])(?P<prefix>[A-Za-z]{0,2})(?P<quote>'''|\"\"\"|'|\")"
    r"|^[ \t]*(?P<head>type[ \t]+\w+|class[ \t]+\w+|(?:async[ \t]+)?def[ \t]+\w+)[ \t]*(?=[\[=])"
    r"|^[ \t]*except\*?[ \t]+(?P<caught>[\w.]+(?:[ \t]*,[ \t]*[\w.]+)+)[ \t]*:",
    re.MULTILINE,
)
_PLAIN: Final = {
    "'": re.compile(r"(?:\\.|[^'\\\n])*'", re.DOTALL),
    '"': re.compile(r'(?:\\.|[^"\\\n])*"', re.DOTALL),
    "'''": re.compile(r"(?:\\.|(?!''').)*'''", re.DOTALL),
    '"""': re.compile(r'(?:\\.|(?!""").)*"""', re.DOTALL),
}
"""What follows the opening quotation mark of a string without expressions."""
_OLD: Final = ("Missing parentheses in call to 'print'", "Missing parentheses in call to 'exec'")
"""Messages of the parser for what only Python 2 reads."""


class _Newer(NamedTuple):
    """A construct that older versions do not read."""

    start: int
    end: int
    older: str
    """What stands in its place for the older ones."""
    version: Version


def reader_of(source: str, error: SyntaxError) -> str | None:
    """Which Python reads a text, such as `syntax of Python 3.12; this Python is 3.11`.

    `None` if none is known: then the text is most likely wrong. `error` is this Python's.
    """
    this = sys.version_info[:2]
    remark = f"this Python is {this[0]}.{this[1]}"
    if (error.msg or "").startswith(_OLD):
        return f"syntax of Python 2; {remark}"
    constructs = [construct for construct in _constructs(source) if construct.version > this]
    if not constructs or not _parses(_replaced(source, constructs)):
        return None
    major, minor = max(construct.version for construct in constructs)
    return f"syntax of Python {major}.{minor}; {remark}"


def _parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _replaced(source: str, constructs: list[_Newer]) -> str:
    parts, done = list[str](), 0
    for construct in constructs:
        parts += [source[done : construct.start], construct.older]
        done = construct.end
    return "".join([*parts, source[done:]])


def _constructs(source: str) -> Iterator[_Newer]:
    """The constructs of a text that are newer than Python 3.11, in its order."""
    place = 0
    while (token := _TOKEN.search(source, place)) is not None:
        place = max(token.end(), place + 1)
        if token["quote"]:
            end, version = _string(source, token.end(), token["prefix"].lower(), token["quote"], 0)
            if version is not None:
                yield _Newer(token.start(), end, '""', version)
            place = max(end, place)
        elif token["head"]:
            yield from (header := _header(source, token))
            place = header[-1].end if header else place
        elif token["caught"]:
            yield _Newer(*token.span("caught"), f"({token['caught']})", (3, 14))


def _header(source: str, token: re.Match[str]) -> list[_Newer]:
    """The parameters of types behind the name of a definition, and the word `type`."""
    constructs = list[_Newer]()
    start, end = token.span("head")
    aliases = token["head"].startswith("type")
    if aliases:
        constructs.append(_Newer(start, end - len(token["head"].split()[1]), "", (3, 12)))
    if source[token.end()] == "[":
        last, defaults = _brackets(source, token.end())
        constructs.append(_Newer(end, last, "", (3, 13) if defaults else (3, 12)))
    elif aliases and source.startswith("==", token.end()):
        return []  # `type x == y` is wrong everywhere
    return constructs


def _brackets(source: str, place: int) -> tuple[int, bool]:
    """Where the brackets that open here are closed, and whether `=` stands between them."""
    depth, defaults = 0, False
    for end in range(place, len(source)):
        sign = source[end]
        depth += (sign in "([{") - (sign in ")]}")
        defaults |= depth == 1 and sign == "="
        if not depth:
            return end + 1, defaults
    return len(source), defaults


def _string(source: str, place: int, prefix: str, quote: str, depth: int) -> tuple[int, Version | None]:
    """Where the string that begins at `place`, behind its opening quotation mark, ends, and the first Python
    that reads it; `None` if each does."""
    if not set(prefix) & {"f", "t"}:
        match = _PLAIN[quote].match(source, place)
        return (place if match is None else match.end()), None
    version: Version | None = (3, 14) if "t" in prefix else None
    while place < len(source) and not source.startswith(quote, place):
        sign = source[place]
        if sign == "\n" and len(quote) == 1:
            return place, None  # it is not closed
        if sign == "\\" or source.startswith(("{{", "}}"), place):
            place += 2
        elif sign == "{":
            end, inner = _expression(source, place + 1, quote, depth)
            version = max(filter(None, (version, inner)), default=None)
            place = end
        else:
            place += 1
    closed = place < len(source)
    return place + len(quote), version if closed else None


def _expression(source: str, place: int, quote: str, depth: int) -> tuple[int, Version | None]:
    """The same of an expression between braces, from behind the opening one to behind the closing one."""
    start, brackets = place, 0
    version: Version | None = None
    while place < len(source) and depth < _DEEPEST:
        sign = source[place]
        if sign in "'\"":
            inner = next(quote for quote in (sign * 3, sign) if source.startswith(quote, place))
            prefix = re.search(r"[A-Za-z]{0,2}\Z", source[max(start, place - 2) : place])
            named = prefix[0].lower() if prefix else ""
            place, needed = _string(source, place + len(inner), named, inner, depth + 1)
            version = max(filter(None, (version, needed)), default=None)
            continue
        if sign == "#":
            place = source.find("\n", place)
            if place < 0:
                break
            continue
        if not brackets and sign in "}:" and not source.startswith(":=", place):
            break
        brackets += (sign in "([{") - (sign in ")]}")
        place += 1
    # Older versions first read the string to its end, and look at the expressions then.
    text = source[start:place] if place >= 0 else ""
    newer = quote in text or "\\" in text or "#" in text or ("\n" in text and len(quote) == 1)
    version = max(filter(None, (version, (3, 12) if newer else None)), default=None)
    # The format may hold expressions, too.
    while 0 <= place < len(source) and source[place] != "}" and not source.startswith(quote, place):
        if source[place] == "{" and depth < _DEEPEST:
            place, inner_version = _expression(source, place + 1, quote, depth + 1)
            version = max(filter(None, (version, inner_version)), default=None)
        else:
            place += 1
    if not source.startswith("}", place):
        return (place if place >= 0 else len(source)), None  # it is not closed
    return place + 1, version

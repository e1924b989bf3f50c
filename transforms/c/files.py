"""C texts with several functions: where each function is, and whether it can be read without its file.

A file need not parse as a whole, because words that only headers explain may stand anywhere in it. So each
function is read alone. What the file says of its macros is asked by the transforms themselves.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.parsing import name_of, read_unit
from codeaudit.transforms.c.parsing import places as functions
from codeaudit.transforms.errors import NoFunctionError, SourceError, UnknownSyntaxError
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation

UNREAD: Final = "function that cannot be read alone"
NO_FUNCTION: Final = "no function in the text"
OF_CPP: Final = "file of C++"
_TEXTS: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_CPP: Final = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace\b[^;(=]*\{|using[ \t]+\w|class[ \t]+\w[^;()=]*\{|"
    r"(?:public|private|protected)[ \t]*:)|\w[ \t]*::[ \t]*[~\w]",
    re.MULTILINE,
)
"""What a header has that is one of C++."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedC(DecodedFile):
    """A C file's text with what it takes to write it back."""

    def compiles(self, text: str) -> bool:
        """Whether the same functions are found in the text as in the file."""
        return _names(text) == _names(self.text)


@lru_cache(maxsize=8)
def _names(text: str) -> tuple[str, ...]:
    return tuple(one.name for one in functions(text.encode()))


@lru_cache(maxsize=4)
def places(text: str, around: frozenset[str] = frozenset(), /) -> tuple[FunctionLocation, ...]:
    """The functions of a text, in its order.

    Raises:
        SourceError: the text is one of C++.
    """
    if _CPP.search(_TEXTS.sub(" ", text)) is not None:
        raise SourceError(OF_CPP)
    source = text.encode()
    starts = line_starts(source)
    seen: Counter[str] = Counter()
    found = []
    for one in functions(source):
        seen[one.name] += 1  # each branch of an `#if` may have one
        found.append(
            FunctionLocation(
                name=one.name if seen[one.name] == 1 else f"{one.name}#{seen[one.name]}",
                first=bisect_right(starts, one.start),
                last=bisect_right(starts, one.end - 1),
                start=one.start,
                end=one.end,
                obstacle=_obstacle(source[one.start : one.end].decode(), one.name),
            )
        )
    return tuple(found)


def _obstacle(own: str, name: str) -> str | None:
    try:
        reading, function = read_unit(own)
    except UnknownSyntaxError as error:
        return str(error)
    except SourceError:
        return UNREAD
    return None if name_of(reading, function) == name else UNREAD


def function_context(source: str) -> FunctionContext:
    """The last function of a text, and the text around it.

    Raises:
        SourceError: the text holds one function, which cannot be read.
    """
    try:
        read_unit(source)
    except NoFunctionError:
        pass
    except SourceError:
        if len(_names(source)) < 2:
            raise
    else:
        return FunctionContext("", source, "")
    found = list(functions(source.encode()))
    if not found:
        return FunctionContext("", source, "", NO_FUNCTION)
    one, text = found[-1], source.encode()
    before, own, after = (
        piece.decode() for piece in (text[: one.start], text[one.start : one.end], text[one.end :])
    )
    return FunctionContext(before, own, after, _obstacle(own, one.name))


def _is_one(text: str, wrapper: str) -> bool:
    try:
        read_unit.__wrapped__(text)
    except SourceError:
        return False
    return True


C_FILES: Final = FileFormat(language=C.name, decode=DecodedC.read, places=places, is_one=_is_one)
"""Files that end with `.c` or `.h`."""

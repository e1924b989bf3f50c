"""C texts with several functions: where each function is, and whether it can be read without its file.

A file need not parse as a whole, because words that only headers explain may stand anywhere in it. So each
function is read alone. What the file says of its macros is asked by the transforms themselves.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Final

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import name_of
from codeaudit.transforms.c.macros import plain
from codeaudit.transforms.c.parsing import C, read_unit
from codeaudit.transforms.c.parsing import places as functions
from codeaudit.transforms.errors import NoFunctionError, SourceError, UnknownSyntaxError
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation, located

UNREAD: Final = "function that cannot be read alone"
NO_FUNCTION: Final = "no function in the text"
NONE_READ: Final = "no function that can be read"
OF_CPP: Final = "file of C++"
_CPP: Final = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace\b[^;(=]*\{|using[ \t]+\w|class[ \t]+\w[^;()=]*\{|"
    r"(?:public|private|protected)[ \t]*:)|\b(?!(?:__)?(?:gnu|clang)(?:__)?\b)\w+[ \t]*::[ \t]*[~\w]",
    re.MULTILINE,
)
"""What a header has that is one of C++."""
_HEAD: Final = re.compile(r"^(?!#)[^\n;{}]*?\b(?!__\w+|alignas|_Alignas)\w+[ \t]*\([^;{}]*\{", re.MULTILINE)
"""What begins as a function does, or as code that stands in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedC(DecodedFile):
    """A C file's text with what it takes to write it back."""

    language: ClassVar[str] = C

    def compiles(self, text: str) -> bool:
        """Whether the same functions are found in the text as in the file."""
        return _names(text, self.language) == _names(self.text, self.language)


class DecodedCpp(DecodedC):
    """A C++ file's text."""

    language: ClassVar[str] = CPP


@lru_cache(maxsize=8)
def _other(text: str) -> str | None:
    """C++ for a header that is one of C++."""
    return CPP if _CPP.search(plain(text)) is not None else None


@lru_cache(maxsize=8)
def _names(text: str, language: str) -> tuple[str, ...]:
    return tuple(function.name for function in functions(text.encode(), language))


@lru_cache(maxsize=4)
def places(
    text: str, around: frozenset[str] = frozenset(), /, *, language: str = C
) -> tuple[FunctionLocation, ...]:
    """The functions of a text, in its order.

    Raises:
        SourceError: the text is one of C++, and the language C; or none of its functions can be found.
    """
    if language == C and _other(text) is not None:
        raise SourceError(OF_CPP)
    source = text.encode()
    locations = located(
        source,
        (
            (name, start, end, _obstacle(source[start:end].decode(), name, language))
            for start, end, name in functions(source, language)  # each branch of an `#if` may have one
        ),
    )
    if not locations and _HEAD.search(plain(text)) is not None:
        raise SourceError(NONE_READ)
    return locations


def _obstacle(own: str, name: str, language: str) -> str | None:
    try:
        reading, function = read_unit(own, language)
    except UnknownSyntaxError as error:
        return str(error)
    except SourceError:
        return UNREAD
    return None if name_of(reading.source, function) == name else UNREAD


def function_context(source: str, language: str = C) -> FunctionContext:
    """The last function of a text, and the text around it.

    Raises:
        SourceError: the text holds one function, which cannot be read.
    """
    try:
        read_unit(source, language)
    except NoFunctionError:
        pass
    except SourceError:
        if len(_names(source, language)) < 2:
            raise
    else:
        return FunctionContext("", source, "")
    text = source.encode()
    spans = list(functions(text, language))
    if not spans:
        return FunctionContext("", source, "", NO_FUNCTION)
    start, end, name = spans[-1]
    before, own, after = (piece.decode() for piece in (text[:start], text[start:end], text[end:]))
    return FunctionContext(before, own, after, _obstacle(own, name, language))


def _is_one(text: str, wrapper: str, language: str = C) -> bool:
    with suppress(SourceError):
        return bool(read_unit.__wrapped__(text, language))
    return False


function_context_of_cpp = partial(function_context, language=CPP)

C_FILES: Final = FileFormat(language=C, decode=DecodedC.read, places=places, is_one=_is_one, other=_other)
"""Files that end with `.c` or `.h`."""
CPP_FILES: Final = FileFormat(
    language=CPP,
    decode=DecodedCpp.read,
    places=partial(places, language=CPP),
    is_one=partial(_is_one, language=CPP),
)
"""Files that end with `.cc`, `.cpp`, `.hpp` and the like, and headers of C++ that end with `.h`."""

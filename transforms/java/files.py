"""Java texts with several methods: where each method is, and whether it can be read without its file.

A transform of functions gets one bare method or constructor, and assumes that the names of well-known types
mean the JDK's types. If the text around the method is known, this module checks the assumption. A method
keeps its text if it names a type for which its file, or a file beside it, has another meaning, and if unicode
escapes may change how Java reads it.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.library import KNOWN_TYPES
from codeaudit.transforms.java.parsing import TYPES, Node, ParsedJava, callables, only_callable, read
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.records import FunctionContext
from codeaudit.transforms.source_files import DecodedFile, FileFormat, FunctionLocation

_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\u+([0-9a-fA-F]{4}))")
_DANGEROUS: Final = frozenset("\n\r\"'\\*/")
"""What ends or begins a literal, a comment or another escape."""
_OPAQUE: Final = frozenset({"string_literal", "character_literal"})
_BOM: Final = b"\xef\xbb\xbf"
_ASCII: Final = 0x80


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedJava(DecodedFile):
    """A Java file's text with what it takes to write it back."""

    @staticmethod
    def encoding_of(data: bytes) -> str:
        """UTF-8, with or without a byte order mark."""
        return "utf-8-sig" if data.startswith(_BOM) else "utf-8"

    def compiles(self, text: str) -> bool:
        """Whether the text can be read as Java. Types are not checked: they stand in other files."""
        try:
            read(text)
        except SourceError:
            return False
        return True


@lru_cache(maxsize=4)
def places(text: str, around: frozenset[str] = frozenset(), /) -> tuple[FunctionLocation, ...]:
    """The outermost methods and constructors of a text, in the order of the text.

    A file beside this one declares a type of its name, which goes before those of the JDK here.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(text)
    starts = line_starts(reading.source)
    unclear = misread(reading, text)
    strange = rebound(reading) | (KNOWN_TYPES & around)
    found: list[FunctionLocation] = []
    seen: dict[str, int] = {}
    for node in callables(reading):
        name = _qualified(reading, node)
        seen[name] = seen.get(name, 0) + 1
        obstacle = ESCAPED if unclear else REBOUND if mentions(reading.text(node), strange) else None
        found.append(
            FunctionLocation(
                name=name if seen[name] == 1 else f"{name}#{seen[name]}",
                first=bisect_right(starts, node.start),
                last=bisect_right(starts, node.end - 1),
                start=node.start,
                end=node.end,
                obstacle=obstacle,
            )
        )
    return tuple(found)


def _qualified(reading: ParsedJava, node: Node) -> str:
    """A name such as `Outer.Inner.method`; a constructor has the name of its class twice."""
    names = [reading.text(node.part("name"))]
    above = node.parent
    while above is not None:
        if above.kind in TYPES or above.kind == "enum_constant":
            names.append(reading.text(above.part("name")))
        above = above.parent
    return ".".join(reversed(names))


def misread(reading: ParsedJava, text: str) -> bool:
    """Whether characters spelt by their number may make the text something else than it looks like."""
    if "\\u" not in text:
        return False
    opaque = sorted(
        [(node.start, node.end) for node in reading.root.walk() if node.kind in _OPAQUE]
        + [(start, end) for _, start, end in reading.comments]
    )
    begins = [start for start, _ in opaque]
    # Java replaces `\\u0022` by a quotation mark before it reads the text (JLS 3.3); the parser does not.
    for match in _ESCAPE.finditer(text):
        code = int(match[2], 16)
        place = len(text[: match.start(1)].encode())
        number = bisect_right(begins, place) - 1
        inside = number >= 0 and place < opaque[number][1]
        if chr(code) in _DANGEROUS or (code < _ASCII and not inside):
            return True
    return False


def _is_one(text: str, wrapper: str) -> bool:
    try:
        only_callable(read(text))
    except SourceError:
        return False
    return True


JAVA_FILES: Final = FileFormat(language="java", decode=DecodedJava.read, places=places, is_one=_is_one)
"""Files that end with `.java`."""


REBOUND: Final = "a well-known type's name means something else here"
NO_METHOD: Final = "no method in the text"
ESCAPED: Final = "unicode escape in the text"

INSERTED: Final = ("String", "StringBuilder", "Exception")
"""Names of types that transforms insert into methods."""

_ANY_ESCAPE: Final = re.compile(r"\\u+[0-9a-fA-F]{4}")
_IMPORT: Final = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)\.(\w+)\s*;", re.MULTILINE)
_WORD: Final = re.compile(r"[\w$]+")
_JDK: Final = ("java.", "javax.")


def function_context(source: str) -> FunctionContext:
    """The last method or constructor with a body, and the text around it.

    Raises:
        SourceError: the text does not parse.
    """
    reading = read(source)
    found = [node for node in callables(reading) if node.child("body")]
    if not reading.whole and len(reading.root.children) == 1 and reading.root.children == found:
        return FunctionContext("", source, "", ESCAPED if escaped(source) else None)
    if not found:
        return FunctionContext("", source, "", NO_METHOD)
    node = found[-1]
    text = reading.source
    before, inner, after = (
        piece.decode() for piece in (text[: node.start], text[node.start : node.end], text[node.end :])
    )
    if escaped(source):
        return FunctionContext(before, inner, after, ESCAPED)
    return FunctionContext(before, inner, after, REBOUND if mentions(inner, rebound(reading)) else None)


def escaped(text: str) -> bool:
    """Whether a text has a unicode escape. Java replaces these before everything else."""
    return "\\u" in text and _ANY_ESCAPE.search(text.replace("\\\\", "")) is not None


def rebound(reading: ParsedJava) -> frozenset[str]:
    """The names of well-known types that mean another type, because the text declares or imports one."""
    names = {reading.text(node.part("name")) for node in reading.root.walk() if node.kind in TYPES}
    names |= {reading.text(node.children[0]) for node in reading.root.walk() if node.kind == "type_parameter"}
    for package, name in _IMPORT.findall(reading.source.decode()):
        # `import org.joda.time.Date;` gives the name another meaning, `import java.util.Date;` does not.
        if not f"{package}.".startswith(_JDK):
            names.add(name)
    return KNOWN_TYPES & names


def mentions(text: str, names: frozenset[str]) -> bool:
    """Whether one of the names occurs in a text, or a transform may insert it."""
    return bool(names) and not names.isdisjoint((*_WORD.findall(text), *INSERTED))

"""The method in a text with other members, and the check of the assumptions about these members.

A transform of functions gets one bare method or constructor. It assumes that the names of well-known types
mean the JDK's types. If the text around the method is known, this module checks the assumption.
"""

import re
from typing import Final

from codeaudit.transforms.function_context import FunctionContext
from codeaudit.transforms.java.analysis.knowledge import KNOWN_TYPES
from codeaudit.transforms.java.parsing import TYPES, ParsedJava, callables, read

REBOUND: Final = "a well-known type's name means something else here"
NO_METHOD: Final = "no method in the text"
ESCAPED: Final = "unicode escape in the text"

INSERTED: Final = ("String", "StringBuilder", "Exception")
"""Names of types that transforms insert into methods."""

_ESCAPE: Final = re.compile(r"\\u+[0-9a-fA-F]{4}")
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
    return "\\u" in text and _ESCAPE.search(text.replace("\\\\", "")) is not None


def rebound(reading: ParsedJava) -> frozenset[str]:
    """The names of well-known types that mean another type, because the text declares or imports one."""
    names = {reading.text(node.part("name")) for node in reading.root.walk() if node.kind in TYPES}
    names |= {reading.text(node.children[0]) for node in reading.root.walk() if node.kind == "type_parameter"}
    for package, name in _IMPORT.findall(reading.source.decode()):
        if not f"{package}.".startswith(_JDK):
            names.add(name)
    return KNOWN_TYPES & names


def mentions(text: str, names: frozenset[str]) -> bool:
    """Whether one of the names occurs in a text, or a transform may insert it."""
    return bool(names) and not names.isdisjoint((*_WORD.findall(text), *INSERTED))

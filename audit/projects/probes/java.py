"""Inserts a statement at the start of Java methods and constructors.

The statements use fully qualified names of the JDK only, so the project's own build compiles them
in any file.
A constructor's call of another constructor stays its first statement, because Java requires that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.files import DecodedJava, places
from codeaudit.transforms.java.parsing import callables, read
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.syntax.reader import Node

_NOTING: Final = (
    'if (java.lang.System.getProperties().putIfAbsent("codeaudit.unit.{0}", "") == null) '
    "try (java.io.OutputStream $codeaudit = new java.io.FileOutputStream("
    'java.lang.System.getenv("_CODEAUDIT_HITS"), true)) {{ $codeaudit.write("{0}\\n".getBytes()); }} '
    "catch (java.lang.Exception $ignored) {{ }}"
)


@dataclass(frozen=True, slots=True)
class JavaProbes:
    """The `Probes` of Java."""

    raising: str = 'if (true) throw new java.lang.RuntimeException("codeaudit power check");'
    """The condition is needed because javac rejects unreachable code after an unconditional `throw`."""

    def noting(self, number: int) -> str:
        """A statement that appends the number to the hits file once per process."""
        return _NOTING.format(number)

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """The file with a statement at the start of each named method; names are those of `places`.

        Field initialisers get none.
        """
        try:
            decoded = DecodedJava.read(data)
            reading = read(decoded.text)
        except SourceError:
            return data
        names = [place.name for place in places(decoded.text)]
        edits: list[Edit] = []
        for name, node in zip(names, callables(reading), strict=True):
            body = node.child("body")
            if name in statements and body is not None:
                start = _first(body)
                edits.append(Edit(start, start, f" {statements[name]}"))
        return decoded.write(splice(reading.source, edits).decode())


def _first(body: Node) -> int:
    """The offset in bytes at which a statement may be inserted."""
    # `this(…)` or `super(…)` must come first in a constructor (Java Language Specification, section 8.8.7).
    first = body.children[0] if body.children else None
    if first is not None and first.kind == "explicit_constructor_invocation":
        return first.end
    return body.start + 1


PROBES: Final = JavaProbes()

"""Replaces byte ranges of a text; every other byte stays as it was.

Offsets count bytes of the UTF-8 text, from 0. Python's `ast` gives lines and UTF-8 columns instead;
`Positions` converts between the two.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replaces the bytes from `start` up to but not including `end` by `text`."""

    start: int
    end: int
    text: str


def splice(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The source with all edits made.

    Positions are those of the unchanged source. Edits may come in any order and may touch, but not overlap.

    Raises:
        ValueError: an edit lies outside the source, ends before it starts, or overlaps another.
    """
    pieces: list[bytes] = []
    done = 0
    for edit in sorted(edits):
        if not done <= edit.start <= edit.end <= len(source):
            raise ValueError(
                f"edit of bytes {edit.start} to {edit.end} overlaps another edit or leaves the source "
                f"of {len(source)} bytes; give edits that are disjoint"
            )
        pieces += (source[done : edit.start], edit.text.encode())
        done = edit.end
    pieces.append(source[done:])
    return b"".join(pieces)


def line_starts(source: bytes) -> list[int]:
    """The byte offset of each line. LF, CRLF and CR end a line, as in Python's reader."""
    return [0, *(match.end() for match in _LINE_END.finditer(source))]


class Positions:
    """Converts between (line, column) and byte offsets.

    LF, CRLF and CR end a line, as in Python's reader. A form feed does not.
    """

    __slots__ = ("_starts",)

    def __init__(self, source: bytes) -> None:
        self._starts = line_starts(source)

    def offset(self, line: int, column: int) -> int:
        """The byte offset of a line, from 1, and a column in bytes, from 0; -1 for line 0 (nowhere)."""
        return self._starts[line - 1] + column if line > 0 else -1

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line, from 1, and the column in bytes, from 0, of a byte offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

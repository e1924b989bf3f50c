"""Edits and patches: byte ranges of a text become new text. No code is printed from a syntax tree.

An `Edit` replaces a range by text. A `Patch` replaces it by text and by ranges of the old text, so comments
and spacing inside the kept ranges stay the author's. Patches of different sites may be nested: the inner
patch is then made inside a range that the outer one keeps.

Offsets count bytes of the UTF-8 text, from 0. Python's `ast` gives lines and UTF-8 columns instead;
`Positions` converts between the two.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

_LINE_END = re.compile(rb"\r\n|\r|\n")
_WORD: Final = re.compile(rb"[\w$\x80-\xff]")
"""A byte of a word."""


class Edit(NamedTuple):
    """Replaces the bytes from `start` up to but not including `end` by `text`."""

    start: int
    end: int
    text: str


def splice(source: bytes, edits: Iterable[tuple[int, int, str]]) -> bytes:
    """The source with all edits made, which are `Edit` or like it.

    Positions are those of the unchanged source. Edits may come in any order and may touch, but not overlap.

    Raises:
        ValueError: an edit lies outside the source, ends before it starts, or overlaps another.
    """
    pieces: list[bytes] = []
    done = 0
    # Sorted, each edit is checked against the one before; an insertion sorts before a replacement at its
    # place.
    for start, end, text in sorted(edits):
        if not done <= start <= end <= len(source):
            raise ValueError(
                f"edit of bytes {start} to {end} overlaps another edit or leaves the source "
                f"of {len(source)} bytes; give edits that are disjoint"
            )
        pieces += (source[done:start], text.encode())
        done = end
    pieces.append(source[done:])
    return b"".join(pieces)


def line_starts(source: bytes) -> list[int]:
    """The byte offset of each line. LF, CRLF and CR end a line, as in Python's reader."""
    if b"\r" not in source:
        return [0, *accumulate(len(line) + 1 for line in source.split(b"\n")[:-1])]
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


HARD: Final = b"\0"
"""A line break after which `Shift` must not indent. Sources cannot contain this byte."""


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` up to but not including `end`, with the edits inside them."""

    start: int
    end: int
    add: str = ""
    """Indentation to add to its lines; the language's `Shift` decides whether that includes the first."""
    drop: str = ""
    """Indentation to remove from its lines."""


Part: TypeAlias = str | Span
Shift: TypeAlias = Callable[[bytes, bytes, bytes], bytes]
"""Changes the indentation of a text: (text, indentation to add, indentation to remove) -> new text."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Replaces the bytes from `start` up to but not including `end` by `parts`, in this order."""

    start: int
    end: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A place at which a rule can edit."""

    options: tuple[tuple[Patch, ...], ...]
    """The alternatives; each is a set of patches that belong together. A proposal draws one."""
    note: str
    """For people: `a < b as b > a`."""
    line: int
    """Its line in the text, from 1."""


def compatible(groups: Mapping[int, tuple[Patch, ...]]) -> frozenset[int]:
    """The sites whose patches do not clash. Of two sites that clash the later one in `groups` is dropped."""
    # The order of `groups` is drawn at random, so which of two clashing sites stays is random as well.
    rank = {number: place for place, number in enumerate(groups)}
    kept = dict(groups)
    # Dropping a site may take away the patch that held another one, so nesting is computed anew.
    while True:
        _, clashes = _nested(kept)
        gone = {max(pair, key=lambda number: rank[number]) for pair in clashes}
        if not gone:
            return frozenset(kept)
        kept = {number: group for number, group in kept.items() if number not in gone}


def patched(source: bytes, patches: Sequence[Patch], shift: Shift) -> bytes:
    """The source with all patches made. They must be `compatible`; `HARD` becomes a line break.

    Raises what `shift` raises.
    """
    roots, _ = _nested({number: (patch,) for number, patch in enumerate(patches)})
    return _render(source, 0, len(source), roots, shift).replace(HARD, b"\n")


@dataclass(slots=True)
class _Node:
    patch: Patch
    site: int
    inner: "list[_Node]" = field(default_factory=list)


def _nested(groups: Mapping[int, tuple[Patch, ...]]) -> tuple[list[_Node], list[tuple[int, int]]]:
    """The patches as a forest by nesting, and the pairs of sites that cannot both be edited."""
    nodes = [_Node(patch, number) for number, group in groups.items() for patch in group]
    # Outer before inner. Insertions come first at their place, so that they stay in front of what is there.
    nodes.sort(
        key=lambda node: (node.patch.start, node.patch.start != node.patch.end, -node.patch.end, node.site)
    )
    roots: list[_Node] = []
    clashes: list[tuple[int, int]] = []
    opened: list[_Node] = []
    for node in nodes:
        while opened and opened[-1].patch.end <= node.patch.start:
            opened.pop()
        if not opened:
            roots.append(node)
        elif any(_holds(part, node.patch) for part in opened[-1].patch.parts) and not _same(opened[-1], node):
            opened[-1].inner.append(node)
        else:
            clashes.append((opened[-1].site, node.site))
            continue
        if node.patch.end > node.patch.start:  # nothing can stand inside an insertion
            opened.append(node)
    return roots, clashes


def _same(one: _Node, other: _Node) -> bool:
    return (one.patch.start, one.patch.end) == (other.patch.start, other.patch.end)


def _holds(part: Part, patch: Patch) -> bool:
    # A replaced part is gone, so nothing can be edited in it.
    if isinstance(part, str) or patch.start < part.start or patch.end > part.end:
        return False
    # An insertion at the end of a kept range belongs behind it: `a` in `f(a)` ends where `, b` is inserted.
    return patch.end > patch.start or patch.start < part.end


def _render(source: bytes, start: int, end: int, nodes: Iterable[_Node], shift: Shift) -> bytes:
    out, position = [], start
    for node in nodes:
        out.append(source[position : node.patch.start])
        made = []
        for part in node.patch.parts:
            if isinstance(part, str):
                made.append(part.encode())
            else:
                inner = [child for child in node.inner if _holds(part, child.patch)]
                text = _render(source, part.start, part.end, inner, shift)
                add, drop = part.add.encode(), part.drop.encode()
                made.append(shift(text, add, drop) if add or drop else text)
        new = _apart(source, node.patch, b"".join(made))
        before = next(filter(None, reversed(out)), source[max(position - 1, 0) : position])
        out.append(b" " * begins_comment(before, new) + new)
        position = node.patch.end
    out.append(source[position:end])
    return b"".join(out)


def begins_comment(before: bytes, text: bytes) -> bool:
    """Whether a text would begin a comment with the sign before it, as in `a/ *p` without the blank."""
    return before.endswith(b"/") and text.startswith((b"*", b"/"))


def _apart(source: bytes, patch: Patch, text: bytes) -> bytes:
    """The new text of a patch, with a blank where it would run together with a word beside it, which the old
    text touched with a sign: the sum in `return(a)+b` may become `b+(a)`."""
    start, end = patch.start, patch.end
    old = source[start:end]
    left = _joins(source[start - 1 : start], old[:1], text[:1])
    right = _joins(source[end : end + 1], old[-1:], text[-1:])
    return b" " * left + text + b" " * right


def _joins(beside: bytes, old: bytes, new: bytes) -> bool:
    return bool(old and _WORD.match(beside) and _WORD.match(new) and not _WORD.match(old))

"""Applies unified diffs exactly: a hunk whose old lines are not in the text is an error."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Misfit(Exception):  # noqa: N818 - an outcome, which the caller counts
    """The old lines of a hunk are not in the text, or in several equally near places."""


class Hunk(NamedTuple):
    """Lines that are replaced by others."""

    start: int
    """Index of the first old line, from 0."""
    old: tuple[str, ...]
    other_start: int
    new: tuple[str, ...]

    @property
    def back(self) -> "Hunk":
        """The reverse hunk."""
        return Hunk(self.other_start, self.new, self.start, self.old)


def files_of(patch: str) -> Mapping[str, Sequence[Hunk]]:
    """The hunks of a patch by path, without the first folder `a` or `b`."""
    found: dict[str, list[Hunk]] = {}
    lines = patch.split("\n")
    path, at = "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("+++ "):
            path = _path(line) or path
        elif line.startswith("--- "):
            path = _path(line) or ""
        elif (head := _HUNK.match(line)) is not None and path:
            hunk, at = _hunk(head, lines, at)
            found.setdefault(path, []).append(hunk)
    return found


def applied(text: str, hunks: Sequence[Hunk], *, back: bool = False) -> str:
    """The text after the hunks; with `back`, after the reverse hunks.

    Raises:
        Misfit: a hunk does not fit.
    """
    lines, moved = text.split("\n"), 0
    for hunk in (one.back for one in hunks) if back else hunks:
        place = _place(lines, hunk, hunk.start + moved)
        lines[place : place + len(hunk.old)] = hunk.new
        moved = place - hunk.start + len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def _path(line: str) -> str | None:
    name = line[4:].partition("\t")[0].strip()
    if name == "/dev/null":
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _hunk(head: re.Match[str], lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    start, count, other, more = (int(number) if number is not None else 1 for number in head.groups())
    old, new = list[str](), list[str]()
    while at < len(lines) and (len(old) < count or len(new) < more):
        sign, text = lines[at][:1], lines[at][1:]
        at += 1
        if sign in (" ", "", "-"):
            old.append(text)
        if sign in (" ", "", "+"):
            new.append(text)
    # A hunk without old lines gives the number of the line before its place.
    return Hunk(start - (count > 0), tuple(old), other - (more > 0), tuple(new)), at


def _place(lines: Sequence[str], hunk: Hunk, near: int) -> int:
    """The index of the old lines that is nearest to the expected one."""
    if not hunk.old:
        return min(max(near, 0), len(lines))
    fits = list(_places(lines, hunk.old))
    if not fits:
        raise Misfit
    ranked = sorted(fits, key=lambda place: abs(place - near))
    if len(ranked) > 1 and abs(ranked[0] - near) == abs(ranked[1] - near):
        raise Misfit
    return ranked[0]


def _places(lines: Sequence[str], old: Sequence[str]) -> Iterator[int]:
    for place in range(len(lines) - len(old) + 1):
        if lines[place] == old[0] and tuple(lines[place : place + len(old)]) == tuple(old):
            yield place

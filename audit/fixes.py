"""Which edits touch the lines of a fix, told from both sides of it.

A line of the fix is one that differs between the sides, blanks at its ends aside. Where the fix adds lines,
the lines on both sides of that place are of the fix, too: there something is missing.
"""

from collections.abc import Callable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeAlias

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of lines, from 0 to one behind the last; an empty range is the place in front of its line."""


def touches_fix(source: str, other_side: str, rewritten: str) -> bool:
    """Whether an edit of a text changes, removes or moves a line of its fix, or adds one at it."""
    fix, edit = _changed(source, other_side, str.strip), _changed(source, rewritten, str)
    # Ranges that only share an end touch, too: an empty one lies between two lines.
    return any(
        start <= last and first <= end if start == end or first == last else start < last and first < end
        for start, end in fix
        for first, last in edit
    )


@lru_cache(maxsize=1024)
def _changed(text: str, other: str, shown: Callable[[str], str]) -> Places:
    """The lines of a text that another text has otherwise."""
    before, after = ([shown(line) for line in one.splitlines()] for one in (text, other))
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple((start, end) for tag, start, end, _, _ in opcodes if tag != "equal")

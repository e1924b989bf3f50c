"""A second reader of Java, independent of the first: javalang, for the Java of version 8.

Reading takes it several times as long as all the rest of a renaming, so no engine asks it; whoever wants
more than the engine's own proof does (`confirms`).
"""

from collections.abc import Collection
from typing import Any, Final

BEFORE: Final = "class _Around {\n"
AFTER: Final = "\n}"


def confirms(before: str, after: str, renames: Collection[tuple[str, str]]) -> bool | None:
    """Whether two bare methods are one tree but for these new names (old, new); `None` where the original
    is beyond this reader.
    """
    one = _tree(before)
    if one is None:
        return None
    other = _tree(after)
    return other is not None and _same(one, other, frozenset(renames))


def _tree(text: str) -> Any | None:
    import javalang.parse
    from javalang.parser import JavaSyntaxError
    from javalang.tokenizer import LexerError

    try:
        return javalang.parse.parse(BEFORE + text + AFTER)
    except (JavaSyntaxError, LexerError, RecursionError, TypeError, StopIteration):
        return None  # it also stumbles over its own feet


def _same(one: Any, other: Any, renames: frozenset[tuple[str, str]]) -> bool:
    pending = [(one, other)]
    while pending:
        here, there = pending.pop()
        if here.__class__ is not there.__class__:
            return False
        if isinstance(here, list | tuple):
            if len(here) != len(there):
                return False
            pending += zip(here, there, strict=True)
        elif hasattr(here, "attrs"):
            pending += [(getattr(here, name), getattr(there, name)) for name in here.attrs]
        elif here != there and not _is_renamed(here, there, renames):
            return False
    return True


def _is_renamed(here: object, there: object, renames: frozenset[tuple[str, str]]) -> bool:
    """Whether two names differ as they may; of `a.b`, which this reader keeps as one, the first part."""
    first, dot, rest = str(here).partition(".")
    other, *tail = str(there).partition(".")
    return tail == [dot, rest] and (first, other) in renames

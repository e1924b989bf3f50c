"""A second, independent parser of Java: javalang, for Java 8.

It takes several times as long as the rest of a renaming, so no transform asks it. The witness of Java uses it
(`confirms`, `permutes`).
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


def permutes(before: str, after: str) -> bool | None:
    """Whether two texts are one tree but for the order of the statements in each block; `None` where the
    original is beyond this reader.
    """
    one = _tree(before)
    if one is None:
        return None
    other = _tree(after)
    return other is not None and _unordered(one) == _unordered(other)


def _unordered(node: Any) -> str:
    """A tree as a text in which the statements of each list stand in the order of their own texts."""
    from javalang.tree import LocalVariableDeclaration, Statement, TypeDeclaration

    kinds = (Statement, LocalVariableDeclaration, TypeDeclaration)
    if isinstance(node, list | tuple):
        parts = [_unordered(one) for one in node]
        statements = bool(node) and all(isinstance(one, kinds) for one in node)
        return f"[{', '.join(sorted(parts) if statements else parts)}]"
    if hasattr(node, "attrs"):
        parts = [f"{name}={_unordered(getattr(node, name))}" for name in node.attrs]
        return f"{type(node).__name__}({', '.join(parts)})"
    return repr(sorted(node) if isinstance(node, set) else node)


def _tree(text: str) -> Any | None:
    import javalang.parse
    from javalang.parser import JavaSyntaxError
    from javalang.tokenizer import LexerError

    for around in ((BEFORE, AFTER), ("", "")):  # members, or a file
        try:
            return javalang.parse.parse(text.join(around))
        except (JavaSyntaxError, LexerError, RecursionError, TypeError, StopIteration):
            continue  # it also stumbles over its own feet
    return None


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

"""Fast walks over syntax trees.

Contexts (`Load`) and operators are left out: they say nothing beside the node that holds them.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Final

_PLAIN_FIELDS: Final = frozenset({
    "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "op",
    "ops", "rest", "simple", "type_comment", "type_ignores",
})  # fmt: skip
"""Fields that never hold a node, or only one that is left out."""
_CHILDLESS: Final = frozenset({"Constant", "Global", "MatchSingleton", "Name", "Nonlocal", "alias"})
"""Kinds of nodes without nodes under them."""


HOLDERS: Final = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""Kinds of nodes that hold statements, or are some."""


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    """Computed on first use."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind.__name__ in _CHILDLESS else kind._fields
        parts = self[kind] = tuple(name for name in fields if name not in _PLAIN_FIELDS)
        return parts


PARTS: Final = _Parts()
"""The fields of each kind of node that may hold nodes, in order. They may hold other values, too."""


class _LastFirst(dict[type[ast.AST], tuple[str, ...]]):
    """Computed on first use."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        parts = self[kind] = PARTS[kind][::-1]
        return parts


LAST_FIRST: Final = _LastFirst()
"""The same fields in the opposite order."""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly under a node, in the order of its fields."""
    nodes: list[ast.AST] = []
    for name in PARTS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            # The keys of a display may hold `None` for `**`.
            nodes += [part for part in value if part is not None]
        elif isinstance(value, ast.AST):
            nodes.append(value)
    return nodes


def below(top: ast.AST) -> list[ast.AST]:
    """A node and all nodes under it, in the order of `ast.walk`."""
    nodes = [top]
    node_type = ast.AST
    for node in nodes:  # the list grows while it is read
        for name in PARTS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                nodes += [part for part in value if part is not None]
            elif isinstance(value, node_type):
                nodes.append(value)
    return nodes


def reached(start: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    """These names and all to which the steps lead from them."""
    seen, pending = set[str](), list(start)
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += step(name)
    return seen

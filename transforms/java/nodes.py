"""The syntax tree of a Java text as plain objects with byte ranges.

The parser (tree-sitter) gives exact ranges and parses all versions of Java, but each access to a property of
its tree is slow. So `parsing` walks its tree once and makes these objects; all other modules use them.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

Token: TypeAlias = tuple[str, int, int]
"""A token without a node of its own, such as `final`, `++` or `;`: (text, first byte, byte behind it)."""


class Node:
    """One node. `kind` and `field` are those of the grammar of tree-sitter-java.

    Comments are no nodes: a reading keeps them apart. Offsets count bytes of the UTF-8 text, from 0.
    """

    __slots__ = ("children", "end", "field", "kind", "parent", "start", "tokens")

    def __init__(self, kind: str, field: str | None, start: int, end: int, parent: "Node | None") -> None:
        self.kind = kind
        self.field: Final = field
        """Its field in the parent node, such as `condition`; `None` without one."""
        self.start: Final = start
        self.end: Final = end
        self.parent: Final = parent
        self.children: Final[list[Node]] = []
        self.tokens: Final[list[Token]] = []
        """Its own tokens, in the order of the text."""

    def child(self, field: str) -> "Node | None":
        """The first child in this field; `None` without one."""
        for node in self.children:
            if node.field == field:
                return node
        return None

    def part(self, field: str) -> "Node":
        """The child in a field that the grammar promises.

        Raises:
            LookupError: there is no child in this field.
        """
        for node in self.children:
            if node.field == field:
                return node
        raise LookupError(f"{self.kind} without {field}; ask for a part that the grammar promises")

    def all(self, field: str) -> "list[Node]":
        """All children in this field."""
        return [node for node in self.children if node.field == field]

    def first(self, *kinds: str) -> "Node | None":
        """The first child of one of these kinds."""
        for node in self.children:
            if node.kind in kinds:
                return node
        return None

    def has(self, token: str) -> bool:
        """Whether a token is one of its own."""
        return any(kind == token for kind, _, _ in self.tokens)

    @property
    def operator(self) -> str:
        """Its first token: the operator of a binary, unary or assignment expression; empty without tokens."""
        return self.tokens[0][0] if self.tokens else ""

    def walk(self) -> Iterator["Node"]:
        """The node and all nodes in it, in the order of the text."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}:{self.end}>"

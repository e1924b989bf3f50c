"""The syntax tree of a Java text as plain objects with byte spans.

The reader behind it (tree-sitter) gives exact spans and reads every Java up to today's, but asking its tree
for one property at a time is slow. So a text is walked once; what follows works on these objects.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

Token: TypeAlias = tuple[str, int, int]
"""A word or sign without a node of its own, such as `final`, `++` or `;`: what it is, and its bytes."""


class Node:
    """One node. `kind` and `field` are those of the grammar of tree-sitter-java.

    Comments are no nodes: a reading keeps them apart. Offsets count bytes of the UTF-8 text, from 0.
    """

    __slots__ = ("children", "end", "field", "kind", "parent", "start", "tokens")

    def __init__(self, kind: str, field: str | None, start: int, end: int, parent: "Node | None") -> None:
        self.kind = kind
        self.field: Final = field
        """What it is to its parent, such as `condition`."""
        self.start: Final = start
        self.end: Final = end
        self.parent: Final = parent
        self.children: Final[list[Node]] = []
        self.tokens: Final[list[Token]] = []
        """Its own words and signs, in the order of the text."""

    def child(self, field: str) -> "Node | None":
        """The first child that is this to it."""
        for node in self.children:
            if node.field == field:
                return node
        return None

    def part(self, field: str) -> "Node":
        """The child that is this to it, which the grammar promises.

        Raises:
            LookupError: it has none.
        """
        for node in self.children:
            if node.field == field:
                return node
        raise LookupError(f"{self.kind} without {field}; ask for a part that the grammar promises")

    def all(self, field: str) -> "list[Node]":
        """Every child that is this to it."""
        return [node for node in self.children if node.field == field]

    def first(self, *kinds: str) -> "Node | None":
        """The first child of one of these kinds."""
        for node in self.children:
            if node.kind in kinds:
                return node
        return None

    def has(self, token: str) -> bool:
        """Whether a word or sign is one of its own."""
        return any(kind == token for kind, _, _ in self.tokens)

    @property
    def operator(self) -> str:
        """The first of its own words and signs: of a binary, unary or assigning expression the operator."""
        return self.tokens[0][0] if self.tokens else ""

    def walk(self) -> Iterator["Node"]:
        """Itself and everything in it, in the order of the text."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}:{self.end}>"

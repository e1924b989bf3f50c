"""Java's syntax trees for `codeaudit.audit.papers.tree_transformer.nodes`."""

from collections.abc import Callable
from typing import Final

from codeaudit.audit.papers.tree_transformer.nodes import EMPTY, FUNCTION, Branch, is_mask, known
from codeaudit.transforms.java.parsing import Node, read

_OPERATORS: Final = frozenset(
    {"binary_expression", "unary_expression", "update_expression", "assignment_expression"}
)
"""Nodes whose operator is a word of their type."""
_SILENT: Final = frozenset("(){}[];,.:@<>=?") | {"->", "::", "..."}


class _Leaf:
    """A node with the text that it is from."""

    __slots__ = ("node", "source")

    def __init__(self, node: Node, source: bytes) -> None:
        self.node, self.source = node, source


def java_nodes(source: str) -> tuple[object, Callable[[object], Branch]]:
    """The root of a Java method's tree, and the function from a node to its branch.

    Raises:
        SourceError: the text is not Java.
    """
    return _root(source), _branch


def _root(source: str) -> object:
    """The one method of a text, or all of it.

    Raises:
        SourceError: the text is not Java.
    """
    reading = read(source)
    members = reading.root.children
    return _Leaf(members[0] if len(members) == 1 else reading.root, reading.source)


def _branch(found: object) -> Branch:
    """A node with its children."""
    assert isinstance(found, _Leaf)
    node, source = found.node, found.source
    kind, children = node.kind, [_Leaf(child, source) for child in node.children]
    if kind in _OPERATORS:
        return Branch(f"{kind} {node.operator}", EMPTY, children)
    if kind == "string_literal" or not (children or node.tokens):
        text = source[node.start : node.end].decode()
        text = text[1:-1] if kind == "string_literal" else text
        value = EMPTY if text == kind else FUNCTION if is_mask(text) else known(text)
        return Branch(kind, value, ())
    words = [word for word, _, _ in node.tokens if word not in _SILENT]
    if kind == "modifiers":
        return Branch(kind, EMPTY, [*(Branch(word, EMPTY, ()) for word in words), *children])
    return Branch(kind, " ".join(words) if words and not children else EMPTY, children)

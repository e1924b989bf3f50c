"""Puts the `!` of TypeScript where TypeScript reads it: `a && b!` is `a && (b!)`.

The grammar binds it looser than every operator, and reads `(a && b)!`. Such a text is parsed without the
sign, which does nothing when the program runs, and the sign is then put into the tree.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.syntax.reader import Node, WalkedTree

if TYPE_CHECKING:
    from tree_sitter import Tree

NON_NULL: Final = "non_null_expression"
_LOOSE: Final = (
    *("binary_expression", "unary_expression", "new_expression", "await_expression", "update_expression"),
    *("as_expression", "satisfies_expression", "type_assertion"),
)
"""Kinds of the grammar that bind looser than the sign."""
_MISREAD: Final = re.compile(rf"\({NON_NULL} (?:\(\w*comment\) )*\((?:{'|'.join(_LOOSE)})\b")
_SIGN: Final = re.compile(rb"(?:[^\s(,;=&|?:{\[]|//[^\n]*\n)\s*!(?!=)")
"""A `!` that may stand behind an operand."""
_CHAIN: Final = frozenset(
    {"field_access", "array_access", "method_invocation", "object_creation_expression"}
    | {"parenthesized_expression", "template_string", NON_NULL}
)
_OPERANDS: Final = _CHAIN | {"identifier", "this", "super", "object", "array", "string_literal"}
_MARK: Final = -2


def settled(
    parse: "Callable[[bytes], Tree | None]", source: bytes, tree: "Tree", shift: int
) -> "tuple[Tree, bytes, list[int]] | None":
    """A tree in which each sign is where it belongs or has been left out, the text that was parsed, and the
    places of the signs that were left out. `None` if the text without them cannot be read.
    """
    signs: list[int] = []
    while b"!" in source and _SIGN.search(source) and _MISREAD.search(str(tree.root_node)):
        places = _misread(tree, shift)
        for place in places:
            source = source[:place] + b" " + source[place + 1 :]
        signs += places
        again = parse(source)
        if again is None or again.root_node.has_error or not places:
            return None
        tree = again
    return tree, source, sorted(signs)


def put_back(walked: WalkedTree, source: bytes, signs: Sequence[int]) -> None:
    """Put the signs into the tree of this text, from which they were left out.

    Raises:
        SourceError: one stands behind something else than an operand.
    """
    text = bytearray(source)
    for place in signs:
        end = len(text[:place].rstrip())
        text[place] = ord("!")
        operand = walked.root
        while inner := [child for child in operand.children if child.start < end <= child.end]:
            operand = inner[-1]
        above = operand.parent
        # In `new a.b!` the sign is part of what is made.
        while (
            above is not None and above.end == end and above.kind in _CHAIN and operand.field != "constructor"
        ):
            operand, above = above, above.parent
        if operand.end != end or operand.kind not in _OPERANDS or above is None:
            raise SourceError("not valid TypeScript: a ! behind what is no operand")
        node = Node(NON_NULL, operand.field, operand.start, place + 1, above)
        node.tokens.append(("!", place, place + 1))
        node.children.append(operand)
        above.children[above.children.index(operand)] = node
        operand.field, operand.parent = None, node
        around: Node | None = above
        while around is not None and around.end == end:
            around.end, around = place + 1, around.parent
    for place in signs:
        walked.shape.extend((_MARK, bisect_left(walked.leaves, (place, 0))))


def _misread(tree: "Tree", shift: int) -> list[int]:
    """The places of the signs that the grammar puts behind an operator."""
    places, pending = [], [tree.root_node]
    while pending:
        node = pending.pop()
        if node.type == NON_NULL and any(child.type in _LOOSE for child in node.named_children):
            places.append(node.end_byte - 1 - shift)
        pending += node.named_children
    return places

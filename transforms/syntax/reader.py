"""The tree-sitter reader of all languages: plain objects with byte ranges.

The parser gives exact ranges, but each access to a property of its tree is slow. So `TreeReader` walks a
tree once and makes `Node` objects; all other modules use them. A `Grammar` says how the nodes of one grammar
become ours: which names its kinds and fields get, which nodes are dropped, and what a comment is.

All offsets are those of the text as given, also where a text was parsed inside of a wrapper (a class around
members) or with blanks in place of what the grammar cannot read (`blanked`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias

from tree_sitter import Language as TreeSitterLanguage
from tree_sitter import Node as TreeNode
from tree_sitter import Parser, Tree

from codeaudit.transforms.errors import SourceError

Token: TypeAlias = tuple[str, int, int]
"""A token without a node of its own, such as `final`, `++` or `;`: (text, first byte, byte behind it)."""

Extent: TypeAlias = tuple[int, int]
"""Bytes of a text: the first, and the one behind the last."""

DISPUTED: Final = "two readers read this text differently"
"""The reason to leave a text alone that a second reader reads in another way."""
EMPTY: Final = "empty_statement"
"""The kind of node that a lone `;` has where a statement stands."""
_STATEMENTS: Final = frozenset({"body", "consequence", "alternative"})
_NOT_BLANK: Final = re.compile(rb"[^\r\n]")
_UP: Final = -1


class Node:
    """One node. `kind` and `field` have the names that the `Grammar` gives them.

    Comments are no nodes: a reading keeps them apart. Offsets count bytes of the UTF-8 text, from 0.
    """

    __slots__ = ("children", "end", "field", "kind", "parent", "start", "tokens")

    def __init__(self, kind: str, field: str | None, start: int, end: int, parent: "Node | None") -> None:
        self.kind = kind
        self.field = field
        """Its field in the parent node, such as `condition`; `None` without one."""
        self.start = start
        self.end = end
        self.parent = parent
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
        return token in [kind for kind, _, _ in self.tokens]

    @property
    def operator(self) -> str:
        """Its first token: the operator of a binary, unary or assignment expression; empty without tokens."""
        return self.tokens[0][0] if self.tokens else ""

    @property
    def unparenthesized(self) -> "Node":
        """The expression without the parentheses around it."""
        node = self
        while node.kind == "parenthesized_expression" and len(node.children) == 1:
            node = node.children[0]
        return node

    @property
    def parenthesized(self) -> "Node":
        """The expression with the parentheses around it."""
        node = self
        while node.parent is not None and node.parent.kind == "parenthesized_expression":
            node = node.parent
        return node

    def ancestors(self) -> Iterator["Node"]:
        """The nodes around it, from the inside out."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator["Node"]:
        """The node and all nodes in it, in the order of the text."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.children[::-1]

    def nodes(self) -> Sequence["Node"]:
        """As `walk`, at once."""
        nodes, pending = list[Node](), [self]
        while pending:
            node = pending.pop()
            nodes.append(node)
            if node.children:
                pending += node.children[::-1]
        return nodes

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}:{self.end}>"


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """How the nodes of a tree-sitter grammar become ours."""

    load: Callable[[], object]
    """Gives the grammar, as the package of the grammar offers it; called when the first text is read."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Our name for a kind of node: `statement_block` is a `block`."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Our name for a field: the `increment` of a `for` is its `update`."""
    unnamed: Mapping[str, str] = field(default_factory=dict)
    """The field of a kind of node to which the grammar gives none: a `variable_declarator` is a `declarator`
    of its declaration."""
    dropped: frozenset[str] = frozenset()
    """Nodes that only stand between a node and its part, such as `else_clause`. What is in them belongs to
    the node around them, and the part takes their field."""
    comments: frozenset[str] = frozenset({"comment"})
    literals: frozenset[str] = frozenset()
    """Nodes that are one token, whatever the parser finds in them, such as strings."""
    checked: frozenset[str] = frozenset()
    """Nodes that the second reader of the language checks."""
    apart: str = ">"
    """First signs of tokens of which each sign is a token for the second reader: `>>` may end two lists of
    types."""
    suites: frozenset[str] = frozenset()
    """Nodes in which a lone `;` is a statement, where the grammar has no node for it."""
    wrapper: tuple[bytes, bytes] = (b"", b"")
    """Text before and behind a text that is no file by itself, such as the members of a class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """A parsed text."""

    source: bytes
    """The text as given, in UTF-8."""
    root: Node
    """`program` for a file; else what the wrapper holds, such as `class_body` for members."""
    shape: tuple[int, ...]
    """The tree without the text. Two shapes are equal exactly if nodes, tokens and fields of the trees
    are.
    """
    comments: tuple[Token, ...]
    """All comments, in the order of the text."""
    disputed: tuple[Extent, ...] = ()
    """The places that a second reader reads in another way, and `unread`."""
    unread: tuple[Extent, ...] = ()
    """The functions that were set aside because the parser cannot read them. Their bodies are empty in the
    tree."""

    def is_disputed(self, node: Node) -> bool:
        """Whether two readers disagree on a part of the text."""
        return any(start < node.end and node.start < end for start, end in self.disputed)

    @property
    def whole(self) -> bool:
        """Whether the text is a file."""
        return self.root.kind == "program"

    def text(self, node: Node) -> str:
        """The text of a node."""
        # What a wrapper holds may begin before the text.
        return self.source[max(node.start, 0) : node.end].decode()


class WalkedTree(NamedTuple):
    """A tree of the parser as our nodes, with what the walk saw."""

    root: Node
    shape: list[int]
    comments: Sequence[Token]
    leaves: Sequence[Extent]
    """The tokens in the order of the text, without comments; a literal of text is one."""
    checked: Sequence[Node]
    """The nodes that the second reader checks."""


class TreeReader:
    """The parser of one grammar. It is made once for each language."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar: Final = grammar

    @cached_property
    def _language(self) -> TreeSitterLanguage:
        return TreeSitterLanguage(self.grammar.load())

    @cached_property
    def parse(self) -> Callable[[bytes], Tree]:
        """Gives the parser's tree of a text, with or without errors. The last trees are kept for proofs."""
        return lru_cache(maxsize=8)(Parser(self._language).parse)

    @cached_property
    def _kinds(self) -> Sequence[str]:
        """Our names of the kinds of nodes, by the parser's numbers."""
        names = (
            self._language.node_kind_for_id(number) or "" for number in range(self._language.node_kind_count)
        )
        return [self.grammar.aliases.get(name, name) for name in names]

    @cached_property
    def _fields(self) -> Sequence[str | None]:
        """Our names of the fields, by the parser's numbers."""
        names = (
            self._language.field_name_for_id(number) or ""
            for number in range(1, self._language.field_count + 1)
        )
        return [None, *(self.grammar.fields.get(name, name) for name in names)]

    def parse_wrapped(self, text: bytes) -> Tree | None:
        """The parser's tree of a text inside the wrapper; `None` if it has an error or leaves the wrapper."""
        before, behind = self.grammar.wrapper
        tree = self.parse(before + text + behind)
        root = tree.root_node
        # `} class B {` would close the class around the members and open another one.
        if root.has_error or root.child_count != 1 or root.end_byte != len(before) + len(text) + len(behind):
            return None
        return tree

    def first_error(self, source: bytes) -> str:
        """The line of the first error of a text that is parsed as a file, for messages."""
        node = fault(self.parse(source).root_node)
        return "line 1" if node is None else f"line {node.start_point[0] + 1}"

    def walk(self, tree: Tree, shift: int = 0, *, leaves: bool = False) -> WalkedTree:
        """Convert a whole tree in one pass of the parser's cursor; `shift` is the length of the wrapper
        before the text. `leaves`: whether they are asked for.
        """
        grammar, kinds, fields, unnamed = self.grammar, self._kinds, self._fields, self.grammar.unnamed
        comment_kinds, dropped, literals = grammar.comments, grammar.dropped, grammar.literals
        checked_kinds, suites, apart = grammar.checked, grammar.suites, grammar.apart
        cursor = tree.walk()
        shape: list[int] = []
        comments: list[Token] = []
        tokens: list[Extent] = []
        checked: list[Node] = []
        here = root = Node("program", None, 0, tree.root_node.end_byte - shift, None)
        walked = WalkedTree(root, shape, comments, tokens, checked)
        above: list[tuple[Node, str | None]] = []
        lent: str | None = None  # the field of the dropped node around
        behind = -1  # where the last block ended before comments were cut off
        if not cursor.goto_first_child():
            return walked
        while True:
            at = cursor.node
            assert at is not None
            number = at.kind_id
            kind = kinds[number]
            start, end = at.byte_range
            if shift:
                start, end = start - shift, end - shift
            if not at.is_named:
                shape.append(number)
                # A lone `;` as a body or statement becomes a node, because it counts as a statement.
                if (
                    kind == ";"
                    and suites
                    and (here.kind in suites or fields[cursor.field_id or 0] in _STATEMENTS)
                ):
                    here.children.append(Node(EMPTY, fields[cursor.field_id or 0], start, end, here))
                else:
                    here.tokens.append((kind, start, end))
                if leaves and here.kind not in literals:
                    split = kind[0] in apart
                    tokens += [(place, place + 1) for place in range(start, end)] if split else [(start, end)]
            elif kind in comment_kinds:
                comments.append((kind, start, end))
            else:
                field_number = cursor.field_id or 0
                shape += (number, field_number)
                name = fields[field_number] or lent or (unnamed.get(kind) if unnamed else None)
                if kind in dropped and cursor.goto_first_child():
                    above.append((here, lent))
                    lent = name
                    continue
                node = Node(kind, name, start, end, here)
                here.children.append(node)
                if kind in checked_kinds:
                    checked.append(node)
                elif leaves and kind in literals:
                    tokens.append((start, end))
                if cursor.goto_first_child():
                    above.append((here, lent))
                    here, lent = node, None
                    continue
                if leaves and kind not in literals and here.kind not in literals:
                    tokens.append((start, end))
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent() or not above:
                    return walked
                shape.append(_UP)
                if here.end == behind or here.kind == "block":
                    # A grammar that looks for a semicolon behind a block counts comments there to the block.
                    behind, here.end = here.end, _end(here)
                here, lent = above.pop()


def _end(node: Node) -> int:
    """The end of the last part of a node."""
    ends = [node.children[-1].end] if node.children else []
    return max(ends + [end for _, _, end in node.tokens[-1:]], default=node.end)


def fault(root: TreeNode) -> TreeNode | None:
    """The first error of a tree of the parser."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            return node
        pending += [child for child in reversed(node.children) if child.has_error or child.is_missing]
    return None


def encoded(text: str, title: str) -> bytes:
    """A text in UTF-8.

    Raises:
        SourceError: a character has no encoding; `title` is the name of the language.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SourceError(f"not valid {title}: a character without an encoding") from error


def blanked(text: bytes) -> bytes:
    """Blanks in place of a text, with its line breaks, so that every offset behind it stays."""
    return _NOT_BLANK.sub(b" ", text)

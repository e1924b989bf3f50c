"""Parsing of Java text (a file, members of a class, or one bare method) into plain objects with byte ranges.

The parser (tree-sitter) gives exact ranges and parses all versions of Java, but each access to a property of
its tree is slow. So `read` walks its tree once and makes `Node` objects; all other modules use them. Members
are parsed inside a class that is put around them. All offsets are those of the text as given.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

from tree_sitter import Language, Parser, Tree

from codeaudit.transforms.errors import NoFunctionError, SourceError
from codeaudit.transforms.java.second_reader import CHECKED, Place, bodies, disputed

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

    @property
    def unparenthesized(self) -> "Node":
        """The expression without the parentheses around it."""
        node = self
        while node.kind == "parenthesized_expression" and len(node.children) == 1:
            node = node.children[0]
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
            pending += reversed(node.children)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}:{self.end}>"


BEFORE: Final = b"class _ {\n"
"""The text put before members to parse them."""
AFTER: Final = b"\n}"
"""The text put behind them; the line break ends a comment on the last line."""

CALLABLES: Final = frozenset(
    {"method_declaration", "constructor_declaration", "compact_constructor_declaration"}
)
"""Kinds of nodes that are methods or constructors."""
TYPES: Final = frozenset(
    {
        "class_declaration", "interface_declaration", "enum_declaration", "record_declaration",
        "annotation_type_declaration",
    }
)  # fmt: skip
"""Kinds of nodes that declare a type."""
BODIES: Final = frozenset(
    {"class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"}
)
"""Kinds of nodes that hold the members of a type."""

EMPTY: Final = "empty_statement"
"""The kind of node that a lone `;` gets where a statement stands; the grammar has none for it."""

_STATEMENTS: Final = frozenset({"body", "consequence", "alternative"})
_SUITES: Final = frozenset({"block", "constructor_body", "switch_block_statement_group", "labeled_statement"})
_FILE: Final = re.compile(r"(?:^|;|\*/|\))\s*(?:import|package)(?:\s|/)", re.MULTILINE)
"""A declaration that only files have. A comment in a method may match, too."""
_OF_FILE: Final = TYPES | {"package_declaration", "import_declaration", "module_declaration"}
_COMMENTS: Final = frozenset({"line_comment", "block_comment"})
_TEXT: Final = "string_literal"
_LACKING: Final = re.compile(
    rb"(?<=\bcase )[\w$]+(?:\.[\w$]+)+(?=\()"  # case Outer.Inner(…)
    rb"|(?<=\binstanceof )[\w$]+(?:\.[\w$]+)+(?=\()"
    rb"|(?<=\bcase )(?:[\w$.]+ _, )+(?=[\w$.]+ _\b)"  # case One _, Other _
    rb"|(?<=\bimport )module (?=\w)"
    rb"|(?<=\w) @Nullable(?= ?\.\.\.)"  # Object @Nullable ... all
    rb"|\bopen\b|\bmodule\b",  # names of types
    re.MULTILINE,
)
"""Constructs of current Java that the grammar cannot parse. In the text for the parser each becomes one word
of the same length. No match spans lines, so a comment that contains one ends at the same place.
"""
_SPELT: Final = re.compile(
    rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\r\n]|\\.)*"|\'(?:[^\'\\\r\n]|\\.)*\'|//[^\r\n]*|/\*.*?\*/'
    rb"|(\\u+[0-9a-fA-F]{4})",
    re.DOTALL,
)
"""A literal, a comment, or a character of a name that is spelt by its number (group 1)."""
_ONE_WORD: Final = bytes.maketrans(b" ,.@\\on", b"_____ON")
"""Makes one word of what the grammar lacks; of `open` and `module` another word."""
_NOT_BLANK: Final = re.compile(rb"[^\r\n]")
_UP: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedJava:
    """A parsed text."""

    source: bytes
    """The text as given, in UTF-8."""
    root: Node
    """`program` for a file; `class_body` for members."""
    shape: tuple[int, ...]
    """The tree without the text. Two shapes are equal exactly if nodes, tokens and fields of the trees
    are.
    """
    comments: tuple[Token, ...]
    """All comments, in the order of the text."""
    disputed: tuple[Place, ...]
    """The places that a second reader reads in another way, and `unread`."""
    unread: tuple[Place, ...] = ()
    """The methods and constructors that were set aside because the parser cannot read them (`read_file`).
    Their bodies are empty in the tree."""

    def is_disputed(self, node: Node) -> bool:
        """Whether two readers disagree on a part of the text."""
        return any(start < node.end and node.start < end for start, end in self.disputed)

    @property
    def whole(self) -> bool:
        """Whether the text is a file."""
        return self.root.kind == "program"

    def text(self, node: Node) -> str:
        """The text of a node."""
        # The root of members is the body of the class around them, which begins before the text.
        return self.source[max(node.start, 0) : node.end].decode()


@lru_cache(maxsize=8)
def read(text: str) -> ParsedJava:
    """Parse a file, or members of a class; a text that could be both counts as members.

    The last results are cached, so callers must not change their nodes.

    Raises:
        SourceError: the text is not Java.
    """
    try:
        source = text.encode()
    except UnicodeEncodeError as error:
        raise SourceError("not valid Java: a character without an encoding") from error
    found = _read(text, source, source)
    # Only where the grammar fails, so that text that parses is parsed as it stands.
    if found is None and (bridged := _bridged(source)) != source:
        found = _read(text, source, bridged)
    if found is None:
        raise SourceError(f"not valid Java: {_first_error(source)}")
    for kind, start, end in found.comments:
        # To Java a carriage return ends the line; to the grammar it does not, and code behind it is comment.
        if kind == "line_comment" and b"\r" in source[start : end - 1]:
            raise SourceError("a carriage return without a line feed ends a comment")
    return found


@lru_cache(maxsize=8)
def read_file(text: str) -> ParsedJava:
    """Parse a text as `read` does, but set aside the methods and constructors that the parser cannot read.

    Raises:
        SourceError: the text is not Java, or is one method that cannot be read.
    """
    try:
        return read(text)
    except SourceError:
        found = _without_unread(text)
        if found is None:
            raise
        return found


def _without_unread(text: str) -> ParsedJava | None:
    """The text without the bodies that the parser cannot read; `None` if that is not enough."""
    try:
        source = text.encode()
    except UnicodeEncodeError:
        return None
    seen = bytearray(_bridged(source))
    emptied = set()
    for start, end in bodies(bytes(seen)):
        body = bytes(seen[start:end])
        if all(_parsed_members(head + body + b"}") is None for head in (b"void m() {", b"m() {")):
            seen[start:end] = _NOT_BLANK.sub(b" ", body)
            emptied.add(start)
    found = _read(text, source, bytes(seen)) if emptied else None
    if found is None:
        return None
    units = callables(found)
    unread = [node for node in units if (inside := node.child("body")) and inside.start + 1 in emptied]
    if not found.whole and unread == found.root.children:
        return None
    places = tuple((node.start, node.end) for node in unread)
    return replace(found, unread=places, disputed=found.disputed + places)


def _bridged(source: bytes) -> bytes:
    """The text with a word of the same length in place of each construct that the grammar lacks."""
    words = _LACKING.sub(lambda match: match[0].translate(_ONE_WORD), source)
    if b"\\u" not in words:
        return words
    return _SPELT.sub(lambda match: match[0].translate(_ONE_WORD) if match[1] else match[0], words)


def _read(text: str, source: bytes, seen: bytes) -> ParsedJava | None:
    """Parse a source. The parser gets `seen` in its place, which has the same length."""
    # `import a.B;` may also stand in a comment of a method, so the text is tried as members, too.
    if _may_be_file(text):
        found = _file(source, seen)
        if found and all(node.kind in _OF_FILE for node in found.root.children):
            return found
    return _members(source, seen) or _file(source, seen)


def _may_be_file(text: str) -> bool:
    return ("import" in text or "package" in text) and _FILE.search(text) is not None


def outline(text: str) -> str | None:
    """The kinds, fields and order of all named nodes of members of a class; `None` if a text is not certainly
    that.

    It costs a fraction of `read`. Texts with the same tokens in between have equal trees if their outlines
    are equal.
    """
    if _may_be_file(text):
        return None
    source = text.encode()
    tree = _parsed_members(source)
    return None if tree is None else str(tree.root_node)


def callables(reading: ParsedJava) -> list[Node]:
    """The outermost methods and constructors of a text, in its order."""
    found: list[Node] = []
    pending: list[Node] = [reading.root]
    while pending:
        node = pending.pop()
        if node.kind in CALLABLES:
            found.append(node)
        elif node.kind in TYPES or node.kind in BODIES or node.kind in ("program", "enum_constant"):
            pending += reversed(node.children)
    return found


def statements(source: str) -> int | None:
    """The number of statements in the bodies of a text, blocks and labels aside; `None` where it does not
    parse."""
    try:
        nodes = read(source).root.walk()
    except SourceError:
        return None
    return sum(
        (node.kind.endswith("_statement") and node.kind != "labeled_statement")
        or node.kind == "explicit_constructor_invocation"
        or (node.kind == "local_variable_declaration" and not _is(node.parent, "for_statement"))
        # A `switch` is an expression to the grammar wherever it stands.
        or (node.kind == "switch_expression" and _is(node.parent, "block"))
        for node in nodes
    )


def _is(node: Node | None, kind: str) -> bool:
    return node is not None and node.kind == kind


def only_callable(reading: ParsedJava) -> Node:
    """The one method or constructor of a text that contains nothing else but comments.

    Raises:
        SourceError: the text contains something else.
    """
    members = reading.root.children
    if reading.whole or len(members) != 1 or members[0].kind not in CALLABLES:
        raise NoFunctionError("the text is not one method; give one method or constructor at a time")
    return members[0]


@cache
def _language() -> "_Grammar":
    import tree_sitter_java

    return _Grammar(Language(tree_sitter_java.language()))


class _Grammar:
    """The parser, and the names of node kinds and fields by their numbers."""

    def __init__(self, language: Language) -> None:
        self.parser = Parser(language)
        self.kinds = [language.node_kind_for_id(number) or "" for number in range(language.node_kind_count)]
        self.fields = [
            None if number == 0 else language.field_name_for_id(number)
            for number in range(language.field_count + 1)
        ]


def _file(source: bytes, seen: bytes) -> ParsedJava | None:
    tree = _language().parser.parse(seen)
    return None if tree.root_node.has_error else _reading(source, seen, tree, 0)


def _members(source: bytes, seen: bytes) -> ParsedJava | None:
    """The text parsed as members of a class; `None` if it is something else."""
    tree = _parsed_members(seen)
    return None if tree is None else _reading(source, seen, tree, len(BEFORE))


def _parsed_members(source: bytes) -> Tree | None:
    tree = _language().parser.parse(BEFORE + source + AFTER)
    root = tree.root_node
    # `} class B {` would close the class around the members and open another one.
    if root.has_error or root.child_count != 1 or root.end_byte != len(source) + len(BEFORE) + len(AFTER):
        return None
    return tree


class _Walked(NamedTuple):
    root: Node
    shape: Sequence[int]
    comments: Sequence[Token]
    leaves: Sequence[Place]
    """The tokens in the order of the text, without comments; a literal of text is one."""
    checked: Sequence[Node]
    """The nodes that the second reader checks."""


def _reading(source: bytes, seen: bytes, tree: Tree, shift: int) -> ParsedJava:
    walked = _walk(tree, shift)
    root, leaves = walked.root, walked.leaves
    if shift:
        root = root.children[0].children[-1]
        leaves = [place for place in leaves if place[0] >= 0 and place[1] <= len(source)]
    return ParsedJava(
        source=source,
        root=root,
        shape=tuple(walked.shape),
        comments=tuple(walked.comments),
        disputed=disputed(seen, leaves, walked.checked),
    )


def _walk(tree: Tree, shift: int) -> _Walked:
    """Convert a whole tree in one pass of the parser's cursor."""
    grammar = _language()
    kinds, fields = grammar.kinds, grammar.fields
    cursor = tree.walk()
    shape: list[int] = []
    comments: list[Token] = []
    leaves: list[Place] = []
    checked: list[Node] = []
    here = root = Node("program", None, 0, tree.root_node.end_byte - shift, None)
    found = _Walked(root, shape, comments, leaves, checked)
    if not cursor.goto_first_child():
        return found
    while True:
        at = cursor.node
        assert at is not None
        number = at.kind_id
        kind = kinds[number]
        start, end = at.start_byte - shift, at.end_byte - shift
        if not at.is_named:
            shape.append(number)
            # A lone `;` as a body or statement becomes a node, because it counts as a statement.
            if kind == ";" and (here.kind in _SUITES or fields[cursor.field_id or 0] in _STATEMENTS):
                here.children.append(Node(EMPTY, fields[cursor.field_id or 0], start, end, here))
            else:
                here.tokens.append((kind, start, end))
            if here.kind != _TEXT:
                # Java reads each sign of `>>` for itself where it ends lists of types.
                leaves += [(start, end)] if kind[0] != ">" else [(one, one + 1) for one in range(start, end)]
        elif kind in _COMMENTS:
            comments.append((kind, start, end))
        else:
            field = cursor.field_id or 0
            shape += (number, field)
            node = Node(kind, fields[field], start, end, here)
            here.children.append(node)
            if kind in CHECKED:
                checked.append(node)
            elif kind == _TEXT:
                leaves.append((start, end))
            if cursor.goto_first_child():
                here = node
                continue
            if kind != _TEXT and here.kind != _TEXT:
                leaves.append((start, end))
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or here.parent is None:
                return found
            shape.append(_UP)
            here = here.parent


def _first_error(source: bytes) -> str:
    """The line of the first error of the text parsed as a file, for messages."""
    pending = [_language().parser.parse(source).root_node]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            return f"line {node.start_point[0] + 1}"
        pending += [child for child in reversed(node.children) if child.has_error]
    return "line 1"

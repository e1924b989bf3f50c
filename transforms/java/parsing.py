"""Parsing of Java text: a file, members of a class, or one bare method. Members are parsed inside of a class
that is put around them. All offsets are those of the text as given.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.errors import NoFunctionError, SourceError
from codeaudit.transforms.java.second_reader import CHECKED, bodies, disputed
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.reader import Grammar, Node, ParsedText, TreeReader, blanked, encoded

if TYPE_CHECKING:
    from tree_sitter import Tree

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

_FILE: Final = re.compile(r"(?:^|;|\*/|\))\s*(?:import|package)(?:\s|/)", re.MULTILINE)
"""A declaration that only files have. A comment in a method may match, too."""
_OF_FILE: Final = TYPES | {"package_declaration", "import_declaration", "module_declaration"}
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


def _load() -> object:
    import tree_sitter_java

    return tree_sitter_java.language()


READER: Final = TreeReader(
    Grammar(
        load=_load,
        comments=frozenset({"line_comment", "block_comment"}),
        literals=frozenset({"string_literal"}),
        checked=CHECKED,
        suites=frozenset({"block", "constructor_body", "switch_block_statement_group", "labeled_statement"}),
        wrapper=(b"class _ {\n", b"\n}"),  # the line break ends a comment on the last line
    )
)


@lru_cache(maxsize=8)
def read(text: str) -> ParsedText:
    """Parse a file, or members of a class; a text that could be both counts as members.

    The last results are cached, so callers must not change their nodes.

    Raises:
        SourceError: the text is not Java.
    """
    source = encoded(text, "Java")
    reading = _read(text, source, source)
    # Only where the grammar fails, so that text that parses is parsed as it stands.
    if reading is None and (bridged := _bridged(source)) != source:
        reading = _read(text, source, bridged)
    if reading is None:
        raise SourceError(f"not valid Java: {READER.first_error(source)}")
    for kind, start, end in reading.comments:
        # To Java a carriage return ends the line; to the grammar it does not, and code behind it is comment.
        if kind == "line_comment" and b"\r" in source[start : end - 1]:
            raise SourceError("a carriage return without a line feed ends a comment")
    return reading


@lru_cache(maxsize=8)
def read_file(text: str) -> ParsedText:
    """Parse a text as `read` does, but set aside the methods and constructors that the parser cannot read.

    Raises:
        SourceError: the text is not Java, or is one method that cannot be read.
    """
    try:
        return read(text)
    except SourceError:
        reading = _without_unread(text)
        if reading is None:
            raise
        return reading


def _without_unread(text: str) -> ParsedText | None:
    """The text without the bodies that the parser cannot read; `None` if that is not enough."""
    try:
        source = text.encode()
    except UnicodeEncodeError:
        return None
    readable = bytearray(_bridged(source))
    emptied = set()
    for start, end in bodies(bytes(readable)):
        body = bytes(readable[start:end])
        if all(READER.parse_wrapped(head + body + b"}") is None for head in (b"void m() {", b"m() {")):
            readable[start:end] = blanked(body)
            emptied.add(start)
    reading = _read(text, source, bytes(readable)) if emptied else None
    if reading is None:
        return None
    units = callables(reading)
    unread = [node for node in units if (inside := node.child("body")) and inside.start + 1 in emptied]
    if not reading.whole and unread == reading.root.children:
        return None
    places = tuple((node.start, node.end) for node in unread)
    return replace(reading, unread=places, disputed=reading.disputed + places)


def _bridged(source: bytes) -> bytes:
    """The text with a word of the same length in place of each construct that the grammar lacks."""
    words = _LACKING.sub(lambda match: match[0].translate(_ONE_WORD), source)
    if b"\\u" not in words:
        return words
    return _SPELT.sub(lambda match: match[0].translate(_ONE_WORD) if match[1] else match[0], words)


def _read(text: str, source: bytes, readable: bytes) -> ParsedText | None:
    """Parse a source. The parser gets `readable` in its place, which has the same length."""
    # `import a.B;` may also stand in a comment of a method, so the text is tried as members, too.
    if _may_be_file(text):
        reading = _file(source, readable)
        if reading and all(node.kind in _OF_FILE for node in reading.root.children):
            return reading
    return _members(source, readable) or _file(source, readable)


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
    tree = READER.parse_wrapped(source)
    return None if tree is None else str(tree.root_node)


def callables(reading: ParsedText) -> list[Node]:
    """The outermost methods and constructors of a text, in its order."""
    nodes: list[Node] = []
    pending: list[Node] = [reading.root]
    while pending:
        node = pending.pop()
        if node.kind in CALLABLES:
            nodes.append(node)
        elif node.kind in TYPES or node.kind in BODIES or node.kind in ("program", "enum_constant"):
            pending += reversed(node.children)
    return nodes


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


def only_callable(reading: ParsedText) -> Node:
    """The one method or constructor of a text that contains nothing else but comments.

    Raises:
        SourceError: the text contains something else.
    """
    members = reading.root.children
    if reading.whole or len(members) != 1 or members[0].kind not in CALLABLES:
        raise NoFunctionError("the text is not one method; give one method or constructor at a time")
    return members[0]


def _file(source: bytes, readable: bytes) -> ParsedText | None:
    tree = READER.parse(readable)
    return None if tree.root_node.has_error else _reading(source, readable, tree, 0)


def _members(source: bytes, readable: bytes) -> ParsedText | None:
    """The text parsed as members of a class; `None` if it is something else."""
    tree = READER.parse_wrapped(readable)
    return None if tree is None else _reading(source, readable, tree, len(READER.grammar.wrapper[0]))


def _reading(source: bytes, readable: bytes, tree: "Tree", shift: int) -> ParsedText:
    walked = READER.walk(tree, shift, leaves=True)
    root, leaves = walked.root, walked.leaves
    if shift:
        root = root.children[0].children[-1]
        leaves = [place for place in leaves if place[0] >= 0 and place[1] <= len(source)]
    return ParsedText(
        source=source,
        root=root,
        shape=tuple(walked.shape),
        comments=tuple(walked.comments),
        disputed=disputed(readable, leaves, walked.checked),
    )


_MATCHING: Final = frozenset({"pattern", "record_pattern", "guard"})
"""Parts of a label that are no constants."""

# Where control goes (Java Language Specification, 14.22). The scope of pattern variables depends on it, and
# the order of statements: javac rejects unreachable ones.
FLOW: Final = Flow(
    nested=CALLABLES | {"lambda_expression", "class_body"},
    varying=frozenset(
        {"method_invocation", "instanceof_expression", "object_creation_expression", "null_literal",
         "array_access", "assignment_expression", "update_expression", "this"}
    ),
    # `null`, a pattern and `Type.CONSTANT` may make a `switch` name every case.
    plain_labels=frozenset(
        {"identifier", "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal",
         "binary_integer_literal", "character_literal", "string_literal", "unary_expression",
         "binary_expression", "parenthesized_expression", "cast_expression", "ternary_expression"}
    ),
)  # fmt: skip


def names_constant(label: Node) -> bool:
    """Whether a label of a `switch` names something that may be a constant of an enum: `A` or `E.A`."""
    pending = [child for child in label.children if child.kind not in _MATCHING]
    return any(inner.kind == "identifier" for child in pending for inner in child.walk())

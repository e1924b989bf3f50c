"""A second reader of Java, which shares no code with the parser (tree-sitter): it finds what that misreads.

It has two parts, and no part of a text is edited on which one of them disagrees with the parser:

- A lexer by the longest match (Java Language Specification, 3.2): the leaves of the parser's tree have to be
  its tokens.
- The grammar of expressions (chapter 15). A tree is checked node by node: is each operand one that the
  specification allows at this place without parentheses? Java's grammar is unambiguous where the
  specification says which of two readings holds, so a tree of the same tokens that it allows is the only
  one.

The second part finds `(a.b) + c` read as a cast of a signed number, since the operand of a cast to a class
begins with no sign (15.16), and `(char) i++` read as `((char) i)++`, since a cast is no variable (15.14).
`benchmarks/java_readers.py` compares the parser with javac on random text: this reader sees each difference.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.java.precedence import EXPRESSIONS, OPERATORS, OR, PRIMARY, RELATION, TERNARY, UNARY

if TYPE_CHECKING:
    from codeaudit.transforms.syntax.reader import Extent, Node

CHECKED: Final = frozenset(
    {"cast_expression", "unary_expression", "update_expression", "binary_expression", "ternary_expression",
     "assignment_expression", "instanceof_expression", "array_access", "field_access", "method_invocation",
     "method_reference", "object_creation_expression", "expression_statement", "switch_label"}
)  # fmt: skip
"""Kinds of nodes whose operands are checked."""

_LEXER: Final = re.compile(
    rb"[ \t\r\n\f]+|//[^\r\n]*|/\*.*?\*/"
    rb"|([A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:(?<=\bnon)-sealed\b)?"
    rb'|"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\r\n]|\\.)*"|\'(?:[^\'\\\r\n]|\\.)*\''
    rb"|0[xX][\da-fA-F_]*\.?[\da-fA-F_]*[pP][+-]?[\d_]+[fFdD]?|0[xX][\da-fA-F_]+[lL]?|0[bB][01_]+[lL]?"
    rb"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?[fFdDlL]?"
    rb"|@interface\b|\.\.\.|::|->|\+\+|--|&&|\|\||<<=?|[+\-*/%&|^!=<]=?|[>(){}\[\];,.@~?:])"
    rb"|(.)",
    re.DOTALL,
)
"""Blanks and comments; a token (group 1); anything else (group 2). Of `>>` each sign is a token."""
_TYPE_WORDS: Final = frozenset({b"class", b"interface", b"enum", b"@interface"})
_ENDS_HEADER: Final = frozenset({b"{", b"}", b";"})
_VARIABLES: Final = frozenset({"identifier", "field_access", "array_access"})
"""Kinds of expressions that can be assigned to."""
_PRIMITIVE_TYPES: Final = frozenset({"integral_type", "floating_point_type", "boolean_type"})
_TAILS: Final = frozenset(
    {"binary_expression", "unary_expression", "cast_expression", "ternary_expression",
     "assignment_expression", "lambda_expression"}
)  # fmt: skip
"""Kinds of expressions that end with an operand."""
_STATEMENTS: Final = frozenset(
    {"assignment_expression", "update_expression", "method_invocation", "object_creation_expression"}
)
"""Kinds of expressions that may be statements (JLS 14.8)."""
_NUMBERS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal"}
)  # fmt: skip
_PATTERNS: Final = frozenset({"pattern", "type_pattern", "record_pattern"})
_CLOSED: Final = frozenset(
    {"parenthesized_expression", "argument_list", "array_initializer", "dimensions_expr", "class_body",
     "switch_block"}
)  # fmt: skip
"""Kinds of nodes with signs around them."""
_NO_CONSTANTS: Final = frozenset(
    {"method_invocation", "lambda_expression", "method_reference", "object_creation_expression",
     "array_creation_expression", "array_access", "switch_expression", "assignment_expression",
     "update_expression", "instanceof_expression"}
)  # fmt: skip
"""Kinds of expressions that occur in no constant (JLS 15.29)."""
_OPERANDS: Final = {
    "array_access": "array",
    "field_access": "object",
    "method_invocation": "object",
}
"""The field of the operand of a primary expression, by its kind."""


def disputed(readable: bytes, leaves: Sequence["Extent"], nodes: Iterable["Node"]) -> tuple["Extent", ...]:
    """The places of a text where this reader disagrees with the parser.

    Args:
        readable: the text that the parser got.
        leaves: the parser's tokens in the order of the text; a literal of text is one token.
        nodes: all nodes of the parser's tree whose kind is in `CHECKED`.
    """
    extents = [(node.start, node.end) for node in nodes if _is_misread(node)]
    tokens = _tokens(readable)
    if tokens != leaves:
        extents += sorted(set(tokens) ^ set(leaves))
    return tuple(extents)


def _tokens(text: bytes) -> list["Extent"]:
    return [match.span() for match in _LEXER.finditer(text) if match.lastindex is not None]


def bodies(text: bytes) -> list["Extent"]:
    """What stands between the braces of the members of all types: the bodies of methods and initialisers.

    They are found by the tokens alone, so that one body which the parser cannot read does not hide the
    others. Empty where the braces do not match.
    """
    extents: list[Extent] = []
    opened: list[tuple[int, bool]] = []
    header: list[bytes] = []
    for start, end in _tokens(text):
        word = text[start:end]
        if word == b"{":
            is_type = _declares_type(header) and all(inside for _, inside in opened)
            opened.append((end, is_type))
        elif word == b"}":
            if not opened:
                return []
            begin, is_type = opened.pop()
            if not is_type and all(inside for _, inside in opened):
                extents.append((begin, start))
        if word in _ENDS_HEADER:
            header = []
        else:
            header.append(word)
    return extents if not opened else []


def _declares_type(header: Sequence[bytes]) -> bool:
    """Whether a brace behind these words opens the body of a type."""
    if not _TYPE_WORDS.isdisjoint(header):
        # `Class<?> k = A.class;` and `X = new A() {` are members with a value.
        return b"=" not in header and not any(
            one == b"." and two in _TYPE_WORDS for one, two in pairwise(header)
        )
    records = (place for place, word in enumerate(header[:-2]) if word == b"record")
    return any(header[place + 2] in (b"(", b"<") for place in records)


def _is_misread(node: "Node") -> bool:
    """Whether an operand of an expression is none that Java allows there without parentheses."""
    parts = node.children
    match node.kind:
        case "binary_expression" if len(parts) == 2:
            level = OPERATORS[node.operator]
            if level == RELATION and _level(parts[0]) == RELATION:
                return True  # a truth value has no order (JLS 15.20): `b < c > d` is a type and a name
            return not _binds(parts[0], level) or _level(parts[1]) <= level
        case "unary_expression":
            return _level(parts[0]) < UNARY
        case "update_expression":
            return parts[0].unparenthesized.kind not in _VARIABLES
        case "cast_expression":
            return _is_no_cast(node)
        case "assignment_expression":
            return parts[0].unparenthesized.kind not in _VARIABLES
        case "ternary_expression" if len(parts) == 3:
            last = parts[2]
            return not _binds(parts[0], OR) or (last.kind != "lambda_expression" and _level(last) < TERNARY)
        case "instanceof_expression":
            return not _binds(parts[0], RELATION)
        case "expression_statement":
            above = node.parent
            return parts[0].kind not in _STATEMENTS and (above is None or above.kind != "switch_rule")
        case "method_reference":
            return not _is_primary(parts[0], node.kind)
        case "object_creation_expression":
            # Of `a.new B()` the operand stands before the dot.
            behind = bool(parts) and parts[0].end <= node.tokens[0][1]
            return behind and not _is_primary(parts[0], node.kind)
        case "switch_label":
            return any(_is_no_constant(part) for part in parts)
        case kind if kind in _OPERANDS:
            operand = node.child(_OPERANDS[kind])
            return operand is not None and not _is_primary(operand, kind)
        case _:
            return True


def _is_no_cast(node: "Node") -> bool:
    """Whether a cast is none by JLS 15.16: the operand of a cast to a class begins with no sign."""
    types, value = node.all("type"), node.part("value")
    if len(types) == 1 and types[0].kind in _PRIMITIVE_TYPES:
        return _level(value) < UNARY
    if value.kind == "lambda_expression":
        return False
    if value.kind in ("unary_expression", "update_expression"):
        mark, start, _ = value.tokens[0]
        return mark[0] in "+-" and start == value.start
    return _level(value) < UNARY


def _is_primary(operand: "Node", kind: str) -> bool:
    """Whether an expression may stand before `.`, `[` or `::` without parentheses."""
    if operand.kind in _NUMBERS:
        return False  # a number has no members, and a sign before it belongs to it
    if kind == "array_access" and operand.kind == "array_creation_expression":
        return operand.child("value") is not None  # `new int[2][0]` has two dimensions (JLS 15.10.3)
    return _level(operand) == PRIMARY


def _is_no_constant(node: "Node") -> bool:
    """Whether a part of a label is no constant, pattern or guard, as the pattern `A()` of a record."""
    if node.kind == "guard":
        return _takes_arrow(node)
    if node.kind in _PATTERNS:
        return False
    return any(inner.kind in _NO_CONSTANTS for inner in node.walk())


def _takes_arrow(node: "Node") -> bool:
    """Whether a guard holds a lambda without parentheses: its arrow would be that of the label."""
    pending = list(node.children)
    while pending:
        inner = pending.pop()
        if inner.kind == "lambda_expression":
            return True
        if inner.kind not in _CLOSED:
            pending += inner.children
    return False


def _level(node: "Node") -> int:
    """How tightly an expression binds; a `switch` is an operand like a cast (JLS 15.15)."""
    if node.kind == "binary_expression":
        return OPERATORS[node.operator]
    return UNARY if node.kind == "switch_expression" else EXPRESSIONS.get(node.kind, PRIMARY)


def _binds(node: "Node", least: int) -> bool:
    """Whether an expression may stand before an operator of this precedence.

    A lambda takes all that follows it, so none may be the last part of the expression.
    """
    if _level(node) < least:
        return False
    while node.kind in _TAILS and node.children:
        if node.kind == "lambda_expression":
            return False
        node = node.children[-1]
    return True

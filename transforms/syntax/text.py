"""Texts: patches that keep the author's text, parentheses where needed, indentation, outlines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.patches import Part, Patch, Span
from codeaudit.transforms.syntax.reader import Node, ParsedText

_ANY_FITS: Final = frozenset(
    {"parenthesized_expression", "argument_list", "variable_declarator", "assignment_expression",
     "return_statement", "throw_statement", "yield_statement", "expression_statement", "assert_statement",
     "array_initializer", "for_statement", "enhanced_for_statement", "lambda_expression", "dimensions_expr",
     "resource"}
)  # fmt: skip
"""Kinds of nodes in which an expression of any precedence needs no parentheses."""


@dataclass(frozen=True, kw_only=True)
class Precedence:
    """How tightly the expressions of a language bind; a higher number binds tighter."""

    operators: Mapping[str, int]
    """The precedence of each binary operator."""
    expressions: Mapping[str, int]
    """The precedence of each other kind of expression, by the kind of its node; what is missing is
    `primary`.
    """
    primary: int
    grouping_right: frozenset[str] = frozenset()
    """The binary operators that group to the right; all others group to the left. On the left of one that
    groups to the right, what begins with a sign needs parentheses: `(-a) ** b`.
    """
    anywhere: frozenset[str] = _ANY_FITS
    """Kinds of nodes in which an expression of any precedence needs no parentheses."""

    def of(self, node: Node) -> int:
        """How tightly an expression binds."""
        if node.kind == "binary_expression":
            return self.operators[node.operator]
        return self.expressions.get(node.kind, self.primary)

    def required(self, node: Node) -> int:
        """The least precedence that an expression needs at the place of this one to go without
        parentheses.
        """
        parent = node.parent
        if parent is None:
            return self.primary
        match parent.kind:
            case "binary_expression":
                # `a - (b - c)` keeps its parentheses.
                operator = parent.operator
                groups_right = operator in self.grouping_right
                if groups_right and node.field == "left":
                    return self.unary + 1
                return self.operators[operator] + (node.field == "right" and not groups_right)
            case "unary_expression" | "cast_expression":
                return self.unary
            case "ternary_expression":
                of_arms = {"condition": self.ternary + 1, "alternative": self.ternary}
                return of_arms.get(node.field or "", self.expressions["assignment_expression"])
            case "instanceof_expression":
                return self.expressions["instanceof_expression"]
            case "array_access":
                return 0 if node.field == "index" else self.primary
            case kind:
                return 0 if kind in self.anywhere else self.primary

    def operand(self, node: Node, least: int) -> tuple[Part, ...]:
        """An expression at a place that needs at least this precedence, in parentheses if necessary."""
        return grouped((span(node),), self.of(node), least)

    def replace(self, node: Node, parts: tuple[Part, ...], own: int) -> Patch:
        """The patch that replaces an expression by parts of precedence `own`, in parentheses if necessary."""
        return replace(node, *grouped(parts, own, self.required(node)))

    @property
    def ternary(self) -> int:
        """The precedence of `?:`."""
        return self.expressions["ternary_expression"]

    @property
    def disjunction(self) -> int:
        """The precedence of `||`."""
        return self.operators["||"]

    @property
    def conjunction(self) -> int:
        """The precedence of `&&`."""
        return self.operators["&&"]

    @property
    def sum(self) -> int:
        """The precedence of `+`."""
        return self.operators["+"]

    @property
    def unary(self) -> int:
        """The precedence of signs and `!`."""
        return self.expressions["unary_expression"]


def span(node: Node) -> Span:
    """The bytes of a node, unchanged."""
    return Span(node.start, node.end)


def grouped(parts: tuple[Part, ...], own: int, least: int) -> tuple[Part, ...]:
    """Parts of precedence `own` at a place that needs at least `least`, in parentheses if necessary."""
    return parts if own >= least else ("(", *parts, ")")


def replace(node: Node, *parts: Part) -> Patch:
    """The patch that replaces a node by these parts."""
    return Patch(node.start, node.end, parts)


def operator_span(node: Node) -> Span:
    """The bytes of a node's first token of its own, which is the operator of a binary expression."""
    _, start, end = node.tokens[0]
    return Span(start, end)


def replace_operator(node: Node, operator: str) -> Patch:
    """The patch that gives a binary expression or an assignment another operator."""
    mark = operator_span(node)
    return Patch(mark.start, mark.end, (operator,))


def with_operator(node: Node, operator: str) -> tuple[Part, ...]:
    """The parts of a binary expression with another operator."""
    mark = operator_span(node)
    return Span(node.start, mark.start), operator, Span(mark.end, node.end)


def shifted(text: bytes, add: bytes, drop: bytes) -> bytes:
    """The text with another indentation of all lines but the first."""
    first, *lines = text.split(b"\n")
    # A line without text stays as it is: blanks at its end would be new.
    return b"\n".join((first, *(add + line.removeprefix(drop) if line.strip() else line for line in lines)))


def outline(reading: ParsedText) -> tuple[str, ...]:
    """The syntax tree with its tokens, without parentheses around expressions.

    Texts with one outline differ only in blanks, comments and parentheses.
    """
    return tuple(_words(reading, reading.root))


def _words(reading: ParsedText, node: Node) -> Iterator[str]:
    """The outline of a part of the tree."""
    node = node.unparenthesized
    yield node.kind
    yield from (kind for kind, _, _ in node.tokens)
    if not node.children and not node.tokens:
        yield reading.text(node)
    yield "["
    for child in node.children:
        yield from _words(reading, child)
    yield "]"

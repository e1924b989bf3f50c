"""Rules that rewrite one Java method: what they ask of it, how they build patches, how results are checked.

`JavaSource` is one method, parsed and resolved once for all of its variants. A rule (`Rewriting`) finds its
sites with it. The functions below it build patches that keep the author's text and put parentheses where
precedence needs them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from typing import Final, TypeAlias

from codeaudit.transforms.errors import RESULT_NOT_PARSED, SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.library import KNOWN_TYPES
from codeaudit.transforms.java.analysis.scopes import JavaBinding, JavaScopes, resolve
from codeaudit.transforms.java.analysis.surroundings import in_own_class
from codeaudit.transforms.java.analysis.types import PRIMITIVE, Types, varies
from codeaudit.transforms.java.files import DISPUTED, ESCAPED, REBOUND, escaped
from codeaudit.transforms.java.parsing import TYPES, only_callable, read
from codeaudit.transforms.java.precedence import (
    ASSIGNMENT,
    EXPRESSIONS,
    OPERATORS,
    OR,
    PRIMARY,
    RELATION,
    TERNARY,
    UNARY,
)
from codeaudit.transforms.patches import HARD, Part, Patch, Site, Span, patched
from codeaudit.transforms.rules import OTHER_TREE, SiteRule
from codeaudit.transforms.syntax.reader import Node, ParsedText

LISTS: Final = frozenset({"block", "constructor_body", "switch_block_statement_group"})
"""Kinds of nodes that hold a list of statements."""
ANNOTATIONS: Final = frozenset({"annotation", "marker_annotation"})
_LEFT_ALONE: Final = ANNOTATIONS | {"switch_label"}

_ANY_FITS: Final = frozenset(
    {"parenthesized_expression", "argument_list", "variable_declarator", "assignment_expression",
     "return_statement", "throw_statement", "yield_statement", "expression_statement", "assert_statement",
     "array_initializer", "for_statement", "enhanced_for_statement", "lambda_expression", "dimensions_expr",
     "resource"}
)  # fmt: skip
"""Kinds of nodes in which an expression of any precedence needs no parentheses."""

COMMENT: Final = "comment between the parts"
OTHER_MEANING: Final = "a type may mean another one at this place"
_WORD: Final = re.compile(r"[\w$]+")


class JavaSource:
    """A method with the facts that rules ask for. It does not change after its creation."""

    def __init__(self, source: str) -> None:
        self.scopes: Final[JavaScopes] = resolve(source)
        self.reading: Final = self.scopes.reading
        self.source: Final = self.reading.source
        self.unit: Final = self.scopes.unit
        self.obstacle: Final = self._obstacle(source)
        """Why no rule may change this text, as a short reason to count; `None` if rules may."""

    def _obstacle(self, source: str) -> str | None:
        if escaped(source):
            return ESCAPED
        if self.reading.disputed:
            return DISPUTED
        if "\0" in source:  # patches mark hard line breaks with it
            return "zero character in the text"
        # `class String {}` in the method: then no rule knows what `String` means.
        own = self.unit.first("type_parameters")
        declared = self._inner_types | (self._declared_types(own) if own is not None else frozenset())
        return REBOUND if declared & KNOWN_TYPES else None

    # Text

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.reading.text(node)

    def line(self, node: Node) -> int:
        """The line on which a node begins, from 1."""
        return self.source.count(b"\n", 0, node.start) + 1

    @cached_property
    def newline(self) -> str:
        """The line break of this text."""
        return "\r\n" if b"\r\n" in self.source else "\n"

    def indentation(self, offset: int) -> str:
        """The blanks with which the line of an offset begins."""
        begin = self.source.rfind(b"\n", 0, offset) + 1
        line = self.source[begin:offset]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def starts_line(self, offset: int) -> bool:
        """Whether only blanks stand before an offset on its line."""
        return not self.source[self.source.rfind(b"\n", 0, offset) + 1 : offset].strip()

    @cached_property
    def step(self) -> str:
        """The indentation that one level of blocks adds; four blanks if no block shows it."""
        for node in self.unit.walk():
            if node.kind in ("block", "constructor_body") and node.children:
                inner, last = node.children[0], node.end - 1
                if self.starts_line(inner.start) and self.starts_line(last):
                    outside, inside = self.indentation(last), self.indentation(inner.start)
                    if len(inside) > len(outside) and inside.startswith(outside):
                        return inside[len(outside) :]
        return "    "

    def commented(self, start: int, end: int) -> bool:
        """Whether a comment stands in a range."""
        return any(start < stop and begin < end for _, begin, stop in self.reading.comments)

    def comments_between(self, start: int, *nodes: Node) -> bool:
        """Whether a comment stands between `start` and these nodes (in text order), or between them."""
        ends = (start, *(node.end for node in nodes))
        return any(self.commented(end, node.start) for end, node in zip(ends, nodes, strict=False))

    def comments_outside(self, node: Node, *kept: Node | Span) -> bool:
        """Whether a comment of a node stands outside of these parts, so that a rewriting would lose it."""
        return any(
            node.start <= start < node.end and not any(one.start <= start and stop <= one.end for one in kept)
            for _, start, stop in self.reading.comments
        )

    # Names

    def fresh(self, *stems: str) -> Iterator[str]:
        """Names that occur nowhere in the text: the stems, then the stems with numbers. Endless.

        In a compact constructor the components of the record are known, too, and they stand outside of the
        text: it gets no new names (`COMPACT`).
        """
        text = self.source.decode()
        for number in count():
            for stem in stems:
                name = stem if number == 0 else f"{stem}{number}"
                if name not in text:  # not even as part of another word, a string or a comment
                    yield name

    def binding(self, node: Node) -> JavaBinding | None:
        """The variable that an identifier names; `None` for other nodes and other names."""
        return self.scopes.binding(node)

    @property
    def compact(self) -> bool:
        """Whether it is a compact constructor, in which names are known that the text does not show."""
        return self.unit.kind == "compact_constructor_declaration"

    def names(self, node: Node) -> frozenset[str]:
        """Every word in a part of the text that may be a variable, a method or a type."""
        return frozenset(self.text(one) for one in node.walk() if one.kind.endswith("identifier"))

    # Types

    @cached_property
    def types(self) -> Types:
        """The static types of its expressions."""
        return Types(self.scopes)

    def type(self, node: Node) -> str | None:
        """The static type of an expression; `None` if the text does not determine it."""
        return self.types.of(node)

    @cached_property
    def _inner_types(self) -> frozenset[str]:
        """The names of the types that parts of the method declare: local classes, and type parameters."""
        own = self.unit.first("type_parameters")
        parts = [child for child in self.unit.children if child is not own]
        return frozenset().union(*map(self._declared_types, parts))

    def _declared_types(self, node: Node) -> frozenset[str]:
        """The names of the types and type parameters that a part of the text declares."""
        declared = (inner for inner in node.walk() if inner.kind in TYPES or inner.kind == "type_parameter")
        names = (inner.child("name") or inner.first("type_identifier") for inner in declared)
        return frozenset(self.text(name) for name in names if name is not None)

    def means_same(self, kind: str, place: Node) -> bool:
        """Whether a type that is spelt somewhere in the method may be written at this place, too.

        A local class or a type parameter may hide another type of its name, and so may a type that a class in
        the method inherits.
        """
        words = set(_WORD.findall(kind))
        if words & self._inner_types:
            return False
        return words <= PRIMITIVE | KNOWN_TYPES or in_own_class(place, self.unit)

    def varies(self, node: Node) -> bool:
        """Whether an expression is certainly not a constant expression (JLS 15.29)."""
        return varies(self.scopes, node)

    # Trees

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in the order of the text, without annotations and the labels of a switch."""
        found: list[Node] = []
        pending = [self.unit]
        while pending:
            node = pending.pop()
            found.append(node)
            pending += [child for child in reversed(node.children) if child.kind not in _LEFT_ALONE]
        return tuple(found)

    def site(self, node: Node, note: str, *patches: Patch) -> Site:
        """A site at a node with one option: these patches, which belong together."""
        return Site((patches,), note, self.line(node))


@lru_cache(maxsize=8)
def study(source: str) -> JavaSource:
    """A method as a `JavaSource`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is not exactly one method.
    """
    return JavaSource(source)


def precedence(node: Node) -> int:
    """How tightly an expression binds; a higher number binds tighter."""
    if node.kind == "binary_expression":
        return OPERATORS[node.operator]
    return EXPRESSIONS.get(node.kind, PRIMARY)


def required_precedence(node: Node) -> int:
    """The least precedence that an expression needs at the place of this one to go without parentheses."""
    parent = node.parent
    if parent is None:
        return PRIMARY
    match parent.kind:
        case "binary_expression":
            # All binary operators of Java group to the left: `a - (b - c)` keeps its parentheses.
            return OPERATORS[parent.operator] + (node.field == "right")
        case "unary_expression" | "cast_expression":
            return UNARY
        case "ternary_expression":
            return {"condition": OR, "alternative": TERNARY}.get(node.field or "", ASSIGNMENT)
        case "instanceof_expression":
            return RELATION
        case "array_access":
            return 0 if node.field == "index" else PRIMARY
        case kind:
            return 0 if kind in _ANY_FITS else PRIMARY


def span(node: Node) -> Span:
    """The bytes of a node, unchanged."""
    return Span(node.start, node.end)


def grouped(parts: tuple[Part, ...], own: int, least: int) -> tuple[Part, ...]:
    """Parts of precedence `own` at a place that needs at least `least`, in parentheses if necessary."""
    return parts if own >= least else ("(", *parts, ")")


def operand(node: Node, least: int) -> tuple[Part, ...]:
    """An expression at a place that needs at least this precedence, in parentheses if necessary."""
    return grouped((span(node),), precedence(node), least)


def replace(node: Node, *parts: Part) -> Patch:
    """The patch that replaces a node by these parts."""
    return Patch(node.start, node.end, parts)


def replace_grouped(node: Node, parts: tuple[Part, ...], own: int) -> Patch:
    """The patch that replaces an expression by parts of precedence `own`, in parentheses if necessary."""
    return replace(node, *grouped(parts, own, required_precedence(node)))


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


def following(node: Node) -> list[Node] | None:
    """The statements behind one in its list; `None` for a lone statement, as in `if (c) f();`."""
    parent = node.parent
    if parent is None or parent.kind not in LISTS:
        return None
    return [child for child in parent.children if child.kind != "switch_label" and child.start >= node.end]


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────

Find: TypeAlias = Callable[[JavaSource], Iterator[Site | Refused]]
Rewrite: TypeAlias = Callable[[JavaSource, Node], Site | Refused | None]
"""What a rule does at one node: a site, a refusal with its reason, or `None` where it is no candidate."""


def each(*kinds: str) -> Callable[[Rewrite], Find]:
    """Makes the `find` of a rule from what it does at one node of these kinds."""

    def found(rewrite: Rewrite) -> Find:
        def find(code: JavaSource) -> Iterator[Site | Refused]:
            for node in code.nodes:
                if node.kind in kinds and (result := rewrite(code, node)) is not None:
                    yield result

        return find

    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting(SiteRule):
    """A rule about one method.

    Evidence is `parsed` if the proof is an equal syntax tree (without parentheses), else `analysis`.
    """

    languages: frozenset[str] = field(default=frozenset({"java"}))

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The sites of the rule in a method.

        Raises:
            SourceError: the source cannot be parsed, or is not one method.
        """
        code = study(source)
        return self.find(code) if code.obstacle is None else (Refused(code.obstacle),)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """The patched text; refused if it is not a method, or if its tree differs where it must be equal."""
        code = study(source)
        text = patched(_hardened(code), patches, _shifted).decode()
        try:
            result = read(text)
            only_callable(result)
        except SourceError:
            return Refused(RESULT_NOT_PARSED)
        if result.disputed:
            return Refused(DISPUTED)
        if self.proof == "analysis":
            return Rewritten(source=text, evidence="analysis")
        if _outline(result) != _outline(code.reading):
            return Refused(OTHER_TREE)
        return Rewritten(source=text, evidence="parsed")


def _shifted(text: bytes, add: bytes, drop: bytes) -> bytes:
    """The text with another indentation of all lines but the first."""
    first, *lines = text.split(b"\n")
    # A line without text stays as it is: blanks at its end would be new.
    return b"\n".join((first, *(add + one.removeprefix(drop) if one.strip() else one for one in lines)))


def _hardened(code: JavaSource) -> bytes:
    """The text with the line breaks of text blocks marked, because their indentation is part of their
    value.
    """
    source = bytearray(code.source)
    for node in code.unit.walk():
        if node.kind == "string_literal" and node.has('"""'):
            piece = bytes(source[node.start : node.end])
            source[node.start : node.end] = piece.replace(b"\n", HARD)
    return bytes(source)


def _outline(reading: ParsedText) -> tuple[str, ...]:
    """The syntax tree with its tokens, without parentheses around expressions."""
    return tuple(_words(reading, reading.root))


def _words(reading: ParsedText, node: Node) -> Iterator[str]:
    """The outline of a part of the tree."""
    node = node.unparenthesized
    # Methods with one outline differ only in blanks, comments and parentheses.
    yield node.kind
    yield from (kind for kind, _, _ in node.tokens)
    if not node.children and not node.tokens:
        yield reading.text(node)
    yield "["
    for child in node.children:
        yield from _words(reading, child)
    yield "]"

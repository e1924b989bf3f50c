"""Rules that rewrite one function of JavaScript or TypeScript: what they ask of it, and how results are
checked.

`JavaScriptSource` answers the questions of the strategies (`strategies.dialect`) that do not depend on types.
It answers none about operands: what is evaluated, and in which order, stays as it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.javascript.analysis.scopes import IN_BLOCK, resolve
from codeaudit.transforms.javascript.dialect import DIALECT, FOR_A_TOOL
from codeaudit.transforms.javascript.identifiers.rename import unreadable
from codeaudit.transforms.javascript.parsing import FUNCTIONS, JAVASCRIPT, read_unit
from codeaudit.transforms.patches import Site
from codeaudit.transforms.strategies.dialect import CodeText, TextRule
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.reader import EMPTY, Node, ParsedText

NO_SEMICOLON: Final = "semicolon left out"
BESIDE: Final = "comment over several lines beside code"
ZERO: Final = "zero character in the text"
_ENDED: Final = frozenset(
    {"expression_statement", "local_variable_declaration", "return_statement", "throw_statement",
     "break_statement", "continue_statement", "debugger_statement", "field_definition"}
)  # fmt: skip
"""Kinds of nodes that end with a semicolon, which may be left out at the end of a line."""
_LINED: Final = frozenset({"string_literal", "template_string", "jsx_element", "jsx_self_closing_element"})
_LOOSE: Final = frozenset({"parenthesized_expression"})


class JavaScriptSource(CodeText):
    """A function with the facts that rules ask for. It does not change after its creation."""

    def __init__(self, source: str, language: str) -> None:
        super().__init__(resolve(source, language), DIALECT)

    @cached_property
    def obstacle(self) -> str | None:
        """Why no rule may change this text, as a short reason to count; `None` if rules may.

        Without its semicolon a statement may go on with what an edit puts behind it. A function in a block is
        known outside of it or not, depending on the mode.
        """
        if self.obstacle_to_layout is not None:
            return self.obstacle_to_layout
        for node in self.unit.walk():
            if node.kind in _ENDED and not node.has(";") and not self._needs_none(node):
                return NO_SEMICOLON
            if node.kind == "function_declaration" and not self._is_at_top(node):
                return IN_BLOCK
        return None

    @cached_property
    def obstacle_to_layout(self) -> str | None:
        """The same for a rule that keeps the tree: where a statement ends is seen in the tree."""
        if (reason := unreadable(self.scopes)) is not None:
            return reason
        if b"\0" in self.source:
            return ZERO  # patches mark hard line breaks with it
        for _, start, end in self.reading.comments:
            lines = b"\n" in self.source[start:end]
            if lines and (self.source[end:].partition(b"\n")[0].strip() or not self.starts_line(start)):
                return BESIDE
        return None

    def _needs_none(self, node: Node) -> bool:
        """Whether no semicolon of its own stands behind a node in any case."""
        # The unit itself ends the text; the head of a `for` has semicolons of its own.
        if node is self.unit or (node.parent is not None and node.parent is self.unit):
            return True
        return node.kind == "field_definition" and self.source[node.end :].lstrip().startswith(b";")

    def _is_at_top(self, node: Node) -> bool:
        parent = node.parent
        if node is self.unit or parent is self.unit or parent is None:
            return True
        above = parent.parent
        return parent.kind == "block" and above is not None and above.kind in FUNCTIONS

    def is_multiline(self, node: Node) -> bool:
        """Whether it is a template, a string or markup with line breaks."""
        return node.kind in _LINED and b"\n" in self.source[node.start : node.end]

    def is_for_tool(self, comment: str) -> bool:
        """Whether it may be an order to a tool."""
        return FOR_A_TOOL.search(comment) is not None

    def varies(self, node: Node) -> bool:
        """No compiler evaluates a condition. But a name of it may mean another variable inside of the body of
        its loop."""
        loop = next((one for one in node.ancestors() if one.kind not in _LOOSE), None)
        if loop is None or loop.kind not in LOOPS:
            return True
        body = loop.child("body")
        return body is None or not self.names(node) & self.declared_in(body)

    def patterns(self, node: Node) -> list[str]:
        """None: no variable is known only where a condition holds."""
        return []

    def is_inferred(self, node: Node) -> bool:
        """Nothing is; a condition that is left out is no operand."""
        return node.kind == EMPTY

    def is_boolean(self, node: Node) -> bool:
        """Whether only the truth of an operation is used: it is a condition, or a part of one."""
        parent = node.parent
        if parent is None:
            return False
        match parent.kind:
            case "parenthesized_expression":
                return (parent.field == "condition" and _has_condition(parent)) or self.is_boolean(parent)
            case "unary_expression":
                return parent.operator == "!"
            case "binary_expression":
                return parent.operator in ("&&", "||") and self.is_boolean(parent)
            case _:
                return node.field == "condition" and _has_condition(node)

    def has_opposite(self, node: Node) -> bool:
        """Whether it is a test for equality. `a < b` and `a >= b` may both be false."""
        return node.operator in DIALECT.opposites


def _has_condition(node: Node) -> bool:
    """Whether a node stands where only its truth is used."""
    return node.parent is not None and node.parent.kind in LOOPS | {"if_statement", "ternary_expression"}


@lru_cache(maxsize=8)
def study(source: str, language: str = JAVASCRIPT) -> JavaScriptSource:
    """A function as a `JavaScriptSource`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is not exactly one function.
    """
    return JavaScriptSource(source, language)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptRewriting(TextRule):
    """A rule about one function of JavaScript or TypeScript."""

    languages: frozenset[str] = field(default=frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT

    def study(self, source: str) -> JavaScriptSource:
        """A function as a `JavaScriptSource`.

        Raises:
            SourceError: the text does not parse, or is not exactly one function.
        """
        return study(source, self.language)

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """As of any rule; what only moves blanks and comments asks for less.

        Raises:
            SourceError: as in `study`.
        """
        code = self.study(source)
        obstacle = code.obstacle if self.proof == "analysis" else code.obstacle_to_layout
        return self.find(code) if obstacle is None else (Refused(obstacle),)

    def reread(self, text: str) -> ParsedText:
        """A result, which has to be one function whose names are declared once.

        Raises:
            SourceError: the text does not parse, or is something else.
        """
        resolve.__wrapped__(text, self.language)
        reading, _ = read_unit(text, self.language)
        return reading

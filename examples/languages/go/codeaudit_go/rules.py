"""The strategies that Go shares with other languages, and what Go answers them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from codeaudit.transforms.strategies import branches, layout, literals, logic, operands
from codeaudit.transforms.strategies.dialect import UNKNOWN, CodeText, Dialect, TextRule
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.reader import Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import Precedence
from codeaudit_go.reading import only_function, read
from codeaudit_go.scopes import resolve

_LEVELS: Sequence[str] = ("||", "&&", "== != < <= > >=", "+ - | ^", "* / % << >> & &^")
_UNARY, _PRIMARY = 6, 7
_NUMBERS = frozenset({"int_literal", "float_literal", "imaginary_literal", "rune_literal"})
_LITERALS = _NUMBERS | {"string_literal", "raw_string_literal"}
_BESIDE_LITERALS = frozenset(
    {"identifier", "call_expression", "selector_expression", "index_expression", "parenthesized_expression"}
)
"""What may be evaluated before or after a literal, and does not begin with an operator."""
_SAFE = frozenset({"+", "-", "*", "&", "|", "^", "&^", "&&", "||", "<", "<=", ">", ">="})
"""Operators that never fail on operands that do not."""
_INTEGERS = frozenset(
    {"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
     "byte", "rune"}
)  # fmt: skip
_DECIMAL, _HEXADECIMAL = re.compile(r"0|[1-9][0-9]*"), re.compile(r"0[xX][0-9a-fA-F]+")

DIALECT = Dialect(
    precedence=Precedence(
        operators={sign: level for level, row in enumerate(_LEVELS, 1) for sign in row.split()},
        expressions={"unary_expression": _UNARY},
        primary=_PRIMARY,
        anywhere=frozenset(
            {"parenthesized_expression", "argument_list", "return_statement", "short_var_declaration",
             "var_spec", "const_spec", "assignment_statement", "if_statement", "for_clause", "for_statement",
             "expression_case"}
        ),
    ),
    flow=Flow(nested=frozenset({"func_literal"}), varying=frozenset(), plain_labels=frozenset()),
    # The tag of a field is a literal.
    left_alone=frozenset({"field_declaration"}),
    numbers=frozenset({"int_literal"}),
    texts=frozenset({"string_literal", "raw_string_literal"}),
    # No calls: of several results one cannot stand in parentheses.
    wrapped=frozenset(
        {"binary_expression", "identifier", "selector_expression", "int_literal", "float_literal",
         "string_literal"}
    ),
)  # fmt: skip


class GoText(CodeText):
    """One function, with the answers of Go."""

    def is_boolean(self, node: Node) -> bool:
        return True  # Go has `!`, `&&` and `||` for booleans alone

    def is_inferred(self, node: Node) -> bool:
        return False

    def spellings(self, node: Node) -> list[str]:
        """`255` as `0xff`. Digits are not grouped, which old versions of Go do not know."""
        text = self.text(node)
        if _DECIMAL.fullmatch(text):
            return [f"{int(text):#x}"]
        return [str(int(text, 16))] if _HEXADECIMAL.fullmatch(text) else []

    def has_opposite(self, node: Node) -> bool:
        """`!=` is the opposite of `==` for all types; `>=` that of `<` where there is no NaN."""
        return node.operator in DIALECT.opposites or self._is_integral(node)

    def commutes(self, node: Node) -> str | None:
        """A sum may be one of strings, and a product of two NaN keeps the bits of one."""
        return UNKNOWN if node.operator in ("+", "*") and not self._is_integral(node) else None

    def is_unordered(self, node: Node) -> bool:
        left, right = (child.unparenthesized for child in node.children)
        if self._is_literal(left) or self._is_literal(right):
            return all(self._is_literal(child) or child.kind in _BESIDE_LITERALS for child in node.children)
        return self._is_quiet(left) and self._is_quiet(right)

    def _is_literal(self, node: Node) -> bool:
        if node.kind == "unary_expression" and node.operator in ("-", "+"):
            node = node.children[0]
        return node.kind in _LITERALS or (
            self.text(node) in ("true", "false", "nil") and self._is_outer(node)
        )

    def _is_quiet(self, node: Node) -> bool:
        """Whether nobody sees when an expression is evaluated: it calls nothing and cannot fail."""
        node = node.unparenthesized
        match node.kind:
            case "identifier":
                return True
            case "unary_expression":
                return node.operator in ("-", "+", "!") and self._is_quiet(node.children[0])
            case "binary_expression":
                return node.operator in _SAFE and all(map(self._is_quiet, node.children))
            case "call_expression":
                return self._is_length(node)
            case kind:
                return kind in _LITERALS

    def _is_length(self, node: Node) -> bool:
        """Whether an expression is `len(x)`."""
        if node.kind != "call_expression" or self.text(node.part("function")) not in ("len", "cap"):
            return False
        inner = node.part("arguments").children
        return self._is_outer(node.part("function")) and [part.kind for part in inner] == ["identifier"]

    def _is_outer(self, node: Node) -> bool:
        binding = self.scopes.at.get(node.start)
        return binding is not None and binding.view == "outer"

    def _is_integral(self, node: Node) -> bool:
        """Whether both operands are integers: Go converts none of them, so one is enough."""
        for side in node.children:
            operand = side.unparenthesized
            binding = self.binding(operand)
            if self._is_length(operand) or (binding is not None and self._is_of_integer(binding)):
                return True
        return False

    def _is_of_integer(self, binding: Binding) -> bool:
        node = binding.node
        if node is None:
            return False
        if node.kind in ("parameter_declaration", "var_spec") and (kind := node.child("type")) is not None:
            return self.text(kind) in _INTEGERS and self._is_outer(kind)
        if node.kind != "short_var_declaration" or len(node.children) != 2:
            return False
        value = node.part("right")
        return value.kind == "int_literal" or self._is_length(value)


@lru_cache(maxsize=8)
def study(source: str) -> GoText:
    """One function, read and resolved once for all of its variants."""
    return GoText(resolve(source), DIALECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoRule(TextRule):
    """A strategy on one Go function."""

    languages: frozenset[str] = field(default=frozenset({"go"}))

    def study(self, source: str) -> GoText:
        return study(source)

    def reread(self, text: str) -> ParsedText:
        reading = read(text)
        only_function(reading)
        return reading


INVERT_IF = GoRule.of(branches.INVERT_IF)
NEST_ELIF = GoRule.of(branches.NEST_ELIF)
FLATTEN_ELIF = GoRule.of(branches.FLATTEN_ELIF)
IF_INVERTED_WRONG = GoRule.of(branches.IF_INVERTED_WRONG)
DE_MORGAN = GoRule.of(logic.DE_MORGAN)
DOUBLE_NEGATION = GoRule.of(logic.DOUBLE_NEGATION)
NEGATE_COMPARISONS = GoRule.of(logic.NEGATE_COMPARISONS)
DE_MORGAN_WRONG = GoRule.of(logic.DE_MORGAN_WRONG)
NEGATION_DROPPED = GoRule.of(logic.NEGATION_DROPPED)
FLIP_COMPARISONS = GoRule.of(operands.FLIP_COMPARISONS)
SWAP_OPERANDS = GoRule.of(operands.SWAP_OPERANDS)
COMPARISON_FLIPPED_WRONG = GoRule.of(operands.COMPARISON_FLIPPED_WRONG)
LITERAL_BASES = GoRule.of(literals.LITERAL_BASES)
SPLIT_STRINGS = GoRule.of(literals.SPLIT_STRINGS)
JOIN_STRINGS = GoRule.of(literals.JOIN_STRINGS)
LITERAL_CHANGED = GoRule.of(literals.LITERAL_CHANGED)
STRING_CHANGED = GoRule.of(literals.STRING_CHANGED)
INSERT_COMMENTS = GoRule.of(layout.INSERT_COMMENTS)
INSERT_BLANK_LINES = GoRule.of(layout.INSERT_BLANK_LINES)
REMOVE_BLANK_LINES = GoRule.of(layout.REMOVE_BLANK_LINES)
SPLIT_LINES = GoRule.of(layout.SPLIT_LINES)
JOIN_LINES = GoRule.of(layout.JOIN_LINES)
INDENTATION = GoRule.of(layout.INDENTATION)
SPACING = GoRule.of(layout.SPACING)
INSERT_PARENTHESES = GoRule.of(layout.INSERT_PARENTHESES)
REMOVE_PARENTHESES = GoRule.of(layout.REMOVE_PARENTHESES)

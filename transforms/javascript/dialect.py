"""How JavaScript spells what the strategies rewrite (`strategies.dialect`)."""

import re
from typing import Final

from codeaudit.transforms.javascript.parsing import FUNCTIONS
from codeaudit.transforms.strategies.dialect import Dialect
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.text import Precedence

FOR_A_TOOL: Final = re.compile(
    r"[@#]|^.!|/\*!|\b(?:eslint|tslint|jshint|jslint|jscs|istanbul|c8|prettier|globals?|exported|webpack|vite|"
    r"sourceMappingURL|sourceURL|biome|deno|oxlint|falls?[\s-]?through|no default|region|endregion|"
    r"noinspection|codeql|lgtm|NOSONAR|nosemgrep|formatter|language=)",
    re.IGNORECASE,
)
"""A comment that a tool may read."""

ASSIGNMENT: Final = 1
TERNARY: Final = 2
OPERATORS: Final = {
    "??": 3, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "===": 8, "!==": 8,
    "<": 9, ">": 9, "<=": 9, ">=": 9, "in": 9, "instanceof": 9,
    "<<": 10, ">>": 10, ">>>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12, "**": 13,
}  # fmt: skip
"""The precedence of each binary operator (ECMAScript 2024, chapter 13)."""
EXPRESSIONS: Final = {
    "sequence_expression": 0, "lambda_expression": ASSIGNMENT, "assignment_expression": ASSIGNMENT,
    "yield_expression": ASSIGNMENT, "ternary_expression": TERNARY, "unary_expression": 14,
    "await_expression": 14, "update_expression": 15, "instanceof_expression": 9, "cast_expression": 14,
    "as_expression": 9, "satisfies_expression": 9, "type_assertion": 14,
}  # fmt: skip
"""The precedence of each other kind of expression; what is missing is a primary one."""

DIALECT: Final = Dialect(
    precedence=Precedence(
        operators=OPERATORS, expressions=EXPRESSIONS, primary=16, grouping_right=frozenset({"**"})
    ),
    flow=Flow(
        nested=FUNCTIONS | {"class_body"},
        varying=frozenset(),  # no compiler of JavaScript looks for constants
        plain_labels=frozenset(),
    ),
    types=frozenset({"class_declaration", "function_declaration"}),
    opposites={"==": "!=", "!=": "==", "===": "!==", "!==": "==="},
    texts=frozenset(
        {"string_literal", "template_string", "jsx_element", "jsx_self_closing_element", "regex"}
    ),
    owners=FUNCTIONS | {"class_body"},
)  # fmt: skip

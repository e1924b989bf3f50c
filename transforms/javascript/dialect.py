"""How JavaScript spells what the strategies rewrite (`strategies.dialect`)."""

import re
from dataclasses import replace
from typing import Final

from codeaudit.transforms.javascript.parsing import FUNCTIONS
from codeaudit.transforms.strategies.dialect import Dialect, Fillers
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.text import Precedence

FOR_A_TOOL: Final = re.compile(
    r"[@#]|^.!|/\*!|\bSPDX-|\bcopyright\b|\b(?:eslint|tslint|jshint|jslint|jscs|istanbul|c8|prettier|globals?|exported|webpack|vite|"
    r"sourceMappingURL|sourceURL|biome|deno|oxlint|falls?[\s-]?through|no default|region|endregion|"
    r"noinspection|codeql|lgtm|NOSONAR|nosemgrep|formatter|language=|v8 ignore|node:coverage|turbopack|"
    r"rspack|graphql|translators:|dprint|cspell|stryker|jscpd)",
    re.IGNORECASE,
)
"""A comment that a tool may read."""

BEGINNINGS: Final = ("{", "/", "`", "[", "function", "class", "async", "let")
"""What no expression begins with that a rule puts in front of a statement or of the body of an arrow: there
it may be something else, or go on with the line above."""
CONTINUING: Final = (*"([`+-*/.,?%&|^<>=:;", "in", "instanceof")
"""What a line may begin with that continues a statement above without a semicolon, or ends it."""
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
    for_a_tool=FOR_A_TOOL,
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
    left_alone=frozenset(
        {"type_annotation", "type_arguments", "type_parameters", "type_alias_declaration",
         "interface_declaration", "asserts_annotation", "type_predicate_annotation", "enum_declaration",
         "literal_type",
         "template_literal_type", "type_query", "implements_clause", "function_signature", "decorator"}
    ),
    numbers=frozenset({"number"}),
    commuting=frozenset({"+", "*", "&", "|", "^", "==", "!=", "===", "!=="}),
    booleans={"true": (("!false", 14), ("!0", 14)), "false": (("!true", 14), ("!1", 14))},
    targets=frozenset({"number", "string", "boolean"}),
    wrapped=frozenset({"binary_expression", "unary_expression", "number"}),
    fillers=Fillers(
        constants=(("let", "0"), ("const", "1"), ("const", "''"), ("let", "null"), ("const", "false")),
        forms={
            "number": (("const", "{} + 1"), ("let", "{} * 2"), ("const", "-{}")),
            "string": (("const", "{} + 'a'"), ("let", "{}.length")),
            "boolean": (("const", "!{}"), ("let", "{} ? 1 : 0")),
        },
        of_objects=(("const", "typeof {}"),),
        others={"number": "{} + 1", "string": "{} + 'a'", "boolean": "!{}"},
    ),
    wide=frozenset({"number"}),
    numeric=frozenset({"number"}),
    primitive=frozenset({"number", "string", "boolean"}),
)  # fmt: skip

TYPED: Final = replace(DIALECT, never=("if ({1})", "if (1 > 2)", "if (!{0})"))
"""The same for TypeScript, which refuses to compare two literals that differ."""

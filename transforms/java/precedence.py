"""How tightly Java's expressions bind (Java Language Specification, chapter 15).

A higher number binds tighter. The rules put parentheses by these numbers (`rewriting`), and the second reader
checks the parser's trees by them (`second_reader`).
"""

from typing import Final

ASSIGNMENT: Final = 1
TERNARY: Final = 2
OR: Final = 3
AND: Final = 4
EQUALITY: Final = 8
RELATION: Final = 9
SUM: Final = 11
UNARY: Final = 13
PRIMARY: Final = 15
OPERATORS: Final = {
    "||": OR, "&&": AND, "|": 5, "^": 6, "&": 7, "==": EQUALITY, "!=": EQUALITY,
    "<": RELATION, ">": RELATION, "<=": RELATION, ">=": RELATION,
    "<<": 10, ">>": 10, ">>>": 10, "+": SUM, "-": SUM, "*": 12, "/": 12, "%": 12,
}  # fmt: skip
"""The precedence of each binary operator. All of them group to the left."""
EXPRESSIONS: Final = {
    "lambda_expression": 0, "assignment_expression": ASSIGNMENT, "switch_expression": ASSIGNMENT,
    "ternary_expression": TERNARY, "instanceof_expression": RELATION, "unary_expression": UNARY,
    "cast_expression": UNARY, "update_expression": UNARY,
}  # fmt: skip
"""The precedence of each other kind of expression, by the kind of its node; what is missing is `PRIMARY`."""

"""How C spells what the strategies rewrite (`strategies.dialect`)."""

import re
from typing import Final

from codeaudit.transforms.strategies.dialect import Dialect, Fillers
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.text import Precedence

FOR_A_TOOL: Final = re.compile(
    r"[@#$!]|^/\*\*|\b(?:NOLINT\w*|lint|ARGSUSED|NOTREACHED|FALL[-_ ]?THRU|falls?[-_ ]?thr\w*|no break|"
    r"pragma|clang-format|clang-tidy|coverity|cppcheck|LCOV_\w*|GCOV\w*|SPDX|IWYU|PVS|NOSONAR|codeql|lgtm|"
    r"splint|MISRA|Polyspace|indent|astyle|uncrustify|nosemgrep|flawfinder|RATS)",
    re.IGNORECASE,
)
"""A comment that a tool or a compiler may read, such as `fall through`."""

UNARY: Final = 13
PRIMARY: Final = 15
OPERATORS: Final = {
    "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9, ">": 9, "<=": 9, ">=": 9,
    "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12,
}  # fmt: skip
"""The precedence of each binary operator (ISO/IEC 9899:2018, 6.5)."""
EXPRESSIONS: Final = {
    "sequence_expression": 0, "assignment_expression": 1, "ternary_expression": 2,
    "unary_expression": UNARY, "pointer_expression": UNARY, "cast_expression": UNARY,
    "sizeof_expression": UNARY, "alignof_expression": UNARY, "update_expression": UNARY,
    "extension_expression": UNARY,
}  # fmt: skip
"""The precedence of each other kind of expression; what is missing is a primary one."""

PROMOTED: Final = frozenset({"char", "signed char", "unsigned char", "short", "short int", "_Bool", "bool"})
"""Types that become `int` in an operation."""
WHOLE: Final = frozenset({"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"})
"""Types of whole numbers that an operation keeps."""
FIXED: Final = frozenset(
    {"size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "int8_t", "int16_t", "int32_t", "int64_t",
     "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intmax_t", "uintmax_t"}
)  # fmt: skip
"""Types of whole numbers that the C standard names."""
FRACTIONS: Final = frozenset({"float", "double", "long double"})
POINTER: Final = "pointer"
"""The type of all pointers."""
INTEGRAL: Final = WHOLE | FIXED | PROMOTED | {"unsigned short"}
ARITHMETIC: Final = INTEGRAL | FRACTIONS
SCALAR: Final = ARITHMETIC - {"_Bool", "bool"} | {POINTER}

DIALECT: Final = Dialect(
    precedence=Precedence(
        operators=OPERATORS,
        expressions=EXPRESSIONS,
        primary=PRIMARY,
        anywhere=frozenset(
            {"parenthesized_expression", "argument_list", "variable_declarator", "assignment_expression",
             "return_statement", "expression_statement", "array_initializer", "for_statement"}
        ),
    ),
    flow=Flow(
        nested=frozenset({"function_definition"}),
        varying=frozenset({"method_invocation", "assignment_expression", "update_expression"}),
        plain_labels=frozenset({"decimal_integer_literal", "character_literal", "identifier"}),
    ),
    types=frozenset({"type_definition", "struct_specifier", "union_specifier", "enum_specifier"}),
    left_alone=frozenset(
        {"switch_label", "gnu_asm_expression", "attribute_specifier", "attribute_declaration",
         "enum_specifier", "bitfield_clause", "struct_specifier", "union_specifier", "alignas_qualifier",
         "ms_declspec_modifier", "macro_type_specifier", "generic_expression", "offsetof_expression",
         "type_definition", "subscript_designator"}
    ),
    numbers=frozenset({"decimal_integer_literal"}),
    joint=" ",
    truth=("1", "0"),
    for_a_tool=FOR_A_TOOL,
    targets=SCALAR,
    wide=SCALAR,
    numeric=SCALAR,
    whole=WHOLE,
    primitive=ARITHMETIC | {POINTER},
    wrapped=frozenset(
        {"binary_expression", "ternary_expression", "identifier", "field_access", "array_access",
         "method_invocation", "decimal_integer_literal"}
    ),
    owners=frozenset({"function_definition"}),
    fillers=Fillers(
        constants=(("int", "0"), ("int", "1"), ("long", "2L"), ("char", "'a'"), ("unsigned int", "3u")),
        forms={
            **dict.fromkeys(INTEGRAL, (("int", "!{}"), ("int", "{} != 0"), ("int", "{} == 1"))),
            **dict.fromkeys(FRACTIONS, (("int", "{} > 0"), ("int", "{} < 1"))),
            POINTER: (("int", "!{}"), ("int", "{} != 0")),
        },
        of_objects=(("int", "!{}"),),
        others={**dict.fromkeys(WHOLE, "{} ^ 1"), **dict.fromkeys(("double", "float"), "{} + 1")},
    ),
)  # fmt: skip

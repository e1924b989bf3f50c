"""How Java spells what the strategies rewrite (`strategies.dialect`)."""

import re
from typing import Final

from codeaudit.transforms.java.analysis.types import NULL, NUMERIC, PRIMITIVE, STRING
from codeaudit.transforms.java.parsing import FLOW, TYPES
from codeaudit.transforms.java.precedence import EXPRESSIONS, OPERATORS, PRIMARY, RELATION, UNARY
from codeaudit.transforms.strategies.dialect import Dialect, Fillers
from codeaudit.transforms.syntax.text import Precedence

ANNOTATIONS: Final = frozenset({"annotation", "marker_annotation"})
DIRECTIVE: Final = re.compile(
    r"/[/*]\s*(?:noinspection|CHECKSTYLE|NOPMD|NOSONAR|NOLINT|\$NON-NLS|@formatter|language=|spotless|"
    r"SPOTLESS|CSOFF|CSON|region|endregion|lgtm|codeql|fall[\s-]?through|\$FALL)",
    re.IGNORECASE,
)
"""A comment that a tool reads."""

_FILLERS: Final = Fillers(
    constants=(("int", "0"), ("int", "1"), ("int", "-1"), ("int", "100"), ("long", "10L"), ("double", "0.5"),
               ("boolean", "true"), ("boolean", "false"), ("char", "'a'")),
    forms={
        "int": (("int", "{} + 1"), ("int", "{} * 2"), ("boolean", "{} > 0"), ("long", "{}")),
        "long": (("long", "{} + 1"), ("boolean", "{} > 0")),
        "char": (("int", "{} + 1"), ("boolean", "{} == 'a'")),
        "short": (("int", "{} + 1"),),
        "byte": (("int", "{} + 1"),),
        "float": (("boolean", "{} > 0"), ("double", "{}")),
        "double": (("double", "{} * 2"), ("boolean", "{} > 0")),
        "boolean": (("boolean", "!{}"), ("boolean", "{}")),
    },
    of_objects=(("boolean", "{} == null"), ("boolean", "{} != null")),
    others={"int": "7", "long": "7L", "double": "0.25", "boolean": "!{}", "char": "'q'", STRING: '"~"'},
)  # fmt: skip

DIALECT: Final = Dialect(
    precedence=Precedence(operators=OPERATORS, expressions=EXPRESSIONS, primary=PRIMARY),
    flow=FLOW,
    types=TYPES,
    left_alone=ANNOTATIONS | {"switch_label"},
    numbers=frozenset({"decimal_integer_literal", "hex_integer_literal"}),
    booleans={
        "true": (("!false", UNARY), ("1 == 1", RELATION - 1)),
        "false": (("!true", UNARY), ("1 == 0", RELATION - 1)),
    },
    fractions=frozenset({"decimal_floating_point_literal"}),
    wrapped=frozenset(
        {"binary_expression", "ternary_expression", "method_invocation", "identifier", "cast_expression",
         "instanceof_expression", "string_literal", "decimal_integer_literal", "array_access",
         "field_access", "unary_expression", "object_creation_expression"}
    ),
    owners=frozenset(
        {"lambda_expression", "class_body", "record_declaration", "enum_body", "interface_body"}
    ),
    fillers=_FILLERS,
    targets=frozenset({"int", "long", "float", "double", "boolean", STRING}),
    wide=frozenset({"int", "long", "float", "double"}),
    whole=frozenset({"int", "long"}),
    numeric=NUMERIC,
    primitive=PRIMITIVE,
    nothing=NULL,
)  # fmt: skip

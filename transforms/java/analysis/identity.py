"""Whether a text shows that somebody asks which text is the same object as another one.

A sum of texts that is no constant makes a new object (Java Language Specification, 15.18.1), though a
compiler may give an old one: `"" + true` may be the constant "true". A rule that builds the same text in
another way asks here.

What is compared with `==` is known by the names and types that the file declares. Where no name is known on
either side, the comparison is taken for one of numbers or of other objects.
"""

from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.parsing import read_file
from codeaudit.transforms.syntax.reader import Node, ParsedText

_ASKING: Final = frozenset(
    {"identityHashCode", "IdentityHashMap", "intern", "WeakReference", "SoftReference"}
)
"""Words that tell texts apart by their identity."""
_TEXTS: Final = frozenset({"String", "Object", "CharSequence", "Comparable", "Serializable", "var"})
"""The types that a text may have, beside type parameters."""
_NO_TEXTS: Final = frozenset(
    {"null_literal", "this", "class_literal", "character_literal", "true", "false", "unary_expression",
     "update_expression", "instanceof_expression", "array_creation_expression", "decimal_integer_literal",
     "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal"}
)  # fmt: skip


@lru_cache(maxsize=8)
def compares_texts(text: str) -> bool:
    """Whether a method, or a file, may compare texts by their identity, or lock one.

    A text that cannot be read may.
    """
    if not any(word in text for word in ("==", "!=", "synchronized", *_ASKING)):
        return False
    try:
        reading = read_file(text)
    except SourceError:
        return True
    if reading.unread or any(word in text for word in _ASKING):
        return True
    kinds = _declared(reading)
    for node in reading.root.walk():
        if node.kind == "binary_expression" and node.operator in ("==", "!="):
            sides = [_is_text(reading, side.unparenthesized, kinds) for side in node.children]
            if True in sides and False not in sides:
                return True
        elif node.kind == "synchronized_statement" and _is_text(
            reading, node.children[0].unparenthesized, kinds
        ):
            return True
    return False


def _declared(reading: ParsedText) -> dict[str, bool]:
    """Whether a variable or method of each name may be a text, for all that the reading declares."""
    variables = {
        reading.text(name)
        for node in reading.root.walk()
        if node.kind == "type_parameter"
        for name in node.children
        if name.kind == "type_identifier"
    }
    texts = _TEXTS | variables
    found: dict[str, bool] = {}
    for node in reading.root.walk():
        kind = node.child("type")
        if kind is None:
            continue
        element = kind.child("element")
        of_text = element is not None and reading.text(element) in texts
        for named in (node, *node.all("declarator")):
            if (name := named.child("name")) is None:
                continue
            known, plain = reading.text(name), named.child("dimensions") is None
            is_text = kind.kind == "type_identifier" and reading.text(kind) in texts
            found[known] = found.get(known, False) or (is_text and plain)
            if of_text or (is_text and not plain):
                found[f"{known}[]"] = True
    return found


def _is_text(reading: ParsedText, node: Node, kinds: dict[str, bool]) -> bool | None:
    """Whether an expression may be a text; `None` if the reading does not tell."""
    match node.kind:
        case "string_literal":
            return True
        case kind if kind in _NO_TEXTS:
            return False
        case "identifier":
            return kinds.get(reading.text(node))
        case "field_access":
            return kinds.get(reading.text(node.part("field")))
        case "method_invocation":
            return kinds.get(reading.text(node.part("name")))
        case "array_access":
            array = node.part("array")
            return kinds.get(f"{reading.text(array)}[]") if array.kind == "identifier" else None
        case "cast_expression":
            return reading.text(node.part("type")) in _TEXTS
        case "object_creation_expression":
            return reading.text(node.part("type")) == "String"
        case "binary_expression" if node.operator == "+":
            sides = [_is_text(reading, side.unparenthesized, kinds) for side in node.children]
            return True in sides or (None if None in sides else False)
        case "binary_expression":
            return False
        case "ternary_expression":
            sides = [_is_text(reading, side.unparenthesized, kinds) for side in node.children[1:]]
            return True in sides or (None if None in sides else False)
        case "assignment_expression":
            return _is_text(reading, node.children[0].unparenthesized, kinds)
        case _:
            return None

"""Sums of texts as calls that build the same text.

A sum evaluates all operands before it makes texts of them, a builder makes each text at once; so operands
have to be of primitive types or strings, whose texts nothing changes. A constant sum is left alone: constants
of one value are one object, and `==` distinguishes it from a built one. Where the method or its file compares
texts by their identity, all sums are left alone (`compares_texts`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, Types
from codeaudit.transforms.java.parsing import read_file
from codeaudit.transforms.java.rewriting import JavaSource, Rewriting
from codeaudit.transforms.patches import Part, Site
from codeaudit.transforms.strategies.dialect import COMMENT, each
from codeaudit.transforms.syntax.reader import Node, ParsedText
from codeaudit.transforms.syntax.text import replace, span

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

    A sum of texts that is no constant makes a new object (Java Language Specification, 15.18.1), though a
    compiler may give an old one: `"" + true` may be the constant "true". What is compared with `==` is known
    by the names and types that the file declares; where no name is known on either side, it is taken for
    numbers or other objects. A text that cannot be read may compare.
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
    kinds: dict[str, bool] = {}
    for node in reading.root.walk():
        kind = node.child("type")
        if kind is None:
            continue
        element = kind.child("element")
        of_text = element is not None and reading.text(element) in texts
        for named in (node, *node.all("declarator")):
            if (name := named.child("name")) is None:
                continue
            spelling, plain = reading.text(name), named.child("dimensions") is None
            is_text = kind.kind == "type_identifier" and reading.text(kind) in texts
            kinds[spelling] = kinds.get(spelling, False) or (is_text and plain)
            if of_text or (is_text and not plain):
                kinds[f"{spelling}[]"] = True
    return kinds


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


UNKNOWN: Final = "operands of unknown type"
CONSTANT: Final = "text may be constant"
IDENTITY: Final = "texts are compared by identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRewriting(Rewriting):
    """A rule that builds texts in another way, so that they are other objects."""

    around: str = field(default="", repr=False)
    """The text of the file around the method, as far as it is known."""

    def within(self, text: str) -> "TextRewriting":
        """The same rule for the methods of this text."""
        return changed(self, around=text)

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """The places to rewrite; a method whose texts are compared by identity has none.

        Raises:
            SourceError: the source cannot be parsed, or is not one method.
        """
        sites = super(TextRewriting, self).sites(source)
        if compares_texts(source) or (self.around and compares_texts(self.around)):
            return (Refused(IDENTITY) if isinstance(site, Site) else site for site in sites)
        return sites


def _summands(types: Types, node: Node) -> list[Node]:
    """What a sum joins as texts, in order; empty if a node is no outermost sum of texts.

    Numbers that are added before the first text are one summand: `1 + 2 + "a"` is "3a".
    """
    parent = node.parent
    is_inner = parent is not None and parent.kind == "binary_expression" and parent.operator == "+"
    if node.operator != "+" or types.of(node) != STRING or (is_inner and node.field == "left"):
        return []
    operands: list[Node] = []
    here = node
    while here.kind == "binary_expression" and here.operator == "+" and types.of(here) == STRING:
        left, right = here.children
        operands.append(right)
        here = left
    return [here, *reversed(operands)]


def _refusal(code: JavaSource, node: Node) -> Refused | None:
    """Why a sum must not become a call."""
    if not code.varies(node):
        # `"a" + 1 == "a1"` is true, and a constant may be a label of a switch.
        return Refused(CONSTANT)
    return Refused(COMMENT) if code.commented(node.start, node.end) else None


@each("binary_expression")
def _built(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a + b` as `new StringBuilder().append(a).append(b).toString()`."""
    operands = _summands(code.types, node)
    if not operands:
        return None
    if not all(code.type(operand) in PRIMITIVE | {STRING} for operand in operands):
        return Refused(UNKNOWN)  # toString of an object may change what a later operand sees
    if refused := _refusal(code, node):
        return refused
    parts: list[Part] = ["new StringBuilder()"]
    for operand in operands:
        parts += [".append(", span(operand.unparenthesized), ")"]
    return code.site(node, "sum as a builder", replace(node, *parts, ".toString()"))


@each("binary_expression")
def _valued(code: JavaSource, node: Node) -> Site | Refused | None:
    """`"" + n` as `String.valueOf(n)`."""
    operands = _summands(code.types, node)
    others = [operand for operand in operands if code.text(operand) != '""']
    if len(operands) != 2 or len(others) != 1:
        return None
    if code.type(others[0]) not in PRIMITIVE:
        return Refused(UNKNOWN)  # of a `char[]` valueOf makes another text, and of `null` it may throw
    if refused := _refusal(code, node):
        return refused
    value = span(others[0].unparenthesized)
    return code.site(node, "empty text and a number", replace(node, "String.valueOf(", value, ")"))


@each("binary_expression")
def _swapped(code: JavaSource, node: Node) -> Site | Refused | None:
    """`a + b + c` as `a + c + b`."""
    operands = _summands(code.types, node)
    if not operands or code.text(operands[-1]) == code.text(operands[-2]):
        return None
    first, second = operands[-2:]
    if code.type(first) != STRING or code.type(second) not in PRIMITIVE | {STRING}:
        return Refused(UNKNOWN)
    # On the right of `+` an operand may need parentheses that it does not need on the left.
    patches = replace(first, span(second)), replace(second, "(", span(first), ")")
    return code.site(node, "two texts exchanged", *patches)


CONCAT_TO_BUILDER: Final = TextRewriting(name="concat-to-builder", find=_built, nothing="no sum of texts")
CONCAT_TO_VALUE_OF: Final = TextRewriting(
    name="concat-to-value-of", find=_valued, nothing="no sum with an empty text"
)
TEXTS_SWAPPED: Final = Rewriting(
    name="texts-swapped", find=_swapped, nothing="no sum of texts", kind="control"
)

"""Static types of expressions, and what follows from them, as far as the text of one method shows them.

A type is its text without blanks, such as `int`, `String`, `int[]` or `List<String>`; `NULL` is the type of
`null`. An expression whose type is not certain has none (`None`). The type of a variable is that of its
declaration. The type of a field is unknown, because its declaration is outside of the text.

The rules also ask which expressions are no constants (`varies`), and which operands may be evaluated in
another order (`is_movable_past`).
"""

from typing import Final

from codeaudit.transforms.syntax.reader import Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding, Scopes

NULL: Final = "null"
STRING: Final = "String"
INTEGRAL: Final = frozenset({"byte", "short", "char", "int", "long"})
NUMERIC: Final = INTEGRAL | {"float", "double"}
PRIMITIVE: Final = NUMERIC | {"boolean"}
BOXES: Final = frozenset({"Byte", "Short", "Character", "Integer", "Long", "Float", "Double", "Boolean"})

_COMPARING: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_RANK: Final = ("double", "float", "long")
_VARYING: Final = frozenset(
    {"method_invocation", "instanceof_expression", "object_creation_expression", "array_access", "this",
     "array_creation_expression", "null_literal", "assignment_expression", "update_expression",
     "lambda_expression", "method_reference", "class_literal", "array_initializer", "switch_expression"}
)  # fmt: skip
"""Kinds of nodes that never occur in a constant expression."""
_OF_STRING: Final = {
    "length": "int", "charAt": "char", "isEmpty": "boolean", "equals": "boolean", "startsWith": "boolean",
    "endsWith": "boolean", "contains": "boolean", "indexOf": "int", "lastIndexOf": "int", "trim": STRING,
    "substring": STRING, "toLowerCase": STRING, "toUpperCase": STRING, "replace": STRING,
    "compareTo": "int", "equalsIgnoreCase": "boolean", "concat": STRING, "hashCode": "int",
    "replaceAll": STRING, "strip": STRING, "repeat": STRING, "isBlank": "boolean", "matches": "boolean",
}  # fmt: skip
_OF_BUILDER: Final = {"length": "int", "charAt": "char", "indexOf": "int"}
_OF_COLLECTION: Final = {"size": "int", "isEmpty": "boolean", "contains": "boolean", "containsKey": "boolean"}
_METHODS: Final = {
    STRING: _OF_STRING,
    **dict.fromkeys(("StringBuilder", "StringBuffer"), _OF_BUILDER),
    **dict.fromkeys(
        ("List", "Set", "Map", "Collection", "ArrayList", "HashMap", "HashSet", "LinkedList", "TreeMap"),
        _OF_COLLECTION,
    ),
}
_ALWAYS: Final = {"toString": STRING, "hashCode": "int"}
"""The result types of methods without arguments that every object has."""
_STATIC: Final = {
    ("Integer", "parseInt"): "int",
    ("Long", "parseLong"): "long",
    ("Double", "parseDouble"): "double",
    ("String", "valueOf"): STRING,
    ("Integer", "toString"): STRING,
    ("Long", "toString"): STRING,
    ("System", "currentTimeMillis"): "long",
    ("System", "nanoTime"): "long",
    ("Math", "sqrt"): "double",
    ("Math", "pow"): "double",
    ("Math", "floor"): "double",
    ("Math", "ceil"): "double",
}
_PROMOTED: Final = frozenset({"max", "min", "abs"})
_FIXED: Final = {
    "character_literal": "char", "string_literal": STRING, "true": "boolean", "false": "boolean",
    "null_literal": NULL, "instanceof_expression": "boolean",
}  # fmt: skip
"""The types of expressions whose kind says it."""


class Types:
    """The types of the expressions of one method, computed once each."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes: Final = scopes
        self._text = scopes.text
        self._known: dict[int, str | None] = {}

    def of(self, node: Node) -> str | None:
        """The static type of an expression; `None` if the text does not determine it."""
        key = id(node)
        if key not in self._known:
            # `var x = x + 1` does not compile, but its type asks for itself; then it is unknown.
            self._known[key] = None
            rule = getattr(self, f"_{node.kind}", None)
            self._known[key] = _FIXED.get(node.kind) if rule is None else rule(node)
        return self._known[key]

    def numeric(self, node: Node) -> str | None:
        """The type of an expression if it is certainly numeric and primitive, else `None`."""
        kind = self.of(node)
        return kind if kind in NUMERIC else None

    def declared(self, binding: Binding | None) -> str | None:
        """The declared type of a variable of the method, for a local `var` that of its value; `None` if
        unknown.
        """
        if binding is None or binding.doubt is not None or binding.node is None:
            return None
        node, value = binding.node, None
        match binding.view:
            case "local":
                assert node.parent is not None
                written, value = node.parent.child("type"), node.child("value")
            case "parameter" | "lambda" if node.kind == "formal_parameter":
                written = node.child("type")
            case "loop":
                written = node.child("type")
            case _:
                return None
        kind = self._written(written, node.child("dimensions"))
        if kind != "var":
            return kind
        return self.of(value) if value else None

    def _written(self, node: Node | None, dimensions: Node | None = None) -> str | None:
        """A type as it stands, without blanks; `int a[]` has the dimensions behind the name."""
        text = None if node is None else plainly_written(self.scopes.reading, node)
        if text is None:
            return None
        more = 0 if dimensions is None else sum(kind == "[" for kind, _, _ in dimensions.tokens)
        return text + "[]" * more

    # ── rules, each named after the kind of node ─────────────────────────────────────────────────────────

    def _decimal_integer_literal(self, node: Node) -> str:
        return "long" if self._text(node)[-1] in "lL" else "int"

    _hex_integer_literal = _octal_integer_literal = _binary_integer_literal = _decimal_integer_literal

    def _decimal_floating_point_literal(self, node: Node) -> str:
        return "float" if self._text(node)[-1] in "fF" else "double"

    _hex_floating_point_literal = _decimal_floating_point_literal

    def _identifier(self, node: Node) -> str | None:
        return self.declared(self.scopes.binding(node))

    def _parenthesized_expression(self, node: Node) -> str | None:
        inner = node.unparenthesized
        return self.of(inner) if inner is not node else None

    def _cast_expression(self, node: Node) -> str | None:
        kinds = node.all("type")
        return self._written(kinds[0]) if len(kinds) == 1 else None  # `(A & B) x` has two

    def _unary_expression(self, node: Node) -> str | None:
        if node.operator == "!":
            return "boolean"
        kind = self.numeric(node.children[0])
        return kind and promoted(kind)

    def _update_expression(self, node: Node) -> str | None:
        return self.of(node.children[0])

    def _assignment_expression(self, node: Node) -> str | None:
        return self.of(node.part("left"))

    def _binary_expression(self, node: Node) -> str | None:
        operator = node.operator
        if operator in _COMPARING:
            return "boolean"
        left, right = self.of(node.part("left")), self.of(node.part("right"))
        if operator == "+" and STRING in (left, right):
            return STRING
        if operator in ("<<", ">>", ">>>"):
            # The operands of a shift are promoted separately (JLS 15.19): `1 << 2L` is an int.
            return promoted(left) if left in INTEGRAL else None
        if left == right == "boolean" and operator in ("&", "|", "^"):
            return "boolean"
        if left in NUMERIC and right in NUMERIC:
            return promoted(left, right)
        return None

    def _ternary_expression(self, node: Node) -> str | None:
        # Arms of different types may be unboxed or promoted (JLS 15.25); that is left unknown.
        first, second = self.of(node.part("consequence")), self.of(node.part("alternative"))
        return first if first == second and first in PRIMITIVE | {STRING} else None

    def _array_access(self, node: Node) -> str | None:
        kind = self.of(node.part("array"))
        return kind.removesuffix("[]") if kind and kind.endswith("[]") else None

    def _field_access(self, node: Node) -> str | None:
        kind = self.of(node.part("object"))
        is_length = self._text(node.part("field")) == "length"
        return "int" if is_length and kind and kind.endswith("[]") else None

    def _object_creation_expression(self, node: Node) -> str | None:
        kind = node.child("type")
        if kind is None or node.first("class_body") or node.has("."):
            return None
        written = self._written(kind)
        return None if written is None or "<>" in written else written  # `new ArrayList<>()`: inferred

    def _array_creation_expression(self, node: Node) -> str | None:
        dimensions = node.all("dimensions")
        depth = sum(kind == "[" for child in dimensions for kind, _, _ in child.tokens)
        written = self._written(node.child("type"))
        return None if written is None else written + "[]" * depth

    def _method_invocation(self, node: Node) -> str | None:
        name, receiver = self._text(node.part("name")), node.child("object")
        arguments = node.part("arguments").children
        if receiver is None:
            return None
        if not arguments and name in _ALWAYS and receiver.kind != "super":
            return _ALWAYS[name]
        if receiver.kind == "identifier":
            text, binding = self._text(receiver), self.scopes.binding(receiver)
            if (binding is None or binding.view == "outer") and text[:1].isupper():
                if text == "Math" and name in _PROMOTED:
                    kinds = [self.numeric(argument) for argument in arguments]
                    return promoted(*(kind for kind in kinds if kind)) if all(kinds) and kinds else None
                return _STATIC.get((text, name))
        kind = self.of(receiver)
        return None if kind is None else _METHODS.get(kind.partition("<")[0], {}).get(name)


def plainly_written(reading: ParsedText, node: Node) -> str | None:
    """A type without blanks; `None` if it may be a well-known type that is spelt in another way.

    `java.lang.Integer` is unboxed like `Integer`, but tables hold simple names. So it is not known.
    """
    if any(inner.kind.endswith("annotation") for inner in node.walk()):
        return None
    if any(node.start <= start < node.end for _, start, _ in reading.comments):
        return None
    text = "".join(reading.text(node).split())
    return None if "java.lang." in text else text


def promoted(*kinds: str) -> str:
    """The type of an operation on numbers of these types (binary and unary numeric promotion)."""
    return next((kind for kind in _RANK if kind in kinds), "int")


def varies(scopes: Scopes, node: Node) -> bool:
    """Whether an expression is certainly not a constant expression, so the compiler does not evaluate it.

    A local that is not declared `final` is not a constant, whatever its initial value.
    """
    for inner in node.walk():
        if inner.kind in _VARYING:
            return True
        # A name without a binding here may be a constant field, even of an interface.
        binding = scopes.binding(inner)
        if binding is None or binding.doubt is not None or binding.node is None:
            continue
        if binding.view in ("parameter", "lambda", "loop", "catch", "resource", "pattern"):
            return True
        if binding.view == "local" and not is_final(binding.node.parent):
            return True
    return False


def is_final(declaration: Node | None) -> bool:
    """Whether a declaration has the modifier `final`."""
    modifiers = declaration.first("modifiers") if declaration is not None else None
    return modifiers is not None and modifiers.has("final")


_LITERALS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal", "character_literal", "string_literal",
     "true", "false", "null_literal"}
)  # fmt: skip


def is_movable_past(types: Types, node: Node, other: Node) -> bool:
    """Whether an expression may be evaluated before or after another one without a difference.

    This holds for a literal, `this`, and an operation on primitive locals that the other expression does not
    assign: of `x + x++` the operands have an order. It does not hold for a boxed local, because unboxing may
    raise before or after the other expression. `False` means only that the text does not show it.
    """
    node = node.unparenthesized
    if node.kind in _LITERALS or node.kind == "this":
        return True
    read = {binding.number for inner in node.walk() if (binding := types.scopes.binding(inner))}
    return is_pure(types, node) and not assigned(types.scopes, other) & read


def is_pure(types: Types, node: Node) -> bool:
    """Whether an expression only computes with primitive locals and literals, and cannot raise."""
    node = node.unparenthesized
    match node.kind:
        case kind if kind in _LITERALS:
            return kind not in ("null_literal", "string_literal")
        case "identifier":
            operands = []
        case "unary_expression":
            return is_pure(types, node.children[0])
        case "cast_expression":
            operands = [node.part("value")]
        case "binary_expression" if node.operator in ("/", "%") and types.of(node) in INTEGRAL | {None}:
            return False  # `1 / 0` raises, `1.0 / 0` does not (JLS 15.17.2)
        case "binary_expression" if len(node.children) == 2:
            operands = node.children
        case "ternary_expression":
            operands = node.children
        case _:
            return False
    return types.of(node) in PRIMITIVE and all(is_pure(types, operand) for operand in operands)


def is_reference(types: Types, node: Node) -> bool:
    """Whether an expression is certainly `null` or a local of a type that is never unboxed."""
    node = node.unparenthesized
    if node.kind in ("null_literal", "this", "string_literal"):
        return True
    kind = types.of(node) if node.kind == "identifier" else None
    return kind is not None and (kind == STRING or kind.endswith("[]"))


def assigned(scopes: Scopes, node: Node) -> frozenset[int]:
    """The numbers of the variables that an expression or statement assigns."""
    targets = (
        scopes.binding(inner.children[0].unparenthesized)
        for inner in node.walk()
        if inner.kind in ("assignment_expression", "update_expression")
    )
    return frozenset(binding.number for binding in targets if binding is not None)

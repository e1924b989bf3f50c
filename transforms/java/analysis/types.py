"""Static types of expressions, as far as the text of one method determines them.

A type is its text without blanks, such as `int`, `String`, `int[]` or `List<String>`; `NULL` is the type of
`null`. An expression whose type is not certain has none (`None`). The type of a variable is that of its
declaration. The type of a field is unknown, because its declaration is outside of the text. The rules of
expressions, conditions and declarations ask for the types.
"""

from collections.abc import Callable
from typing import Final

from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import JavaSource, bare

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


class Types:
    """The types of the expressions of one method."""

    def __init__(self, code: JavaSource) -> None:
        self._code = code
        self._known: dict[int, str | None] = {}

    def of(self, node: Node) -> str | None:
        """The static type of an expression; `None` if the text does not determine it."""
        key = id(node)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._of(node)
        return self._known[key]

    def primitive(self, node: Node) -> str | None:
        """The type of an expression if it is certainly primitive, else `None`."""
        found = self.of(node)
        return found if found in PRIMITIVE else None

    def numeric(self, node: Node) -> str | None:
        """The type of an expression if it is certainly numeric and primitive, else `None`."""
        found = self.of(node)
        return found if found in NUMERIC else None

    def declared(self, binding: JavaBinding | None) -> str | None:
        """The declared type of a variable of the method, for a local `var` that of its value; `None` if
        unknown.
        """
        if binding is None or binding.doubt is not None or binding.node is None or binding.view == "field":
            return None
        node = binding.node
        match binding.view:
            case "local":
                parent = node.parent
                assert parent is not None
                kind = self._written(parent.child("type"), node.child("dimensions"))
                value = node.child("value")
                return self.of(value) if kind == "var" and value else None if kind == "var" else kind
            case "parameter" | "lambda" if node.kind == "formal_parameter":
                kind = self._written(node.child("type"), node.child("dimensions"))
                return None if kind == "var" else kind
            case "loop":
                kind = self._written(node.child("type"), node.child("dimensions"))
                return None if kind == "var" else kind
            case _:
                return None

    def _written(self, node: Node | None, dimensions: Node | None) -> str | None:
        if node is None or any(inner.kind.endswith("annotation") for inner in node.walk()):
            return None
        text = "".join(self._code.text(node).split())
        more = 0 if dimensions is None else sum(kind == "[" for kind, _, _ in dimensions.tokens)
        return text + "[]" * more

    def _of(self, node: Node) -> str | None:
        rule = _RULES.get(node.kind)
        return None if rule is None else rule(self, node)

    def _integer(self, node: Node) -> str:
        return "long" if self._code.text(node)[-1] in "lL" else "int"

    def _floating(self, node: Node) -> str:
        return "float" if self._code.text(node)[-1] in "fF" else "double"

    def _hex_floating(self, node: Node) -> str:
        return self._floating(node)

    def _identifier(self, node: Node) -> str | None:
        return self.declared(self._code.binding(node))

    def _inner(self, node: Node) -> str | None:
        return self.of(bare(node)) if bare(node) is not node else None

    def _cast(self, node: Node) -> str | None:
        kinds = node.all("type")
        return self._written(kinds[0], None) if len(kinds) == 1 else None

    def _unary(self, node: Node) -> str | None:
        if node.operator == "!":
            return "boolean"
        found = self.numeric(node.children[0])
        return found and promoted(found)

    def _update(self, node: Node) -> str | None:
        return self.of(node.children[0])

    def _assignment(self, node: Node) -> str | None:
        return self.of(node.part("left"))

    def _binary(self, node: Node) -> str | None:
        operator = node.operator
        if operator in _COMPARING:
            return "boolean"
        left, right = self.of(node.part("left")), self.of(node.part("right"))
        if operator == "+" and STRING in (left, right):
            return STRING
        if operator in ("<<", ">>", ">>>"):
            return promoted(left) if left in INTEGRAL else None
        if left == right == "boolean" and operator in ("&", "|", "^"):
            return "boolean"
        if left in NUMERIC and right in NUMERIC:
            return promoted(left, right)
        return None

    def _ternary(self, node: Node) -> str | None:
        first, second = self.of(node.part("consequence")), self.of(node.part("alternative"))
        return first if first == second and first in PRIMITIVE | {STRING} else None

    def _access(self, node: Node) -> str | None:
        found = self.of(node.part("array"))
        return found.removesuffix("[]") if found and found.endswith("[]") else None

    def _field(self, node: Node) -> str | None:
        member = self._code.text(node.part("field"))
        found = self.of(node.part("object"))
        return "int" if member == "length" and found and found.endswith("[]") else None

    def _creation(self, node: Node) -> str | None:
        kind = node.child("type")
        if kind is None or node.first("class_body") or node.has("."):
            return None
        found = self._written(kind, None)
        return None if found is None or "<>" in found else found

    def _array(self, node: Node) -> str | None:
        depth = 0
        for child in node.all("dimensions"):
            depth += sum(kind == "[" for kind, _, _ in child.tokens)
        found = self._written(node.child("type"), None)
        return None if found is None else found + "[]" * depth

    def _call(self, node: Node) -> str | None:
        name, receiver = self._code.text(node.part("name")), node.child("object")
        arguments = node.part("arguments").children
        if receiver is None:
            return None
        if not arguments and name in _ALWAYS and receiver.kind != "super":
            return _ALWAYS[name]
        if receiver.kind == "identifier":
            text, binding = self._code.text(receiver), self._code.binding(receiver)
            if (binding is None or binding.view == "outer") and text[:1].isupper():
                if text == "Math" and name in _PROMOTED:
                    kinds = [self.numeric(argument) for argument in arguments]
                    return promoted(*(kind for kind in kinds if kind)) if all(kinds) and kinds else None
                return _STATIC.get((text, name))
        found = self.of(receiver)
        return None if found is None else _METHODS.get(found.partition("<")[0], {}).get(name)


def promoted(*kinds: str) -> str:
    """The type of an operation on numbers of these types (binary and unary numeric promotion)."""
    return next((kind for kind in _RANK if kind in kinds), "int")


def varies(code: JavaSource, node: Node) -> bool:
    """Whether an expression is certainly not a constant expression, so the compiler does not evaluate it.

    A local that is not declared `final` is not a constant, whatever its initial value.
    """
    for inner in node.walk():
        if inner.kind in _VARYING:
            return True
        binding = code.binding(inner)
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


_RULES: Final[dict[str, Callable[[Types, Node], str | None]]] = {
    **dict.fromkeys(
        ("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal"),
        Types._integer,
    ),
    "decimal_floating_point_literal": Types._floating,
    "hex_floating_point_literal": Types._hex_floating,
    "character_literal": lambda _, __: "char",
    "string_literal": lambda _, __: STRING,
    "true": lambda _, __: "boolean",
    "false": lambda _, __: "boolean",
    "null_literal": lambda _, __: NULL,
    "instanceof_expression": lambda _, __: "boolean",
    "identifier": Types._identifier,
    "parenthesized_expression": Types._inner,
    "cast_expression": Types._cast,
    "unary_expression": Types._unary,
    "update_expression": Types._update,
    "assignment_expression": Types._assignment,
    "binary_expression": Types._binary,
    "ternary_expression": Types._ternary,
    "array_access": Types._access,
    "field_access": Types._field,
    "object_creation_expression": Types._creation,
    "array_creation_expression": Types._array,
    "method_invocation": Types._call,
}


_LITERALS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal", "character_literal", "string_literal",
     "true", "false", "null_literal"}
)  # fmt: skip
_FAILING: Final = frozenset({"/", "%"})


def literal(node: Node) -> bool:
    """Whether an expression is a literal, also in parentheses."""
    return bare(node).kind in _LITERALS


def steady(code: JavaSource, types: Types, node: Node, other: Node) -> bool:
    """Whether an expression may be evaluated before or after another one without a difference.

    This holds for a literal, `this`, and a primitive local that the other expression does not assign. It does
    not hold for a boxed local: unboxing may raise, before or after the other expression.
    """
    node = bare(node)
    if node.kind in _LITERALS or node.kind == "this":
        return True
    return pure(code, types, node) and not written(code, other) & _read(code, node)


def pure(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression only computes with primitive locals and literals, and cannot raise."""
    node = bare(node)
    match node.kind:
        case kind if kind in _LITERALS:
            return kind not in ("null_literal", "string_literal")
        case "identifier":
            return types.of(node) in PRIMITIVE
        case "unary_expression":
            return pure(code, types, node.children[0])
        case "cast_expression":
            return types.of(node) in PRIMITIVE and pure(code, types, node.part("value"))
        case "binary_expression" if len(node.children) == 2:
            left, right = node.children
            if node.operator in _FAILING and types.of(node) in (INTEGRAL | {None}):
                return False
            return types.of(node) in PRIMITIVE and pure(code, types, left) and pure(code, types, right)
        case "ternary_expression":
            return types.of(node) in PRIMITIVE and all(pure(code, types, child) for child in node.children)
        case _:
            return False


def reference(code: JavaSource, types: Types, node: Node) -> bool:
    """Whether an expression is certainly `null` or a local of a type that is never unboxed."""
    node = bare(node)
    if node.kind in ("null_literal", "this", "string_literal"):
        return True
    found = types.of(node) if node.kind == "identifier" else None
    return found is not None and (found == "String" or found.endswith("[]"))


def written(code: JavaSource, node: Node) -> frozenset[int]:
    """The numbers of the variables that an expression or statement assigns."""
    found = set()
    for inner in node.walk():
        if inner.kind in ("assignment_expression", "update_expression"):
            binding = code.binding(bare(inner.children[0]))
            if binding is not None:
                found.add(binding.number)
    return frozenset(found)


def _read(code: JavaSource, node: Node) -> frozenset[int]:
    bindings = (code.binding(inner) for inner in node.walk())
    return frozenset(binding.number for binding in bindings if binding is not None)

"""Facts about the variables of one method: types, null, classes of objects, containers that nobody else
reaches.

The effects analysis uses them. The facts come from the text of the method, and from its file as far as that
is known. None of them depends on the order of statements. So a legal reordering keeps every fact, which makes
the conflict relation equivariant.
"""

from typing import Final, NamedTuple

from codeaudit.transforms.java.analysis.library import (
    CONTENTS,
    ITERABLE,
    KNOWN_TYPES,
    PLAIN,
    PRIMITIVES,
    overloads,
)
from codeaudit.transforms.java.analysis.surroundings import OwnClass, in_own_class
from codeaudit.transforms.java.analysis.types import plainly_written
from codeaudit.transforms.java.parsing import TYPES
from codeaudit.transforms.syntax.effects import ScopeFacts
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding, Scopes

_NEVER_NULL: Final = frozenset(
    {
        "string_literal", "object_creation_expression", "array_creation_expression", "array_initializer",
        "lambda_expression", "class_literal", "this", "method_reference",
    }
)  # fmt: skip


class Value(NamedTuple):
    """The known facts about the value of an expression."""

    type: str | None = None
    """The simple name of its static type without arguments, with `[]` for arrays; `null` for the literal
    `null`.
    """
    sure: bool = False
    """Whether the value is certainly not null."""
    uncast: bool = False
    """Whether it is that of a field which no type argument gives its type, so Java does not cast it."""


UNKNOWN: Final = Value()
OWN: Final = "'"
"""A suffix for the names of types that the method declares itself: they are not the JDK's types of that
name.
"""
OBJECT: Final = Value(OWN, sure=True)
"""An object that is not null and that Java does not unbox; nothing else is known."""


class Facts(ScopeFacts):
    """The facts about the variables of one method."""

    def __init__(self, scopes: Scopes, owner: OwnClass | None = None) -> None:
        super().__init__(scopes)
        self._owner = owner
        self.types: set[str] = set()
        """The names of the types that the method declares."""
        self.values: dict[int, list[Node | None]] = {}
        """The expressions assigned to each variable, by its number; `None` for a value without an
        expression.
        """
        self.uses: dict[int, list[Node]] = {}
        """The nodes that name each variable, by its number."""
        self._gather()
        self._known: dict[int, Value] = {}
        self._exact: dict[int, str | None] = {}
        self._owned: dict[int, bool] = {}
        self._open: set[int] = set()

    def _gather(self) -> None:
        at, uses, values = self.scopes.at, self.uses, self.values
        pending = [self.scopes.unit]
        while pending:
            node = pending.pop()
            kind = node.kind
            if kind == "identifier":
                binding = at.get(node.start)
                if binding is not None:
                    uses.setdefault(binding.number, []).append(node)
                continue
            if kind == "variable_declarator":
                value = node.child("value")
                if value is not None:
                    self._assigned(node.children[0], value)
            elif kind == "assignment_expression":
                self._assigned(node.children[0], node.children[1] if node.operator == "=" else None)
            elif kind in ("lambda_expression", "class_body"):
                self.nests = True
            elif kind in TYPES or kind == "type_parameter":
                name = node.child("name") or node.first("type_identifier")
                if name:
                    self.types.add(self.text(name))
            pending += node.children
        for binding in self.scopes.bindings:
            # Parameters and variables of loops get values that no expression of the text shows.
            if binding.view != "local" or (binding.node and binding.node.kind != "variable_declarator"):
                values.setdefault(binding.number, []).append(None)

    def _assigned(self, target: Node, value: Node | None) -> None:
        binding = self.scopes.binding(target.unparenthesized)
        if binding is not None:
            self.values.setdefault(binding.number, []).append(value)

    def owner(self, node: Node) -> OwnClass | None:
        """What is known of the class to which a part of the method belongs."""
        owner = self._owner
        return owner if owner is not None and in_own_class(node, self.scopes.unit) else None

    def field(self, node: Node, name: str, *, here: bool = False) -> Value:
        """The facts about a field that is named at a node: alone, or behind `this` with `here`."""
        if not in_own_class(node, self.scopes.unit):
            return UNKNOWN
        owner = self._owner
        if owner is None:
            return Value(uncast=True)  # assumed
        if here:
            kind, declared = owner.fields.get(name), name in owner.fields
        else:
            kind, declared = owner.field(name), owner.declares(name)
        return Value(kind, kind in PRIMITIVES, declared)

    def class_name(self, node: Node) -> str | None:
        """The name of the class that an expression looks like: no variable, first letter in upper case."""
        if node.kind != "identifier":
            return None
        binding = self.binding(node)
        if binding is not None and binding.view != "outer":
            return None
        text = self.text(node)
        return text if text[:1].isupper() and text not in self.types else None

    def type_of(self, node: Node | None, dimensions: Node | None = None) -> str | None:
        """The name of a type as written, with `OWN` for the method's own types; `None` for `var`."""
        extra = self.text(dimensions).count("[") if dimensions else 0
        while node is not None and node.kind in ("generic_type", "annotated_type", "array_type"):
            if node.kind == "array_type":
                extra += self.text(node.part("dimensions")).count("[")
                node = node.child("element")
            else:
                node = next((child for child in node.children if not child.kind.endswith("annotation")), None)
        if node is None:
            return None
        name = plainly_written(self.reading, node)
        if name is None or name == "var":
            return None
        # Elsewhere in the method the name of a type that the method declares may mean the JDK's.
        if name in self.types and name in KNOWN_TYPES:
            return None
        return name + OWN * (name in self.types) + "[]" * extra

    def value_of(self, binding: Binding) -> Value:
        """The declared type of a variable, and whether it never holds null."""
        number = binding.number
        value = self._known.get(number)
        if value is None:
            if number in self._open:
                return UNKNOWN  # `a = b; b = a;` asks in a circle
            self._open.add(number)
            kind = self._declared(binding)
            sure = kind in PRIMITIVES or (binding.name not in self.doubtful and self._sure(binding))
            self._open.discard(number)
            value = self._known[number] = Value(kind, sure)
        return value

    def _declared(self, binding: Binding) -> str | None:
        node = binding.node
        if node is None or binding.name in self.doubtful or binding.view == "lambda":
            return None
        if binding.view == "catch":
            return f"Throwable{OWN}"  # its class is unknown, but it is an object and never unboxed
        if node.kind == "variable_declarator":
            assert node.parent is not None
            written = node.parent.child("type")
            value = node.child("value")
            if written is not None and value is not None and self.text(written) == "var":
                return self.evident_type(value)
            return self.type_of(written, node.child("dimensions"))
        if node.kind == "instanceof_expression":
            return self.type_of(node.child("right"))
        if node.kind == "spread_parameter":
            kind = self.type_of(next(child for child in node.children if child.kind != "modifiers"))
            return kind and f"{kind}[]"  # `int... all` is an `int[]`
        if node.kind in ("formal_parameter", "enhanced_for_statement", "resource"):
            return self.type_of(node.child("type"), node.child("dimensions"))
        return None

    def evident_type(self, node: Node) -> str | None:
        """The type of an expression that is a `new`, a literal or a string; `None` for all others."""
        match node.kind:
            case "object_creation_expression" if node.first("class_body") is None:
                return self.type_of(node.child("type"))
            case "array_creation_expression":
                kind = self.type_of(node.child("type"))
                depth = sum(
                    self.text(part).count("[") if part.kind == "dimensions" else 1
                    for part in node.all("dimensions")
                )
                return kind and kind + "[]" * depth
            case "string_literal":
                return "String"
            case "decimal_integer_literal":
                return "long" if self.text(node)[-1] in "lL" else "int"
            case "true" | "false":
                return "boolean"
            case _:
                return None

    def _sure(self, binding: Binding) -> bool:
        values = list(self.values.get(binding.number, []))
        if _begins_with_object(binding):
            values.remove(None)  # the value that no expression shows
            return all(value is not None and self.never_null(value) for value in values)
        return bool(values) and all(value is not None and self.never_null(value) for value in values)

    def never_null(self, node: Node) -> bool:
        """Whether an expression certainly gives an object, not null."""
        match node.kind:
            case "parenthesized_expression":
                return self.never_null(node.children[0])
            case "ternary_expression":
                return all(self.never_null(part) for part in node.children[1:])
            case "cast_expression":
                return self.never_null(node.children[-1])
            case "binary_expression":
                return node.operator == "+" and any(
                    part.kind == "string_literal"
                    or (part.kind == "binary_expression" and self.never_null(part))
                    for part in node.children
                )
            case "identifier":
                binding = self.binding(node)
                return binding is not None and binding.view in LOCAL_VIEWS and self.value_of(binding).sure
            case kind:
                return kind in _NEVER_NULL

    def exact(self, binding: Binding) -> str | None:
        """The class of all objects that a variable ever holds, if the method creates all of them by `new`."""
        number = binding.number
        if number not in self._exact:
            values = self.values.get(number, [None])
            # Two classes, or one value that is not `new`, and the object may be of any subclass.
            names = {None if value is None else self._new(value) for value in values}
            name = names.pop() if len(names) == 1 and binding.name not in self.doubtful else None
            self._exact[number] = name if name in CONTENTS else None
        return self._exact[number]

    def _new(self, node: Node) -> str | None:
        """The class of an object created by `new`; `None` with several arguments, which may change its
        behaviour.
        """
        if node.kind != "object_creation_expression" or len(node.part("arguments").children) > 1:
            return None
        return self.evident_type(node)

    def owned(self, binding: Binding) -> bool:
        """Whether nothing but the method's own calls can reach the container that a variable holds."""
        number = binding.number
        if number not in self._owned:
            kind = self.exact(binding)
            self._owned[number] = (
                kind is not None
                and len(self.values[number]) == 1  # a second object would make two containers one name
                and not binding.captured
                and all(self._keeps(node, kind) for node in self.uses.get(number, ()))
            )
        return self._owned[number]

    def sorts_alone(self, binding: Binding) -> bool:
        """Whether a hash table that a variable holds can only hold keys whose `compareTo` is the JDK's own.

        Its declaration says so, or all calls that add a key; and nobody else can reach it, so no unchecked
        cast puts other keys into it.
        """
        value = self.values.get(binding.number, [None])[0]
        if value is None or not self.owned(binding) or binding.node is None or binding.node.parent is None:
            return False
        # A table that is made from another one gets the keys of that one.
        if any(argument.kind != "decimal_integer_literal" for argument in value.part("arguments").children):
            return False
        written = binding.node.parent.child("type")
        if written is not None and self.text(written) == "var":
            written = value.child("type")
        arguments = written.first("type_arguments") if written is not None else None
        if arguments and arguments.children and self.type_of(arguments.children[0]) in PLAIN:
            return True
        kind = self.exact(binding)
        assert kind is not None
        return all(self._adds_plain(node, kind) for node in self.uses.get(binding.number, ()))

    def _adds_plain(self, node: Node, kind: str) -> bool:
        """Whether a use of a hash table adds no key, or one whose methods are the JDK's own."""
        call = node.parent
        if call is None or call.kind != "method_invocation" or node.field != "object":
            return True
        methods = CONTENTS[kind].changes.get(self.text(call.part("name")), ())
        if not any(method.compares for method in methods):
            return True
        key = call.part("arguments").children[0]
        binding = self.binding(key) if key.kind == "identifier" else None
        if binding is not None and binding.view in LOCAL_VIEWS:
            return self.value_of(binding).type in PLAIN
        return self.evident_type(key) in PLAIN

    def _keeps(self, node: Node, kind: str) -> bool:
        """Whether a use of a container does not hand it to other code."""
        above = node.parent
        if above is None or node.field == "name":
            return True
        if above.kind == "method_invocation" and node.field == "object":
            results = self._results(above, kind)
            return bool(results) and ("this" not in results or self._dropped(above))
        if above.kind == "enhanced_for_statement":
            return node.field == "value" and kind in ITERABLE
        return above.kind == "return_statement"  # whoever gets it then runs after the method

    def _dropped(self, call: Node) -> bool:
        """Whether the returned receiver of a call is unused, or is only the receiver of another known
        call.
        """
        above = call.parent
        while above is not None and above.kind == "method_invocation" and call.field == "object":
            results = self._results(above, "StringBuilder")
            if "this" not in results:
                return bool(results)
            call, above = above, above.parent
        return above is not None and above.kind == "expression_statement"

    def _results(self, call: Node, kind: str) -> frozenset[str]:
        """The results of the overloads that a call on a container may mean; empty for an unknown method."""
        name, arguments = self.text(call.part("name")), call.part("arguments").children
        methods = {**CONTENTS[kind].changes, **CONTENTS[kind].reads}
        return frozenset(overload.result for overload in overloads(methods, name, [None] * len(arguments)))


def _begins_with_object(binding: Binding) -> bool:
    """Whether the first value of a variable, which no expression shows, is certainly not null."""
    if binding.view == "catch":
        return True
    node = binding.node
    if binding.view != "pattern" or node is None:
        return False
    # A type matches no null (JLS 14.30.2), but the component of a record pattern may be null.
    above = node.parent
    return node.kind == "instanceof_expression" or (
        node.kind == "type_pattern" and above is not None and above.kind == "pattern"
    )

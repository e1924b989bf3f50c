"""`final` and `var` of Java's local variables.

A variable without `final` is no constant (Java Language Specification, 4.12.4), whatever it begins with. A
`final` that makes or unmakes a constant variable is left alone: labels of a switch, narrowing, what is
reachable, and which strings are one object depend on it.
"""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, is_final
from codeaudit.transforms.java.rewriting import OTHER_MEANING, JavaSource, Rewriting
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.declarations import (
    ARRAY,
    NO_VALUE,
    READS_ITSELF,
    SEVERAL,
    Result,
    declarations,
)  # fmt: skip
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import replace

ASSIGNED: Final = "assigned again"
CONSTANT: Final = "a constant would come or go"
OTHER_TYPE: Final = "not exactly the type of its value"
ANNOTATED: Final = "annotated variable"
_SPELT: Final = frozenset({"object_creation_expression", "array_creation_expression", "cast_expression"})
"""Values that spell their type."""
_OF_DECLARATIONS: Final = frozenset({"SuppressWarnings", "Deprecated"})
"""Annotations that certainly belong to a declaration, not to its type."""


# ── final ────────────────────────────────────────────────────────────────────────────────────────────────


def _insert_final(code: JavaSource) -> Iterator[Site | Refused]:
    """`int a = f();` as `final int a = f();`, also for parameters."""
    for binding in code.scopes.bindings:
        node = _declaration(binding)
        if node is None or is_final(node):
            continue
        modifiers = node.first("modifiers")
        if any(use.use in ("write", "update") for use in binding.occurrences):
            yield Refused(ASSIGNED)
        elif binding.doubt is not None:
            yield Refused(binding.doubt)
        elif _is_shared(node):
            yield Refused(SEVERAL)
        elif modifiers is not None and modifiers.children:
            yield Refused(ANNOTATED)
        elif binding.view == "local" and not _never_constant(code, binding):
            yield Refused(CONSTANT)
        else:
            first = node
            if node.kind == "enhanced_for_statement":
                first = modifiers or node.part("type")
            yield code.site(node, "final", Patch(first.start, first.start, ("final ",)))


def _remove_final(code: JavaSource) -> Iterator[Site | Refused]:
    """`final int a = f();` as `int a = f();`, also for parameters."""
    for binding in code.scopes.bindings:
        node = _declaration(binding)
        modifiers = node.first("modifiers") if node is not None else None
        if node is None or modifiers is None or not modifiers.has("final"):
            continue
        if _is_shared(node):
            yield Refused(SEVERAL)
        elif binding.view == "local" and not _never_constant(code, binding):
            yield Refused(CONSTANT)
        else:
            _, start, end = next(token for token in modifiers.tokens if token[0] == "final")
            blank = len(code.source[end:]) - len(code.source[end:].lstrip(b" \t"))
            yield code.site(node, "no final", Patch(start, end + blank, ()))


def _declaration(binding: Binding) -> Node | None:
    """The declaration on which `final` would stand."""
    node = binding.node
    if node is None:
        return None
    match binding.view:
        case "local":
            return node.parent
        case "parameter":
            owner = node.parent.parent if node.parent is not None else None
            if owner is None or owner.child("body") is None or node.kind != "formal_parameter":
                return None  # of a method without a body, or a component of a record
            return None if owner.kind == "record_declaration" else node
        case "catch" if any(inner.has("|") for inner in node.children):
            return None  # the parameter of a catch of several types is final already (JLS 14.20)
        case "loop" | "catch":
            return node
        case _:
            return None


def _is_shared(node: Node) -> bool:
    """Whether `final` would count for several variables: `final int a = 1, b = 2;`."""
    return node.kind == "local_variable_declaration" and len(node.all("declarator")) > 1


def _never_constant(code: JavaSource, binding: Binding) -> bool:
    """Whether a `final` decides nothing but that the variable is not assigned again.

    A constant variable is final, of a primitive type or `String`, and has a constant value (JLS 4.12.4).
    """
    assert binding.node is not None
    value = binding.node.child("value")
    if value is None:
        return False
    kind = code.types.declared(binding)
    return (kind is not None and kind not in PRIMITIVE | {STRING}) or code.varies(value)


# ── var ──────────────────────────────────────────────────────────────────────────────────────────────────


def _means_same(code: JavaSource, value: Node) -> bool:
    """Whether the type of a value has the same name right here."""
    kind = code.type(value)
    return kind is not None and (value.unparenthesized.kind in _SPELT or code.means_same(kind, value))


def _annotations(code: JavaSource, declaration: Node) -> set[str]:
    """The names of the annotations of a declaration."""
    modifiers = declaration.first("modifiers")
    annotations = modifiers.children if modifiers is not None else ()
    return {code.text(annotation.part("name")) for annotation in annotations}


@declarations
def _to_var(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`String s = f.toString();` as `var s = f.toString();`."""
    variable = variables[0]
    value = variable.child("value")
    if code.is_typed_by_value(node):
        return None
    if value is None:
        return Refused(NO_VALUE)
    if len(variables) > 1 or variable.child("dimensions"):
        return Refused(SEVERAL)
    if value.kind == "array_initializer":
        return Refused(ARRAY)
    if is_final(node) and not code.varies(value):
        return Refused(CONSTANT)
    if not _annotations(code, node) <= _OF_DECLARATIONS:
        return Refused(ANNOTATED)  # one of a type must not stand before `var` (JLS 9.7.4)
    if code.type(value) != "".join(code.text(node.part("type")).split()):
        return Refused(OTHER_TYPE)  # `long n = 1;` would become an int
    if not _means_same(code, value):
        return Refused(OTHER_MEANING)
    if code.text(variable.part("name")) in code.names(value):
        return Refused(READS_ITSELF)  # the value of a `var` must not name it (JLS 14.4.1)
    return code.site(node, "type as var", replace(node.part("type"), "var"))


@declarations
def _from_var(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`var n = 1;` as `int n = 1;`."""
    if not code.is_typed_by_value(node):
        return None
    value = variables[0].part("value")
    kind = code.type(value)
    if kind is None or not kind.replace("[]", "").replace(".", "").isalnum():
        return Refused(OTHER_TYPE)
    if not _means_same(code, value):
        return Refused(OTHER_MEANING)
    return code.site(node, "var as its type", replace(node.part("type"), kind))


INSERT_FINAL: Final = Rewriting(name="insert-final", find=_insert_final, nothing="no variable")
REMOVE_FINAL: Final = Rewriting(name="remove-final", find=_remove_final, nothing="no final variable")
TYPE_TO_VAR: Final = Rewriting(name="type-to-var", find=_to_var, nothing="no declaration of a local")
VAR_TO_TYPE: Final = Rewriting(name="var-to-type", find=_from_var, nothing="no var")

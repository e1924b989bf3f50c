"""Declarations of local variables in another form.

A variable without `final` is no constant (Java Language Specification, 4.12.4), whatever it begins with; one
that is declared and then set once is effectively final like one that is declared with its value. A `final`
that makes or unmakes a constant variable is left alone: labels of a switch, narrowing, what is reachable, and
which strings are one object depend on it.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, is_final
from codeaudit.transforms.java.rewriting import (
    COMMENT,
    OTHER_MEANING,
    Find,
    JavaSource,
    Rewriting,
    following,
    replace,
)
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.syntax.reader import Node

ONE: Final = "only one variable"
SEVERAL: Final = "several variables"
FINAL: Final = "final variable"
INFERRED: Final = "type is inferred"
ARRAY: Final = "array in braces"
NO_VALUE: Final = "no value"
IN_HEAD: Final = "in the head of a statement"
ASSIGNED: Final = "assigned again"
CONSTANT: Final = "a constant would come or go"
OTHER_TYPE: Final = "not exactly the type of its value"
NOT_NEXT: Final = "value is not assigned right behind"
READS_ITSELF: Final = "value reads the variable"
ANNOTATED: Final = "annotated variable"
UNNAMED: Final = "variable without a name"
_SPELT: Final = frozenset({"object_creation_expression", "array_creation_expression", "cast_expression"})
"""Values that spell their type."""

Result: TypeAlias = Site | Refused | None


def _declarations(rewrite: Callable[[JavaSource, Node, list[Node]], Result]) -> Find:
    """The `find` of a rule that looks at each declaration of locals, with its list of declarators."""

    def find(code: JavaSource) -> Iterator[Site | Refused]:
        for node in code.nodes:
            if node.kind != "local_variable_declaration":
                continue
            if following(node) is None:
                yield Refused(IN_HEAD)  # `for (int i = 0, n = 9; …)`
            elif (result := rewrite(code, node, node.all("declarator"))) is not None:
                yield result

    return find


def _head(code: JavaSource, node: Node) -> str:
    """Modifiers and type of a declaration, as they stand."""
    return code.source[node.start : node.part("declarator").start].decode()


def _is_inferred(code: JavaSource, node: Node) -> bool:
    """Whether a declaration says `var` for its type."""
    return code.text(node.part("type")) == "var"


def _next(node: Node, kind: str) -> Node | None:
    """The statement right behind a declaration if it is of this kind."""
    behind = following(node)
    return behind[0] if behind and behind[0].kind == kind else None


# ── several variables ────────────────────────────────────────────────────────────────────────────────────


@_declarations
def _split(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`int a, b;` as `int a; int b;`."""
    if len(variables) < 2:
        return Refused(ONE)
    if code.commented(node.start, node.end):
        return Refused(COMMENT)
    lead = f"{code.newline}{code.indentation(node.start)}{_head(code, node)}"
    patches = [Patch(one.end, two.start, (";", lead)) for one, two in pairwise(variables)]
    return code.site(node, "one declaration each", *patches)


@_declarations
def _join(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`int a; int b;` as `int a, b;`."""
    other = _next(node, "local_variable_declaration")
    if other is None:
        return None
    if _head(code, node).split() != _head(code, other).split():
        return Refused("other types")
    if _is_inferred(code, node):
        return Refused(INFERRED)  # `var` allows one variable (JLS 14.4)
    if code.commented(node.start, other.end):
        return Refused(COMMENT)
    joint = Patch(variables[-1].end, other.part("declarator").start, (", ",))
    return code.site(node, "declarations joined", joint)


# ── the value apart ──────────────────────────────────────────────────────────────────────────────────────


@_declarations
def _split_value(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`int a = 1;` as `int a; a = 1;`."""
    variable = variables[0]
    value = variable.child("value")
    if len(variables) > 1:
        return Refused(SEVERAL)
    if value is None:
        return Refused(NO_VALUE)
    if is_final(node):
        return Refused(FINAL)  # `final int a = 1;` is a constant, `final int a; a = 1;` is none
    if _is_inferred(code, node):
        return Refused(INFERRED)
    if value.kind == "array_initializer":
        return Refused(ARRAY)  # `{1, 2}` stands only in a declaration
    if code.text(variable.part("name")) == "_":
        return Refused(UNNAMED)  # nothing can be assigned to it
    if code.commented(node.start, value.start):
        return Refused(COMMENT)
    name = variable.part("name")
    end = variable.child("dimensions") or name
    assignment = f";{code.newline}{code.indentation(node.start)}{code.text(name)} = "
    return code.site(node, "value assigned apart", Patch(end.end, value.start, (assignment,)))


@_declarations
def _join_value(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`int a; a = 1;` as `int a = 1;`."""
    variable = variables[0]
    if len(variables) > 1 or variable.child("value") is not None:
        return None
    behind = _next(node, "expression_statement")
    inner = behind.children[0] if behind is not None else None
    if inner is None or inner.kind != "assignment_expression" or inner.operator != "=":
        return Refused(NOT_NEXT)
    name = code.text(variable.part("name"))
    target, value = inner.children
    if code.text(target) != name:
        return Refused(NOT_NEXT)
    if is_final(node):
        return Refused(FINAL)
    if name in code.names(value):
        return Refused(READS_ITSELF)  # `int a; a = (a = 1) + 2;`
    if code.commented(node.start, value.start):
        return Refused(COMMENT)
    return code.site(node, "declared with its value", Patch(variable.end, value.start, (" = ",)))


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


def _declaration(binding: JavaBinding) -> Node | None:
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


def _never_constant(code: JavaSource, binding: JavaBinding) -> bool:
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


@_declarations
def _to_var(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`String s = f.toString();` as `var s = f.toString();`."""
    variable = variables[0]
    value = variable.child("value")
    if _is_inferred(code, node):
        return None
    if value is None:
        return Refused(NO_VALUE)
    if len(variables) > 1 or variable.child("dimensions"):
        return Refused(SEVERAL)
    if value.kind == "array_initializer":
        return Refused(ARRAY)
    if is_final(node) and not code.varies(value):
        return Refused(CONSTANT)
    if code.type(value) != "".join(code.text(node.part("type")).split()):
        return Refused(OTHER_TYPE)  # `long n = 1;` would become an int
    if not _means_same(code, value):
        return Refused(OTHER_MEANING)
    if code.text(variable.part("name")) in code.names(value):
        return Refused(READS_ITSELF)  # the value of a `var` must not name it (JLS 14.4.1)
    return code.site(node, "type as var", replace(node.part("type"), "var"))


@_declarations
def _from_var(code: JavaSource, node: Node, variables: list[Node]) -> Result:
    """`var n = 1;` as `int n = 1;`."""
    if not _is_inferred(code, node):
        return None
    value = variables[0].part("value")
    found = code.type(value)
    if found is None or not found.replace("[]", "").replace(".", "").isalnum():
        return Refused(OTHER_TYPE)
    if not _means_same(code, value):
        return Refused(OTHER_MEANING)
    return code.site(node, "var as its type", replace(node.part("type"), found))


SPLIT_DECLARATIONS: Final = Rewriting(
    name="split-declarations", find=_split, nothing="no declaration of a local"
)
JOIN_DECLARATIONS: Final = Rewriting(
    name="join-declarations", find=_join, nothing="no two declarations in a row"
)
SPLIT_INITIALISERS: Final = Rewriting(
    name="split-initialisers", find=_split_value, nothing="no declaration of a local"
)
JOIN_INITIALISERS: Final = Rewriting(
    name="join-initialisers", find=_join_value, nothing="no declaration without a value"
)
INSERT_FINAL: Final = Rewriting(name="insert-final", find=_insert_final, nothing="no variable")
REMOVE_FINAL: Final = Rewriting(name="remove-final", find=_remove_final, nothing="no final variable")
TYPE_TO_VAR: Final = Rewriting(name="type-to-var", find=_to_var, nothing="no declaration of a local")
VAR_TO_TYPE: Final = Rewriting(name="var-to-type", find=_from_var, nothing="no var")

"""Declarations of local variables in another form.

A variable without `final` is no constant (Java Language Specification, 4.12.4), whatever it begins with; one
that is declared and then set once is effectively final like one that is declared with its value. A `final`
that makes or unmakes a constant variable is left alone: labels of a switch, narrowing, what is reachable, and
which strings are one object depend on it.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, Types, is_final, varies
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import COMMENT, JavaSource, Rewriting, block_of, over
from codeaudit.transforms.patches import Patch, Site

ONE: Final = "only one variable"
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


def _declarations(code: JavaSource) -> Iterator[Node | Refused]:
    for node in code.of("local_variable_declaration"):
        yield node if block_of(node) is not None else Refused(IN_HEAD)


def _annotated(node: Node) -> bool:
    modifiers = node.first("modifiers")
    return modifiers is not None and bool(modifiers.children)


def _head(code: JavaSource, node: Node) -> str:
    """Modifiers and type of a declaration, as they stand."""
    return code.source[node.start : node.part("declarator").start].decode()


def _inferred(code: JavaSource, node: Node) -> bool:
    return code.text(node.part("type")) == "var"


# ── several variables ────────────────────────────────────────────────────────────────────────────────────


def _split(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        variables = node.all("declarator")
        if len(variables) < 2:
            yield Refused(ONE)
        elif code.commented(node.start, node.end):
            yield Refused(COMMENT)
        else:
            lead = f"{code.newline}{code.indentation(node.start)}{_head(code, node)}"
            changes = tuple(Patch(one.end, two.start, (";", lead)) for one, two in pairwise(variables))
            yield Site((changes,), "one declaration each", code.line(node))


def _join(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        held = block_of(node)
        assert held is not None
        behind = held[0][held[1] + 1 : held[1] + 2]
        if not behind or behind[0].kind != "local_variable_declaration":
            continue
        other = behind[0]
        if _head(code, node).split() != _head(code, other).split():
            yield Refused("other types")
        elif _inferred(code, node):
            yield Refused(INFERRED)
        elif code.commented(node.start, other.end):
            yield Refused(COMMENT)
        else:
            last, first = node.all("declarator")[-1], other.part("declarator")
            yield Site(((Patch(last.end, first.start, (", ",)),),), "declarations joined", code.line(node))


# ── the value apart ──────────────────────────────────────────────────────────────────────────────────────


def _apart(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        variables = node.all("declarator")
        value = variables[0].child("value")
        if len(variables) > 1:
            yield Refused("several variables")
        elif value is None:
            yield Refused(NO_VALUE)
        elif is_final(node):
            yield Refused(FINAL)
        elif _inferred(code, node):
            yield Refused(INFERRED)
        elif value.kind == "array_initializer":
            yield Refused(ARRAY)
        elif code.commented(node.start, value.start):
            yield Refused(COMMENT)
        else:
            name = variables[0].part("name")
            end = variables[0].child("dimensions") or name
            again = f";{code.newline}{code.indentation(node.start)}{code.text(name)} = "
            yield Site(((Patch(end.end, value.start, (again,)),),), "value assigned apart", code.line(node))


def _together(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        variables = node.all("declarator")
        if len(variables) > 1 or variables[0].child("value") is not None:
            continue
        held = block_of(node)
        assert held is not None
        behind = held[0][held[1] + 1 : held[1] + 2]
        inner = behind[0].children[0] if behind and behind[0].kind == "expression_statement" else None
        name = code.text(variables[0].part("name"))
        if inner is None or inner.kind != "assignment_expression" or inner.operator != "=":
            yield Refused(NOT_NEXT)
            continue
        target, value = inner.children
        if code.text(target) != name:
            yield Refused(NOT_NEXT)
        elif is_final(node):
            yield Refused(FINAL)
        elif name in code.names(value):
            yield Refused(READS_ITSELF)
        elif code.commented(node.start, value.start):
            yield Refused(COMMENT)
        else:
            change = Patch(variables[0].end, value.start, (" = ",))
            yield Site(((change,),), "declared with its value", code.line(node))


# ── final ────────────────────────────────────────────────────────────────────────────────────────────────


def _insert_final(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for binding in code.scopes.bindings:
        node = _declared(binding)
        if node is None:
            continue
        if is_final(node):
            continue
        if any(use.use != "declare" for use in binding.occurrences if use.use != "read"):
            yield Refused(ASSIGNED)
        elif binding.doubt is not None:
            yield Refused(binding.doubt)
        elif node.kind == "local_variable_declaration" and len(node.all("declarator")) > 1:
            yield Refused("several variables")
        elif _annotated(node):
            yield Refused(ANNOTATED)
        elif binding.view == "local" and not _safe(code, types, binding, node):
            yield Refused(CONSTANT)
        else:
            yield Site(((Patch(_place(node), _place(node), ("final ",)),),), "final", code.line(node))


def _remove_final(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for binding in code.scopes.bindings:
        node = _declared(binding)
        if node is None or not is_final(node):
            continue
        modifiers = node.first("modifiers")
        assert modifiers is not None
        if node.kind == "local_variable_declaration" and len(node.all("declarator")) > 1:
            yield Refused("several variables")
        elif binding.view == "local" and not _safe(code, types, binding, node):
            yield Refused(CONSTANT)
        else:
            _, start, end = next(token for token in modifiers.tokens if token[0] == "final")
            blank = len(code.source[end:]) - len(code.source[end:].lstrip(b" \t"))
            yield Site(((Patch(start, end + blank, ()),),), "no final", code.line(node))


def _declared(binding: JavaBinding) -> Node | None:
    """The declaration on which `final` would stand."""
    node = binding.node
    if node is None or binding.view not in ("local", "parameter", "loop", "catch"):
        return None
    if binding.view == "local":
        return node.parent
    if binding.view == "parameter":
        owner = node.parent.parent if node.parent is not None else None
        if owner is None or owner.child("body") is None or node.kind != "formal_parameter":
            return None  # of a method without a body, or a component of a record
        return None if owner.kind == "record_declaration" else node
    if binding.view == "catch" and any(inner.has("|") for inner in node.children):
        return None  # final already
    return node


def _place(node: Node) -> int:
    """Where the modifiers of a declaration begin."""
    if node.kind != "enhanced_for_statement":
        return node.start
    return (node.first("modifiers") or node.part("type")).start


def _safe(code: JavaSource, types: Types, binding: JavaBinding, node: Node) -> bool:
    """Whether a `final` decides nothing but that the variable is not assigned again."""
    assert binding.node is not None
    value = binding.node.child("value")
    if value is None:
        return False
    kind = types.declared(binding)
    if kind is not None and kind not in PRIMITIVE | {STRING}:
        return True
    return varies(code, value)


# ── var ──────────────────────────────────────────────────────────────────────────────────────────────────


def _to_var(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        variables = node.all("declarator")
        value = variables[0].child("value")
        if _inferred(code, node):
            continue
        if len(variables) > 1 or variables[0].child("dimensions") or value is None:
            yield Refused(NO_VALUE if value is None else "several variables")
        elif value.kind == "array_initializer":
            yield Refused(ARRAY)
        elif is_final(node) and not varies(code, value):
            yield Refused(CONSTANT)
        elif types.of(value) != "".join(code.text(node.part("type")).split()):
            yield Refused(OTHER_TYPE)
        elif code.text(variables[0].part("name")) in code.names(value):
            yield Refused(READS_ITSELF)
        else:
            yield Site(((over(node.part("type"), "var"),),), "type as var", code.line(node))


def _from_var(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in _declarations(code):
        if isinstance(node, Refused):
            yield node
            continue
        if not _inferred(code, node):
            continue
        found = types.of(node.part("declarator").part("value"))
        if found is None or not found.replace("[]", "").replace(".", "").isalnum():
            yield Refused(OTHER_TYPE)
        else:
            yield Site(((over(node.part("type"), found),),), "var as its type", code.line(node))


SPLIT_DECLARATIONS: Final = Rewriting(
    name="split-declarations", find=_split, nothing="no declaration of a local"
)
JOIN_DECLARATIONS: Final = Rewriting(
    name="join-declarations", find=_join, nothing="no two declarations in a row"
)
SPLIT_INITIALISERS: Final = Rewriting(
    name="split-initialisers", find=_apart, nothing="no declaration of a local"
)
JOIN_INITIALISERS: Final = Rewriting(
    name="join-initialisers", find=_together, nothing="no declaration without a value"
)
INSERT_FINAL: Final = Rewriting(name="insert-final", find=_insert_final, nothing="no variable")
REMOVE_FINAL: Final = Rewriting(name="remove-final", find=_remove_final, nothing="no final variable")
TYPE_TO_VAR: Final = Rewriting(name="type-to-var", find=_to_var, nothing="no declaration of a local")
VAR_TO_TYPE: Final = Rewriting(name="var-to-type", find=_from_var, nothing="no var")

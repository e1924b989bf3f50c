"""`this.` before the members of the class at hand, and not.

A simple name means a member of the innermost class that has one of this name, unless a variable hides it
(Java Language Specification, 6.4.1 and 15.12.1), so javac makes the same code of both. Not so for a constant:
`this.SIZE` is no constant expression, on which folding, narrowing, labels and reachability depend. As
`this.x` a blank `final` field may be read before it is set, and a field before its declaration; as `x`
neither may.

Nothing is known of members that the text does not show: they get no `this.`, and lose theirs only if they
are methods, or fields to which the text assigns, which are no constants.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.library import CONTEXTUAL
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, is_final, plainly_written
from codeaudit.transforms.java.dialect import ANNOTATIONS
from codeaudit.transforms.java.members.classes import (
    Classes,
    MemberRewriting,
    home,
    is_static,
    member_of,
)
from codeaudit.transforms.java.parsing import CALLABLES
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding

STATIC: Final = "member is static"
OUTSIDE: Final = "field of a class around or above"
CONSTANT: Final = "field may be a constant"
NO_OBJECT: Final = "no object to name in this place"
UNDECLARED: Final = "class of the method is not in the text"
HIDDEN: Final = "a variable hides the field"
UNSET: Final = "field may not be set yet"
UNKNOWN: Final = "nothing is known of the field"
SPECIAL: Final = "special name"
COMMENT: Final = "comment between the parts"
_FIXED: Final = ANNOTATIONS | {
    "switch_label", "resource", "enum_constant", "explicit_constructor_invocation"
}  # fmt: skip
"""Places in which a name is not as good as a member of `this`."""


def _insert(classes: Classes) -> Iterator[Site | Refused]:
    """`x` and `f()` as `this.x` and `this.f()`."""
    for node in classes.nodes:
        if node.kind == "identifier":
            binding = classes.scopes.at.get(node.start)
            if binding is None or binding.start == node.start:
                continue  # no variable, or its declaration
            if binding.view == "outer" and node.parent is not None and not classes.reading.whole:
                yield Refused(UNDECLARED)
            elif binding.view == "field":
                yield _qualified(classes, node, _why_not_field(classes, binding, node))
        elif node.kind == "method_invocation" and node.child("object") is None:
            yield _qualified(classes, node, _why_not_method(classes, node))


def _qualified(classes: Classes, node: Node, reason: str | None) -> Site | Refused:
    """The site that puts `this.` before a name, or the refusal with this reason."""
    if reason is not None:
        return Refused(reason)
    return Site(((Patch(node.start, node.start, ("this.",)),),), "this. before a member", classes.line(node))


def _why_not_field(classes: Classes, binding: Binding, node: Node) -> str | None:
    """Why a field gets no `this.`; `None` if it may."""
    body = home(node)
    if binding.node is None or body is None or home(binding.node) is not body:
        return OUTSIDE  # of a class around it, where `this` is another object
    if body is classes.reading.root:
        return UNDECLARED
    if _static(binding.node):
        return STATIC
    if _may_be_constant(classes, binding.node):
        return CONSTANT
    return None if _has_object(node, body) else NO_OBJECT


def _why_not_method(classes: Classes, node: Node) -> str | None:
    """Why a call of a method gets no `this.`; `None` if it may."""
    body = home(node)
    methods = classes.methods.get(body.start, {}).get(classes.text(node.part("name"))) if body else None
    if body is None or body is classes.reading.root:
        return UNDECLARED
    if not methods:
        return OUTSIDE  # inherited, or of a class around it
    # Overloads share the name; which one is called depends on types that the text may not show.
    if any(is_static(method) for method in methods):
        return STATIC
    return None if _has_object(node, body) else NO_OBJECT


def _static(declared: Node) -> bool:
    """Whether a field belongs to no object, by the node that declares it."""
    if declared.kind == "variable_declarator":
        return declared.parent is None or is_static(declared.parent)
    return declared.kind == "enum_constant"  # else a component of a record


def _may_be_constant(classes: Classes, declared: Node) -> bool:
    """Whether a field is `final` with a value, and of a type that has constants."""
    declaration = declared.parent
    if declared.kind != "variable_declarator" or declared.child("value") is None or declaration is None:
        return False
    kind = plainly_written(classes.reading, declaration.part("type"))
    return is_final(declaration) and (kind is None or kind in PRIMITIVE | {STRING})


def _has_object(node: Node, body: Node) -> bool:
    """Whether `this` means an object of the innermost class where a node stands."""
    # In a compact constructor the names of components are parameters, and no field is set yet (JLS 8.10.4.2).
    member = member_of(node)
    if is_static(member) or member.kind in ("static_initializer", "compact_constructor_declaration"):
        return False
    around = takewhile(lambda above: above is not body, node.ancestors())
    return member.kind not in _FIXED and all(above.kind not in _FIXED for above in around)


# ── the other way ────────────────────────────────────────────────────────────────────────────────────────


def _remove(classes: Classes) -> Iterator[Site | Refused]:
    """`this.x` and `this.f()` as `x` and `f()`."""
    for node in classes.nodes:
        first = node.child("object")
        if first is None or first.kind != "this" or node.kind not in ("field_access", "method_invocation"):
            continue
        name = node.part("field" if node.kind == "field_access" else "name")
        reason = _why_not_simple(classes, node, name)
        if reason is not None:
            yield Refused(reason)
        else:
            yield Site(((Patch(node.start, name.start, ()),),), "no this.", classes.line(node))


def _why_not_simple(classes: Classes, node: Node, name: Node) -> str | None:
    """Why a member keeps its `this.`; `None` if the name alone means the same."""
    if classes.commented(node.start, name.start):
        return COMMENT
    if classes.text(name) in CONTEXTUAL or name.kind != "identifier":
        return SPECIAL  # `this.yield()` needs its object
    if node.kind == "method_invocation":
        return SPECIAL if node.child("type_arguments") else None  # `this.<String>f()`
    body = home(node)
    if body is None or not _has_object(node, body):
        return NO_OBJECT
    meant = classes.simple.get(name.start)
    if meant is None or meant.view in LOCAL_VIEWS:
        return HIDDEN  # `this.x = x;` in a method with a parameter x
    member = member_of(node)
    inside = member.kind == "method_declaration"
    written = _is_target(node)
    around = home(meant.node) if meant.view == "field" and meant.node is not None else None
    if meant.node is None or around is None or body is classes.reading.root or around.start != body.start:
        # The text does not declare the field. What it assigns to is no constant, so nothing is folded.
        assigned = _assigned(classes, body, classes.text(name))
        return None if assigned and (inside or written) else UNKNOWN
    if _static(meant.node):
        return STATIC
    if _may_be_constant(classes, meant.node):
        return CONSTANT
    if inside or written:
        return None
    if _blank_final(meant.node):
        return UNSET  # in a constructor or initialiser javac demands that it is set (JLS 16)
    return None if member.kind in CALLABLES or meant.node.end <= node.start else UNSET


def _is_target(node: Node) -> bool:
    """Whether something is assigned to a field, without it being read."""
    above = node.parent
    is_assignment = above is not None and above.kind == "assignment_expression"
    return is_assignment and above is not None and above.operator == "=" and node.field == "left"


def _assigned(classes: Classes, body: Node, name: str) -> bool:
    """Whether a class assigns to a field of this name of its own objects, so that it is no constant."""
    for node in body.walk():
        if node.kind in ("assignment_expression", "update_expression"):
            target = node.children[0]
            if (
                target.kind == "field_access"
                and target.part("object").kind == "this"
                and classes.text(target.part("field")) == name
                and home(target) is body
            ):
                return True
    return False


def _blank_final(declared: Node) -> bool:
    """Whether a field has to be set by a constructor or initialiser; so has a component of a record."""
    if declared.kind != "variable_declarator":
        return True
    return is_final(declared.parent) and declared.child("value") is None


# ── the control ──────────────────────────────────────────────────────────────────────────────────────────


def _drop(classes: Classes) -> Iterator[Site | Refused]:
    """`this.x = x` as `x = x`, where both are of one type and the variable may be assigned to."""
    for node in classes.nodes:
        if node.kind != "field_access" or node.part("object").kind != "this" or not _is_target(node):
            continue
        name = node.part("field")
        if classes.commented(node.start, name.start):
            yield Refused(COMMENT)
            continue
        meant = classes.simple.get(name.start)
        if meant is None or meant.view not in ("parameter", "local") or meant.doubt or meant.captured:
            yield Refused("no variable hides the field")
            continue
        body = home(node)
        fields = [
            field for field in classes.scopes.bindings
            if field.view == "field" and field.name == meant.name and field.node and home(field.node) is body
        ]  # fmt: skip
        kind = _kind(classes, fields[0]) if fields else None
        if kind is None or kind != _kind(classes, meant) or _static(fields[0].node or node):
            yield Refused("not of one type that can be assigned to")
        else:
            yield Site(((Patch(node.start, name.start, ()),),), "no this.", classes.line(node))


def _kind(classes: Classes, binding: Binding) -> str | None:
    """The type of a variable as its declaration writes it; `None` if it is final or not all of its type."""
    node = binding.node
    declaration = node.parent if node is not None and node.kind == "variable_declarator" else node
    if node is None or declaration is None or node.child("dimensions") or is_final(declaration):
        return None
    if declaration.kind not in ("field_declaration", "formal_parameter", "local_variable_declaration"):
        return None
    around = declaration.parent.parent if declaration.parent is not None else None
    if around is not None and around.kind == "record_declaration":
        return None  # fields of records are final
    return classes.text(declaration.part("type"))


INSERT_THIS: Final = MemberRewriting(name="insert-this", find=_insert, nothing="no member by its name")
REMOVE_THIS: Final = MemberRewriting(name="remove-this", find=_remove, nothing="no this.")
THIS_DROPPED: Final = MemberRewriting(
    name="this-dropped", find=_drop, nothing="no assignment to a field of this", kind="control"
)

"""The reasons why a Java variable has to keep its name; `variables.movable` asks for them."""

from typing import Final

from codeaudit.transforms.java.analysis.knowledge import HARMLESS_ANNOTATIONS, HARMLESS_MARKERS
from codeaudit.transforms.java.analysis.scopes import JavaBinding, JavaScopes
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.parsing import CALLABLES

COMPACT: Final = "compact constructor of a record"
SPECIAL: Final = "special name"
NOT_A_VARIABLE: Final = "not a variable of the method"
ANNOTATED: Final = "annotation may read the name"
ANNOTATED_METHOD: Final = "annotation of the method may read parameter names"
BODILESS: Final = "method without a body"
RECORD: Final = "parameter may be a component of a record"


class JavaGuard:
    """Checks the variables of one method for reasons to keep their names."""

    def __init__(self, scopes: JavaScopes) -> None:
        self._scopes = scopes
        self._callables: dict[int, str | None] = {}

    def obstacle(self, binding: JavaBinding) -> str | None:
        """A short reason to count; `None` for a variable that may be renamed."""
        if binding.view in ("outer", "field"):
            return NOT_A_VARIABLE
        if binding.doubt:
            return binding.doubt
        if binding.view == "label":
            return SPECIAL if "$" in binding.name else None
        if "$" in binding.name or not binding.name.strip("_"):
            return SPECIAL
        node = binding.node
        assert node is not None
        if binding.view == "parameter":
            assert node.parent is not None
            assert node.parent.parent is not None
            if reason := self._callable(node.parent.parent):
                return reason
        declaration = node.parent if node.kind == "variable_declarator" else node
        if declaration is not None and any(not self._harmless(one) for one in annotations(declaration)):
            return ANNOTATED
        return None

    def _callable(self, node: Node) -> str | None:
        if node.start not in self._callables:
            self._callables[node.start] = self._whole(node)
        return self._callables[node.start]

    def _whole(self, node: Node) -> str | None:
        """Why all parameters of a method or constructor keep their names; `None` if they may change."""
        if any(not self._harmless(one) for one in annotations(node)):
            return ANNOTATED_METHOD
        if node.child("body") is None:
            return BODILESS
        return RECORD if self._may_be_canonical(node) else None

    def _may_be_canonical(self, node: Node) -> bool:
        """Whether a constructor may be the canonical one of a record: its parameters have the components'
        names.
        """
        if node.kind != "constructor_declaration" or node.first("throws"):
            return False
        above = node.parent.parent if node.parent else None
        if node is not self._scopes.unit:
            return above is not None and above.kind == "record_declaration"
        body = node.part("body")
        if body.children and body.children[0].kind == "explicit_constructor_invocation":
            return False
        text = self._scopes.reading.text
        written = {
            text(left.children[-1])
            for inner in body.walk()
            if inner.kind == "assignment_expression"
            for left in inner.children[:1]
            if left.kind == "field_access" and left.children[0].kind == "this"
        }
        return all(
            binding.name in written
            for binding in self._scopes.bindings
            if binding.view == "parameter" and binding.owner == 0
        )

    def _harmless(self, annotation: Node) -> bool:
        name = self._scopes.reading.text(annotation.part("name")).rpartition(".")[2]
        bare = annotation.kind == "marker_annotation"
        return name in HARMLESS_ANNOTATIONS or (bare and name in HARMLESS_MARKERS)


def annotations(node: Node) -> list[Node]:
    """The annotations in front of a declaration, and those of its type."""
    return [
        inner
        for child in node.children
        if child.kind not in CALLABLES and child.field not in ("body", "value", "parameters", "declarator")
        for inner in child.walk()
        if inner.kind in ("annotation", "marker_annotation")
    ]

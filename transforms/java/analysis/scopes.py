"""The variables of a Java method: which names are the same variable, and where they occur.

`resolve` computes the referent relation of Renamer (Ankner et al., section 3) for one method or constructor:
two occurrences are coreferential if they belong to one `Binding`. The rules are those of the Java
Language Specification, chapter 6:

- The scope of a local variable is from its declarator to the end of its block.
- The scope of a pattern variable is the code where its pattern has matched (6.3.1, 6.3.2).
- The scope of a field is its whole class.
- A member that a class inherits hides the variables around the class.
- A name that is bound outside of the method (field, type, package) has the view `outer`.

A class in the method may inherit fields that the text does not show. A local that is used inside such a class
could be one of those fields. It gets a `doubt`, and no transform renames it. The same holds if a `case` may
mean a constant of an enum, or if the scope of a pattern variable depends on facts outside of the text.

Names that are not variables have no occurrences: methods, types, elements of annotations, members after a
dot.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal

from codeaudit.transforms.java.analysis.library import FIELDLESS
from codeaudit.transforms.java.parsing import FLOW, TYPES, only_callable, read
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import (
    HIDDEN,
    Binding,
    Introduced,
    ScopeFrame,
    Scopes,
    ScopeWalk,
    View,
    resolved,
)  # fmt: skip

INHERITED: Final = HIDDEN
IN_CASE: Final = "name stands in a case label"
IS_TYPE: Final = "name is also that of a type"
OPEN_SCOPE: Final = "scope of a pattern variable is open"


@lru_cache(maxsize=8)
def resolve(source: str) -> Scopes:
    """Resolve every name of one method or constructor, given as its text.

    The last few results are remembered, since a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text does not parse, or is not exactly one method.
    """
    reading = read(source)
    return resolved(_JavaScopeWalk, reading, only_callable(reading), "method")


@lru_cache(maxsize=8)
def resolve_all(source: str) -> Scopes:
    """Resolve every name of a file, or of members of a class; the unit is the root of the tree.

    Raises:
        SourceError: the text does not parse, or is nested too deeply.
    """
    reading = read(source)
    return resolved(_JavaScopeWalk, reading, reading.root, "one")


class _JavaScopeWalk(ScopeWalk):
    """One pass over a method, in the order in which names become known."""

    def start(self) -> None:
        """Visit the unit, and doubt variables that have the name of a type."""
        if self.unit.kind == "class_body":
            self.class_body(self.unit, ())
        else:
            self.visit(self.unit)
        for binding in self.bindings:
            if binding.name in self.types and binding.doubt is None and binding.view != "outer":
                binding.doubt = IS_TYPE

    def nameless(self, name: Node, text: str) -> bool:
        """Whether it is `_`, which since Java 22 is no variable at all."""
        return text == "_" or name.kind == "underscore_pattern"

    def introduce(self, bindings: Sequence[Binding], sure: bool | None) -> None:
        """Make pattern variables known to the statements that follow; if this is not sure, doubt them."""
        if sure is False:
            return
        if sure is None:
            for binding in bindings:
                binding.doubt = binding.doubt or OPEN_SCOPE
        self.know(bindings)

    def visit_type_identifier(self, node: Node) -> None:
        self.types.add(self.text(node))

    def visit_marker_annotation(self, node: Node) -> None:
        """It holds no variable; nor does a name with dots that is no expression."""

    visit_scoped_identifier = visit_marker_annotation

    # Expressions

    def visit_method_reference(self, node: Node) -> None:
        """Visit the parts that may hold variables: not the member after a dot, nor the name behind `::`."""
        self.visit(node.children[0])
        self.visit_all(child for child in node.children[1:] if child.kind != "identifier")

    def visit_field_access(self, node: Node) -> None:
        self.visit(node.children[0])

    def visit_method_invocation(self, node: Node) -> None:
        for child in node.children:
            if child.field != "name":
                self.visit(child)

    visit_annotation_type_element_declaration = visit_method_invocation

    def visit_binary_expression(self, node: Node) -> Introduced | None:
        if len(node.children) != 2:
            self.visit_all(node.children)
            return None
        left, right = node.children
        operator = node.operator
        first = self.visit(left)
        if first is None or operator not in ("&&", "||"):
            second = self.visit(right)
        else:
            # `o instanceof String s && …`: the right operand is evaluated where the left one is true.
            second = self.inside(right, first[0] if operator == "&&" else first[1])
        if operator == "&&" and (true := _either(first, second, 0)):
            return true, []
        return ([], false) if operator == "||" and (false := _either(first, second, 1)) else None

    def visit_unary_expression(self, node: Node) -> Introduced | None:
        sides = self.visit(node.children[0])
        return (sides[1], sides[0]) if sides and node.operator == "!" else None

    def visit_parenthesized_expression(self, node: Node) -> Introduced | None:
        return self.visit(node.children[0]) if node.children else None

    def visit_ternary_expression(self, node: Node) -> None:
        condition, first, second = node.children
        true, false = self.visit(condition) or ([], [])
        self.inside(first, true)
        self.inside(second, false)

    def visit_instanceof_expression(self, node: Node) -> Introduced | None:
        self.visit(node.children[0])
        name, bindings = node.child("name"), []
        for child in node.children[1:]:
            if child is name:
                binding = self.declare(child, "pattern", node, known=False)
                bindings += [binding] if binding else []
            elif child.kind == "record_pattern":
                bindings += self.pattern(child)
            else:
                self.visit(child)
        return (bindings, []) if bindings else None

    def pattern(self, node: Node) -> list[Binding]:
        """Declare the variables of a pattern and return them."""
        bindings: list[Binding] = []
        if node.kind in ("type_pattern", "record_pattern_component"):
            *types, name = node.children
            self.visit_all(types)
            if name.kind != "identifier":
                return bindings  # a type alone, or `_`
            binding = self.declare(name, "pattern", node, known=False)
            return [binding] if binding else bindings
        for child in node.children:
            if child.kind in _PATTERNS:
                bindings += self.pattern(child)
            elif child.kind != "identifier":
                self.visit(child)
        return bindings

    def visit_lambda_expression(self, node: Node) -> None:
        parameters, body = node.part("parameters"), node.part("body")
        before = self.enter_part()
        self.frames.append(ScopeFrame(node.end))
        if parameters.kind == "identifier":
            self.declare(parameters, "lambda", parameters)
        elif parameters.kind == "inferred_parameters":
            for child in parameters.children:
                self.declare(child, "lambda", child)
        else:
            self.parameters(parameters, "lambda")
        self.visit(body)
        self.frames.pop()
        self.depth = before

    def visit_object_creation_expression(self, node: Node) -> None:
        body = node.first("class_body")
        for child in node.children:
            if child is not body:
                self.visit(child)
        if body:
            kind = node.child("type")
            self.class_body(body, [kind] if kind else [])

    def visit_annotation(self, node: Node) -> None:
        arguments = node.child("arguments")
        if arguments:
            self.visit_all(arguments.children)

    def visit_element_value_pair(self, node: Node) -> None:
        self.visit(node.children[-1])

    # Declarations

    def visit_method_declaration(self, node: Node) -> None:
        """Visit a method or constructor; the parts in front of its parameters do not see them."""
        self.frames.append(ScopeFrame(node.end))
        name = node.child("name")
        parameters = node.child("parameters")
        for child in node.children:
            if child is parameters:
                self.parameters(child, "parameter")
            elif child is not name:
                self.visit(child)
        self.frames.pop()

    visit_constructor_declaration = visit_method_declaration
    visit_compact_constructor_declaration = visit_method_declaration

    def parameters(self, node: Node, view: View) -> None:
        names: list[tuple[Node, Node]] = []
        for child in node.children:
            name = child.child("name")
            if child.kind == "receiver_parameter" or (name and self.text(name) == "this"):
                continue  # with an annotation, the grammar takes a receiver for a parameter
            declarator = child.first("variable_declarator")
            if declarator:
                name = declarator.child("name")
            self.visit_all(part for part in child.children if part is not name and part is not declarator)
            if name:
                names.append((name, child))
        for name, child in names:  # an annotation of a parameter does not see the parameters
            self.declare(name, view, child)

    def visit_local_variable_declaration(self, node: Node) -> None:
        for child in node.children:
            if child.kind == "variable_declarator":
                name = child.children[0]
                self.declare(name, "local", child)
                self.visit_all(child.children[1:])
            else:
                self.visit(child)

    def visit_field_declaration(self, node: Node) -> None:
        """Visit a declaration of fields, whose names are known already."""
        for child in node.children:
            self.visit_all(child.children[1:] if child.kind == "variable_declarator" else [child])

    visit_constant_declaration = visit_field_declaration

    def visit_class_declaration(self, node: Node) -> None:
        name, body = node.child("name"), node.child("body")
        above: list[Node] = []
        components: list[Node] = []
        for child in node.children:
            if child is name or child is body:
                continue
            if child.kind == "formal_parameters":
                components = child.children
                self.visit_all(part for inner in components for part in inner.children if part.field != "name"
                               and part.kind != "variable_declarator")  # fmt: skip
                continue
            if child.kind in ("superclass", "super_interfaces", "extends_interfaces"):
                for part in child.children:
                    above += part.children if part.kind == "type_list" else [part]
            self.visit(child)
        if body:
            self.class_body(body, above, components, self.text(name) if name else "")

    visit_interface_declaration = visit_class_declaration
    visit_enum_declaration = visit_class_declaration
    visit_record_declaration = visit_class_declaration
    visit_annotation_type_declaration = visit_class_declaration

    def class_body(
        self, node: Node, above: Sequence[Node], components: Sequence[Node] = (), name: str = ""
    ) -> None:
        """Visit the members of a class that extends or implements these types."""
        before = self.enter_part()
        frame = ScopeFrame(node.end)
        # A supertype in the text shows its fields; a known one of the JDK has none; others may have any.
        for kind in above:
            known, body = self.declared_class(self.simple(kind))
            frame.opaque = frame.opaque or not known
            if body:
                # Private fields are not inherited (JLS 8.2).
                frame.names.update(
                    (name, binding) for name, binding in body.names.items() if not _private(binding)
                )
                frame.types.update(dict.fromkeys(body.types))
                frame.opaque = frame.opaque or body.opaque
        if name:
            self.frames[-1].types[name] = frame
        frame.types.update(dict.fromkeys(self.member_types(node)))
        self.frames.append(frame)
        for component in components:
            declarator = component.first("variable_declarator")
            label = declarator.child("name") if declarator else component.child("name")
            if label:
                self.declare(label, "field", component)
        self.fields(node)  # known in the whole body, also before their declarations
        self.visit_all(node.children)
        self.frames.pop()
        self.depth = before

    def declared_class(self, name: str) -> tuple[bool, ScopeFrame | None]:
        """Whether all fields of the class that a name means here are known, and its body if it has any."""
        hidden = False
        for frame in reversed(self.frames):
            if name in frame.types:
                body = None if hidden else frame.types[name]
                return body is not None, body
            # A class with an unknown supertype may inherit another class of this name.
            hidden = hidden or frame.opaque
        return name in FIELDLESS, None

    def member_types(self, node: Node) -> Iterator[str]:
        """The names of the types that the body of a class declares, which are known in all of it."""
        for member in node.children:
            if member.kind in TYPES:
                yield self.text(member.part("name"))
            elif member.kind == "enum_body_declarations":
                yield from self.member_types(member)

    def fields(self, node: Node) -> None:
        """Make the fields of a class known."""
        for member in node.children:
            if member.kind in ("field_declaration", "constant_declaration"):
                for child in member.all("declarator"):
                    self.declare(child.children[0], "field", child)
            elif member.kind == "enum_constant":
                self.declare(member.part("name"), "field", member)
            elif member.kind == "enum_body_declarations":
                self.fields(member)

    def visit_enum_constant(self, node: Node) -> None:
        for child in node.children:
            if child.field == "body":
                before = self.enter_part()
                self.frames.append(ScopeFrame(child.end))
                self.fields(child)
                self.visit_all(child.children)
                self.frames.pop()
                self.depth = before
            elif child.field != "name":
                self.visit(child)

    def simple(self, node: Node) -> str:
        """The name of a type as written, without arguments and annotations."""
        while node.kind in ("generic_type", "annotated_type"):
            node = next(child for child in node.children if not child.kind.endswith("annotation"))
        return self.text(node)

    # Statements

    visit_constructor_body = ScopeWalk.visit_block

    def visit_if_statement(self, node: Node) -> None:
        condition, consequence = node.part("condition"), node.part("consequence")
        alternative = node.child("alternative")
        # `if (!(o instanceof String s)) return; f(s);`: s is known behind the `if` (JLS 6.3.2.2).
        true, false = self.visit(condition) or ([], [])
        self.inside(consequence, true)
        if alternative:
            self.inside(alternative, false)
        if false:
            self.introduce(false, self.decided(consequence, alternative))
        if true and alternative:
            self.introduce(true, self.decided(alternative, consequence))

    def decided(self, ends: Node, goes_on: Node | None) -> bool | None:
        """Whether control gets behind an `if` on one of its branches only; `None` if the text does not
        tell.
        """
        first = FLOW.completes(ends, self.reading)
        second = FLOW.completes(goes_on, self.reading) if goes_on else True
        if first or second is False:
            return False
        return None if first is None or second is None else True

    def visit_while_statement(self, node: Node) -> None:
        condition, body = node.part("condition"), node.part("body")
        true, false = self.visit(condition) or ([], [])
        self.inside(body, true)
        self.behind_loop(node, false)

    def behind_loop(self, node: Node, false: Sequence[Binding]) -> None:
        """Make variables known that a false condition introduces, unless a `break` skips the condition."""
        if false and not FLOW.breaks(node, self.reading):
            self.know(false)

    def visit_do_statement(self, node: Node) -> None:
        condition, body = node.part("condition"), node.part("body")
        self.inside(body)
        _, false = self.visit(condition) or ([], [])
        self.behind_loop(node, false)

    def visit_for_statement(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        condition, body = node.child("condition"), node.child("body")
        self.visit_all(node.all("init"))
        true, false = (self.visit(condition) if condition else None) or ([], [])
        self.frames.append(ScopeFrame(node.end))
        self.know(true)
        self.visit_all(node.all("update"))
        if body:
            self.inside(body)
        self.frames.pop()
        self.frames.pop()
        self.behind_loop(node, false)

    def visit_enhanced_for_statement(self, node: Node) -> None:
        name, value, body = node.part("name"), node.part("value"), node.part("body")
        self.visit_all(child for child in node.children if child not in (name, value, body))
        self.visit(value)
        self.frames.append(ScopeFrame(node.end))
        self.declare(name, "loop", node)
        self.inside(body)
        self.frames.pop()

    def visit_try_with_resources_statement(self, node: Node) -> None:
        body = node.child("body")
        self.frames.append(ScopeFrame(body.end if body else node.end))
        for child in node.children:
            if child.kind == "resource_specification":
                self.visit_all(child.children)
            elif child is body:
                self.visit(child)
                self.frames.pop()
            else:
                self.visit(child)

    def visit_resource(self, node: Node) -> None:
        name = node.child("name")
        for child in node.children:
            if child is name:
                self.declare(child, "resource", node)
            else:
                self.visit(child)

    def visit_catch_clause(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        for child in node.children:
            if child.kind == "catch_formal_parameter":
                name = child.child("name")
                self.visit_all(part for part in child.children if part is not name)
                if name:
                    self.declare(name, "catch", child)
            else:
                self.visit(child)
        self.frames.pop()

    def visit_switch_block(self, node: Node) -> None:
        """Visit the body of a switch: the statements of all groups share one block, a rule has its own."""
        self.frames.append(ScopeFrame(node.end))
        for part in node.children:
            if part.kind == "switch_rule":
                self.frames.append(ScopeFrame(part.end))
                self.group(part)
                self.frames.pop()
            else:
                names = self.frames[-1].names
                before = dict(names)
                for binding in self.group(part):
                    names.pop(binding.name, None)
                    if binding.name in before:
                        names[binding.name] = before[binding.name]
        self.frames.pop()

    def group(self, node: Node) -> list[Binding]:
        """Visit a group: its labels and statements; returns the variables of the patterns in the labels."""
        bindings: list[Binding] = []
        for child in node.children:
            if child.kind == "switch_label":
                matched = self.label(child)
                self.know(matched)
                bindings += matched
            else:
                self.visit(child)
        return bindings

    def label(self, node: Node) -> list[Binding]:
        bindings: list[Binding] = []
        for child in node.children:
            if child.kind in _PATTERNS:
                bindings += self.pattern(child)
            elif child.kind == "guard":
                true, _ = self.inside(child.children[0], bindings) or ([], [])
                bindings += true
            elif child.kind == "identifier":
                self.case_name(child)
            else:
                self.visit(child)
        return bindings

    def case_name(self, node: Node) -> None:
        """Visit a name in a label: a constant of the enum, or a variable of this name."""
        name = self.text(node)
        for frame in self.frames:
            binding = frame.names.get(name)
            if binding is not None:
                binding.doubt = binding.doubt or IN_CASE


def _private(binding: Binding) -> bool:
    """Whether a field is declared private."""
    declaration = binding.node.parent if binding.node is not None else None
    modifiers = declaration.first("modifiers") if declaration is not None else None
    return modifiers is not None and modifiers.has("private")


def _either(first: Introduced | None, second: Introduced | None, side: Literal[0, 1]) -> list[Binding]:
    return (first[side] if first else []) + (second[side] if second else [])


_PATTERNS: Final = frozenset(
    {"pattern", "type_pattern", "record_pattern", "record_pattern_body", "record_pattern_component"}
)

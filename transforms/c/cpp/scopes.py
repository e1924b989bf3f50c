"""The variables of a C++ function: the scopes of C (`analysis.scopes`), and what only C++ declares.

`T x(y);` is a variable if `y` is one, though the grammar reads a function (ISO/IEC 14882, 8.9 and 9.3.2). An
argument of a template, as in `array<int, n>`, may be a variable. A name behind `::` is none.
"""

from typing import Final

from codeaudit.transforms.c.analysis.scopes import A_FUNCTION, IS_A_TYPE, TYPE_OR_VARIABLE, CScopes
from codeaudit.transforms.c.cpp.reading import head_of
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import ScopeFrame, View

IN_REQUIREMENT: Final = "a requirement of a template names it"
BY_USING: Final = "name that `using` declares"

_NAMES: Final = frozenset({"identifier", "type_identifier"})


class CppScopes(CScopes):
    """The scopes of one function."""

    # Functions

    def visit_function_definition(self, node: Node) -> None:
        """Visit the function. Its parameters, initialisers of members, and statements are in one block."""
        head, body = head_of(node), node.part("body")
        for child in node.children:
            if child.field == "declarator":
                self._head(child, head)
            elif child is not body:
                self.visit(child)
        self.visit_all(body.children)

    def _head(self, node: Node, head: Node | None) -> None:
        """Visit the declarator of the function."""
        for child in node.children:
            if node is head:
                self.parameters(child, "parameter")
            elif child.kind.endswith(("declarator", "qualified_identifier", "operator_cast")):
                self._head(child, head)
            else:
                self.visit(child)

    def visit_requires_expression(self, node: Node) -> None:
        """Visit a requirement, which may not even be an expression, or a parameter of one."""
        self.strange = self.strange or IN_REQUIREMENT

    visit_parameter_declaration = visit_requires_expression

    def declarator(self, node: Node, view: View, declaration: Node, doubt: str | None = None) -> None:
        """As in C; a structured binding declares all of its names."""
        binding = next((part for part in node.walk() if part.kind == "structured_binding_declarator"), None)
        if binding is None or node.kind == "function_declarator":
            super().declarator(node, view, declaration, doubt)
            return
        for child in binding.children:
            self.declare(child, view, binding, doubt=doubt)

    def visit_field_initializer(self, node: Node) -> None:
        """Visit `m(x)` of a constructor: the name is that of a member or a base."""
        self.visit_all(child for child in node.children if child.kind != "field_identifier")

    def visit_lambda_expression(self, node: Node) -> None:
        """Visit a lambda: what it captures by a new name, its parameters, its body."""
        before = self.enter_part()
        self.frames.append(ScopeFrame(node.end))
        declarator = node.child("declarator")
        captures = node.child("captures")
        new = []
        for child in captures.children if captures is not None else ():
            if child.kind == "lambda_capture_initializer":
                self.visit(child.part("right"))  # outside: `[n = n]`
                new.append(child.part("left"))
            else:
                self.visit(child)
        for name in new:
            self.declare(name, "lambda", node)
        for child in declarator.children if declarator is not None else ():
            self.parameters(child, "lambda")
        self.visit_all(child for child in node.children if child is not declarator and child is not captures)
        self.frames.pop()
        self.depth = before

    # Declarations

    def variable(self, node: Node, declaration: Node, doubt: str | None) -> None:
        """As in C; `T x(y);` is one, too."""
        parameters = node.child("parameters") if node.kind == "function_declarator" else None
        if parameters is None or not any(map(self._is_known, parameters.walk())):
            super().variable(node, declaration, doubt)
            return
        kinds = [child.child("type") for child in parameters.children]
        if not any(kind is not None and self._is_known(kind) for kind in kinds):
            doubt = doubt or A_FUNCTION  # `T x(U(y));` may be a function
        self.declarator(node.part("declarator"), "local", declaration, doubt)
        for name in parameters.walk():
            if name.kind in _NAMES:
                self.use(name, "read")

    def _is_known(self, node: Node) -> bool:
        """Whether a word names a variable of the function."""
        binding = self.find(self.text(node)) if node.kind in _NAMES else None
        return binding is not None and binding.view != "outer" and binding.doubt not in (IS_A_TYPE, BY_USING)

    def visit_enhanced_for_statement(self, node: Node) -> None:
        """Visit a loop over items; they are made before its variable is known."""
        self.frames.append(ScopeFrame(node.end))
        body, declarator = node.part("body"), node.child("declarator")
        self.visit_all(child for child in node.children if child is not body and child is not declarator)
        if declarator is not None:
            self.declarator(declarator, "loop", node)
        self.visit(body)
        self.frames.pop()

    def visit_catch_clause(self, node: Node) -> None:
        """Visit a handler."""
        self.frames.append(ScopeFrame(node.end))
        for child in node.children:
            self.parameters(child, "catch")
        self.frames.pop()

    def visit_alias_declaration(self, node: Node) -> None:
        """Visit `using T = …;`."""
        name = node.part("name")
        self.visit_all(child for child in node.children if child is not name)
        self.declare(name, "local", node, doubt=IS_A_TYPE)

    def visit_using_declaration(self, node: Node) -> None:
        """Visit `using a::b;`, which makes `b` known; of `using namespace a;` nothing is visited."""
        name: Node | None = node.first("qualified_identifier")
        while name is not None and name.kind == "qualified_identifier":
            name = name.child("name")
        if name is not None and name.kind == "identifier" and not node.has("namespace"):
            self.declare(name, "local", node, doubt=BY_USING)

    visit_class_specifier = CScopes.visit_struct_specifier

    # Names that are no variables

    def visit_qualified_identifier(self, node: Node) -> None:
        """Visit `a::b<c>`, of which only arguments may be variables, and `decltype(a)::b`."""
        for child in node.children:
            if child.kind in ("qualified_identifier", "decltype"):
                self.visit(child)
            elif child.kind in ("template_type", "template_function", "dependent_name", "operator_cast"):
                self._arguments(child)

    def _arguments(self, node: Node) -> None:
        """Visit the arguments of a template, whose name is none of a variable."""
        self.visit_all(child for child in node.children if child.kind not in {*_NAMES, "field_identifier"})

    visit_template_type = visit_template_method = _arguments

    def visit_template_function(self, node: Node) -> None:
        """Visit `f<T>`. With a variable for a name it would be a comparison."""
        name = node.part("name")
        if self._is_known(name):
            self.strange = TYPE_OR_VARIABLE
        self.visit(name)
        self._arguments(node)

    def visit_template_argument_list(self, node: Node) -> None:
        """Visit arguments of a template: a word alone may be a variable."""
        for child in node.children:
            kind = (
                child.child("type") if child.kind == "type_descriptor" and len(child.children) == 1 else None
            )
            if kind is not None and self._is_known(kind):
                self.use(kind, "read")
            else:
                self.visit(child)

    def visit_type_identifier(self, node: Node) -> None:
        """As in C; `using` may declare a type, too."""
        if self.find(self.text(node)).doubt != BY_USING:
            super().visit_type_identifier(node)

    def visit_destructor_name(self, node: Node) -> None:
        """Visit `~T`, and what else names no variable."""

    visit_attribute_declaration = visit_operator_name = visit_destructor_name
    visit_namespace_alias_definition = visit_destructor_name

"""The variables of a C function: which names are the same variable, and where they occur.

The name spaces are those of C (ISO/IEC 9899:2018, 6.2.3): labels, tags and members are no variables. A name
is known from the end of its declarator on (6.2.1), so `int x = x;` reads itself.
"""

from functools import lru_cache
from typing import Final

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import inner
from codeaudit.transforms.c.parsing import C, named, read_unit
from codeaudit.transforms.errors import UnknownSyntaxError
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import ScopeFrame, Scopes, ScopeWalk, View, resolved

IS_A_TYPE: Final = "name of a type"
ENUMERATOR: Final = "name of a constant"
OF_THE_LINKER: Final = "static or extern variable"
A_FUNCTION: Final = "name of a function"
PROTOTYPE: Final = "parameter of a prototype"
IN_ASSEMBLER: Final = "assembler names it"
IN_ATTRIBUTE: Final = "an attribute names it"
TYPE_OR_VARIABLE: Final = "type with the name of a variable"
UNREAD_MACRO: Final = "macro that is neither a call nor a type"

_TYPEOF: Final = frozenset({"typeof", "__typeof__", "__typeof", "typeof_unqual", "__typeof_unqual__"})
_LINKED: Final = frozenset({"static", "extern", "_Thread_local", "thread_local", "__thread"})
_ATTRIBUTES: Final = frozenset(
    {"attribute_specifier", "attribute_declaration", "ms_declspec_modifier", "alignas_qualifier"}
)


class CScopes(ScopeWalk):
    """The scopes of one function."""

    strange: str | None = None
    """Why the function may be read otherwise than the grammar read it."""

    def start(self) -> None:
        """Visit the unit.

        Raises:
            UnknownSyntaxError: the grammar takes the name of a variable for a type.
        """
        super().start()
        if self.strange is not None:
            raise UnknownSyntaxError(self.strange)
        attributes = (node for node in self.unit.walk() if node.kind in _ATTRIBUTES)
        quoted = {self.text(name) for node in attributes for name in node.walk() if name.kind == "identifier"}
        for binding in self.bindings:
            if binding.view != "outer" and binding.name in quoted and binding.doubt is None:
                binding.doubt = IN_ATTRIBUTE

    # Functions and declarations

    def visit_function_definition(self, node: Node) -> None:
        """Visit the function. Its parameters and the statements of its body are in one block."""
        body = node.part("body")
        for child in node.children:
            if child.field == "declarator":
                self.declarator(child, "parameter", node)
            elif child is not body:
                self.visit(child)
        self.visit_all(body.children)

    def declarator(self, node: Node, view: View, declaration: Node, doubt: str | None = None) -> None:
        """Visit what a declarator declares: sizes of arrays, the name, or parameters of the function."""
        function = node
        while function.kind != "function_declarator" and (within := inner(function)) is not None:
            self.parts(function, within)
            function = within
        if function.kind == "function_declarator":
            within = inner(function)
            is_own, is_direct = declaration is self.unit and within is not None, _is_direct(within)
            if is_own and is_direct:
                self.use(named(function) or function, "read")
            for part in function.children if is_direct or not is_own else ():  # not so: `int (*f(int))(void)`
                if part is not within:
                    self.parameters(part, view if is_own else None)
            if within is not None and not (is_own and is_direct):
                self.declarator(within, view, declaration, doubt or (A_FUNCTION if is_direct else None))
        elif function.kind in ("identifier", "type_identifier"):
            self.declare(function, view, node, doubt=doubt)

    def parts(self, node: Node, inner: Node) -> None:
        """Visit the sizes and qualifiers of a declarator."""
        self.visit_all(child for child in node.children if child is not inner and child.field != "value")

    def parameters(self, node: Node, view: View | None) -> None:
        """Visit parameters or what stands beside them; a prototype's are known only there and keep theirs."""
        if node.kind != "formal_parameters":
            self.visit(node)
            return
        if view is None:
            self.frames.append(ScopeFrame(node.end))
        for child in node.children:
            if child.kind != "parameter_declaration":
                self.visit(child)  # what looks like a parameter in `typeof(*({ n; }))`
                continue
            for part in child.children:
                if part.field == "declarator" and not part.kind.startswith("abstract_"):
                    self.declarator(part, view or "lambda", child, None if view else PROTOTYPE)
                else:
                    self.visit(part)
        if view is None:
            self.frames.pop()

    def visit_formal_parameters(self, node: Node) -> None:
        """Visit the parameters of a type."""
        self.parameters(node, None)

    def visit_local_variable_declaration(self, node: Node) -> None:
        """Visit a declaration. Each name is known before its own value."""
        words = {self.text(child) for child in node.children if child.kind == "storage_class_specifier"}
        doubt = OF_THE_LINKER if words & _LINKED else None
        for child in node.children:
            if child.field not in ("declarator", "value"):
                self.visit(child)
        for child in node.all("declarator"):
            self.variable(child, node, doubt)
            if child.kind == "variable_declarator" and (value := child.child("value")) is not None:
                self.visit(value)
        self.visit_all(node.all("value"))  # of a condition

    def variable(self, node: Node, declaration: Node, doubt: str | None) -> None:
        """Visit the declarator of a local variable."""
        self.declarator(node, "local", declaration, doubt)

    def visit_type_definition(self, node: Node) -> None:
        """Visit a `typedef`."""
        for child in node.children:
            if child.field == "declarator":
                self.declarator(child, "local", node, IS_A_TYPE)
            else:
                self.visit(child)

    def visit_enumerator(self, node: Node) -> None:
        """Visit a constant of an enumeration."""
        value = node.child("value")
        if value is not None:
            self.visit(value)
        self.declare(node.part("name"), "local", node, doubt=ENUMERATOR)

    # Names that are no variables

    def visit_struct_specifier(self, node: Node) -> None:
        """Visit a structure: its tag and its members are no variables."""
        self.visit_all(child for child in node.children if child.field != "name")

    visit_union_specifier = visit_enum_specifier = visit_struct_specifier

    def visit_field_declaration(self, node: Node) -> None:
        """Visit a member: the sizes of arrays are expressions, its name is none."""
        for name in node.walk():
            if name is not node and name.kind == "identifier":
                self.use(name, "read")
            elif name.kind == "type_identifier":
                self.visit(name)

    def visit_labeled_statement(self, node: Node) -> None:
        """Visit a statement; its label keeps its name."""
        self.visit_all(node.children[1:])

    def visit_goto_statement(self, node: Node) -> None:
        """Visit a jump."""

    def visit_type_identifier(self, node: Node) -> None:
        """Visit the name of a type. Where a variable has it, too, `a * b;` may be no declaration."""
        binding = self.find(self.text(node))
        if binding.view != "outer" and binding.doubt != IS_A_TYPE:
            self.strange = TYPE_OR_VARIABLE

    def visit_macro_type_specifier(self, node: Node) -> None:
        """Visit `typeof(x)`; what else looks like it may be a statement."""
        if self.text(node.part("name")) not in _TYPEOF and node.parent is not self.unit:
            self.strange = UNREAD_MACRO
        for child in node.children:
            if child.field == "type":
                for name in child.walk():
                    if name.kind in ("identifier", "type_identifier"):
                        self.use(name, "read")

    def visit_gnu_asm_expression(self, node: Node) -> None:
        """Visit assembler: the names in it keep theirs."""
        for name in node.walk():
            if name.kind == "identifier":
                binding = self.find(self.text(name))
                self.note(binding, name, "update")
                if binding.view != "outer" and binding.doubt is None:
                    binding.doubt = IN_ASSEMBLER

    # Blocks

    # A statement may be a block by itself (6.8.5).
    visit_for_statement = visit_while_statement = visit_do_statement = ScopeWalk.visit_block
    visit_if_statement = visit_switch_expression = visit_switch_block = ScopeWalk.visit_block


def _is_direct(node: Node | None) -> bool:
    """Whether a declarator is a name alone, perhaps in parentheses: then `name(…)` is a function."""
    while node is not None and node.kind in ("parenthesized_declarator", "attributed_declarator"):
        node = inner(node)
    return node is not None and node.kind == "identifier"


@lru_cache(maxsize=8)
def resolve(source: str, language: str = C) -> Scopes:
    """The variables of one function. The last results are cached.

    Raises:
        SourceError: the source does not parse, or is not one function that is read here.
    """
    reading, function = read_unit(source, language)
    rules = CScopes
    if language == CPP:
        from codeaudit.transforms.c.cpp.scopes import CppScopes

        rules = CppScopes
    return resolved(rules, reading, function, "function")

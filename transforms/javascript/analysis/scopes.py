"""The variables of a function of JavaScript or TypeScript: which names are the same variable, and where they
occur.

`resolve` computes the referent relation of Renamer (Ankner et al., section 3) for one function. The rules are
those of ECMAScript 2024, chapters 8 and 14 to 16:

- `var` and the functions at the top of a body are known in the whole function; `let`, `const` and `class` in
  their whole block. So the names of a region are declared before the walk enters it.
- Parameters have a scope of their own, around that of the body.
- A property, a label and the name of a tag in lower case are no variables; `{ a }` is a property *and* a
  variable.
- A name that is bound outside of the function has the view `outer`, and so has the function's own name.

A variable has a `doubt` where its name is more than a name: it is that of a function or class, or names a
tag; or where the mode of the script decides what it means: a function in a block.

In TypeScript types have names of their own, but `typeof x` and `x is string` name variables in types. A
variable has a doubt, too, where its name may be that of a type, a member of an `enum`, or a property that its
parameter declares.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.parsing import (
    FUNCTIONS,
    JAVASCRIPT,
    TYPESCRIPT,
    erased,
    hides,
    is_anonymous,
    read_unit,
)
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import (
    Binding,
    ScopeFrame,
    Scopes,
    ScopeWalk,
    Use,
    View,
    resolved,
)  # fmt: skip

OF_FUNCTION: Final = "name of a function or class"
GIVES_NAME: Final = "function or class takes the variable's name"
IN_BLOCK: Final = "function in a block"
TAG: Final = "name of a tag"
TWICE: Final = "parameter or variable declared in two ways"
OF_TYPE: Final = "name of a type"
IN_TYPE: Final = "parameter in a type"
IN_ENUM: Final = "name in an enum"
PROPERTY: Final = "parameter that is a property"
DECORATED: Final = "parameter with a decorator"
DYNAMIC: Final = "eval or with may read any name"
SPELT: Final = "escape in a name"
NAMESPACE: Final = "namespace or ambient declaration in a function"
OPERATOR: Final = "await or yield that is a name"
OF_MOCK: Final = "jest asks for names that begin with mock"
RELEASED: Final = "using releases a value where its block ends"
_UNREADABLE: Final = ("\\", "eval", "with", "namespace", "module", "declare", "import", "global", "await",
                      "yield", "using")  # fmt: skip
"""A text without this has nothing of all that."""
_MARKS: Final = {"await_expression": "async", "yield_expression": "*"}
"""The marks of functions in which words are operators; in others they are names, which the grammar does not
know."""
_NAMESPACES: Final = frozenset({"internal_module", "module", "ambient_declaration", "import_alias"})
_PROPERTIES: Final = frozenset({"accessibility_modifier", "override_modifier"})
_SIGNATURES: Final = frozenset({"required_parameter", "optional_parameter"})
_OWN_VARS: Final = FUNCTIONS | {"class_static_block"}
_INSIDE: Final = frozenset({"assignment_pattern", "object_assignment_pattern"})
_PARAMETERS: Final = frozenset({"parameter", "lambda"})
_SETTING: Final = frozenset({"=", "||=", "&&=", "??="})


@lru_cache(maxsize=8)
def resolve(source: str, language: str = JAVASCRIPT) -> Scopes:
    """Resolve every name of one function, given as its text.

    The last few results are remembered, since a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text does not parse, is not exactly one function, or declares a name twice.
    """
    reading, unit = read_unit(source, language)
    walk = _TypedWalk if language == TYPESCRIPT else _Walk
    return resolved(walk, reading, unit.node, "function")


def unreadable(scopes: Scopes) -> str | None:
    """Why no name of a function is certain, as a short reason to count; `None` if they are."""
    source = scopes.reading.source.decode()
    if (reason := hides(source)) is not None:
        return reason
    if not any(sign in source for sign in _UNREADABLE):
        return None
    for node in scopes.nodes:
        if node.kind == "with_statement":
            return DYNAMIC
        if node.kind in _NAMESPACES:
            return NAMESPACE
        if node.has("using"):  # the grammar of TypeScript takes it for an assignment
            return RELEASED
        if node.kind in _MARKS and not _is_inside(node, _MARKS[node.kind]):
            return OPERATOR
        if node.kind.endswith("identifier"):
            text = scopes.text(node)
            if text == "eval":
                return DYNAMIC
            if "\\" in text:
                return SPELT
    return None


def _is_inside(node: Node, mark: str) -> bool:
    """Whether the function around a node has a mark; a method's name in brackets is not inside of it."""
    inner = node
    for above in node.ancestors():
        if above.kind in FUNCTIONS and inner.kind != "computed_property_name":
            return above.has(mark)
        inner = above
    return False


class _Walk(ScopeWalk):
    """One pass over a function, in the order of the text."""

    def start(self) -> None:
        """Visit the unit, and doubt the variables that have the name of a function in a block."""
        self.in_blocks: set[str] = set()
        self.seen_function = False
        self.visit(self.unit)
        mocks = b"jest.mock(" in self.reading.source
        for binding in self.bindings:
            if binding.name in self.in_blocks and binding.view not in ("outer", "label"):
                binding.doubt = IN_BLOCK
            elif mocks and binding.name.lower().startswith("mock"):
                binding.doubt = binding.doubt or OF_MOCK

    # What a region declares

    def hoist(self, name: Node, view: View, node: Node, *, again: bool, doubt: str | None = None) -> None:
        """Make a variable known in the region at hand. `again`: it may be declared there before."""
        frame, text = self.frames[-1], self.text(name)
        binding = frame.names.get(text)
        if binding is None and again and view != "parameter" and len(self.frames) > 1:
            # `function f(a) { var a; }`: one variable, where no parameter has a value of its own.
            outside = self.frames[-2]
            binding = outside.names.get(text) if outside.until == frame.until else None
            if binding is not None and binding.view not in _PARAMETERS:
                binding = None
        if binding is None:
            binding = Binding(len(self.bindings), text, view, self.depth, node, name.start, frame.until)
            self.bindings.append(binding)
            frame.names[text] = binding
        elif not again:
            raise SourceError("a name is declared twice in one block")
        elif binding.view in _PARAMETERS:
            binding.doubt = binding.doubt or TWICE
        if doubt is not None:
            binding.doubt = doubt

    def hoist_lexical(self, nodes: Iterable[Node], *, top: bool) -> None:
        """Make known what statements of one block declare for this block; `top`: of a body of a function."""
        for node in nodes:
            labelled = False
            while node.kind == "labeled_statement":
                node, labelled = node.children[-1], True
            if node.kind == "local_variable_declaration" and not node.has("var"):
                for declarator in node.all("declarator"):
                    for name in _names(declarator.part("name")):
                        self.hoist(name, "local", declarator, again=False)
            elif node.kind == "class_declaration":
                self.hoist(node.part("name"), "local", node, again=False, doubt=OF_FUNCTION)
            elif node.kind == "function_declaration":
                name = node.part("name")
                self.hoist(name, "local", node, again=True, doubt=OF_FUNCTION)
                if not top or labelled:
                    self.in_blocks.add(self.text(name))

    def hoist_vars(self, body: Node) -> None:
        """Make known what `var` declares anywhere in a body, functions inside left out."""
        if self.reading.source.find(b"var", max(body.start, 0), body.end) < 0:
            return
        pending = list(reversed(body.children))
        while pending:
            node = pending.pop()
            if node.kind == "local_variable_declaration" and node.has("var"):
                for declarator in node.all("declarator"):
                    for name in _names(declarator.part("name")):
                        self.hoist(name, "local", declarator, again=True)
            elif node.kind == "enhanced_for_statement" and node.has("var"):
                for name in _names(node.part("left")):
                    self.hoist(name, "loop", node, again=True)
            if node.kind not in _OWN_VARS:
                pending += reversed(node.children)

    def mention(self, name: Node, use: Use) -> None:
        """Record an occurrence of a variable that is already declared."""
        self.note(self.find(self.text(name)), name, use)

    # Functions

    def function(self, node: Node, view: View) -> None:
        """Visit the parameters and the body of a function."""
        before, first = self.depth, not self.seen_function
        self.seen_function = True
        if first:
            view = "parameter"
        else:
            self.enter_part()
        labels, self.labels = self.labels, []
        self.frames.append(ScopeFrame(node.end))
        parameters = [child for child in node.children if child.field in ("parameters", "parameter")]
        single = [parameter for part in parameters for parameter in (part.children or [part])]
        for parameter in single:
            for name in _names(parameter):
                self.hoist(name, view, parameter, again=True, doubt=self.doubt_of(parameter))
        plain = all(_is_plain(parameter) for parameter in single)
        for parameter in single:
            self.pattern(parameter, "declare")
        self.visit_all(node.all("return_type"))
        body = node.part("body")
        if body.kind == "block":
            # With a value in the list of parameters, the body has variables of its own.
            self.body(body, node.end if plain else node.end - 1)
        else:
            self.visit(body)
        self.frames.pop()
        self.labels = labels
        self.depth = before

    def doubt_of(self, parameter: Node) -> str | None:
        """Why the name of a parameter has to stay; `None` if it need not."""
        return None

    def body(self, body: Node, until: int) -> None:
        """Visit the statements of a function or of a static block."""
        outside = self.frames[-1]
        self.frames.append(ScopeFrame(until))
        self.hoist_vars(body)
        self.hoist_lexical(body.children, top=True)
        for name, binding in self.frames[-1].names.items():
            other = outside.names.get(name)
            if other is not None and other is not binding and other.until != until:
                other.doubt = binding.doubt = other.doubt or TWICE
        self.visit_all(body.children)
        self.frames.pop()

    def visit_function_declaration(self, node: Node) -> None:
        self.mention(node.part("name"), "declare")
        self.function(node, "parameter")

    def visit_function_expression(self, node: Node) -> None:
        name = node.child("name")
        self.frames.append(ScopeFrame(node.end + 1))
        if name is not None:
            self.hoist(name, "local", node, again=False, doubt=OF_FUNCTION)
            self.mention(name, "declare")
        self.function(node, "lambda")
        self.frames.pop()

    def visit_lambda_expression(self, node: Node) -> None:
        self.function(node, "lambda")

    def visit_method_definition(self, node: Node) -> None:
        self.visit_all(
            child for child in node.children if child.field not in ("parameters", "body", "return_type")
        )
        self.function(node, "parameter")

    # Classes

    def visit_class_declaration(self, node: Node) -> None:
        self.mention(node.part("name"), "declare")
        self.visit_all(child for child in node.children if child.field != "name")

    def visit_class(self, node: Node) -> None:
        name = node.child("name")
        self.frames.append(ScopeFrame(node.end))
        if name is not None:
            self.hoist(name, "local", node, again=False, doubt=OF_FUNCTION)
            self.mention(name, "declare")
        self.visit_all(child for child in node.children if child.field != "name")
        self.frames.pop()

    def visit_field_definition(self, node: Node) -> None:
        value = node.child("value")
        self.visit_all(child for child in node.children if child is not value)
        if value is None:
            return
        if value.kind in FUNCTIONS and not self.seen_function:
            self.visit(value)  # the unit itself
            return
        before = self.enter_part()
        self.visit(value)
        self.depth = before

    def visit_class_static_block(self, node: Node) -> None:
        before = self.enter_part()
        body = node.part("body")
        self.body(body, body.end)
        self.depth = before

    # Statements

    def visit_labeled_statement(self, node: Node) -> None:
        if any(label.name == self.text(node.children[0]) for label in self.labels):
            raise SourceError("a label stands twice around a statement")
        super().visit_labeled_statement(node)

    def visit_block(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        self.hoist_lexical(node.children, top=False)
        self.visit_all(node.children)
        self.frames.pop()

    def visit_local_variable_declaration(self, node: Node) -> None:
        for declarator in node.all("declarator"):
            name, value = declarator.part("name"), declarator.child("value")
            self.pattern(name, "declare")
            self.visit_all(declarator.all("type"))
            if value is not None:
                self.gives_name(name, value)
                self.visit(value)

    def visit_for_statement(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        self.hoist_lexical(node.all("init"), top=False)
        self.visit_all(node.children)
        self.frames.pop()

    def visit_enhanced_for_statement(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        left = node.part("left")
        declares = node.has("let") or node.has("const")
        if declares:
            for name in _names(left):
                self.hoist(name, "loop", node, again=False)
        self.pattern(left, "declare" if declares or node.has("var") else "write")
        self.visit_all(child for child in node.children if child is not left)
        self.frames.pop()

    def visit_catch_clause(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        parameter = node.child("parameter")
        if parameter is not None:
            for name in _names(parameter):
                self.hoist(name, "catch", node, again=False)
            self.doubt_vars(node.part("body"))
            self.pattern(parameter, "declare")
        self.visit(node.part("body"))
        self.frames.pop()

    def doubt_vars(self, body: Node) -> None:
        """`catch (e) { var e = 1; }` declares one variable and sets the other."""
        caught = self.frames[-1].names
        for node in body.walk():
            if node.kind in ("local_variable_declaration", "enhanced_for_statement") and node.has("var"):
                declared = [child.part("name") for child in node.all("declarator")] or node.all("left")
                for name in (name for part in declared for name in _names(part)):
                    binding = caught.get(self.text(name))
                    if binding is not None:
                        binding.doubt = TWICE
                        for frame in self.frames[:-1]:
                            other = frame.names.get(binding.name)
                            if other is not None:
                                other.doubt = TWICE

    def visit_switch_expression(self, node: Node) -> None:
        self.visit(node.part("value"))
        body = node.part("body")
        self.frames.append(ScopeFrame(body.end))
        self.hoist_lexical((statement for case in body.children for statement in case.children), top=False)
        self.visit_all(body.children)
        self.frames.pop()

    # Expressions

    def visit_shorthand_property_identifier(self, node: Node) -> None:
        self.use(node, "read")

    def visit_assignment_expression(self, node: Node) -> None:
        left, right = node.part("left"), node.part("right")
        if node.operator in _SETTING:
            self.gives_name(left, right)
        self.target(left, "write" if node.operator == "=" else "update")
        self.visit(right)

    def target(self, node: Node, use: Use) -> None:
        self.pattern(erased(node), use)

    def gives_name(self, name: Node, value: Node) -> None:
        """Doubt a variable that gives its name to a function or a class."""
        if name.kind in ("identifier", "shorthand_property_identifier_pattern") and is_anonymous(value):
            binding = self.find(self.text(name))
            binding.doubt = binding.doubt or GIVES_NAME

    def pattern(self, node: Node, use: Use) -> None:
        """Visit what is declared or assigned: a name, a pattern of names, or a place such as `a.b`."""
        match node.kind:
            case "identifier" | "shorthand_property_identifier_pattern":
                self.mention(node, use)
            case "object_pattern" | "array_pattern" | "rest_pattern":
                for child in node.children:
                    self.pattern(child.unparenthesized, use)
            case "pair_pattern":
                self.visit(node.part("key"))
                self.pattern(node.part("value").unparenthesized, use)
            case "required_parameter" | "optional_parameter":
                pattern, value = node.part("pattern"), node.child("value")
                self.visit_all(node.all("type"))
                if value is not None:
                    self.gives_name(pattern, value)
                self.pattern(pattern, use)
                if value is not None:
                    self.visit(value)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = node.part("left"), node.part("right")
                self.gives_name(left, right)
                self.pattern(left.unparenthesized, use)
                self.visit(right)
            case _:
                self.visit(node)

    def visit_meta_property(self, node: Node) -> None:
        """`new.target` and `import.meta` hold no variable; nor does a name with a colon."""

    visit_jsx_namespace_name = visit_meta_property

    def visit_jsx_opening_element(self, node: Node) -> None:
        for child in node.children:
            if child.field == "name" and child.kind == "identifier":
                text = self.text(child)
                if "-" not in text and not "a" <= text[0] <= "z":
                    self.use(child, "read")
                    binding = self.find(text)
                    binding.doubt = binding.doubt or TAG
            else:
                self.visit(child)

    visit_jsx_closing_element = visit_jsx_opening_element
    visit_jsx_self_closing_element = visit_jsx_opening_element


class _TypedWalk(_Walk):
    """The same for TypeScript."""

    def doubt_of(self, parameter: Node) -> str | None:
        """`constructor(private n)` declares a property; of `get(@Path() id)` a tool may take the name."""
        if parameter.has("readonly") or parameter.first(*_PROPERTIES) is not None:
            return PROPERTY
        return DECORATED if parameter.first("decorator") is not None else None

    def doubted(self, node: Node, reason: str) -> None:
        """Visit the parts of a node, and doubt every variable that they name."""
        before = len(self.slots)
        self.visit_all(node.children)
        for number in self.slots[before:]:
            binding = self.bindings[number]
            binding.doubt = binding.doubt or reason

    def function(self, node: Node, view: View) -> None:
        """As in JavaScript; what stands before the parameters knows none of them."""
        if node.kind != "method_definition":
            self.visit_all(node.all("type_parameters"))
        for part in node.all("parameters"):
            for parameter in part.children:
                self.visit_all(child for child in parameter.children if child.kind == "decorator")
        super().function(node, view)

    def hoist_lexical(self, nodes: Iterable[Node], *, top: bool) -> None:
        """As in JavaScript, with what else declares a value."""
        nodes = list(nodes)
        super().hoist_lexical(nodes, top=top)
        for node in nodes:
            if node.kind in ("enum_declaration", "function_signature"):
                self.hoist(node.part("name"), "local", node, again=True, doubt=OF_FUNCTION)

    # Types

    def visit_type_identifier(self, node: Node) -> None:
        """Doubt a variable with the name of a type: where a list of types stands and where a comparison, two
        readers may see differently."""
        text = self.text(node)
        for frame in reversed(self.frames):
            binding = frame.names.get(text)
            if binding is not None:
                binding.doubt = binding.doubt or OF_TYPE
                return

    def visit_nested_type_identifier(self, node: Node) -> None:
        self.doubted(node, OF_TYPE)

    def visit_nested_identifier(self, node: Node) -> None:
        self.doubted(node, OF_TYPE)

    def visit_signature(self, node: Node) -> None:
        """Visit the type of a function, whose parameters are known in it."""
        self.frames.append(ScopeFrame(node.end))
        parameters = node.child("parameters")
        single = parameters.children if parameters is not None else []
        for parameter in single:
            for name in _names(parameter):
                self.hoist(name, "local", parameter, again=True, doubt=IN_TYPE)
        for child in node.children:
            if child is parameters:
                for parameter in single:
                    self.pattern(parameter, "declare")
            elif child.field != "name" or child.kind == "computed_property_name":
                self.visit(child)
        self.frames.pop()

    visit_function_type = visit_signature
    visit_constructor_type = visit_signature
    visit_call_signature = visit_signature
    visit_construct_signature = visit_signature
    visit_method_signature = visit_signature
    visit_abstract_method_signature = visit_signature

    def visit_function_signature(self, node: Node) -> None:
        self.mention(node.part("name"), "declare")
        self.visit_signature(node)

    def visit_tuple_type(self, node: Node) -> None:
        """Visit types; the names of elements are no variables."""
        for child in node.children:
            inner = child.children if child.kind in _SIGNATURES else [child]
            self.visit_all(part for part in inner if part.kind != "identifier")

    def visit_index_signature(self, node: Node) -> None:
        self.visit_all(child for child in node.children if child.field != "name")

    def visit_enum_declaration(self, node: Node) -> None:
        self.doubted(node, IN_ENUM)


def _is_plain(parameter: Node) -> bool:
    """Whether a parameter is a name and nothing else."""
    if parameter.kind in _SIGNATURES:
        plain = parameter.part("pattern").kind in ("identifier", "this")
        return plain and parameter.child("value") is None
    return parameter.kind == "identifier"


def _names(node: Node) -> Iterator[Node]:
    """The names that a pattern declares."""
    pending = [node]
    while pending:
        part = pending.pop()
        if part.kind in ("identifier", "shorthand_property_identifier_pattern"):
            yield part
        elif part.kind in _INSIDE:
            pending.append(part.part("left"))
        elif part.kind == "pair_pattern":
            pending.append(part.part("value"))
        elif part.kind in _SIGNATURES:
            pending += part.all("pattern")
        elif part.kind in ("object_pattern", "array_pattern", "rest_pattern"):
            pending += reversed(part.children)

"""Go's scopes, and the renaming of variables.

Types and variables share their names in Go, so both are declared here; types keep their names. Labels have
names of their own and keep them, too.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.renaming import RenameVariables
from codeaudit.transforms.strategies.rename import NO_LOCAL, CodeVariables
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, ScopeFrame, Scopes, ScopeWalk, Use, View, resolved
from codeaudit_go.reading import PREDECLARED, only_function, read

A_TYPE = NO_LOCAL  # types keep their names
A_KEY = "key may be a field"
_ELEMENTS = frozenset({"map_type", "slice_type", "array_type", "implicit_length_array_type"})
"""Types of composite literals whose keys are expressions."""


class GoScopes(ScopeWalk):
    """The scopes of the Go specification, “Declarations and scope”."""

    def use(self, node: Node, use: Use) -> None:
        if self.text(node) != "_":
            super().use(node, use)

    def nameless(self, name: Node, text: str) -> bool:
        return text == "_"

    def frame(self, node: Node) -> None:
        """Visit the parts of a node that is a block, with or without braces."""
        self.frames.append(ScopeFrame(node.end))
        self.visit_all(node.children)
        self.frames.pop()

    # The blocks around these statements, and those of their clauses
    visit_if_statement = visit_for_statement = visit_expression_switch_statement = frame
    visit_expression_case = visit_default_case = visit_communication_case = frame

    def visit_type_identifier(self, node: Node) -> None:
        self.use(node, "read")

    def visit_qualified_type(self, node: Node) -> None:
        self.use(node.part("package"), "read")

    def visit_labeled_statement(self, node: Node) -> None:
        self.visit_all(node.children[1:])

    # Declarations

    def names(self, node: Node, view: View, doubt: str | None = None) -> None:
        """Declare the names of a node."""
        for name in node.all("name"):
            binding = self.declare(name, view, node)
            if binding is not None:
                binding.doubt = doubt

    def others(self, node: Node) -> None:
        """Visit what is no name of a declaration."""
        self.visit_all(child for child in node.children if child.field != "name")

    def visit_var_spec(self, node: Node) -> None:
        self.others(node)
        self.names(node, "local")

    visit_const_spec = visit_var_spec

    def visit_type_spec(self, node: Node) -> None:
        self.names(node, "local", A_TYPE)  # known in its own type
        self.frames.append(ScopeFrame(node.end))
        self.others(node)
        self.frames.pop()

    visit_type_alias = visit_type_spec

    def visit_type_parameter_list(self, node: Node) -> None:
        for child in node.children:
            self.names(child, "local", A_TYPE)
        for child in node.children:
            self.others(child)

    def visit_parameter_declaration(self, node: Node) -> None:
        self.others(node)  # the names of a function type are known nowhere

    visit_variadic_parameter_declaration = visit_parameter_declaration

    def function(self, node: Node, view: View) -> None:
        """Visit a function. Its parameters and the statements of its body are in one block."""
        self.frames.append(ScopeFrame(node.end))
        body = node.child("body")
        parts = [child for child in node.children if child.field not in ("name", "body")]
        self.visit_all(sorted(parts, key=lambda part: part.kind != "type_parameter_list"))
        for part in parts:
            for child in part.children if part.kind == "parameter_list" else ():
                self.names(child, view)
        self.visit_all(body.children if body else ())
        self.frames.pop()

    def visit_function_declaration(self, node: Node) -> None:
        self.use(node.part("name"), "read")
        self.function(node, "parameter")

    def visit_method_declaration(self, node: Node) -> None:
        self.function(node, "parameter")

    def visit_func_literal(self, node: Node) -> None:
        before = self.enter_part()
        self.function(node, "lambda")
        self.depth = before

    # Statements

    def lefts(self, node: Node, view: View) -> None:
        """Visit what stands left of `=` or `:=`, which declares only what its own block does not have."""
        for left in node.all("left"):
            if not node.has(":="):
                self.target(left, "write" if node.has("=") else "update")
            elif self.text(left) in self.frames[-1].names:
                self.use(left, "write")
            else:
                self.declare(left, view, node)

    def visit_short_var_declaration(self, node: Node) -> None:
        self.visit_all(node.all("right"))
        self.lefts(node, "local")

    visit_assignment_statement = visit_receive_statement = visit_short_var_declaration

    def visit_range_clause(self, node: Node) -> None:
        self.visit_all(node.all("right"))
        self.lefts(node, "loop")

    def visit_inc_statement(self, node: Node) -> None:
        self.target(node.children[0], "update")

    visit_dec_statement = visit_inc_statement

    def visit_type_switch_statement(self, node: Node) -> None:
        self.frames.append(ScopeFrame(node.end))
        clauses = [child for child in node.children if child.kind in ("type_case", "default_case")]
        self.visit_all(child for child in node.children if child.field in ("initializer", "value"))
        # A variable of each clause, with one name for all
        bindings = [self.declare(alias, "local", node, known=False) for alias in node.all("alias")]
        for clause in clauses:
            self.frames.append(ScopeFrame(clause.end))
            self.visit_all(clause.all("type"))
            self.know(binding for binding in bindings if binding is not None)
            self.visit_all(child for child in clause.children if child.field != "type")
            self.frames.pop()
        self.frames.pop()

    def visit_keyed_element(self, node: Node) -> None:
        key, around = node.part("key"), node.parent.parent if node.parent else None
        type_of_it = around.child("type") if around else None
        if key.kind == "identifier" and (type_of_it is None or type_of_it.kind not in _ELEMENTS):
            binding = self.find(self.text(key))  # `T{x: 1}`: a field or, of a map, a variable
            self.note(binding, key, "read")
            if binding.view != "outer":
                binding.doubt = A_KEY
        else:
            self.visit(key)
        self.visit_all(node.all("value"))


_WORDS = """
    break case chan const continue default defer else fallthrough for func go goto if import interface map
    package range return select struct switch type var
"""
_KEYWORDS = frozenset(_WORDS.split())
_FREQUENT = """
    i j n k v ok err idx count total result value key item items name data buf line lines size length start
    end left right index num sum max_len out res cur prev next_item node found offset pos limit width height
    text word words entry entries list values keys src dst tmp state step acc path parts ret input output
    begin last first rest pair seen msg code status flags level depth score weight factor base
"""
GO_NAMES = Lexicon(
    _FREQUENT.split(),
    lambda name: name in _KEYWORDS | PREDECLARED or name in ("_", "main", "init"),
    camel=True,
)


@lru_cache(maxsize=8)
def resolve(source: str) -> Scopes:
    """The variables of one function."""
    reading = read(source)
    return resolved(GoScopes, reading, only_function(reading), "function")


class GoVariables(CodeVariables):
    """The variables of one function."""

    lexicon = GO_NAMES
    obstacle = None

    def keeps_name(self, binding: Binding) -> str | None:
        # `true` as a variable is another kind of node to the parser.
        return "predeclared name" if binding.name in PREDECLARED else binding.doubt

    def resolve(self, text: str) -> Scopes:
        return resolve.__wrapped__(text)


@lru_cache(maxsize=8)
def variables(source: str) -> GoVariables:
    """The variables of one function, for all of its variants."""
    return GoVariables(source, resolve(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoRename(RenameVariables):
    """Gives other names to the variables of a Go function."""

    foreign: str = "not a move of this function"
    languages: frozenset[str] = field(default=frozenset({"go"}))

    def variables(self, source: str) -> GoVariables:
        return variables(source)


RENAME = GoRename()
RENAME_RANDOM = GoRename(name="rename-random", strategy="random")
RENAME_SHUFFLE = GoRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING = GoRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL = GoRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS = GoRename(name="rename-parameters", parameters=True)

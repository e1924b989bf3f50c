"""What the strategies ask of a C++ function, answered with more doubt than in C.

An operator is built in only if each operand is certainly a number or a pointer (`CppSource.type`): any other
one may be a function. A type is certain if the function writes it down: a local or parameter of a built-in
type, a pointer, a literal, a cast, `sizeof`, and what built-in operators make of these. A name that is
declared elsewhere, a member, the result of a call, `auto` and the parameter of a template are not.

A variable is *by value* everywhere if nobody else can come to know where it is: a function that is called may
take any of its arguments by reference, keep the address, and change the variable later.
"""

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Final, Self

from codeaudit.transforms.c.cpp.reading import CASTS, CONSTEXPR_IF, DECLARING, name_of
from codeaudit.transforms.c.declared import NUMBER, OBJECT
from codeaudit.transforms.c.dialect import ARITHMETIC, DIALECT, INTEGRAL, POINTER, WHOLE
from codeaudit.transforms.c.rewriting import TRUTHS, CSource, is_declared_here
from codeaudit.transforms.c.types import number_type
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.reader import EMPTY, Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding

ALTERNATIVE: Final = "operator that is a word or of C++20"
MISREAD: Final = "assignment to what an operator before it gives"
CONSTANT: Final = "function that a compiler may evaluate"
COROUTINE: Final = "coroutine"
ATTRIBUTED: Final = "attribute of a statement"
HIDDEN: Final = "type with the name of a number of the library"
TEMPLATE: Final = "call of a template that may be read as a comparison"
_CALL: Final = re.compile(rb"\s*<(?![<=])[^;{}]*(?<!-)>\s*(?:\(|::)")
"""What stands behind `a.f` in `a.f<1>(b)`, which the grammar takes for two comparisons."""
_CONSTEXPR: Final = re.compile(r"\b(?:constexpr|consteval)\b|CONSTEXPR|CONSTEVAL")
_PREFIXES: Final = frozenset({"update_expression", "unary_expression", "pointer_expression"})
_COROUTINE: Final = frozenset({"co_await_expression", "co_yield_statement", "co_return_statement"})
_SMALL: Final = frozenset({"int8_t", "int16_t", "uint8_t", "uint16_t", "unsigned short"})
"""Types that may become `int` in an operation."""
_VALUE_OF: Final = frozenset(
    {"expression_statement", "return_statement", "throw_statement", "unary_expression", "sizeof_expression",
     "alignof_expression", "decltype", "new_declarator", "delete_expression", "array_declarator"}
)  # fmt: skip
"""Kinds of nodes that use a number or a pointer in them as a value, or not at all."""
_REFERENCE: Final = "reference_declarator"
_HEADS: Final = LOOPS | {"if_statement", "switch_expression"}

DIALECT_OF_CPP: Final = replace(
    DIALECT,
    precedence=replace(
        DIALECT.precedence,
        expressions={
            **DIALECT.precedence.expressions,
            **dict.fromkeys(("new_expression", "delete_expression", "co_await_expression"), 13),
            **dict.fromkeys(("throw_statement", "lambda_expression", "fold_expression"), 0),
        },
    ),
    flow=replace(DIALECT.flow, nested=DIALECT.flow.nested | {"lambda_expression"}),
    types=DIALECT.types | {"class_specifier", "alias_declaration", "using_declaration"},
    left_alone=DIALECT.left_alone
    | {"lambda_expression", "template_argument_list", "user_defined_literal", "static_assert_declaration",
       "class_specifier", "using_declaration", "alias_declaration", "requires_clause", "requires_expression",
       "noexcept", "decltype", "trailing_return_type", "fold_expression", "template_declaration"},
    truth=("true", "false"),
    texts=DIALECT.texts | {"raw_string_literal"},
    owners=DIALECT.owners | {"lambda_expression"},
    wrapped=DIALECT.wrapped - {"field_access", "array_access"},
    fillers=replace(DIALECT.fillers, of_objects=()),
)  # fmt: skip
"""How C++ spells what the strategies rewrite."""


class CppSource(CSource):
    """A function with the facts that rules ask for. It does not change after its creation."""

    edits_head = turns_share_variables = True
    spelling = DIALECT_OF_CPP
    truth, character = "bool", "char"

    # ── what may be edited at all ────────────────────────────────────────────────────────────────────────

    @cached_property
    def obstacle(self) -> str | None:
        """As in C. What a compiler may evaluate has a form of its own in each version of C++."""
        return super().obstacle or (CONSTANT if is_evaluated(self.reading, self.unit) else None)

    @cached_property
    def unusual(self) -> str | None:
        """As in C; coroutines, attributes, types that hide numbers, and comparisons that may be calls."""
        for node in self.unit.walk():
            if node.kind in _COROUTINE:
                return COROUTINE
            if node.kind == "attributed_statement" and any(part.kind != EMPTY for part in node.children[1:]):
                return ATTRIBUTED
            is_call = node.kind == "field_access" and _CALL.match(self.source, node.end)
            if is_call and self.type(node) is None:
                return TEMPLATE
        return HIDDEN if self.macros.declared.hides_a_number else super().unusual

    @cached_property
    def obstacle_to_layout(self) -> str | None:
        """As in C, operators of unknown precedence, and `++x = 1`, which the grammar reads as `++(x = 1)`."""
        for node in self.unit.walk():
            if node.kind in _PREFIXES and node.children[0].kind == "assignment_expression":
                return MISREAD
            if node.kind == "binary_expression" and node.operator not in self.precedence.operators:
                return ALTERNATIVE
            if node.kind in ("unary_expression", "assignment_expression") and node.operator[:1].isalpha():
                return ALTERNATIVE
        return super().obstacle_to_layout

    def seen_by(self, rule: str) -> Self:
        """The function without the nodes at which a rule would need to know more."""
        kind, fits = FITTING.get(rule, ("", lambda code, node: True))
        code = copy(self)
        code.__dict__["nodes"] = tuple(
            node
            for node in self.nodes
            if not _is_special(node) and (kind not in ("", node.kind) or fits(self, node))
        )
        return code

    def is_multiline(self, node: Node) -> bool:
        """Whether a node is a raw string."""
        return node.kind == "raw_string_literal"

    # ── names, declarations, control ─────────────────────────────────────────────────────────────────────

    def binds(self, node: Node) -> bool:
        """Whether a condition assigns or declares."""
        return node.kind == DECLARING or super().binds(node)

    def ends(self, node: Node) -> bool:
        """As in all languages, but for statements whose end the floor does not know."""
        strange = {CONSTEXPR_IF, "attributed_statement", "lambda_expression"}
        return not any(inner.kind in strange for inner in node.walk()) and super().ends(node)

    def is_inferred(self, node: Node) -> bool:
        """Whether a condition may be an object, which a condition converts otherwise than `!` does."""
        return node.kind in (EMPTY, DECLARING) or self.type(node) is None

    def in_nameless_function(self, node: Node) -> bool:
        """Whether it stands in a lambda, or the type of the result is not written down."""
        return self.is_typed_by_value(self.unit) or any(
            ancestor.kind == "lambda_expression" for ancestor in node.ancestors()
        )

    def lives(self, node: Node) -> bool:
        """Whether a statement declares what may have a destructor, which runs at the end of the block."""
        if node.kind != "local_variable_declaration":
            return False
        names = map(self.binding, map(self.name_of, node.all("declarator")))
        return any(binding is None or self.value_type(binding) is None for binding in names)

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _values(self) -> Mapping[int, str | None]:
        """The type of the value of each variable."""
        return {binding.number: self._find_value(binding) for binding in self.scopes.bindings}

    def value_type(self, binding: Binding) -> str | None:
        """The type of the value of a variable, `const` or a reference or not: a number, or `pointer`."""
        return self._values[binding.number]

    def _find_value(self, binding: Binding, through: str = _REFERENCE) -> str | None:
        text = self.declared(binding, through)
        if text is None or "volatile" in text.split():
            return None
        kind = POINTER if "*" in text else number_type(text)
        kind = kind or self.macros.declared.type(self._unqualified(text))
        return None if kind == OBJECT else kind

    def _unqualified(self, words: str | None) -> str | None:
        """The words of a type without the class before `::`; `None` for those of the function or a macro."""
        of, colons, name = (words or "").rpartition("::")
        if colons and self.macros.declared.class_named(of) is None:
            return None
        plain = name.replace("*", " ").split()
        return None if any(word in self._own_names or word in self.macros.defined for word in plain) else name

    @cached_property
    def _own_names(self) -> frozenset[str]:
        """The names of what the function declares, and all in the types that it declares."""
        names = (binding.name for binding in self.scopes.bindings if binding.view != "outer")
        return frozenset(names).union(*map(self.names, self.own_types))

    @cached_property
    def _perhaps_declared(self) -> frozenset[str]:
        """The names that statements such as `T (name);` declare: the grammar reads calls, as of `typeof`."""
        names = set(self.names(self.unit)) if b"typeof" in self.source else set[str]()
        for node in self.unit.walk():
            if node.kind in ("method_invocation", *CASTS) and (statement := _begun(node)) is not None:
                called = self.text(node.children[0]).partition("<")[0].rpartition("::")[2].strip()
                is_own = called in self._own_names or called in self.macros.defined
                if is_own or number_type(called) or self.macros.declared.is_type(called):
                    names |= self.names(statement)
        return frozenset(names)

    def pointee(self, node: Node) -> str | None:
        """The type of the number to which an expression points."""
        node = node.unparenthesized
        if node.kind in ("binary_expression", "update_expression"):
            base = next((child for child in node.children if self.type(child) == POINTER), None)
            return None if base is None else self.pointee(base)
        binding = self.binding(node)
        text = None if binding is None else self.declared(binding, _REFERENCE)
        if text is None or text.count("*") != 1:
            return None
        return number_type(text.partition("*")[0])

    def type(self, node: Node) -> str | None:
        """The type of an expression that is certainly a number or a pointer."""
        node = node.unparenthesized
        parts = node.children
        match node.kind:
            case "identifier" if (binding := self.binding(node)) is not None and binding.view == "outer":
                return None if is_declared_here(node) else self.outer_type(binding.name)
            case "field_access" if parts[1].kind == "field_identifier":
                of = self._class_before(node)
                return None if of is None else self.outer_type(self.text(parts[1]), of)
            case "decimal_integer_literal":
                return super().type(node) or NUMBER
            case "concatenated_string":
                return POINTER if all(map(self.type, parts)) else None
            case "true" | "false":
                return "bool"
            case "null" | "this" | "string_literal" | "raw_string_literal":
                return POINTER
            case "alignof_expression":
                return "size_t"
            case "update_expression":
                return self.type(parts[0])
            case "assignment_expression":
                return self.type(parts[0]) if self.type(parts[1]) is not None else None
            case "pointer_expression":
                inner = self.type(parts[0])
                if node.operator == "&":
                    return POINTER if inner is not None else None
                return self.pointee(parts[0]) if inner == POINTER else None
            case "array_access" if len(parts) == 2:
                base, index = map(self.type, parts)
                return self.pointee(parts[0]) if base == POINTER and index in INTEGRAL else None
            case "ternary_expression" if len(parts) == 3:
                first, second = self.type(parts[1]), self.type(parts[2])
                return first if first == second and self.type(parts[0]) is not None else None
            case "cast_expression":
                return self._named_type(node.part("type"))
            case "named_cast":
                kinds = parts[0].children[-1].children
                return self._named_type(kinds[0]) if len(kinds) == 1 else None
            case "functional_cast":
                return number_type(self.text(parts[0]))
            case _:
                return super().type(node)

    def kind(self, node: Node) -> str | None:
        """The same: what is not certain may be a function."""
        return self.type(node)

    def outer_type(self, name: str, of: str = "") -> str | None:
        """The number or pointer that declarations around the function make of a plain name or a field."""
        # In a function that is `volatile`, its object is.
        if self._is_hidden(name, of) or "volatile" in self._head:
            return None
        return self.macros.declared.scalar(name, of or self._own_class)

    def _is_hidden(self, name: str, of: str = "") -> bool:
        """Whether a plain name or a field may mean what no declaration around the function shows."""
        return name in self.macros.defined or (not of and name in self._perhaps_declared)

    @cached_property
    def _head(self) -> str:
        """The text before the body of the function."""
        return self.source[: self.unit.part("body").start].decode()

    @cached_property
    def _own_class(self) -> str:
        """The class of which the function is a member, if its name says so: its members go before other
        names, but for the parameters of a template and what `using enum` makes known."""
        around = name_of(self.source, self.unit).split("::")[:-1]
        is_open = "template" in self._head or re.search(rb"\busing\s+enum\b", self.source)
        return "" if not around or is_open or around[-1] in self.macros.defined else around[-1]

    def _class_before(self, access: Node) -> str | None:
        """The class to which a field belongs; an object may have an `->` of its own."""
        object_ = access.children[0]
        return self._class_of(object_) if access.operator == "." or self.type(object_) == POINTER else None

    def _class_of(self, node: Node) -> str | None:
        """The class of an object or of what a pointer points to, if no template leaves its fields open."""
        node, declared = node.unparenthesized, self.macros.declared
        binding = self.binding(node)
        if binding is not None and binding.view != "outer":
            return declared.class_named(self._unqualified(self.declared(binding, _REFERENCE)))
        is_field = node.kind == "field_access"
        of = self._class_before(node) if is_field else self._own_class
        name = self.text(node.children[1] if is_field else node)
        if (binding is None and not is_field) or of is None or self._is_hidden(name, of if is_field else ""):
            return None
        return declared.class_of(name, of)

    def _named_type(self, node: Node) -> str | None:
        """The type that a cast names."""
        kinds = [inner.kind for inner in node.walk() if inner.kind.startswith("abstract_")]
        if kinds:
            return POINTER if set(kinds) == {"abstract_pointer_declarator"} else None
        return number_type(self.text(node))

    def promoted(self, kind: str | None) -> str | None:
        """As in C; a type with a name may become `int`."""
        return NUMBER if kind in _SMALL else super().promoted(kind)

    def _type_of_operation(self, node: Node) -> str | None:
        left, right = map(self.type, node.children)
        if left is None or right is None:
            return None
        if node.operator in TRUTHS:
            return self.truth
        if POINTER in (left, right):
            return {"+": POINTER, "-": POINTER if left != right else "ptrdiff_t"}.get(node.operator)
        left, right = map(self.promoted, (left, right))
        if node.operator in ("<<", ">>") or left == right:
            return left
        kinds = {left, right}
        wide: str | None = next((kind for kind in ("long double", "double", "float") if kind in kinds), None)
        if wide is None and "int" in kinds and kinds <= WHOLE:
            wide = left if right == "int" else right
        return wide or NUMBER

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────

    def are_known(self, node: Node) -> bool:
        """Whether an operation is built in."""
        return all(self.type(child) is not None for child in node.children)

    def is_boolean(self, node: Node) -> bool:
        """Whether `&&`, `||`, `!` or a comparison is built in."""
        return self.type(node) is not None

    def is_value(self, node: Node) -> bool:
        """As in C; a function that is called could take a variable by reference, and a 0 may be a pointer."""
        whole = node.parenthesized
        return super().is_value(node) and self.taking(whole, whole.parent) not in (None, POINTER)

    def taking(self, node: Node, parent: Node | None) -> str | None:
        """The type for which an expression is: that of the other operand, the result or the variable, and
        `bool` for a condition; `None` if that is not known."""
        if parent is None:
            return None
        match parent.kind:
            case "return_statement":
                return self._result if self._result in ARITHMETIC else None
            case "binary_expression" | "assignment_expression":
                return next(self.type(child) for child in parent.children if child is not node)
            case "variable_declarator":
                binding = self.binding(self.name_of(parent))
                return self.value_type(binding) if binding is not None and self.is_plain(binding) else None
            case kind:
                is_head = kind in _HEADS or kind == "ternary_expression"
                return "bool" if is_head and node.field in ("condition", "init", "update") else None

    def writes_out(self, target: Node, operator: str, value: Node) -> bool:
        """As in C, for what is built in."""
        return self.type(value) is not None and super().writes_out(target, operator, value)

    def steps_by_one(self, node: Node) -> bool:
        """Whether the variable is a number or a pointer."""
        return self.type(node.children[0]) not in (None, "bool")

    def is_narrowed(self, target: Node | None, first: Node, last: Node) -> bool:
        """Whether the target is not certainly a number or a pointer, or as in C."""
        kind = self._result if target is None else self.type(target)
        return (kind not in ARITHMETIC and kind != POINTER) or super().is_narrowed(target, first, last)

    @cached_property
    def addressed(self) -> frozenset[int]:
        """The variables of which somebody else may know where they are."""
        numbers = set(super().addressed)
        by_start = {
            node.start: node for node in self.unit.walk() if node.kind in ("identifier", "type_identifier")
        }
        for binding in self.scopes.bindings:
            if binding.captured and binding.view != "outer":
                numbers.add(binding.number)
            elif binding.number not in numbers and self.value_type(binding) is not None:
                nodes = (by_start.get(use.start) for use in binding.occurrences if use.use != "declare")
                if not all(node is not None and self.is_used_by_value(node) for node in nodes):
                    numbers.add(binding.number)
        return frozenset(numbers)

    def is_plain(self, binding: Binding) -> bool:
        """Whether a variable is a number or a pointer, by itself: no reference to one."""
        return self.value_type(binding) is not None and self.declared(binding) is not None

    def is_plain_array(self, binding: Binding) -> bool:
        """Whether a variable is an array of numbers or pointers."""
        return self.value_type(binding) is None and bool(self._find_value(binding, "array_declarator"))

    def is_used_by_value(self, node: Node) -> bool:
        """Whether what uses an expression can only use its value."""
        here, parent = node, node.parent
        while parent is not None and (
            parent.kind == "parenthesized_expression"
            or (parent.kind == "ternary_expression" and here.field != "condition")
            or (parent.kind == "sequence_expression" and here is parent.children[-1])
        ):
            here, parent = parent, parent.parent
        if parent is None:
            return False
        is_taken = self.taking(here, parent) is not None
        match parent.kind:
            case "assignment_expression" if here is parent.children[0]:
                # What is assigned is the result, too: `keep(x = 1)` knows where `x` is.
                return (is_taken or parent.operator == "=") and self.is_used_by_value(parent)
            case "update_expression":
                postfix = self.source[parent.start : parent.start + 2] not in (b"++", b"--")
                return postfix or self.is_used_by_value(parent)
            case "argument_list":
                above = parent.parent
                if above is None or len(parent.children) != 1:
                    return False
                is_cast = above.kind in CASTS and self.type(above) is not None
                return is_cast or self.taking(parent, above) is not None
            case "array_access":
                return all(self.type(child) is not None for child in parent.children if child is not here)
            case "pointer_expression" | "field_access":
                return parent.operator in ("*", "->")
            case "cast_expression":
                return self.text(parent.part("type")) == "void" or self.type(parent) is not None
            case kind:
                return is_taken or kind in _VALUE_OF


def _begun(node: Node) -> Node | None:
    """The statement that begins with an expression, or the part of the head of one."""
    around = [node, *(ancestor for ancestor in node.ancestors() if ancestor.start == node.start)]
    above, kinds = around[-1].parent, {outer.kind for outer in around}
    is_head = above is not None and above.kind in _HEADS
    return around[-1] if is_head or kinds & {"expression_statement", "init_statement"} else None


def is_evaluated(reading: ParsedText, function: Node) -> bool:
    """Whether a compiler may evaluate a function, as far as the text before its body says so."""
    return _CONSTEXPR.search(reading.source[: function.part("body").start].decode()) is not None


def _is_special(node: Node) -> bool:
    """Whether a statement or a condition is one that rules do not know."""
    declares = node.kind in _HEADS and any(child.kind == DECLARING for child in node.children)
    return declares or node.kind in (DECLARING, CONSTEXPR_IF)


# ── what rules need to know at a node ────────────────────────────────────────────────────────────────────


def _known_condition(code: CppSource, node: Node) -> bool:
    return not code.is_inferred(node.part("condition"))


def _nothing_lives(code: CppSource, node: Node) -> bool:
    """No destructor runs at the end of the body or branch that loses its braces or gets another end."""
    body = node.child("body") or node.child("alternative")
    return body is None or not any(map(code.lives, body.children))


def _moves_up(code: CppSource, node: Node) -> bool:
    """An `else` may stand behind its `if`: no destructor runs later, and no jump passes a declaration."""
    other = node.child("alternative")
    declares = other is not None and bool(code.declares(other.children))
    return _nothing_lives(code, node) and not (declares and code.closed is not None)


def _pointer(code: CppSource, node: Node) -> bool:
    """`p->x` and `(*p).x` of a pointer."""
    object_ = node.children[0].unparenthesized
    if node.kind == "field_access" and node.operator == "." and object_.kind == "pointer_expression":
        object_ = object_.children[0]
    return code.type(object_) == POINTER


def _sum(code: CppSource, node: Node) -> bool:
    """`*(p + i)` of a pointer and a number."""
    inner = node.children[0].unparenthesized
    return inner.kind != "binary_expression" or code.are_known(inner)


def _plain_target(code: CppSource, node: Node) -> bool:
    """What takes the value of a `?:` takes a number or a pointer, by value."""
    whole = node.parenthesized
    kind = "" if whole.parent is None else whole.parent.kind
    is_taken = kind in ("return_statement", "assignment_expression")
    return not is_taken or code.taking(whole, whole.parent) is not None


def _plain_return(code: CppSource, node: Node) -> bool:
    """Parentheses in `return (x);` may make a reference of the result, and keep `x` from being moved."""
    parent = node.parent
    if parent is None:
        return True
    if node.kind == "parenthesized_expression" and parent.kind == "method_invocation":
        return False  # `(f)(x)` does not look for `f` where the type of `x` is
    if node.field == "left" and node.kind in ("method_invocation", *CASTS) and not node.children[-1].children:
        return False  # `(T()) + x` is a cast
    if parent.kind == "variable_declarator":
        return parent.parent is None or "decltype" not in code.text(parent.parent).split("=")[0]
    return parent.kind != "return_statement" or (
        code.type(node) is not None and not code.in_nameless_function(node)
    )


def _not_passed(code: CppSource, node: Node) -> bool:
    """No jump passes a declaration that gets a value, which would not compile ([stmt.dcl])."""
    is_passed = any(node.kind in ("labeled_statement", "goto_statement") for node in code.unit.walk())
    return not is_passed and (node.parent is None or node.parent.kind != "switch_block_statement_group")


def _names_its_type(code: CppSource, node: Node) -> bool:
    """No value decides what the name of a template stands for: `pair a{1, 2};`, `pair b{1, 2.5};`."""
    kind = node.child("type")
    if kind is None or kind.kind != "type_identifier" or number_type(name := code.text(kind)):
        return True
    is_set = any(one.kind != "identifier" for one in node.all("declarator"))
    return not is_set or code.macros.declared.is_plain_type(name)


FITTING: Final[Mapping[str, tuple[str, Callable[[CppSource, Node], bool]]]] = {
    "split-conditions": ("if_statement", _known_condition),
    "else-to-return": ("if_statement", _moves_up),
    "for-to-while": ("for_statement", _nothing_lives),
    "do-to-while-true": ("do_statement", _nothing_lives),
    "if-to-ternary": ("if_statement", _known_condition),
    "ternary-to-if": ("ternary_expression", _plain_target),
    "not-to-zero": ("unary_expression", CppSource.are_known),
    "arrow-to-star": ("field_access", _pointer),
    "star-to-arrow": ("field_access", _pointer),
    "index-to-pointer": ("array_access", CppSource.are_known),
    "pointer-to-index": ("pointer_expression", _sum),
    "join-declarations": ("local_variable_declaration", _names_its_type),
    "join-initialisers": ("local_variable_declaration", _not_passed),
    "insert-parentheses": ("", _plain_return),
    "remove-parentheses": ("", _plain_return),
}
"""By rule: whether it may look at a node of a kind, or of any."""

"""What is known of the values and variables of one function of JavaScript or TypeScript.

Types that are written in TypeScript are not trusted, because a cast may lie; with the relation `types` they
are. A *kind* of value is what `typeof`
tells, with `null` apart. The kinds of a variable are those of all that the text assigns to it, in any order.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final, TypeAlias

from codeaudit.transforms.javascript.parsing import FUNCTIONS, erased
from codeaudit.transforms.javascript.types import NONE, Types
from codeaudit.transforms.syntax.effects import OUTSIDE, ScopeFacts
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding, Scopes

Kinds: TypeAlias = frozenset[str] | None
"""The kinds that a value may have; `None` where it may have any."""

NOTHING: Final[frozenset[str]] = frozenset()
OBJECT: Final = frozenset({"object"})
NUMBER: Final = frozenset({"number"})
STRING: Final = frozenset({"string"})
BOOLEAN: Final = frozenset({"boolean"})
UNDEFINED: Final = frozenset({"undefined"})
NUMERIC: Final = frozenset({"number", "bigint"})
PLAIN: Final = frozenset({"number", "string", "boolean", "undefined", "null"})
"""Values that every operator takes without an exception, and without running code."""
GLOBALS: Final = {"NaN": NUMBER, "Infinity": NUMBER}
"""Names of numbers that nobody can set."""

_OF_LITERALS: Final = {
    "string_literal": STRING, "template_string": STRING, "true": BOOLEAN, "false": BOOLEAN,
    "null": frozenset({"null"}), "undefined": UNDEFINED, "array": OBJECT, "object": OBJECT, "regex": OBJECT,
    "class": OBJECT, "object_creation_expression": OBJECT,
    **dict.fromkeys(FUNCTIONS, OBJECT),
}  # fmt: skip
_OF_UNARY: Final = {"!": BOOLEAN, "typeof": STRING, "void": UNDEFINED, "delete": BOOLEAN, "+": NUMBER}
_WITH_KINDS: Final = frozenset(_OF_LITERALS) | {
    "number", "identifier", "unary_expression", "update_expression", "binary_expression",
    "ternary_expression", "sequence_expression", "assignment_expression",
}  # fmt: skip
"""The expressions of which anything is known without types."""
_BOOLEAN: Final = frozenset({"==", "!=", "===", "!==", "<", ">", "<=", ">=", "in", "instanceof"})
CHOOSING: Final = frozenset({"&&", "||", "??"})
"""Operators that give one of their operands."""


def joined(*all_kinds: Kinds) -> Kinds:
    """The kinds of a value that is one of several."""
    union = NOTHING
    for kinds in all_kinds:
        if kinds is None:
            return None
        union |= kinds
    return union


def is_plain(kinds: Kinds) -> bool:
    """Whether operators take a value without an exception, and without running code."""
    return kinds is not None and kinds <= PLAIN


def operated(operator: str, left: Kinds, right: Kinds) -> Kinds:
    """The kinds of the result of a binary operator."""
    if operator in _BOOLEAN:
        return BOOLEAN
    if operator in CHOOSING:
        return joined(left, right)
    if left == NOTHING or right == NOTHING:
        return NOTHING  # not known yet
    if not is_plain(left) or not is_plain(right):
        return None if operator == "+" else NUMERIC
    assert left is not None
    assert right is not None
    if operator != "+":
        return NUMBER
    text = STRING if "string" in left | right else NOTHING
    return text | NUMBER if left - STRING and right - STRING else text


class JavaScriptFacts(ScopeFacts):
    """The variables of one function with what is known of them."""

    def __init__(self, scopes: Scopes, function: Node, types: Types = NONE) -> None:
        super().__init__(scopes)
        self.function = function
        self.types = types
        functions = [node for node in scopes.nodes if node.kind in FUNCTIONS and node is not function]
        self.nests = any(function.start <= inner.start and inner.end <= function.end for inner in functions)
        named = {binding.name for binding in scopes.bindings}
        name = function.child("name")
        self.is_constructor = name is not None and scopes.text(name) == "constructor"
        self._mentions_arguments = "arguments" in named
        self._undefined = None if "undefined" in named else UNDEFINED

    # ── variables ────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def lasting(self) -> frozenset[int]:
        """The numbers of the variables that unknown code may see or change: a function inside uses them, or
        `arguments` has them."""
        return frozenset(
            binding.number
            for binding in self.scopes.bindings
            if binding.captured or (self._mentions_arguments and binding.view in ("parameter", "lambda"))
        )

    @staticmethod
    def lexical(binding: Binding) -> Node | None:
        """The declaration of a variable that `let`, `const` or `class` declares; else `None`."""
        node = binding.node
        if node is None or binding.view not in ("local", "loop"):
            return None
        declaration = node.parent if node.kind == "variable_declarator" else node
        if declaration is None or declaration.kind == "class_declaration":
            return declaration
        return declaration if declaration.has("let") or declaration.has("const") else None

    @classmethod
    def is_constant(cls, binding: Binding) -> bool:
        """Whether to assign a variable raises an exception, or may."""
        if binding.doubt is not None:
            return True
        declaration = cls.lexical(binding)
        return declaration is not None and declaration.has("const")

    @cached_property
    def unset(self) -> frozenset[int]:
        """The first bytes of the occurrences that may come before their variable has a value, so that they
        raise an exception."""
        return frozenset(self._unset())

    def _unset(self) -> Iterator[int]:
        for binding in self.scopes.bindings:
            declaration = self.lexical(binding)
            node = binding.node
            if declaration is None or node is None:
                continue
            start = node.end if declaration.kind != "enhanced_for_statement" else node.part("body").start
            above = declaration.parent
            skipped = above is not None and above.kind in ("switch_case", "switch_default")
            for use in binding.occurrences:
                # A function may be called before the declaration that stands above it.
                if use.use != "declare" and (use.start < start or skipped or use.depth != binding.owner):
                    yield use.start

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _of_variables(self) -> dict[int, Kinds]:
        """The kinds of each variable of which all assignments are seen."""
        sources, update = self._sources()
        by_number: dict[int, Kinds] = dict.fromkeys(sources, NOTHING)
        self.__dict__["_of_variables"] = by_number  # `kinds` asks for what is known so far
        changed = True
        while changed:
            changed = False
            for number, nodes in sources.items():
                before = by_number[number]
                kinds = joined(before, *(self.kinds(node) for node in nodes))
                if self.lexical(self.scopes.bindings[number]) is None:
                    kinds = joined(kinds, UNDEFINED)  # before its first value
                if number in update:
                    kinds = joined(kinds, UNDEFINED)
                if kinds != before:
                    by_number[number] = kinds
                    changed = True
        return by_number

    def _sources(self) -> tuple[dict[int, list[Node]], set[int]]:
        """The values of each variable, where all are seen; and the variables that begin without one."""
        by_start: dict[int, Node | None] = {}
        for node in self.scopes.nodes:
            match node.kind:
                case "variable_declarator" if node.part("name").kind == "identifier":
                    by_start[node.part("name").start] = node.child("value")
                case "assignment_expression" if erased(node.part("left")).kind == "identifier":
                    by_start[erased(node.part("left")).start] = node
                case "update_expression" if erased(node.children[0]).kind == "identifier":
                    by_start[erased(node.children[0]).start] = node
        sources: dict[int, list[Node]] = {}
        empty: set[int] = set()
        for binding in self.scopes.bindings:
            sets = [use.start for use in binding.occurrences if use.use != "read"]
            if binding.view != "local" or binding.doubt or not all(start in by_start for start in sets):
                continue
            values = [by_start[start] for start in sets]
            sources[binding.number] = [value for value in values if value is not None]
            if None in values:
                empty.add(binding.number)
        return sources, empty

    def is_plain(self, node: Node) -> bool:
        """Whether a name or a property gives its value, runs no code and raises nothing, by the types."""
        typed = self.types.get((node.start, node.end)) if self.types else None
        return typed is not None and typed.is_plain

    def is_writable(self, node: Node) -> bool:
        """Whether a property may be assigned without running code or raising anything. Of a call:
        whether it may change a regular expression."""
        typed = self.types.get((node.start, node.end))
        return typed is not None and typed.is_writable

    def kinds(self, node: Node) -> Kinds:
        """The kinds that the value of an expression may have."""
        node = erased(node)
        kinds = self._kinds(node) if node.kind in _WITH_KINDS else None
        if kinds is None and self.types and (typed := self.types.get((node.start, node.end))) is not None:
            return typed.kinds
        return kinds

    def _kinds(self, node: Node) -> Kinds:
        match node.kind:
            case "undefined":
                return self._undefined
            case kind if kind in _OF_LITERALS:
                return _OF_LITERALS[kind]
            case "number":
                return frozenset({"bigint"}) if self.text(node).endswith("n") else NUMBER
            case "identifier":
                return self._of_name(node)
            case "unary_expression":
                kinds = _OF_UNARY.get(node.operator)
                return kinds if kinds is not None else self._number(node.children[0])
            case "update_expression":
                return self._number(node.children[0])
            case "binary_expression" if len(node.children) == 2:
                left, right = node.children
                return operated(node.operator, self.kinds(left), self.kinds(right))
            case "ternary_expression":
                return joined(self.kinds(node.part("consequence")), self.kinds(node.part("alternative")))
            case "sequence_expression":
                return self.kinds(node.children[-1])
            case "assignment_expression":
                value = self.kinds(node.part("right"))
                if node.operator == "=":
                    return value
                return operated(node.operator[:-1], self.kinds(node.part("left")), value)
            case _:
                return None

    def _number(self, operand: Node) -> Kinds:
        kinds = self.kinds(operand)
        if kinds == NOTHING:
            return NOTHING
        return NUMBER if is_plain(kinds) else NUMERIC

    def _of_name(self, node: Node) -> Kinds:
        binding = self.binding(node)
        if binding is None:
            return None
        if binding.view in OUTSIDE:
            return GLOBALS.get(binding.name)
        return self.kinds_of(binding)

    def kinds_of(self, binding: Binding) -> Kinds:
        """The kinds of the values that a variable has after its declaration."""
        return self._of_variables.get(binding.number) if binding.view in LOCAL_VIEWS else None

"""Rules that rewrite one C function: what they ask of it, and how results are checked.

`CSource` answers the questions of the strategies (`strategies.dialect`). An event whose behaviour may be
undefined keeps its place: operands change places only where one of them can neither do nor see anything.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import ClassVar, Final, Self, TypeAlias

from codeaudit.transforms.c.analysis.scopes import resolve
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import head_of
from codeaudit.transforms.c.declared import NO_FRACTION, OBJECT
from codeaudit.transforms.c.dialect import ARITHMETIC, DIALECT, INTEGRAL, POINTER, PROMOTED, SCALAR, WHOLE
from codeaudit.transforms.c.macros import NOWHERE, InFile, Surroundings, macros_of
from codeaudit.transforms.c.parsing import C, CText, named, read_unit
from codeaudit.transforms.c.types import SPECIFIERS, declared_type, number_type
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.patches import Part, Patch, Site, Span
from codeaudit.transforms.strategies.dialect import UNKNOWN, CodeText, Dialect, TextRule
from codeaudit.transforms.syntax.flow import LISTS
from codeaudit.transforms.syntax.reader import EMPTY, Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import span

LABEL_INSIDE: Final = "case label inside of another statement"
ELVIS: Final = "?: without its middle"
JUMPS_OUT: Final = "jump in an expression"
CLEANS_UP: Final = "attribute that adds code or leaves it out"
ASSEMBLER: Final = "several parts of assembler, or nothing else"
LATER: Final = "text that C89 does not have"
UNREAD_WORDS: Final = "words that were not read would be lost"
_CLEANUP: Final = re.compile(
    r"(?:\b__attribute(?:__)?\b[^;]*|\[\s*\[[^\];]*)\b(?:__)?(?:cleanup|naked)(?:__)?\b"
)
_CLEANING: Final = frozenset({"cleanup", "__cleanup__", "naked", "__naked__"})
JUMPS: Final = frozenset({"goto_statement", "break_statement", "continue_statement", "return_statement"})
CAST_OR_CALL: Final = "cast or call before what binds to it"
NAMED_AS_A_MACRO: Final = "variable with the name of a macro"
_POSTFIX: Final = frozenset({"field_access", "array_access", "method_invocation", "update_expression"})
LOOSE_MACRO: Final = "macro of the file that is no operand and no whole statement"
HAS_LABELS: Final = "function with labels or a switch"
_DECIMAL: Final = re.compile(r"(0|[1-9][0-9]*)([uU]?[lL]{0,2})")
_HEXADECIMAL: Final = re.compile(r"0[xX]([0-9a-fA-F]+)([uU]?[lL]{0,2})")
_OCTAL: Final = re.compile(r"0([0-7]+)([uU]?[lL]{0,2})")
_CHARACTER: Final = re.compile("'([ -~])'")
_SUFFIXES: Final = {"": "int", "u": "unsigned int", "l": "long", "ul": "unsigned long", "ll": "long long",
                    "ull": "unsigned long long"}  # fmt: skip
_WHOLE_NUMBER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uUlL]*")
_OF_WHOLE: Final = frozenset({"&", "|", "^", "<<", ">>", "%"})
"""Operators whose operands are whole numbers (6.5.5, 6.5.7, 6.5.10 to 6.5.12)."""
_NO_NUMBERS: Final = frozenset({"string_literal", "concatenated_string", "null", "true", "false"})
TypeSort: TypeAlias = tuple[int | str, ...]
"""The number of a variable or the words of its type, and names of fields."""
_OPERATIONS: Final = frozenset({"binary_expression", "unary_expression"})
_QUIET: Final = _OPERATIONS | {"decimal_integer_literal", "character_literal", "parenthesized_expression"}
"""Kinds of expressions that do nothing but to compute."""
_OF_OPERANDS: Final = frozenset({"insert-parentheses", "remove-parentheses"})
"""Rules that keep the tree and change where operands end: a macro may be less or more than an operand."""
_SHARED: Final = SPECIFIERS - {"qualified_identifier"} | {"enum_specifier", "class_specifier"}
"""Kinds of nodes that hold for all variables of a declaration."""
TRUTHS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


class CSource(CodeText):
    """A function with the facts that rules ask for. It does not change after its creation."""

    edits_head: ClassVar[bool] = False
    """Whether rules edit what stands before the body: a constructor of C++ gives values there."""
    spelling: ClassVar[Dialect] = DIALECT
    truth: ClassVar[str] = "int"
    """The type of comparisons, and of `&&`, `||` and `!`."""
    character: ClassVar[str] = "int"
    """The type of `'a'`."""

    def __init__(self, source: str, around: Surroundings) -> None:
        super().__init__(resolve(source, around.language), self.spelling)
        self.macros = macros_of(source, around)
        self.evidence = self.macros.evidence
        self.declared: Final = cache(self._find_declared)
        """Gives the words of the type of a variable (`types.declared_type`)."""

    # ── what may be edited at all ────────────────────────────────────────────────────────────────────────

    @cached_property
    def obstacle(self) -> str | None:
        """Why no rule may change this text, as a short reason to count; `None` if rules may."""
        if self.obstacle_to_layout is not None:
            return self.obstacle_to_layout
        body = None if self.edits_head else self.unit.child("body")
        inside = self.macros.used_in(self.source.decode() if body is None else self.text(body))
        # `PUBLIC(char *) f(void)`: no rule edits it, but a macro may begin the body.
        head = self.macros.used_in(self.source.decode()) - inside
        if not all(map(self.macros.is_whole, inside)) or any(map(self.macros.has_braces, head)):
            return LOOSE_MACRO
        return self.unusual

    @cached_property
    def unusual(self) -> str | None:
        """Why nothing may change: code runs at the end of a variable, assembler may need all as it is, an
        expression jumps, a label stands in a statement, or a text may mean something else than is read."""
        source = self.source.decode()
        if any(node.kind == "case_statement" for node in self.unit.walk()):
            return LABEL_INSIDE
        # `#define ip (*_ip)` holds in a part of the file.
        if any(local.name in self.macros.defined for local in self.scopes.bindings if local.view != "outer"):
            return NAMED_AS_A_MACRO
        named = (self.macros.named_by(word) for word in self.macros.used_in(source))
        if _CLEANUP.search(source) or any(words & _CLEANING for words in named):
            return CLEANS_UP
        asm = sum(node.kind == "gnu_asm_expression" for node in self.unit.walk())
        if asm > 1 or (asm and len(self.unit.part("body").children) == 1):
            return ASSEMBLER
        if any(map(self._binds_as_a_call, self.unit.walk())):
            return CAST_OR_CALL
        nodes = (node for node in self.unit.walk() if node.kind == "parenthesized_expression")
        inside = (inner.kind for node in nodes if node.first("block") is not None for inner in node.walk())
        return None if JUMPS.isdisjoint(inside) else JUMPS_OUT  # `({ … })` with a jump

    def _binds_as_a_call(self, node: Node) -> bool:
        """Whether it is `(word)(a)->b`, which binds to a call, or `(a::b) - c`, perhaps a difference."""
        if node.kind == "cast_expression" and "::" in (word := self.text(node.part("type"))):
            return word[-1] not in "*&" and self.text(node.part("value"))[0] in "+-*&"
        inner = node.children[0] if node.kind in _POSTFIX and node.children else None
        called = inner.children[0] if inner is not None and inner.kind == "method_invocation" else None
        return called is not None and called.kind == "parenthesized_expression" and self._is_foreign(called)

    def _is_foreign(self, node: Node) -> bool:
        """Whether it is a name of something outside of the function, which may be a type."""
        binding = self.binding(node.unparenthesized)
        return node.unparenthesized.kind == "identifier" and (binding is None or binding.view == "outer")

    @cached_property
    def obstacle_to_layout(self) -> str | None:
        """The same for a rule that keeps the tree."""
        is_short = any(n.kind == "ternary_expression" and len(n.children) < 3 for n in self.unit.walk())
        return self.macros.doubt(self.scopes) or (ELVIS if is_short else None)

    @cached_property
    def closed(self) -> str | None:
        """A declaration stands behind no label, and no jump passes it."""
        kinds = {"labeled_statement", "switch_expression", "goto_statement"}
        return HAS_LABELS if any(node.kind in kinds for node in self.unit.walk()) else None

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes but declared names, and those in arguments of macros of the file, or that keep a text."""
        hidden = [
            (argument.start, argument.end)
            for node in self.unit.walk()
            if node.kind == "method_invocation" and self.is_macro(self.text(node.children[0]))
            for argument in node.children[1:]
        ]
        return tuple(
            node
            for node in super().nodes
            if not any(start <= node.start and node.end <= end for start, end in hidden)
            and not (node.kind == "parenthesized_expression" and self._is_foreign(node))  # `(t) - 1`
            and not (node.kind == "identifier" and is_declared_here(node))
            and not (node.kind == "character_literal" and self.macros.recodes)
        )

    def loses(self, site: Site) -> bool:
        """Whether a patch takes away words that were overwritten before the text was parsed, such as an
        attribute: nobody asked what they mean."""
        assert isinstance(self.reading, CText)
        patches = [patch for option in site.options for patch in option]
        return any(
            patch.start < end
            and start < patch.end
            and not any(
                isinstance(part, Span) and part.start <= start and end <= part.end for part in patch.parts
            )
            for start, end in self.reading.hidden
            for patch in patches
        )

    def seen_by(self, rule: str) -> Self:
        """The function as a rule sees it."""
        return self

    def is_macro(self, name: str) -> bool:
        """Whether a name is a macro of the file, or one that keeps the text of its argument."""
        return name in self.macros.defined or self.macros.keeps_text(name)

    def may_assign(self, name: str) -> bool:
        """Whether a name is such a macro, and an argument may get a value."""
        return self.is_macro(name) and not self.macros.only_reads(name)

    def fresh(self, *stems: str) -> Iterator[str]:
        """As in all languages, and no word of a macro of the file, and no name that one makes."""
        return (name for name in super().fresh(*stems) if not self.macros.takes(name, self.source.decode()))

    # ── names and declarations ───────────────────────────────────────────────────────────────────────────

    def name_of(self, declarator: Node) -> Node:
        """The name inside of its pointers and brackets."""
        return named(declarator) or declarator

    def declares(self, statements: Sequence[Node]) -> frozenset[str]:
        """The names that declarations among these statements make known behind themselves."""
        kinds = {"local_variable_declaration", *self.dialect.types}
        return frozenset().union(*(self.declared_in(node) for node in statements if node.kind in kinds))

    def patterns(self, node: Node) -> list[str]:
        """None: no variable is known only where a condition holds."""
        return []

    def leaves(self, node: Node) -> bool:
        """As in all languages; a label may be jumped to, so nothing is certain behind one."""
        return super().leaves(node) and not any(inner.kind == "labeled_statement" for inner in node.walk())

    def are_known(self, node: Node) -> bool:
        """Whether an operation is one of numbers and pointers, as all of C are but those of vectors."""
        return not self._has_vectors or all(map(self.type, node.children))

    @cached_property
    def _has_vectors(self) -> bool:
        return self.macros.has_vectors(self.source.decode())

    def is_boolean(self, node: Node) -> bool:
        """All are: `&&`, `||`, `!` and comparisons give 0 or 1 (6.5.13, 6.5.3.3), and `x++` and `++x` are
        `x += 1` (6.5.2.4, 6.5.3.1). No compiler rejects what cannot be reached."""
        return True

    steps_by_one = varies = is_boolean

    def is_inferred(self, node: Node) -> bool:
        """Only a condition that is left out is no operand."""
        return node.kind == EMPTY

    def shared_head(self, declaration: Node) -> str | None:
        """The specifiers: stars and brackets belong to each variable by itself."""
        first = declaration.child("declarator")
        before = [child for child in declaration.children if child.field != "declarator"]
        if first is None or any(n.kind not in _SHARED or n.child("body") is not None for n in before):
            return None
        return self.source[declaration.start : first.start].decode()

    def may_be_unset(self, declaration: Node) -> bool:
        """Whether all variables are numbers or pointers that live as long as the block."""
        return self._are_typed(declaration.all("declarator"))

    def is_final(self, declaration: Node | None) -> bool:
        """Whether a variable itself is `const`."""
        return declaration is None or not self._are_typed(declaration.all("declarator") or [declaration])

    def _are_typed(self, declarators: Iterable[Node]) -> bool:
        bindings = [self.binding(self.name_of(declarator)) for declarator in declarators]
        return all(binding is not None and self.type_of_variable(binding) is not None for binding in bindings)

    def is_typed_by_value(self, declaration: Node) -> bool:
        """Whether it has no type that is written down."""
        kind = declaration.child("type")
        is_gnu = kind is not None and self.text(kind) == "__auto_type"
        return kind is None or is_gnu or kind.kind in ("placeholder_type_specifier", "decltype")

    def is_plain_parameter(self, binding: Binding) -> bool:
        """Every parameter of a known type has a value."""
        return self.type_of_variable(binding) is not None

    def gives_nothing(self, function: Node) -> bool:
        """Whether it is the function, and its type is `void`."""
        return function is self.unit and self._result == "void"

    @cached_property
    def _result(self) -> str | None:
        """The type of the result, where it is one word."""
        head = head_of(self.unit)
        kind = self.unit.child("type")
        return self.text(kind) if head is self.unit.child("declarator") and kind is not None else None

    def leaving(self, at: Node) -> str | None:
        """`return;` or `return 0;`."""
        return "return;" if self._result == "void" else "return 0;" if self._result in ARITHMETIC else None

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────

    def _find_declared(self, binding: Binding, through: str = "") -> str | None:
        is_other = self.macros.retypes(self.source.decode())
        return None if is_other else declared_type(self.scopes, binding, through)

    def type_of_variable(self, binding: Binding) -> str | None:
        """The type of a local or parameter that may be assigned: a number, or `pointer`. `None` where it is
        `const` or `volatile`, and of what a macro may touch."""
        text = self.declared(binding)
        if text is None:
            return None
        _, star, behind = text.rpartition("*")
        if star:
            return None if behind else POINTER
        return None if "const" in behind.split() else number_type(behind)

    def value_type(self, binding: Binding) -> str | None:
        """The type of the value of a variable, which `type` gives for its name."""
        return self.type_of_variable(binding)

    def type(self, node: Node) -> str | None:
        """The type of an expression: that of a number, or `pointer`."""
        node = node.unparenthesized
        match node.kind:
            case "identifier":
                binding = self.binding(node)
                return None if binding is None or is_declared_here(node) else self.value_type(binding)
            case "decimal_integer_literal":
                number = self._number(node)
                return None if number is None else _SUFFIXES.get(number[1].lower())
            case "character_literal":
                return self.character if self.source[node.start : node.start + 1] == b"'" else None
            case "unary_expression" if node.operator in ("-", "+", "~"):
                return self.promoted(self.type(node.children[0]))
            case "unary_expression":
                return self.truth if node.operator == "!" and self.are_known(node) else None
            case "binary_expression":
                return self._type_of_operation(node)
            case "sizeof_expression":
                return "size_t"
            case "pointer_expression":
                return POINTER if node.operator == "&" else None
            case _:
                return None

    def _type_of_operation(self, node: Node) -> str | None:
        if node.operator in TRUTHS:
            return self.truth
        left, right = (self.promoted(self.type(child)) for child in node.children)
        if node.operator in ("<<", ">>"):
            return left if left in WHOLE else None
        return left if left == right and left in WHOLE | {"double"} else None

    def promoted(self, kind: str | None) -> str | None:
        """The type that a value has in an operation."""
        return "int" if kind in PROMOTED else kind

    def _number(self, node: Node) -> tuple[int, str] | None:
        """The value of a whole number that is an `int` on every machine, or what its suffix says."""
        text = self.text(node)
        for pattern, base in ((_DECIMAL, 10), (_HEXADECIMAL, 16), (_OCTAL, 8)):
            if match := pattern.fullmatch(text):
                value = int(match[1], base)
                return (value, match[2]) if value <= 32767 else None  # one type in all bases
        return None

    def kind(self, node: Node) -> str | None:
        """The type of an expression, as `type` says it or as the declarations around the function do."""
        kind, declared, node = self.type(node), self.macros.declared, node.unparenthesized
        if kind is not None or node.kind not in ("identifier", "field_access", "method_invocation"):
            return kind
        is_call, is_field = node.kind == "method_invocation", node.kind == "field_access"
        name = node.children[0] if is_call else node.children[1] if is_field else node
        binding = self.binding(name)
        if binding is not None and binding.view != "outer":
            words = None if is_call else self.declared(binding)
            return None if words is None or "*" in words else declared.type(words)
        is_name = name.kind.endswith("identifier") and self.text(name) not in self.macros.defined
        return declared.common(self.text(name), is_field=is_field) if is_name else None

    def sort(self, node: Node) -> TypeSort | None:
        """What two expressions have in common only if they have one type: the words of a declaration, and the
        names of fields behind them. For what the function does not declare it is the variable."""
        node = node.unparenthesized
        is_field = node.kind == "field_access"
        if self.text(node.children[1] if is_field else node) in self.macros.defined:
            return None
        if is_field:
            base = self.sort(node.children[0])
            if base is None:
                return None
            first = base[0]
            plain = first.replace(" *", "") if isinstance(first, str) else first
            return (plain, *base[1:], self.text(node.children[1]))
        binding = self.binding(node) if node.kind == "identifier" else None
        return None if binding is None else self.sort_of(binding)

    def sort_of(self, binding: Binding) -> TypeSort:
        """The same for a variable."""
        words = None if self.own_types else self.declared(binding)
        return (binding.number if words is None else re.sub(r"\bconst\b ?", "", words).strip(),)

    @cached_property
    def own_types(self) -> Sequence[Node]:
        """The types that the function defines, so that words may mean several."""
        types = (node for node in self.unit.walk() if node.kind in self.spelling.types)
        return [n for n in types if not n.kind.endswith("_specifier") or n.child("body") is not None]

    @cached_property
    def _used(self) -> frozenset[TypeSort | None]:
        """What the function uses as no fraction may be used."""
        whole = set[TypeSort | None]()
        for node in self.unit.walk():
            kind, operator, parts = node.kind, node.operator, node.children
            is_pointer = (kind, operator) in (("field_access", "->"), ("pointer_expression", "*"))
            is_operation = kind in ("binary_expression", "assignment_expression")
            if is_pointer or (kind in ("switch_expression", "switch_label") and parts):
                whole.add(self.sort(parts[0]))
            elif kind == "array_access" or (is_operation and operator.removesuffix("=") in _OF_WHOLE):
                whole |= set(map(self.sort, parts))
        return frozenset(whole - {None})

    def is_whole(self, node: Node) -> bool:
        """Whether an expression is certainly no fraction."""
        node = node.unparenthesized
        match node.kind:
            case "decimal_integer_literal":
                return _WHOLE_NUMBER.fullmatch(self.text(node)) is not None
            case "binary_expression" if node.operator not in _OF_WHOLE | TRUTHS:
                return all(map(self.is_whole, node.children))
            case "unary_expression" if node.operator != "!":
                return self.is_whole(node.children[0])
            case "ternary_expression" if len(node.children) == 3:
                return all(map(self.is_whole, node.children[1:]))
            case "assignment_expression" | "update_expression":
                return self.is_whole(node.children[0])
            case "binary_expression" | "unary_expression":
                return True
            case kind if kind in _NO_NUMBERS:
                return True
        known = self.kind(node)
        return known in INTEGRAL or known in (POINTER, OBJECT, NO_FRACTION) or self.sort(node) in self._used

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────

    def spellings(self, node: Node) -> list[str]:
        """`10` as `0xa`: up to 32767 both are an `int`."""
        number = self._number(node)
        if number is None:
            return []
        value, suffix = number
        text = self.text(node)
        options = [f"{value:#x}{suffix}", f"0x{value:X}{suffix}", f"{value}{suffix}"]
        if value:
            options.append(f"0{value:o}{suffix}")
        if suffix:
            options.append(text.replace(suffix, suffix.swapcase()))
        # A sign behind `0x1E` would belong to it.
        return [option for option in dict.fromkeys(options) if option != text and option[-1] not in "eE"]

    def has_opposite(self, node: Node) -> bool:
        """`!=` is the opposite of `==`; `>=` that of `<` where no operand can be a NaN."""
        is_equality = node.operator in DIALECT.opposites
        return self.are_known(node) and (is_equality or all(map(self.is_whole, node.children)))

    def commutes(self, node: Node) -> str | None:
        """Sums and products of fractions keep the bits of one NaN."""
        keeps_bits = node.operator not in ("+", "*") or all(map(self.is_whole, node.children))
        return None if self.are_known(node) and keeps_bits else UNKNOWN

    def is_unordered(self, node: Node) -> bool:
        """Whether one operand is of numbers and locals that nobody else sees, and the other keeps these."""
        left, right = node.children
        return self.are_known(node) and (self._is_quiet(left, right) or self._is_quiet(right, left))

    def _is_quiet(self, node: Node, beside: Node) -> bool:
        """Whether nobody sees when an expression is evaluated, before or after another one."""
        assigned = self.assigned(beside)
        for inner in node.walk():
            if inner.kind == "identifier":
                binding = self.private(inner)
                if binding is None or binding.number in assigned:
                    return False
            elif inner.kind == "binary_expression" and inner.operator in ("/", "%", "<<", ">>"):
                return False  # may trap
            elif inner.kind not in _QUIET:
                return False
        return not any(inner.kind in _OPERATIONS and not _stays_small(inner) for inner in node.walk())

    def private(self, node: Node) -> Binding | None:
        """The variable of a known type that a name means, if nobody takes its address, so nobody sees it."""
        binding = self.binding(node)
        if binding is None or self.type_of_variable(binding) is None or binding.number in self.addressed:
            return None
        return binding

    @cached_property
    def addressed(self) -> frozenset[int]:
        """The variables whose address is taken, or that an argument of a macro of the file may assign."""
        numbers: set[int] = set()
        for node in self.unit.walk():
            inside: Iterable[Node] = ()
            if node.kind == "pointer_expression" and node.operator == "&":
                inside = self._located(node.children[0])
            elif node.kind == "method_invocation" and self.may_assign(self.text(node.children[0])):
                inside = node.walk()
            for inner in inside:
                if inner.kind == "identifier" and (binding := self.binding(inner)) is not None:
                    numbers.add(binding.number)
        return frozenset(numbers)

    def _located(self, node: Node) -> Iterable[Node]:
        """The parts of an operand of `&` of which something lies in the memory whose address it is: of
        `&p->x` none, because that is where `p` points to."""
        node = node.unparenthesized
        is_behind = (node.kind, node.operator) in (("field_access", "->"), ("pointer_expression", "*"))
        if is_behind or (node.kind == "array_access" and POINTER in map(self.type, node.children)):
            return ()
        return self._located(node.children[0]) if node.kind == "field_access" else node.walk()

    def is_value(self, node: Node) -> bool:
        """Whether a name or number may become an operand: no declarator, and its address is not taken."""
        if is_declared_here(node):
            return False
        parent = node.parenthesized.parent
        if parent is None or parent.kind == "pointer_expression":
            return False
        return not (parent.kind == "method_invocation" and node.parenthesized is parent.children[0])

    def writes_out(self, target: Node, operator: str, value: Node) -> bool:
        """`x += y` is `x = x + (y)` for a private variable (6.5.16.2) that the value does not assign."""
        binding = self.private(target)
        return binding is not None and binding.number not in self.assigned(value)

    def contracts(self, target: Node, operator: str) -> bool:
        """The same, the other way round."""
        statement = target.parent
        if statement is None or operator in TRUTHS or self.type(target) not in SCALAR:
            return False
        return self.writes_out(target, operator, statement.children[1])

    def keep_their_types(self, first: Node, second: Node) -> bool:
        """Whether both have one type that is known; a number of a small type keeps its value."""
        one, other = self.type(first), self.type(second)
        return one == other and one in INTEGRAL | {"double"}

    def is_narrowed(self, target: Node | None, first: Node, last: Node) -> bool:
        """Whether a 0 may be a pointer, which it is only alone."""
        kind = self._result if target is None else self.type(target)
        return kind not in ARITHMETIC and any(
            self.constant(side.unparenthesized) == 0 for side in (first, last)
        )

    def in_nameless_function(self, node: Node) -> bool:
        """C has none."""
        return False

    # ── switch ───────────────────────────────────────────────────────────────────────────────────────────

    def is_selector(self, node: Node) -> bool:
        """Whether it is a private variable of whole numbers."""
        return self.private(node) is not None and self.type(node) in INTEGRAL

    def comparison(self, selector: Node, label: Node) -> tuple[Part, ...] | None:
        """`x == 1`, for a number that is an `int` on every machine, or a character."""
        return None if self.constant(label) is None else (span(selector), " == ", span(label))

    def compared(self, node: Node) -> tuple[Node, Node] | None:
        """The two sides of `x == 1`."""
        if node.kind != "binary_expression" or node.operator != "==":
            return None
        left, right = node.children
        return (left, right) if left.kind == "identifier" and self.constant(right) is not None else None

    def constant(self, node: Node) -> int | None:
        """The value of a number or a character that is spelt out."""
        if node.kind == "decimal_integer_literal":
            number = self._number(node)
            return number[0] if number is not None and not number[1] else None
        match = _CHARACTER.fullmatch(self.text(node)) if node.kind == "character_literal" else None
        return None if match is None or self.macros.recodes else ord(match[1])

    def fits_label(self, value: int | str | None, selector: Node) -> bool:
        """Whether it is a number: a label is converted as an operand of `==` is, if it is an `int`."""
        return isinstance(value, int)


def is_declared_here(node: Node) -> bool:
    """Whether a name is the one that a declaration declares."""
    kinds = ("parenthesized_declarator", "attributed_declarator")
    return node.parent is not None and (node.field == "declarator" or node.parent.kind in kinds)


def _stays_small(node: Node) -> bool:
    """Whether an operation cannot overflow: it is no sum of signed numbers, but perhaps a negative number."""
    if node.operator in ("!", "~", "&", "|", "^", *TRUTHS):
        return True
    return len(node.children) == 1 and node.children[0].kind == "decimal_integer_literal"


def _later(reading: ParsedText) -> set[str]:
    """What a text has that C89 does not have: comments `//`, and declarations behind a statement."""
    lists = (node.children for node in reading.root.walk() if node.kind in LISTS)
    declared = ([is_declaration(node) for node in nodes] for nodes in lists)
    behind = {"declaration" for flags in declared if flags != sorted(flags, reverse=True)}
    return behind | {kind for kind, _, _ in reading.comments if kind == "line_comment"}


def is_declaration(node: Node) -> bool:
    """Whether a statement declares variables or types."""
    return node.kind == "local_variable_declaration" or node.kind in DIALECT.types


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=8)
def study(source: str, around: Surroundings = NOWHERE) -> CSource:
    """A function as a `CSource`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is not exactly one function.
    """
    if around.language == CPP:
        from codeaudit.transforms.c.cpp.rewriting import CppSource

        return CppSource(source, around)
    return CSource(source, around)


@dataclass(frozen=True, slots=True, kw_only=True)
class CRewriting(InFile, TextRule):
    """A rule about one C function."""

    language: str = C
    around: str = field(default="", repr=False)
    macros: MacroLevel = "known"

    def study(self, source: str) -> CSource:
        """As of any rule."""
        return study(source, self.surroundings)

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """As of any rule; what only moves blanks and comments asks for less."""
        code = self.study(source)
        keeps_ends = self.proof != "analysis" and self.name not in _OF_OPERANDS
        obstacle = code.obstacle_to_layout if keeps_ends else code.obstacle
        if obstacle is not None:
            return (Refused(obstacle),)
        sites = self.find(code.seen_by(self.name))
        return (site if isinstance(site, Refused) else self._fitting(code, site) for site in sites)

    def _fitting(self, code: CSource, site: Site) -> Site | Refused:
        """A site without the options that C89 does not have, where a file is known to be C89."""
        if code.loses(site):
            return Refused(UNREAD_WORDS)
        if not code.macros.is_c89:
            return site
        options = tuple(option for option in site.options if self._is_c89(code, option))
        return replace(site, options=options) if options else Refused(LATER)

    def _is_c89(self, code: CSource, option: Sequence[Patch]) -> bool:
        """Whether C89 has what these patches write. Most of them can write no statement and no comment."""
        source = code.source.decode()
        parts = [part for patch in option for part in (*patch.parts, Span(patch.start, patch.end))]
        text = "".join(p if isinstance(p, str) else code.source[p.start : p.end].decode() for p in parts)
        if "//" in text and "//" not in source:
            return False
        changes = "//" in text or not {";", "{", "}"}.isdisjoint(text)
        return not changes or self.rewritten(source, option) != Refused(LATER)

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """As of any rule, with an evidence that says what is assumed of macros."""
        rewritten, code = TextRule.rewritten(self, source, patches), self.study(source)
        if isinstance(rewritten, Refused):
            return rewritten
        if code.macros.is_c89 and not _later(self.reread(rewritten.source)) <= _later(code.reading):
            return Refused(LATER)
        return replace(rewritten, evidence=code.evidence) if rewritten.evidence == "analysis" else rewritten

    def reread(self, text: str) -> ParsedText:
        """As of any rule: a result has to be one function whose names are certain."""
        resolve.__wrapped__(text, self.language)
        reading, _ = read_unit(text, self.language)
        return reading

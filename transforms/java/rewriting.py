"""Rules that rewrite one Java method: what they ask of it, and how results are checked.

`JavaSource` is one method, parsed and resolved once for all of its variants. It answers the questions of the
strategies (`strategies.dialect`) for Java, and those of Java's own rules.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.java.analysis.facts import Facts
from codeaudit.transforms.java.analysis.library import KNOWN_TYPES, STATIC
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.analysis.surroundings import in_own_class
from codeaudit.transforms.java.analysis.types import (
    BOXES,
    INTEGRAL,
    NUMERIC,
    PRIMITIVE,
    STRING,
    Types,
    is_final,
    is_movable_past,
    is_pure,
    is_reference,
    promoted,
    varies,
)
from codeaudit.transforms.java.dialect import DIALECT, DIRECTIVE
from codeaudit.transforms.java.files import COMPACT, ESCAPED, REBOUND, escaped
from codeaudit.transforms.java.parsing import TYPES, only_callable, read
from codeaudit.transforms.java.precedence import EQUALITY
from codeaudit.transforms.patches import Part
from codeaudit.transforms.strategies.dead_code import is_in_unit
from codeaudit.transforms.strategies.dialect import CodeText, TextRule
from codeaudit.transforms.syntax.reader import DISPUTED, Node, ParsedText
from codeaudit.transforms.syntax.scopes import Binding
from codeaudit.transforms.syntax.text import span

OTHER_MEANING: Final = "a type may mean another one at this place"
TEXT: Final = "operands of + may be strings"
_LARGEST: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"(0[xX])?([0-9a-fA-F_]+?)([lL]?)")
_WORD: Final = re.compile(r"[\w$]+")
_QUESTION: Final = re.compile(
    r"(?:is|has|have|can|should|will|was|are|does|may|must|needs?|contains|includes|equals|matches|exists|"
    r"starts|ends|supports|requires|accepts|allows|compare|intersects|supersedes)(?![a-z])"
)
"""The beginning of the name of a method that answers yes or no."""
_BITS: Final = frozenset({"&", "|", "^"})
_NAMING: Final = frozenset(
    {"labeled_statement", "break_statement", "continue_statement", "inferred_parameters", "resource",
     "scoped_identifier"}
)  # fmt: skip
"""Kinds of nodes in which a name stands for no value."""
_SHIFTS: Final = frozenset({"<<", ">>", ">>>"})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%"})
_NEVER_NARROWED: Final = frozenset({"boolean", "long", "float", "double", STRING})
_RANGES: Final = {
    "int": range(-(2**31), 2**31), "char": range(2**16), "short": range(-(2**15), 2**15),
    "byte": range(-128, 128),
}  # fmt: skip
_TEXTS: Final = frozenset({"String", "StringBuilder", "StringBuffer"})
_PLAIN: Final = PRIMITIVE | BOXES | _TEXTS | {"char[]"}
"""Types of arguments whose text is never null."""


class JavaSource(CodeText):
    """A method with the facts that rules ask for. It does not change after its creation."""

    def __init__(self, source: str) -> None:
        super().__init__(resolve(source), DIALECT)

    @cached_property
    def obstacle(self) -> str | None:
        """Why no rule may change this text, as a short reason to count; `None` if rules may."""
        source = self.source.decode()
        if escaped(source):
            return ESCAPED
        if self.reading.disputed:
            return DISPUTED
        if "\0" in source:  # patches mark hard line breaks with it
            return "zero character in the text"
        # `class String {}` in the method: then no rule knows what `String` means.
        parameters = self.unit.first("type_parameters")
        declared = self._inner_types | (
            self._declared_types(parameters) if parameters is not None else frozenset()
        )
        return REBOUND if declared & KNOWN_TYPES else None

    @property
    def closed(self) -> str | None:
        """In a compact constructor the components of the record are known, and they stand outside of the
        text.
        """
        return COMPACT if self.unit.kind == "compact_constructor_declaration" else None

    def is_multiline(self, node: Node) -> bool:
        """Whether it is a text block."""
        return node.kind == "string_literal" and node.has('"""')

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def types(self) -> Types:
        """The static types of its expressions."""
        return Types(self.scopes)

    def type(self, node: Node) -> str | None:
        """The static type of an expression; `None` if the text does not determine it."""
        return self.types.of(node)

    def type_of_variable(self, binding: Binding) -> str | None:
        """The declared type of a variable, or that of its value."""
        return self.types.declared(binding)

    @cached_property
    def _inner_types(self) -> frozenset[str]:
        """The names of the types that parts of the method declare: local classes, and type parameters."""
        parameters = self.unit.first("type_parameters")
        parts = [child for child in self.unit.children if child is not parameters]
        return frozenset().union(*map(self._declared_types, parts))

    def _declared_types(self, node: Node) -> frozenset[str]:
        """The names of the types and type parameters that a part of the text declares."""
        declared = (inner for inner in node.walk() if inner.kind in TYPES or inner.kind == "type_parameter")
        names = (inner.child("name") or inner.first("type_identifier") for inner in declared)
        return frozenset(self.text(name) for name in names if name is not None)

    def means_same(self, kind: str, place: Node) -> bool:
        """Whether a type that is spelt somewhere in the method may be written at this place, too.

        A local class or a type parameter may hide another type of its name, and so may a type that a class in
        the method inherits.
        """
        words = set(_WORD.findall(kind))
        if words & self._inner_types:
            return False
        return words <= PRIMITIVE | KNOWN_TYPES or in_own_class(place, self.unit)

    def is_final(self, declaration: Node | None) -> bool:
        """Whether a declaration has the modifier `final`."""
        return is_final(declaration)

    def is_typed_by_value(self, declaration: Node) -> bool:
        """Whether it says `var` for its type."""
        return self.text(declaration.part("type")) == "var"

    def is_plain_parameter(self, binding: Binding) -> bool:
        """Whether it is none of several arguments, and no receiver."""
        return binding.node is not None and binding.node.kind == "formal_parameter"

    def gives_nothing(self, function: Node) -> bool:
        """Whether it is a constructor or a method without a result."""
        if function.kind == "constructor_declaration":
            return True
        return function.kind == "method_declaration" and function.part("type").kind == "void_type"

    def leaving(self, at: Node) -> str | None:
        """A `return` of the method with some value, where a statement stands in the method itself."""
        returns = at.kind == "return_statement"
        if at.kind == "local_variable_declaration" or not is_in_unit(self, at):
            return None
        if returns and not at.children:
            return None
        if self.unit.kind == "constructor_declaration":
            # A constructor has to set its final fields on every way out.
            sets = any(
                inner.kind == "assignment_expression" and inner.start >= at.start
                for inner in self.unit.walk()
            )
            return None if sets else "return;"
        if self.unit.kind != "method_declaration":
            return None
        kind = self.text(self.unit.part("type"))
        if kind == "void":
            return "return;"
        if kind == "boolean":
            now = self.text(at.children[0]) if returns else ""
            return "return true;" if now == "false" else "return false;"
        return "return 11;" if kind in PRIMITIVE else "return null;"

    def is_for_tool(self, comment: str) -> bool:
        """Whether it begins as an order to a tool does."""
        return DIRECTIVE.match(comment) is not None

    def spellings(self, node: Node) -> list[str]:
        """`255` as `0xff`, `1000` as `1_000`, `1L` as `1l`, `1.5` as `1.5d`."""
        text = self.text(node)
        return _floats(text) if node.kind in DIALECT.fractions else _integers(text)

    def shared_head(self, declaration: Node) -> str | None:
        """Modifiers and type, as they stand."""
        return self.source[declaration.start : declaration.part("declarator").start].decode()

    # ── conditions ───────────────────────────────────────────────────────────────────────────────────────

    def varies(self, node: Node) -> bool:
        """Whether an expression is certainly not a constant expression (JLS 15.29)."""
        return varies(self.scopes, node)

    def patterns(self, node: Node) -> list[str]:
        """The names of pattern variables in a part of the text.

        Where they are known depends on which way control takes (JLS 6.3.1, 6.3.2).
        """
        return [
            binding.name for binding in self.scopes.bindings
            if binding.view == "pattern" and node.start <= binding.start < node.end
        ]  # fmt: skip

    def binds(self, node: Node) -> bool:
        """`!(o instanceof String s) || f(s)` does not compile without its `!`."""
        return any(inner.kind in ("instanceof_expression", "assignment_expression") for inner in node.walk())

    def is_inferred(self, node: Node) -> bool:
        """Whether a whole condition may have its type from its place alone.

        Of `<T> T get(String)` Java infers T as Boolean in `if (get("k"))`, and as Object in
        `if (!get("k"))`, which does not compile (JLS 15.12). The text seldom shows the declaration. Assumed
        is that a method with the name of a question, such as `isEmpty`, `hasNext` or `contains`, declares its
        result as boolean or Boolean, not as a type parameter of its own.
        """
        node = node.unparenthesized
        match node.kind:
            case "method_invocation" if self.type(node) is None and node.child("type_arguments") is None:
                return not _QUESTION.match(self.text(node.part("name"))) or self._is_generic(node)
            case "ternary_expression":
                return any(self.is_inferred(arm) for arm in node.children[1:])
            case kind:
                return kind == "switch_expression"

    def _is_generic(self, node: Node) -> bool:
        """Whether the text declares a method of this name with type parameters of its own."""
        name = self.text(node.part("name"))
        return any(
            inner.kind == "method_declaration"
            and self.text(inner.part("name")) == name
            and inner.first("type_parameters") is not None
            for inner in self.unit.walk()
        )

    def is_boolean(self, node: Node) -> bool:
        """`!`, `&&` and `||` of Java are defined on booleans alone."""
        return True

    def has_opposite(self, node: Node) -> bool:
        """Whether it is `==` or `!=`, or both operands are whole numbers: no NaN."""
        is_equality = node.operator in DIALECT.opposites
        return is_equality or all(self.type(side) in INTEGRAL for side in node.children)

    # ── operands ─────────────────────────────────────────────────────────────────────────────────────────

    def commutes(self, node: Node) -> str | None:
        """All operators commute but the `+` of texts."""
        is_sum = node.operator == "+"
        return TEXT if is_sum and not all(self.types.numeric(side) for side in node.children) else None

    def is_unordered(self, node: Node) -> bool:
        """Whether nobody sees which operand of an operation is evaluated first.

        Java evaluates operands from left to right, and unboxing may fail where an operand stands. So one
        operand has to be a literal or a primitive local that the other does not assign, or both compute with
        such alone.
        """
        types, (left, right) = self.types, node.children
        if is_movable_past(types, left, right) or is_movable_past(types, right, left):
            return True
        return any(all(test(types, side) for side in node.children) for test in (is_pure, is_reference))

    def is_value(self, node: Node) -> bool:
        """Whether an identifier or number may be an operand: no name of a declaration, a member or a
        label.
        """
        parent = node.parent
        if parent is None or node.field in ("name", "field") or parent.kind == "method_reference":
            return False
        is_parameter = parent.kind == "lambda_expression" and node.field == "parameters"
        return not is_parameter and parent.kind not in _NAMING

    def writes_out(self, target: Node, operator: str, value: Node) -> bool:
        """Whether an operator gives exactly the type of its target.

        `x op= y` means `x = (T) (x op y)` with x read first and the type T of x (JLS 15.26.2). So the cast
        has to be idle: x is an int, long, float or double, and y does not promote beyond it.
        `byte b; b += 1;` casts, and `b = b + 1;` does not compile.
        """
        own, other = self.type(target), self.type(value)
        if own == STRING:
            return operator == "+"
        if own == "boolean":
            return operator in _BITS and other == "boolean"
        if operator in _SHIFTS:
            return own in ("int", "long") and other in INTEGRAL
        if other not in NUMERIC or (operator in _BITS and other not in INTEGRAL):
            return False
        assert own is not None
        return promoted(own, str(other)) == own

    def contracts(self, target: Node, operator: str) -> bool:
        """`x = x op y` compiles, so its value has the type of x already and the cast of `op=` is idle."""
        kind = self.type(target)
        if kind in DIALECT.wide:
            return operator in _ARITHMETIC | _BITS | _SHIFTS
        fitting: Mapping[str | None, frozenset[str]] = {STRING: frozenset("+"), "boolean": _BITS}
        return operator in fitting.get(kind, ())

    def steps_by_one(self, node: Node) -> bool:
        """Java has no operators of its own making."""
        return True

    # ── arms of ?: ───────────────────────────────────────────────────────────────────────────────────────

    def keep_their_types(self, first: Node, second: Node) -> bool:
        """`?:` unboxes and promotes its arms where they are numbers (JLS 15.25), a statement does not:
        `Object o = c ? 1 : 2.0;` stores 1.0. So both arms are of one primitive type, or one of them certainly
        is an object that is never unboxed.
        """
        kinds = self.type(first), self.type(second)
        if kinds[0] == kinds[1] and kinds[0] in PRIMITIVE:
            return True
        return self._is_object(first) or self._is_object(second)

    def _is_object(self, node: Node) -> bool:
        """Whether an expression certainly is a reference that nothing unboxes."""
        inner = node.unparenthesized
        kind = self.type(inner)
        if kind is None:
            return False
        if kind == STRING or kind.endswith("[]"):
            return True
        return inner.kind == "object_creation_expression" and kind not in BOXES

    def is_narrowed(self, target: Node | None, first: Node, last: Node) -> bool:
        """`byte b; if (c) b = 1; else b = 2;` narrows two constants (JLS 5.2); `c ? 1 : 2` is an int."""
        kind = self.type(first)
        if kind != self.type(last) or kind in _NEVER_NARROWED or kind not in PRIMITIVE:
            return False
        wanted = self.type(target) if target is not None else self._result_type(first)
        return not (wanted in DIALECT.wide or self.varies(first) or self.varies(last))

    def _result_type(self, node: Node) -> str | None:
        """The type of what the method around an expression returns."""
        method = next((above for above in node.ancestors() if above.kind == "method_declaration"), None)
        kind = method.child("type") if method is not None else None
        return self.text(kind) if kind is not None else None

    def may_be_unset(self, declaration: Node) -> bool:
        """A declaration only makes a variable known (JLS 14.4)."""
        return True

    @property
    def turns_share_variables(self) -> bool:
        """A `for` has one variable (JLS 14.14.1)."""
        return True

    def in_nameless_function(self, node: Node) -> bool:
        """Whether a `return` is that of a lambda: `Supplier<Object> s = () -> { return c ? 1 : 2; };`."""
        for above in node.ancestors():
            if above.kind.endswith("_declaration"):
                return False
            if above.kind == "lambda_expression":
                return True
        return False

    # ── switch ───────────────────────────────────────────────────────────────────────────────────────────

    def is_selector(self, node: Node) -> bool:
        """Whether an expression is a local that a `switch` can ask without throwing.

        A `switch` over a string calls its `hashCode` first, so it throws for `null`, and `"a".equals(null)`
        does not: the local certainly holds a string. Enums are left alone: their types are not in the text.
        """
        if node.kind != "identifier":
            return False
        kind, binding = self.type(node), self.binding(node)
        if kind != STRING or binding is None:
            return kind in _RANGES
        facts = Facts(self.scopes)
        values = facts.values.get(binding.number, [None])
        return all(
            value is not None and (facts.never_null(value) or self._gives_string(value.unparenthesized))
            for value in values
        )

    def _gives_string(self, node: Node) -> bool:
        """Whether it is a sum, or a call of the JDK's own, that gives a string and never `null`."""
        if self.type(node) != STRING or node.kind != "method_invocation":
            return self.type(node) == STRING and node.kind == "binary_expression"
        owner = node.part("object")
        binding = self.binding(owner)
        is_class = owner.kind == "identifier" and (binding is None or binding.view == "outer")
        if is_class and self.text(owner) == STRING and self.text(node.part("name")) == "valueOf":
            # `String.valueOf(o)` gives what the `toString` of the object gives, which may be null.
            return all(self.type(argument) in _PLAIN for argument in node.part("arguments").children)
        return self.type(owner) in _TEXTS or (is_class and self.text(owner) in STATIC)

    def comparison(self, selector: Node, label: Node) -> tuple[Part, ...] | None:
        """`==` for numbers, `equals` for strings."""
        strings = self.type(selector) == STRING
        if (label.kind == "string_literal") != strings:
            return None
        if strings:
            return f"{self.text(selector)}.equals(", span(label), ")"
        return f"{self.text(selector)} == ", *self.operand(label, EQUALITY + 1)

    def compared(self, node: Node) -> tuple[Node, Node] | None:
        """A local of a type with ranges that is compared with `==`, or a string with `equals`."""
        if node.kind == "binary_expression" and node.operator == "==":
            sides = [side.unparenthesized for side in node.children]
            named = [side for side in sides if side.kind == "identifier" and self.type(side) in _RANGES]
            constants = [side for side in sides if isinstance(self.constant(side), int)]
        elif node.kind == "method_invocation" and self.text(node.part("name")) == "equals":
            sides = [node.child("object") or node, *node.part("arguments").children]
            named = [side for side in sides if side.kind == "identifier" and self.type(side) == STRING]
            constants = [side for side in sides if side.kind == "string_literal"]
        else:
            return None
        return (named[0], constants[0]) if len(sides) == 2 and len(named) == len(constants) == 1 else None

    def constant(self, node: Node) -> int | str | None:
        """The value of a literal; none of what has two spellings."""
        text = self.text(node)
        match node.kind:
            case "unary_expression" if node.operator == "-":
                inner = node.children[0]
                value = self.constant(inner)
                is_decimal = inner.kind == "decimal_integer_literal"
                return -value if isinstance(value, int) and is_decimal else None
            case "decimal_integer_literal" if text == "0" or text[0] != "0":  # 010 is octal
                digits = text.replace("_", "")
                return int(digits) if digits.isdigit() else None
            case "character_literal" if len(text) == 3:
                return ord(text[1]) if ord(text[1]) < 2**16 else None
            case "string_literal" if "\\" not in text and not node.has('"""'):
                return text
            case _:
                return None

    def fits_label(self, value: int | str | None, selector: Node) -> bool:
        """`case 200` for a byte does not compile."""
        fits = _RANGES.get(self.type(selector) or "")
        return isinstance(value, str) or (value is not None and fits is not None and value in fits)


def _integers(text: str) -> list[str]:
    """Other spellings of a decimal or hexadecimal number.

    A hexadecimal number above the largest int may be negative: `0xffffffff` is -1. It keeps its base.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return []
    head, digits, suffix = match.groups()
    value = int(digits.replace("_", ""), 16 if head else 10)
    options = []
    if value <= _LARGEST:
        options = [f"{value}{suffix}" if head else f"{value:#x}{suffix}"]
        if value > 999:
            options.append(f"{value:_}{suffix}")
    if suffix:
        options.append(f"{head or ''}{digits}{suffix.swapcase()}")
    return [option for option in options if option != text]


def _floats(text: str) -> list[str]:
    """Other spellings of a number with a point: another suffix of the same type."""
    if text[-1] in "fFdD":
        return [text[:-1] + text[-1].swapcase()]
    return [f"{text}d", f"{text}D"]


@lru_cache(maxsize=8)
def study(source: str) -> JavaSource:
    """A method as a `JavaSource`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is not exactly one method.
    """
    return JavaSource(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting(TextRule):
    """A rule about one Java method."""

    languages: frozenset[str] = field(default=frozenset({"java"}))

    def study(self, source: str) -> JavaSource:
        """A method as a `JavaSource`.

        Raises:
            SourceError: the text does not parse, or is not exactly one method.
        """
        return study(source)

    def reread(self, text: str) -> ParsedText:
        """A result, which has to be one method.

        Raises:
            SourceError: the text does not parse, or is not exactly one method.
        """
        reading = read(text)
        only_callable(reading)
        return reading

"""The effects of C expressions: the variables they read and write, and whether they trap, observe or act.

A variable is *private* if nobody else can reach it: it is a local or parameter whose address is not taken, no
array, none of which a part is named, not `static`, not `volatile`, and in no argument of a macro of the file.
All else is memory, and any store may change any of it: nothing is assumed of aliases. What a call does is not
known.

An event whose behaviour may be undefined, such as a dereference, a division or a signed sum, counts as one
that raises: it keeps its order among calls, stores, exits and all other such events. So does a loop, because
it may not end. Two uses of one pointer are one event. The assumptions are `macros-hygienic` and
`nobody-between` of the ledger; under the relation `disjoint` also `fields-disjoint`.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Final, TypeAlias

from codeaudit.transforms.c.analysis.scopes import OF_THE_LINKER
from codeaudit.transforms.c.declared import OBJECT
from codeaudit.transforms.c.dialect import FRACTIONS, INTEGRAL, POINTER, PROMOTED
from codeaudit.transforms.c.macros import HYGIENIC
from codeaudit.transforms.c.rewriting import CSource
from codeaudit.transforms.dependence.effects import ACTS, ANYTHING, LOOKS_UP, OBSERVES, RAISES, STORES
from codeaudit.transforms.syntax.effects import EffectCollector, ScopeFacts, StatePlace
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding

PointerPath: TypeAlias = tuple[object, ...]
"""How a pointer is written, for two places where it has one value if nothing between them changes it: the
variable and the fields, or the pointer and the index."""
_UNSIGNED: Final = frozenset(
    {"unsigned int", "unsigned long", "unsigned long long", "size_t", "uint32_t", "uint64_t", "uintptr_t",
     "uintmax_t"}
)  # fmt: skip
"""Types whose operations never overflow, as far as no smaller one is promoted to `int`."""
_CHANGING: Final = frozenset({"assignment_expression", "update_expression", "method_invocation"})
_UNION: Final = re.compile(r"\bunion\b")


class CFacts(ScopeFacts):
    """The variables of one function."""

    def __init__(self, code: CSource) -> None:
        super().__init__(code.scopes)
        self.code = code
        self.is_private: Callable[[Binding], bool] = cache(self._find_private)
        """Whether nobody but this function can reach a variable."""
        self._assigned = code.assigned(code.unit)
        self._reached = code.addressed.union(self._parted(code))
        """The variables whose address is taken, or of which a part is named, which may be an array."""

    @staticmethod
    def _parted(code: CSource) -> Iterator[int]:
        for node in code.unit.walk():
            if node.kind == "field_access" and node.operator == ".":
                bases = node.children[:1]
            elif node.kind == "array_access":
                bases = [child for child in node.children if code.type(child) not in INTEGRAL | {POINTER}]
            else:
                continue
            for base in bases:
                binding = code.binding(base.unparenthesized)
                declarator = None if binding is None else binding.node
                is_array = declarator is not None and declarator.kind == "array_declarator"
                # A parameter that is declared as an array is a pointer.
                if binding is not None and not (is_array and binding.view == "parameter"):
                    yield binding.number

    @cached_property
    def whole(self) -> frozenset[str]:
        """The fields that the function names as a whole, and not only a part of them."""
        return frozenset(
            self.text(node.children[1])
            for node in self.code.unit.walk()
            if node.kind == "field_access"
            and not (node.field == "object" and node.parent is not None and node.parent.operator == ".")
        )

    def is_apart(self, binding: Binding) -> bool:
        """Whether a variable is declared outside and only named as a whole: then no field is part of it."""
        is_object = self.code.macros.declared.may_be_object(binding.name, is_field=False)
        may_be_field = self.code.evidence == HYGIENIC and binding.name.isupper()
        is_whole = binding.view == "outer" and binding.number not in self._reached
        return is_whole and not is_object and not may_be_field

    def _find_private(self, binding: Binding) -> bool:
        node = binding.node
        is_local = binding.view in ("local", "parameter") and binding.doubt != OF_THE_LINKER
        if not is_local or node is None or binding.number in self._reached:
            return False
        endings = ("_declaration", "_definition")
        declaration = next((above for above in node.ancestors() if above.kind.endswith(endings)), None)
        text = "volatile" if declaration is None else self.code.text(declaration)
        if declaration is None or "volatile" in text or "_Atomic" in text:
            return False
        if binding.view == "parameter":
            return True  # an array is a pointer there
        inner = node.child("declarator") if node.kind == "variable_declarator" else node
        kinds = set() if inner is None else {part.kind for part in inner.walk()}
        if inner is None or kinds & {"array_declarator", "function_declarator"}:
            # Of these a pointer to a function or an array may be private.
            return inner is not None and inner.kind == "function_declarator" and "pointer_declarator" in kinds
        kind = declaration.child("type")
        if kind is None or kind.kind == "macro_type_specifier":
            return False
        if kind.kind != "type_identifier" or inner.kind == "pointer_declarator":
            return True
        # A name for a type may stand for an array, such as `va_list`; an array is never assigned.
        value = node.child("value")
        is_set = value is not None and value.kind not in ("array_initializer", "string_literal")
        return is_set or binding.number in self._assigned or self.code.type_of_variable(binding) is not None


class CEffectCollector(EffectCollector):
    """Collects the effects of the expressions of one statement."""

    __slots__ = ("_perhaps", "disjoint", "facts", "traps")

    def __init__(self, facts: CFacts, guard: int = -1, *, disjoint: bool = False) -> None:
        super().__init__(facts, guard)
        self.facts = facts
        self.disjoint = disjoint
        """Whether fields of other names are different memory."""
        self.traps: set[PointerPath] = set()
        """Pointers that are certainly used: what is evaluated is undefined if one of them is invalid. All
        other events that may be undefined are in the flags."""
        self._perhaps = 0
        """In how many operands that may not be evaluated the visit is."""

    # ── pointers ─────────────────────────────────────────────────────────────────────────────────────────

    def trap(self, *paths: PointerPath | None) -> None:
        """Record the use of a pointer, or of an element."""
        if None in paths:
            self.flags |= RAISES
        elif not self._perhaps:
            self.traps.add(paths)
        elif paths not in self.traps or self._is_changed(paths):
            self.flags |= RAISES  # else it was used before, in any case

    def _is_changed(self, paths: PointerPath) -> bool:
        """Whether what was collected may change the value of a pointer or index."""
        roots = {path[0] for path in paths if isinstance(path, tuple)}
        return bool(self.flags & (ACTS | STORES)) or any(write.key in roots for write in self.writes)

    def path(self, node: Node) -> PointerPath | None:
        """How a pointer or index is written; `None` for all but names, fields and numbers."""
        node = node.unparenthesized
        if node.kind == "identifier":
            binding = self.names.binding(node)
            is_known = binding is not None and self.facts.text(node) not in self.facts.code.macros.defined
            return (binding.number,) if binding is not None and is_known else None
        if node.kind == "decimal_integer_literal":
            return (self.facts.text(node),)
        if node.kind != "field_access":
            return None
        inner = self.path(node.children[0])
        return None if inner is None else (*inner, node.operator, self.facts.text(node.children[1]))

    # ── fields ───────────────────────────────────────────────────────────────────────────────────────────

    def field(self, node: Node, *, stored: bool) -> bool:
        """Record a use of a field that shares its memory with no field of another name; false if it may."""
        if not self.disjoint or not self._is_apart(node):
            return False
        self.part(self.facts.text(node.children[1]), stored=stored)
        for outer in self._around(node):
            # A part of a field changes; who reads the field as a whole sees that.
            if outer in self.facts.whole:
                self.part(outer, stored=stored)
        object_ = node.children[0].unparenthesized
        while node.operator == "." and object_.kind == "field_access":
            node, object_ = object_, object_.children[0].unparenthesized
        binding = self.names.binding(object_) if object_.kind == "identifier" else None
        if node.operator == "." and binding is not None:
            self.named(binding)
            self.reads.add(self.names.place(binding))
        elif node.operator == "->":
            self.visit(object_)
            self.trap(self.path(object_))
        elif object_.kind not in ("array_access", "pointer_expression") or object_.operator == "&":
            self.visit(object_)
        else:  # where it is, and not its value
            self.parts(object_)
            self.trap(*map(self.path, object_.children))
        return True

    def part(self, name: str, *, stored: bool) -> None:
        """Record a use of all fields of a name."""
        (self.writes if stored else self.reads).add(StatePlace("field", f".{name}"))
        self.flags |= STORES if stored else LOOKS_UP

    def _around(self, node: Node) -> Iterator[str]:
        """The fields of which an expression is a part."""
        while node.kind == "array_access" or (node.kind == "field_access" and node.operator == "."):
            is_field = node.kind == "field_access"
            node = node.children[0].unparenthesized
            if is_field and node.kind == "field_access":
                yield self.facts.text(node.children[1])

    def may_be_object(self, node: Node) -> bool:
        """Whether a field is a structure."""
        declared = self.facts.code.macros.declared
        return declared.may_be_object(self.facts.text(node.children[1]), is_field=True)

    def _is_apart(self, node: Node) -> bool:
        """Whether a field, no structure or array, and what it is part of are in no known union or macro."""
        if self.may_be_object(node):
            return False
        shared = self.facts.code.macros.shared_fields
        while node.kind == "field_access":
            if self.facts.text(node.children[1]) in shared:
                return False
            is_arrow, node = node.operator == "->", node.children[0].unparenthesized
            if is_arrow:
                break
        else:
            if self.facts.text(node) in shared:  # in C++ a field of the object itself
                return False
        binding = self.names.binding(node)
        words = None if binding is None else self.facts.code.declared(binding)
        return _UNION.search(words or self.facts.text(node)) is None

    # ── variables ────────────────────────────────────────────────────────────────────────────────────────

    def read(self, binding: Binding) -> None:
        """Record that the value of a variable is read."""
        self.named(binding)
        self.reads.add(self.names.place(binding))
        if not self.facts.is_private(binding):
            self.flags |= LOOKS_UP if self.disjoint and self.facts.is_apart(binding) else OBSERVES

    def write(self, binding: Binding) -> None:
        """Record that a variable gets a value."""
        self.named(binding)
        self.writes.add(self.names.place(binding))
        if not self.facts.is_private(binding):
            self.flags |= STORES if self.disjoint and self.facts.is_apart(binding) else ACTS

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────

    def visit(self, node: Node) -> None:
        """Collect the effects of an expression."""
        getattr(self, f"_{node.kind}", self.anything)(node)

    def parts(self, node: Node) -> None:
        """Collect all parts of an expression that itself does nothing."""
        for child in node.children:
            self.visit(child)

    _parenthesized_expression = _sequence_expression = _array_initializer = parts
    _concatenated_string = _argument_list = parts

    def perhaps(self, *nodes: Node) -> None:
        """Collect expressions that may not be evaluated."""
        self._perhaps += 1
        for node in nodes:
            self.visit(node)
        self._perhaps -= 1

    def _ternary_expression(self, node: Node) -> None:
        self.visit(node.children[0])
        self.perhaps(*node.children[1:])

    def _initializer_pair(self, node: Node) -> None:
        for child in node.children:
            (self.visit if child.field == "value" else self.captured)(child)

    def nothing(self, node: Node) -> None:
        """Collect a constant."""

    _decimal_integer_literal = _character_literal = _string_literal = _null = _true = _false = nothing
    _empty_statement = nothing

    def mentioned(self, node: Node) -> None:
        """Collect what is not evaluated, but for the sizes of arrays."""
        (self.anything if any(inner.kind in _CHANGING for inner in node.walk()) else self.captured)(node)

    _sizeof_expression = _alignof_expression = _offsetof_expression = mentioned

    def _identifier(self, node: Node) -> None:
        name = self.facts.text(node)
        if name in self.facts.code.macros.defined:
            if not self.facts.code.macros.is_constant(name):
                self.flags |= ANYTHING
            return
        binding = self.names.binding(node)
        if binding is not None:
            self.read(binding)

    def _method_invocation(self, node: Node) -> None:
        self.parts(node)
        self.flags |= ANYTHING
        if self.facts.code.may_assign(self.facts.text(node.children[0])):
            self.assigned(node)

    def assigned(self, node: Node) -> None:
        """Record that every variable in a part may get a value."""
        for _, binding in self.names.inside(node.start, node.end):
            self.read(binding)
            self.write(binding)

    def _field_access(self, node: Node) -> None:
        if self.field(node, stored=False):
            return
        object_ = node.children[0]
        self.visit(object_)
        if node.operator == "->":
            self.flags |= OBSERVES
            self.trap(self.path(object_))

    def _array_access(self, node: Node) -> None:
        self.parts(node)
        self.flags |= OBSERVES
        self.trap(*map(self.path, node.children))

    def _pointer_expression(self, node: Node) -> None:
        if node.operator == "*":
            self.parts(node)
            self.flags |= OBSERVES
            self.trap(self.path(node.children[0]))
            return
        inner = node.children[0].unparenthesized
        binding = self.names.binding(inner) if inner.kind == "identifier" else None
        is_macro = self.facts.text(inner) in self.facts.code.macros.defined
        if binding is not None and self.disjoint and not is_macro:
            self.named(binding)
            self.reads.add(self.names.place(binding))
            self.flags |= LOOKS_UP
        elif inner.kind == "identifier":
            self._identifier(inner)  # an address, but of what is memory
        else:
            self.visit(inner)
            self.flags |= RAISES

    def _cast_expression(self, node: Node) -> None:
        kind, value = node.part("type"), node.part("value")
        self.mentioned(kind)
        self.visit(value)
        if kind.first("abstract_pointer_declarator") is None and not self.facts.code.is_whole(value):
            self.flags |= RAISES  # a fraction may not fit

    def _unary_expression(self, node: Node) -> None:
        self.parts(node)
        literal = node.children[0].kind == "decimal_integer_literal"
        if node.operator == "-" and not literal and not self._is_safe(node.children[0]):
            self.flags |= RAISES

    def _binary_expression(self, node: Node) -> None:
        if node.operator in ("&&", "||"):
            self.visit(node.children[0])
            self.perhaps(node.children[1])
            return
        self.parts(node)
        if not self._is_total(node.operator, *node.children):
            self.flags |= RAISES

    def _is_total(self, operator: str, left: Node, right: Node) -> bool:
        """Whether an operation is defined whatever its operands are."""
        number = self.facts.code.constant(right.unparenthesized)
        match operator:
            case "+" | "-" | "*":
                return self._never_overflows(left, right)
            case "/" | "%":
                return bool(number)
            case "<<" | ">>":
                if number is None or number >= 16:  # every `int` has so many bits
                    return False
                return operator == ">>" or self.facts.code.kind(left) in _UNSIGNED
            case _:
                return True

    def _never_overflows(self, left: Node, right: Node) -> bool:
        kinds = [self.facts.code.kind(side) for side in (left, right)]
        if all(kind in FRACTIONS for kind in kinds) or any(kind in _UNSIGNED for kind in kinds):
            # With `long long` a narrower unsigned number is no longer unsigned.
            return all(kind in _UNSIGNED | PROMOTED | FRACTIONS | {"int"} for kind in kinds)
        return all(kind in PROMOTED for kind in kinds)

    def _is_safe(self, node: Node) -> bool:
        return self.facts.code.kind(node) in _UNSIGNED | FRACTIONS | PROMOTED

    def _update_expression(self, node: Node) -> None:
        self._stored(node.children[0], also_read=True)
        if not self._is_safe(node.children[0]):
            self.flags |= RAISES

    def _assignment_expression(self, node: Node) -> None:
        left, right = node.children
        self.visit(right)
        self._stored(left, also_read=node.operator != "=")
        self.convert(self.facts.code.kind(left), right)
        operator = node.operator.removesuffix("=")
        if operator and not self._is_total(operator, left, right):
            self.flags |= RAISES

    def convert(self, kind: str | None, value: Node) -> None:
        """Record that a value is converted to a type: a fraction may not fit into a whole number."""
        if kind not in FRACTIONS | {POINTER, OBJECT} and not self.facts.code.is_whole(value):
            self.flags |= RAISES

    def _stored(self, node: Node, *, also_read: bool) -> None:
        """Record a store to what an expression names."""
        node = node.unparenthesized
        if node.kind == "identifier":
            binding = self.names.binding(node)
            if binding is None or self.facts.text(node) in self.facts.code.macros.defined:
                self.anything(node)
                return
            if also_read:
                self.read(binding)
            self.write(binding)
            return
        if node.kind == "field_access" and self.field(node, stored=True):
            if also_read:
                self.field(node, stored=False)
            return
        if node.kind == "field_access" and node.operator == ".":
            # A part of an object changes, the rest of it stays.
            self._stored(node.children[0], also_read=True)
            return
        self.visit(node)
        self.flags |= ACTS
        if node.kind not in ("field_access", "array_access", "pointer_expression"):
            self.flags |= RAISES

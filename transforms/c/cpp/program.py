"""The effects of C++ statements, and the program structure of one function.

As in C (`analysis.effects`, `analysis.program`), with more that may be a call: an operator whose operands
are not certainly numbers and pointers, a conversion from or to anything else, the declaration of an object
and its end. A call may do anything, and may throw. A variable is private only if every use of it uses its
value (`CppSource.addressed`): arguments may be taken by reference.
"""

import re
from functools import partial
from typing import Final

from codeaudit.transforms.c.analysis.effects import CEffectCollector, CFacts
from codeaudit.transforms.c.analysis.program import CProgramBuilder
from codeaudit.transforms.c.analysis.program import analyse as analyse_c
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import CONSTEXPR_IF, DECLARING
from codeaudit.transforms.c.cpp.rewriting import DIALECT_OF_CPP, CppSource
from codeaudit.transforms.c.dialect import POINTER
from codeaudit.transforms.c.macros import Surroundings
from codeaudit.transforms.c.rewriting import JUMPS
from codeaudit.transforms.c.types import number_type
from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.effects import (
    ACTS,
    ANYTHING,
    BARRIER,
    ENDS_CALL,
    LEAVES_LOOP,
    OBSERVES,
    RAISES,
    Effects,
)
from codeaudit.transforms.syntax.effects import EffectCollector, StatePlace
from codeaudit.transforms.syntax.program import NestingPlace
from codeaudit.transforms.syntax.reader import EMPTY, Node
from codeaudit.transforms.syntax.scopes import Binding

_OUTSIDE: Final = -1
_AS_IN_C: Final = JUMPS | {"expression_statement", "local_variable_declaration", EMPTY}
_DESTRUCTORS: Final = StatePlace("declaration", "~")
"""The order in which objects are destroyed."""
_EMPTY: Final = re.compile(r"std::(?:\w{0,3}string|vector<((?:std::)?[\w ]+\**)>)")
"""A string or a vector."""
_BUILT_IN: Final = frozenset(
    {"binary_expression", "unary_expression", "update_expression", "ternary_expression", "array_access",
     "pointer_expression", "cast_expression", "sequence_expression"}
)  # fmt: skip
"""Kinds of expressions that are C's if all of their operands are numbers and pointers."""

analyse: Final = partial(analyse_c, around=Surroundings(language=CPP))
"""The program of one function of C++."""


class CppFacts(CFacts):
    """The variables of one function."""

    code: CppSource

    def _find_private(self, binding: Binding) -> bool:
        return self.code.is_plain(binding) and binding.number not in self.code.addressed

    def is_apart(self, binding: Binding) -> bool:
        """Whether a name means a global variable, or a member of the object itself, that shares its memory
        with none of another name: it is a number or a pointer, and no reference or part of a union."""
        is_outer = binding.view == "outer" and binding.doubt is None
        is_known = is_outer and self.code.outer_type(binding.name) is not None
        return is_known and binding.name not in self.code.macros.shared_fields


class CppEffectCollector(CEffectCollector):
    """Collects the effects of the expressions of one statement."""

    __slots__ = ()
    facts: CppFacts

    def read(self, binding: Binding) -> None:
        """As in C; what is apart is a place of its own, under all relations."""
        if self.facts.is_apart(binding):
            self.part(binding.name, stored=False)
            self.named(binding)
        else:
            super().read(binding)

    def write(self, binding: Binding) -> None:
        """As in C; a handler sees how far the body of its `try` came."""
        if self.facts.is_apart(binding):
            self.part(binding.name, stored=True)
            self.named(binding)
        else:
            super().write(binding)
            self.flags |= ACTS if binding.start < self.guard else 0

    def visit(self, node: Node) -> None:
        """As in C, for what is certainly C."""
        if node.kind in _BUILT_IN and not self._is_built_in(node):
            self.parts(node)
            self.flags |= ANYTHING
            if node.kind == "update_expression":
                self.assigned(node)
            return
        super().visit(node)

    def may_be_object(self, node: Node) -> bool:
        """Whether a field is anything but a number or a pointer, or may be reached by a function."""
        type_ = self.facts.code.type
        return type_(node) is None or (node.operator == "->" and type_(node.children[0]) != POINTER)

    def _is_built_in(self, node: Node) -> bool:
        parts = [node, node.part("value")] if node.kind == "cast_expression" else node.children
        return None not in map(self.facts.code.type, parts)

    def condition(self, node: Node) -> None:
        """Collect a condition: what is no number and no pointer is converted by a function."""
        self.visit(node)
        if node.kind != DECLARING and self.facts.code.type(node) is None:
            self.flags |= ANYTHING

    def _declaring_condition(self, node: Node) -> None:
        self.anything(node)
        self.declare_inside(node.start, node.end, inner=True)

    _this = _raw_string_literal = CEffectCollector.nothing

    def _qualified_identifier(self, node: Node) -> None:
        self.flags |= OBSERVES
        self.captured(node)

    def _method_invocation(self, node: Node) -> None:
        called = node.children[0]
        if called.kind in ("identifier", "qualified_identifier", "field_access"):
            self.parts(node)
        else:
            self.anything(called)
            for child in node.children[1:]:
                self.visit(child)
        self.flags |= ANYTHING
        if self.facts.code.is_macro(self.facts.text(called)):
            self.assigned(node)

    def _named_cast(self, node: Node) -> None:
        arguments = node.children[-1]
        self.parts(arguments)
        is_known = None not in map(self.facts.code.type, (node, *arguments.children))
        self.flags |= RAISES if is_known else ANYTHING

    _functional_cast = _named_cast

    def _array_initializer(self, node: Node) -> None:
        self.parts(node)
        self.flags |= ANYTHING

    def _field_access(self, node: Node) -> None:
        object_, member = node.children
        if not self.may_be_object(node):
            super()._field_access(node)
            return
        self.visit(object_)
        self.flags |= OBSERVES | RAISES
        if member.kind != "field_identifier" or (
            node.operator == "->" and self.facts.code.type(object_) is None
        ):
            self.captured(member)
            self.flags |= ANYTHING

    def _assignment_expression(self, node: Node) -> None:
        if None not in map(self.facts.code.type, node.children):
            super()._assignment_expression(node)
            return
        left, right = node.children
        self.visit(right)
        self.flags |= ANYTHING
        self.visit(left)
        self.assigned(left)


class CppProgramBuilder(CProgramBuilder):
    """Walks a function once and collects its lines."""

    flow = DIALECT_OF_CPP.flow
    facts_of = CppFacts
    facts: CppFacts
    collects = CppEffectCollector

    def simple(self, node: Node, place: NestingPlace) -> Effects:
        """The effects of a simple statement."""
        reading = self.collector(place.guard)
        match node.kind:
            case "throw_statement":
                reading.parts(node)
                reading.flags |= ENDS_CALL | ANYTHING
            case kind if kind in _AS_IN_C:
                return super().simple(node, place)
            case _:  # types, `using`, `if constexpr`, and whatever later versions bring
                reading.anything(node)
                reading.flags |= BARRIER
                if any(inner.kind in JUMPS for inner in node.walk()):
                    reading.flags |= ENDS_CALL | LEAVES_LOOP
                    self._jumps.append(_OUTSIDE)
                reading.declare_inside(node.start, node.end, inner=node.kind == CONSTEXPR_IF)
        return self.effects(reading)

    def declaration(self, reading: EffectCollector, node: Node, *, inner: bool = False) -> None:
        """As in C, for numbers, pointers and arrays of them, and for empty strings and vectors. To declare
        anything else calls its constructor, and its destructor at the end of the block; a reference is
        another name for what it refers to."""
        assert isinstance(reading, CppEffectCollector)
        if self._is_empty(node):
            reading.reads.add(_DESTRUCTORS)
        elif not all(map(self._is_plain, node.all("declarator"))):
            self._object(reading, node, inner=inner)
            return
        super().declaration(reading, node, inner=inner)

    def _is_plain(self, declarator: Node) -> bool:
        """Whether a declarator makes numbers or pointers, of values that are such."""
        code = self.facts.code
        binding, value = self.facts.binding(code.name_of(declarator)), declarator.child("value")
        if binding is not None and code.is_plain_array(binding):
            is_list = value is not None and value.kind == "array_initializer"
            return value is None or all(map(code.type, value.children if is_list else [value]))
        is_plain = binding is not None and code.is_plain(binding)
        return is_plain and (value is None or code.type(value) is not None)

    def _is_empty(self, node: Node) -> bool:
        """Whether a declaration makes empty strings or vectors of the library, whose constructors do nothing
        that others see, and whose destructors only free memory."""
        kind = node.child("type")
        match = None if kind is None else _EMPTY.fullmatch(self.facts.text(kind))
        if match is None or any(declarator.kind != "identifier" for declarator in node.all("declarator")):
            return False
        words = match[1] or "char"
        return words[-1] == "*" or bool(number_type(words.removeprefix("std::")) or _EMPTY.fullmatch(words))

    def _object(self, reading: CppEffectCollector, node: Node, *, inner: bool) -> None:
        reading.writes.add(_DESTRUCTORS)
        reading.flags |= ANYTHING
        if any(child.kind == "storage_class_specifier" for child in node.children):
            reading.flags |= BARRIER
        reading.captured(node)
        for child in node.all("declarator"):
            value = child.child("value")
            if value is not None:
                reading.visit(value)
            elif child.kind == "function_declarator":
                reading.anything(child)
            reading.declare_inside(child.start, child.end, inner=inner)

    def each(self, node: Node, reading: EffectCollector) -> None:
        """Collect the head of a loop over items, which calls `begin`, `end` and what they give."""
        body = node.part("body")
        for child in node.children:
            if child is not body:
                reading.anything(child)
        reading.declare_inside(node.start, body.start, inner=True)

    def compound(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects] | None:
        """`switch` and `try`."""
        return self._try(node, place) if node.kind == "try_statement" else super().compound(node, place)

    def _try(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        body = node.part("body")
        line = self.row(node.start, body.start, place.depth, place.parent, Effects())
        parts: list[int | StatementBlock] = [line]
        effects = self.body(body, place.inner(line, node.start), parts)
        for clause in node.children:
            if clause.kind == "catch_clause":
                inner = clause.part("body")
                caught = self.collector(place.guard)
                caught.flags |= ANYTHING
                caught.declare_inside(clause.start, inner.start, inner=True)
                effects |= self.effects(caught)
                effects |= self.clause(clause.start, inner.start, inner, place, line, parts, node.start)
        return parts, effects

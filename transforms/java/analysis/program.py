"""The program structure of one Java method: what its statements do (`syntax.program`)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.effects import (
    ACTS,
    ANYTHING,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    LOOKS_UP,
    OBSERVES,
    RAISES,
    STORES,
    Effects,
    Guard,
)  # fmt: skip
from codeaudit.transforms.dependence.programs import CodeProgram
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.effects import JavaEffectCollector
from codeaudit.transforms.java.analysis.facts import Facts, Value
from codeaudit.transforms.java.analysis.library import PLAIN, PRIMITIVES
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.analysis.surroundings import OwnClass, own_class
from codeaudit.transforms.java.parsing import CALLABLES, FLOW, TYPES, names_constant
from codeaudit.transforms.syntax.effects import EffectCollector, StatePlace
from codeaudit.transforms.syntax.program import NestingPlace, ProgramBuilder
from codeaudit.transforms.syntax.reader import EMPTY, Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*")


class JavaProgramBuilder(ProgramBuilder):
    """Walks a method once and collects its lines."""

    flow = FLOW
    callables = CALLABLES

    def __init__(self, facts: Facts, dependence: Dependence) -> None:
        super().__init__(facts, dependence)
        self.facts = facts

    def collector(self, guard: int) -> JavaEffectCollector:
        """A new collector."""
        return JavaEffectCollector(self.facts, guard)

    def compound(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects] | None:
        """`switch`, `try` and `synchronized`."""
        match node.kind:
            case "switch_expression":
                return self._switch(node, place)
            case "try_statement" | "try_with_resources_statement":
                return self._try(node, place)
            case "synchronized_statement":
                body = node.part("body")
                reading = self.collector(place.guard)
                reading.visit(node.children[0])
                reading.flags |= ANYTHING  # to wait for a lock lets other threads run
                return self.wrapped(node, body, body.start, reading, place)
            case _:
                return None

    def guard(self, node: Node) -> Guard | None:
        """The test before all of a statement: `if (x == null) …`, `if (kind == 1 && …) …`, `if (!done) …`.

        It is one of a local variable, so it cannot act, raise or see other state.
        """
        if node.kind != "if_statement" or node.child("alternative") is not None:
            return None
        test = node.part("condition").unparenthesized
        # What stands behind the first operand of `&&` is not evaluated unless that one holds.
        while test.kind == "binary_expression" and test.operator == "&&" and len(test.children) == 2:
            test = test.children[0].unparenthesized
        passes = True
        while test.kind == "unary_expression" and test.operator == "!":
            test, passes = test.children[0].unparenthesized, not passes
        value: Node | None = None
        if test.kind == "binary_expression" and test.operator in ("==", "!=") and len(test.children) == 2:
            passes = passes == (test.operator == "==")
            test, value = (child.unparenthesized for child in test.children)
        binding = self.facts.binding(test) if test.kind == "identifier" else None
        if binding is None or binding.view not in LOCAL_VIEWS or binding.name in self.facts.doubtful:
            return None
        name = self.facts.place(binding)
        kind = self.facts.value_of(binding).type
        if value is None:
            return Guard(name, "truth", None, passes) if kind == "boolean" else None
        if value.kind == "null_literal":
            return Guard(name, "null", None, passes) if kind not in PRIMITIVES else None
        text = self.facts.text(value)
        # Equal numbers have one decimal form; `'a'` is 97, too.
        if kind in ("int", "long", "short", "byte") and _DECIMAL.fullmatch(text):
            return Guard(name, "equals", text, passes)
        if kind == "char" and value.kind == "character_literal" and len(text) == 3:
            return Guard(name, "equals", text, passes)
        return None

    def varies(self, node: Node) -> bool:
        """Whether a name certainly names a local variable that is not `final`, so it is no constant."""
        binding = self.facts.binding(node)
        if binding is None or binding.view not in LOCAL_VIEWS or binding.node is None:
            return False
        declared = binding.node
        if declared.kind == "variable_declarator" and declared.parent is not None:
            declared = declared.parent
        modifiers = declared.first("modifiers")
        return modifiers is None or not modifiers.has("final")

    def each(self, node: Node, reading: EffectCollector) -> None:
        """Collect the head of a loop over an array or an `Iterable`."""
        assert isinstance(reading, JavaEffectCollector)
        items = reading.iterate(node.part("value"))
        binding = self.facts.binding(node.part("name"))
        if binding is not None:
            reading.declare(binding, inner=True)
        # A variable `_` has no binding, but what it is given is converted, too.
        kind = self.facts.type_of(node.child("type"), node.child("dimensions"))
        reading.stored(Value(kind), items)

    def _switch(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        reading = self.collector(place.guard)
        condition, body = node.part("condition"), node.part("body")
        value = reading.visit(condition)
        if value.type not in PRIMITIVES:
            reading.flags |= RAISES  # a string or box may be null
        effects = self.effects(reading)
        line = self.row(node.start, condition.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        ends = [group.start for group in body.children[1:]] + [body.end - 1]
        for group, end in zip(body.children, ends, strict=False):
            within = self.collector(place.guard)
            labels = [child for child in group.children if child.kind == "switch_label"]
            if value.type not in PLAIN and self.initialises(labels):
                within.flags |= ANYTHING
            for label in labels:
                within.captured(label)
                if any(child.kind in ("pattern", "guard", "record_pattern") for child in label.children):
                    within.everything(label)
                within.declare_inside(label.start, label.end, inner=True)
                for child in label.children:
                    if child.kind == "identifier":
                        self._constant(within, self.facts.text(child))
            if group.kind == "switch_rule":
                head = next(end for kind, _, end in group.tokens if kind == "->")
            else:
                head = next((end for kind, _, end in reversed(group.tokens) if kind == ":"), labels[-1].end)
            effects |= self.effects(within)
            clause = self.row(group.start, head, place.depth, line, self.effects(within))
            parts.append(clause)
            inner = NestingPlace(place.depth + 1, clause, place.guard, place.nested)
            statements = [child for child in group.children if child.kind != "switch_label"]
            if group.kind == "switch_rule":
                effects |= self.body(statements[0], inner, parts)
            else:
                block, inside = self.block(statements, head, end, inner)
                parts.append(block)
                effects |= inside
        return parts, effects

    @staticmethod
    def initialises(labels: Sequence[Node]) -> bool:
        """Whether labels may be constants of an enum, whose initialiser may do anything.

        The first `switch` on an enum initialises all enums that any `switch` of the class selects by, before
        it looks at the value, which may be null: javac keeps their numbers in one class.
        """
        return any(names_constant(label) for label in labels)

    def _constant(self, reading: JavaEffectCollector, name: str) -> None:
        """Collect a constant in a label, which may be a variable of the method."""
        for binding in self.facts.scopes.bindings:
            if binding.name == name and binding.view not in ("outer", "field", "label"):
                reading.reads.add(self.facts.place(binding))
                reading.reads.add(StatePlace("declaration", name))

    def _try(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        body = node.part("body")
        reading = self.collector(place.guard)
        resources = node.child("resources")
        if resources is not None:
            reading.everything(resources)
            reading.declare_inside(resources.start, resources.end, inner=True)
        effects = self.effects(reading)
        head = resources.end if resources else node.start + len("try")
        line = self.row(node.start, head, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        # Without a handler nothing of the method sees how far the body came.
        guard = node.start if node.first("catch_clause", "finally_clause") else None
        effects |= self.body(body, place.inner(line, guard), parts)
        for clause in node.children:
            if clause.kind == "catch_clause":
                caught = self.collector(place.guard)
                caught.captured(clause.children[0])
                inner = clause.part("body")
                effects |= self.effects(caught)
            elif clause.kind == "finally_clause":
                inner = clause.children[-1]
            else:
                continue
            effects |= self.clause(clause.start, inner.start, inner, place, line, parts, guard)
        if self.dependence == "returning":  # a `try` keeps its place, as a test does
            effects |= Effects(flags=EXITS)
        return parts, effects

    def simple(self, node: Node, place: NestingPlace) -> Effects:
        """The effects of a simple statement."""
        reading = self.collector(place.guard)
        match node.kind:
            case "local_variable_declaration":
                self.declaration(reading, node)
            case "expression_statement":
                reading.visit(node.children[0])
            case "return_statement":
                unit = self.facts.scopes.unit
                for child in node.children:
                    value = reading.visit(child)
                    if not place.nested:  # the result is converted to the type of the method
                        kind = self.facts.type_of(unit.child("type"), unit.child("dimensions"))
                        reading.stored(Value(kind), value)
                reading.flags |= ENDS_CALL
            case "throw_statement":
                if not reading.visit(node.children[0]).sure:
                    reading.flags |= RAISES
                reading.flags |= ENDS_CALL
            case "break_statement" | "continue_statement":
                reading.flags |= LEAVES_LOOP
                self.jump(node)
            case "assert_statement":
                reading.condition(node.children[0])
                if any(reading.visit(child).type not in PLAIN for child in node.children[1:]):
                    reading.flags |= ANYTHING
                reading.flags |= RAISES | EXITS
            case kind if kind == EMPTY:
                # `;` has no effect, but behind a `return;` it would be unreachable.
                reading.flags |= BARRIER
            case kind if kind in TYPES:
                reading.captured(node)
                reading.flags |= BARRIER
            case _:  # a constructor's first call, `yield`, and whatever later versions bring
                reading.everything(node)
                reading.flags |= BARRIER
        return self.effects(reading)

    def declaration(self, reading: EffectCollector, node: Node, *, inner: bool = False) -> None:
        """Collect a declaration of local variables, with the conversions of their values."""
        assert isinstance(reading, JavaEffectCollector)
        for child in node.children:
            if child.kind != "variable_declarator":
                continue
            binding = self.facts.binding(child.children[0])
            value = child.child("value")
            # As it is written, because a variable `_` has no binding.
            written = node.part("type")
            kind = self.facts.type_of(written, child.child("dimensions"))
            if binding is not None:
                reading.declare(binding, inner=inner)
            if value is None:
                continue
            if value.kind == "array_initializer":
                reading.array(value, kind)
            else:
                initial = reading.visit(value)
                # The type of `var` is that of its value; to an unknown one Java may cast it.
                if self.facts.text(written) != "var" or not (initial.type or initial.uncast):
                    reading.stored(Value(kind), initial)


class JavaProgram(CodeProgram):
    """A method with its dependences. Compare programs by their lines and graph."""

    def __init__(self, source: str, facts: Facts, root: StatementBlock, builder: JavaProgramBuilder) -> None:
        super().__init__(source, facts.reading.comments, root, builder.rows)
        self.facts = facts
        self.reading = facts.reading

    @property
    def constructor(self) -> bool:
        """Whether it is a constructor; constructors have to assign final fields."""
        return self.facts.scopes.unit.kind != "method_declaration"


def summary(source: str, owner: OwnClass) -> Effects | None:
    """The effects that a call of a method has; `None` if it may run unknown code.

    Args:
        source: the text of the method.
        owner: its class.

    Raises:
        SourceError: as `analyse` does.
    """
    program = _program(source, Facts(resolve(source), owner), "strict")
    total = Effects()
    for row in program.rows:
        total |= row.effects
    leaves = any(node.kind == "throw_statement" for node in program.facts.scopes.unit.walk())
    # Its variables are gone when the call ends; its jumps and results stay inside.
    reads, writes = (
        frozenset(place for place in places if not _is_own(place)) for places in (total.reads, total.writes)
    )
    if total.flags & ACTS or any(place.kind == "doubt" for place in reads | writes):
        return None
    flags = total.flags & (OBSERVES | STORES | LOOKS_UP | RAISES | EXITS)
    return Effects(reads, writes, flags | RAISES | EXITS if leaves else flags)


def _is_own(place: StatePlace) -> bool:
    """Whether a place is gone when the call ends."""
    if place.kind == "contents":
        return isinstance(place.key, int)  # a container that only the method reaches
    return place.kind in ("variable", "declaration")


@lru_cache(maxsize=8)
def analyse(source: str, *, dependence: Dependence = "strict", around: str = "") -> JavaProgram:
    """The program of one method or constructor; `around` is the text of its file, as far as it is known.

    The last programs are cached, because a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text is not Java, is not one method, or is nested too deeply.
    """
    owner = own_class(source, around, summary) if around and around != source else None
    return _program(source, Facts(resolve(source), owner), dependence)


def _program(source: str, facts: Facts, dependence: Dependence) -> JavaProgram:
    try:
        builder = JavaProgramBuilder(facts, dependence)
        root = builder.unit(facts.scopes.unit)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller method") from error
    return JavaProgram(source, facts, root, builder)

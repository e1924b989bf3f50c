"""The structure of one Java method: its logical lines, its blocks, and the dependences among both.

`reorder`, its control and the canonical form permute the blocks; the networks read the lines and their graph.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from random import Random
from typing import Final

from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.blocks import (
    BlockStatement,
    StatementBlock,
    all_blocks,
    emitted,
    line_graph,
)
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
    conflicts,
)
from codeaudit.transforms.dependence.graph import DependenceGraph
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.completion import FLOW, names_constant
from codeaudit.transforms.java.analysis.effects import JavaEffectCollector
from codeaudit.transforms.java.analysis.facts import Facts, Value
from codeaudit.transforms.java.analysis.library import PLAIN, PRIMITIVES
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.analysis.surroundings import OwnClass, own_class
from codeaudit.transforms.java.parsing import CALLABLES, TYPES
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.reader import EMPTY, Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS

SHARED_LINE: Final = "statements share a line with a comment"

_JUMPS: Final = {"break_statement": LOOPS | {"switch_expression"}, "continue_statement": LOOPS}
_BLOCKS: Final = frozenset({"block", "constructor_body"})


@dataclass(frozen=True, slots=True)
class Row:
    """A logical line while the builder is at work."""

    start: int
    """The first byte of its text, from 0."""
    end: int
    depth: int
    parent: int
    effects: Effects
    cuts: tuple[tuple[int, int], ...] = ()
    """The byte ranges inside it that are bodies with lines of their own."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The builder's place in the nesting of the method."""

    depth: int
    parent: int
    guard: int
    """The first byte of the innermost `try`; -1 without one."""
    nested: bool = False
    """Whether it is in a lambda or class inside, whose caller may catch what it raises."""

    def inner(self, parent: int, guard: int | None = None) -> "_Place":
        return _Place(self.depth + 1, parent, self.guard if guard is None else guard, self.nested)


class JavaProgramBuilder:
    """Walks a method once and collects its lines; `method` returns its blocks."""

    def __init__(self, facts: Facts, dependence: Dependence) -> None:
        self.facts = facts
        self.rows: list[Row] = []
        """The lines in the order of the text."""
        self._source = facts.source
        self._comments = facts.reading.comments
        self._dependence = dependence
        self._jumps: list[int] = []
        """For each `break` and `continue` the first byte of the statement that it leaves."""

    def method(self, unit: Node) -> StatementBlock:
        """The outermost block, whose only statement is the method."""
        body = unit.child("body")
        line = self._row(unit.start, body.start if body else unit.end, 0, -1, Effects())
        parts: list[int | StatementBlock] = [line]
        if body:
            parts.append(self._block(body.children, body.start + 1, body.end - 1, _Place(1, line, -1))[0])
        whole = BlockStatement(unit.start, unit.end, range(len(self.rows)), tuple(parts))
        return StatementBlock((whole,), (0,), None, (Effects(),))

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────

    def _block(
        self, nodes: Sequence[Node], start: int, end: int, place: _Place
    ) -> tuple[StatementBlock, Effects]:
        """The block of these statements, which lie between two byte offsets, with its effects."""
        spans, fixed = self._units(nodes, start, end)
        statements, effects = [], []
        for node, (first, last) in zip(nodes, spans, strict=True):
            line = len(self.rows)
            parts, effect = self._statement(node, place)
            statements.append(BlockStatement(first, last, range(line, len(self.rows)), parts))
            effects.append(effect)
        # A last statement that leaves stays last: behind `return;` javac rejects every statement.
        if nodes and len(nodes) > 1 and not self._goes_on(nodes[-1]):
            effects[-1] = Effects(effects[-1].reads, effects[-1].writes, effects[-1].flags | BARRIER)
        total = Effects()
        for effect in effects:
            total |= effect
        # Where an exception may be caught, a call that raises nothing has statements that raise.
        returning = self._dependence == "returning" and place.guard < 0 and not place.nested
        # The relation of the paper knows names only.
        guards = () if self._dependence == "paper" else [self._guard(node) for node in nodes]
        relation = conflicts(effects, returning=returning, guards=guards)
        block = StatementBlock(tuple(statements), relation, fixed, tuple(effects))
        return block, _from_outside(total)

    def _guard(self, node: Node) -> Guard | None:
        """The test before all of a statement: `if (x == null) …`, `if (kind == 1 && …) …`, `if (!done) …`.

        It is one of a local variable, so it cannot act, raise or see other state.
        """
        if node.kind != "if_statement" or node.child("alternative") is not None:
            return None
        test = _inner(node.part("condition"))
        # What stands behind the first operand of `&&` is not evaluated unless that one holds.
        while test.kind == "binary_expression" and test.operator == "&&" and len(test.children) == 2:
            test = _inner(test.children[0])
        passes = True
        while test.kind == "unary_expression" and test.operator == "!":
            test, passes = _inner(test.children[0]), not passes
        value: Node | None = None
        if test.kind == "binary_expression" and test.operator in ("==", "!=") and len(test.children) == 2:
            passes = passes == (test.operator == "==")
            test, value = map(_inner, test.children)
        binding = self.facts.binding(test) if test.kind == "identifier" else None
        if binding is None or binding.view not in LOCAL_VIEWS or binding.name in self.facts.doubtful:
            return None
        name = JavaEffectCollector(self.facts).key(binding)
        kind = self.facts.known(binding).type
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

    def _goes_on(self, node: Node) -> bool:
        """Whether control can certainly get behind a statement. If not, no other one may move behind it,
        because javac rejects unreachable statements.
        """
        found = FLOW.completes(node, self.facts.reading)
        if found is None and node.kind in ("while_statement", "for_statement"):
            condition = node.child("condition")
            return condition is not None and any(
                self._varies(inner) for inner in condition.walk() if inner.kind == "identifier"
            )
        return found is True

    def _varies(self, node: Node) -> bool:
        """Whether a name certainly names a local variable that is not `final`, so it is no constant."""
        binding = self.facts.binding(node)
        if binding is None or binding.view not in LOCAL_VIEWS or binding.node is None:
            return False
        declared = binding.node
        if declared.kind == "variable_declarator" and declared.parent is not None:
            declared = declared.parent
        modifiers = declared.first("modifiers")
        return modifiers is None or not modifiers.has("final")

    def _units(self, nodes: Sequence[Node], start: int, end: int) -> tuple[list[tuple[int, int]], str | None]:
        """The bytes that move with each statement: with the comments directly above it and behind it on its
        line.
        """
        if not self._comments:
            return [(node.start, node.end) for node in nodes], None
        source = self._source
        units = []
        ends_line = False
        behind = start
        for number, node in enumerate(nodes):
            following = nodes[number + 1].start if number + 1 < len(nodes) else end
            first = node.start
            for kind, opening, closing in reversed(self._between(behind, node.start)):
                gap = source[closing:first]
                # A blank line, or the line of the opening brace, ends what belongs to the statement.
                if gap.count(b"\n") > 1 or (number == 0 and b"\n" not in source[start:opening]):
                    break
                if kind == "line_comment" and b"\n" not in gap:
                    break
                first = opening
            last = node.end
            for kind, opening, closing in self._between(node.end, following):
                if b"\n" in source[last:opening]:
                    break
                if b"\n" not in source[closing:following] and number + 1 < len(nodes):
                    break  # it stands before the next one
                last = closing
                ends_line = ends_line or kind == "line_comment"
            behind = last
            units.append((first, last))
        # `f(); // first` ends a line: what moves behind it on the same line would become comment.
        if ends_line:
            gaps = [source[one[1] : other[0]] for one, other in pairwise(units)]
            if not all(b"\n" in gap for gap in [*gaps, source[units[-1][1] : end]]):
                return units, SHARED_LINE
        return units, None

    def _between(self, start: int, end: int) -> list[tuple[str, int, int]]:
        place = bisect_left(self._comments, start, key=lambda comment: comment[1])
        found = []
        while place < len(self._comments) and self._comments[place][1] < end:
            found.append(self._comments[place])
            place += 1
        return found

    # ── statements ───────────────────────────────────────────────────────────────────────────────────

    def _statement(self, node: Node, place: _Place) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        before = len(self._jumps)
        match node.kind:
            case "if_statement":
                parts, effects = self._if(node, place)
            case "while_statement" | "do_statement" | "for_statement" | "enhanced_for_statement":
                parts, effects = self._loop(node, place)
            case "switch_expression":
                parts, effects = self._switch(node, place)
            case "try_statement" | "try_with_resources_statement":
                parts, effects = self._try(node, place)
            case "block" | "labeled_statement" | "synchronized_statement":
                parts, effects = self._wrapped(node, place)
            case _:
                return self._line(node, place)
        # All jumps in it end at this statement, so from outside none leaves.
        if effects.flags & LEAVES_LOOP and min(self._jumps[before:]) >= node.start:
            effects = Effects(effects.reads, effects.writes, effects.flags & ~LEAVES_LOOP)
        return tuple(parts), effects

    def _line(self, node: Node, place: _Place) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        """Add the line of a simple statement; bodies of lambdas and classes in it are nested under the
        line.
        """
        effects = self._simple(node, place)
        bodies = list(_bodies(node)) if self.facts.nests else []
        cuts = tuple((cut.start, cut.end) for cut, _ in bodies)
        line = self._row(node.start, node.end, place.depth, place.parent, effects, cuts)
        parts: list[int | StatementBlock] = [line]
        for cut, body in bodies:
            before = len(self._jumps)
            inner = _Place(place.depth + 1, line, -1, nested=True)
            if cut is not body:
                header = self._row(cut.start, body.start, inner.depth, line, Effects())
                parts.append(header)
                inner = _Place(inner.depth + 1, header, -1, nested=True)
            self._body(body, inner, parts)
            del self._jumps[before:]  # jumps in a lambda or class cannot leave it
        return tuple(parts), effects

    def _if(self, node: Node, place: _Place) -> tuple[list[int | StatementBlock], Effects]:
        reading = self._reading(place)
        condition, body = node.part("condition"), node.part("consequence")
        reading.condition(condition)
        effects = self._effects(reading)
        line = self._row(node.start, condition.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        effects |= self._body(body, place.inner(line), parts)
        other = node.child("alternative")
        if other is not None:
            word = next(start for kind, start, _ in node.tokens if kind == "else")
            effects |= self._clause(word, word + 4, other, place, line, parts)
        return parts, effects

    def _loop(self, node: Node, place: _Place) -> tuple[list[int | StatementBlock], Effects]:
        reading = self._reading(place)
        body = node.part("body")
        head = node.start + 2
        if node.kind == "enhanced_for_statement":
            head = body.start
            self._each(node, reading)
        elif node.kind == "for_statement":
            head = body.start
            for child in node.children:
                if child is body:
                    continue
                if child.field == "condition":
                    reading.condition(child)
                elif child.kind == "local_variable_declaration":
                    self._declaration(reading, child, inner=True)
                else:
                    reading.visit(child)
        else:
            condition = node.part("condition")
            reading.condition(condition)
            if node.kind == "while_statement":
                head = condition.end
        effects = self._effects(reading)
        # Of a `do` the line with the condition comes last and has the effects.
        own = Effects() if node.kind == "do_statement" else effects
        line = self._row(node.start, head, place.depth, place.parent, own)
        parts: list[int | StatementBlock] = [line]
        effects |= self._body(body, place.inner(line), parts)
        if node.kind == "do_statement":
            word = next(start for kind, start, _ in node.tokens if kind == "while")
            parts.append(self._row(word, node.end, place.depth, line, self._effects(reading)))
        return parts, effects

    def _each(self, node: Node, reading: JavaEffectCollector) -> None:
        items = reading.iterate(node.part("value"))
        binding = self.facts.binding(node.part("name"))
        if binding is not None:
            reading.declare(binding, inner=True)
        # A variable `_` has no binding, but what it is given is converted, too.
        kind = self.facts.type_of(node.child("type"), node.child("dimensions"))
        reading.stored(Value(kind), items)

    def _switch(self, node: Node, place: _Place) -> tuple[list[int | StatementBlock], Effects]:
        reading = self._reading(place)
        condition, body = node.part("condition"), node.part("body")
        value = reading.visit(condition)
        if value.type not in PRIMITIVES:
            reading.flags |= RAISES  # a string or box may be null
        effects = self._effects(reading)
        line = self._row(node.start, condition.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        ends = [group.start for group in body.children[1:]] + [body.end - 1]
        for group, end in zip(body.children, ends, strict=False):
            within = self._reading(place)
            labels = [child for child in group.children if child.kind == "switch_label"]
            if value.type not in PLAIN and self.initialises(labels):
                within.flags |= ANYTHING
            for label in labels:
                within.captured(label)
                if any(child.kind in ("pattern", "guard", "record_pattern") for child in label.children):
                    within.everything(label)
                for _, binding in self.facts.inside(label.start, label.end):
                    if label.start <= binding.start < label.end:
                        within.declare(binding, inner=True)
                for child in label.children:
                    if child.kind == "identifier":
                        self._constant(within, self.facts.text(child))
            if group.kind == "switch_rule":
                head = next(end for kind, _, end in group.tokens if kind == "->")
            else:
                head = next((end for kind, _, end in reversed(group.tokens) if kind == ":"), labels[-1].end)
            effects |= self._effects(within)
            clause = self._row(group.start, head, place.depth, line, self._effects(within))
            parts.append(clause)
            inner = _Place(place.depth + 1, clause, place.guard, place.nested)
            statements = [child for child in group.children if child.kind != "switch_label"]
            if group.kind == "switch_rule":
                effects |= self._body(statements[0], inner, parts)
            else:
                block, inside = self._block(statements, head, end, inner)
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
                reading.reads.add(reading.key(binding))
                reading.reads.add(f":{name}")

    def _try(self, node: Node, place: _Place) -> tuple[list[int | StatementBlock], Effects]:
        body = node.part("body")
        reading = self._reading(place)
        resources = node.child("resources")
        if resources is not None:
            reading.everything(resources)
            for _, binding in self.facts.inside(resources.start, resources.end):
                if resources.start <= binding.start < resources.end:
                    reading.declare(binding, inner=True)
        effects = self._effects(reading)
        head = resources.end if resources else node.start + len("try")
        line = self._row(node.start, head, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        # Without a handler nothing of the method sees how far the body came.
        guard = node.start if node.first("catch_clause", "finally_clause") else None
        effects |= self._body(body, place.inner(line, guard), parts)
        for clause in node.children:
            if clause.kind == "catch_clause":
                caught = self._reading(place)
                caught.captured(clause.children[0])
                inner = clause.part("body")
                effects |= self._effects(caught)
            elif clause.kind == "finally_clause":
                inner = clause.children[-1]
            else:
                continue
            effects |= self._clause(clause.start, inner.start, inner, place, line, parts, guard)
        if self._dependence == "returning":  # a `try` keeps its place, as a test does
            effects |= Effects(flags=EXITS)
        return parts, effects

    def _wrapped(self, node: Node, place: _Place) -> tuple[list[int | StatementBlock], Effects]:
        reading = self._reading(place)
        head = node.start + 1
        body = node
        if node.kind == "labeled_statement":
            body = node.children[-1]
            head = body.start
        elif node.kind == "synchronized_statement":
            body = node.part("body")
            head = body.start
            reading.visit(node.children[0])
            reading.flags |= ANYTHING  # to wait for a lock lets other threads run
        effects = self._effects(reading)
        line = self._row(node.start, head, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        effects |= self._body(body, place.inner(line), parts)
        if node.kind == "labeled_statement":  # variables of a loop's pattern are known behind it
            names = frozenset(name for name in effects.reads if name.startswith(":"))
            effects = Effects(effects.reads, effects.writes | names, effects.flags)
        return parts, effects

    def _clause(
        self, start: int, head: int, body: Node, place: _Place, line: int,
        parts: "list[int | StatementBlock]", guard: int | None = None,
    ) -> Effects:  # fmt: skip
        clause = self._row(start, head, place.depth, line, Effects())
        parts.append(clause)
        return self._body(body, place.inner(clause, guard), parts)

    def _body(self, body: Node, place: _Place, parts: "list[int | StatementBlock]") -> Effects:
        """Add the block of a body, which may be a single statement, and return its effects."""
        if body.kind in _BLOCKS:
            block, effects = self._block(body.children, body.start + 1, body.end - 1, place)
        else:
            block, effects = self._block([body], body.start, body.end, place)
        parts.append(block)
        return effects

    # ── simple statements ────────────────────────────────────────────────────────────────────────────

    def _simple(self, node: Node, place: _Place) -> Effects:
        reading = self._reading(place)
        match node.kind:
            case "local_variable_declaration":
                self._declaration(reading, node)
            case "expression_statement":
                reading.visit(node.children[0])
            case "return_statement":
                unit = self.facts.scopes.unit
                for child in node.children:
                    found = reading.visit(child)
                    if not place.nested:  # the result is converted to the type of the method
                        kind = self.facts.type_of(unit.child("type"), unit.child("dimensions"))
                        reading.stored(Value(kind), found)
                reading.flags |= ENDS_CALL
            case "throw_statement":
                if not reading.visit(node.children[0]).sure:
                    reading.flags |= RAISES
                reading.flags |= ENDS_CALL
            case "break_statement" | "continue_statement":
                reading.flags |= LEAVES_LOOP
                self._jumps.append(self._target(node))
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
        return self._effects(reading)

    def _declaration(self, reading: JavaEffectCollector, node: Node, *, inner: bool = False) -> None:
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
                found = reading.visit(value)
                # The type of `var` is that of its value; to an unknown one Java may cast it.
                if self.facts.text(written) != "var" or not (found.type or found.uncast):
                    reading.stored(Value(kind), found)

    def _target(self, node: Node) -> int:
        """The first byte of the statement that a `break` or `continue` leaves."""
        label = self.facts.text(node.children[0]) if node.children else None
        above = node.parent
        while above is not None:
            # A `break` leaves a switch, too; a `continue` does not.
            if label is None and above.kind in _JUMPS[node.kind]:
                return above.start
            if label and above.kind == "labeled_statement" and self.facts.text(above.children[0]) == label:
                return above.start
            above = above.parent
        return -1

    # ── small pieces ─────────────────────────────────────────────────────────────────────────────────

    def _reading(self, place: _Place) -> JavaEffectCollector:
        return JavaEffectCollector(self.facts, place.guard)

    def _effects(self, reading: JavaEffectCollector) -> Effects:
        flags = reading.flags
        if self._dependence == "paper":  # the relation of the paper knows no calls, stores or exceptions
            flags &= BARRIER | LEAVES_LOOP | ENDS_CALL
        return Effects(frozenset(reading.reads), frozenset(reading.writes), flags)

    def _row(
        self, start: int, end: int, depth: int, parent: int, effects: Effects,
        cuts: tuple[tuple[int, int], ...] = (),
    ) -> int:  # fmt: skip
        self.rows.append(Row(start, end, depth, parent, effects, cuts))
        return len(self.rows) - 1


def _inner(node: Node) -> Node:
    """An expression without the parentheses around it."""
    while node.kind == "parenthesized_expression" and len(node.children) == 1:
        node = node.children[0]
    return node


def _bodies(node: Node) -> Iterator[tuple[Node, Node]]:
    """The bodies of lambdas and of methods in a statement, each with the node that is cut out of the line."""
    pending = [node]
    while pending:
        node = pending.pop()
        if node.kind == "lambda_expression" and (body := node.part("body")).kind == "block":
            yield body, body
        elif node.kind == "class_body":
            for member in node.children:
                if member.kind in CALLABLES and (inner := member.child("body")):
                    yield member, inner
        elif node.kind != "switch_expression":
            pending += reversed(node.children)


def _from_outside(total: Effects) -> Effects:
    """The effects of a block as seen from outside: its declarations count only as mentioned names."""
    declared = {name for name in total.writes if name.startswith(":")}
    flags = total.flags & ~BARRIER
    return Effects(total.reads | declared, total.writes - declared, flags).enclosed()


_DECIMAL: Final = re.compile(r"0|[1-9][0-9]*")
_BLANKS: Final = re.compile(r'("""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|\s+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JavaLine:
    """One logical line in normal form."""

    text: str
    """The text without comments, with one blank for several; for a compound statement only the header."""
    depth: int
    """Nesting depth, 0 for the header of the method."""
    parent: int
    """The header or clause that it is nested under, as a line number; -1 for the first line."""


class JavaProgram:
    """A method with its dependences. Compare programs by their lines and graph."""

    def __init__(self, source: str, facts: Facts, root: StatementBlock, rows: Sequence[Row]) -> None:
        self.source = source
        self.facts = facts
        self.reading = facts.reading
        self.root = root
        self.rows = rows
        """The lines with their places in the text."""

    @property
    def constructor(self) -> bool:
        """Whether it is a constructor; constructors have to assign final fields."""
        return self.facts.scopes.unit.kind != "method_declaration"

    @cached_property
    def lines(self) -> tuple[JavaLine, ...]:
        """The logical lines in the order of the text."""
        return tuple(JavaLine(self._text(row), row.depth, row.parent) for row in self.rows)

    @cached_property
    def graph(self) -> DependenceGraph:
        """The dependences between lines."""
        between = conflicts([row.effects for row in self.rows])
        return line_graph(self.root, [row.parent for row in self.rows], between)

    @cached_property
    def blocks(self) -> tuple[StatementBlock, ...]:
        """Every block, in the order of the text, outer before inner."""
        return tuple(all_blocks(self.root))

    def sample_lines(self, rng: Random) -> tuple[int, ...]:
        """The lines in a fresh legal order, as old indices in new order."""
        return tuple(emitted(self.root, lambda block: orders.sample(block.predecessors, rng)))

    def _text(self, row: Row) -> str:
        source, comments = self.reading.source, self.reading.comments
        first = bisect_left(comments, row.start, key=lambda comment: comment[1])
        last = bisect_left(comments, row.end, key=lambda comment: comment[1])
        pieces = []
        done = row.start
        # Without bodies that have lines of their own, and without comments.
        for start, end in sorted([*row.cuts, *((start, end) for _, start, end in comments[first:last])]):
            if start >= done:
                pieces += [source[done:start], b" "]
                done = end
        pieces.append(source[done : row.end])
        return _BLANKS.sub(lambda match: match[1] or " ", b"".join(pieces).decode()).strip()


def summary(source: str, own: OwnClass) -> Effects | None:
    """The effects that a call of a method has; `None` if it may run unknown code.

    Args:
        source: the text of the method.
        own: its class.

    Raises:
        SourceError: as `analyse` does.
    """
    program = _program(source, Facts(resolve(source), own), "strict")
    total = Effects()
    for row in program.rows:
        total |= row.effects
    leaves = any(node.kind == "throw_statement" for node in program.facts.scopes.unit.walk())
    # Its variables are gone when the call ends; its jumps and results stay inside.
    reads, writes = (
        frozenset(name for name in names if name[0] not in ":v" and not name[1:-1].isdigit())
        for names in (total.reads, total.writes)
    )
    if total.flags & ACTS or any(name[0] == "?" for name in reads | writes):
        return None
    flags = total.flags & (OBSERVES | STORES | LOOKS_UP | RAISES | EXITS)
    return Effects(reads, writes, flags | RAISES | EXITS if leaves else flags)


@lru_cache(maxsize=8)
def analyse(source: str, *, dependence: Dependence = "strict", around: str = "") -> JavaProgram:
    """The program of one method or constructor; `around` is the text of its file, as far as it is known.

    The last programs are cached, because a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text is not Java, is not one method, or is nested too deeply.
    """
    own = own_class(source, around, summary) if around and around != source else None
    return _program(source, Facts(resolve(source), own), dependence)


def _program(source: str, facts: Facts, dependence: Dependence) -> JavaProgram:
    try:
        builder = JavaProgramBuilder(facts, dependence)
        root = builder.method(facts.scopes.unit)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller method") from error
    return JavaProgram(source, facts, root, builder.rows)

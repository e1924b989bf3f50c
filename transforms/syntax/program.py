"""The structure of one unit: its logical lines, its blocks, and the dependences among both.

`reorder`, its control and the canonical form permute the blocks; the networks read the lines and their graph.
A language subclasses `ProgramBuilder`: it says what simple statements do, and how its own compound ones are
made of lines and blocks.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock
from codeaudit.transforms.dependence.effects import BARRIER, ENDS_CALL, LEAVES_LOOP, Effects, Guard, conflicts
from codeaudit.transforms.dependence.programs import Row
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.syntax.effects import EffectCollector, ScopeFacts
from codeaudit.transforms.syntax.flow import BLOCKS, LOOPS, Flow
from codeaudit.transforms.syntax.reader import Node

SHARED_LINE: Final = "statements share a line with a comment"
_JUMPS: Final = {"break_statement": LOOPS | {"switch_expression"}, "continue_statement": LOOPS}


class NestingPlace(NamedTuple):
    """The builder's place in the nesting of the unit."""

    depth: int
    parent: int
    guard: int
    """The first byte of the innermost `try`; -1 without one."""
    nested: bool = False
    """Whether it is in a lambda or class inside, whose caller may catch what it raises."""

    def inner(self, parent: int, guard: int | None = None) -> "NestingPlace":
        """The place in a body under this line."""
        return NestingPlace(self.depth + 1, parent, self.guard if guard is None else guard, self.nested)


class ProgramBuilder(ABC):
    """Walks a unit once and collects its lines; `unit` returns its blocks."""

    flow: Flow
    callables: frozenset[str]
    """Kinds of nodes that are functions with a name."""
    lambdas: frozenset[str] = frozenset({"lambda_expression"})
    """Kinds of nodes that are functions in an expression, or in a statement of its own."""

    def __init__(self, facts: ScopeFacts, dependence: Dependence) -> None:
        self.names = facts
        self.rows: list[Row] = []
        """The lines in the order of the text."""
        self.dependence = dependence
        self._source = facts.source
        self._comments = facts.reading.comments
        self._jumps: list[int] = []
        """For each `break` and `continue` the first byte of the statement that it leaves."""

    def unit(self, unit: Node) -> StatementBlock:
        """The outermost block, whose only statement is the unit."""
        body = unit.child("body")
        line = self.row(unit.start, body.start if body else unit.end, 0, -1, Effects())
        parts: list[int | StatementBlock] = [line]
        if body:
            place = NestingPlace(1, line, -1)
            parts.append(self.block(body.children, body.start + 1, body.end - 1, place)[0])
        statement = BlockStatement(unit.start, unit.end, range(len(self.rows)), tuple(parts))
        return StatementBlock((statement,), (0,), None, (Effects(),))

    # ── what a language says ─────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def collector(self, guard: int) -> EffectCollector:
        """A new collector; `guard` is the first byte of the innermost `try`, -1 without one."""

    @abstractmethod
    def simple(self, node: Node, place: NestingPlace) -> Effects:
        """The effects of a simple statement."""

    @abstractmethod
    def declaration(self, reading: EffectCollector, node: Node, *, inner: bool = False) -> None:
        """Collect a declaration of local variables; with `inner` that of a statement's own."""

    @abstractmethod
    def each(self, node: Node, reading: EffectCollector) -> None:
        """Collect the head of a loop over items."""

    def compound(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects] | None:
        """The lines and blocks of a compound statement of the language's own; `None` for all others."""
        return None

    def guard(self, node: Node) -> Guard | None:
        """The test before all of a statement, if it is one of a local variable."""
        return None

    def varies(self, node: Node) -> bool:
        """Whether a name certainly names a variable that is no constant."""
        return False

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────

    def block(
        self, nodes: Sequence[Node], start: int, end: int, place: NestingPlace
    ) -> tuple[StatementBlock, Effects]:
        """The block of these statements, which lie between two byte offsets, with its effects."""
        spans, fixed = self.units(nodes, start, end)
        statements, effects = [], []
        for node, (first, last) in zip(nodes, spans, strict=True):
            line = len(self.rows)
            parts, effect = self.statement(node, place)
            statements.append(BlockStatement(first, last, range(line, len(self.rows)), parts))
            effects.append(effect)
        # A last statement that leaves stays last: behind `return;` every statement would be unreachable.
        if nodes and len(nodes) > 1 and not self.goes_on(nodes[-1]):
            effects[-1] = Effects(effects[-1].reads, effects[-1].writes, effects[-1].flags | BARRIER)
        total = Effects.of_all(effects)
        # Where an exception may be caught, a call that raises nothing has statements that raise.
        returning = self.dependence == "returning" and place.guard < 0 and not place.nested
        # The relation of the paper knows names only.
        guards = () if self.dependence == "paper" else [self.guard(node) for node in nodes]
        relation = self.relation(nodes, effects, conflicts(effects, returning=returning, guards=guards))
        block = StatementBlock(tuple(statements), relation, fixed, tuple(effects))
        return block, _from_outside(total)

    def relation(
        self, nodes: Sequence[Node], effects: Sequence[Effects], relation: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The conflicts of the statements of a block that count, of those that their effects have."""
        return relation

    def goes_on(self, node: Node) -> bool:
        """Whether control can certainly get behind a statement. If not, no other one may move behind it,
        because compilers may reject unreachable statements.
        """
        completes = self.flow.completes(node, self.names.reading)
        if completes is None and node.kind in ("while_statement", "for_statement"):
            condition = node.child("condition")
            return condition is not None and any(
                self.varies(inner) for inner in condition.walk() if inner.kind == "identifier"
            )
        return completes is True

    def units(self, nodes: Sequence[Node], start: int, end: int) -> tuple[list[tuple[int, int]], str | None]:
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
        comments = []
        while place < len(self._comments) and self._comments[place][1] < end:
            comments.append(self._comments[place])
            place += 1
        return comments

    # ── statements ───────────────────────────────────────────────────────────────────────────────────────

    def statement(self, node: Node, place: NestingPlace) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        """Add the lines of a statement, and return its lines and blocks with its effects."""
        before = len(self._jumps)
        added: tuple[list[int | StatementBlock], Effects] | None
        match node.kind:
            case "if_statement":
                added = self._if(node, place)
            case kind if kind in LOOPS:
                added = self._loop(node, place)
            case "block":
                added = self.wrapped(node, node, node.start + 1, self.collector(place.guard), place)
            case "labeled_statement":
                added = self._labelled(node, place)
            case _:
                added = self.compound(node, place)
                if added is None:
                    return self.line(node, place)
        parts, effects = added
        # All jumps in it end at this statement, so from outside none leaves.
        if effects.flags & LEAVES_LOOP and min(self._jumps[before:]) >= node.start:
            effects = Effects(effects.reads, effects.writes, effects.flags & ~LEAVES_LOOP)
        return tuple(parts), effects

    def line(self, node: Node, place: NestingPlace) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        """Add the line of a simple statement; bodies of lambdas and classes in it are nested under the
        line.
        """
        effects = self.simple(node, place)
        bodies = list(self._bodies(node)) if self.names.nests else []
        cuts = tuple((cut.start, cut.end) for cut, _ in bodies)
        line = self.row(node.start, node.end, place.depth, place.parent, effects, cuts)
        parts: list[int | StatementBlock] = [line]
        for cut, body in bodies:
            before = len(self._jumps)
            inner = NestingPlace(place.depth + 1, line, -1, nested=True)
            if cut is not body:
                header = self.row(cut.start, body.start, inner.depth, line, Effects())
                parts.append(header)
                inner = NestingPlace(inner.depth + 1, header, -1, nested=True)
            self.body(body, inner, parts)
            del self._jumps[before:]  # jumps in a lambda or class cannot leave it
        return tuple(parts), effects

    def _if(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        reading = self.collector(place.guard)
        condition, body = node.part("condition"), node.part("consequence")
        reading.condition(condition)
        effects = self.effects(reading)
        line = self.row(node.start, condition.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        effects |= self.body(body, place.inner(line), parts)
        other = node.child("alternative")
        if other is not None:
            word = next(start for kind, start, _ in node.tokens if kind == "else")
            effects |= self.clause(word, word + 4, other, place, line, parts)
        return parts, effects

    def _loop(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        reading = self.collector(place.guard)
        body = node.part("body")
        head = node.start + 2
        if node.kind == "enhanced_for_statement":
            head = body.start
            self.each(node, reading)
        elif node.kind == "for_statement":
            head = body.start
            for child in node.children:
                if child is body:
                    continue
                if child.field == "condition":
                    reading.condition(child)
                elif child.kind == "local_variable_declaration":
                    self.declaration(reading, child, inner=True)
                else:
                    reading.visit(child)
        else:
            condition = node.part("condition")
            reading.condition(condition)
            if node.kind == "while_statement":
                head = condition.end
        effects = self.effects(reading)
        # Of a `do` the line with the condition comes last and has the effects.
        own = Effects() if node.kind == "do_statement" else effects
        line = self.row(node.start, head, place.depth, place.parent, own)
        parts: list[int | StatementBlock] = [line]
        effects |= self.body(body, place.inner(line), parts)
        if node.kind == "do_statement":
            word = next(start for kind, start, _ in node.tokens if kind == "while")
            parts.append(self.row(word, node.end, place.depth, line, self.effects(reading)))
        return parts, effects

    def wrapped(
        self, node: Node, body: Node, head: int, reading: EffectCollector, place: NestingPlace
    ) -> tuple[list[int | StatementBlock], Effects]:
        """Add the line of a statement around a body, and the body."""
        effects = self.effects(reading)
        line = self.row(node.start, head, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        effects |= self.body(body, place.inner(line), parts)
        return parts, effects

    def _labelled(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        body = node.children[-1]
        parts, effects = self.wrapped(node, body, body.start, self.collector(place.guard), place)
        # Variables of a loop's pattern are known behind it.
        names = frozenset(name for name in effects.reads if name.kind == "declaration")
        return parts, Effects(effects.reads, effects.writes | names, effects.flags)

    def clause(
        self, start: int, head: int, body: Node, place: NestingPlace, line: int,
        parts: "list[int | StatementBlock]", guard: int | None = None,
    ) -> Effects:  # fmt: skip
        """Add the line of a clause, such as `else`, and its body; return the effects."""
        clause = self.row(start, head, place.depth, line, Effects())
        parts.append(clause)
        return self.body(body, place.inner(clause, guard), parts)

    def body(self, body: Node, place: NestingPlace, parts: "list[int | StatementBlock]") -> Effects:
        """Add the block of a body, which may be a single statement, and return its effects."""
        if body.kind in BLOCKS:
            block, effects = self.block(body.children, body.start + 1, body.end - 1, place)
        else:
            block, effects = self.block([body], body.start, body.end, place)
        parts.append(block)
        return effects

    def jump(self, node: Node) -> None:
        """Note a `break` or `continue`, which a statement around it may keep inside."""
        self._jumps.append(self._target(node))

    def _target(self, node: Node) -> int:
        """The first byte of the statement that a `break` or `continue` leaves."""
        label = self.names.text(node.children[0]) if node.children else None
        above = node.parent
        while above is not None:
            # A `break` leaves a switch, too; a `continue` does not.
            if label is None and above.kind in _JUMPS[node.kind]:
                return above.start
            if label and above.kind == "labeled_statement" and self.names.text(above.children[0]) == label:
                return above.start
            above = above.parent
        return -1

    def _bodies(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """The bodies of functions in a statement, each with the node that is cut out of the line."""
        pending = [node]
        while pending:
            node = pending.pop()
            if node.kind in self.lambdas and (body := node.part("body")).kind == "block":
                yield body, body
            elif node.kind == "class_body":
                for member in node.children:
                    if member.kind in self.callables and (inner := member.child("body")):
                        yield member, inner
            elif node.kind != "switch_expression":
                pending += reversed(node.children)

    def effects(self, reading: EffectCollector) -> Effects:
        """What a collector has found, as far as the relation knows it."""
        flags = reading.flags
        if self.dependence == "paper":  # the relation of the paper knows no calls, stores or exceptions
            flags &= BARRIER | LEAVES_LOOP | ENDS_CALL
        return Effects(frozenset(reading.reads), frozenset(reading.writes), flags)

    def row(
        self, start: int, end: int, depth: int, parent: int, effects: Effects,
        cuts: tuple[tuple[int, int], ...] = (),
    ) -> int:  # fmt: skip
        """Add a logical line and return its number."""
        self.rows.append(Row(start, end, depth, parent, effects, cuts))
        return len(self.rows) - 1


def _from_outside(total: Effects) -> Effects:
    """The effects of a block as seen from outside: its declarations count only as mentioned names."""
    declared = {name for name in total.writes if name.kind == "declaration"}
    flags = total.flags & ~BARRIER
    return Effects(total.reads | declared, total.writes - declared, flags).enclosed()

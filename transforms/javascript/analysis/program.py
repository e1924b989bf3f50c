"""The structure of one function: its logical lines, its blocks, and the dependences among both."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock
from codeaudit.transforms.dependence.effects import (
    ANYTHING,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    Effects,
)  # fmt: skip
from codeaudit.transforms.dependence.programs import CodeProgram
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.analysis.effects import JavaScriptEffectCollector
from codeaudit.transforms.javascript.analysis.facts import JavaScriptFacts
from codeaudit.transforms.javascript.analysis.scopes import resolve, unreadable
from codeaudit.transforms.javascript.dialect import CONTINUING, DIALECT
from codeaudit.transforms.javascript.narrowing import names_in, narrowing
from codeaudit.transforms.javascript.parsing import FUNCTIONS, JAVASCRIPT, TYPESCRIPT, read_unit
from codeaudit.transforms.javascript.types import NONE, types_of
from codeaudit.transforms.syntax.effects import EffectCollector
from codeaudit.transforms.syntax.program import NestingPlace, ProgramBuilder
from codeaudit.transforms.syntax.reader import Node

NO_SEMICOLON: Final = "statement that may go on on the next line"
_CONTINUING: Final = tuple(sign.encode() for sign in CONTINUING)
_ENDED: Final = frozenset({"expression_statement", "local_variable_declaration", "return_statement",
                           "throw_statement", "break_statement", "continue_statement"})  # fmt: skip


class JavaScriptProgramBuilder(ProgramBuilder):
    """Walks a function once and collects its lines."""

    flow = DIALECT.flow
    callables = frozenset({"method_definition"})
    lambdas = FUNCTIONS

    def __init__(self, facts: JavaScriptFacts, dependence: Dependence, language: str) -> None:
        super().__init__(facts, dependence)
        self.facts = facts
        self._narrows = language == TYPESCRIPT and dependence != "paper"
        self._names = names_in(facts, facts.scopes.nodes) if self._narrows else []

    def unit(self, unit: Node) -> StatementBlock:
        """As on the floor; an arrow without a block is one line."""
        if unit.part("body").kind == "block":
            return super().unit(unit)
        line = self.row(unit.start, unit.end, 0, -1, Effects())
        statement = BlockStatement(unit.start, unit.end, range(1), (line,))
        return StatementBlock((statement,), (0,), None, (Effects(),))

    def collector(self, guard: int) -> JavaScriptEffectCollector:
        """A new collector."""
        return JavaScriptEffectCollector(self.facts, guard)

    def units(self, nodes: Sequence[Node], start: int, end: int) -> tuple[list[tuple[int, int]], str | None]:
        """As on the floor; a statement without its semicolon may go on with what comes to stand behind it."""
        spans, fixed = super().units(nodes, start, end)
        if fixed is None and any(node.kind in _ENDED and not node.has(";") for node in nodes):
            source = self.names.source
            continued = any(source.startswith(_CONTINUING, node.start) for node in nodes)
            if continued or any(b"\n" not in source[one.end : other.start] for one, other in pairwise(nodes)):
                fixed = NO_SEMICOLON
        return spans, fixed

    def goes_on(self, node: Node) -> bool:
        """Every statement may stand last: no compiler rejects what is never reached."""
        return True

    def statement(self, node: Node, place: NestingPlace) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        """As on the floor; in TypeScript no read of a name passes a statement that narrows its type."""
        parts, effects = super().statement(node, place)
        if self._narrows:
            effects |= Effects(*narrowing(self.facts, self._names, node))
        return parts, effects

    def compound(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects] | None:
        """`switch` and `try`."""
        match node.kind:
            case "switch_expression":
                return self._switch(node, place)
            case "try_statement":
                return self._try(node, place)
            case _:
                return None

    def each(self, node: Node, reading: EffectCollector) -> None:
        """Collect the head of a loop over items, whose iterator is unknown code but for an array."""
        assert isinstance(reading, JavaScriptEffectCollector)
        if self.facts.is_plain(node):
            reading.visit(node.part("right"))
            reading.look_inside()
        else:
            reading.flags |= ANYTHING
            reading.anything(node.part("right"))
        left = node.part("left")
        if any(node.has(word) for word in ("let", "const", "var")):
            self._pattern(reading, left, inner=True)
        else:
            reading.anything(left)

    def _pattern(self, reading: JavaScriptEffectCollector, name: Node, *, inner: bool = False) -> None:
        """Collect the declaration of a name, or of the names of a pattern."""
        if name.kind == "object_pattern" and self.facts.types and self._is_plain(name):
            for part in name.children:
                reading.look_up(self.facts.text(part.child("key") or part))
        elif name.kind == "array_pattern" and self.facts.is_plain(name):
            reading.look_inside()
        elif name.kind != "identifier":
            reading.anything(name)
        for _, binding in self.facts.inside(name.start, name.end):
            if binding.node is not None and name.start <= binding.start < name.end:
                reading.declare(binding, inner=inner)
            elif name.kind == "identifier":
                reading.write(binding)  # `var a; var a;`

    def _is_plain(self, pattern: Node) -> bool:
        """Whether a pattern only reads plain properties of an object."""
        parts = pattern.children
        return bool(parts) and all(
            (part.kind == "shorthand_property_identifier_pattern" and self.facts.is_plain(part))
            or (
                part.kind == "pair_pattern"
                and part.part("value").kind == "identifier"
                and self.facts.is_plain(part.part("key"))
            )
            for part in parts
        )

    def _switch(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        reading = self.collector(place.guard)
        value, body = node.part("value"), node.part("body")
        reading.visit(value)
        effects = self.effects(reading)
        line = self.row(node.start, value.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        ends = [case.start for case in body.children[1:]] + [body.end - 1]
        for case, end in zip(body.children, ends, strict=False):
            within = self.collector(place.guard)
            label = case.child("value")
            if label is not None:
                within.visit(label)
            head = next(end for kind, _, end in case.tokens if kind == ":")
            effects |= self.effects(within)
            clause = self.row(case.start, head, place.depth, line, self.effects(within))
            parts.append(clause)
            statements = [child for child in case.children if child is not label]
            block, inside = self.block(statements, head, end, place.inner(clause))
            parts.append(block)
            effects |= inside
        return parts, effects

    def _try(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        body = node.part("body")
        line = self.row(node.start, body.start, place.depth, place.parent, Effects())
        parts: list[int | StatementBlock] = [line]
        effects = self.body(body, place.inner(line, node.start), parts)
        for clause in node.children:
            if clause.kind not in ("catch_clause", "finally_clause"):
                continue
            inner, parameter = clause.part("body"), clause.child("parameter")
            if parameter is not None:
                caught = self.collector(place.guard)
                self._pattern(caught, parameter, inner=True)
                effects |= self.effects(caught)
            effects |= self.clause(clause.start, inner.start, inner, place, line, parts, node.start)
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
                if node.children[0].kind == "string_literal":
                    reading.flags |= BARRIER  # a directive stays in front, and nothing else becomes one
            case "return_statement" | "throw_statement":
                for child in node.children:
                    reading.visit(child)
                reading.flags |= ENDS_CALL
            case "break_statement" | "continue_statement":
                reading.flags |= LEAVES_LOOP
                self.jump(node)
            case "function_declaration" if self._is_hoisted(node):
                self._pattern(reading, node.part("name"))
                reading.captured(node)
            case _:  # classes, enums, what has an effect of its own in a block, and what later versions bring
                reading.anything(node)
                reading.flags |= BARRIER
        return self.effects(reading)

    def _is_hoisted(self, node: Node) -> bool:
        """Whether a function is known in the whole function around it, wherever it stands."""
        block = node.parent
        if block is None or block.parent is None or block.parent.kind not in FUNCTIONS:
            return False
        return all(child.kind != "function_signature" for child in block.children)

    def declaration(self, reading: EffectCollector, node: Node, *, inner: bool = False) -> None:
        """Collect a declaration of variables."""
        assert isinstance(reading, JavaScriptEffectCollector)
        for child in node.all("declarator"):
            value = child.child("value")
            if value is not None:
                reading.visit(value)
            self._pattern(reading, child.part("name"), inner=inner)


class JavaScriptProgram(CodeProgram):
    """A function with its dependences. Compare programs by their lines and graph."""

    def __init__(
        self, source: str, facts: JavaScriptFacts, root: StatementBlock, builder: JavaScriptProgramBuilder
    ) -> None:
        super().__init__(source, facts.reading.comments, root, builder.rows)
        self.facts = facts
        self.scopes = facts.scopes

    @cached_property
    def obstacle(self) -> str | None:
        """Why no name of the function is certain."""
        return unreadable(self.scopes)

    @cached_property
    def is_ended(self) -> bool:
        """Whether each statement shows its end: a semicolon of its own, or a brace."""
        return all(node.has(";") for node in self.scopes.nodes if node.kind in _ENDED)

    @cached_property
    def pieces(self) -> Counter[tuple[str, bytes]]:
        """What it consists of, in no order (`pieces_of`)."""
        return pieces_of(self.scopes.nodes, self.encoded)


def pieces_of(nodes: Sequence[Node], source: bytes) -> Counter[tuple[str, bytes]]:
    """The tokens of the nodes of a function, each with the kind of its node, and its simple statements."""
    pieces: list[tuple[str, bytes]] = []
    around = set[Node]()
    for node in nodes:
        above = node if node.kind == "block" else None
        while above is not None and above not in around:
            around.add(above)
            above = above.parent
    for node in nodes:
        kind = node.kind
        for _, start, end in node.tokens:
            pieces.append((kind, source[start:end]))
        if kind.endswith(("_statement", "_declaration")) and node not in around:
            pieces.append((kind, source[node.start : node.end]))
    return Counter(pieces)


@lru_cache(maxsize=8)
def analyse(
    source: str, language: str = JAVASCRIPT, *, dependence: Dependence = "strict"
) -> JavaScriptProgram:
    """The program of one function. The last programs are cached, because a transform proposes and applies to
    one source many times.

    Raises:
        SourceError: the text does not parse, is not one function, or is nested too deeply.
    """
    scopes = resolve(source, language)
    _, unit = read_unit(source, language)
    try:
        types = types_of(source) if dependence == "types" and language == TYPESCRIPT else NONE
        facts = JavaScriptFacts(scopes, unit.function, types)
        builder = JavaScriptProgramBuilder(facts, dependence, language)
        root = builder.unit(unit.function)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller function") from error
    return JavaScriptProgram(source, facts, root, builder)

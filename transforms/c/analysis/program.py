"""The program structure of one C function: what its statements do (`syntax.program`)."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from codeaudit.transforms.c.analysis.effects import CEffectCollector, CFacts, PointerPath
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.dialect import DIALECT
from codeaudit.transforms.c.macros import NOWHERE, Surroundings
from codeaudit.transforms.c.rewriting import CSource, is_declaration, study
from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.effects import (
    ACTS,
    BARRIER,
    ENDS_CALL,
    LEAVES_LOOP,
    RAISES,
    STORES,
    Effects,
    conflicts,
)
from codeaudit.transforms.dependence.programs import CodeProgram
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.syntax.effects import EffectCollector
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.program import NestingPlace, ProgramBuilder
from codeaudit.transforms.syntax.reader import EMPTY, Node

_OUTSIDE: Final = -1
"""The target of a jump that no statement keeps inside."""


class CProgramBuilder(ProgramBuilder):
    """Walks a function once and collects its lines."""

    flow = DIALECT.flow
    callables = frozenset({"function_definition"})
    facts_of: Callable[[CSource], CFacts] = CFacts
    collects: type[CEffectCollector] = CEffectCollector

    def __init__(self, facts: CFacts, dependence: Dependence) -> None:
        # What is undefined is no exception that a call could do without, so no order may rest on its absence.
        super().__init__(facts, "strict" if dependence == "returning" else dependence)
        self.facts = facts
        self._traps: dict[int, frozenset[PointerPath]] = {}
        """For a simple statement, by its first byte: it is undefined if and only if one of these pointers
        is invalid."""

    def collector(self, guard: int) -> CEffectCollector:
        """A new collector."""
        return self.collects(self.facts, guard, disjoint=self.dependence == "disjoint")

    def effects(self, reading: EffectCollector) -> Effects:
        """As in all languages; a pointer that may be invalid counts as an exception."""
        effects = super().effects(reading)
        assert isinstance(reading, CEffectCollector)
        return effects | Effects(flags=RAISES) if reading.traps and self.dependence != "paper" else effects

    def relation(
        self, nodes: Sequence[Node], effects: Sequence[Effects], relation: tuple[int, ...]
    ) -> tuple[int, ...]:
        """As in all languages, but for two statements that are undefined in the same cases: `a = p->x` and
        `b = p->y`. Whichever comes first, the program stops there or both are defined. Where one of them is
        undefined in more cases, as `b = q->y + p->y` is, the other one may store nothing that others see."""
        masks = list(relation)
        traps = [self._traps.get(node.start) for node in nodes]
        for later, own in enumerate(traps):
            for earlier in range(later if own else 0):
                other = traps[earlier]
                if not own or not other or not relation[later] >> earlier & 1:
                    continue
                both = (effects[earlier], effects[later])
                pair = [Effects(one.reads, one.writes, one.flags & ~RAISES) for one in both]
                if own == other or any(
                    less < more and not effect.flags & (ACTS | STORES)
                    for less, more, effect in ((other, own, pair[0]), (own, other, pair[1]))
                ):
                    masks[later] ^= (conflicts(pair)[1] ^ 1) << earlier
        if self.facts.code.macros.is_c89:  # declarations stay before statements
            declared = [is_declaration(node) << place for place, node in enumerate(nodes)]
            masks = [bits if declared[at] else bits | sum(declared[:at]) for at, bits in enumerate(masks)]
        return tuple(masks)

    def statement(self, node: Node, place: NestingPlace) -> tuple[tuple[int | StatementBlock, ...], Effects]:
        """As in all languages. A loop may not end, and a label may be jumped to."""
        parts, effects = super().statement(node, place)
        if node.kind in LOOPS:
            effects |= Effects(flags=RAISES)
        if any(inner.kind == "labeled_statement" for inner in node.walk()):
            effects |= Effects(flags=BARRIER)
        above = node.parent
        if node.kind == "local_variable_declaration" and above is not None and above.kind != "block":
            effects |= Effects(flags=BARRIER)  # behind a label stands no declaration
        return parts, effects

    def simple(self, node: Node, place: NestingPlace) -> Effects:
        """The effects of a simple statement."""
        reading = self.collector(place.guard)
        match node.kind:
            case "local_variable_declaration":
                self.declaration(reading, node)
            case "expression_statement":
                reading.visit(node.children[0])
                is_word = node.children[0].kind == "identifier"  # only a macro does something: `fallthrough;`
                if is_word or any(inner.kind == "gnu_asm_expression" for inner in node.walk()):
                    reading.flags |= BARRIER
            case "return_statement":
                reading.parts(node)
                reading.flags |= ENDS_CALL | RAISES
            case "break_statement" | "continue_statement":
                reading.flags |= LEAVES_LOOP
                self.jump(node)
            case "goto_statement":
                reading.flags |= LEAVES_LOOP
                self._jumps.append(_OUTSIDE)
            case kind if kind == EMPTY:  # perhaps with an attribute before it
                reading.flags |= BARRIER if self.facts.source[: node.start].rstrip().endswith(b")") else 0
            case _:  # types, assertions of the compiler, and whatever later versions bring
                reading.anything(node)
                reading.flags |= BARRIER
        if reading.traps and not reading.flags & RAISES and _acts_once(node):
            self._traps[node.start] = frozenset(reading.traps)
        return self.effects(reading)

    def declaration(self, reading: EffectCollector, node: Node, *, inner: bool = False) -> None:
        """Collect a declaration of local variables, with their values."""
        assert isinstance(reading, CEffectCollector)
        kind = node.child("type")
        if kind is None or kind.child("body") is not None or kind.kind == "macro_type_specifier":
            reading.anything(node)
            reading.flags |= BARRIER
        words = (self.facts.text(child) for child in node.children if child.kind == "storage_class_specifier")
        reading.flags |= 0 if all(word == "register" for word in words) else BARRIER
        for child in node.all("declarator"):
            binding = self.facts.binding(self.facts.code.name_of(child))
            declarator = child.child("declarator") if child.kind == "variable_declarator" else child
            assert declarator is not None
            for size in (part.child("size") for part in declarator.walk() if part.kind == "array_declarator"):
                if size is not None and size.kind != "decimal_integer_literal":
                    reading.visit(size)
                    reading.flags |= RAISES
            if binding is not None:
                reading.declare(binding, inner=inner)
            value = child.child("value")
            if value is None:
                continue
            if value.kind == "array_initializer":
                reading.parts(value)
                reading.flags |= RAISES
            else:
                reading.visit(value)
                if binding is not None:
                    reading.convert(self.facts.code.type_of_variable(binding), value)

    def each(self, node: Node, reading: EffectCollector) -> None:
        """C has no loop over items."""
        reading.anything(node)

    def compound(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects] | None:
        """`switch`; one whose labels stand elsewhere is no statement that is known here."""
        is_known = node.kind == "switch_expression" and node.part("body").kind == "switch_block"
        return self._switch(node, place) if is_known else None

    def _switch(self, node: Node, place: NestingPlace) -> tuple[list[int | StatementBlock], Effects]:
        reading = self.collector(place.guard)
        condition, body = node.part("condition"), node.part("body")
        reading.visit(condition)
        effects = self.effects(reading)
        line = self.row(node.start, condition.end, place.depth, place.parent, effects)
        parts: list[int | StatementBlock] = [line]
        ends = [group.start for group in body.children[1:]] + [body.end - 1]
        for group, end in zip(body.children, ends, strict=False):
            label, *statements = group.children
            within = self.collector(place.guard)
            within.captured(label)
            effects |= self.effects(within)
            clause = self.row(group.start, label.end, place.depth, line, self.effects(within))
            parts.append(clause)
            inner = NestingPlace(place.depth + 1, clause, place.guard, place.nested)
            block, inside = self.block(statements, label.end, end, inner)
            parts.append(block)
            effects |= inside
        return parts, effects


def _acts_once(node: Node) -> bool:
    """Whether a statement stores at most one value, and so nothing before it may be undefined."""
    kinds = ("assignment_expression", "update_expression", "variable_declarator")
    inside = [inner.kind for inner in node.walk()]
    return sum(kind in kinds for kind in inside) < 2 and "sequence_expression" not in inside


class CProgram(CodeProgram):
    """A function with its dependences. Compare programs by their lines and graph."""

    def __init__(self, source: str, code: CSource, root: StatementBlock, builder: CProgramBuilder) -> None:
        super().__init__(source, code.reading.comments, root, builder.rows)
        self.code = code


@lru_cache(maxsize=8)
def analyse(source: str, *, dependence: Dependence = "strict", around: Surroundings = NOWHERE) -> CProgram:
    """The program of one function; `around` is what is known around it.

    The last programs are cached, because a transform proposes and applies to one source many times.

    Raises:
        SourceError: the text is not C, is not one function, or is nested too deeply.
    """
    code = study(source, around)
    builds = CProgramBuilder
    if around.language == CPP:
        from codeaudit.transforms.c.cpp.program import CppProgramBuilder

        builds = CppProgramBuilder
    try:
        builder = builds(builds.facts_of(code), dependence)
        root = builder.unit(code.unit)
    except RecursionError as error:
        raise SourceError("the text is nested too deeply; give a smaller function") from error
    return CProgram(source, code, root, builder)

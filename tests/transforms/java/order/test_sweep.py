"""Real methods: what is drawn reads as the same statements, and the relation moves along."""

import re
from random import Random

import pytest

from codeaudit.transforms.dependence.graph import layers, permute
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.program import analyse
from codeaudit.transforms.java.order.reorder import REORDER, REORDER_BREAKING
from codeaudit.transforms.java.parsing import read
from codeaudit.transforms.strategies.reorder import OBSTACLES
from tests.transforms.java.identifiers.test_sweep import methods

EVERY = {"java_methods": 60, "defects4j_methods": 6}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.weekly
def test_a_drawn_order_moves_statements_and_keeps_their_relation(name: str) -> None:
    moved = large = 0
    for number, source in enumerate(methods(name, EVERY[name])):
        program = analyse(source)
        large += any(len(block.statements) > 1 for block in program.blocks)
        moves = REORDER.propose(source, Random(number))
        if isinstance(moves, Refused):
            continue
        moved += 1
        result = REORDER.apply(source, moves)
        assert isinstance(result, Rewritten)
        assert sorted(re.findall(r"\S+", result.source)) == sorted(re.findall(r"\S+", source))
        kinds = [sorted(node.kind for node in read(text).root.walk()) for text in (source, result.source)]
        assert kinds[0] == kinds[1]
        after = analyse(result.source)
        assert len(after.blocks) == len(program.blocks)
        _same_relation(source, result.source)
    assert large > 350
    assert moved > 0.07 * large


def _same_relation(source: str, text: str) -> None:
    """The lines and their graph are those of the source in another order, and every line keeps its layer."""
    before, after = analyse(source), analyse(text)
    lines = [(line.text, line.depth) for line in before.lines]
    moved = [(line.text, line.depth) for line in after.lines]
    assert sorted(moved) == sorted(lines)
    if len(set(lines)) < len(lines):
        return
    order = [lines.index(line) for line in moved]
    assert after.graph.predecessors == permute(before.graph.predecessors, order)
    layer = layers(before.graph.predecessors)
    assert layers(after.graph.predecessors) == tuple(layer[line] for line in order)


def test_orders_of_lines_are_legal() -> None:
    for number, source in enumerate(methods("java_methods", 400)):
        program = analyse(source)
        order = program.sample_lines(Random(number))
        place = {line: new for new, line in enumerate(order)}
        assert sorted(order) == list(range(len(program.lines)))
        assert all(place[before] < place[line] for before, line in program.graph.edges())


@pytest.mark.slow
def test_reasons_are_few_and_the_control_changes_one_pair() -> None:
    reasons, broken = set(), 0
    for number, source in enumerate(methods("defects4j_methods", 12)):
        proposal = REORDER.propose(source, Random(number))
        if isinstance(proposal, Refused):
            reasons.add(proposal.reason)
        moves = REORDER_BREAKING.propose(source, Random(number))
        if isinstance(moves, Refused):
            continue
        result = REORDER_BREAKING.apply(source, moves)
        assert isinstance(result, Rewritten)
        assert isinstance(REORDER.apply(source, moves), Refused)
        read(result.source)
        broken += 1
    assert len(reasons) <= len(OBSTACLES) + 4
    assert broken > 30


def test_what_is_no_method_cannot_be_read() -> None:
    for text in ("class A { }", "int x = 1;", "void f() { g(", "void f() { } void g() { }", ""):
        with pytest.raises(SourceError):
            REORDER.propose(text, Random(0))

"""The DLG, the symmetry mask, and the figures of the SPE paper."""

from itertools import permutations
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.dependence import graph, orders
from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock, line_graph
from codeaudit.transforms.dependence.effects import ANYTHING, Effects, conflicts
from codeaudit.transforms.dependence.graph import (
    bits,
    closure,
    layers,
    longest_paths,
    permute,
    reduction,
    symmetry_mask,
)
from codeaudit.transforms.python.analysis.program import analyse
from tests.transforms.dependence.test_orders import relations

EARNINGS = """\
def earnings(rent, salary, lottery):
    bonus = lottery
    income = rent + salary
    income = income * 12
    income = income + bonus
    return income
"""


def body(source: str) -> tuple[int, ...]:
    """The arrows of the papers between the statements of a function's body."""
    program = analyse(source, dependence="paper")
    return program.true_dependences(program.blocks[1])


def test_figure_2_only_the_first_two_lines_may_change_places() -> None:
    assert {(0, 1, 2, 3, 4), (1, 0, 2, 3, 4)} < set(orders.enumerate_orders(body(EARNINGS)))
    assert not orders.is_legal(body(EARNINGS), (0, 1, 3, 2, 4))


def test_figure_2_under_the_sound_relation_too() -> None:
    sound = analyse(EARNINGS).blocks[1].predecessors
    assert orders.is_legal(sound, (1, 0, 2, 3, 4))
    assert not orders.is_legal(sound, (0, 1, 3, 2, 4))


def test_figure_3_layers_by_longest_path_and_what_swapping_c3_and_c4_does_to_them() -> None:
    assert layers(body(EARNINGS)) == (0, 0, 1, 2, 3)
    swapped = EARNINGS.replace(
        "    income = income * 12\n    income = income + bonus\n",
        "    income = income + bonus\n    income = income * 12\n",
    )
    # c4 now stands third, on layer 1, and c3 fourth, on layer 2: both changed their layer.
    assert layers(body(swapped)) == (0, 0, 1, 2, 3)


def test_figure_4_the_mask_keeps_one_layer_and_direct_arrows() -> None:
    rows = [sorted(bits(row)) for row in symmetry_mask(body(EARNINGS))]
    assert rows == [[0, 1, 3], [0, 1, 2], [2, 3], [3, 4], [4]]


@given(relations(most=5))
def test_proposition_4_5_the_mask_is_equivariant_to_every_legal_order(relation: tuple[int, ...]) -> None:
    before = symmetry_mask(relation)
    for order in orders.enumerate_orders(relation):
        after = symmetry_mask(permute(relation, order))
        for new, old in enumerate(order):
            assert {order[column] for column in bits(after[new])} == set(bits(before[old]))


@given(relations(most=5))
def test_layers_are_equivariant_to_every_legal_order(relation: tuple[int, ...]) -> None:
    before = layers(relation)
    for order in orders.enumerate_orders(relation):
        assert layers(permute(relation, order)) == tuple(before[old] for old in order)


STATEMENTS = st.sampled_from(["a = 1", "b = a", "a = b", "c = a", "b = c", "c = 2", "a = c"])


@pytest.mark.slow
@given(st.lists(STATEMENTS, min_size=2, max_size=5))
def test_theorem_4_3_an_order_is_legal_iff_every_line_keeps_its_layer(lines: list[str]) -> None:
    def of(order: tuple[int, ...]) -> tuple[int, ...]:
        text = "def f(a, b, c):\n" + "".join(f"    {lines[number]}\n" for number in order)
        return analyse(text).blocks[1].predecessors

    identity = tuple(range(len(lines)))
    relation = of(identity)
    before = layers(relation)
    for order in permutations(identity):
        kept = layers(of(order)) == tuple(before[old] for old in order)
        twins = len(set(lines)) < len(lines)  # equal lines are the same line wherever they stand
        assert orders.is_legal(relation, order) == kept or twins


@given(relations(most=8))
def test_the_reduction_has_the_same_closure(relation: tuple[int, ...]) -> None:
    assert closure(reduction(relation)) == closure(relation)


@given(relations(most=8))
def test_longest_paths_from_sources_are_the_layers(relation: tuple[int, ...]) -> None:
    table = longest_paths(relation)
    for line, layer in enumerate(layers(relation)):
        assert max(row[line] for row in table) == layer


@pytest.mark.parametrize("mask", [0, 0b1, 0b1010])
def test_bits_gives_the_positions_in_order(mask: int) -> None:
    assert sum(1 << position for position in bits(mask)) == mask


@pytest.mark.thinned(1)
@pytest.mark.parametrize("dense", [0, 10_000])
@given(relations(most=40))
def test_layers_closure_and_mask_are_what_their_definitions_say(
    dense: int, relation: tuple[int, ...]
) -> None:
    reach = [0] * len(relation)
    layer = [0] * len(relation)
    for line, mask in enumerate(relation):
        for before in range(line):
            if mask >> before & 1:
                reach[line] |= reach[before] | 1 << before
                layer[line] = max(layer[line], layer[before] + 1)
    assert closure(relation) == tuple(reach)
    assert layers(relation) == tuple(layer)
    rows = [
        sum(
            1 << other
            for other in range(len(relation))
            if layer[other] == layer[line] or relation[other] >> line & 1
        )
        for line in range(len(relation))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "DENSE", dense)
        assert symmetry_mask(relation) == tuple(rows)


@pytest.mark.slow
def test_graphs_of_3000_lines_take_a_time_that_grows_with_the_lines() -> None:
    def seconds(count: int) -> float:
        """Every statement acts, so every one depends on all before it."""
        effects = [Effects(frozenset({str(n % 7)}), frozenset({str(n % 5)}), ANYTHING) for n in range(count)]
        begin = process_time()
        relation = conflicts(effects)
        statements = tuple(BlockStatement(0, 0, range(n, n + 1), (n,)) for n in range(count))
        block = StatementBlock(statements, relation, None, tuple(effects))
        lines = line_graph(block, [-1] * count, relation)
        assert lines.predecessors == relation
        closure(relation)
        layers(relation)
        symmetry_mask(relation)
        return process_time() - begin

    seconds(300)  # NumPy is imported once
    short, long = (min(seconds(count) / count for _ in range(3)) for count in (300, 3000))
    assert long < 6 * short, (short, long)  # ten times as long would be quadratic

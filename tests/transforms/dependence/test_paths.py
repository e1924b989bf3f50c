"""PDG distances and the interpretation graph, on graphs small enough to see."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.dependence import graph as graph_module
from codeaudit.transforms.dependence import orders
from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.dependence.graph import (
    bits,
    closure,
    common_ancestor_distances,
    interpretation_graph,
    longest_paths,
    permute,
    program_dependence,
)
from tests.transforms.dependence.test_orders import relations


def touches(reads: str = "", writes: str = "") -> Effects:
    return Effects(frozenset(reads), frozenset(writes))


def test_the_program_dependence_graph_is_data_and_control_together() -> None:
    assert program_dependence((0, 0b1, 0), (0, 0b1, 0b10)) == (0, 0b1, 0b10)


def test_distances_from_the_common_ancestor_of_a_diamond() -> None:
    # 0 -> 1 -> 3, 0 -> 2 -> 3, and 3 hangs on both: the common ancestor of 1 and 2 is 0.
    graph = (0, 0b1, 0b1, 0b110)
    distances = common_ancestor_distances(graph)
    assert (distances.positive[1][2], distances.negative[1][2]) == (1, 1)
    assert (distances.positive[1][3], distances.negative[1][3]) == (0, 1)
    assert (distances.positive[3][0], distances.negative[3][0]) == (2, 0)


def test_lines_without_a_common_ancestor_are_farther_apart_than_any_path() -> None:
    distances = common_ancestor_distances((0, 0, 0b1))
    assert (distances.positive[0][1], distances.negative[0][1]) == (2, 2)


@given(relations(most=7))
def test_distances_are_those_of_the_nearest_common_ancestor(relation: tuple[int, ...]) -> None:
    longest = longest_paths(relation)
    distances = common_ancestor_distances(relation)
    deep = [max(row[line] for row in longest) for line in range(len(relation))]
    reach = [mask | 1 << line for line, mask in enumerate(closure(relation))]
    for i in range(len(relation)):
        for j in range(len(relation)):
            shared = list(bits(reach[i] & reach[j]))
            pair = (distances.positive[i][j], distances.negative[i][j])
            ways = [(longest[a][i], longest[a][j], deep[a]) for a in shared]
            expected = min(ways, key=lambda way: (way[0] + way[1], -way[2], way[0]), default=None)
            farthest = 1 + max(map(max, longest))
            assert pair == ((farthest, farthest) if expected is None else expected[:2])


@given(relations(most=12), st.randoms(use_true_random=False))
def test_a_legal_order_permutes_the_distances(relation: tuple[int, ...], rng: Random) -> None:
    # Also where two common ancestors are as near: no choice between them goes by their place in the text.
    order = list(orders.sample(relation, rng))
    before = common_ancestor_distances(relation)
    after = common_ancestor_distances(permute(relation, order))
    for one, other in zip(before, after, strict=True):
        assert (one[order][:, order] == other).all()


def test_two_common_ancestors_as_near_are_told_apart_by_the_graph() -> None:
    # The ancestors 0 and 1 are 1 and 2 away from 4, and 2 and 1 away from 5; 0 and 1 may change places.
    relation = (0, 0, 0b10, 0b01, 0b0101, 0b1010)
    distances = common_ancestor_distances(relation)
    swapped = common_ancestor_distances(permute(relation, [1, 0, 2, 3, 4, 5]))
    assert (distances.positive[4][5], distances.negative[4][5]) == (
        swapped.positive[4][5],
        swapped.negative[4][5],
    )


def test_a_long_function_is_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    relation = tuple(Random(line).getrandbits(line) & Random(-line).getrandbits(line) for line in range(40))
    whole = common_ancestor_distances(relation)
    monkeypatch.setattr(graph_module, "COMPARED", 3 * 40 * 40)
    assert all(map(np.array_equal, whole, common_ancestor_distances(relation)))


def test_the_interpretation_graph_follows_every_path() -> None:
    # 0: x = …   1: if …   2: x = …   3: use x      the use may read either definition
    flow = [[1], [2, 3], [3], [-1]]
    effects = [touches(writes="x"), touches(), touches(writes="x"), touches(reads="x")]
    graph = interpretation_graph(flow, effects)
    assert graph.pairs == {(0, 3), (2, 3)}
    assert (graph.paths, graph.complete) == (2, True)


def test_a_loop_is_taken_and_not_taken() -> None:
    # 0: x = 0   1: while   2: x = x + 1 (back to 1)   3: use x
    flow = [[1], [2, 3], [1], [-1]]
    effects = [touches(writes="x"), touches(), touches(reads="x", writes="x"), touches(reads="x")]
    graph = interpretation_graph(flow, effects)
    assert graph.pairs == {(0, 2), (0, 3), (2, 3)}


def test_more_paths_than_the_cap_are_said_to_be_missing() -> None:
    branches = 8
    flow = [[line + 1, line + 2] for line in range(branches)] + [[branches + 1], [-1]]
    effects = [touches() for _ in flow]
    assert not interpretation_graph(flow, effects, most=10).complete
    everything = interpretation_graph(flow, effects)
    assert everything.complete
    fibonacci = [1, 1]
    while len(fibonacci) < 20:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert everything.paths in {first + second for first, second in pairwise(fibonacci)}

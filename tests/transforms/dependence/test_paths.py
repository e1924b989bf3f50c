"""PDG distances and the interpretation graph, on graphs small enough to see."""

from itertools import pairwise

from hypothesis import given

from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.dependence.graph import (
    bits,
    closure,
    common_ancestor_distances,
    interpretation_graph,
    longest_paths,
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
    found = common_ancestor_distances(graph, longest_paths(graph))
    assert (found.positive[1][2], found.negative[1][2]) == (1, 1)
    assert (found.positive[1][3], found.negative[1][3]) == (0, 1)
    assert (found.positive[3][0], found.negative[3][0]) == (2, 0)


def test_lines_without_a_common_ancestor_are_farther_apart_than_any_path() -> None:
    found = common_ancestor_distances((0, 0, 0b1), longest_paths((0, 0, 0b1)))
    assert (found.positive[0][1], found.negative[0][1]) == (2, 2)


@given(relations(most=7))
def test_distances_are_those_of_the_nearest_common_ancestor(relation: tuple[int, ...]) -> None:
    longest = longest_paths(relation)
    found = common_ancestor_distances(relation, longest)
    reach = [mask | 1 << line for line, mask in enumerate(closure(relation))]
    for i in range(len(relation)):
        for j in range(len(relation)):
            shared = list(bits(reach[i] & reach[j]))
            assert (found.positive[i][j], found.negative[i][j]) == (
                found.negative[j][i],
                found.positive[j][i],
            )
            if shared:
                nearest = min(longest[a][i] + longest[a][j] for a in shared)
                assert found.positive[i][j] + found.negative[i][j] == nearest


def test_the_interpretation_graph_follows_every_path() -> None:
    # 0: x = …   1: if …   2: x = …   3: use x      the use may read either definition
    flow = [[1], [2, 3], [3], [-1]]
    effects = [touches(writes="x"), touches(), touches(writes="x"), touches(reads="x")]
    found = interpretation_graph(flow, effects)
    assert found.pairs == {(0, 3), (2, 3)}
    assert (found.paths, found.complete) == (2, True)


def test_a_loop_is_taken_and_not_taken() -> None:
    # 0: x = 0   1: while   2: x = x + 1 (back to 1)   3: use x
    flow = [[1], [2, 3], [1], [-1]]
    effects = [touches(writes="x"), touches(), touches(reads="x", writes="x"), touches(reads="x")]
    found = interpretation_graph(flow, effects)
    assert found.pairs == {(0, 2), (0, 3), (2, 3)}


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

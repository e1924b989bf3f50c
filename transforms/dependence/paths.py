"""The graphs that SPE attention compares the DLG with: PDG and PIG (section 2.3 and Table 2).

Both come from SYMC (Pei et al. 2023). The PDG is the program dependence graph of Ferrante, Ottenstein and
Warren 1987; SYMC biases attention by its longest distances. The PIG is the program interpretation graph: two
lines are connected if they depend on each other in some execution path.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.dependence.layers import bits, closure

PATHS: Final = 100_000
"""The most execution paths that are followed. A graph with more is incomplete and says so."""


class Distances(NamedTuple):
    """SYMC's d_ij = (p_ij, n_ij) for all pairs of lines, as two n × n tables."""

    positive: list[list[int]]
    """p_ij: longest path from the chosen common ancestor of i and j to i."""
    negative: list[list[int]]
    """n_ij: longest path from it to j."""


class InterpretationGraph(NamedTuple):
    """Pairs that depend on each other in some execution path."""

    pairs: frozenset[tuple[int, int]]
    paths: int
    """The number of paths that were followed."""
    complete: bool
    """Whether these were all paths."""


def program_dependence(data: Sequence[int], control: Sequence[int]) -> tuple[int, ...]:
    """Predecessor masks of the PDG: data and control dependences together."""
    return tuple(one | other for one, other in zip(data, control, strict=True))


def interpretation_graph(
    flow: Sequence[Sequence[int]], effects: Sequence[Effects], *, most: int = PATHS
) -> InterpretationGraph:
    """The PIG of a control-flow graph whose line 0 is the entry.

    Every path from the entry to the exit is followed, without using an edge twice, and the dependences along
    each path are collected. This makes the PIG costly.

    Args:
        flow: for each line the lines that may run after it; -1 is the exit.
        effects: the effects of each line.
        most: the bound on the number of paths.
    """
    found: set[tuple[int, int]] = set()
    number = 0
    for number, path in enumerate(_paths(flow), start=1):
        last_write: dict[str, int] = {}
        for line in path:
            found.update((last_write[name], line) for name in effects[line].reads if name in last_write)
            last_write.update(dict.fromkeys(effects[line].writes, line))
        if number == most:
            return InterpretationGraph(frozenset(found), number, complete=False)
    return InterpretationGraph(frozenset(found), number, complete=True)


def _paths(flow: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    stack: list[tuple[list[int], frozenset[tuple[int, int]]]] = [([0], frozenset())]
    while stack:
        path, used = stack.pop()
        for following in flow[path[-1]]:
            edge = (path[-1], following)
            if following < 0:
                yield path
            elif edge not in used:
                stack.append(([*path, following], used | {edge}))


def common_ancestor_distances(predecessors: Sequence[int], longest: Sequence[Sequence[int]]) -> Distances:
    """SYMC's distances from the lowest common ancestor of each pair of lines.

    The lowest common ancestor is not unique in a graph without cycles. This function takes the common
    ancestor with the smallest p + n, and among equals the last one in the text. A line is its own ancestor at
    distance 0. Pairs without a common ancestor get a constant: one more than the longest path of the graph.

    Args:
        predecessors: the graph.
        longest: its longest paths (`layers.longest_paths`).
    """
    count = len(predecessors)
    reach = [mask | 1 << line for line, mask in enumerate(closure(predecessors))]
    apart = 1 + max((length for row in longest for length in row), default=0)
    positive = [[apart] * count for _ in range(count)]
    negative = [[apart] * count for _ in range(count)]
    for first in range(count):
        for second in range(first, count):
            best = None
            for ancestor in bits(reach[first] & reach[second]):
                to_first, to_second = longest[ancestor][first], longest[ancestor][second]
                if best is None or to_first + to_second <= sum(best):
                    best = (to_first, to_second)
            if best is not None:
                positive[first][second], negative[first][second] = best
                negative[second][first], positive[second][first] = best
    return Distances(positive, negative)

"""The dependence graph between lines, and what papers and transforms compute from it.

- The layers (DLG) and the symmetry mask of SPE attention (section 4.2 and Definition 4.4). The reorder
  transforms, the canonical forms and the networks share them.
- The graphs that SPE attention compares the DLG with (section 2.3 and Table 2): PDG and PIG. Both come from
  SYMC (Pei et al. 2023). The PDG is the program dependence graph of Ferrante, Ottenstein and Warren 1987;
  SYMC biases attention by its longest distances. The PIG is the program interpretation graph: two lines are
  connected if they depend on each other in some execution path.

All functions take the graph as bit masks: bit i of `predecessors[j]` is set if line j depends on line i, with
i < j. They do not check this.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from codeaudit.transforms.dependence.effects import Effects

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DENSE: Final = 32
"""Edges per line from which a table of all pairs is faster than a list of edges."""


@dataclass(frozen=True, slots=True)
class DependenceGraph:
    """The dependences between the lines of a function. The graph has no cycle: edges run with the text."""

    predecessors: tuple[int, ...]
    """Bit u of mask v is set iff there is an edge u -> v: line v depends on line u, and u < v."""

    @property
    def n(self) -> int:
        """The number of lines."""
        return len(self.predecessors)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """All edges (u, v), sorted."""
        return tuple(
            sorted((before, line) for line, mask in enumerate(self.predecessors) for before in bits(mask))
        )


def bits(mask: int) -> Iterator[int]:
    """The positions of the set bits of a mask, lowest first."""
    while mask:
        low = mask & -mask  # the lowest set bit alone
        yield low.bit_length() - 1
        mask ^= low


def layers(predecessors: Sequence[int]) -> tuple[int, ...]:
    """The layer of every line: the length of the longest path to it from a line without dependences.

    Lines without dependences are on layer 0. One pass in text order.
    """
    depths: list[int] = []
    levels: list[int] = []
    for line, mask in enumerate(predecessors):
        # A line that depends on many lines mostly depends on one of the deepest so far. So the deepest layers
        # are looked at first, but no more of them than there are lines to look at.
        deepest = len(levels) - 1
        lowest = deepest - mask.bit_count()
        while deepest > lowest and not mask & levels[deepest]:
            deepest -= 1
        if deepest == lowest:
            deepest = max((depths[before] for before in bits(mask)), default=-1)
        deepest += 1
        if deepest == len(levels):
            levels.append(0)
        levels[deepest] |= 1 << line
        depths.append(deepest)
    return tuple(depths)


def symmetry_mask(predecessors: Sequence[int], layer: Sequence[int] | None = None) -> tuple[int, ...]:
    """The rows of the symmetry mask M (n × n) as bit masks (SPE attention, Definition 4.4).

    M_ij = 1 iff lines i and j are on one layer (so M_ii = 1), or the DLG has an edge i -> j.

    Args:
        predecessors: the graph.
        layer: the layers of the lines, if they are known already.
    """
    layer = layers(predecessors) if layer is None else layer
    same: dict[int, int] = {}
    for line, number in enumerate(layer):
        same[number] = same.get(number, 0) | 1 << line
    return tuple(same[layer[line]] | mask for line, mask in enumerate(_transposed(predecessors)))


def _transposed(masks: Sequence[int]) -> Sequence[int]:
    """Bit i of mask j becomes bit j of mask i."""
    count = len(masks)
    if sum(mask.bit_count() for mask in masks) <= DENSE * count:
        rows = [0] * count
        for line, mask in enumerate(masks):
            for before in bits(mask):
                rows[before] |= 1 << line
        return rows
    import numpy as np  # `--help` needs none

    width = (count + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), np.uint8)
    table = np.unpackbits(packed.reshape(count, width), axis=1, count=count, bitorder="little")
    turned = np.packbits(table.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in turned]


def closure(predecessors: Sequence[int]) -> tuple[int, ...]:
    """For each line the mask of all lines that it depends on, directly or through others."""
    closures: list[int] = []
    for mask in predecessors:
        everything = mask
        # Edges run with the text, so the closures of all predecessors are complete. The last line comes
        # first: what it depends on adds nothing more.
        while mask:
            last = mask.bit_length() - 1
            everything |= closures[last]
            mask &= ~(closures[last] | 1 << last)
        closures.append(everything)
    return tuple(closures)


def reduction(predecessors: Sequence[int]) -> tuple[int, ...]:
    """The smallest graph with the same closure: without the edges that a longer path implies."""
    ancestors = closure(predecessors)
    reduced = []
    for mask in predecessors:
        edges = 0
        # What a predecessor depends on is implied by the path through that predecessor.
        while mask:
            last = mask.bit_length() - 1
            edges |= 1 << last
            mask &= ~(ancestors[last] | 1 << last)
        reduced.append(edges)
    return tuple(reduced)


def longest_paths(predecessors: Sequence[int]) -> list[list[int]]:
    """The length of the longest path from u to v, in row u and column v; 0 on the diagonal, -1 without a
    path.

    O(V · E). The distances of SYMC (Pei et al. 2023) are computed from it (`common_ancestor_distances`).
    """
    count = len(predecessors)
    table = [[-1] * count for _ in range(count)]
    before = [list(bits(mask)) for mask in predecessors]
    for source in range(count):
        row = table[source]
        row[source] = 0
        for line in range(source + 1, count):
            longest = -1
            for previous in before[line]:
                # No path from `source` leads through an earlier line.
                if previous >= source and row[previous] > longest:
                    longest = row[previous]
            if longest >= 0:
                row[line] = longest + 1
    return table


def permute(predecessors: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """The graph after the lines are put into another order: line `order[k]` becomes line k.

    If the order is legal, the edges still run with the text.
    """
    place = {line: position for position, line in enumerate(order)}
    return tuple(sum(1 << place[before] for before in bits(predecessors[line])) for line in order)


COMPARED: Final = 2**18
"""Keys of common ancestors that are compared at once."""

PATHS: Final = 100_000
"""The most execution paths that are followed. A graph with more is incomplete and says so."""


class Distances(NamedTuple):
    """SYMC's d_ij = (p_ij, n_ij) for all pairs of lines, as two n × n tables."""

    positive: "npt.NDArray[np.int64]"
    """p_ij: longest path from the chosen common ancestor of i and j to i."""
    negative: "npt.NDArray[np.int64]"
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
    edges: set[tuple[int, int]] = set()
    number = 0
    for number, path in enumerate(_paths(flow), start=1):
        last_write: dict[str, int] = {}
        for line in path:
            edges.update((last_write[name], line) for name in effects[line].reads if name in last_write)
            last_write.update(dict.fromkeys(effects[line].writes, line))
        if number == most:
            return InterpretationGraph(frozenset(edges), number, complete=False)
    return InterpretationGraph(frozenset(edges), number, complete=True)


def _paths(flow: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    # A path uses no edge twice, so it is finite although the graph has loops.
    stack: list[tuple[list[int], frozenset[tuple[int, int]]]] = [([0], frozenset())]
    while stack:
        path, used = stack.pop()
        for following in flow[path[-1]]:
            edge = (path[-1], following)
            if following < 0:
                yield path
            elif edge not in used:
                stack.append(([*path, following], used | {edge}))


def common_ancestor_distances(predecessors: Sequence[int]) -> Distances:
    """SYMC's distances from the lowest common ancestor of each pair of lines.

    The lowest common ancestor is not unique in a graph without cycles. This function takes the common
    ancestor with the smallest p + n, among equals the deepest, then the one with the smallest p. So the
    distances depend on the graph alone, and a legal order permutes them. A line is its own ancestor at
    distance 0. Pairs without a common ancestor get a constant: one more than the longest path of the graph.
    """
    import numpy as np  # `--help` needs none

    count = len(predecessors)
    paths = np.array(longest_paths(predecessors), np.int64).reshape(count, count)
    apart = 1 + int(paths.max(initial=0))
    depth = paths.max(0, initial=0)
    absent = 4 * apart**3  # beyond every other key
    to_first = (paths * (apart**2 + 1) + ((apart - depth) * apart)[:, None]).clip(0)
    to_first[paths < 0] = absent
    to_second = np.where(paths < 0, absent, paths * apart**2)
    nearest = np.empty((count, count), np.int64)
    missing = np.empty((count, count), bool)
    rows = max(1, COMPARED // max(1, count**2))
    for start in range(0, count, rows):
        part = slice(start, start + rows)
        keys = to_first[:, part, None] + to_second[:, None]
        nearest[part] = keys.argmin(0)
        missing[part] = keys.min(0) >= absent
    lines = np.arange(count)
    positive, negative = paths[nearest, lines[:, None]], paths[nearest, lines]
    positive[missing] = negative[missing] = apart
    return Distances(positive, negative)

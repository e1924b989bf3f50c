"""The directed layered graph (DLG), the symmetry mask, and longest paths of a dependence graph.

Source: SPE attention, section 4.2 (DLG) and Definition 4.4 (mask). They are computed in this module only; the
reorder transforms, the canonical forms and the networks share them.

All functions take the graph as bit masks: bit i of `predecessors[j]` is set if line j depends on line i, with
i < j. They do not check this.
"""

from collections.abc import Iterator, Sequence


def bits(mask: int) -> Iterator[int]:
    """The positions of the set bits of a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def layers(predecessors: Sequence[int]) -> tuple[int, ...]:
    """The layer of every line: the length of the longest path to it from a line without dependences.

    Lines without dependences are on layer 0. One pass in text order, O(V + E).
    """
    found: list[int] = []
    for mask in predecessors:
        deepest = -1
        while mask:
            low = mask & -mask
            layer = found[low.bit_length() - 1]
            if layer > deepest:
                deepest = layer
            mask ^= low
        found.append(deepest + 1)
    return tuple(found)


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
    rows = [same[number] for number in layer]
    for line, mask in enumerate(predecessors):
        for before in bits(mask):
            rows[before] |= 1 << line
    return tuple(rows)


def closure(predecessors: Sequence[int]) -> tuple[int, ...]:
    """For each line the mask of all lines that it depends on, directly or through others."""
    found: list[int] = []
    for mask in predecessors:
        everything = mask
        # Edges run with the text, so the closures of all predecessors are complete.
        for before in bits(mask):
            everything |= found[before]
        found.append(everything)
    return tuple(found)


def reduction(predecessors: Sequence[int]) -> tuple[int, ...]:
    """The smallest graph with the same closure: without the edges that a longer path implies."""
    ancestors = closure(predecessors)
    reduced = []
    for mask in predecessors:
        implied = 0
        for before in bits(mask):
            implied |= ancestors[before]
        reduced.append(mask & ~implied)
    return tuple(reduced)


def longest_paths(predecessors: Sequence[int]) -> list[list[int]]:
    """The length of the longest path from u to v, in row u and column v; 0 on the diagonal, -1 without a
    path.

    O(V · E). The distances of SYMC (Pei et al. 2023) are computed from it (`paths`).
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

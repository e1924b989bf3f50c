"""Legal orders of a block: the linear extensions of its conflict relation. Count, sample, check, enumerate.

`count` and `sample` first take the relation apart: the counts of parallel parts multiply with a multinomial,
the counts of parts in series multiply. A part that cannot be taken apart is counted exactly by dynamic
programming over its down-sets. Brightwell and Winkler 1991 show that counting is #P-complete in general, so
the number of down-sets is bounded. A part beyond the bound is sampled with the Markov chain of Karzanov and
Khachiyan 1991 on adjacent transpositions; its samples are legal but only roughly uniform. The chain runs in
sweeps over all even pairs of neighbours, then over all odd ones, as in Wilson 2004.

How the last relations come apart, and their tables, are kept: the variants of one text draw from the same
ones.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, comb, log
from random import Random
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from codeaudit.transforms.dependence.graph import bits, closure, layers, reduction

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DOWN_SETS: Final = 20_000
"""The most down-sets of one indecomposable part that the exact method visits."""

CHAIN_STEPS: Final = 200_000
"""The most steps of the Markov chain. Wilson 2004 bounds mixing by (4/π²) n³ ln(n/ε). Beyond about 60
statements in one indecomposable part this cap is lower than the bound, so the sample is legal but only
roughly uniform.
"""

DEEPEST: Final = 400
"""The most statements of one indecomposable part for the exact method."""

_Shape: TypeAlias = Literal["one", "parallel", "series", "prime"]


def count(predecessors: Sequence[int]) -> int | None:
    """The number of legal orders, exactly; `None` if a bound of the exact method is exceeded."""
    return _whole(tuple(predecessors)).count


def sample(predecessors: Sequence[int], rng: Random) -> tuple[int, ...]:
    """One legal order, as old indices in their new order. It is exactly uniform if `count` gives a number."""
    return tuple(_sample(_whole(tuple(predecessors)), rng))


def is_legal(predecessors: Sequence[int], order: Sequence[int]) -> bool:
    """Whether an order is a permutation that keeps every dependence pair."""
    placed = 0
    for line in order:
        if line >= len(predecessors) or predecessors[line] & ~placed or placed >> line & 1:
            return False
        placed |= 1 << line
    return placed == (1 << len(predecessors)) - 1


def enumerate_orders(predecessors: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every legal order once, lexicographically; the first is the identity."""
    total = len(predecessors)
    chosen: list[int] = []

    def extend(placed: int) -> Iterator[tuple[int, ...]]:
        if len(chosen) == total:
            yield tuple(chosen)
            return
        for line in range(total):
            if not placed >> line & 1 and not predecessors[line] & ~placed:
                chosen.append(line)
                yield from extend(placed | 1 << line)
                chosen.pop()

    yield from extend(0)


def _parts(ancestors: Sequence[int], nodes: tuple[int, ...]) -> tuple[_Shape, list[tuple[int, ...]]]:
    """How the relation on `nodes` (in text order) comes apart: `parallel` or `series` with the parts, or
    `prime`; a single node is `one`.
    """
    if len(nodes) <= 1:
        return "one", []
    inside = sum(1 << node for node in nodes)
    parallel = _components(ancestors, nodes, inside)
    if len(parallel) > 1:
        return "parallel", parallel
    cuts = []
    below = 0
    # A cut stands where everything after it depends on everything before it.
    common = [inside] * (len(nodes) + 1)
    for place in range(len(nodes) - 1, -1, -1):
        common[place] = common[place + 1] & ancestors[nodes[place]]
    for place in range(1, len(nodes)):
        below |= 1 << nodes[place - 1]
        if not below & ~common[place]:
            cuts.append(place)
    if not cuts:
        return "prime", []
    edges = [0, *cuts, len(nodes)]
    return "series", [nodes[start:end] for start, end in pairwise(edges)]


def _components(ancestors: Sequence[int], nodes: tuple[int, ...], inside: int) -> list[tuple[int, ...]]:
    groups: list[int] = []
    # Union of overlapping sets; `ancestors` is closed, so an ancestor and its descendant share a set at once.
    for node in nodes:
        group = (ancestors[node] & inside) | 1 << node
        apart = []
        for other in groups:
            if other & group:
                group |= other
            else:
                apart.append(other)
        groups = [*apart, group]
    return sorted(tuple(bits(group)) for group in groups)


@dataclass(eq=False)  # one part is itself alone
class _Part:
    """Some nodes of a relation, in the order of the text, and how the relation on them comes apart."""

    nodes: tuple[int, ...]
    shape: _Shape
    parts: "tuple[_Part, ...]"
    """Empty for a single node and for a prime part."""
    table: "_DownSets | None" = None
    """The table of down-sets of a prime part; `None` for other parts."""

    @cached_property
    def count(self) -> int | None:
        """The number of legal orders of the nodes; `None` if it is not known."""
        if self.table is not None:
            return self.table.total
        total, size = 1, 0
        for part in self.parts:
            size += len(part.nodes)
            if part.count is None:
                return None
            # Parallel parts: choose the places of each part among those of all parts so far.
            total *= part.count * (comb(size, len(part.nodes)) if self.shape == "parallel" else 1)
        return total


@lru_cache(maxsize=16)
def _whole(predecessors: tuple[int, ...]) -> _Part:
    """A relation taken apart."""
    return _apart(closure(predecessors), tuple(range(len(predecessors))))


def _apart(ancestors: Sequence[int], nodes: tuple[int, ...]) -> _Part:
    shape, parts = _parts(ancestors, nodes)
    table = _DownSets(ancestors, nodes) if shape == "prime" else None
    return _Part(nodes, shape, tuple(_apart(ancestors, part) for part in parts), table)


def _sample(part: _Part, rng: Random) -> list[int]:
    if part.shape == "one":
        return list(part.nodes)
    if part.table is not None:
        return [part.nodes[place] for place in part.table.sample(rng)]
    drawn = [_sample(inner, rng) for inner in part.parts]
    if part.shape == "series":
        return [node for order in drawn for node in order]
    # Every interleaving of the parts is equally likely, so the whole order is uniform if the parts are.
    owners = [number for number, order in enumerate(drawn) for _ in order]
    rng.shuffle(owners)
    streams = [iter(order) for order in drawn]
    return [next(streams[owner]) for owner in owners]


class _DownSets:
    """The orders of one indecomposable part, whose nodes are numbered from 0.

    If the part is within the bounds, the table holds the number of ways to continue from each down-set.
    """

    def __init__(self, ancestors: Sequence[int], nodes: tuple[int, ...]) -> None:
        inside = sum(1 << node for node in nodes)
        place = {node: number for number, node in enumerate(nodes)}
        self._ancestors = [
            sum(1 << place[before] for before in bits(ancestors[node] & inside)) for node in nodes
        ]

    @property
    def total(self) -> int | None:
        """The number of orders of the part; `None` beyond the bounds."""
        return self._continued[0] if self._continued else None

    @cached_property
    def _continued(self) -> dict[int, int]:
        """The number of ways to continue from each down-set, as a mask of nodes; empty beyond the bounds."""
        size = len(self._ancestors)
        # No two nodes of a layer depend on each other, so all layers below with any set of them are one more
        # down-set.
        widths = Counter(layers(self._ancestors)).values()
        if size > DEEPEST or sum((1 << width) - 1 for width in widths) >= DOWN_SETS:
            return {}
        after: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        # A node may come as soon as the last of its direct predecessors is placed.
        for node, before in enumerate(reduction(self._ancestors)):
            for other in bits(before):
                after[other].append((1 << node, before))
        # Down-sets of k nodes, each with the mask of the nodes that may come next.
        steps = [{0: sum(1 << node for node, before in enumerate(self._ancestors) if not before)}]
        total = 1
        for _ in range(size):
            following: dict[int, int] = {}
            for placed, free in steps[-1].items():
                for node in bits(free):
                    larger = placed | 1 << node
                    if larger in following:
                        continue
                    rest = free & ~(1 << node)
                    for bit, before in after[node]:
                        if not before & ~larger:
                            rest |= bit
                    following[larger] = rest
            total += len(following)
            if total > DOWN_SETS:
                return {}
            steps.append(following)
        continued = {(1 << size) - 1: 1}
        for step in reversed(steps[:-1]):
            for placed, free in step.items():
                continued[placed] = sum(continued[placed | 1 << node] for node in bits(free))
        return continued

    def sample(self, rng: Random) -> list[int]:
        """One order of the part; exactly uniform within the bounds."""
        continued = self._continued
        if not continued:
            return self._walk(rng)
        order: list[int] = []
        placed = 0
        for _ in self._ancestors:
            # Each next node with the share of the orders that begin so: the whole order is exactly uniform.
            ticket = rng.randrange(continued[placed])
            for node, before in enumerate(self._ancestors):
                if placed >> node & 1 or before & ~placed:
                    continue
                ticket -= continued[placed | 1 << node]
                if ticket < 0:
                    break
            order.append(node)
            placed |= 1 << node
        return order

    @cached_property
    def _related(self) -> "npt.NDArray[np.bool_]":
        """Row j, column i: whether node j depends on node i."""
        import numpy as np

        size = len(self._ancestors)
        width = (size + 7) // 8
        packed = b"".join(mask.to_bytes(width, "little") for mask in self._ancestors)
        rows = np.frombuffer(packed, np.uint8).reshape(size, width)
        return np.unpackbits(rows, axis=1, count=size, bitorder="little").astype(bool)

    def _walk(self, rng: Random) -> list[int]:
        import numpy as np

        related, size = self._related, len(self._ancestors)
        # 0.41 ≥ 4/π²; the 0.01 is ε, the distance from uniform in total variation. A step of the lazy chain
        # looks at a pair every second time, so two sweeps, over all even and all odd pairs, stand for
        # `2 * size` steps.
        steps = min(CHAIN_STEPS, int(0.41 * size**3 * log(size / 0.01)) + 1)
        rounds = ceil(steps / (2 * size))
        order = np.arange(size)
        drawn = np.frombuffer(rng.randbytes(rounds * ((size + 7) // 8)), np.uint8)
        coins = np.unpackbits(drawn).astype(bool).reshape(rounds, -1)
        for coin in coins:
            for first in (0, 1):
                earlier, later = order[first : size - 1 : 2], order[first + 1 :: 2]
                # A coin for each pair: without it the chain would have a period.
                swap = coin[first : size - 1 : 2] & ~related[later, earlier]
                moved = (later - earlier) * swap
                earlier += moved
                later -= moved
        return [int(node) for node in order]

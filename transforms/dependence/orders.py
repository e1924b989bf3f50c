"""Legal orders of a block: the linear extensions of its conflict relation. Count, sample, check, enumerate.

`count` and `sample` first take the relation apart: the counts of parallel parts multiply with a multinomial,
the counts of parts in series multiply. A part that cannot be taken apart is counted exactly by dynamic
programming over its down-sets. Brightwell and Winkler 1991 show that counting is #P-complete in general, so
the number of down-sets is bounded. A part beyond the bound is sampled with the Markov chain of Karzanov and
Khachiyan 1991 on adjacent transpositions; its samples are legal but only roughly uniform.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import comb, log
from random import Random
from typing import Final

from codeaudit.transforms.dependence.graph import bits, closure

DOWN_SETS: Final = 20_000
"""The most down-sets of one indecomposable part that the exact method visits."""

CHAIN_STEPS: Final = 200_000
"""The most steps of the Markov chain. Wilson 2004 bounds mixing by (4/π²) n³ ln(n/ε). Beyond about 60
statements in one indecomposable part this cap is lower than the bound, so the sample is legal but only
roughly uniform.
"""

DEEPEST: Final = 400
"""The most statements of one indecomposable part for the exact method, which recurses once per statement."""


class TooManyOrders(Exception):  # noqa: N818 - it is caught here and names what was met
    """The exact method met one of its bounds."""


def count(predecessors: Sequence[int]) -> int | None:
    """The number of legal orders, exactly; `None` if a bound of the exact method is exceeded."""
    try:
        return _count(closure(predecessors), tuple(range(len(predecessors))))
    except TooManyOrders:
        return None


def sample(predecessors: Sequence[int], rng: Random) -> tuple[int, ...]:
    """One legal order, as old indices in their new order. It is exactly uniform if `count` gives a number."""
    return tuple(_sample(closure(predecessors), tuple(range(len(predecessors))), rng))


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


def _parts(ancestors: Sequence[int], nodes: tuple[int, ...]) -> tuple[str, list[tuple[int, ...]]]:
    """How the relation on `nodes` (in text order) comes apart: `parallel` or `series` with the parts, or
    `prime`.
    """
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
        return "prime", [nodes]
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


def _count(ancestors: Sequence[int], nodes: tuple[int, ...]) -> int:
    if len(nodes) <= 1:
        return 1
    shape, parts = _parts(ancestors, nodes)
    if shape == "prime":
        return _DownSets(ancestors, nodes).count(0)
    total, size = 1, 0
    for part in parts:
        size += len(part)
        # Parallel parts: choose the places of each part among those of all parts so far.
        total *= _count(ancestors, part) * (comb(size, len(part)) if shape == "parallel" else 1)
    return total


def _sample(ancestors: Sequence[int], nodes: tuple[int, ...], rng: Random) -> list[int]:
    if len(nodes) <= 1:
        return list(nodes)
    shape, parts = _parts(ancestors, nodes)
    if shape == "prime":
        return _sample_prime(ancestors, nodes, rng)
    drawn = [_sample(ancestors, part, rng) for part in parts]
    if shape == "series":
        return [node for part in drawn for node in part]
    # Every interleaving of the parts is equally likely, so the whole order is uniform if the parts are.
    owners = [number for number, part in enumerate(drawn) for _ in part]
    rng.shuffle(owners)
    streams = [iter(part) for part in drawn]
    return [next(streams[owner]) for owner in owners]


def _sample_prime(ancestors: Sequence[int], nodes: tuple[int, ...], rng: Random) -> list[int]:
    table = _DownSets(ancestors, nodes)
    try:
        table.count(0)
    except TooManyOrders:
        return _walk(ancestors, list(nodes), rng)
    order: list[int] = []
    placed = 0
    while len(order) < len(nodes):
        free = table.free(placed)
        # Each next node with the share of the orders that begin so: the whole order is exactly uniform.
        ticket = rng.randrange(table.count(placed))
        for node in free:
            ticket -= table.count(placed | 1 << node)
            if ticket < 0:
                break
        order.append(node)
        placed |= 1 << node
    return order


def _walk(ancestors: Sequence[int], order: list[int], rng: Random) -> list[int]:
    size = len(order)
    # 0.41 ≥ 4/π²; the 0.01 is ε, the distance from uniform in total variation.
    steps = min(CHAIN_STEPS, int(0.41 * size**3 * log(size / 0.01)) + 1)
    for _ in range(steps):
        place = rng.randrange(2 * (size - 1))  # the lower half stays: a lazy chain has no period
        if place < size - 1:
            first, second = order[place], order[place + 1]
            if not ancestors[second] >> first & 1:
                order[place], order[place + 1] = second, first
    return order


class _DownSets:
    """The number of ways to continue from each down-set of one part, computed on demand."""

    def __init__(self, ancestors: Sequence[int], nodes: tuple[int, ...]) -> None:
        inside = sum(1 << node for node in nodes)
        self._nodes = [(node, ancestors[node] & inside) for node in nodes]
        self._counts: dict[int, int] = {inside: 1}

    def free(self, placed: int) -> list[int]:
        """The nodes that may come next."""
        return [node for node, before in self._nodes if not placed >> node & 1 and not before & ~placed]

    def count(self, placed: int) -> int:
        """The number of legal orders of the nodes that are not yet placed.

        Raises:
            TooManyOrders: the part has too many down-sets or too many statements.
        """
        known = self._counts.get(placed)
        if known is not None:
            return known
        if len(self._counts) > DOWN_SETS or len(self._nodes) > DEEPEST:
            raise TooManyOrders
        total = sum(self.count(placed | 1 << node) for node in self.free(placed))
        self._counts[placed] = total
        return total

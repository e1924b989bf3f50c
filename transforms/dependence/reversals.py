"""Orders that break exactly one dependence: what controls of reordering are made of."""

from collections.abc import Iterator, Sequence

from codeaudit.transforms.dependence.layers import bits, closure, reduction


def reversible(predecessors: Sequence[int], true: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs (definition, use) of a true dependence that no third element stands between."""
    for use, mask in enumerate(reduction(predecessors)):
        yield from ((definition, use) for definition in bits(mask & true[use]))


def reversed_pair(predecessors: Sequence[int], definition: int, use: int) -> tuple[int, ...]:
    """An order in which `use` stands directly before `definition` and every other pair keeps its order."""
    ancestors = closure(predecessors)
    before = (ancestors[use] | ancestors[definition]) & ~(1 << definition)
    rest = ((1 << len(predecessors)) - 1) & ~before & ~(1 << definition) & ~(1 << use)
    return (*bits(before), use, definition, *bits(rest))


def broken(predecessors: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
    """The dependence pairs that an order reverses; `None` where it is no permutation."""
    if sorted(order) != list(range(len(predecessors))):
        return None
    place = {element: number for number, element in enumerate(order)}
    return tuple(
        (before, element)
        for element, mask in enumerate(predecessors)
        for before in bits(mask)
        if place[before] > place[element]
    )

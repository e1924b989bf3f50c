"""Orders as moves, milder ones of them, and orders that break exactly one dependence."""

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.orders import enumerate_orders, is_legal
from codeaudit.transforms.records import Move
from codeaudit.transforms.reordering import broken, milder, reversed_pair, reversible, swaps

ORDERS = st.integers(2, 6).flatmap(lambda n: st.permutations(range(n)))
RELATIONS = st.integers(2, 5).flatmap(lambda n: st.tuples(*(st.integers(0, 2**k - 1) for k in range(n))))
"""For each statement those before it that stay before it, as bits."""


def order(*value: int) -> Move:
    return Move(kind="order", site=0, value=value, note="")


def inversions(value: tuple[int, ...]) -> set[tuple[int, int]]:
    return {(b, a) for a, b in combinations(value, 2) if a > b}


def values(move: Move) -> list[tuple[int, ...]]:
    return [each.value for each in milder(move) if isinstance(each.value, tuple)]


def test_an_exchange_of_neighbours_has_nothing_milder() -> None:
    assert values(order(1, 0, 2)) == []
    assert values(Move(kind="rename", site=0, value="x", note="")) == []


def test_exchanges_of_the_original_come_first() -> None:
    assert values(order(2, 1, 0)) == [(1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)]
    assert next(milder(order(2, 1, 0))).note == "statements 1, 2 -> 2, 1"


@given(ORDERS)
def test_milder_orders_do_part_of_what_the_order_does(drawn: list[int]) -> None:
    value = tuple(drawn)
    for less in values(order(*value)):
        assert inversions(less) < inversions(value)


@given(ORDERS)
def test_every_order_leads_down_to_an_exchange_of_neighbours(drawn: list[int]) -> None:
    value = tuple(drawn)
    while inversions(value):
        if len(inversions(value)) == 1:
            return
        value = values(order(*value))[-1]
    assert value == tuple(sorted(value))


@given(RELATIONS)
def test_the_swaps_of_a_block_are_its_legal_orders_with_one_exchange(relation: tuple[int, ...]) -> None:
    block = StatementBlock((), relation, None, ())
    legal = [ordering for ordering in enumerate_orders(relation) if len(inversions(tuple(ordering))) == 1]
    assert sorted(map(tuple, swaps(block))) == sorted(map(tuple, legal))
    assert not list(swaps(block._replace(fixed="a reason")))


@given(RELATIONS)
def test_putting_two_neighbours_right_stays_legal(relation: tuple[int, ...]) -> None:
    assert tuple(range(len(relation))) in enumerate_orders(relation)
    for legal in enumerate_orders(relation):
        for less in values(order(*legal)):
            if len(inversions(legal) - inversions(less)) == 1:
                assert is_legal(relation, less)


def test_a_reversed_pair_is_the_only_one_that_is_broken() -> None:
    rng = Random(4)
    tried = 0
    for _ in range(300):
        size = rng.randrange(2, 9)
        predecessors = [0] * size
        for before, element in combinations(range(size), 2):
            if rng.random() < 0.3:
                predecessors[element] |= 1 << before
        for pair in reversible(predecessors, predecessors):
            tried += 1
            assert broken(predecessors, reversed_pair(predecessors, *pair)) == (pair,)
    assert tried > 300


def test_a_pair_that_something_stands_between_is_not_reversible() -> None:
    assert list(reversible((0, 0b1, 0b11), (0, 0b1, 0b11))) == [(0, 1), (1, 2)]


def test_only_true_dependences_are_reversed() -> None:
    assert list(reversible((0, 0b1, 0b1), (0, 0, 0b1))) == [(0, 2)]


def test_a_legal_order_breaks_nothing_and_no_permutation_is_no_order() -> None:
    assert broken((0, 0, 0b1), (1, 0, 2)) == ()
    assert is_legal((0, 0, 0b1), (1, 0, 2))
    assert broken((0, 0, 0b1), (0, 0, 2)) is None

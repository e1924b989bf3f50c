"""Orders that break exactly one dependence."""

from itertools import combinations
from random import Random

from codeaudit.transforms.breaking import broken, reversed_pair, reversible
from codeaudit.transforms.dependence.orders import is_legal


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

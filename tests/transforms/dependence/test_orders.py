"""Counting, enumerating and sampling linear extensions."""

from collections import Counter
from itertools import permutations
from math import factorial
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.dependence import orders


def _uniform(seen: list[int]) -> bool:
    from scipy.stats import chisquare  # takes long to import

    return bool(chisquare(seen).pvalue > 0.001)


@st.composite
def relations(draw: st.DrawFn, most: int = 6) -> tuple[int, ...]:
    """Any relation whose edges run with the text."""
    size = draw(st.integers(1, most))
    return tuple(draw(st.integers(0, (1 << line) - 1)) for line in range(size))


@given(relations())
def test_count_and_enumeration_agree_with_trying_every_permutation(relation: tuple[int, ...]) -> None:
    legal = [order for order in permutations(range(len(relation))) if orders.is_legal(relation, order)]
    assert legal == list(orders.enumerate_orders(relation))
    assert len(legal) == orders.count(relation)


@given(relations(most=12), st.randoms(use_true_random=False))
def test_every_sampled_order_keeps_every_pair(relation: tuple[int, ...], rng: Random) -> None:
    order = orders.sample(relation, rng)
    place = {line: number for number, line in enumerate(order)}
    assert sorted(order) == list(range(len(relation)))
    for line, mask in enumerate(relation):
        assert all(place[before] < place[line] for before in range(line) if mask >> before & 1)


@given(relations())
def test_every_order_outside_the_set_breaks_a_pair(relation: tuple[int, ...]) -> None:
    legal = set(orders.enumerate_orders(relation))
    for order in permutations(range(len(relation))):
        place = {line: number for number, line in enumerate(order)}
        broken = any(
            mask >> before & 1 and place[before] > place[line]
            for line, mask in enumerate(relation)
            for before in range(line)
        )
        assert broken == (order not in legal)


@pytest.mark.parametrize(
    "relation",
    [
        pytest.param((0, 0, 0b1, 0b11, 0b10, 0b101), id="a relation that does not come apart"),
        pytest.param((0, 0b1, 0, 0b100, 0), id="three parts in parallel"),
        pytest.param((0, 0, 0b11, 0b100, 0b100), id="parts in series"),
    ],
)
def test_sampling_is_uniform(relation: tuple[int, ...]) -> None:
    rng = Random(7)
    legal = list(orders.enumerate_orders(relation))
    seen = Counter(orders.sample(relation, rng) for _ in range(400 * len(legal)))
    assert _uniform([seen[order] for order in legal])


def test_sixty_independent_statements_are_counted_exactly() -> None:
    assert orders.count((0,) * 60) == factorial(60)


@pytest.mark.slow
def test_a_big_relation_is_not_counted_but_still_sampled_legally() -> None:
    rng = Random(3)
    relation = tuple(sum(1 << u for u in range(v) if rng.random() < 0.08) for v in range(70))
    assert orders.count(relation) is None
    order = orders.sample(relation, rng)
    assert orders.is_legal(relation, order)
    assert list(order) != sorted(order)


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (0, 1, 3), (1, 0, 2)])
def test_what_is_no_permutation_or_breaks_a_pair_is_illegal(order: tuple[int, ...]) -> None:
    assert not orders.is_legal((0, 0b1, 0), order)


def _entangled(size: int, seed: int, span: int) -> tuple[int, ...]:
    """Each element depends on two of the `span` elements before it."""
    rng = Random(seed)
    return tuple(
        sum({1 << rng.randrange(max(0, line - span), line) for _ in range(2)}) if line else 0
        for line in range(size)
    )


@given(relations(most=9))
def test_what_was_taken_apart_before_gives_the_same_draws(relation: tuple[int, ...]) -> None:
    orders._whole.cache_clear()
    first = [orders.sample(relation, Random(seed)) for seed in range(3)]
    hits = orders._whole.cache_info().hits
    assert [orders.sample(relation, Random(seed)) for seed in range(3)] == first
    assert orders._whole.cache_info().hits == hits + 3


@pytest.mark.thinned(2)
@pytest.mark.parametrize("bound", [1, 2, 5, 20_000])
@given(relations())
def test_beyond_the_bound_nothing_is_counted_and_every_draw_is_legal(
    bound: int, relation: tuple[int, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "DOWN_SETS", bound)
        orders._whole.cache_clear()
        assert orders.count(relation) in (None, len(list(orders.enumerate_orders(relation))))
        assert orders.is_legal(relation, orders.sample(relation, Random(1)))
    orders._whole.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    "relation", [(0, 0, 0b1, 0b11, 0b10, 0b101), (0, 0, 0b1, 0b11, 0b10), (0, 0b1, 0, 0b101, 0b100)]
)
def test_the_chain_is_uniform(relation: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "DOWN_SETS", 1)
    orders._whole.cache_clear()
    assert orders.count(relation) is None
    rng = Random(7)
    legal = list(orders.enumerate_orders(relation))
    seen = Counter(orders.sample(relation, rng) for _ in range(100 * len(legal)))
    orders._whole.cache_clear()
    assert set(seen) == set(legal)
    assert _uniform([seen[order] for order in legal])


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("span", [30, 400])
def test_four_variants_of_400_entangled_statements_cost_as_little_as_a_loop(span: int) -> None:
    """Relative to two million additions (50 ms on a fast core), because machines and their load differ."""
    orders.sample(_entangled(400, 99, 400), Random())  # NumPy is imported once

    def share(seed: int) -> float:
        relation = _entangled(400, seed, span)
        begin = process_time()
        for variant in range(4):
            orders.sample(relation, Random(variant))
        middle, total = process_time(), 0
        for number in range(2_000_000):
            total += number & 7
        return (middle - begin) / (process_time() - middle)

    assert min(map(share, range(5))) <= 1

"""How far the answers of a sampled model moved."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics.distances import Draws, Moved, distance, mean_distance, numbered

FAIR, LEANING = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)


def drawn(
    rng: np.random.Generator, shares: Sequence[Sequence[float]], size: int, *, shared: bool = False
) -> Draws:
    """Draws of an original and its variants; `shared`: those of one number have the same random number."""
    points = np.tile(rng.random(size), (len(shares), 1)) if shared else rng.random((len(shares), size))
    rows = [
        np.searchsorted(np.cumsum(share), point).tolist() for share, point in zip(shares, points, strict=True)
    ]
    draws = numbered(rows[0], rows[1:])
    assert draws is not None
    return draws


def half_squared(one: Sequence[float], other: Sequence[float]) -> float:
    return sum((mine - its) ** 2 for mine, its in zip(one, other, strict=True)) / 2


def test_by_hand() -> None:
    """`a a b` against `a b b`. Of the 6 pairs of different numbers 1-2, 1-3, 2-1, 2-3, 3-1, 3-2 across, 1-2, 1-3,
    2-3 and 3-1 differ. Within each, 4 of 6 do.
    """
    draws = numbered(["a", "a", "b"], [["a", "b", "b"]])
    assert draws == ((0, 0, 1), (0, 1, 1))
    assert distance(draws) == Fraction(4, 6) - (Fraction(4, 6) + Fraction(4, 6)) / 2 == 0


def test_the_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        draws = drawn(rng, [FAIR, LEANING, FAIR], 4)
        first, *others = draws
        pairs = list(permutations(range(4), 2))

        gaps = [
            sum(
                (first[i] != other[j]) - Fraction((first[i] != first[j]) + (other[i] != other[j]), 2)
                for i, j in pairs
            )
            for other in others
        ]
        assert distance(draws) == sum(gaps) / 2 / len(pairs)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("after", [FAIR, LEANING])
def test_it_has_no_bias_with_shared_random_numbers_too(after: Sequence[float], shared: bool) -> None:
    rng = np.random.default_rng(1)
    distances = [float(distance(drawn(rng, [FAIR, after], 3, shared=shared))) for _ in range(6000)]
    assert np.mean(distances) == pytest.approx(
        half_squared(FAIR, after), abs=4 * np.std(distances) / 6000**0.5
    )


def test_answers_that_never_agree_are_one_apart_and_steady_ones_zero() -> None:
    other, same = numbered(["a"] * 4, [["b"] * 4]), numbered(["a"] * 4, [["a"] * 4])
    assert other is not None
    assert same is not None
    assert (float(distance(other)), float(distance(same))) == (1.0, 0.0)
    both = numbered(["a"] * 3, [["a"] * 3, ["b"] * 3])
    assert both is not None
    assert distance(both) == Fraction(1, 2), "several variants count alike"


def test_one_answer_is_no_distribution() -> None:
    assert numbered(["a"], [["b"]]) is None
    assert numbered(["a", "a"], []) is None
    assert numbered(["a", "a"], [["a"]]) is None
    assert numbered(["x", "y"], [["y", "z"]]) == ((0, 1), (1, 2))
    assert mean_distance([]) == Moved(Excess(), 0)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_without_an_effect_one_run_in_twenty_rejects(shared: bool) -> None:
    rng = np.random.default_rng(2)
    runs = 300
    means = [
        mean_distance([drawn(rng, [FAIR] * 3, 4, shared=shared) for _ in range(8)], seed=run)
        for run in range(runs)
    ]
    assert sum((mean.distance.p or 0) <= 0.05 for mean in means) <= 0.085 * runs
    assert sum(mean.samples > 0 for mean in means) <= 0.085 * runs


@pytest.mark.slow
def test_an_effect_is_shown_and_lies_in_its_interval() -> None:
    rng = np.random.default_rng(3)
    true, runs, held, shown = half_squared(FAIR, LEANING), 60, 0, 0
    for run in range(runs):
        estimate = mean_distance([drawn(rng, [FAIR, LEANING], 6) for _ in range(40)], seed=run).distance
        assert estimate.p is not None
        assert estimate.low is not None
        assert estimate.high is not None
        shown += estimate.p <= 0.05
        held += estimate.low <= true <= estimate.high
    assert held >= 0.9 * runs
    assert shown >= 0.9 * runs


def test_the_test_of_one_sample_is_that_of_all_ways_to_deal_out_its_draws() -> None:
    draws = numbered(["a", "a", "a", "b"], [["b", "b", "c", "b"]])
    assert draws is not None
    columns = list(zip(*draws, strict=True))
    every = [
        distance(tuple(zip(*dealt, strict=True)))
        for dealt in product(*(list(permutations(column)) for column in columns))
    ]
    exact = sum(value >= distance(draws) for value in every) / len(every)
    assert mean_distance([draws]).distance.p == pytest.approx(exact, abs=0.03)


def test_samples_that_moved_are_counted_and_their_order_does_not_matter() -> None:
    moved = numbered(["a"] * 12, [["b"] * 12])
    still = numbered(["a"] * 12, [["a"] * 12])
    assert moved is not None
    assert still is not None
    mean = mean_distance([moved, still, moved, still], seed=4)
    assert mean == mean_distance([still, still, moved, moved], seed=4)
    assert mean.samples == 2
    assert mean.distance.points == 0.5
    assert mean.distance.samples == 4

"""The excess of an edit over noise: estimates, intervals and tests."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics import excess
from codeaudit.reports.statistics.excess import (
    bounds,
    excess_of,
    explained,
    flips,
    pair_excess,
    rounded,
    sample_excess,
)
from codeaudit.reports.statistics.intervals import Z

PAIRS = st.lists(st.fractions(Fraction(-1, 2), 1, max_denominator=12), min_size=1, max_size=10)


def brute_force(differences: list[Fraction], *, above: bool = False) -> float:
    total = sum(differences)
    sums = [
        sum(sign * abs(difference) for sign, difference in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    if above:
        return sum(value >= total for value in sums) / len(sums)
    return sum(abs(value) >= abs(total) for value in sums) / len(sums)


def mcnemar(more: int, less: int) -> float:
    total = more + less
    tail = sum(math.comb(total, n) for n in range(max(more, less), total + 1))
    return min(1.0, 2 * float(tail / 2**total))


# ── the sample excess ────────────────────────────────────────────────────────────────────────────────────


def test_sample_excess_by_hand() -> None:
    """Of 20 samples 6 are violated and steady, 1 is unsteady and not violated, 2 are both."""
    tested = sample_excess([(1, 0)] * 6 + [(0, 1)] + [(1, 1)] * 2 + [(0, 0)] * 11)
    assert tested.points == pytest.approx(5 / 20)
    # Bonett and Price: (6 + 1) / 22 and (1 + 1) / 22.
    middle, spread = 5 / 22, 1.96 * math.sqrt((9 / 22 - (5 / 22) ** 2) / 22)
    assert (tested.low, tested.high) == pytest.approx((middle - spread, middle + spread), abs=1e-4)
    assert tested.p == pytest.approx(2 * (7 + 1) / 2**7)
    assert (tested.samples, tested.interval) == (20, "Bonett-Price")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200))
def test_sample_excess_is_the_exact_mcnemar_test(more: int, less: int, same: int) -> None:
    tested = sample_excess([(1, 0)] * more + [(0, 1)] * less + [(0, 0)] * same)
    if not more + less + same:
        assert tested == Excess()
        return
    assert tested.points is not None
    assert tested.p == pytest.approx(mcnemar(more, less))
    assert tested.p == pytest.approx(flips([Fraction(1)] * more + [Fraction(-1)] * less))
    assert -1 <= tested.low <= tested.points <= tested.high <= 1
    total = more + less + same
    n, b, c = total + 2, more + 1, less + 1
    spread = Z * math.sqrt(b + c - (b - c) ** 2 / n) / n
    assert tested.high == pytest.approx(min(1.0, max((b - c) / n + spread, tested.points)))


def test_samples_of_several_trials_are_clusters() -> None:
    """Two trials: a sample that is violated in one of them counts half."""
    units = [(2, 0), (1, 0), (0, 1), (0, 0), (0, 0)]
    tested = sample_excess(units, trials=2)
    assert tested.points == pytest.approx((1 + 0.5 - 0.5) / 5)
    assert tested.p == brute_force([Fraction(1), Fraction(1, 2), Fraction(-1, 2)])
    assert tested.interval == excess.INTERVAL
    assert tested == sample_excess(units), "more than one violation is more than one trial"
    assert sample_excess([(1, 0), (0, 0)], trials=2).points == pytest.approx(0.25)
    assert sample_excess([(1, 0), (0, 0)]).points == pytest.approx(0.5)


# ── the pair excess ──────────────────────────────────────────────────────────────────────────────────────


def test_pair_excess_by_hand() -> None:
    """Two samples, with what is added for the interval: 1 with weight 1/2, -1/2 with weight 1/4."""
    tested = pair_excess([Fraction(1), Fraction(0)])
    assert tested.points == 0.5
    weight, mean = 2.75, (1 + 0.5 - 0.125) / 2.75
    values = ((1, 1.5), (0, 1.0), (-0.5, 0.25))
    second, third = (sum(w * (x - mean) ** n for x, w in values) / weight for n in (2, 3))
    spread = math.sqrt(second / 3.75)
    skewness = 2 * third / (3.75 * 4.75) / spread**3
    shift = (Z**2 - 1) / 6 * skewness
    assert tested.low == pytest.approx(max(-0.5, mean + spread * (shift - Z)))
    assert tested.high == pytest.approx(min(1.0, mean + spread * (shift + Z)))
    assert tested.p == 1.0


def test_bounds_are_those_of_a_drawn_bayesian_bootstrap() -> None:
    import numpy as np

    values, weights = (1.0, 0.2, 0.0, -0.1), (4.5, 12.0, 80.0, 15.0)
    means = np.random.default_rng(0).dirichlet(weights, 200_000) @ np.array(values)
    assert bounds(list(zip(values, weights, strict=True))) == pytest.approx(
        tuple(np.quantile(means, [0.025, 0.975])), abs=7e-4
    )


def test_values_that_are_all_equal_have_a_bound_without_a_width() -> None:
    assert bounds([(0.25, 3.0), (0.25, 1.0)]) == (0.25, 0.25)


@pytest.mark.slow
@settings(deadline=None)
@given(PAIRS)
def test_an_interval_holds_its_mean_and_does_not_depend_on_order(
    differences: list[Fraction],
) -> None:
    tested = pair_excess(differences)
    assert -0.5 <= tested.low <= tested.points <= tested.high <= 1
    assert pair_excess(differences[::-1]) == tested


def test_no_difference_at_all() -> None:
    tested = pair_excess([Fraction(0)] * 200)
    assert (tested.points, tested.p, tested.samples) == (0.0, 1.0, 200)
    # Beyond about 3 of 200 samples with an effect, some would have been seen.
    assert -0.01 < tested.low < 0 < tested.high < 0.015


def test_without_samples_there_is_no_excess() -> None:
    assert pair_excess([]) == sample_excess([]) == sample_excess([], trials=3) == Excess()


def test_one_sample() -> None:
    tested = pair_excess([Fraction(1)])
    assert (tested.points, tested.p, tested.high) == (1.0, 1.0, 1.0)
    assert tested.low < 0.5


def test_scores_may_differ_by_more_than_one() -> None:
    tested = pair_excess([Fraction(3), Fraction(5, 2), Fraction(4)])
    assert tested.points == pytest.approx(19 / 6)
    assert tested.low < tested.points < tested.high <= 4
    assert tested.p == 0.25


# ── differences of many sizes ────────────────────────────────────────────────────────────────────────────

MANY = st.lists(st.fractions(Fraction(-1, 2), 1, max_denominator=500), min_size=1, max_size=8)


@given(MANY)
def test_many_sizes_are_rounded_and_few_are_not(differences: list[Fraction]) -> None:
    values = rounded(differences)
    assert values == sorted(values)
    assert rounded([-difference for difference in differences]) == sorted(-value for value in values)
    if math.lcm(*(difference.denominator for difference in differences)) <= 120:
        assert values == sorted(differences)
    else:
        assert all(60 % value.denominator == 0 for value in values)
        # Rounding keeps the order.
        assert all(
            abs(one - other) <= Fraction(1, 120)
            for one, other in zip(values, sorted(differences), strict=True)
        )


@pytest.mark.parametrize(("size", "kept"), [(Fraction(1, 120), True), (Fraction(1, 121), False)])
def test_which_sizes_are_many(size: Fraction, kept: bool) -> None:
    assert (rounded([size]) == [size]) is kept


@given(MANY)
def test_the_mean_of_rounded_differences_is_exact(differences: list[Fraction]) -> None:
    tested, of_rounded = excess_of(differences), pair_excess(rounded(differences))
    assert tested.points == float(sum(differences) / len(differences))
    assert tested.low is not None
    assert tested.high is not None
    assert of_rounded.low is not None
    assert of_rounded.high is not None
    assert tested.low == min(of_rounded.low, tested.points)
    assert tested.high == max(of_rounded.high, tested.points)
    assert (tested.p, tested.samples) == (of_rounded.p, len(differences))


def test_no_differences_have_no_excess() -> None:
    assert excess_of([]) == Excess()


# ── sign flips ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@settings(deadline=None)
@given(PAIRS, st.booleans())
def test_flips_are_those_of_brute_force(differences: list[Fraction], above: bool) -> None:
    assert flips(differences, above=above) == pytest.approx(brute_force(differences, above=above), abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "two", "one"),
    [
        ([1, 1, 1, 1, 1, 1], 2 / 64, 1 / 64),
        ([2, 1], 0.5, 0.25),
        ([1, -1], 1.0, 0.75),
        ([-1, -1], 0.5, 1.0),
        ([0], 1, 1),
    ],
)
def test_flips_by_hand(differences: list[int], two: float, one: float) -> None:
    numbers = [Fraction(each, 7) for each in differences]
    assert flips(numbers) == pytest.approx(two)
    assert flips(numbers, above=True) == pytest.approx(one)


def test_samples_without_a_difference_change_no_p() -> None:
    some = [Fraction(1), Fraction(1, 3), Fraction(-1, 6)]
    assert flips(some) == flips([*some, *[Fraction(0)] * 50])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("shift", [-6, 0, 9])
def test_drawn_flips_agree_with_exact_ones(monkeypatch: pytest.MonkeyPatch, shift: int, above: bool) -> None:
    differences = [Fraction(n * 7 % 23 - 11, 20) for n in range(60)] + [Fraction(shift, 3)]
    exact = flips(differences, above=above)
    monkeypatch.setattr(excess, "CELLS", 1)
    monkeypatch.setattr(excess, "DRAWN", 40_000)
    drawn = flips(differences, above=above)
    assert drawn == pytest.approx(exact, abs=0.01)
    assert 0 < drawn <= 1


def test_a_drawn_p_is_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excess, "CELLS", 1)
    assert 0 < flips([Fraction(1)] * 200) < 1e-4


@pytest.mark.slow
def test_scores_with_many_digits_are_drawn() -> None:
    """Their common denominator is far above what 64 bits hold."""
    differences = [Fraction(0.1 * n) - Fraction(1, 3 ** abs(n)) for n in range(-5, 30)]
    assert 0 < flips(differences) < 1e-4


def test_a_chance_too_small_for_a_fourier_transform_has_its_order() -> None:
    assert flips([Fraction(1)] * 100) == pytest.approx(2.0**-99, abs=1e-13)
    assert flips([Fraction(1)] * 3000) >= 0


# ── what noise alone explains ────────────────────────────────────────────────────────────────────────────


def test_what_noise_explains() -> None:
    assert [explained(unsteady, 0.01) for unsteady in range(4)] == [6, 9, 11, 13]


@given(st.integers(0, 40), st.sampled_from([0.01, 0.05]))
def test_one_more_would_not_be_explained(unsteady: int, alpha: float) -> None:
    def chance(more: int) -> float:
        total = more + unsteady
        return sum(math.comb(total, n) for n in range(unsteady + 1)) / 2.0**total

    number = explained(unsteady, alpha)
    assert chance(number) > alpha >= chance(number + 1)

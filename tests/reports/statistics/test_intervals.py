"""Rates and their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.reports.records import NOTHING
from codeaudit.reports.statistics.intervals import rate, single, wilson

CLUSTERS = st.lists(
    st.integers(0, 6).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))), max_size=40
)


def named(pairs: list[tuple[int, int]]) -> dict[str, tuple[int, int]]:
    return {f"s{n}": pair for n, pair in enumerate(pairs)}


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (1, 29, 0.0061, 0.1718),  # Newcombe (1998), table I: 1 of 29
        (81, 263, 0.2553, 0.3662),  # Newcombe (1998), table I: 81 of 263
    ],
)
def test_wilson_interval_has_published_values(count: int, total: int, low: float, high: float) -> None:
    assert wilson(count, total) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_holds_the_rate_and_stays_in_range(pair: tuple[int, int]) -> None:
    count, total = pair
    low, high = wilson(count, total)
    assert 0 <= low <= count / total + 1e-12
    assert count / total - 1e-12 <= high <= 1


@given(st.integers(2, 300), st.data())
def test_wilson_interval_rises_with_the_count(total: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, total - 1))
    (low, high), (next_low, next_high) = wilson(count, total), wilson(count + 1, total)
    assert low < next_low
    assert high < next_high


@given(st.integers(0, 5), st.integers(5, 50))
def test_wilson_interval_narrows_with_more_of_the_same(count: int, total: int) -> None:
    low, high = wilson(count, total)
    assert np.diff(wilson(4 * count, 4 * total))[0] < high - low


@settings(max_examples=60, deadline=None)
@given(CLUSTERS, st.integers(0, 2**64 - 1))
def test_rate_lies_in_its_interval_and_is_never_nan(pairs: list[tuple[int, int]], seed: int) -> None:
    made = rate(named(pairs), seed=seed)
    assert made.count == sum(count for count, _ in pairs)
    assert made.total == sum(total for _, total in pairs)
    if made.total == 0:
        assert made == NOTHING
    else:
        assert 0 <= made.low <= made.rate <= made.high <= 1
        assert math.isfinite(made.low + made.high)


def test_rate_over_nothing_is_absent_and_not_zero() -> None:
    assert rate({}, seed=0).rate is None
    assert rate({"a": (0, 0)}, seed=0) == NOTHING


def test_single_clusters_get_wilson() -> None:
    made = single([True] * 12 + [False] * 45)
    assert (made.count, made.total, made.clusters) == (12, 57, 57)
    assert made.interval == "wilson"
    assert (made.low, made.high) == wilson(12, 57)


def test_no_violation_in_clusters_counts_samples_not_pairs() -> None:
    made = rate(named([(0, 4)] * 50), seed=0)
    assert (made.low, made.interval) == (0.0, "wilson")
    assert made.high == wilson(0, 50)[1] == pytest.approx(3.8415 / (50 + 3.8415), abs=1e-4)


def test_every_pair_violated_is_the_mirror_of_none() -> None:
    none, all_ = rate(named([(0, 4)] * 50), seed=0), rate(named([(4, 4)] * 50), seed=0)
    assert all_.low == pytest.approx(1 - none.high)
    assert all_.high == 1.0


def test_equal_shares_do_not_collapse_the_interval() -> None:
    made = rate(named([(1, 2)] * 30), seed=0)
    assert made.interval == "wilson"
    assert made.high - made.low > 0.3


def test_few_clusters_are_not_bootstrapped() -> None:
    assert rate(named([(3, 4), (0, 4), (1, 4)]), seed=0).interval == "wilson"


def test_bootstrap_is_wider_than_pairs_taken_as_independent() -> None:
    made = rate(named([(4, 4)] * 20 + [(0, 4)] * 80), seed=3)
    low, high = wilson(80, 400)
    assert made.interval == "clustered bootstrap"
    assert made.high - made.low > 1.5 * (high - low)
    assert (made.low, made.high) == pytest.approx(wilson(20, 100), abs=0.02)


def test_bootstrap_agrees_with_drawing_clusters_one_by_one() -> None:
    pairs = [(0, 4)] * 40 + [(1, 4)] * 10 + [(2, 3)] * 8 + [(1, 1)] * 5
    made = rate(named(pairs), seed=1)
    drawn = np.random.default_rng(7).integers(0, len(pairs), size=(20_000, len(pairs)))
    sums = np.array(pairs)[drawn].sum(axis=1)
    assert (made.low, made.high) == pytest.approx(
        tuple(np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])), abs=0.01
    )


def test_interval_depends_on_the_seed_alone_and_not_on_the_order() -> None:
    pairs = {f"s{n}": (n % 3, 3) for n in range(40)}
    assert rate(pairs, seed=5) == rate(dict(reversed(pairs.items())), seed=5)
    assert rate(pairs, seed=5) != rate(pairs, seed=6)


@pytest.mark.slow
def test_clustered_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for trial in range(200):
        shares = rng.beta(0.5, 1.5, size=60)
        made = rate(named((int(c), 4) for c in rng.binomial(4, shares)), seed=trial)  # type: ignore[arg-type]
        hits += made.low <= 0.25 <= made.high
    assert 0.88 <= hits / 200 <= 0.99

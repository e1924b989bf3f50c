"""The tests of a rise against independent ones, and against all ways counted out."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.reports.statistics.mcnemar import Tally, flip_tail, paired_rise, with_detectable
from codeaudit.transforms.errors import CannotAudit


def singles(appeared: int, gone: int, still: int = 0, held: int = 0) -> list[Tally]:
    """One pair per sample."""
    kinds = ((appeared, Tally(1, 0, 1, 0)), (gone, Tally(1, 1, 0, 1)), (still, Tally(1, 1, 0, 0)))
    return [one for number, one in kinds for _ in range(number)] + [Tally(1, 0, 0, 0)] * held


TALLIES = st.integers(1, 6).flatmap(
    lambda pairs: st.tuples(st.integers(0, pairs), st.integers(0, pairs)).map(
        lambda two: Tally(pairs, max(two), min(pairs - max(two), two[1]), min(two))
    )
)


@pytest.mark.parametrize(("appeared", "gone"), [(0, 0), (7, 0), (15, 3), (3, 15), (40, 21)])
def test_with_one_pair_per_sample_it_is_the_exact_mcnemar_test(appeared: int, gone: int) -> None:
    from scipy.stats import binomtest

    found = paired_rise(singles(appeared, gone, still=5, held=100))
    expected = binomtest(appeared, appeared + gone, alternative="greater").pvalue if appeared + gone else 1
    assert found.p == pytest.approx(expected)
    assert found.p_pairs == pytest.approx(expected)
    assert found.rise == pytest.approx((appeared - gone) / found.pairs)
    assert (found.before, found.now) == (gone + 5, appeared + 5)


@given(st.lists(st.integers(1, 9), max_size=10), st.integers(0, 60))
def test_the_tail_is_that_of_all_ways(weights: list[int], reached: int) -> None:
    sums = [
        sum(w for w, taken in zip(weights, way, strict=True) if taken)
        for way in product((0, 1), repeat=len(weights))
    ]
    expected = sum(one >= reached for one in sums) / len(sums) if weights else 1.0
    assert flip_tail(weights, reached) == pytest.approx(expected)


def test_beyond_the_exact_limit_the_normal_distribution_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [1, 2, 4] * 60
    exact = flip_tail(weights, 245)
    monkeypatch.setattr("codeaudit.reports.statistics.mcnemar.EXACT_CELLS", 0)
    assert flip_tail(weights, 245) == pytest.approx(exact, rel=0.05)


def test_pairs_of_one_sample_are_one_witness() -> None:
    """One flip of the original's answer changes all 12 pairs: over pairs that looks certain, and is nothing."""
    found = paired_rise([Tally(12, 0, 12, 0)] + [Tally(12, 0, 0, 0)] * 49)
    assert found.p == 0.5
    assert found.p_pairs < 0.001


@pytest.mark.slow
@given(st.lists(TALLIES, min_size=1, max_size=12))
def test_a_rise_and_its_reverse(tallies: list[Tally]) -> None:
    found = paired_rise(tallies)
    back = paired_rise([Tally(t.pairs, t.before + t.appeared - t.gone, t.gone, t.appeared) for t in tallies])
    assert 0 < found.p <= 1
    assert found.rise == -back.rise
    assert found.p + back.p >= 1 - 1e-9


@pytest.mark.slow
@given(st.lists(TALLIES, min_size=1, max_size=40), st.sampled_from([0.0, 0.01, 0.1]))
def test_the_smallest_rise_fails_and_a_smaller_one_does_not(tallies: list[Tally], margin: float) -> None:
    found = with_detectable(paired_rise(tallies), tallies, alpha=0.01, margin=margin)
    fallen = [t.gone - t.appeared for t in tallies if t.gone > t.appeared]
    room = sum(t.before < t.pairs for t in tallies)

    def fails(more: int) -> bool:
        each, rest = divmod(more, room)
        weights = [weight for weight in [each + 1] * rest + [each] * (room - rest) if weight]
        rise = (more - sum(fallen)) / found.pairs
        return rise > margin and flip_tail(weights + fallen, more) <= 0.01

    if found.detectable is None:
        assert not room or not fails(found.pairs - found.before)
    else:
        more = round(found.detectable * found.pairs) + sum(fallen)
        assert fails(more)
        assert not fails(more - 1)


def test_the_smallest_rise_by_hand() -> None:
    tallies = singles(0, 0, held=500)
    found = with_detectable(paired_rise(tallies), tallies, alpha=0.01, margin=0.01)
    assert found.detectable == 7 / 500, "0.5**7 < 0.01, and 7 of 500 is above one point"
    assert with_detectable(paired_rise(tallies), tallies, alpha=0.01, margin=0.02).detectable == 11 / 500
    tiny = singles(0, 0, held=6)
    assert with_detectable(paired_rise(tiny), tiny, alpha=0.01, margin=0.01).detectable is None


def test_a_true_rise_of_that_size_fails_in_four_of_five_runs() -> None:
    import numpy as np

    tallies = singles(5, 5, still=20, held=470)
    likely = with_detectable(paired_rise(tallies), tallies, alpha=0.01, margin=0.01).likely
    rng = np.random.default_rng(0)
    runs = [
        paired_rise(singles(*map(int, rng.binomial(500, [0.01 + likely, 0.01])), held=400))  # type: ignore[misc]
        for _ in range(400)
    ]
    failed = sum(run.p <= 0.01 and (run.appeared - run.gone) / 500 > 0.01 for run in runs)
    assert 0.75 < failed / 400 < 0.88


def test_where_all_is_violated_no_rise_is_promised() -> None:
    tallies = [Tally(4, 4, 0, 0)] * 50
    found = with_detectable(paired_rise(tallies), tallies, alpha=0.01, margin=0.01)
    assert (found.detectable, found.likely) == (None, None)


def test_nothing_shared_is_no_test() -> None:
    with pytest.raises(CannotAudit, match="no shared pairs"):
        paired_rise([])

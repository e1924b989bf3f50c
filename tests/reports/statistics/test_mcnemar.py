"""The test of a rise against an independent one, and the rises that it promises to see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.reports.statistics.mcnemar import SampleChange, paired_rise, with_detectable
from codeaudit.transforms.errors import CannotAudit


def changes(appeared: int, gone: int, still: int = 0, held: int = 0) -> list[SampleChange]:
    kinds = ((appeared, (False, True)), (gone, (True, False)), (still, (True, True)), (held, (False, False)))
    return [SampleChange(*two) for number, two in kinds for _ in range(number)]


def coin(heads: int, tails: int) -> float:
    """The chance of at least so many heads, by scipy's test."""
    from scipy.stats import binomtest

    return binomtest(heads, heads + tails, alternative="greater").pvalue if heads + tails else 1.0


@pytest.mark.parametrize(("appeared", "gone"), [(0, 0), (7, 0), (15, 3), (3, 15), (40, 21)])
def test_it_is_the_exact_mcnemar_test_over_samples(appeared: int, gone: int) -> None:
    rise = paired_rise(changes(appeared, gone, still=5, held=100))
    assert rise.p == pytest.approx(coin(appeared, gone))
    assert rise.rise == pytest.approx((appeared - gone) / rise.samples)
    assert (rise.before, rise.now) == (gone + 5, appeared + 5)


def test_pairs_of_one_sample_are_one_witness() -> None:
    """One flip of the original's answer changes all 12 pairs: over pairs that looks certain, and is nothing."""
    rise = paired_rise([SampleChange(False, True, 12)] + [SampleChange(False, False, 12)] * 49)
    assert (rise.p, rise.rise) == (0.5, 1 / 50)
    assert (rise.samples, rise.pairs) == (50, 600)


COUNTS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 200)).filter(
    any
)


@given(COUNTS)
def test_a_rise_and_its_reverse(counts: tuple[int, int, int, int]) -> None:
    appeared, gone, still, held = counts
    rise = paired_rise(changes(appeared, gone, still, held))
    back = paired_rise(changes(gone, appeared, still, held))
    assert 0 < rise.p <= 1
    assert rise.rise == -back.rise
    assert rise.p + back.p >= 1 - 1e-9


@pytest.mark.slow
@given(COUNTS, st.sampled_from([0.0, 0.01, 0.1]))
def test_the_smallest_rise_fails_and_a_smaller_one_does_not(
    counts: tuple[int, int, int, int], margin: float
) -> None:
    appeared, gone, _, held = counts
    rise = with_detectable(paired_rise(changes(*counts)), alpha=0.01, margin=margin)

    def fails(more: int) -> bool:
        return (more - gone) / rise.samples > margin and coin(more, gone) <= 0.01

    room = appeared + held
    if rise.detectable is None:
        assert not room or not fails(room)
    else:
        more = round(rise.detectable * rise.samples) + gone
        assert fails(more)
        assert not fails(more - 1)


def test_the_smallest_rise_by_hand() -> None:
    rise = paired_rise(changes(0, 0, held=500))
    tested = with_detectable(rise, alpha=0.01, margin=0.01)
    assert tested.detectable == 7 / 500, "0.5**7 < 0.01, and 7 of 500 is above one point"
    assert with_detectable(rise, alpha=0.01, margin=0.02).detectable == 11 / 500
    tiny = paired_rise(changes(0, 0, held=6))
    assert with_detectable(tiny, alpha=0.01, margin=0.01).detectable is None


def test_a_true_rise_of_that_size_fails_in_four_of_five_runs() -> None:
    import numpy as np

    likely = with_detectable(paired_rise(changes(5, 5, still=20, held=470)), alpha=0.01, margin=0.01).likely
    rng = np.random.default_rng(0)
    runs = [
        paired_rise(changes(*map(int, rng.binomial(500, [0.01 + likely, 0.01])), held=400))  # type: ignore[misc]
        for _ in range(400)
    ]
    failed = sum(run.p <= 0.01 and (run.appeared - run.gone) / 500 > 0.01 for run in runs)
    assert 0.75 < failed / 400 < 0.88


def test_where_all_is_violated_no_rise_is_promised() -> None:
    rise = with_detectable(paired_rise(changes(0, 0, still=50)), alpha=0.01, margin=0.01)
    assert (rise.detectable, rise.likely) == (None, None)


def test_nothing_shared_is_no_test() -> None:
    with pytest.raises(CannotAudit, match="no shared pairs"):
        paired_rise([])

"""pass@k and what is left of it in the worst case, against counting and against numbers by hand."""

from itertools import combinations
from math import comb

import pytest

from codeaudit.reports.records import UNKNOWN
from codeaudit.reports.robust import Problem, drop, mean, pass_at
from codeaudit.reports.statistics.intervals import wilson


@pytest.mark.parametrize("attempts", range(1, 7))
def test_pass_at_k_is_the_share_of_draws_with_a_passing_attempt(attempts: int) -> None:
    for passed in range(attempts + 1):
        for k in range(1, attempts + 1):
            drawn = [min(one) < passed for one in combinations(range(attempts), k)]
            assert pass_at(attempts, passed, k) == pytest.approx(sum(drawn) / comb(attempts, k))


def test_one_attempt() -> None:
    kept = Problem((True,), ((True,), (True,)))
    lost = Problem((True,), ((True,), (False,)))
    found = Problem((False,), ((False,), (True,)))
    never = Problem((False,), ((False,),))
    assert [one.at(1) for one in (kept, lost, found, never)] == [(1, 1, 0), (1, 0, 1), (0, 0, 1), (0, 0, 0)]


def test_several_attempts_by_hand() -> None:
    # own: 1 1 0 0; worst of the variants: 1 0 0 0; for the worse: the 2nd; for the better: the 4th
    one = Problem((True, True, False, False), ((True, True, False, True), (True, False, False, False)))
    assert one.at(1) == pytest.approx((2 / 4, 1 / 4, 1 / 4 + 1 / 4))
    assert one.at(2) == pytest.approx((1 - 1 / 6, 1 - 3 / 6, 2 * (1 - 3 / 6)))


def test_means_of_yes_and_no_have_wilsons_interval() -> None:
    found = mean([1.0] * 15 + [0.0] * 5, seed=0)
    assert (found.low, found.high) == pytest.approx(wilson(15, 20))
    assert found.value == 0.75
    assert mean([], seed=0) == UNKNOWN
    few = mean([0.5, 0.25], seed=0)
    assert few.value == 0.375
    assert (few.low, few.high) == pytest.approx(wilson(0.75, 2))


def test_other_means_are_resampled_over_problems() -> None:
    values = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] * 10
    found = mean(values, seed=1)
    assert found == mean(values, seed=1)
    assert found.low is not None
    assert found.high is not None
    error = 1.96 * 0.3416 / 60**0.5
    assert found.low == pytest.approx(0.5 - error, abs=0.015)
    assert found.high == pytest.approx(0.5 + error, abs=0.015)


def test_the_drop_is_of_what_there_was() -> None:
    assert drop([0.0, 0.0], [0.0, 1.0], seed=0) == UNKNOWN
    few = drop([1.0, 1.0, 0.0], [1.0, 0.0, 0.0], seed=0)
    assert (few.value, few.low, few.high) == (0.5, None, None)
    many = drop([1.0] * 40, [1.0] * 20 + [0.0] * 20, seed=0)
    assert many.value == 0.5
    assert many.low is not None
    assert many.high is not None
    assert 0.3 < many.low < 0.5 < many.high < 0.7
    nothing = drop([1.0] * 12, [1.0] * 12, seed=0)
    assert (nothing.value, nothing.low, nothing.high) == (0.0, 0.0, 0.0)

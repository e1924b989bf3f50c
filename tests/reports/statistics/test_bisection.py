"""Searches by bisection give what counting gives, and ask seldom."""

from collections.abc import Callable
from math import log2

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codeaudit.reports.statistics.bisection import crossing, grown, lowest
from codeaudit.reports.statistics.mcnemar import MOST, power, samples_needed


def from_on(first: float, asked: list[float]) -> Callable[[float], bool]:
    """A condition that holds from a number on, and notes what it is asked."""

    def holds(number: float) -> bool:
        asked.append(number)
        return number >= first

    return holds


@given(st.integers(-5, 50), st.integers(1, 3000), st.data())
def test_the_smallest_number_is_found(low: int, width: int, data: st.DataObject) -> None:
    high = low + width
    first = data.draw(st.integers(low + 1, high))
    asked: list[float] = []
    assert lowest(low, high, from_on(first, asked)) == first
    assert len(asked) <= width.bit_length()
    assert not {low, high} & set(asked)


@given(st.integers(0, 2000), st.integers(1, 3000), st.integers(1, 20), st.data())
def test_a_number_is_found_to_some_percent(low: int, width: int, percent: int, data: st.DataObject) -> None:
    high = low + width
    first = data.draw(st.integers(low + 1, high))
    asked: list[float] = []
    number = lowest(low, high, from_on(first, asked), percent=percent)
    # One number below it was asked or is `low`, does not hold, and is near enough; and no search is longer.
    below = max([low, *(tried for tried in asked if tried < first)])
    assert first <= number
    assert number - below <= max(1, below * percent // 100)
    before = max([low, *(tried for tried in asked[:-1] if tried < first)])
    after = min([high, *(tried for tried in asked[:-1] if tried >= first)])
    assert not asked or after - before > max(1, before * percent // 100)


def test_what_is_near_enough_is_not_asked() -> None:
    asked: list[float] = []
    assert lowest(200, 202, from_on(201, asked), percent=1) == 202
    assert crossing(0.0, 0.5, 0.5, from_on(0.25, asked)) == 0.5
    assert not asked
    assert lowest(199, 201, from_on(200, asked), percent=1) == 200
    assert crossing(0.0, 0.5, 0.4, from_on(0.25, asked)) == 0.25
    assert asked == [200, 0.25]


@given(st.integers(1, 400), st.integers(1, 12_000))
def test_numbers_grow_until_they_are_enough(start: int, first: int) -> None:
    assume(first > start // 2)  # it is not asked what is far below the start
    asked: list[float] = []
    number = grown(start, 10_000, from_on(first, asked))
    assert len(asked) == len(set(asked)), "nothing is asked twice"
    if first > 10_000:
        assert number is None
        assert max(asked) == 10_000
        return
    assert number is not None
    assert first <= number <= max(first, first * 1.01)
    assert max(asked) <= max(start, min(10_000, 2 * (first - 1)))
    assert min(asked) >= min(start, first / 2)
    # From half of a number to the number, in steps of 1 %: seven halvings.
    doublings = {min(10_000, start << times) for times in range(14)} & set(asked)
    assert len(asked) - len(doublings) <= 7


@pytest.mark.parametrize("rise", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("wanted", [0.5, 0.8])
@pytest.mark.parametrize("churn", [0.0, 0.02])
def test_so_many_samples_have_the_power_that_is_wanted(rise: float, wanted: float, churn: float) -> None:
    needed = samples_needed(rise, wanted, churn=churn, alpha=0.01, margin=0.01)
    assert needed is not None
    powers = [
        power(number, rise, churn=churn, alpha=0.01, margin=0.01)
        for number in range(int(needed / 1.01) - 1, needed + 1)
    ]
    assert powers[-1] >= wanted
    assert min(powers) < wanted


def test_a_rise_just_above_the_margin_needs_more_samples_than_a_plan_considers() -> None:
    assert samples_needed(0.0101, 0.8, churn=0.0, alpha=0.01, margin=0.01) is None
    # The largest number is considered, too.
    needed = samples_needed(0.0103, 0.8, churn=0.0, alpha=0.01, margin=0.01)
    assert needed is not None
    assert 2**16 < needed <= MOST


@given(st.floats(0, 1), st.sampled_from([1e-1, 1e-3, 1e-4]))
def test_a_share_is_found_to_a_precision(first: float, precision: float) -> None:
    asked: list[float] = []
    share = crossing(0.0, 1.0, precision, from_on(first, asked))
    assert first <= share <= max(first + precision, precision)
    assert len(asked) <= 1 - log2(precision)
    assert not {0.0, 1.0} & set(asked)

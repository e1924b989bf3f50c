"""The number of samples that an edit surely affects."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.reports.statistics.excess import affected, explained, flips, samples_needed

DIFFERENCES = st.lists(st.sampled_from([Fraction(n, 4) for n in range(-4, 5)]), max_size=9)


@settings(max_examples=50)
@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 20), st.sampled_from([0.001, 0.01, 0.05]))
def test_of_equal_sizes_it_is_what_a_coin_does_not_explain(
    violated: int, unsteady: int, both: int, alpha: float
) -> None:
    differences = [Fraction(1)] * violated + [Fraction(-1)] * unsteady + [Fraction(0)] * both
    assert affected(differences, alpha) == max(0, violated - explained(unsteady, alpha))
    # At one half it is the plain difference.
    assert affected(differences, 0.5) == max(0, violated - unsteady)


@settings(max_examples=30)
@given(DIFFERENCES, st.integers(0, 3))
def test_the_largest_differences_are_the_worst_case(differences: list[Fraction], number: int) -> None:
    """Whichever samples an edit affects: the test on the others rejects no later than the one without the
    largest differences. So a number that is too large is as rare as the test on the others promises.
    """
    ordered = sorted(differences, reverse=True)
    for some in combinations(range(len(ordered)), min(number, len(ordered))):
        others = [difference for place, difference in enumerate(ordered) if place not in some]
        # What is left out of fewer than `number` samples is all of them.
        assert flips(others, above=True) <= flips(ordered[number:], above=True) + 1e-9


@settings(max_examples=50)
@given(DIFFERENCES, st.floats(0.001, 0.5))
def test_it_is_the_smallest_number_that_passes(differences: list[Fraction], alpha: float) -> None:
    number = affected(differences, alpha)
    ordered = sorted(differences, reverse=True)
    assert flips(ordered[number:], above=True) >= alpha - 1e-9
    assert all(flips(ordered[less:], above=True) <= alpha + 1e-9 for less in range(number))
    assert number <= sum(difference > 0 for difference in differences)


def test_nothing_is_affected_where_nothing_was_asked() -> None:
    assert affected([], 0.01) == 0


@pytest.mark.parametrize(("violated", "unsteady", "limit"), [(20, 5, 0.1), (6, 0, 0.0), (30, 12, 0.1)])
def test_so_many_samples_decide(violated: int, unsteady: int, limit: float) -> None:
    kinds = [Fraction(1)] * violated + [Fraction(-1)] * unsteady
    differences = kinds + [Fraction(0)] * (100 - len(kinds))
    assert affected(differences, 0.01) / 100 <= limit
    needed = samples_needed(differences, limit, 0.01)
    assert needed is not None
    assert needed > 100

    def fails(number: int) -> bool:
        scaled = [
            difference
            for difference in set(differences)
            for _ in range(round(differences.count(difference) * number / 100))
        ]
        return affected(scaled, 0.01) > limit * number

    assert fails(needed)
    assert not fails(needed * 19 // 20)


def test_some_shares_never_decide() -> None:
    differences = [Fraction(1)] * 10 + [Fraction(-1)] * 10 + [Fraction(0)] * 80
    assert samples_needed(differences, 0.0, 0.01) is None

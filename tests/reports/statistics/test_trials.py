"""Kruskal-Wallis and Conover."""

import math
from itertools import pairwise, permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codeaudit.reports.statistics.adjustment import holm
from codeaudit.reports.statistics.trials import compare_trials, conover, kruskal_wallis

GROUPS = st.lists(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5), min_size=2, max_size=4)


def brute_force(groups: list[list[float]]) -> float:
    """The exact p by writing every distinct permutation out; each stands for equally many."""
    from scipy import stats

    flat = [value for group in groups for value in group]
    edges = [sum(len(g) for g in groups[:n]) for n in range(len(groups) + 1)]
    observed = stats.kruskal(*groups).statistic
    values = []
    for order in sorted(set(permutations(flat))):
        dealt = [order[a:b] for a, b in pairwise(edges)]
        values.append(stats.kruskal(*dealt).statistic >= observed - 1e-9)
    return sum(values) / len(values)  # type: ignore[no-any-return]


def test_two_groups_of_three_fully_apart() -> None:
    test = kruskal_wallis([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert test.p == pytest.approx(0.1)
    assert test.asymptotic_p == pytest.approx(0.0495, abs=5e-5)
    assert test.smallest_p == pytest.approx(0.1)
    assert "so few trials cannot show p < 0.05" in test.notes


@pytest.mark.parametrize(
    ("groups", "statistic", "p"),
    [
        # Kruskal and Wallis (1952), table 6.1: true probabilities.
        ([[1, 2], [3, 4], [5, 6]], 4.571, 0.067),
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 7.200, 0.004),
        ([[1, 2, 3], [4, 5, 8], [6, 7, 9]], 5.956, 0.025),
        ([[1, 2, 3, 4], [5, 6, 7, 8]], 5.333, 0.0286),
    ],
)
def test_exact_p_has_the_published_values(groups: list[list[float]], statistic: float, p: float) -> None:
    test = kruskal_wallis(groups)
    assert test.statistic == pytest.approx(statistic, abs=5e-4)
    assert test.p == pytest.approx(p, abs=1.1e-3)
    assert test.method == "exact permutation"


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "groups", [[[1, 2, 2], [2, 3], [3, 3, 1]], [[1, 1, 1], [2, 2, 1]], [[5, 1], [2, 2], [9, 9, 9]]]
)
def test_exact_p_with_ties_equals_every_permutation_written_out(groups: list[list[float]]) -> None:
    assert kruskal_wallis(groups).p == pytest.approx(brute_force(groups))


@pytest.mark.parametrize(
    ("left", "right"), [([1.0, 4, 5, 7], [2.0, 3, 6, 8, 9, 11]), ([1.0, 2], [0.0, 3, 4])]
)
def test_two_groups_agree_with_the_exact_mann_whitney_test(left: list[float], right: list[float]) -> None:
    from scipy import stats

    exact = stats.mannwhitneyu(left, right, method="exact").pvalue
    assert kruskal_wallis([left, right]).p == pytest.approx(exact)


@settings(deadline=None, max_examples=60)
@given(GROUPS)
def test_statistic_agrees_with_scipy_and_nothing_is_nan(groups: list[list[float]]) -> None:
    from scipy import stats

    test = kruskal_wallis(groups)
    flat = [value for group in groups for value in group]
    if max(map(len, groups)) < 2:
        assert test.p is None
        return
    assert 0 <= test.p <= 1
    assert math.isfinite(test.statistic)  # type: ignore[arg-type]
    if len(set(flat)) > 1:
        expected = stats.kruskal(*groups)
        assert test.statistic == pytest.approx(expected.statistic, abs=1e-9)
        assert test.asymptotic_p == pytest.approx(expected.pvalue, abs=1e-9)
        assert test.p + 1e-12 >= (test.smallest_p or 0)


def test_many_trials_use_chi_square() -> None:
    from scipy import stats

    groups = [[float(n + 3 * k) for n in range(12)] for k in range(3)]
    test = kruskal_wallis(groups)
    assert test.method == "chi-square"
    assert test.p == test.asymptotic_p == pytest.approx(stats.kruskal(*groups).pvalue)
    assert test.smallest_p is not None


def test_all_equal_values_are_said_and_not_nan() -> None:
    test = kruskal_wallis([[0.0] * 5, [0.0] * 5])
    assert (test.statistic, test.p, test.notes) == (0.0, 1.0, ("all values are equal",))


def test_single_trials_give_no_p_and_say_so() -> None:
    test = kruskal_wallis([[0.3], [0.4]])
    assert test.p is None
    assert "--trials" in test.notes[0]


def test_one_group_gives_no_p() -> None:
    assert kruskal_wallis([[1.0, 2.0]]).p is None


def test_conover_agrees_with_the_documented_example_of_scikit_posthocs() -> None:
    pairs = conover({"a": [1, 2, 3, 5, 1], "b": [12, 31, 54], "c": [10, 12, 6, 74, 11]})
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(
        [0.00119517, 0.00278329, 0.18672227], abs=1e-8
    )


@pytest.mark.slow
def test_conover_agrees_with_scikit_posthocs_on_ties() -> None:
    import scikit_posthocs as posthocs

    groups = {"a": [1.0, 2, 2, 3], "b": [2.0, 4, 4], "c": [5.0, 5, 4, 3, 6], "d": [1.0, 1, 2]}
    table = posthocs.posthoc_conover(list(groups.values()), p_adjust="holm").to_numpy()
    names = list(groups)
    for pair in conover(groups):
        expected = table[names.index(pair.first), names.index(pair.second)]
        assert pair.p_adjusted == pytest.approx(expected, abs=1e-9)


def test_constant_groups_fall_back_on_the_exact_test() -> None:
    pairs = conover({"a": [0.0] * 5, "b": [0.0] * 5, "c": [1.0] * 5})
    by_name = {(pair.first, pair.second): pair for pair in pairs}
    assert by_name["a", "b"].p == 1.0
    assert by_name["a", "c"].p == pytest.approx(2 / 252)
    assert all(pair.method == "exact permutation" for pair in pairs)


@settings(deadline=None, max_examples=60)
@given(GROUPS)
def test_conover_is_never_nan(groups: list[list[float]]) -> None:
    named = {f"g{n}": group for n, group in enumerate(groups)}
    assume(len({value for group in groups for value in group}) > 1 and max(map(len, groups)) > 1)
    pairs = conover(named)
    assert len(pairs) == len(groups) * (len(groups) - 1) // 2
    for pair in pairs:
        assert 0 <= pair.p <= pair.p_adjusted <= 1


def test_best_groups_are_bold_only_where_the_test_rejects() -> None:
    apart = compare_trials(
        "f1", "higher", {"a": [0.1, 0.11, 0.12, 0.13, 0.14], "b": [0.5, 0.51, 0.52, 0.53, 0.54]}
    )
    assert {group.name: group.best for group in apart.groups} == {"a": False, "b": True}
    close = compare_trials("f1", "higher", {"a": [0.1, 0.5, 0.2], "b": [0.3, 0.4, 0.15]})
    assert not any(group.best for group in close.groups)


def test_lower_is_better_turns_the_best_around() -> None:
    metric = compare_trials("violated", "lower", {"a": [0.0] * 5, "b": [0.2, 0.3, 0.25, 0.22, 0.21]})
    assert {group.name: group.best for group in metric.groups} == {"a": True, "b": False}
    assert "constant" in " ".join(metric.test.notes)


def test_groups_that_are_as_good_as_the_best_share_the_bold() -> None:
    metric = compare_trials(
        "violated", "lower", {"spe": [0.0] * 5, "symc": [0.0] * 5, "vanilla": [0.2, 0.3, 0.25, 0.22, 0.21]}
    )
    assert [group.name for group in metric.groups if group.best] == ["spe", "symc"]


def test_means_and_standard_errors() -> None:
    group = compare_trials("f1", "higher", {"a": [1.0, 2.0, 3.0], "b": [2.0]}).groups
    assert (group[0].mean, group[0].error) == (2.0, pytest.approx(1 / math.sqrt(3)))  # type: ignore[comparison-overlap]
    assert (group[1].mean, group[1].error) == (2.0, None)


def test_a_group_without_values_is_kept_without_numbers() -> None:
    metric = compare_trials("f1", "higher", {"a": [1.0, 2.0], "b": []})
    assert metric.groups[1].mean is None
    assert metric.test.p is None


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.5, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_their_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=lambda n: ps[n])
    assert [adjusted[n] for n in order] == sorted(adjusted)

"""Cochran's Q and McNemar, and what a comparison could have shown."""

import math
from collections.abc import Iterable, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.reports.statistics.paired import (
    POWER,
    cochran,
    compare_paired,
    detectable_difference,
    mcnemar,
    power,
)

TABLE = ["010", "110", "111", "000", "100", "011", "000", "110", "010", "111", "011", "110"]
"""Sheskin (2011), chapter 26: twelve subjects under three conditions."""

MATRICES = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=1, max_size=30)
)


def columns(rows: Sequence[str] | Sequence[Sequence[bool]]) -> list[list[bool]]:
    return [[cell in (True, "1") for cell in column] for column in zip(*rows, strict=True)]


def cells(b: int, c: int, both: int = 0, neither: int = 0) -> tuple[list[bool], list[bool]]:
    left = [True] * (b + both) + [False] * (c + neither)
    right = [False] * b + [True] * both + [True] * c + [False] * neither
    return left, right


def test_cochran_by_hand() -> None:
    test = cochran(columns(TABLE))
    assert test.statistic == pytest.approx(4.75)
    assert test.asymptotic_p == pytest.approx(math.exp(-4.75 / 2))


def test_cochran_with_many_rows_is_chi_square_and_agrees_with_statsmodels() -> None:
    from statsmodels.stats import contingency_tables as tables

    rows = (TABLE * 4)[:45]
    test, expected = cochran(columns(rows)), tables.cochrans_q([[int(c) for c in row] for row in rows])
    assert test.method == "chi-square"
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p == pytest.approx(expected.pvalue)


def test_the_limit_of_exact_counting_is_that_of_tate_and_brown() -> None:
    assert cochran(columns(["100"] * 7)).method == "exact permutation"
    assert cochran(columns(["100"] * 8)).method == "chi-square"  # 24 cells


def test_few_discordant_rows_are_counted_exactly() -> None:
    rows = ["100", "100", "110", "101", "111", "000"]
    test = cochran(columns(rows))
    assert test.method == "exact permutation"
    options = [[r for r in product((0, 1), repeat=3) if sum(r) == row.count("1")] for row in rows]

    def spread(table: Iterable[Sequence[int]]) -> int:
        return sum(sum(column) ** 2 for column in zip(*table, strict=True))

    observed = spread([[int(c) for c in row] for row in rows])
    every = [spread(table) >= observed for table in product(*options)]
    assert test.p == pytest.approx(sum(every) / len(every))


def test_two_models_give_the_exact_mcnemar_p() -> None:
    left, right = cells(8, 1, both=3, neither=20)
    assert cochran([left, right]).p == mcnemar("a", "b", left, right).p == pytest.approx(0.0390625)


def test_models_that_agree_everywhere_have_p_one_and_a_note() -> None:
    test = cochran([[True, False], [True, False], [True, False]])
    assert (test.statistic, test.p) == (0.0, 1.0)
    assert "agree" in test.notes[0]


def test_nothing_shared_gives_no_p() -> None:
    assert cochran([[], []]).p is None
    assert cochran([[True]]).p is None


@settings(deadline=None, max_examples=60)
@given(MATRICES)
def test_cochran_is_never_nan_and_ignores_rows_that_agree(rows: list[list[bool]]) -> None:
    test = cochran(columns(rows))
    assert 0 <= test.p <= 1
    assert math.isfinite(test.statistic)  # type: ignore[arg-type]
    k = len(rows[0])
    assert cochran(columns([*rows, [True] * k, [False] * k])).p == test.p


@pytest.mark.parametrize(
    ("b", "c", "p"), [(0, 5, 0.0625), (5, 0, 0.0625), (1, 8, 0.0390625), (3, 3, 1.0), (0, 0, 1.0)]
)
def test_mcnemar_by_hand(b: int, c: int, p: float) -> None:
    assert mcnemar("a", "b", *cells(b, c, neither=10)).p == pytest.approx(p)


@given(st.integers(0, 40), st.integers(1, 40))
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    from statsmodels.stats import contingency_tables as tables

    expected = tables.mcnemar([[5, b], [c, 7]], exact=True).pvalue
    assert mcnemar("a", "b", *cells(b, c, 5, 7)).p == pytest.approx(expected)


def test_effect_sizes_of_the_approval_ratings() -> None:
    # Agresti (2002), Categorical Data Analysis, table 10.1: 794, 150, 86, 570 of 1,600.
    contrast = mcnemar("first", "second", *cells(150, 86, both=794, neither=570))
    assert contrast.difference == pytest.approx(0.04)
    assert (contrast.low, contrast.high) == pytest.approx((0.021, 0.059), abs=5e-4)
    assert contrast.odds_ratio == pytest.approx(150 / 86)
    assert (contrast.both, contrast.neither) == (794, 570)


def test_odds_ratio_is_absent_where_it_has_no_finite_value() -> None:
    assert mcnemar("a", "b", *cells(4, 0)).odds_ratio is None
    assert mcnemar("a", "b", *cells(0, 4)).odds_ratio is None


def test_too_few_discordant_inputs_are_said() -> None:
    contrast = mcnemar("a", "b", *cells(0, 4, neither=90))
    assert contrast.smallest_p == pytest.approx(0.125)
    assert "no split of 4 discordant inputs" in contrast.notes[0]
    counts = cells(0, 1, neither=90)
    assert "no split of 1 discordant input could" in mcnemar("a", "b", *counts).notes[0]
    assert cochran(counts).notes == ("the models disagree on only 1 input",)
    assert "no discordant" in mcnemar("a", "b", *cells(0, 0, neither=3)).notes[0]


@given(st.tuples(*[st.integers(0, 30)] * 4).filter(any))
def test_difference_lies_in_its_interval(counts: tuple[int, int, int, int]) -> None:
    contrast = mcnemar("a", "b", *cells(*counts))
    assert -1 <= contrast.low <= contrast.difference <= contrast.high <= 1


def test_best_models_are_those_that_cannot_be_told_from_the_best() -> None:
    paired = compare_paired(
        "violated",
        "lower",
        {"spe": [False] * 30, "symc": [False] * 30, "vanilla": [True] * 12 + [False] * 18},
    )
    assert [standing.model for standing in paired.standings if standing.best] == ["spe", "symc"]
    assert paired.standings[2].changed.count == 12
    by_pair = {(each.first, each.second): each for each in paired.contrasts}
    assert by_pair["spe", "vanilla"].p == pytest.approx(2 / 2**12)
    assert by_pair["spe", "vanilla"].p_adjusted == pytest.approx(3 * 2 / 2**12)


def test_nothing_is_best_where_no_difference_was_shown() -> None:
    paired = compare_paired("violated", "lower", {"a": [True, False, False], "b": [False, False, False]})
    assert not any(standing.best for standing in paired.standings)


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("n", "discordance", "difference"), [(161, 0.2, 0.1), (40, 0.5, 0.4), (500, 0.08, 0.03)]
)
def test_power_is_what_simulation_gives(n: int, discordance: float, difference: float) -> None:
    import numpy as np

    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    drawn = np.random.default_rng(0).multinomial(n, shares, size=2000)
    rejected = 0
    for b, c, same in drawn.tolist():
        left = [True] * b + [False] * c + [True] * same
        right = [False] * b + [True] * c + [True] * same
        rejected += mcnemar("left", "right", left, right).p < 0.05
    # Four standard errors of 2,000 draws.
    assert rejected / 2000 == pytest.approx(
        power(difference, n=n, discordance=discordance, alpha=0.05), abs=0.045
    )


def test_with_no_difference_the_test_keeps_its_level() -> None:
    for n in (10, 50, 300):
        assert power(0.0, n=n, discordance=0.3, alpha=0.05) <= 0.05


def test_five_inputs_show_nothing_and_six_only_the_largest() -> None:
    assert detectable_difference(0, 0, alpha=0.05) is None
    assert detectable_difference(5, 0, alpha=0.05) is None
    difference = detectable_difference(6, 0, alpha=0.05)
    # All six have to be discordant and to lean one way: d**6 = 0.8.
    assert difference == pytest.approx(POWER ** (1 / 6), abs=2e-4)


def test_the_smallest_difference_has_the_power_asked_for() -> None:
    difference = detectable_difference(200, 30, alpha=0.05)
    assert difference is not None
    assert power(difference, n=200, discordance=0.15, alpha=0.05) == pytest.approx(POWER, abs=0.01)


def test_more_inputs_show_less_and_a_stricter_level_more() -> None:
    sizes = [detectable_difference(n, n // 10, alpha=0.05) or 1.0 for n in (50, 200, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert (detectable_difference(200, 20, alpha=0.01) or 0) > sizes[1]

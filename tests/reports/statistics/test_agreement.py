"""The correlation of answers and labels against written-out formulas, and its p-value against other tests."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.reports.statistics import agreement
from codeaudit.reports.statistics.agreement import Table, chance, correlation

TWO_BY_TWO = st.tuples(*[st.integers(0, 30)] * 4).filter(any)


def table(*pairs: tuple[str, str]) -> Table:
    """The table of (label, answer)."""
    counts: dict[str, dict[str, int]] = {}
    for (label, answer), number in Counter(pairs).items():
        counts.setdefault(label, {})[answer] = number
    return counts


def square(*rows: Sequence[int]) -> Table:
    """The table of a matrix whose rows are labels; its empty cells are left out, as in a summary."""
    names = "abcdef"[: len(rows)]
    return {
        label: {answer: number for answer, number in zip(names, row, strict=True) if number}
        for label, row in zip(names, rows, strict=True)
        if any(row)
    }


@given(TWO_BY_TWO)
def test_two_classes_follow_the_formula_of_matthews(cells: tuple[int, int, int, int]) -> None:
    tp, fn, fp, tn = cells
    measured = correlation(square([tp, fn], [fp, tn]))
    spread = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    if not spread:
        assert measured is None
    else:
        assert measured == pytest.approx((tp * tn - fp * fn) / spread)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcde")), min_size=2, max_size=60))
def test_more_classes_follow_the_definition_by_covariances(pairs: list[tuple[str, str]]) -> None:
    """The coefficient is the covariance of two matrices with a column for each class."""
    wanted, given_ = (
        np.array([[label == name for name in "abcde"] for label in side])
        for side in zip(*pairs)  # noqa: B905
    )

    def covariance(x: np.ndarray, y: np.ndarray) -> float:
        return float(((x - x.mean(axis=0)) * (y - y.mean(axis=0))).sum())

    spread = sqrt(covariance(wanted, wanted) * covariance(given_, given_))
    measured = correlation(table(*pairs))
    assert measured == (pytest.approx(covariance(wanted, given_) / spread) if spread > 1e-9 else None)


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([[2, 1], [1, 0]], -1 / 3),
        ([[6, 0], [0, 4]], 1.0),
        ([[0, 4], [6, 0]], -1.0),
        ([[6, 2], [1, 3]], 16 / sqrt(7 * 8 * 5 * 4)),
        ([[2, 0, 0], [0, 1, 1], [0, 0, 2]], 18 / sqrt(24 * 22)),
        ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], 0.0),
        ([[0, 3, 0], [0, 0, 3], [3, 0, 0]], -0.5),
    ],
    ids=str,
)
def test_known_values(rows: list[list[int]], value: float) -> None:
    assert correlation(square(*rows)) == pytest.approx(value)


def test_the_order_of_names_does_not_matter() -> None:
    there = {"clean": {"clean": 7, "bug": 1}, "bug": {"bug": 4, "clean": 2}}
    back = {name: dict(reversed(row.items())) for name, row in reversed(there.items())}
    assert correlation(there) == correlation(back) == correlation(square([7, 1], [2, 4]))
    assert chance(there) == chance(back)


@given(TWO_BY_TWO)
def test_two_classes_have_the_p_value_of_fishers_exact_test(cells: tuple[int, int, int, int]) -> None:
    from scipy.stats import fisher_exact

    tp, fn, fp, tn = cells
    rows = [[tp, fn], [fp, tn]]
    if correlation(square(*rows)) is None:
        assert chance(square(*rows)) == 1.0
    else:
        wanted = fisher_exact(rows, alternative="greater").pvalue
        assert chance(square(*rows)) == pytest.approx(wanted)


SMALL = {
    "perfect": [("a", "a")] * 3 + [("b", "b")] * 2 + [("c", "c")] * 2,
    "good": [("a", "a"), ("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c"), ("c", "c")],
    "chance": [("a", "a"), ("a", "b"), ("a", "c"), ("b", "b"), ("b", "a"), ("c", "a"), ("c", "b")],
    "wrong": [("a", "b"), ("a", "b"), ("b", "c"), ("b", "c"), ("c", "a"), ("c", "a")],
    "an answer that is no label": [("a", "a"), ("a", "a"), ("a", "x"), ("b", "b"), ("b", "b"), ("b", "x")],
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("pairs", SMALL.values(), ids=SMALL)
def test_more_classes_have_the_p_value_of_all_permutations(pairs: list[tuple[str, str]]) -> None:
    labels, answers = zip(*pairs, strict=True)
    hits = sum(label == answer for label, answer in pairs)
    dealt = [sum(map(str.__eq__, labels, permutation)) for permutation in permutations(answers)]
    wanted = sum(count >= hits for count in dealt) / len(dealt)
    p = chance(table(*pairs))
    # Four standard deviations of the draws, and the draw that was seen.
    assert p == pytest.approx(wanted, abs=4 * sqrt(wanted * (1 - wanted) / agreement.DRAWS) + 2e-4)
    assert p == chance(table(*pairs)), "the draws are fixed"


@pytest.mark.parametrize(
    "rows", [[[9, 0], [5, 0]], [[9, 5], [0, 0]], [[9, 0], [0, 0]], [[4, 0, 0], [4, 0, 0], [4, 0, 0]]], ids=str
)
def test_where_labels_or_answers_are_all_equal_nothing_varies(rows: list[list[int]]) -> None:
    assert correlation(square(*rows)) is None
    assert chance(square(*rows)) == 1.0


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "rows",
    [
        [[70, 20, 10], [35, 50, 15], [30, 20, 50]],
        [[40, 32, 28], [30, 38, 32], [30, 30, 40]],
        [[34, 33, 33], [33, 34, 33], [33, 33, 34]],
        [[30, 35, 35], [35, 30, 35], [35, 35, 30]],
        [[180, 12, 8], [48, 9, 3], [36, 2, 2]],
    ],
    ids=str,
)
def test_for_many_samples_the_normal_distribution_is_near_the_permutations(
    rows: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = chance(square(*rows))
    monkeypatch.setattr(agreement, "FEW", 0)
    assert chance(square(*rows)) == pytest.approx(drawn, abs=0.02)


def test_for_two_classes_the_normal_distribution_would_be_near_the_exact_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer that is given once makes a third class, and hardly another p-value."""
    rows = [[300, 260], [240, 290]]
    exact = chance(square(*rows))
    third = {"a": {"a": 300, "b": 260}, "b": {"a": 240, "b": 289, "c": 1}}
    monkeypatch.setattr(agreement, "FEW", 0)
    assert chance(third) == pytest.approx(exact, rel=0.15)
    # Ten times as many samples need no draws.
    monkeypatch.undo()
    many = {label: {answer: 10 * number for answer, number in row.items()} for label, row in third.items()}
    assert 0 < chance(many) < 1e-9 < exact

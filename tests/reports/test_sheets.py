"""Tables of a comparison, before any format."""

import csv
import io
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.reports import wording
from codeaudit.reports.records import Comparison
from codeaudit.reports.render.csv import tables
from codeaudit.reports.sheets import Sheet, legends_once, sheets
from codeaudit.reports.statistics.adjustment import cliques
from codeaudit.reports.statistics.paired import compare_paired
from codeaudit.reports.statistics.trials import compare_trials
from tests.reports.test_first_screen import repeated, screen

NAMES = "abcde"
PAIRS = list(combinations(NAMES, 2))


def bars(comparison: Comparison) -> dict[str, str]:
    """The diagram's last column, by model."""
    sheet = next(one for one in sheets(comparison) if one.title.startswith("Critical differences"))
    return {row[1].lines[0]: row[2].lines[0] for row in sheet.rows}


@given(st.sets(st.sampled_from(PAIRS)))
def test_cliques_are_all_the_largest_groups_of_names_alike(alike: set[tuple[str, str]]) -> None:
    groups = [set(g) for size in range(2, 6) for g in combinations(NAMES, size)]
    whole = [g for g in groups if all(pair in alike for pair in combinations(sorted(g), 2))]
    largest = [g for g in whole if not any(g < other for other in whole)]
    found = cliques(NAMES, alike)
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


def test_the_diagram_parts_what_the_tests_part() -> None:
    values: dict[str, list[float]] = {
        "good": [0.1, 0.2, 0.3, 0.4, 0.5],
        "same": [0.15, 0.25, 0.35, 0.45, 0.55],
        "bad": [5, 6, 7, 8, 9],
    }
    metric = compare_trials("error", "lower", values)
    assert bars(Comparison(metrics=(metric,))) == {"good": "┃", "same": "┃", "bad": " "}
    assert metric.ranks == {"good": 5.0, "same": 6.0, "bad": 13.0}
    assert {(pair.first, pair.second): pair.effect for pair in metric.pairs}["good", "bad"] == -1.0


def test_paired_ranks_share_places_and_the_best_is_first() -> None:
    outcomes = {
        "a": [False, False, True, False],
        "b": [True, False, True, False],
        "c": [True, False, True, True],
    }
    lower = compare_paired("violated", "lower", outcomes).ranks
    assert lower == {"a": (1 + 2 + 2 + 1.5) / 4, "b": (2.5 + 2 + 2 + 1.5) / 4, "c": (2.5 + 2 + 2 + 3) / 4}
    higher = compare_paired("sensitive", "higher", outcomes).ranks
    assert all(abs(lower[name] + higher[name] - 4) < 1e-12 for name in outcomes)


def test_no_diagram_where_no_difference_was_shown() -> None:
    outcomes = {name: [False, True] * 10 for name in "abc"}
    found = compare_paired("violated", "lower", outcomes)
    assert not [one for one in sheets(Comparison(paired=(found,))) if one.title.startswith("Critical")]


def test_one_table_holds_every_model() -> None:
    metric = compare_trials("f1", "higher", {"a": [0.5], "b": [0.6]})
    paired = compare_paired("violated movable samples", "lower", {"a": [True] * 9, "c": [False] * 9})
    first = sheets(Comparison(metrics=(metric,), paired=(paired,)))[0]
    assert [row[0].lines[0] for row in first.rows] == ["a", "b", "c"]
    assert [cell.lines[0] for cell in first.rows[2]] == ["c", "-", "0 %"]
    assert "one trial each: no test" in first.notes[0]


def test_what_sees_nothing_is_not_best_by_violating_nothing() -> None:
    seeing = {"blind": [0.0, 0.0, 0.0], "sees": [0.4, 0.5, 0.6]}
    violated = {"blind": [0.0, 0.01, 0.02], "sees": [0.6, 0.7, 0.8]}
    metrics = (
        compare_trials("sensitivity", "higher", seeing),
        compare_trials("violated", "lower", violated),
    )
    (table, *_) = sheets(Comparison(metrics=metrics))
    assert {row[0].lines[0]: [cell.bold for cell in row] for row in table.rows}["blind"] == [False] * 3
    assert any("blind may look steady; but no control" in note for note in table.notes)
    metrics = (metrics[0], compare_trials("violation rate", "lower", violated))
    (table, *_) = sheets(Comparison(metrics=metrics))
    assert {row[0].lines[0]: [cell.bold for cell in row] for row in table.rows}["blind"] == [False] * 3
    assert "blind: no control changed an answer." in table.notes


def test_a_sentence_that_explains_a_word_stands_once_on_a_page() -> None:
    first = Sheet(title="a", columns=(), rows=(), notes=("n",), legend=("one word.", "another."))
    second = replace(first, title="b", legend=("another.", "a third."))
    assert [sheet.legend for sheet in legends_once([first, second])] == [
        ("one word.", "another."),
        ("a third.",),
    ]
    assert [sheet.notes for sheet in legends_once([first, second])] == [("n",), ("n",)]


@pytest.mark.slow
def test_what_edits_changed_beyond_noise_has_a_table_and_columns_of_csv() -> None:
    noisy, steady = repeated("noisy", 0.05, 0.1), repeated("steady", 0.0, 0.1)
    summary = screen(noisy, steady)
    (sheet,) = [one for one in sheets(summary) if one.title == "What edits changed beyond noise"]
    assert {row[0].lines for row in sheet.rows} == {("noisy",)}
    edits = {row[1].lines[0]: [cell.lines[0] for cell in row[2:]] for row in sheet.rows}
    assert list(edits) == [
        "all together",
        "reorder",
        "rename",
        "reorder-breaking",
        "controls, per pair",
        "drop of F1",
    ]
    model = summary.models[0]
    (rename,) = [row for row in model.by_transform if row.transform == "rename"]
    told, _, counts = wording.excess_lines(rename.excess, rename.noise)
    assert edits["rename"] == [
        told,
        wording.ends(rename.excess),
        counts,
        wording.p_value(rename.pair_excess.p),
    ]
    assert edits["drop of F1"][0] == wording.value(model.score.drop_excess.points, share=True)
    rows = list(csv.DictReader(io.StringIO(tables(summary)["transforms.csv"])))
    (row,) = [row for row in rows if (row["model"], row["transform"]) == ("noisy", "rename")]
    assert float(row["excess_points"]) == rename.excess.points
    assert float(row["pair_excess_p"]) == rename.pair_excess.p
    assert int(row["noise_count"]) == rename.noise.count
    # Without a noisy model there is nothing to subtract.
    assert not [one for one in sheets(screen(steady)) if one.title == sheet.title]

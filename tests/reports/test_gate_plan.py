"""The number of samples that a gate needs."""

import random

import pytest

from codeaudit.reports.gate_plan import POWERS, plan, plan_sheets
from codeaudit.reports.statistics.mcnemar import SampleChange, paired_rise, power


def caught(samples: int, rise: float, churn: float, *, alpha: float, margin: float, runs: int = 300) -> float:
    """How often the rule of the gate fails in drawn runs, with whole samples that change."""
    draw = random.Random(0)
    failed = 0
    for _ in range(runs):
        appeared = sum(draw.random() < rise + churn for _ in range(samples))
        gone = sum(draw.random() < churn for _ in range(samples))
        changes = [SampleChange(False, True)] * appeared + [SampleChange(True, False)] * gone
        changes += [SampleChange(False, False)] * max(0, samples - len(changes))
        tested = paired_rise(changes)
        failed += tested.p <= alpha and tested.rise > margin
    return failed / runs


@pytest.mark.thinned(1)
@pytest.mark.parametrize("churn", [0.0, 0.02])
@pytest.mark.parametrize("tests", [1, 4])
def test_drawn_runs_fail_as_often_as_planned(churn: float, tests: int) -> None:
    planned = plan(alpha=0.01, margin=0.01, tests=tests, churn=churn, samples=150)
    assert any(row.rise >= 0.05 for row in planned.rows)
    for row in planned.rows:
        if row.rise < 0.05:
            continue
        assert caught(150, row.rise, churn, alpha=0.01 / tests, margin=0.01) == pytest.approx(
            row.power, abs=0.1
        )
        for wanted, number in zip(POWERS, row.samples, strict=True):
            assert number is not None
            assert power(number, row.rise, churn=churn, alpha=0.01 / tests, margin=0.01) >= wanted
            # Clearly fewer samples are not enough.
            assert power(int(number * 0.8), row.rise, churn=churn, alpha=0.01 / tests, margin=0.01) < wanted


@pytest.mark.slow
def test_more_is_needed_for_smaller_rises_more_tests_and_more_noise() -> None:
    usual = plan(alpha=0.01, margin=0.01, tests=1)
    assert [row.rise for row in usual.rows] == [0.02, 0.03, 0.05, 0.1, 0.2]
    counts = [row.samples[1] for row in usual.rows]
    assert counts == sorted(counts, reverse=True)  # type: ignore[type-var]
    for harder in (
        plan(alpha=0.01, margin=0.01, tests=10),
        plan(alpha=0.001, margin=0.01, tests=1),
        plan(alpha=0.01, margin=0.01, tests=1, churn=0.05),
    ):
        assert all(
            more > less
            for one, other in zip(harder.rows, usual.rows, strict=True)
            for more, less in zip(one.samples, other.samples, strict=True)
        )


def test_a_rise_within_the_margin_cannot_be_planned_for() -> None:
    planned = plan(alpha=0.01, margin=0.1, tests=1, samples=50)
    assert [row.rise for row in planned.rows] == [0.2]
    (sheet,) = plan_sheets(planned)
    assert len(sheet.columns) == len(sheet.rows[0]) == 5

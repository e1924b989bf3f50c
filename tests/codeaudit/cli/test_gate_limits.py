"""A limit is the number that the user wrote: what is exactly at it passes, what is beyond it fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import click
import pytest

from codeaudit.cli.gate import _loss, _share
from codeaudit.reports.checks import Gate
from codeaudit.reports.gate import Limits, RiseTest, gate, rejected
from codeaudit.reports.judged import Judged
from codeaudit.reports.records import ModelSummary, Rate
from codeaudit.reports.statistics.mcnemar import SampleChange, paired_loss, paired_rise
from tests.reports.test_gate import crowd, judged

BASE = judged(*crowd(1, 4))


def tenths() -> Iterator[tuple[int, int]]:
    """Every share with one decimal of a percent, as a run has it: so many of so many."""
    for thousandths in range(1, 1000):
        share = Fraction(thousandths, 1000)
        yield share.numerator, share.denominator


def written(count: int, total: int) -> list[str]:
    """The share as users write it."""
    share = Decimal(count) / Decimal(total)
    return [f"{100 * share:f}%", f"{100 * share:.1f} %", f"{share:f}", f"{share:.4f}"]


def near(count: int, total: int, step: int) -> str:
    """A share that differs in the tenth digit."""
    return f"{100 * (Decimal(count) / Decimal(total)) + step * Decimal('1e-8'):f}%"


def with_model(change: Callable[[ModelSummary], ModelSummary]) -> Judged:
    (model,) = BASE.summary.models
    return replace(BASE, summary=replace(BASE.summary, models=(change(model),)))


def decided(run: Judged, **limits: Any) -> Gate:
    return gate(run, Limits(allow_insensitive=True, **limits))


def test_a_violation_rate_at_its_limit_passes_and_above_it_fails() -> None:
    for count, total in tenths():
        rate = Rate(count=count, total=total, rate=count / total)

        def changed(model: ModelSummary, rate: Rate = rate) -> ModelSummary:
            rows = (replace(row, violations=rate) for row in model.by_transform if row.kind == "preserving")
            return replace(model, by_transform=tuple(rows))

        run = with_model(changed)
        for text in written(count, total):
            assert decided(run, max_violation_rate=_share(text)).outcome == "passed", (text, count, total)
        assert decided(run, max_violation_rate=_share(near(count, total, -1))).outcome == "failed", count
        assert decided(run, max_violation_rate=_share(near(count, total, 1))).outcome == "passed", count


def test_a_sensitivity_at_its_limit_passes_and_below_it_fails() -> None:
    for count, total in tenths():
        rate = Rate(count=count, total=total, rate=count / total)
        run = with_model(lambda model, rate=rate: replace(model, sensitivity=rate))  # type: ignore[misc]
        for text in written(count, total):
            assert decided(run, min_sensitivity=_share(text)).outcome == "passed", (text, count, total)
        assert decided(run, min_sensitivity=_share(near(count, total, 1))).outcome == "failed", count


def test_a_drop_at_its_limit_passes_and_above_it_fails() -> None:
    for count, total in tenths():
        attack = 1 - count / total  # so that the drop has the error of a difference
        run = with_model(
            lambda model, attack=attack: replace(  # type: ignore[misc]
                model, score=replace(model.score, original=1.0, attack_worst_sample=attack, drop=1.0 - attack)
            )
        )
        for text in written(count, total):
            assert decided(run, max_f1_drop=_loss(text)).outcome == "passed", (text, count, total)
        assert decided(run, max_f1_drop=_loss(near(count, total, -1))).outcome == "failed", count


@pytest.mark.slow
def test_a_rise_and_a_lost_score_at_the_margin_pass_and_above_it_fail() -> None:
    for count, total in tenths():
        rise = paired_rise(
            [SampleChange(False, True)] * count + [SampleChange(False, False)] * (total - count)
        )
        loss = paired_loss([(1.0, 0.0)] * count + [(1.0, 1.0)] * (total - count), better="higher").loss
        for text in written(count, total):
            margin = _share(text)
            assert not rejected(RiseTest("m", "", rise), 0.0, Limits(margin=margin)), (text, count, total)
            assert round(loss - margin, 12) <= 0, (text, count, total)
        assert rejected(RiseTest("m", "", rise), 0.0, Limits(margin=_share(near(count, total, -1)))), count


def test_a_limit_is_the_float_next_to_what_was_written() -> None:
    """So that a comparison with the quotient of two whole numbers, which is that too, is exact."""
    for count, total in tenths():
        for text in written(count, total):
            assert _share(text) == count / total, text
    assert [_share(text) for text in ("100%", "100 %", " 5% ", "0", "0%", ".5", "1e-3", "0.5e1%")] == [
        1.0, 1.0, 0.05, 0.0, 0.0, 0.5, 0.001, 0.05,
    ]  # fmt: skip
    assert _loss("inf") == inf


@pytest.mark.parametrize("read", [_share, _loss])
@pytest.mark.parametrize("text", ["1", "1.0", "1.", "01", " 1 ", "1.000"])
def test_a_bare_one_is_asked_about(read: Callable[[str], float], text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"may mean 1% or 100%; write one of them"):
        read(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("5", "did you mean 5%?"),
        ("100", "did you mean 100%?"),
        ("101", "is not between 0 and 1"),
        ("101%", "is not between 0 and 1"),
        ("-1%", "is not between 0 and 1"),
        ("-0.1", "is not between 0 and 1"),
        ("inf", "is not between 0 and 1"),
        ("Infinity", "is no share; write 0.05 or 5%"),
        ("nan", "is no share"),
        ("5%%", "is no share"),
        ("%", "is no share"),
        ("", "is no share"),
        ("1/2", "is no share"),
        ("0,5", "is no share"),
        ("five", "is no share"),
    ],
)
def test_what_is_no_share_is_told(text: str, told: str) -> None:
    with pytest.raises(click.BadParameter) as error:
        _share(text)
    assert told in error.value.message

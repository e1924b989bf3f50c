"""Numbers as people read them."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.audit.records import Audited
from codeaudit.reports import wording
from codeaudit.reports.records import NOTHING, ModelSummary, Rate, Test
from codeaudit.reports.statistics.intervals import single
from tests.reports.test_summarise import BAD, GOOD, summary_of
from tests.support.audited import audited, sample


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, "-"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.2105, "21.1 %"),
        (0.0004, "<0.1 %"),
        (0.9996, ">99.9 %"),
        (0.5, "50.0 %"),
    ],
)
def test_percent(share: float | None, text: str) -> None:
    assert wording.percent(share) == text


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_only_exact_ends_are_printed_as_ends(share: float) -> None:
    assert wording.percent(share) not in ("0 %", "0.0 %", "100 %", "100.0 %")


def test_a_rate_over_nothing_is_a_dash() -> None:
    assert wording.lines(NOTHING) == ("-",)


def test_a_rate_has_share_interval_and_counts() -> None:
    assert wording.lines(single([True] * 12 + [False] * 45)) == ("21.1 %", "12.5–33.3", "12/57")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "params unknown"),
        (12, "12 params"),
        (1_723_400, "1.72 M params"),
        (7_000_000_000, "7 B params"),
        (45_000, "45 k params"),
    ],
)
def test_size(number: int | None, text: str) -> None:
    assert wording.size(number) == text


def test_reasons_are_cut_to_the_largest_and_the_rest_is_counted() -> None:
    assert wording.reasons({"a": 1, "b": 5, "c": 3, "d": 2, "e": 1}) == "5 × b, 3 × c, 2 × d, 2 others"
    assert wording.reasons({}) == "-"


@pytest.mark.parametrize(
    ("p", "text"), [(None, "-"), (0.00001, "<0.0001"), (0.0495, "0.05"), (0.0123, "0.012"), (1.0, "1")]
)
def test_p_values(p: float | None, text: str) -> None:
    assert wording.p_value(p) == text


def test_a_test_is_told_with_its_method_and_the_smallest_p() -> None:
    test = Test(
        name="Kruskal-Wallis",
        method="exact permutation",
        statistic=3.857,
        p=0.1,
        asymptotic_p=0.0495,
        smallest_p=0.1,
        notes=("too few trials",),
    )
    assert wording.verdict(test) == (
        "Kruskal-Wallis 3.86, p = 0.1 (exact permutation; 0.05 by chi-square; smallest reachable 0.1); "
        "too few trials"
    )


def test_what_a_terminal_would_obey_is_replaced() -> None:
    assert wording.plain("a\x1b[2Jb\nc") == "a\ufffd[2Jb\ufffdc"


def reading(*records: Audited) -> str:
    return wording.reading(summary_of(*records).models[0])


def test_reading_of_an_invariant_model() -> None:
    text = reading(audited("m", sample("a"), after={"reorder": [GOOD], "reorder-breaking": [BAD]}))
    assert text == "m kept every answer on all 1 movable samples (0 %, 0–79.3)"


def test_reading_of_a_model_that_answers_the_same_to_everything() -> None:
    text = reading(audited("m", sample("a"), after={"reorder": [GOOD], "reorder-breaking": [GOOD]}))
    assert "no control changed an answer either" in text


def test_reading_says_what_edits_changed_beyond_noise() -> None:
    noisy = [
        audited("m", sample(f"s{n}"), after={"reorder": [BAD], "identity": [BAD if n < 10 else GOOD]})
        for n in range(40)
    ]
    assert reading(*noisy).endswith(
        "; it changed 75.0 points more answers than asking again did (95 %: 56.3 to 86.6), so an effect is shown"
    )
    drowned = [
        audited("m", sample(f"s{n}"), after={"reorder": [BAD if n < 11 else GOOD], "identity": [BAD]})
        for n in range(40)
    ]
    assert "; it changed 72.5 points fewer answers than asking again did (95 %: " in reading(*drowned)
    assert reading(*drowned).endswith("), so no effect is shown")


def test_reading_of_a_run_in_which_nothing_could_be_judged_says_why() -> None:
    text = reading(audited("m", sample("a"), missing={"reorder": ("no other legal order", 4)}))
    assert text == "m: nothing could be judged (4 × no other legal order)"


def test_trials_are_told() -> None:
    model = summary_of(audited("m", sample("a"), after={"reorder": [GOOD]})).models[0]
    twice = dataclasses.replace(model, trials=model.trials * 2)
    assert wording.reading(twice).endswith("counted in each of 2 trials")


def test_interval_is_in_percent() -> None:
    assert wording.interval(Rate(count=0, total=3, rate=0.0, low=0.0, high=0.5615)) == "0–56.1"


def test_losses_name_the_reasons_once_for_models_that_share_them() -> None:
    def model(name: str, **changes: Any) -> ModelSummary:
        (summary,) = summary_of(audited("m", sample("a"), after={"reorder": [GOOD]})).models
        return dataclasses.replace(summary, model=name, **changes)

    lost = {"skipped": {"input too long": 6}, "unjudged_reasons": {"numeric noise": 2}}
    models = [model("a", **lost), model("b", **lost), model("c"), model("d", skipped={"endpoint: 429": 1})]
    assert wording.losses(models) == (
        "a, b: skipped: 6 × input too long; unjudged: 2 × numeric noise. d: skipped: 1 × endpoint: 429"
    )
    assert wording.losses([model("c")]) == ""


def test_names_of_scores_are_capitals_only_if_they_are_abbreviations() -> None:
    assert [wording.score_name(name) for name in ("f1", "mape", "accuracy", "pass@1")] == [
        "F1",
        "MAPE",
        "accuracy",
        "pass@1",
    ]

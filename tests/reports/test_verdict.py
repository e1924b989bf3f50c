"""The verdict of a comparison in words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from codeaudit.audit.records import Audited
from codeaudit.reports.compare import compare
from codeaudit.reports.observations import observe
from codeaudit.reports.records import ComparedRun, Comparison, Summary
from codeaudit.reports.render.html.document import opening
from codeaudit.reports.sheets import sheets
from codeaudit.reports.summarise import summarise
from codeaudit.reports.verdict import verdict, verdict_within
from tests.reports.test_compare import metric, run
from tests.reports.test_summarise import BAD, GOOD, header
from tests.support.audited import Subtokens, audited, sample


def told(rates: Mapping[str, float], seeds: Sequence[int] = (0,)) -> list[str]:
    models = {name: (str(n), rate) for n, (name, rate) in enumerate(rates.items())}
    return list(verdict(compare([run("r", models, seeds=seeds)])))


def test_of_two_models_the_more_robust_one_is_named_with_the_difference() -> None:
    (robustness, quality) = told({"vanilla": 0.5, "spe": 0.0})
    assert robustness.startswith(
        "spe is more robust than vanilla: violation rate on 30 shared samples 0 % (0/30)"
    )
    assert "points apart (95 % interval " in robustness
    assert "p < 0.0001" in robustness
    assert (
        quality
        == "F1: vanilla 100.0, spe 100.0. So few trials cannot show a difference; runs with --trials 5 can."
    )


def test_where_no_difference_is_shown_the_visible_one_is_said() -> None:
    (robustness, _) = told({"a": 0.1, "b": 0.1})
    assert robustness.startswith("Neither is shown to be more robust: violation rate on 30 shared samples")
    assert "This many samples show differences of " in robustness


def test_many_models_stand_in_order_and_neighbours_that_are_alike_are_named() -> None:
    (order, alike, _) = told({"worst": 0.9, "best": 0.0, "same": 0.0})
    assert order.startswith(
        "From most to least robust, by the violation rate on 30 shared samples: best 0 %, same 0 %, worst"
    )
    assert alike == "Not told apart at p = 0.05: best and same."


def test_trials_decide_on_quality() -> None:
    quality = told({"a": 0.0, "b": 0.3}, seeds=range(5))[-1]
    assert quality.startswith("F1 is not shown to differ (p = 1): ")


def test_signs_and_ends_of_the_difference_do_not_depend_on_the_order_of_models() -> None:
    (one, _), (other, _) = told({"a": 0.05, "b": 0.6}), told({"b": 0.6, "a": 0.05})
    assert one.split(" points apart")[1] == other.split(" points apart")[1]
    low, high = one.split("95 % interval ")[1].split(")")[0].split(" to ")
    assert 0 < float(low) < float(high)


def blinded(rates: Mapping[str, float], unmoved: Sequence[str]) -> list[str]:
    """The verdict if no control changed an answer of some models."""
    models = {name: (str(n), rate) for n, (name, rate) in enumerate(rates.items())}
    comparison = compare([run("r", models)])
    rate = metric(comparison, "violation rate")
    groups = tuple(replace(group, mean=0.0 if group.name in unmoved else 0.5) for group in rate.groups)
    metrics = (*comparison.metrics, replace(rate, name="sensitivity", better="higher", groups=groups))
    return list(verdict(replace(comparison, metrics=metrics)))


def test_a_model_that_notices_no_control_is_never_called_more_robust() -> None:
    (rate, aside, *_) = blinded({"constant": 0.0, "spe": 0.5}, ["constant"])
    assert rate.startswith("Violation rate on 30 shared samples: spe ")
    assert (
        aside == "Not ranked: constant 0 %. No control changed its answers, so a low rate is no robustness."
    )
    (order, aside, _) = blinded({"a": 0.0, "constant": 0.0, "b": 0.9, "deaf": 0.0}, ["constant", "deaf"])
    assert order.startswith(
        "From most to least robust, by the violation rate on 30 shared samples: a 0 %, b "
    )
    assert aside.startswith("Not ranked: constant 0 % and deaf 0 %. No control changed their answers")
    (aside, _) = blinded({"constant": 0.0, "deaf": 0.0}, ["constant", "deaf"])
    assert aside.startswith("Not ranked: ")


def test_where_the_interval_says_more_than_the_test_the_sentence_explains_it() -> None:
    (robustness, _) = told({"a": 0.0, "b": 0.04})
    assert "(95 % interval 1.6 to 29.6), p = 0.062. The exact test, which decides, is stricter" in robustness
    (robustness, _) = told({"a": 0.0, "b": 0.03})
    assert "stricter" not in robustness


def gapped(flips: int, gaps: int, noisy: int = 0, *, samples: int = 40) -> list[Audited]:
    """A model with so many changed, missing and noisy answers."""
    names = [f"s{number:02}" for number in range(samples)]
    return [
        audited(
            "m",
            sample(name),
            after={
                "reorder": [None if number >= samples - gaps else BAD if number < flips else GOOD],
                "reorder-breaking": [BAD],
                "identity": [BAD if number < noisy else GOOD],
            },
        )
        for number, name in enumerate(names)
    ]


def together(models: Mapping[str, list[Audited]]) -> list[Audited]:
    return [replace(record, model=name) for name, several in models.items() for record in several]


def within(**models: list[Audited]) -> Summary:
    return summarise([(0, together(models))], task=Subtokens(), header=header(*models))


def compared(**models: list[Audited]) -> Comparison:
    rows = tuple(flip for record in together(models) for flip in observe(record, seed=0).flips())
    return compare([ComparedRun(name="r", summary=within(**models), flips=rows)])


def test_missing_verdicts_that_could_change_the_reading_are_told() -> None:
    comparison = compared(a=gapped(2, 0), b=gapped(2, 12))
    (_, missing, _) = verdict(comparison)
    assert missing == (
        "12 of 120 verdicts of b are missing (12 × numeric noise) and could change this reading."
    )
    (one, other) = comparison.coverage
    assert (one.missing, one.verdicts, other.missing, other.verdicts) == (0, 120, 12, 120)
    assert other.bounds == (2 / 40, 14 / 40)


def test_the_page_of_one_run_tells_missing_verdicts_as_a_comparison_does() -> None:
    models = {"a": gapped(2, 0), "b": gapped(2, 12)}
    missing = [sentence for sentence in verdict(compared(**models)) if "are missing" in sentence]
    assert len(missing) == 1
    assert [sentence for sentence in verdict_within(within(**models)) if "are missing" in sentence] == missing
    assert "12 of 120 verdicts of b are missing" in opening(within(**models), ())
    assert not [sentence for sentence in verdict_within(within(b=models["b"])) if "are missing" in sentence]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("flips", "gaps", "told"),
    [(0, 1, False), (20, 4, False), (12, 5, False), (30, 3, False), (9, 10, True), (0, 40, True)],
)
def test_few_missing_verdicts_are_told_only_if_they_could_turn_the_order(
    flips: int, gaps: int, told: bool
) -> None:
    sentences = list(verdict(compared(a=gapped(0, 0), b=gapped(flips, gaps))))
    assert any("are missing" in sentence for sentence in sentences) == told


def test_a_difference_that_missing_answers_could_turn_is_told_however_few_they_are() -> None:
    # 8 against 0 of 200 is a difference; 8 missing answers of the other model could be changed ones.
    several = compared(a=gapped(0, 9, samples=200), b=gapped(8, 0, samples=200))
    sentences = list(verdict(several))
    assert sentences[0].startswith("a is more robust than b")
    assert sentences[1].startswith("9 of 600 verdicts of a are missing")


def test_what_edits_changed_beyond_noise_is_told() -> None:
    (robustness, one, other, _) = verdict(compared(a=gapped(3, 0, noisy=3), b=gapped(20, 0, noisy=1)))
    assert robustness.startswith(
        "a is more robust than b: excess of violated samples over noise, in points, on 40 shared samples 0 "
        "against +47.5; 47.5 points apart (95 % interval "
    )
    assert one == (
        "Edits of shared inputs: a changed as many answers as asking again did (95 %: -6.6 to 6.6), so no effect "
        "is shown."
    )
    assert other.startswith(
        "Edits of shared inputs: b changed 47.5 points more answers than asking again did"
    )
    assert other.endswith("so an effect is shown.")


def test_without_an_excess_changes_that_may_be_noise_are_told_by_pair() -> None:
    comparison = compared(a=gapped(3, 0, noisy=3), b=gapped(20, 0, noisy=1))
    (_, noise, _) = verdict(replace(comparison, paired=[replace(comparison.paired[0], by_excess=False)]))  # type: ignore[arg-type]
    assert noise == (
        "a changes 7.5 % (3/40) of its answers to unchanged inputs: 7.5 % (3/40) under single edits is not "
        "clearly more."
    )


def test_every_model_has_its_missing_verdicts_and_its_noise_in_a_table() -> None:
    comparison = compared(a=gapped(2, 0, noisy=1), b=gapped(2, 12))
    table = next(sheet for sheet in sheets(comparison) if sheet.title == "Missing verdicts and noise")
    (one, other) = ([cell.lines for cell in row] for row in table.rows)
    assert one[1] == ("0 %", "0/120")
    assert other[1:3] == [("10.0 %", "12/120"), ("12 × numeric noise",)]
    assert one[4][0] == "2.5 %"
    assert Comparison.from_json(comparison.to_json()) == comparison

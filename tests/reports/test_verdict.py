"""The verdict of a comparison in words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeaudit.reports.compare import compare
from codeaudit.reports.verdict import verdict
from tests.reports.test_compare import metric, run


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
    found = compare([run("r", models)])
    rate = metric(found, "violation rate")
    groups = tuple(replace(one, mean=0.0 if one.name in unmoved else 0.5) for one in rate.groups)
    metrics = (*found.metrics, replace(rate, name="sensitivity", better="higher", groups=groups))
    return list(verdict(replace(found, metrics=metrics)))


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

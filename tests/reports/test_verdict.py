"""The verdict of a comparison in words."""

from collections.abc import Mapping, Sequence

from codeaudit.reports.compare import compare
from codeaudit.reports.verdict import verdict
from tests.reports.test_compare import run


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
    assert quality == "F1: vanilla 100.0, spe 100.0. So few trials cannot show a difference; --trials 5 can."


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

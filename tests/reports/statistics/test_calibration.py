"""Probabilities from scores, the Brier score, and the calibration error."""

from math import log

import pytest

from codeaudit.reports.statistics.calibration import ScoredAnswers, probability


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ({"same": 0.8, "different": 0.2}, 0.8),
        ({"same": log(0.8), "different": log(0.2)}, 0.8),
        ({"same": log(0.8) + 7, "different": log(0.2) + 7}, 0.8),
        ({"same": 3.0, "different": 3.0}, 0.5),
        ({"same": 0.8}, None),
        ({"0": 0.8, "1": 0.2}, None),
    ],
)
def test_scores_become_the_probability_of_the_answer(scores: dict[str, float], wanted: float | None) -> None:
    measured = probability("same", scores)
    assert measured == (None if wanted is None else pytest.approx(wanted))


def test_the_error_is_the_distance_of_each_bin() -> None:
    one, other = ScoredAnswers(), ScoredAnswers()
    assert (one.brier, one.error) == (None, None)
    for right in (1.0, 1.0, 1.0, 0.0):
        one.add(0.75, right)
    other.add(1.0, 0.0)
    one.join(other)
    assert one.total == 5
    assert one.brier == pytest.approx((3 * 0.0625 + 0.5625 + 1) / 5)
    assert one.error == pytest.approx(1 / 5)

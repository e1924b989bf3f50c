"""The test of a loss of scores against the exact McNemar test and against all flips of signs."""

from itertools import product
from math import sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.reports.statistics import mcnemar
from codeaudit.reports.statistics.mcnemar import paired_loss
from codeaudit.transforms.errors import CannotAudit

Pairs = list[tuple[float, float]]


def by_hand(pairs: Pairs) -> float:
    """The share of all flips of signs that lose as much, for scores of which more is better."""
    losses = [before - now for before, now in pairs if before != now]
    sums = [
        sum(sign * loss for sign, loss in zip(signs, losses, strict=True)) for signs in flips(len(losses))
    ]
    return sum(total >= sum(losses) - 1e-9 for total in sums) / len(sums)


def flips(number: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=number))


COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


@given(COUNTS)
def test_right_and_wrong_answers_have_the_exact_mcnemar_test(counts: tuple[int, int, int, int]) -> None:
    lost, won, right, wrong = counts
    pairs = [(1.0, 0.0)] * lost + [(0.0, 1.0)] * won + [(1.0, 1.0)] * right + [(0.0, 0.0)] * wrong
    loss = paired_loss(pairs, better="higher")
    from scipy.stats import binomtest

    exact = binomtest(lost, lost + won, alternative="greater").pvalue if lost + won else 1.0
    assert loss.p == pytest.approx(exact)
    assert (loss.samples, loss.worse, loss.better) == (len(pairs), lost, won)
    assert loss.loss == pytest.approx((lost - won) / len(pairs))
    assert loss.before == pytest.approx((lost + right) / len(pairs))
    assert loss.now == pytest.approx((won + right) / len(pairs))
    # Of another size the differences are still all of one.
    assert paired_loss([(x / 3, y / 3) for x, y in pairs], better="higher").p == pytest.approx(exact)


REAL: dict[str, Pairs] = {
    "worse": [(0.9, 0.2), (0.8, 0.75), (0.5, 0.1), (1.0, 0.6), (0.3, 0.45), (0.7, 0.3), (0.6, 0.5)],
    "better": [(0.2, 0.9), (0.75, 0.8), (0.1, 0.5), (0.6, 0.3), (0.4, 0.5)],
    "one outweighs many": [(0.9, 0.0), (0.1, 0.15), (0.2, 0.25), (0.3, 0.35), (0.4, 0.45)],
    "ties": [(1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.0), (1.0, 0.5), (1.0, 0.0)],
}


@pytest.mark.parametrize("pairs", REAL.values(), ids=REAL)
def test_other_scores_have_the_share_of_all_flips_of_signs(pairs: Pairs) -> None:
    wanted = by_hand(pairs)
    loss = paired_loss(pairs, better="higher")
    # Four standard deviations of the draws, and the draw that was seen.
    near = 4 * sqrt(wanted * (1 - wanted) / mcnemar.DRAWS) + 2e-5
    assert loss.p == pytest.approx(wanted, abs=near)
    assert loss.p == paired_loss(pairs, better="higher").p, "the draws are fixed"


@pytest.mark.parametrize("pairs", REAL.values(), ids=REAL)
def test_where_less_is_better_a_rise_is_the_loss(pairs: Pairs) -> None:
    higher = paired_loss(pairs, better="higher")
    lower = paired_loss([(-before, -now) for before, now in pairs], better="lower")
    assert (lower.p, lower.worse, lower.better) == (higher.p, higher.worse, higher.better)
    assert lower.loss == pytest.approx(higher.loss)
    assert lower.before == pytest.approx(-higher.before)
    back = paired_loss(pairs, better="lower")
    assert back.loss == pytest.approx(-higher.loss)
    assert back.p + higher.p >= 1 - 0.02


def test_equal_scores_say_nothing() -> None:
    loss = paired_loss([(0.25, 0.25)] * 50, better="higher")
    assert (loss.p, loss.loss, loss.worse, loss.better) == (1.0, 0.0, 0, 0)
    # Samples that did not change count among those that the loss is a share of, and not in the test.
    few: Pairs = [(1.0, 0.0)] * 3
    more = few + [(0.5, 0.5)] * 7
    assert paired_loss(more, better="higher").p == paired_loss(few, better="higher").p == 0.125
    assert paired_loss(more, better="higher").loss == pytest.approx(0.3)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("shift", [-0.1, 0.0, 0.05, 0.1])
def test_for_many_scores_the_normal_distribution_is_near_the_flips(
    shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(1)
    pairs = [(chance.random(), chance.random() - shift) for _ in range(200)]
    drawn = paired_loss(pairs, better="higher")
    assert drawn.method == "sign flips over samples"
    monkeypatch.setattr(mcnemar, "FEW", 199)
    normal = paired_loss(pairs, better="higher")
    assert normal.method == "sign flips over samples, normal"
    assert normal.p == pytest.approx(drawn.p, abs=0.01)


def test_without_a_shared_score_nothing_is_compared() -> None:
    with pytest.raises(CannotAudit, match="no shared scores"):
        paired_loss([], better="higher")

"""How far the answers of a sampled model moved."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics import distances
from codeaudit.reports.statistics.distances import Draws, counted, distance, mean_distance, sample_distance


def drawn(
    rng: np.random.Generator, before: Sequence[float], after: Sequence[float], sizes: Sequence[int]
) -> Draws:
    groups = [
        rng.choice(len(before), size, p=before if not n else after).tolist() for n, size in enumerate(sizes)
    ]
    found = counted(groups[0], groups[1:])
    assert found is not None
    return found


def test_by_hand() -> None:
    """`a a b` against `a b`: 3 of 6 pairs differ across, 2 of 3 within the original, all within the variant."""
    draws = counted(["a", "a", "b"], [["a", "b"]])
    assert draws == ((1, 1), (2, 1))
    assert distance(draws) == Fraction(3, 6) - (Fraction(2, 3) + 1) / 2 == Fraction(-1, 3)


def test_answers_that_never_agree_are_one_apart() -> None:
    draws = counted(["a"] * 4, [["b"] * 3])
    assert draws is not None
    assert distance(draws) == 1
    assert sample_distance(draws).p == pytest.approx(1 / 35)


def test_several_variants_count_alike() -> None:
    both = counted(["a"] * 3, [["a"] * 3, ["b"] * 2])
    assert both is not None
    assert distance(both) == Fraction(1, 2)


def test_steady_answers_have_no_distance() -> None:
    draws = counted(["a"] * 3, [["a"] * 5])
    assert draws is not None
    assert tuple(sample_distance(draws)) == (0, 1.0)


def test_one_answer_is_no_distribution() -> None:
    assert counted(["a"], [["a", "b"]]) is None
    assert counted(["a", "a"], [["b"], []]) is None
    assert counted(["a", "a"], [["b"], ["b", "b"]]) == counted(["a", "a"], [["b", "b"]])


def test_words_and_order_of_answers_do_not_matter() -> None:
    assert counted(["x", "y", "x"], [["z", "y"]]) == counted([1, 0, 1], [[0, 2]])


def test_an_exact_p_is_that_of_all_orders() -> None:
    originals, variants = ["a", "a", "b"], ["b", "b", "c"]
    draws = counted(originals, [variants])
    assert draws is not None
    every = []
    pooled = originals + variants
    for chosen in combinations(range(6), 3):
        one = counted([pooled[n] for n in chosen], [[pooled[n] for n in range(6) if n not in chosen]])
        assert one is not None
        every.append(distance(one) >= distance(draws))
    assert sample_distance(draws).p == pytest.approx(np.mean(every))


def test_an_exact_p_with_two_variants_is_that_of_all_orders() -> None:
    pooled = ["a", "a", "b", "b", "b", "c"]
    draws = counted(pooled[:2], [pooled[2:4], pooled[4:]])
    assert draws is not None
    every = []
    for order in permutations(pooled):
        one = counted(order[:2], [order[2:4], order[4:]])
        assert one is not None
        every.append(distance(one) >= distance(draws))
    assert sample_distance(draws).p == pytest.approx(np.mean(every))


def test_drawn_orders_agree_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = counted("aaaab", ["abbbc"])
    assert draws is not None
    exact = sample_distance(draws).p
    monkeypatch.setattr(distances, "ARRANGEMENTS", 0)
    distances._dealt.cache_clear()
    assert sample_distance(draws).p == pytest.approx(exact, abs=0.03)
    assert mean_distance([draws]).p == pytest.approx(exact, abs=0.03)
    distances._dealt.cache_clear()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0.7, 0.3, 0.0), (0.7, 0.3, 0.0)),
        ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25)),
        ((0.9, 0.1, 0.0), (0.2, 0.3, 0.5)),
    ],
)
@pytest.mark.parametrize("sizes", [(2, 9), (6, 3, 2)])
def test_it_is_unbiased(before: Sequence[float], after: Sequence[float], sizes: Sequence[int]) -> None:
    """Half the squared distance, with any number of answers."""
    rng = np.random.default_rng(1)
    values = [float(distance(drawn(rng, before, after, sizes))) for _ in range(4000)]
    expected = sum((p - q) ** 2 for p, q in zip(before, after, strict=True)) / 2
    assert np.mean(values) == pytest.approx(expected, abs=4 * np.std(values) / 4000**0.5)


def test_without_an_effect_one_sample_is_rejected_as_often_as_it_should() -> None:
    rng = np.random.default_rng(2)
    ps = np.array(
        [sample_distance(drawn(rng, (0.6, 0.3, 0.1), (0.6, 0.3, 0.1), (5, 4))).p for _ in range(500)]
    )
    for level in (0.05, 0.2, 0.5):
        # Three standard errors. A test with few different values of p rejects less often.
        assert np.mean(ps <= level) <= level + 3 * (level * (1 - level) / 500) ** 0.5


def simulated(
    monkeypatch: pytest.MonkeyPatch, move: float, runs: int, sizes: Sequence[int] = (4, 4, 3)
) -> list[Excess]:
    """Thirty samples, a third of them steady; a third of the others are moved."""
    monkeypatch.setattr(distances, "SHUFFLES", 99)
    rng = np.random.default_rng(3)
    found = []
    for _ in range(runs):
        samples = []
        for n in range(30):
            before = (1.0, 0.0, 0.0) if n % 3 == 0 else (0.7, 0.2, 0.1)
            after = (before[0] - move, before[1], before[2] + move) if n % 3 == 1 else before
            samples.append(drawn(rng, before, after, sizes))
        found.append(mean_distance(samples))
    return found


def test_without_an_effect_the_combined_test_keeps_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    ps = np.array([one.p for one in simulated(monkeypatch, 0.0, 300)])
    # At most 6 %, and three standard errors of 300 runs.
    assert np.mean(ps <= 0.05) <= 0.06 + 0.038
    assert 0.4 < ps.mean() < 0.6, "it is even"
    assert np.mean(ps <= 0.5) == pytest.approx(0.5, abs=0.09)


def test_an_effect_is_shown_and_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    found = simulated(monkeypatch, 0.6, 100)
    expected = 0.6**2 / 3
    assert np.mean([one.p <= 0.05 for one in found]) > 0.95
    assert np.mean([one.low <= expected <= one.high for one in found]) >= 0.88
    assert np.mean([one.points for one in found]) == pytest.approx(expected, abs=0.01)


def test_the_mean_over_samples() -> None:
    samples = [counted(["a"] * 4, [["b"] * 4]), counted(["a"] * 4, [["a"] * 4])]
    known = [one for one in samples if one is not None]
    found = mean_distance(known)
    assert (found.points, found.samples) == (0.5, 2)
    assert found.p == pytest.approx(1 / 35, abs=0.01)
    assert found.low < 0.5 < found.high <= 1
    assert mean_distance(known[::-1]) == found
    assert mean_distance([]) == Excess()


def test_large_pools_are_drawn_with_a_fixed_seed() -> None:
    draws = counted(list("aaaabbbccd"), [list("aaabbbbcde")] * 4)
    assert draws is not None
    assert sample_distance(draws) == sample_distance(draws)
    assert sample_distance(draws, seed=1).p == pytest.approx(sample_distance(draws).p, abs=0.05)
    assert sample_distance(draws).p > 0.2

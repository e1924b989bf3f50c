"""Answers that are shuffled within samples."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeaudit.reports.records import Excess
from codeaudit.reports.statistics import shuffles
from codeaudit.reports.statistics.excess import estimated, pair_excess
from codeaudit.reports.statistics.shuffles import Pool, Table, difference, pooled, shuffled, tabled

SAMPLES = st.lists(
    st.tuples(st.text("abc", min_size=2, max_size=3), st.text("abc", min_size=1, max_size=2)),
    min_size=1,
    max_size=3,
)


def _of_answers(tables: Sequence[Table]) -> Excess:
    return estimated([difference(table) for table in tables], shuffled(tables))


def by_pairs(originals: str, variants: str) -> Fraction:
    across = [one != other for one, other in product(originals, variants)]
    within = [one != other for one, other in combinations(originals, 2)]
    return Fraction(sum(across), len(across)) - Fraction(sum(within), len(within))


def brute_force(samples: list[tuple[str, str]]) -> tuple[float, float]:
    """The chances of a sum at least and at most as large, over all ways to deal out the answers."""
    sums = {Fraction(0): Fraction(1)}
    for originals, variants in samples:
        every = originals + variants
        chosen = list(combinations(range(len(every)), len(originals)))
        grown: dict[Fraction, Fraction] = {}
        for places in chosen:
            first = "".join(every[n] for n in places)
            rest = "".join(every[n] for n in range(len(every)) if n not in places)
            for value, chance in sums.items():
                total = value + by_pairs(first, rest)
                grown[total] = grown.get(total, Fraction(0)) + chance / len(chosen)
        sums = grown
    observed = sum((by_pairs(*sample) for sample in samples), Fraction(0))
    tails = [sum(c for v, c in sums.items() if (v - observed) * sign >= 0) for sign in (1, -1)]
    return float(tails[0]), float(tails[1])


@pytest.mark.slow
@given(SAMPLES)
def test_a_difference_is_that_of_all_pairs(samples: list[tuple[str, str]]) -> None:
    for originals, variants in samples:
        assert difference(tabled(originals, variants)) == by_pairs(originals, variants)
        assert -Fraction(1, 2) <= difference(tabled(originals, variants)) <= 1


@settings(deadline=None)
@given(SAMPLES)
def test_p_is_that_of_brute_force(samples: list[tuple[str, str]]) -> None:
    tables = [tabled(*sample) for sample in samples]
    upper, lower = brute_force(samples)
    assert shuffled(tables, above=True) == pytest.approx(upper, abs=1e-9)
    assert shuffled(tables) == pytest.approx(min(1.0, 2 * min(upper, lower)), abs=1e-9)


def test_one_sample_by_hand() -> None:
    """Five equal answers to the original, four equal others to variants: one of 126 ways to deal them out."""
    table = tabled("aaaaa", "bbbb")
    assert sorted(table) == [(0, 4), (5, 0)]
    assert difference(table) == 1
    assert shuffled([table], above=True) == pytest.approx(1 / 126)
    assert shuffled([table]) == pytest.approx(2 / 126)
    assert shuffled([table, tabled("aaaaa", "aaaa")]) == shuffled([table])


def test_steady_samples_alone_have_p_one() -> None:
    assert shuffled([]) == shuffled([tabled("aa", "a")] * 3) == 1.0


def test_the_words_of_answers_do_not_matter() -> None:
    assert pooled(tabled("xyx", "zz")) == pooled(tabled("aab", "cc")) == Pool((2, 2, 1), 3)


def test_a_shuffled_sample_has_mean_zero() -> None:
    for pool in (Pool((5, 4), 5), Pool((3, 2, 1, 1), 4), Pool((2, 1), 2), Pool((1,) * 17, 9)):
        chances = shuffles.shuffles(pool)
        assert sum(chances.values()) == pytest.approx(1)
        assert sum(value * chance for value, chance in chances.items()) == pytest.approx(0, abs=1e-9)


def simulated(rng: np.random.Generator, *, effect: float, samples: int = 60) -> list[Table]:
    """Noise in a tenth of the samples, half of whose answers are random: differences are skewed."""
    tables = []
    for _ in range(samples):
        chance = 0.5 if rng.random() < 0.1 else 0.0
        stable = [0] * 5 + [1 if rng.random() < effect else 0] * 4
        answers = [int(rng.integers(2, 20)) if rng.random() < chance else answer for answer in stable]
        tables.append(tabled(answers[:5], answers[5:]))
    return tables


@pytest.mark.slow
def test_without_an_effect_it_keeps_its_level() -> None:
    rng = np.random.default_rng(0)
    ps = [shuffled(simulated(rng, effect=0.0)) for _ in range(400)]
    assert np.mean(np.less_equal(ps, 0.05)) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.slow
def test_it_shows_more_than_sign_flips() -> None:
    rng = np.random.default_rng(1)
    runs = [simulated(rng, effect=0.06) for _ in range(100)]
    shown = np.mean([_of_answers(tables).p <= 0.05 for tables in runs])
    flipped = np.mean([pair_excess([difference(table) for table in tables]).p <= 0.05 for tables in runs])
    assert shown > 0.75 > 0.5 > flipped


def test_many_samples_are_taken_as_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    for effect in (0.0, 0.01):
        tables = simulated(rng, effect=effect, samples=1500)
        exact = shuffled(tables), shuffled(tables, above=True)
        with monkeypatch.context() as patch:
            patch.setattr(shuffles, "CELLS", 1)
            assert (shuffled(tables), shuffled(tables, above=True)) == pytest.approx(exact, abs=0.02)


def test_an_exact_p_is_never_zero() -> None:
    assert 0 < shuffled([tabled("aaaaa", "bbbb")] * 100) < 1e-10


def test_the_excess_has_the_interval_of_differences() -> None:
    tables = [tabled("aab", "bb"), tabled("aaa", "aa"), tabled("abc", "cb")]
    excess, flipped = _of_answers(tables), pair_excess([difference(table) for table in tables])
    assert (excess.points, excess.low, excess.high) == (flipped.points, flipped.low, flipped.high)
    assert excess.p == shuffled(tables)
    assert _of_answers([]) == Excess()


def test_samples_may_have_different_numbers_of_answers() -> None:
    samples = [("aab", "b"), ("aaaa", "bbb"), ("ab", "ba")]
    assert shuffled([tabled(*sample) for sample in samples], above=True) == pytest.approx(
        brute_force(samples)[0]
    )

"""The simulation of noise computes for many runs at once what the tool computes for one."""

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from codeaudit.reports.statistics.excess import flips, pair_excess, sample_excess
from codeaudit.reports.statistics.shuffles import difference, shuffled, tabled


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "effect", "variants", "samples", "spread", "repeats"),
    [(0.05, 0.1, 4, 60, "equal", 0), (0.2, 0.0, 1, 30, "two labels", 0), (0.1, 0.05, 3, 400, "hard", 2)],
)
def test_runs_at_once_are_the_tool(
    script: Callable[[str], ModuleType],
    noise: float,
    effect: float,
    variants: int,
    samples: int,
    spread: str,
    repeats: int,
) -> None:
    simulation = script("noise_simulation")
    setting = simulation.NoiseSetting(noise, effect, variants, samples, spread, repeats=repeats)
    originals, edited = simulation.drawn(np.random.default_rng(0), setting, 25)
    measured = simulation.measured(originals, edited, setting.unit)
    codes = simulation.pooled_codes(originals, edited, setting.names)
    pairs, wholes = (
        simulation.bootstrapped(measured.pairs / setting.unit),
        simulation.wald(measured.whole.astype(float), 1),
    )
    shuffles, signs, mcnemar = [], [], []
    for run in range(25):
        answers = [
            (first.tolist(), second.tolist())
            for first, second in zip(originals[run], edited[run], strict=True)
        ]
        tables = [tabled(*answer) for answer in answers]
        differences = [difference(table) for table in tables]
        assert [gap * setting.unit for gap in differences] == measured.pairs[run].tolist()
        excess = pair_excess(differences)
        assert (excess.low, excess.high) == pytest.approx((pairs.low[run], pairs.high[run]))
        units = [
            (
                int(any(answer != first[0] for answer in second)),
                int(any(answer != first[0] for answer in first)),
            )
            for first, second in answers
        ]
        whole = sample_excess(units)
        assert (whole.low, whole.high) == pytest.approx((wholes.low[run], wholes.high[run]))
        assert whole.points == pytest.approx(measured.whole[run].mean())
        mcnemar.append(whole.p <= 0.05)
        shuffles.append([shuffled(tables) <= 0.05, shuffled(tables, above=True) <= 0.05])
        signs.append([flips(differences) <= 0.05, flips(differences, above=True) <= 0.05])
    assert simulation.whole_rejections(measured.whole)[0] == np.mean(mcnemar)
    # Where a normal distribution decides, one run in 25 may lie just at its limit.
    assert simulation.shuffle_rejections(measured.pairs, codes, setting) == pytest.approx(
        np.mean(shuffles, axis=0), abs=0.05
    )
    assert simulation.flip_rejections(measured.pairs) == pytest.approx(np.mean(signs, axis=0), abs=0.05)


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("spread", ["equal", "hard", "two labels"])
def test_what_is_expected_is_the_mean(script: Callable[[str], ModuleType], spread: str, one: bool) -> None:
    simulation = script("noise_simulation")
    setting = simulation.NoiseSetting(0.1, 0.3, 3, 20_000, spread, one)
    measured = simulation.measured(*simulation.drawn(np.random.default_rng(0), setting, 5), setting.unit)
    whole, pairs = simulation.expected(setting)
    assert measured.whole.mean() == pytest.approx(whole, abs=0.008)
    assert measured.pairs.mean() / setting.unit == pytest.approx(pairs, abs=0.005)


def test_without_an_effect_nothing_is_expected(script: Callable[[str], ModuleType]) -> None:
    simulation = script("noise_simulation")
    for spread in ("equal", "hard", "two labels"):
        setting = simulation.NoiseSetting(0.2, 0.0, 4, 50, spread)
        assert simulation.expected(setting) == pytest.approx((0, 0), abs=1e-12)
        assert float(Fraction(setting.unit)) == 20


def test_pools_are_read_from_their_codes(script: Callable[[str], ModuleType]) -> None:
    simulation = script("noise_simulation")
    originals = np.array([[[0, 0, 1], [3, 3, 3]]], dtype=np.int8)
    variants = np.array([[[1, 2], [3, 4]]], dtype=np.int8)
    codes = simulation.pooled_codes(originals, variants, 20)[0].tolist()
    assert [simulation.pool_of(code, 5, 3).sizes for code in codes] == [(2, 2, 1), (4, 1)]

"""What a plan promises is what a simulation shows."""

import numpy as np
import pytest

from codeaudit.reports.statistics.power import chance_of_noise, detectable
from codeaudit.reports.statistics.shuffles import shuffled, tabled


def shown(samples: int, variants: int, noise: float, effect: float, repeats: int, runs: int = 200) -> float:
    """How often an effect is shown that is given in points of the sample excess."""
    rng = np.random.default_rng([samples, variants, repeats])
    share = effect / (1 - noise) ** (variants + 1)
    count = 0
    for _ in range(runs):
        tables = []
        for _ in range(samples):
            stable = [0] * (repeats + 1) + [int(rng.random() < share)] * variants
            noisy = rng.random(len(stable)) < noise
            answers = [n + 2 if noisy[n] else answer for n, answer in enumerate(stable)]
            tables.append(tabled(answers[: repeats + 1], answers[repeats + 1 :]))
        count += shuffled(tables) <= 0.05
    return count / runs


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("samples", "variants", "noise", "repeats"),
    [
        (60, 4, 0.0, 4),
        (60, 4, 0.05, 4),
        (60, 4, 0.05, 1),
        (60, 1, 0.05, 1),
        (60, 3, 0.2, 3),
        (150, 2, 0.1, 2),
    ],
)
def test_the_smallest_effect_is_shown_in_four_of_five_runs(
    samples: int, variants: int, noise: float, repeats: int
) -> None:
    least = detectable(samples, variants, noise, repeats=repeats)
    assert least is not None
    # Within a point and a half, and three standard errors of 200 runs.
    assert shown(samples, variants, noise, least + 0.015, repeats) >= 0.8 - 0.085
    if least > 0.015:
        assert shown(samples, variants, noise, least - 0.015, repeats) <= 0.8 + 0.085


def test_without_noise_one_sample_of_four_variants_is_enough() -> None:
    """It has one chance in 126. With 1 - (1 - share)^200 = 0.8 some sample is affected."""
    assert detectable(200, 4, 0.0) == pytest.approx(1 - 0.2 ** (1 / 200), abs=2e-4)


def test_fewer_repeats_show_less() -> None:
    effects = [detectable(200, 4, 0.05, repeats=number) for number in (1, 2, 4)]
    assert None not in effects
    assert effects == sorted(effects, reverse=True)  # type: ignore[type-var]
    assert detectable(200, 4, 0.05) == effects[-1]


def test_more_samples_show_more() -> None:
    effects = [detectable(number, 4, 0.05) for number in (20, 50, 200, 1000, 20_000)]
    assert None not in effects
    assert effects == sorted(effects, reverse=True)  # type: ignore[type-var]


def test_more_power_needs_a_larger_effect() -> None:
    assert detectable(200, 4, 0.05, power=0.95) > detectable(200, 4, 0.05)


def test_too_few_samples_show_nothing() -> None:
    assert detectable(0, 4, 0.05) is None
    assert detectable(1, 1, 0.0) is None, "one sample of three answers has one chance in three"
    assert detectable(10, 4, 1.0) is None


def test_noise_of_one_answer() -> None:
    """Two answers agree where both are stable: a floor of 9.75 % is a noise of 5 %."""
    assert chance_of_noise(0.0975) == pytest.approx(0.05)
    assert chance_of_noise(0.0) == 0
    assert chance_of_noise(1.0) == 1

"""What a comparison could have shown."""

import pytest

from codeaudit.reports.statistics.paired import POWER, detectable_difference, mcnemar, power


@pytest.mark.parametrize(
    ("n", "discordance", "difference"), [(161, 0.2, 0.1), (40, 0.5, 0.4), (500, 0.08, 0.03)]
)
def test_power_is_what_simulation_gives(n: int, discordance: float, difference: float) -> None:
    import numpy as np

    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    drawn = np.random.default_rng(0).multinomial(n, shares, size=2000)
    rejected = 0
    for b, c, same in drawn.tolist():
        left = [True] * b + [False] * c + [True] * same
        right = [False] * b + [True] * c + [True] * same
        rejected += mcnemar("left", "right", left, right).p < 0.05
    # Four standard errors of 2,000 draws.
    assert rejected / 2000 == pytest.approx(
        power(difference, n=n, discordance=discordance, alpha=0.05), abs=0.045
    )


def test_with_no_difference_the_test_keeps_its_level() -> None:
    for n in (10, 50, 300):
        assert power(0.0, n=n, discordance=0.3, alpha=0.05) <= 0.05


def test_five_inputs_show_nothing_and_six_only_the_largest() -> None:
    assert detectable_difference(0, 0, alpha=0.05) is None
    assert detectable_difference(5, 0, alpha=0.05) is None
    found = detectable_difference(6, 0, alpha=0.05)
    # All six have to be discordant and to lean one way: d**6 = 0.8.
    assert found == pytest.approx(POWER ** (1 / 6), abs=2e-4)


def test_the_smallest_difference_has_the_power_asked_for() -> None:
    found = detectable_difference(200, 30, alpha=0.05)
    assert found is not None
    assert power(found, n=200, discordance=0.15, alpha=0.05) == pytest.approx(POWER, abs=0.01)


def test_more_inputs_show_less_and_a_stricter_level_more() -> None:
    sizes = [detectable_difference(n, n // 10, alpha=0.05) or 1.0 for n in (50, 200, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert (detectable_difference(200, 20, alpha=0.01) or 0) > sizes[1]

"""The simulation of the gate, small."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("gate_simulation")


def test_the_table_has_a_row_for_each_scenario_and_shape(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--runs", "2", "--inputs", "30", "--part", "rises", "--part", "whole"]
    assert benchmark.main([*words, "--markdown", str(tmp_path / "gate.md")]) == 0
    text = capsys.readouterr().out
    assert (tmp_path / "gate.md").read_text(encoding="utf-8") == text
    first, _, others = text.partition("The whole gate")
    assert others
    rows = [line for line in first.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(benchmark.SCENARIOS) * len(benchmark.SHAPES) - 2


def test_the_rule_holds_its_promise(benchmark: ModuleType) -> None:
    """At most 1 % false alarms with a noise of 0.5 %, at least 80 % power for 3 points, at 500 inputs."""
    scenarios = {scenario.name: scenario for scenario in benchmark.SCENARIOS}
    shape = benchmark.Shape(1, 1)
    quiet = benchmark.simulate(scenarios["unchanged, noise 0.5 %"], shape, inputs=500, runs=150)
    loud = benchmark.simulate(scenarios["3 points worse"], shape, inputs=500, runs=150)
    assert quiet.gate <= 0.01
    assert quiet.any_rise > 0.3
    assert loud.gate >= 0.8


def test_every_table_of_noise_has_its_rows(
    benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "NOISE_SIZES", (30,))
    monkeypatch.setattr(benchmark, "SIZES", (50,))
    for part, rows in {
        "noise": 6 * len(benchmark.NOISES),
        "several": len(benchmark.NOISES),
        "baseline": len(benchmark.NOISY_RUNS),
        "reaction": len(benchmark.REACTIONS),
    }.items():
        assert benchmark.main(["--runs", "1", "--inputs", "30", "--part", part]) == 0
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
        assert len(lines) == rows + 1, part


@pytest.mark.weekly
def test_noise_fails_no_limit_and_an_effect_does(benchmark: ModuleType) -> None:
    counts = {name: benchmark.whole(name, *rest, inputs=158, runs=5) for name, *rest in benchmark.FOUR[:5]}
    assert [count.limit_failed for count in counts.values()] == [0, 1, 0, 0, 1]
    assert [count.dead for count in counts.values()] == [0, 0, 1, 0, 0]
    assert counts["noise 5 %, ignores the code"].rate_alone == 1

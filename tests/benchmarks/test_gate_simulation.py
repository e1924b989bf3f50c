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
    assert benchmark.main(["--runs", "2", "--inputs", "30", "--markdown", str(tmp_path / "gate.md")]) == 0
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

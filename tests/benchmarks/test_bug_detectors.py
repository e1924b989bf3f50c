"""The table of detectors, from the cards of their trainings."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


def card(folder: Path, network: str, seed: int, accuracy: float, *, data: str = "a") -> str:
    def scores(value: float) -> dict[str, float | int]:
        parts = {"accuracy": value, "balanced": value, "f1": value, "pairs_right": value + 0.1}
        return {**parts, "called_buggy": 0.5, "count": 200, "pairs": 100}

    rules = {"always buggy": 0.5, "long functions": 0.51, "counts of words": 0.54}
    splits = {name: {"hash": data, "functions": 1000} for name in ("train", "valid", "test")}
    made = {
        "task": "error-detection",
        "recipe": {"network": network, "options": {}, "seed": seed, "width": 8},
        "scores": {"valid": scores(accuracy), "test": scores(accuracy)},
        "baselines": [{"name": name, "test": scores(value)} for name, value in rules.items()],
        "data": splits,
    }
    place = folder / f"{network}-{seed}"
    place.mkdir()
    (place / "model-card.json").write_text(json.dumps(made), encoding="utf-8")
    return str(place)


@pytest.mark.slow
def test_networks_stand_beside_the_rules(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [card(tmp_path, "spe", seed, 0.60 + seed / 100) for seed in range(5)]
    folders += [card(tmp_path, "vanilla", seed, 0.53 + seed / 100) for seed in range(5)]
    assert script("bug_detectors").main(folders) == 0
    output = capsys.readouterr().out
    assert "| spe | 5 | **62.0 ± 0.7** | **62.0 ± 0.7** | **62.0 ± 0.7** | **72.0 ± 0.7** |" in output
    assert "| vanilla | 5 | 55.0 ± 0.7 |" in output
    assert "| counts of words | | 54.0 | 54.0 | 54.0 | 64.0 |" in output
    assert "- spe: +8.0 points of accuracy over counts of words (t-test over 5 trainings, p = " in output
    assert "200 test functions in 100 pairs; learned from 1,000 functions" in output


def test_trainings_on_other_data_are_refused(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [card(tmp_path, "spe", 0, 0.6), card(tmp_path, "spe", 1, 0.6, data="b")]
    with pytest.raises(SystemExit) as ended:
        script("bug_detectors").main(folders)
    assert ended.value.code == 2
    assert "different data" in capsys.readouterr().err

"""The script for a GPU, with tiny sizes on the processor."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from codeaudit.audit.papers.presets import PRESETS
from codeaudit.audit.papers.published import item


@pytest.fixture(name="benchmark")
def _benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("gpu")


def test_its_trainings_are_presets_and_items(benchmark: ModuleType) -> None:
    for training in benchmark.TRAININGS:
        preset = training.words[training.words.index("--preset") + 1]
        assert preset in PRESETS or item(training.words[2]).state == "run"


@pytest.mark.slow
def test_attention_is_measured_in_both_forms(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = torch.get_num_threads()
    benchmark.attentions("cpu", (16,), float("inf"))
    torch.set_num_threads(threads)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| 16 ")]
    assert len(rows) == 10
    assert all(row.count("|") == 11 for row in rows)


@pytest.mark.weekly
def test_every_training_runs_with_tiny_sizes(benchmark: ModuleType, tmp_path: Path) -> None:
    asked = argparse.Namespace(device="cpu", data=None, tiny=True)
    for number, training in enumerate(benchmark.TRAININGS):
        line = benchmark.trained(training, asked, tmp_path / str(number), 600)
        assert line.startswith("exit 0"), f"{training.name}: {line}"
        assert "tokens/s" in line or training.words[0] == "papers"

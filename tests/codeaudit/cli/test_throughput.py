"""`codeaudit run --task throughput` as it comes out of the box."""

import json
import sys
from pathlib import Path

import pytest

from codeaudit.cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


@pytest.mark.slow
def test_the_default_run_needs_no_llvm_and_shows_a_contrast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no llvm-mca
    assert main(["run", "--workers", "1", "--task", "throughput", "--limit", "25", "--out", "out"]) == 0
    summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    renamer, vanilla = summary["models"]
    assert (renamer["model"], vanilla["model"]) == ("renamer-checkpoint", "vanilla-throughput-checkpoint")
    under = {
        model["model"]: {row["transform"]: row["pairs"] for row in model["by_transform"]}
        for model in summary["models"]
    }
    kept, changed = (under[model["model"]]["rename"] for model in (renamer, vanilla))
    assert kept["total"] == changed["total"] > 80
    assert (kept["count"], changed["count"] > 0.9 * changed["total"]) == (0, True)
    assert renamer["max_deviation"] == 0
    assert renamer["sensitivity"]["rate"] == 1
    assert renamer["score"]["original"] is None  # without llvm-mca nobody knows the truth

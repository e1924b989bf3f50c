"""`codeaudit run --task throughput` as it comes out of the box."""

import csv
import json
import shutil
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


@pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="llvm-mca is not installed")
def test_a_suite_of_blocks_has_the_measured_labels_that_decide_on_other_orders() -> None:
    with Path("blocks.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["asm"])
        for first, second in (("rax", "rbx"), ("rcx", "rdx"), ("rsi", "rdi"), ("r8", "r9")):
            rows.writerow([f"imulq %{first}, %{second}\nmovq %r10, %r11\naddq $1, %{first}"])
    few = ["--task", "throughput", "--transform", "reorder", "--workers", "1"]
    assert main(["transform", "blocks.csv", "--suite", "suite.parquet", *few]) == 0
    shown = {}
    for name, inputs in (("drawn", ["--corpus", "blocks.csv", *few]), ("kept", ["--suite", "suite.parquet"])):
        assert main(["run", *inputs, "--model", "fake/length", "--out", name]) == 0
        (model,) = json.loads(Path(name, "summary.json").read_text(encoding="utf-8"))["models"]
        shown[name] = model
    assert shown["drawn"]["violations"]["total"] == 4
    assert shown["kept"] == shown["drawn"]

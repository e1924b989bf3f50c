"""The tables of the SPE paper: small ones from end to end, and their continuation."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.audit.papers.spe_attention.test_detection import java, rows, written

SMALL = ["--width", "16", "--layers", "1", "--vocabulary", "300", "--epochs", "1", "--bag-epochs", "1"]
SMALL += ["--seeds", "2", "--test", "12", "--batch", "16"]


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("spe_tables")


def names(path: Path) -> str:
    sides = {0: "valid", 1: "test"}
    return written(
        path,
        [
            {"source": java(number, bug=False), "language": "java", "split": sides.get(number % 6, "train")}
            for number in range(90)
        ],
    )


def trials(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.weekly
def test_tables_are_made_and_gone_on_with(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = [*SMALL, "--out", str(out), "--defects", written(tmp_path / "d.jsonl", rows())]
    assert benchmark.main([*words, "--networks", "spe"]) == 0
    assert [(one["network"], one["size"], one["seed"]) for one in trials(out)] == [
        ("spe", "error-detection", 0), ("spe", "error-detection", 1),
    ]  # fmt: skip
    told = capsys.readouterr().out
    assert "Table 4" in told
    assert "Tables 5 and 6" not in told
    assert "| CodeBERT | 476M |" in told
    share = max(one["scores"]["buggy"] for one in trials(out))
    always = f"{200 * share / (1 + share):.2f}"
    assert f"| always buggy | 0 | {always} | 0.00 | {always} | 0.00 | {100 * share:.2f} | 100.00 |" in told

    assert benchmark.main([*words, "--names", names(tmp_path / "n.jsonl"), "--networks", "spe,vanilla"]) == 0
    found = trials(out)
    assert len(found) == 8, "what was there was trained again, or something is missing"
    told = capsys.readouterr().out
    assert (out / "tables.md").read_text(encoding="utf-8") == told
    assert "Tables 5 and 6" in told
    assert "71.3" in told
    assert "Kruskal-Wallis" in told
    assert not list((out / "unfinished").iterdir())
    for one in found:
        measured = one["scores"]
        assert measured["answered"] == 1
        assert measured["moved"] == 1, "the first two statements of every method may change places"
        if one["network"] == "spe":
            assert measured["violations"] == 0
            assert measured["attacked"] == measured["f1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--networks", "sep"], "no network 'sep'"),
        (["--seeds", "0"], "--seeds must be 1 or more"),
        ([], "name --defects, --names or --python"),
        (["--defects", "nowhere"], "no corpus 'nowhere:train'"),
    ],
)
def test_wrong_input_is_one_line(
    benchmark: ModuleType,
    tmp_path: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        benchmark.main(["--out", str(tmp_path / "out"), *words])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err

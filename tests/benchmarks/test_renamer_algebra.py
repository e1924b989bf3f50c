"""The tables of the Renamer paper on pairs of expressions: small ones from end to end, and their continuation."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import parse_pair

SMALL = ["--train", "120", "--test", "40", "--steps", "4", "--batch", "8", "--seeds", "2"]


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("renamer_algebra")


def trials(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.weekly
def test_tables_are_made_and_gone_on_with(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SMALL, "--out", str(tmp_path)]
    assert benchmark.main([*words, "--networks", "renamer,canonicalized"]) == 0
    first = [trial for trial in trials(tmp_path) if trial["size"] == "tiny"]
    assert [(row["network"], row["seed"]) for row in first] == [
        ("renamer", 0), ("canonicalized", 0), ("renamer", 1), ("canonicalized", 1),
    ]  # fmt: skip
    for row in first:
        errors = row["scores"]
        assert errors["test"] == errors["test_renamed"]
        assert errors["extended"] == errors["extended_renamed"]
        assert all(0 < error < 1 for error in errors.values())
    capsys.readouterr()
    assert benchmark.main([*words, "--seeds", "1"]) == 0
    printed = capsys.readouterr()
    assert "renamer tiny" not in printed.err, "what is there is not trained again"
    assert "vanilla tiny 0" in printed.err
    rows = trials(tmp_path)
    assert [row["network"] for row in rows[6:]] == ["vanilla", "augmented"]
    assert [row["network"] for row in rows[4:6]] == [
        "the more frequent answer",
        "a regression on counts of words",
    ]
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == printed.out
    assert [line.split()[1] for line in printed.out.splitlines() if line.startswith("| ")][1:5] == [
        *benchmark.NETWORKS
    ]
    assert "Kruskal" in printed.out
    assert "| 0.79 ± 0.13 | 4.68 ± 0.69 |" in printed.out
    assert list((tmp_path / "unfinished").iterdir()) == []


@pytest.mark.weekly
def test_another_setting_is_another_result(benchmark: ModuleType, tmp_path: Path) -> None:
    words = ["--out", str(tmp_path), "--networks", "vanilla", *SMALL, "--seeds", "1"]
    assert benchmark.main(words) == 0
    assert benchmark.main(words) == 0
    assert benchmark.main([*words, "--steps", "5"]) == 0
    settings = [trial["setting"] for trial in trials(tmp_path) if trial["size"] == "tiny"]
    assert [f"steps {steps}," in setting for steps, setting in zip((4, 5), settings, strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("pairs", ["paper", "near"])
def test_pairs_are_what_their_labels_say(benchmark: ModuleType, pairs: str) -> None:
    settings = benchmark.Settings(pairs=pairs, steps=1, batch=1, rate=1e-3, train=60, test=30)
    splits = benchmark.data(settings)
    for split in (splits.train, splits.valid, splits.test, splits.extended):
        assert len(split) > 25
        for source, label in split:
            assert holds(parse_pair(source)) is label
        assert {label for _, label in split} == {True, False}


@pytest.mark.parametrize("words", [["--sizes", "huge"], ["--networks", "lstm"], ["--seeds", "0"]])
def test_settings_that_are_none_are_told(
    benchmark: ModuleType, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        benchmark.main([*words, "--out", str(tmp_path / "made")])
    assert "error: " in capsys.readouterr().err
    assert not (tmp_path / "made").exists()

"""A size that a network cannot have is an error before the corpus is read: reading may take hours."""

from pathlib import Path

import pytest

from codeaudit.cli.main import main

WRONG = [
    (["spe", "--width", "32", "--heads", "2"], "SPE needs at least 3 heads, got 2"),
    (["symc", "--width", "32", "--heads", "1"], "SYMC needs at least 2 heads, got 1"),
    (["renamer", "--task", "function-name", "--layers", "1"], "Renamer needs at least 2 layers, got 1"),
    (["code", "--task", "function-name", "--layers", "1"], "CoDE needs at least 2 layers, got 1"),
    (["code", "--layers", "2", "-O", "plain=2"], "2 layers leave no line-wise one"),
    (["rope", "--width", "12", "--heads", "4"], "heads of 3 numbers cannot be turned in pairs"),
    (["renamer", "--task", "throughput", "--layers", "1"], "--layers must be 2 or more"),
    (["tree", "--width", "32", "--heads", "3"], "--heads 3 does not divide --width 32"),
]


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_sizes_that_do_not_fit_are_told_first(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = ["--corpus", str(tmp_path / "missing.jsonl")]
    assert main(["train", *words, *corpus, "--out", str(tmp_path / "out"), "--precision", "float32"]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("network", ["spe", "symc", "vanilla", "renamer", "code", "tree", "rope", "fire"])
def test_sizes_that_fit_lead_to_the_corpus(
    network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = [] if network in ("tree", "rope", "fire") else ["--task", "function-name"]
    corpus = ["--corpus", str(tmp_path / "missing.jsonl"), "--precision", "float32"]
    assert main(["train", network, *task, *corpus, "--out", str(tmp_path / "out")]) == 3
    assert "missing.jsonl" in capsys.readouterr().err

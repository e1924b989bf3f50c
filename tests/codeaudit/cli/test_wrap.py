"""`--wrap columns` and `rows`: rows of their own in suite, verdicts, tables, summary and gate."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.papers.permutation_equivariance.wrapper import PermutedColumns
from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from codeaudit.transforms.columns.proof import EXACT
from tests.support.checkpoints import write_checkpoint

NAMES = {"columns", "columns-broken"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> str:
    return str(write_checkpoint(tmp_path / "plain", network="vanilla"))


def run(*words: str) -> int:
    return main(["run", "--workers", "1", "--variants", "1", *words])


def summary(folder: str) -> dict[str, Any]:
    (model,) = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))["models"]
    assert isinstance(model, dict)
    return model


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("wrap", ["columns", "rows"])
def test_a_wrapped_run_has_two_rows_more(
    plain: str, sources: Path, capsys: pytest.CaptureFixture[str], wrap: str
) -> None:
    base = ("--model", plain, "--corpus", str(sources))
    assert run(*base, "--out", "bare") == 0
    assert run(*base, "--wrap", wrap, "--out", "wrapped") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{wrap} permuted in" in printed
    assert "in float64 outputs differ by" in printed
    before, after = summary("bare"), summary("wrapped")
    assert before["network"] is None
    proof = after["network"]
    assert proof["wrap"] == wrap
    assert proof["groups"] >= 1
    assert proof["bits"] > 0
    assert max(proof["forward"], proof["backward"]) <= EXACT
    assert proof["broken"] > 1e-3
    rows = {row["transform"]: row for row in after["by_transform"]}
    assert rows[wrap]["kind"] == "network"
    assert rows[wrap]["violations"]["count"] == 0
    assert rows[wrap]["violations"]["total"] == 4
    assert rows[f"{wrap}-broken"]["kind"] == "network-control"
    assert rows[f"{wrap}-broken"]["pairs"]["total"] == 4
    # No other number of the run counts them.
    assert {row["transform"]: row for row in before["by_transform"]} == {
        name: row for name, row in rows.items() if not name.startswith(wrap)
    }
    for name in ("violations", "pairs", "sensitivity", "noise_floor", "score", "samples"):
        assert before[name] == after[name], name
    assert main(["report", "wrapped"]) == 0
    assert main(["report", "wrapped", "--html", "page.html", "--junit", "junit.xml"]) == 0
    assert main(["gate", "wrapped", "--max-violation-rate", "100%", "--allow-insensitive"]) == 0


@pytest.mark.slow
def test_a_suite_is_asked_again_with_and_without_the_permuted_network(plain: str, sources: Path) -> None:
    assert run("--model", plain, "--corpus", str(sources), "--wrap", "columns", "--out", "first") == 0
    assert run("--model", plain, "--suite", "first/suite.parquet", "--out", "bare") == 0
    assert run("--model", plain, "--suite", "bare/suite.parquet", "--wrap", "columns", "--out", "again") == 0
    assert not NAMES & {row["transform"] for row in read_rows(Path("bare/suite.parquet"))}
    assert list(read_rows(Path("again/verdicts.parquet"))) == list(read_rows(Path("first/verdicts.parquet")))
    assert summary("again") == summary("first")


@pytest.mark.slow
def test_shards_of_a_wrapped_run_equal_the_whole(plain: str, sources: Path) -> None:
    words = ("--model", plain, "--corpus", str(sources), "--wrap", "columns")
    assert run(*words, "--out", "whole") == 0
    for number in (1, 2):
        assert run(*words, "--shard", f"{number}/2", "--out", f"part{number}") == 0
    assert main(["merge", "part1", "part2", "--out", "merged"]) == 0
    merged, whole = summary("merged"), summary("whole")
    # Scores may differ by the noise of other batches; they were not asked beside the same texts.
    for row in (*merged["by_transform"], *whole["by_transform"]):
        if row["kind"] in ("network", "network-control"):
            del row["shift"]
        if row["kind"] == "network":
            assert row.pop("max_deviation") < 1e-4
        elif row["kind"] == "network-control":
            del row["max_deviation"]
    assert merged == whole


@pytest.mark.slow
def test_a_permuted_network_that_answers_otherwise_fails_the_gate(
    plain: str, sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = PermutedColumns.changed
    # As if the permuted network were wrong although its proof holds.
    monkeypatch.setattr(PermutedColumns, "changed", lambda self, name: changed(self, "columns-broken"))
    words = ("--model", plain, "--corpus", str(sources), "--transform", "reorder")
    assert run(*words, "--wrap", "columns", "--out", "wrong") == 0
    row = next(row for row in summary("wrong")["by_transform"] if row["transform"] == "columns")
    assert row["violations"]["count"] > 0
    capsys.readouterr()
    assert main(["gate", "wrong", "--max-violation-rate", "1%", "--max-unjudged", "100%"]) == 1
    assert "columns" in capsys.readouterr().out


@pytest.mark.slow
def test_a_network_that_is_not_equivariant_ends_the_run(
    plain: str, sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spe = str(write_checkpoint(Path("spe"), network="spe"))
    assert run("--model", spe, "--corpus", str(sources), "--wrap", "rows") == 3
    assert "blocks depend on the places of tokens" in capsys.readouterr().err
    monkeypatch.setattr("codeaudit.transforms.columns.layout.Layout.broken", lambda self: self)
    assert run("--model", plain, "--corpus", str(sources), "--wrap", "columns") == 3
    assert "the broken network" in capsys.readouterr().err


def test_the_transforms_of_a_network_are_no_transforms_of_code(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("columns", "rows-broken"):
        assert run("--model", "fake/hash", "--corpus", str(sources), "--transform", name) == 2
        assert f"--wrap {name.partition('-')[0]}" in capsys.readouterr().err

"""`codeaudit run --attack`."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main

WORDS = ["run", "--workers", "1", "--transform", "rename", "--variants", "1", "--no-controls", "--out", "out"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_searches_are_told_and_kept(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["--model", "fake/hash", "--model", "fake/constant", "--corpus", str(sources)]
    assert main([*WORDS, *models, "--attack", "random,genetic", "--budget", "6"]) == 0
    printed = capsys.readouterr()
    assert "Worst-case search" in printed.out
    by_model = {
        model["model"]: model for model in json.loads(Path("out/summary.json").read_text("utf-8"))["models"]
    }
    for strategy, attack in zip(("random", "genetic"), by_model["fake/hash"]["attacks"], strict=True):
        assert attack["strategy"] == strategy
        assert attack["violated"]["rate"] == 1.0
        assert attack["curve"] == [attack["violated"]["count"]] * 6
    assert {attack["violated"]["count"] for attack in by_model["fake/constant"]["attacks"]} == {0}
    rows = list(read_rows(Path("out/attacks.parquet")))
    assert {row["outcome"] for row in rows if row["model"] == "fake/constant"} <= {"held", "not_attacked"}
    violated = [row for row in rows if row["outcome"] == "violated"]
    assert violated
    assert all(row["queries"] == 1 and json.loads(row["moves"]) for row in violated)


def test_nothing_is_asked_twice_by_a_second_start(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Path("asked.txt")
    Path("counting.py").write_text(
        "def predict(queries):\n"
        f"    with open({str(log)!r}, 'a') as file:\n"
        "        file.write('x' * len(queries))\n"
        "    return ['a'] * len(queries)\n",
        "utf-8",
    )
    words = [*WORDS, "--model", "py/counting:predict", "-M", "version=1", "--corpus", str(sources)]
    assert main([*words, "--attack", "random", "--budget", "4"]) == 0
    before = len(log.read_text("utf-8"))
    assert main([*words, "--attack", "random", "--budget", "4"]) == 0
    repeated = len(log.read_text("utf-8")) - before
    capsys.readouterr()
    noise = sum(row["transform"] == "identity" for row in read_rows(Path("out/verdicts.parquet")))
    assert repeated <= noise


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--attack", "greedi"], 2, "unknown attack 'greedi'; did you mean 'greedy'?"),
        (["--attack", "random", "--budget", "0"], 2, "budget"),
        (["--budget", "9"], 0, "--budget: no effect without --attack"),
    ],
)
def test_bad_input(
    words: list[str], code: int, told: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--model", "fake/hash", "--corpus", str(sources), *words]) == code
    assert told in capsys.readouterr().err

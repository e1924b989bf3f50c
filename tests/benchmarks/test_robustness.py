"""The table of robustness: a small one from end to end, its continuation, and its claims."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SMALL = ["--width", "16", "--layers", "2", "--vocabulary", "300", "--epochs", "1", "--bag-epochs", "1"]
SMALL += ["--seeds", "2", "--train", "60", "--valid", "12", "--test", "8", "--batch", "16"]


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("robustness")


def corpus(path: Path) -> str:
    sides = {0: "valid", 1: "test", 2: "test"}
    verbs, nouns = ("get", "set", "add", "read"), ("total", "name", "size", "value")
    rows = [
        {
            "source": f"def {verbs[number % 4]}_{nouns[number // 4 % 4]}(item, other):\n"
            f"    first = {number}\n    second = [item, other]\n    return first, second\n",
            "language": "python",
            "split": sides.get(number % 7, "train"),
        }
        for number in range(140)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def trials(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.weekly
def test_a_table_is_made_and_gone_on_with(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = [*SMALL, "--corpus", corpus(tmp_path / "functions.jsonl"), "--out", str(out)]
    assert benchmark.main([*words, "--networks", "renamer", "--seeds", "1"]) == 0
    assert [(trial["network"], trial["seed"]) for trial in trials(out)] == [("renamer", 0)]
    assert benchmark.main(words) == 0
    rows = trials(out)
    assert len(rows) == 12, "what was there was done again, or something is missing"
    output = capsys.readouterr().out
    assert output.endswith((out / "table.md").read_text(encoding="utf-8"))
    for row in rows:
        scores = row["scores"]
        assert scores["answered"] == 1
        for transform in benchmark.CLAIMS[row["network"]]:
            assert scores[f"movable {transform}"] == 0, (row["network"], transform)
            assert scores[f"f1 {transform}"] == scores["f1"]
    for name in ("spe", "renamer", "code", "canonical"):
        assert f"\n| {name} |" in output
    assert "- spe is invariant under `reorder`: holds: none of 16 answers changes" in output
    assert "- renamer is invariant under `rename-parameters`: holds" in output
    assert "Kruskal-Wallis" in output


@pytest.mark.weekly
def test_a_row_of_ones_own_is_measured_beside_them(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_row.py").write_text(
        "from codeaudit.audit.models.fake import FakeModel\n\n\n"
        "def model(seed):\n    return FakeModel(name='own', answer=lambda query: 'get_total')\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = [*SMALL, "--corpus", corpus(tmp_path / "functions.jsonl"), "--out", str(tmp_path / "out")]
    assert benchmark.main([*words, "--networks", "vanilla", "--row", "own=own_row:model"]) == 0
    output = capsys.readouterr().out
    assert "\n| own |" in output
    assert "- own does not see `reorder-breaking`" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--networks", "sep"], "no row 'sep'"),
        (["--seeds", "0"], "--seeds must be 1 or more"),
        (["--row", "own"], "--row is NAME=MODULE:FUNCTION"),
        ([], "no corpus 'nowhere:valid'"),
    ],
)
def test_wrong_input_is_one_line(
    benchmark: ModuleType, tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        benchmark.main(["--corpus", "nowhere", "--out", str(tmp_path / "out"), *words])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err

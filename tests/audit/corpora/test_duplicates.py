"""One text with several labels."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.store import SUITE, read_rows
from codeaudit.cli.main import main

TEXT = "def f(x):\n    y = x\n    z = 1\n    return y + z\n"


@pytest.mark.parametrize(
    ("labels", "kept", "told"),
    [
        ([1, 0], "buggy", "1 × duplicate with another label"),
        ([None, 1], "buggy", "1 × duplicate"),
        ([float("nan"), 0, 0], "clean", "2 × duplicate"),
        ([0, float("nan"), 1], "clean", "2 × duplicate with another label"),
    ],
)
def test_a_label_wins_over_none_and_contradictions_are_counted(
    labels: list[object],
    kept: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"code": TEXT, "label": label}) for label in labels]
    Path("rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    words = "run --task error-detection --model fake/hash --transform rename --workers 1 --out run"
    assert main([*words.split(), "--corpus", "rows.jsonl"]) == 0
    assert f"1 of {len(labels)} functions; left out: {told}\n" in capsys.readouterr().err
    assert {row["label"] for row in read_rows(Path("run") / SUITE)} == {json.dumps(kept)}

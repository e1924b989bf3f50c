"""A random split of a table: by a hash of the source, in fixed shares."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


def test_a_table_is_split_by_its_sources(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"source": f"def f{number % 2000}(): pass", "split": "train", "name": str(number)}
        for number in range(4000)
    ]
    with gzip.open(tmp_path / "table.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    written = []
    for name in ("one.gz", "two.gz"):
        monkeypatch.setattr("sys.argv", ["random_split.py", str(tmp_path / "table.gz"), str(tmp_path / name)])
        script("random_split").main()
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    parsed = [json.loads(line) for line in gzip.decompress(written[0]).splitlines()]
    assert [row | {"split": "train"} for row in parsed] == rows
    # Equal functions are on one side.
    assert [row["split"] for row in parsed[:2000]] == [row["split"] for row in parsed[2000:]]
    counts = Counter(row["split"] for row in parsed)
    assert counts["valid"] / 4000 == pytest.approx(0.0934, abs=0.02)
    assert counts["test"] / 4000 == pytest.approx(0.1335, abs=0.02)
    assert f"train {counts['train']:,}" in capsys.readouterr().out

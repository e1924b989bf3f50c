"""The benchmark of how many Java methods `reorder` moves."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]

TEXT = """\
package p;
class A {
    int a; int b;
    private int get() { return a; }
    void one() { int n = get(); b = 2; }
    void two(int n, int[] all) { a = 1; int m = all[n]; }
    void three() { unknown(); }
}
"""


def test_the_file_counts_and_so_does_the_relation(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A.java").write_text(TEXT, encoding="utf-8")
    table = tmp_path / "rows.jsonl.gz"
    with gzip.open(table, "wt", encoding="utf-8") as rows:
        rows.write(json.dumps({"source": "void one() { int n = get(); b = 2; }"}) + "\n")
    monkeypatch.setattr(sys, "argv", ["java_yields.py", str(tmp_path), str(table)])
    assert script("java_yields").main() == 0
    shown = [line.partition(": ")[2].partition(";")[0] for line in capsys.readouterr().out.splitlines()]
    assert shown == [
        "strict 1 of 2 (50.0%)", "returning 2 of 2 (100.0%)", "strict 0 of 1 (0.0%)", "returning 0 of 1 (0.0%)"
    ]  # fmt: skip

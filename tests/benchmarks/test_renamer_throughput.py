"""Tables 1 and 2 and figures 2 and 3 of the Renamer paper, small, from end to end."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BLOCKS = [
    f"{first} %{a}, %{b}\n{second} {offset}(%{b}), %{c}"
    for first in ("addq", "subq", "movq", "imulq")
    for second in ("movq", "addq", "xorq")
    for offset in (8, 16)
    for a, b, c in (("rax", "rbx", "rcx"), ("rdi", "rsi", "rdi"), ("r8", "r8", "r9"), ("rdx", "rcx", "rdx"))
]


@pytest.mark.weekly
@pytest.mark.skipif(not shutil.which("llvm-mca-14") and not shutil.which("llvm-mca"), reason="no llvm-mca")
def test_tables_and_figures(
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    benchmark = script("renamer_throughput")
    source = tmp_path / "blocks.csv"
    source.write_text("asm\n" + "".join(f'"{block}"\n' for block in BLOCKS), encoding="utf-8")
    words = ["benchmark", str(source), "--out", str(tmp_path / "out"), "--sizes", "tiny", "--steps", "4"]
    monkeypatch.setattr(benchmark, "DRAWS", 50)
    monkeypatch.setattr("sys.argv", [*words, "--seeds", "2", "--networks", "vanilla,renamer"])
    assert benchmark.main() == 0
    told = capsys.readouterr().out
    for part in ("Table 1", "Table 2", "Figure 3, tiny", "Figure 2", "| renamer | tiny |"):
        assert part in told
    lines = (tmp_path / "out" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert [(one["network"], one["seed"]) for one in found] == [
        ("vanilla", 0), ("renamer", 0), ("vanilla", 1), ("renamer", 1),
    ]  # fmt: skip
    assert all(
        one["scores"]["original"] == one["scores"]["renamed"] for one in found if one["network"] == "renamer"
    )
    assert (tmp_path / "out" / "renamings.svg").stat().st_size > 1000
    monkeypatch.setattr("sys.argv", [*words, "--seeds", "2", "--networks", "vanilla,renamer", "--only-print"])
    assert benchmark.main() == 0
    again = capsys.readouterr().out
    assert again == told
    monkeypatch.setattr("sys.argv", [*words, "--seeds", "1", "--networks", "renamer", "--reading", "paper"])
    assert benchmark.main() == 0
    assert "the paper's reading" in capsys.readouterr().out
    config = json.loads(
        (tmp_path / "out" / "renamer-tiny-0-paper" / "config.json").read_text(encoding="utf-8")
    )
    sizes = config["sizes"]
    assert (sizes["readout"], sizes["positions"], sizes["context"]) == ("cls", "terms", False)

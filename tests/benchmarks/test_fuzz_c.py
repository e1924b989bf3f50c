"""The campaign of random functions of C and C++: what it counts, and that it sees a wrong edit."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.c_running import needs_gcc
from tests.support.cpp_running import needs_gpp

Script = Callable[[str], ModuleType]

pytestmark = [needs_gcc, needs_gpp]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "pairs"),
    [("c", "1"), ("cpp", "1"), pytest.param("cpp", "120", marks=pytest.mark.slow)],
    ids=["c", "cpp", "more"],
)
def test_a_chunk_is_run_and_logged(
    script: Script,
    dialect: str,
    pairs: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "log"
    words = ["fuzz_c", "--dialect", dialect, "--log", str(log)]
    wanted = ["--pairs", pairs, "--transform", "rename,reorder,for-to-while"]
    fuzzer = script("fuzz_c")
    monkeypatch.setattr(fuzzer, "CHUNK", 2)
    monkeypatch.setattr(sys, "argv", [*words, *wanted])
    assert fuzzer.main() == 0
    monkeypatch.setattr(sys, "argv", [*words, "--report"])
    assert fuzzer.main() == 0
    assert "different: 0" in capsys.readouterr().out


def test_a_wrong_edit_is_found(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzer = script("fuzz_c")
    monkeypatch.setattr(fuzzer, "variants", lambda name, unit, *_: {unit.replace("return (", "return 1 + (")})
    monkeypatch.setattr(fuzzer, "CHUNK", 1)
    chunk = fuzzer.worked(3, "cpp", ["rename"], 1)
    assert chunk.total("different") == 1

"""The yields of C's transforms, and object code as their witness."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.c_running import needs_gcc

Script = Callable[[str], ModuleType]

FILE = """\
#define SHOW(x) show(#x, x)
void show(const char *, int);

int twice(int count)
{
    int total = count * 2;
    SHOW(total);
    return total;
}

int thrice(int count)
{
    int total = count * 3;
    return total;
}
"""


@needs_gcc
def test_renamed_functions_have_the_same_object_code(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(FILE, encoding="utf-8")
    words = [str(tmp_path), "--transform", "rename", "--object-code", "--", "-DUNUSED"]
    monkeypatch.setattr(sys, "argv", ["c_functions.py", *words])
    assert script("c_functions").main() == 0
    output = capsys.readouterr().out
    assert "2 functions" in output
    assert "rename: 1 (50.0%); 1 × argument of a macro that keeps its text" in output
    assert "1 compared, 0 differ" in output


@needs_gcc
def test_a_control_is_found(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(FILE, encoding="utf-8")
    words = [str(tmp_path), "--transform", "literal-changed", "--object-code", "--snippets"]
    monkeypatch.setattr(sys, "argv", ["c_functions.py", *words])
    assert script("c_functions").main() == 1
    assert "2 compared, 2 differ" in capsys.readouterr().out

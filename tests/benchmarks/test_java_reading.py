"""The table of what can be read of Java."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]

OLD = "class Old { int f(int a) { return a; } int g() { return 1; } }\n"
NEW = (
    'record New(int a) { String f(Object o) { return switch (o) { case String s -> s; default -> ""; }; } }\n'
)
ESCAPED = 'class Escaped { String f() { return "a\\u0022 + \\u0022b"; } }\n'
WRONG = "class Wrong {\n    int f( { }\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"Old": OLD, "New": NEW, "Escaped": ESCAPED, "Wrong": WRONG}
    for name, text in texts.items():
        (tmp_path / f"{name}.java").write_text(text, encoding="utf-8")
    return tmp_path


def test_each_reader_is_counted(script: Script, folder: Path) -> None:
    counts = script("java_reading").tally(sorted(folder.glob("*.java")))
    assert (counts.files, counts.parsed, counts.read, counts.understood) == (4, 3, 3, 2)
    assert (counts.methods, counts.bare) == (4, 4)
    assert counts.refused == {"not valid Java": 1}
    assert counts.untouched == {"unicode escape in the text": 1}
    assert all(seconds > 0 for seconds in counts.seconds)


def test_a_limit_spreads_over_the_folder(script: Script) -> None:
    paths = [Path(str(number)) for number in range(10)]
    assert script("java_reading").spread(paths, 4) == [paths[number] for number in (0, 2, 5, 7)]
    assert script("java_reading").spread(paths, 20) == paths


def test_the_table_and_the_reasons(
    script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["java_reading.py", str(folder)])
    assert script("java_reading").main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(f"| {folder.as_posix()} | 4 | 75.00 % | 75.00 % | 50.00 % | 4 | 100.00 % |")
    assert lines[4:] == [
        f"{folder.as_posix()}: 1 files: not valid Java",
        f"{folder.as_posix()}: 1 methods: unicode escape in the text",
    ]


def test_a_folder_without_java_is_one_line(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["java_reading.py", str(tmp_path)])
    assert script("java_reading").main() == 1
    assert capsys.readouterr().err == f"no Java file in {str(tmp_path)!r}\n"

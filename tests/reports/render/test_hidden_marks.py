"""No format writes a control character or a mark of direction that came from a source, a name or an answer."""

import unicodedata
from pathlib import Path

import pytest

from codeaudit.cli.main import main
from codeaudit.reports.render.github import command
from codeaudit.reports.render.junit import legal
from codeaudit.transforms.grammar import visible

MARKS = "\0\x01\x0b\x1b\x7f\x85\x9b\u200b\u200e\u202e\u2066\u2069\u2028\ufeff"


def hidden(text: str) -> list[str]:
    """The characters of a text that must not be there."""
    return [
        sign
        for sign in text
        if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") and sign not in "\t\n\f"
    ]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_becomes_an_escape_and_ordinary_text_stays(mark: str) -> None:
    for write in (visible, legal, lambda text: command("error", text, title=text)):
        assert hidden(write(f"a{mark}b")) == []
    assert visible("ä — 𝕏 日本\u3000語\r\n\tx\n") == "ä — 𝕏 日本\u3000語\r\n\tx\n"
    assert visible("a\rb") == "a\\rb"


def test_a_diff_of_a_hostile_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "def f(values):\n    total = '\x1b[31m\u202e\x9b'\n    return total, values\n", encoding="utf-8"
    )
    assert main(["transform", str(path), "--transform", "rename", "--diff"]) == 0
    printed = capsys.readouterr()
    assert "total" in printed.out
    assert hidden(printed.out + printed.err) == []


def test_an_error_about_a_hostile_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--model", "fake/hash", "--corpus", "\x1b[2J\u202e.py"]) == 3
    assert hidden(capsys.readouterr().err) == []

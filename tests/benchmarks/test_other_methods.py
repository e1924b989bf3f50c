"""Buggy methods beside other methods of their files, from repositories."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]

METHODS = """class A {
    A() { this.x = 1; }

    int broken(int a) { return a - 1; }

    int calm(int a) { return a * 2; }

    abstract int nothing(int a);

    int quiet(int a) { return a; }
}
"""


def committed(place: Path, files: dict[str, str | None]) -> None:
    """One commit that writes these files, and deletes those without a text."""
    for name, text in files.items():
        if text is None:
            (place / name).unlink()
        else:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["add", "-A"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(place), *words], check=True)


def row(project: str, file: str, method: str, label: int, body: str) -> dict[str, object]:
    source = f"int {method}(int a) {{ return {body}; }}"
    return {"project": project, "file": file, "method": method, "label": label, "source": source}


def test_each_bug_gets_a_method_that_no_bug_touches(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "repositories" / "jsoup"
    place.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    committed(place, {"src/A.java": METHODS, "src/Broken.java": "class {"})
    committed(place, {"src/A.java": None})  # moved away since
    rows = [
        row("Jsoup", "src/A.java", "broken", 0, "a - 1"),
        row("Jsoup", "src/A.java", "broken", 1, "a + 1"),
        row("Jsoup", "src/Broken.java", "f", 1, "a"),
        row("Jsoup", "src/Never.java", "f", 1, "a"),
        row("Lang", "src/A.java", "f", 1, "a"),
    ]
    with gzip.open(tmp_path / "table.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in rows)
    words = [str(tmp_path / "table.gz"), str(tmp_path / "out.gz")]
    folder = str(tmp_path / "repositories")
    monkeypatch.setattr("sys.argv", ["other_methods.py", *words, "--repositories", folder])
    script("other_methods").main()
    with gzip.open(tmp_path / "out.gz", "rt", encoding="utf-8") as file:
        bug, other = map(json.loads, file)
    assert (bug["label"], other["label"]) == ("buggy", "clean")
    assert "a + 1" in bug["source"]
    assert any(name in other["source"] for name in ("A()", "calm", "quiet"))
    assert bug["group"] == other["group"] == "Jsoup/src/A.java"
    output = capsys.readouterr().err
    assert "2 methods, half of them buggy" in output
    assert "'no repository of Lang': 1" in output
    assert "'a file that does not parse': 1" in output
    assert "'no such file': 1" in output

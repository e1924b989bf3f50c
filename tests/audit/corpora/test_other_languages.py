"""What is in a language without an engine is counted, with one sentence that says what works."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.specs import corpus
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.language import LANGUAGES, NO_ENGINE, without_engine

FUNCTION = (
    "def total(values):\n    found = 0\n    for value in values:\n        found += value\n    return found\n"
)
WORKS = "; rewritten today: Python, Java, "


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(*rows: dict[str, str]) -> str:
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "t.jsonl"


def test_no_registered_language_is_one_of_these() -> None:
    assert not any(without_engine(name=name) for name in LANGUAGES)
    assert not any(
        without_engine(ending=ending) for name in LANGUAGES for ending in LANGUAGES.get(name).endings
    )
    assert (without_engine(name="Rust"), without_engine(name="cobol"), without_engine(ending=".cs")) == (
        "Rust",
        "cobol",
        "C#",
    )


def test_a_mixed_folder_counts_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("src").mkdir()
    Path("src/a.py").write_text(FUNCTION, encoding="utf-8")
    for name in ("a.rs", "a.cs", "b.cs", "app.ts", "notes.txt", "Makefile"):
        Path("src", name).write_text("int x;\n", encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", "src", "--workers", "1", "--out", "out"]) == 0
    message = capsys.readouterr().err
    assert (
        f"corpus src: 1 of 1 functions; 4 files not read: 2 × in C#{NO_ENGINE}, 1 × in Rust{NO_ENGINE}, "
        in message
    )
    assert "not read: a.rs" not in message


def test_a_folder_without_any_other_says_what_works() -> None:
    Path("src").mkdir()
    Path("src/a.cs").write_text("int x;\n", encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        list(corpus("src").read(Counter()))
    assert (
        f"no Python, Java, JavaScript, TypeScript, C or C++ files in 'src' (1 × in C#{NO_ENGINE}){WORKS}"
        in str(caught.value)
    )


@pytest.mark.parametrize(
    ("rows", "extra", "told"),
    [
        ([{"code": "int f() { return 1; }", "language": "C#"}], [], f"1 × row in C#{NO_ENGINE}"),
        ([{"code": "int f(void) { return 1; }", "file": "a/b.cs"}], [], f"1 × row in C#{NO_ENGINE}"),
        ([{"func": "int f(void) { return 1; }", "target": "1"}], ["--columns", "source=func,language=csharp"], f"are in C#{NO_ENGINE}"),
        ([{"code": "x", "language": "cobol"}], [], f"1 × row in cobol{NO_ENGINE}"),
        ([{"func_name": "f", "code": "func f() {}", "partition": "train", "language": "go"}], [], f"1 × row in Go{NO_ENGINE}"),
    ],
)  # fmt: skip
def test_rows_in_them_end_with_one_sentence(
    rows: list[dict[str, str]], extra: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--model", "fake/hash", "--corpus", table(*rows), *extra]) == 3
    line = capsys.readouterr().err.splitlines()[-1]
    assert told in line
    assert (
        WORKS in line
        or "'cobol' is no language that codeaudit knows: algebra, c, cpp, java, javascript, python, typescript, x86"
        in line
    )


def test_a_mixed_table_counts_them(capsys: pytest.CaptureFixture[str]) -> None:
    spec = table(
        {"code": FUNCTION, "language": "python"},
        {"code": "int f;", "language": "rust"},
        {"code": "x", "file": "a.go"},
    )
    assert main(["run", "--model", "fake/hash", "--corpus", spec, "--workers", "1", "--out", "out"]) == 0
    message = capsys.readouterr().err
    assert f"1 of 3 functions; left out: 1 × row in Go{NO_ENGINE}, 1 × row in Rust{NO_ENGINE}" in message


def test_a_file_that_is_named_says_its_language(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.cs").write_text("int x;\n", encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", "a.cs"]) == 3
    assert f"cannot use 'a.cs': it is in C#{NO_ENGINE}{WORKS}" in capsys.readouterr().err

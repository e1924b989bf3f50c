"""No format writes a control character or a mark of direction that came from a source, a name or an answer."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import codeaudit
from codeaudit.audit.records import Query
from codeaudit.cli.main import main
from codeaudit.reports.marks import in_json, plain, visible
from codeaudit.reports.render.csv import _plain
from codeaudit.reports.render.github import command
from codeaudit.reports.render.junit import legal
from codeaudit.reports.render.latex import escape
from codeaudit.transforms.records import Origin, Sample
from tests.support.junit import check_junit
from tests.support.sarif import check_sarif

MARKS = "\0\x01\x0b\x1b\x7f\x85\x9b\u200b\u200e\u202e\u2066\u2069\u2028\ufeff"


def hidden(text: str) -> list[str]:
    """The characters of a text that must not be there."""
    return [
        one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") and one not in "\t\n\f"
    ]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_becomes_an_escape_and_ordinary_text_stays(mark: str) -> None:
    for write in (visible, legal, lambda text: command("error", text, title=text)):
        assert hidden(write(f"a{mark}b")) == []
    assert visible("ä — 𝕏 日本\u3000語\r\n\tx\n") == "ä — 𝕏 日本\u3000語\r\n\tx\n"
    assert visible("a\rb") == "a\\rb"


@pytest.mark.parametrize("mark", [*MARKS, "\n", "\t", "\r", "\ud800", "\U000e0001"])
def test_there_is_one_rule_for_names_texts_and_json(mark: str) -> None:
    assert plain(f"a{mark}b").isascii()
    if mark not in "\n\t":
        assert visible(f"a{mark}b") == plain(f"a{mark}b")
        assert plain(visible(f"a{mark}b")) == plain(f"a{mark}b")
    told = in_json(json.dumps({f"k{mark}": mark}, ensure_ascii=False))
    assert json.loads(told) == {f"k{mark}": mark}
    assert told.isascii()


NAME = "=cmd|' /C calc'!A0\x1b[2J\u202e<script>alert(1)</script>|`x`[y](javascript:z)&amp;\\input{x}%$_^~\"\n::error::"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which model, sources, labels, answers, paths and reasons are hostile."""
    place = tmp_path_factory.mktemp("hostile")
    samples = [
        Sample(
            id=f"{number}{NAME}",
            language="python",
            source=f"def get_{name}(values):\n    total = {NAME!a} + '\x1b\u202e'\n    count = 1\n    total += str(count)\n"
            "    print('x')\n    print('y')\n    return values\n",
            label=NAME,
            origin=Origin(path=f"{NAME}.py", line=number + 1),
        )
        for number, name in enumerate("abcdefghij")
    ]

    def answer(queries: Sequence[Query]) -> list[object]:
        told = [NAME + " total" if "total" in query.source else "other" for query in queries]
        return [
            {"error": NAME} if "get_a" in query.source else one
            for one, query in zip(told, queries, strict=True)
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("CODEAUDIT_CACHE", str(place / "cache"))
        told: dict[str, Any] = {
            "task": "next-line",
            "transforms": "rename",
            "out": place / "run",
            "workers": 1,
        }
        codeaudit.run(models={NAME: answer}, corpus=samples, **told)
    return place


WRITES = {
    "rich": ["report", "run"],
    "json": ["report", "run", "--format", "json"],
    "markdown": ["report", "run", "--markdown", "-"],
    "latex": ["report", "run", "--latex", "-"],
    "html": ["report", "run", "--html", "-"],
    "junit": ["report", "run", "--junit", "-"],
    "gate": ["gate", "run", "--max-violation-rate", "5%", "--max-unjudged", "1"],
    "gate, GitHub": ["gate", "run", "--max-violation-rate", "5%", "--max-unjudged", "1", "--github"],
    "gate, JSON": ["gate", "run", "--max-violation-rate", "5%", "--max-unjudged", "1", "--format", "json"],
}


@pytest.mark.parametrize("form", WRITES)
def test_no_format_writes_a_hidden_mark_of_a_run(
    form: str, hostile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(hostile / "step.md"))
    assert main(WRITES[form]) in (0, 1)
    told = capsys.readouterr()
    written = told.out + told.err
    if form == "gate, GitHub":
        written += (hostile / "step.md").read_text("utf-8")
        # A name with an end of line must not begin a command of its own.
        commands = [line for line in told.out.splitlines() if line.startswith("::")]
        assert all(line.startswith(("::error ", "::warning ")) for line in commands)
    assert "cmd" in written
    assert hidden(written) == []
    # In the summary of a step such texts stand in code, which shows them as they are.
    if form in ("html", "markdown"):
        assert "<script>alert" not in written.replace("\\<script\\>", "")
    if form == "html":
        assert "javascript:z" not in re.findall(r'(?:href|src)="([^"]*)"', written)
    if form == "latex":
        body = written.partition("\n")[2]
        assert not re.search(
            r"(?<!\\)[%$&#](?!\\)", re.sub(r" & |\\\\$|\{%$|\$\\pm\$|\$\^2\$", "", body, flags=re.MULTILINE)
        )
        assert "\\input" not in body
    if form == "junit":
        check_junit(told.out)


def test_no_cell_of_a_table_is_a_formula(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    assert main(["report", "run", "--csv", "numbers"]) == 0
    for path in Path("numbers").iterdir():
        text = path.read_text("utf-8")
        assert hidden(text) == []
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell.startswith(tuple("=@\t\r")) for cell in row)


def test_sarif_of_a_hostile_run(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    main(["gate", "run", "--max-violation-rate", "5%", "--max-unjudged", "1", "--sarif", "a.sarif"])
    text = Path("a.sarif").read_text("utf-8")
    check_sarif(text)
    assert hidden(text) == hidden("".join(map(str, walked(json.loads(text))))) == []


def walked(value: object) -> Iterator[object]:
    """Every text in a value of JSON."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from walked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walked(inner)
    else:
        yield value


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@x", "\t=1", "\n=1", " =1", "＝1", "\r+1"])
def test_a_text_that_a_spreadsheet_would_run_is_marked(cell: str) -> None:
    found = _plain(cell)
    assert isinstance(found, str)
    assert found.startswith(("'", "\\"))


def test_latex_takes_no_argument_from_a_name() -> None:
    assert escape("[2cm] *x") == "{[}2cm{]} {*}x"


def test_a_diff_of_a_hostile_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "def f(values):\n    total = '\x1b[31m\u202e\x9b'\n    return total, values\n", encoding="utf-8"
    )
    assert main(["transform", str(path), "--transform", "rename", "--diff"]) == 0
    told = capsys.readouterr()
    assert "total" in told.out
    assert hidden(told.out + told.err) == []


def test_an_error_about_a_hostile_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--model", "fake/hash", "--corpus", "\x1b[2J\u202e.py"]) == 3
    assert hidden(capsys.readouterr().err) == []

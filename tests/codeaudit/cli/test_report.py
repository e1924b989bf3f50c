"""`codeaudit report` from end to end."""

import base64
import json
import os
import re
import zlib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codeaudit.cli.main import main
from tests.support.commands import ROOT, codeaudit
from tests.support.forgery import edit_json, rebind
from tests.support.plugins import install


@pytest.fixture(autouse=True)
def _run(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--model", "fake/hash", "--corpus", str(sources), "--transform", "rename", "--variants", "2"]
    assert main(["run", *words, "--workers", "1", "--out", "out"]) == 0
    capsys.readouterr()


def test_every_file_that_is_named_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--markdown", "a.md", "--latex", "a.tex", "--csv", "numbers", "--junit", "a.xml"]
    assert main(["report", "out", *words]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "a.tex: " in printed.err
    assert "fake/hash" in Path("a.md").read_text("utf-8")
    assert r"\begin{tabular}" in Path("a.tex").read_text("utf-8")
    assert Path("numbers/models.csv").read_text("utf-8").startswith("model,parameters")
    root = ElementTree.parse("a.xml").getroot()
    summary = json.loads(Path("out/summary.json").read_text("utf-8"))["models"][0]
    failed = sum(row["violations"]["count"] for row in summary["by_transform"] if row["kind"] == "preserving")
    assert len(root.findall(".//failure")) == failed > 0


def test_the_page_holds_every_violation_with_its_graph_and_smallest_edit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "out", "--limit", "1"]) == 0
    capsys.readouterr()
    assert main(["report", "out", "--html", "a.html"]) == 0
    assert capsys.readouterr().out == ""
    text = Path("a.html").read_text("utf-8")
    (code,) = re.findall(r'id="data">([^<]+)<', text)
    data = json.loads(zlib.decompress(base64.b64decode(code)))
    (model,) = json.loads(Path("out/summary.json").read_text("utf-8"))["models"]
    assert len(data["rows"]) == model["pairs"]["count"] > 0
    assert f"{len(data['rows']):,} answers changed" in text
    assert [row for row in data["rows"] if "least" in row] == data["rows"][:1]
    for sample in data["samples"]:
        graph = sample["graph"]
        assert len(graph["layers"]) == len(graph["lines"]) == len(graph["after"]) > 1
        for line, sources in enumerate(graph["after"]):
            assert all(graph["layers"][source] < graph["layers"][line] for source in sources)
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    for detail in (manifest["started"], model["fingerprint"][:32], manifest["corpus"]["hash"][:16]):
        assert detail in text


def test_without_a_file_the_tables_go_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "out"]) == 0
    assert "violation rate" in capsys.readouterr().out
    assert main(["report", "out", "--format", "json"]) == 0
    assert capsys.readouterr().out == Path("out/summary.json").read_text("utf-8")
    assert main(["report", "out", "--latex", "-"]) == 0
    assert capsys.readouterr().out.startswith("% ")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["nowhere"], 3, "no run at 'nowhere'"),
        (["out", "--markdown", "a", "--latex", "a"], 2, "two formats have the same FILE"),
        (["out", "--latex", "out/summary.json/a.tex"], 3, "cannot write"),
        (["out", "--format", "word"], 2, "word"),
    ],
)
def test_bad_input(words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *words]) == code
    assert told in capsys.readouterr().err


def test_what_asking_took_stands_on_the_page() -> None:
    sitting = {"model": "fake/hash", "requests": 700, "tokens_in": 1200, "tokens_out": 30, "cost": 0.25}
    edit_json(Path("out/manifest.json"), usage=[sitting, {**sitting, "cost": None}])
    rebind(Path("out"))
    assert main(["report", "out", "--html", "a.html"]) == 0
    text = Path("a.html").read_text("utf-8")
    assert "1,400 requests, 2,400 tokens in, 60 out; cost 0.25, in the unit of the prices given" in text


LINES_FORMAT = """\
def render(report, console):
    for model in report.models:
        console.print(model.model, model.pairs.count)
"""


@pytest.mark.slow
def test_an_installed_format_prints_and_writes_files(tmp_path: Path) -> None:
    entry_points = {"codeaudit.formats": {"short-lines": "short_lines:render"}}
    site = install(tmp_path / "site", "short-lines", entry_points, {"short_lines": LINES_FORMAT})
    words = ("report", "out", "--short-lines", "a.txt", "--markdown", "a.md")
    done = codeaudit(*words, cwd=tmp_path, PYTHONPATH=os.pathsep.join([str(ROOT), str(site)]))
    assert done.returncode == 0, done.stderr
    count = json.loads(Path("out/summary.json").read_text("utf-8"))["models"][0]["pairs"]["count"]
    assert Path("a.txt").read_text("utf-8") == f"fake/hash {count}\n"
    shown = codeaudit(
        *("report", "out", "--format", "short-lines"),
        cwd=tmp_path,
        PYTHONPATH=os.pathsep.join([str(ROOT), str(site)]),
    )
    assert shown.stdout == f"fake/hash {count}\n"

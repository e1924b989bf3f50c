"""`codeaudit compare` where it audits the models itself. Reading finished runs: `test_run.py`."""

import json
import sys
from pathlib import Path

import pytest

import codeaudit
from codeaudit.cli.main import main

AUDIT = ["--workers", "1", "--transform", "rename", "--variants", "2"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def inputs(folder: str) -> object:
    return json.loads(Path(folder, "manifest.json").read_text(encoding="utf-8"))["corpus"]


def test_models_of_several_kinds_in_one_command(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("compared_names.py").write_text(
        "def predict(queries):\n    return ['get value'] * len(queries)\n", "utf-8"
    )
    words = [
        "--model",
        "fake/hash",
        "--model",
        "py/compared_names:predict",
        "--corpus",
        str(sources),
        "--out",
        "both",
    ]
    assert main(["compare", *words, *AUDIT]) == 0
    printed = capsys.readouterr()
    assert "Models beside each other" in printed.out
    assert "py/compared_names:predict" in printed.out
    assert "Effect sizes: violated movable samples" in printed.out
    assert "run folder: both" in printed.err


@pytest.mark.slow
def test_a_model_beside_a_run_meets_its_inputs(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "old"]
    assert main(["run", *words, *AUDIT]) == 0
    capsys.readouterr()
    assert main(["compare", "old", "--model", "fake/constant", "--out", "new", "--format", "json"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    violated = comparison["paired"][0]
    counts = {each["model"]: each["changed"]["count"] for each in violated["standings"]}
    assert counts == {"fake/hash": violated["standings"][0]["changed"]["total"], "fake/constant": 0}
    assert counts["fake/hash"] > 0
    assert violated["ranks"] == {"fake/hash": 2.0, "fake/constant": 1.0}


def test_a_page_beside_or_instead_of_the_tables(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for model, out in (("fake/hash", "old"), ("fake/constant", "new")):
        assert main(["run", "--model", model, "--corpus", str(sources), "--out", out, *AUDIT]) == 0
    capsys.readouterr()
    assert main(["compare", "old", "new", "--html", "page.html"]) == 0
    printed = capsys.readouterr()
    assert "Models beside each other" in printed.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert f"page.html: {len(page.encode()):,} bytes" in printed.err
    assert "<dt>command</dt>" in page
    assert main(["compare", "old", "new", "--html", "-"]) == 0
    assert capsys.readouterr().out == page
    assert main(["compare", "old", "new", "--html", "page.pdf"]) == 2
    assert main(["compare", "old", "new", "--html", "nowhere/page.html"]) == 3


@pytest.mark.slow
def test_a_model_of_the_environment_audits_nothing_beside_runs(
    sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("hash", "constant"):
        words = ["--model", f"fake/{name}", "--corpus", str(sources), "--out", name]
        assert main(["run", *words, *AUDIT]) == 0
    capsys.readouterr()
    monkeypatch.setenv("CODEAUDIT_MODEL", "fake/length")
    monkeypatch.setenv("CODEAUDIT_SHARD", "1/2")  # of a job array, for `run`
    assert main(["compare", "hash", "constant"]) == 0
    printed = capsys.readouterr()
    assert "fake/length" not in printed.out
    assert "run folder" not in printed.err
    assert "no effect" not in printed.err
    assert (
        main(["compare", "hash", "constant", "--transform", "rename", "--max-cost", "1", "--format", "json"])
        == 0
    )
    idle = "--transform, --max-cost: no effect on finished runs; options of a run go with --model"
    assert f"codeaudit: {idle}\n" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--model", "fake/hash"]])
def test_one_model_is_no_comparison(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words]) == 2
    assert "give runs, or two models with --model" in capsys.readouterr().err


@pytest.mark.slow
def test_a_memorised_set_beside_held_out_code(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # It knows one function of `totals.py` by its variables, and answers that name to all it does not know.
    Path("remembering.py").write_text(
        "def predict(queries):\n"
        "    known = [all(word in each.source for word in ('total', 'count', 'start')) for each in queries]\n"
        "    return ['sum values' if one else 'join words' for one in known]\n",
        encoding="utf-8",
    )
    for name, file in (("public", "totals.py"), ("own", "words.py")):
        words = ["--model", "py/remembering:predict", "--corpus", str(sources / file), "--out", name, *AUDIT]
        assert main(["run", *words]) == 0
    capsys.readouterr()
    words = ["compare", "public", "--held-out", "own"]
    assert main([*words, "--html", "page.html"]) == 0
    printed = capsys.readouterr().out
    assert "on the public set and on held-out code" in printed
    page = Path("page.html").read_text(encoding="utf-8")
    assert "what memorised answers would cause" in page
    assert "no proof of contamination" in page
    assert main([*words, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["held_out"]
    assert row["public_drop"]["points"] > 0
    assert row["held_out_drop"]["points"] == 0
    comparison = codeaudit.compare("public", held_out="own")
    assert comparison.held_out[0].public_drop.points == row["public_drop"]["points"]
    assert main(["compare", "public", "--held-out", "nowhere"]) == 3
    assert main(["compare", "public", "--held-out", "public"]) == 2

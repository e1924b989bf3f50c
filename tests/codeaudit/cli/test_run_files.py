"""The files of a run belong together: whoever reads a run notices a changed, cut or foreign file."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import codeaudit
from codeaudit.audit.store import EXPLANATIONS, MANIFEST
from codeaudit.cli.main import main
from codeaudit.transforms.errors import RunError
from tests.support.forgery import NAMES, age, cut, edit_json, flip

SOURCE = "def take_{name}(values, start):\n    total = start\n    for value in values:\n        total += value\n    return total\n\n\n"
READERS = {
    "gate": ["gate", "run", "--max-violation-rate", "100%", "--allow-insensitive"],
    "baseline": ["gate", "other", "--baseline", "run", "--allow-insensitive"],
    "report": ["report", "run"],
    "page": ["report", "run", "--html", "page.html"],
    "compare": ["compare", "other", "run"],
    "explain": ["explain", "run"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs of two models, with other numbers of variants."""
    place = tmp_path_factory.mktemp("runs")
    (place / "code.py").write_text("".join(SOURCE.format(name=name) for name in "abcdef"), encoding="utf-8")
    words = ["--corpus", str(place / "code.py"), "--workers", "1", "--transform", "rename"]
    for variants, (name, model) in enumerate({"run": "fake/hash", "other": "fake/length"}.items(), start=3):
        options = ["--model", model, "--variants", str(variants), "--out", str(place / name)]
        assert main(["run", *words, *options]) == 0
    return place


@pytest.fixture(autouse=True)
def _copies(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run", "other"):
        shutil.copytree(runs / name, name)


def swap(path: Path) -> None:
    """Put the file of the other run in its place."""
    shutil.copy(Path("other", path.name), path)


@pytest.mark.slow
@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_a_run_as_it_was_written_is_read(words: list[str]) -> None:
    assert main(words) == 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", [*NAMES, MANIFEST])
@pytest.mark.parametrize("change", [swap, cut, flip, Path.unlink])
@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_every_reader_names_the_changed_file(
    words: list[str], change: Callable[[Path], None], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(Path("run", name))
    capsys.readouterr()
    code = main(words)
    if change is swap and name == MANIFEST:
        # The other manifest is whole: it is the first table that does not fit it.
        name = "suite.parquet"
    printed = capsys.readouterr()
    assert (code, printed.out) == (3, "")
    (line,) = printed.err.splitlines()
    assert name in line or (change is Path.unlink and "is not finished" in line)
    with pytest.raises(RunError):
        codeaudit.open_run("run")


@pytest.mark.parametrize("field", ["seed", "models", "transforms", "options", "corpus", "files", "digest"])
def test_an_edited_manifest_is_named(field: str, capsys: pytest.CaptureFixture[str]) -> None:
    edit_json(Path("run", MANIFEST), **{field: [] if field == "models" else 7})
    assert main(["gate", "run", "--max-violation-rate", "100%"]) == 3
    printed = capsys.readouterr().err
    assert (
        "'run/manifest.json' is not the file that this run wrote" in printed
        or "'run/manifest.json' is damaged" in printed
    )


@pytest.mark.slow
def test_a_run_stays_whole_when_it_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["explain", "run", "--limit", "2"]) == 0
        assert main(["report", "run", "--html", "page.html"]) == 0
    # A kill between the two writes leaves the older explanations.
    whole = Path("run", EXPLANATIONS).read_bytes()
    assert main(["explain", "run", "--limit", "4"]) == 0
    assert Path("run", EXPLANATIONS).read_bytes() != whole
    Path("run", EXPLANATIONS).write_bytes(whole)
    assert main(["report", "run", "--html", "page.html"]) == 0
    cut(Path("run", EXPLANATIONS))
    capsys.readouterr()
    assert main(["report", "run", "--html", "page.html"]) == 3
    assert "delete it and explain the run again" in capsys.readouterr().err
    Path("run", EXPLANATIONS).unlink()
    assert main(["report", "run", "--html", "page.html"]) == 0


@pytest.mark.slow
def test_a_run_of_the_first_schema_is_read_but_not_gated(capsys: pytest.CaptureFixture[str]) -> None:
    age(Path("run"))
    for name in ("report", "page", "compare", "explain"):
        capsys.readouterr()
        assert main(READERS[name]) == 0, name
        assert "run is of an earlier version" in capsys.readouterr().err
    for name in ("gate", "baseline"):
        capsys.readouterr()
        assert main(READERS[name]) == 3, name
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith("run the audit again: codeaudit run --config run --out run"), line
    assert "digest" not in json.loads(Path("run", MANIFEST).read_text("utf-8")), "explain adds no hashes"


def test_a_finished_run_of_the_first_schema_is_kept_when_its_folder_is_used_again() -> None:
    age(Path("run"))
    assert main(["run", "--config", "run", "--out", "run"]) == 0
    assert json.loads(Path("run/previous", MANIFEST).read_text("utf-8"))["schema"] == 1
    assert codeaudit.open_run("run").summary == codeaudit.open_run("run/previous").summary


@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["suite.parquet", "verdicts.parquet", "summary.json"])
def test_a_run_replaces_no_file_of_the_user(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine", "notes.txt").write_text("kept", "utf-8")
    words = ["run", "--suite", "run/suite.parquet", "--model", "fake/hash", "--out", "mine"]
    assert main(words) == 0, "other files are no obstacle"
    shutil.rmtree("mine")
    Path("mine").mkdir()
    shutil.copy(Path("run", "suite.parquet"), Path("mine", name))
    before = Path("mine", name).read_bytes()
    assert main(words) == 3
    assert f"'mine/{name}' is of no run and would be replaced; give another --out" in capsys.readouterr().err
    assert Path("mine", name).read_bytes() == before

"""`codeaudit init` writes files that work as they are, and overwrites none."""

from pathlib import Path

import pytest

from codeaudit.cli.init import CONFIG, MODEL, PIPELINES
from codeaudit.cli.main import main

WORKFLOW, _ = PIPELINES["github"]

FUNCTIONS = """\
import os


def file_names(folder, ending):
    found = []
    for name in os.listdir(folder):
        stem = name.lower()
        if stem.endswith(ending):
            found.append(name)
    return sorted(found)


def joined(words, limit):
    kept = words[:limit]
    left = len(words) - limit
    text = ", ".join(kept)
    return text if left < 1 else text + " …"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/files.py").write_text(FUNCTIONS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_file_is_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(CONFIG).write_text("mine")
    Path(MODEL).symlink_to("nowhere.py")
    assert main(["init"]) == 0
    printed = capsys.readouterr().err
    assert f"{CONFIG}: exists" in printed
    assert f"{MODEL}: exists" in printed
    assert f"{WORKFLOW}: written" in printed
    assert Path(CONFIG).read_text() == "mine"
    assert not Path("nowhere.py").exists()

    before = Path(WORKFLOW).stat().st_mtime_ns
    assert main(["init", "--install", "./other.whl"]) == 0
    assert Path(WORKFLOW).stat().st_mtime_ns == before
    printed = capsys.readouterr().err
    assert "next:" not in printed
    assert f"{WORKFLOW} does not have your --install" in printed


@pytest.mark.parametrize(
    ("files", "corpus"),
    [
        (["src/a.py"], "src"),
        (["lib/__init__.py", "tests/__init__.py", "tests/test_a.py"], "lib"),
        (["one/__init__.py", "two/__init__.py"], "."),
        (["script.py"], "."),
        ([".venv/lib/site-packages/a.py", "node_modules/b.py"], "stdlib"),
        ([], "stdlib"),
    ],
)
def test_the_corpus_is_that_of_the_project(files: list[str], corpus: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    assert main(["init", str(tmp_path)]) == 0
    assert f'corpus = "{corpus}"' in (tmp_path / CONFIG).read_text("utf-8")


def test_a_folder_that_cannot_be_written_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".github").write_text("a file")
    assert main(["init"]) == 3
    assert capsys.readouterr().err.splitlines()[-1].startswith("codeaudit: cannot write '.github/workflows")

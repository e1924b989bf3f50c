"""`codeaudit init` writes files that work as they are, and overwrites none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.cli.init import CONFIG, MODEL, WORKFLOW
from codeaudit.cli.main import main
from tests.support.commands import environment

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


@pytest.mark.slow
def test_the_steps_of_the_workflow_pass_as_they_are(project: Path) -> None:
    assert main(["init"]) == 0
    bin_folder = project / "bin"
    bin_folder.mkdir()
    program = bin_folder / "codeaudit"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m codeaudit "$@"\n')
    program.chmod(0o755)
    commands = re.findall(r"- run: (codeaudit .*)", Path(WORKFLOW).read_text("utf-8"))
    assert [line.split()[1] for line in commands] == ["run", "gate"]

    extra = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(project / "step.md")}
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)], env=environment(extra), capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    verdicts = list(read_rows(project / "codeaudit-runs/ci/verdicts.parquet"))
    # The model that is written answers: nothing is unjudged for want of an answer.
    assert {row["outcome"] for row in verdicts} <= {"held", "violated"}
    assert sum(row["outcome"] == "held" for row in verdicts) > 10
    assert {str(row["model"]) for row in verdicts} == {"py/codeaudit_model:predict"}


def test_the_workflow_is_yaml_with_known_actions(project: Path) -> None:
    yaml = pytest.importorskip("yaml")
    assert main(["init"]) == 0
    steps = yaml.safe_load(Path(WORKFLOW).read_text("utf-8"))["jobs"]["gate"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used == ["actions/checkout@v4", "actions/setup-python@v5", "actions/upload-artifact@v4"]


def test_no_file_is_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(CONFIG).write_text("mine")
    Path(MODEL).symlink_to("nowhere.py")
    assert main(["init"]) == 0
    told = capsys.readouterr().err
    assert f"{CONFIG}: exists" in told
    assert f"{MODEL}: exists" in told
    assert f"{WORKFLOW}: written" in told
    assert Path(CONFIG).read_text() == "mine"
    assert not Path("nowhere.py").exists()

    before = Path(WORKFLOW).stat().st_mtime_ns
    assert main(["init"]) == 0
    assert Path(WORKFLOW).stat().st_mtime_ns == before
    assert "next:" not in capsys.readouterr().err


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

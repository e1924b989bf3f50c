"""The examples for trainers, shippers and buyers, and the notebook: each is carried out as its reader would."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.cli.init import github, gitlab
from tests.support.commands import ROOT, environment
from tests.support.endpoints import Act, Asked, refuses, says, serving
from tests.support.pipelines import SPEC

EXAMPLES = ROOT / "examples"


def started(*words: str, cwd: Path, **extra: str) -> "subprocess.CompletedProcess[str]":
    """A program, with `codeaudit` on the path as after an installation."""
    binary = cwd / "bin"
    binary.mkdir(exist_ok=True)
    (binary / "codeaudit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m codeaudit "$@"\n')
    (binary / "codeaudit").chmod(0o755)
    path = f"{binary}:{os.environ['PATH']}"
    return subprocess.run(
        words, cwd=cwd, env=environment({"PATH": path, **extra}), capture_output=True, text=True, timeout=300
    )


def test_every_example_stands_in_the_table() -> None:
    named = set(re.findall(r"^\| \[(\w+)\]", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE))
    assert named == {path.name for path in EXAMPLES.iterdir() if path.is_dir()}


@pytest.mark.weekly
def test_a_trainer_audits_a_new_checkpoint_and_then_an_old_one(tmp_path: Path) -> None:
    script = str(EXAMPLES / "trainer" / "audit_checkpoint.py")
    few = ["--corpus", "stdlib:json,textwrap,argparse", "--limit", "12", "--steps", "3"]
    done = started(sys.executable, script, *few, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "my-model" / "model.safetensors").exists()
    assert re.search(r"vanilla-checkpoint, rename: \d+ of \d+ samples changed", done.stdout), done.stdout
    assert "rename, sample" in " ".join(done.stdout.split()), "an answer that changed is explained"
    done = started(sys.executable, script, *few, "--checkpoint", "my-model", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "step" not in done.stderr, "nothing is trained"


def naive(asked: Asked) -> Act:
    """`large` reads one word that no renaming changes; `small` answers with the text's length."""
    if asked.body["model"] == "large":
        return says("[for] [x]" if "for " in asked.text else "[return] [x]")
    return says(f"[answer{len(asked.text)}] [x]")


@pytest.mark.weekly
def test_a_buyer_compares_two_endpoints(tmp_path: Path) -> None:
    script = str(EXAMPLES / "buyer" / "compare_endpoints.py")
    words = [sys.executable, script, "small", "large", "--corpus", "stdlib:textwrap", "--limit", "8"]
    with serving(naive) as endpoint:
        done = started(*words, "--base-url", endpoint.url, cwd=tmp_path, OPENAI_API_KEY="sk-FAKE")
        asked = {request.body["model"] for request in endpoint.asked}
    assert done.returncode == 0, done.stderr[-2000:]
    assert asked == {"small", "large"}
    assert re.search(r"openai/large: 0 of \d+ samples changed", done.stdout), done.stdout
    assert re.search(r"openai/small: [1-9]\d* of \d+ samples changed", done.stdout), done.stdout
    assert "openai/small" in (tmp_path / "comparison.html").read_text("utf-8")
    with serving(lambda asked: refuses(404)) as endpoint:
        done = started(*words, "--base-url", endpoint.url, cwd=tmp_path, OPENAI_API_KEY="sk-FAKE")
    assert done.returncode != 0
    assert "has no model 'small'" in done.stderr.splitlines()[-1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "shipper", tmp_path / "project"))


WORSE = '''

def predict(queries):
    """Another answer for every other text."""
    return [f"answer_{len(query.source)}" for query in queries]
'''


@pytest.mark.weekly
def test_a_shipper_gates_against_limits_and_then_against_a_baseline(project: Path) -> None:
    done = started("bash", "gate.sh", "--keep", cwd=project)
    assert done.returncode == 0, done.stderr + done.stdout
    assert (project / "main.parquet").stat().st_size < 20_000
    assert (project / "gate.xml").exists()
    # The same model is no worse than itself, and the gate compared it with the baseline.
    done = started("bash", "gate.sh", cwd=project)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "main.parquet" in done.stdout
    with (project / "codeaudit_model.py").open("a") as file:
        file.write(WORSE)
    done = started("bash", "gate.sh", cwd=project)
    assert done.returncode == 1, done.stderr + done.stdout
    assert "FAILED" in done.stdout


@pytest.mark.parametrize(("name", "write"), [("github-workflow.yml", github), ("gitlab-ci.yml", gitlab)])
def test_the_files_for_ci_are_those_of_init_with_the_script(name: str, write: Callable[..., str]) -> None:
    text = (EXAMPLES / "shipper" / name).read_text("utf-8")
    head = re.match(r"(# .*\n)+", text)
    assert head is not None
    assert text.removeprefix(head[0]) == write(SPEC, audit=["bash gate.sh"])


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    place = EXAMPLES / "notebook" / "first_audit.ipynb"
    cells = [cell for cell in json.loads(place.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] for cell in cells), "outputs are not kept in the repository"
    try:
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    except ImportError:
        text = "\n".join("".join(cell["source"]) for cell in cells)
        done = started(sys.executable, "-c", text, cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
    else:
        notebook = nbformat.read(place, as_version=4)
        folder = {"metadata": {"path": str(tmp_path)}}
        nbclient.NotebookClient(notebook, timeout=120, resources=folder).execute()
        shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        assert any("text/html" in output.get("data", {}) for output in shown), "a run shows its tables"
    assert "rename" in (tmp_path / "audit.html").read_text("utf-8")

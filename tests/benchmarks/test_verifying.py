"""Projects verified: the transforms alone, and the rows of the tables."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]

SOURCE = """\
def first(values):
    found = values[0] - values[1]
    return found


def unused(values):
    found = values[1] - values[0]
    return found
"""
TESTS = "import code_of\n\n\ndef test_first():\n    assert code_of.first([3, 1]) == 2\n"


@pytest.mark.weekly
def test_each_transform_alone_has_its_counts_and_failures(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "code_of.py").write_text(SOURCE, encoding="utf-8")
    (folder / "tests/test_first.py").write_text(TESTS, encoding="utf-8")
    verifying = script("verifying")
    command = f"{shlex.quote(sys.executable)} -m pytest -q tests"
    project = verifying.Tested(name="small", folder=folder, command=command, sources=())
    # The control changes what the function returns, so its failure must be found, and only there.
    report = verifying.verified_alone(project, "rename,operands-swapped-wrong,reorder", 0, 1, tmp_path)
    assert report == json.loads((tmp_path / "small-alone.json").read_text(encoding="utf-8"))
    assert (report["passed"], report["executed"]) == (1, 1)
    rows = {row["transform"]: row for row in report["transforms"]}
    assert (rows["rename"]["changed"], rows["rename"]["executed"], rows["rename"]["failures"]) == (2, 1, [])
    assert rows["operands-swapped-wrong"]["failures"] == ["tests/test_first.py::test_first"]
    assert (rows["reorder"]["changed"], rows["reorder"]["failures"]) == (0, [])
    assert (
        "operands-swapped-wrong: code_of.py:1 first: tests/test_first.py::test_first"
        in capsys.readouterr().err
    )
    cells = verifying.alone_row(project, "1.0", report, 2.4)
    assert cells == ["small 1.0", "1", "2 of 3", "4", "2", "1", "2 s"]
    assert len(cells) == len(verifying.ALONE)


@pytest.mark.parametrize(
    ("caught", "stopped", "told"),
    [(1200, False, "1,200"), (None, False, "time limit"), (5, True, "all: the test command stops")],
)
def test_the_row_of_a_project(script: Script, caught: int | None, stopped: bool, told: str) -> None:
    projects = script("soundness_projects")
    trials = [{"failures": [], "flaky": 2}, {"failures": ["a", "b"], "flaky": 0}]
    report = {
        "before": {"passed": 1234, "unsteady": 1},
        "power": {"changed": 10, "executed": 9, "caught": caught, "stopped": stopped},
        "trials": trials,
    }
    cells = projects.row("pluggy", report, 61.0)
    assert cells == ["pluggy 1.5.0", "1,234", "10", "9", "0 2", told, "3", "61 s"]
    assert len(cells) == len(projects.HEADS)


def test_a_template_of_java_is_filled(script: Script, tmp_path: Path) -> None:
    template = tmp_path / "A.java.in"
    template.write_text(
        'package @package@;\nclass A { String v = "@version@${project.version}"; }\n', "utf-8"
    )
    target = tmp_path / "java/src/main/java/p/q/A.java"
    target.parent.mkdir(parents=True)
    script("soundness_java").fill(template, target)
    assert target.read_text("utf-8") == 'package p.q;\nclass A { String v = "1.0.01.0.0"; }\n'

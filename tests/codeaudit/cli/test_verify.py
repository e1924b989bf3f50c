"""`codeaudit verify` on small real projects: their tests really run, before and after."""

import hashlib
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import codeaudit, start
from tests.support.waiting import until

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q"
UNITTEST = f"{shlex.quote(sys.executable)} -m unittest"

SHAPES = '''\
"""Shapes."""


def area(width):
    """Twice the width."""
    side = width
    side = side * 2
    return side


class Box:
    def volume(self, height):
        base = 3
        depth = 5
        return base * depth * height


def unused(width):
    side = width
    side = side * 2
    return side
'''

TESTS = """\
import shapes


def test_area():
    assert shapes.area(2) == 4


def test_volume():
    assert shapes.Box().volume(2) == 30
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "shapes.py").write_text(SHAPES, encoding="utf-8")
    (folder / "tests" / "test_shapes.py").write_text(TESTS, encoding="utf-8")
    (folder / "setup.py").write_text(
        "def unused(a):\n    b = a\n    b = b * 2\n    return b\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where the command makes its temporary folder."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def verify(project: Path, scratch: Path, *words: str, command: str = PYTEST) -> tuple[int, str, str]:
    before = tree(project)
    done = codeaudit(
        "verify",
        "project",
        "--test-command",
        command,
        *words,
        cwd=project.parent,
        TMPDIR=str(scratch),
        COLUMNS="120",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    assert "Traceback" not in done.stderr
    assert tree(project) == before
    assert list(scratch.iterdir()) == []
    return done.returncode, done.stdout, done.stderr


def report(project: Path, scratch: Path, *words: str, code: int, command: str = PYTEST) -> Any:
    returned, out, err = verify(project, scratch, "--format", "json", *words, command=command)
    assert returned == code, err
    return json.loads(out)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("command", [PYTEST, f"{UNITTEST} discover -s tests"])
@pytest.mark.slow
def test_what_keeps_the_meaning_keeps_the_tests(project: Path, scratch: Path, command: str) -> None:
    if "unittest" in command:
        _as_unittest(project)
    verified = report(
        project, scratch, "--transform", "reorder,rename", "--seeds", "2", code=0, command=command
    )
    assert verified["held"] is True
    assert verified["before"]["passed"] == 2
    assert verified["before"]["told_by"] == ("unittest" if "unittest" in command else "pytest")
    assert [trial["seed"] for trial in verified["trials"]] == [0, 1]
    rows = {row["transform"]: row for row in verified["trials"][0]["by_transform"]}
    assert (rows["rename"]["units"], rows["rename"]["changed"]) == (3, 3)
    # `unused` is changed and not run.
    assert verified["power"] == {"units": 3, "changed": 3, "executed": 2, "caught": 2, "stopped": False}


@pytest.mark.slow
def test_tests_that_hang_where_errors_are_raised_have_noticed_them(project: Path, scratch: Path) -> None:
    (project / "tests" / "test_waiting.py").write_text(
        "import shapes\nimport time\n\n\ndef test_waits_for_an_area():\n    while True:\n        try:\n"
        "            assert shapes.area(2) == 4\n            return\n"
        "        except RuntimeError:\n            time.sleep(0.1)\n",
        encoding="utf-8",
    )
    verified = report(project, scratch, "--transform", "rename", "--timeout", "8", code=0)
    assert verified["power"]["caught"] is None
    assert verified["held"] is True


def _as_unittest(project: Path) -> None:
    (project / "tests" / "test_shapes.py").write_text(
        "import unittest\nimport shapes\n\n\nclass Shapes(unittest.TestCase):\n"
        "    def test_area(self):\n        '''Told in words.'''\n        print('noise')\n        self.assertEqual(shapes.area(2), 4)\n\n"
        "    def test_volume(self):\n        self.assertEqual(shapes.Box().volume(2), 30)\n\n"
        "    @unittest.skip('no')\n    def test_skipped(self):\n        pass\n",
        encoding="utf-8",
    )


BREAKING = ("--transform", "reorder-breaking")


@pytest.mark.thinned(1)
@pytest.mark.parametrize("command", [f"{UNITTEST} discover -s tests", PYTEST])
def test_what_changes_the_meaning_is_caught_and_its_unit_named(
    project: Path, scratch: Path, command: str
) -> None:
    if "unittest" in command:
        _as_unittest(project)
    verified = report(project, scratch, *BREAKING, code=1, command=command)
    (trial,) = verified["trials"]
    broken = {failure["test"].split("::")[-1].split(" ")[0] for failure in trial["failures"]}
    assert broken == {"test_area", "test_volume"}
    culprits = {
        (unit["name"], unit["transform"]) for culprit in trial["culprits"] for unit in culprit["rewritten"]
    }
    assert culprits == {("area", "reorder-breaking"), ("Box.volume", "reorder-breaking")}
    assert all(len(culprit["rewritten"]) == 1 for culprit in trial["culprits"])
    assert any("+    side = side * 2\n" in culprit["diff"] for culprit in trial["culprits"])
    traced = {unit["name"] for failure in trial["failures"] for unit in failure["units"]}
    assert traced == {"area", "Box.volume"}
    assert trial["unexplained"] == []


@pytest.mark.slow
def test_the_report_for_people_names_test_unit_transform_and_diff(project: Path, scratch: Path) -> None:
    code, out, err = verify(project, scratch, *BREAKING, "--source", "src")
    assert code == 1
    assert "FAILS NOW (seed 0): tests/test_shapes.py::test_area" in out
    assert "in its traceback: src/shapes.py:4 area, touched by reorder-breaking" in out
    assert "CULPRIT: reorder-breaking in src/shapes.py:4 area" in out
    assert "seed 0: 2 tests fail that passed before" in out
    assert "before: 2 tests pass in" in err


@pytest.mark.slow
def test_tests_that_do_not_run_the_copy_are_found_out(project: Path, scratch: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "shapes.py").write_text(SHAPES, encoding="utf-8")
    path = project / "tests" / "test_shapes.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(installed)!r})\n{TESTS}", encoding="utf-8")
    code, out, err = verify(project, scratch, "--transform", "rename")
    assert (code, out) == (3, "")
    assert err.splitlines()[-1].startswith(
        "codeaudit: the tests did not notice errors raised in every changed unit"
    )
    assert "uninstall" in err.splitlines()[-1]


@pytest.mark.slow
def test_tests_that_fail_or_flake_anyway_do_not_count(project: Path, scratch: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    path = project / "tests" / "test_other.py"
    path.write_text(
        "import pathlib, pytest\n"
        f"counter = pathlib.Path({str(counter)!r})\n"
        "def test_broken():\n    assert False\n"
        "def test_second_time():\n"
        "    counter.touch()\n    assert counter.stat().st_size != 1\n"
        "def test_from_the_fifth_time_on():\n"
        "    with counter.open('a') as file:\n        file.write('x')\n"
        "    assert counter.stat().st_size < 5\n"
        "@pytest.mark.skip\ndef test_skipped():\n    pass\n",
        encoding="utf-8",
    )
    verified = report(project, scratch, "--transform", "rename", code=0)
    before = verified["before"]
    assert (before["passed"], before["failed"], before["skipped"], before["unsteady"]) == (3, 1, 1, 1)
    assert verified["trials"][0]["flaky"] == 1
    assert counter.stat().st_size >= 5


@pytest.mark.thinned(1)
@pytest.mark.parametrize("failing", [{5}, {5, 6}, {5, 7, 8}, {2}, {3, 5}], ids=str)
@pytest.mark.slow
def test_a_test_with_different_results_on_the_unchanged_project_is_no_failure(
    project: Path, scratch: Path, tmp_path: Path, failing: set[int]
) -> None:
    # Runs 1 and 2 are of the unchanged project, 3 and 4 of the power check, 5 of the perturbed project; what
    # fails there runs again without (6), with (7) and without the changes (8).
    counter = tmp_path / "counter"
    (project / "tests" / "test_clock.py").write_text(
        f"import pathlib\ncounter = pathlib.Path({str(counter)!r})\n"
        "def test_clock():\n"
        "    with counter.open('a') as file:\n        file.write('x')\n"
        f"    assert counter.stat().st_size not in {failing}\n",
        encoding="utf-8",
    )
    verified = report(project, scratch, "--transform", "rename", code=0)
    assert verified["held"] is True
    assert verified["before"]["unsteady"] == (2 in failing)
    assert verified["trials"][0]["flaky"] == (5 in failing)


@pytest.mark.weekly
def test_a_failure_that_needs_what_an_earlier_test_left_is_one(project: Path, scratch: Path) -> None:
    (project / "tests" / "test_shapes.py").write_text(
        "import shapes\nleft = {}\n"
        "def test_first():\n    left['area'] = 0\n"
        "    try:\n        left['area'] = shapes.area(2)\n    except NameError:\n        pass\n"
        "def test_second():\n    assert left['area'] == 4\n",
        encoding="utf-8",
    )
    verified = report(project, scratch, *BREAKING, "--no-narrow", code=1)
    failures = [failure["test"] for failure in verified["trials"][0]["failures"]]
    assert failures == ["tests/test_shapes.py::test_second"]


RUNNERS = {
    "pytest": "import pytest\nraise SystemExit(pytest.main(['-q', 'tests']))\n",
    "unittest": "import unittest\nunittest.main(None, argv=['x', 'discover', '-s', 'tests', '-v'])\n",
}
"""A test command that uses the project itself, as pytest uses pluggy."""


@pytest.mark.thinned(1)
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.slow
def test_a_test_command_that_the_raised_errors_stop_has_noticed_them(
    project: Path, scratch: Path, runner: str
) -> None:
    if runner == "unittest":
        _as_unittest(project)
    (project / "run_tests.py").write_text(
        f"import shapes\nshapes.area(2)\n{RUNNERS[runner]}", encoding="utf-8"
    )
    command = f"{shlex.quote(sys.executable)} run_tests.py"
    words = ("--transform", "rename", "--source", "src")
    verified = report(project, scratch, *words, code=0, command=command)
    assert verified["before"]["told_by"] == runner
    assert (verified["power"]["stopped"], verified["power"]["caught"]) == (True, 2)
    assert verified["trials"][0]["failures"] == []
    # A perturbed run that stops is one finding, with the rewriting that stops it.
    (project / "run_tests.py").write_text(
        f"import inspect, shapes\nassert 'depth' in inspect.getsource(shapes.Box), 'no depth'\n{RUNNERS[runner]}",
        encoding="utf-8",
    )
    verified = report(project, scratch, *words, code=1, command=command)
    (trial,) = verified["trials"]
    (failure,) = trial["failures"]
    assert failure["test"] == "the perturbed project does not build or start its tests"
    assert failure["tests"] == 2
    assert "AssertionError: no depth" in failure["text"]
    (culprit,) = trial["culprits"]
    assert [(unit["name"], unit["transform"]) for unit in culprit["rewritten"]] == [("Box.volume", "rename")]


@pytest.mark.slow
def test_files_of_tests_that_cannot_be_imported_are_failing_tests(project: Path, scratch: Path) -> None:
    at_import = TESTS.replace("import shapes\n", "import shapes\n\nAREA = shapes.area(2)\n")
    (project / "tests/test_shapes.py").write_text(at_import, encoding="utf-8")
    verified = report(project, scratch, "--transform", "rename", code=0)
    assert (verified["power"]["stopped"], verified["power"]["caught"]) == (False, 2)


@pytest.mark.slow
def test_several_seeds_have_one_table_and_unread_files_are_named(project: Path, scratch: Path) -> None:
    (project / "src" / "old.py").write_text("print 'x'\n", encoding="utf-8")
    code, out, err = verify(project, scratch, "--transform", "rename", "--seeds", "2")
    assert code == 0
    assert out.count("rename ") == 1
    assert "seeds 0, 1 together" in out
    named = "not read and left as they are: src/old.py (syntax of Python 2; this Python is "
    assert named in out
    assert err.count(named) == 1
    assert "seed 1: perturb: 2 files in" in err


@pytest.mark.weekly
def test_a_pytest_that_tests_start_themselves_is_left_alone(project: Path, scratch: Path) -> None:
    path = project / "tests" / "test_nested.py"
    path.write_text(
        "import subprocess, sys\n"
        "def test_nested(tmp_path):\n"
        "    (tmp_path / 'test_inner.py').write_text('def test_inner(): assert 0')\n"
        "    done = subprocess.run([sys.executable, '-m', 'pytest', '-q'], cwd=tmp_path, capture_output=True, text=True)\n"
        "    assert '1 failed' in done.stdout, done.stdout\n",
        encoding="utf-8",
    )
    verified = report(project, scratch, "--transform", "rename", code=0)
    assert (verified["before"]["passed"], verified["before"]["failed"]) == (3, 0)


@pytest.mark.slow
def test_a_command_that_tells_only_its_exit_code(project: Path, scratch: Path) -> None:
    (project / "check.py").write_text(
        "import shapes\nraise SystemExit(shapes.area(2) != 4)\n", encoding="utf-8"
    )
    command = f"sh -c '{sys.executable} check.py'"
    assert (
        report(project, scratch, "--transform", "rename", code=0, command=command)["before"]["told_by"]
        == "exit code"
    )
    verified = report(project, scratch, *BREAKING, code=1, command=command)
    (culprit,) = verified["trials"][0]["culprits"]
    assert [unit["name"] for unit in culprit["rewritten"]] == ["area"]


@pytest.mark.weekly
def test_a_perturbed_project_that_hangs_has_failed(project: Path, scratch: Path) -> None:
    (project / "src" / "shapes.py").write_text(
        "def area(width):\n    n = 9\n    n = 4\n    while n != 4:\n        pass\n    return n\n",
        encoding="utf-8",
    )
    (project / "tests" / "test_shapes.py").write_text(
        "import shapes\ndef test_area():\n    assert shapes.area(2) == 4\n", encoding="utf-8"
    )
    # Whichever pair the control reverses, the assertion or the time limit tells.
    verified = report(project, scratch, *BREAKING, "--timeout", "3", "--no-narrow", code=1)
    assert len(verified["trials"][0]["failures"]) == 1


@pytest.mark.slow
def test_perturbed_copies_are_kept_where_wanted(project: Path, scratch: Path) -> None:
    code, _, _ = verify(project, scratch, "--transform", "rename", "--seeds", "2", "--keep", "kept")
    assert code == 0
    kept = project.parent / "kept"
    assert sorted(path.name for path in kept.iterdir()) == ["seed-0", "seed-1"]
    assert (kept / "seed-0" / "src" / "shapes.py").read_text() != SHAPES
    assert (kept / "seed-0" / "tests" / "test_shapes.py").read_text() == TESTS
    code, _, err = verify(project, scratch, "--transform", "rename", "--keep", "kept")
    assert code == 3
    assert "is not empty" in err


@pytest.mark.slow
def test_caches_environments_and_histories_are_not_copied(project: Path, scratch: Path) -> None:
    for name in (".git", "__pycache__", "venv"):
        (project / name).mkdir()
        (project / name / "x").touch()
    (project / "mine").mkdir()
    (project / "mine" / "pyvenv.cfg").touch()
    (project / "link").symlink_to("src")
    code, _, _ = verify(project, scratch, "--transform", "rename", "--keep", "kept")
    assert code == 0
    kept = project.parent / "kept" / "seed-0"
    assert not {".git", "__pycache__", "venv", "mine"} & {path.name for path in kept.iterdir()}
    assert (kept / "link").is_symlink()


UNRUNNABLE = {
    "no such command": (
        ("--test-command", "no-such-command -q"),
        "cannot run the test command 'no-such-command'",
    ),
    "no tests": (("--test-command", f"{PYTEST} src"), "no test passes on the unchanged project (exit code 5"),
    "time limit": (("--test-command", "sleep 30", "--timeout", "0.5"), "ran into the time limit"),
    "nothing to change": (("--transform", "reorder", "--source", "setup.py"), "nothing could be perturbed"),
}


@pytest.mark.thinned(2)
@pytest.mark.slow
@pytest.mark.parametrize(("words", "told"), UNRUNNABLE.values(), ids=UNRUNNABLE)
def test_tests_that_cannot_be_run_are_3(
    project: Path, scratch: Path, words: tuple[str, ...], told: str
) -> None:
    (project / "setup.py").write_text("x = 1\n", encoding="utf-8")
    code, out, err = verify(project, scratch, *words)
    assert (code, out) == (3, "")
    assert told in err.splitlines()[-1]


USAGE = {
    "no such transform": (("--transform", "renam"), "did you mean 'rename'?"),
    "no transform": (("--transform", ","), "names no transform"),
    "empty command": (("--test-command", " "), "is empty"),
    "unbalanced command": (("--test-command", "pytest 'x"), "cannot be read"),
    "source elsewhere": (("--source", "../scratch"), "no file or folder of"),
    "copies in the project": (("--keep", "project/kept"), "lies in the project"),
}


@pytest.mark.thinned(3)
@pytest.mark.slow
@pytest.mark.parametrize(("words", "told"), USAGE.values(), ids=USAGE)
def test_what_does_not_fit_is_2(project: Path, scratch: Path, words: tuple[str, ...], told: str) -> None:
    code, out, err = verify(project, scratch, *words)
    assert (code, out) == (2, "")
    assert told in err.splitlines()[-1]


@pytest.mark.slow
def test_a_project_that_does_not_exist_is_3(tmp_path: Path) -> None:
    done = codeaudit("verify", "nowhere", cwd=tmp_path)
    assert done.returncode == 3
    assert "no project 'nowhere'" in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_the_tests_and_removes_the_copy(
    project: Path, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    (project / "tests" / "test_slow.py").write_text(
        f"import os, pathlib, time\ndef test_slow():\n    pathlib.Path({str(log)!r}).write_text(str(os.getpid()))\n    time.sleep(60)\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("TMPDIR", str(scratch))
    process = start("verify", "project", "--test-command", PYTEST, cwd=tmp_path)
    until(lambda: log.exists() and log.read_text(), process=process)
    assert len(list(scratch.iterdir())) == 1
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "interrupted" in err
    assert list(scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_a_project_without_python_needs_a_test_command(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "a.h"\nint f(int a)\n{\n    return a;\n}\n', encoding="utf-8")
    (tmp_path / "a.h").write_text("int f(int a);\n", encoding="utf-8")
    done = codeaudit("verify", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds C and no Python" in done.stderr
    assert "'make -s test'" in done.stderr

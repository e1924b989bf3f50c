"""Orders that a project's own tests confirm: what is kept, what is dropped, and why."""

import ast
import json
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.projects.confirm import FAILS, HANGS, UNTESTED, Confirmation, confirm
from codeaudit.audit.projects.working_copy import VerifyRequest, WorkingCopy
from codeaudit.audit.suite import NO_TESTS, SuitePlan, case
from codeaudit.cli.main import main
from codeaudit.cli.output import PROGRESS
from codeaudit.transforms.records import NotApplied
from codeaudit.transforms.source_files import Applied, Declined
from tests.support.waiting import until

CODE = """
import functools
import itertools
import os

tick = itertools.count().__next__


def free(row):
    low = row.first()
    high = row.second()
    return low, high


def untested(row):
    low = row.first()
    high = row.second()
    return low, high


def wrong():
    low = tick()
    high = tick()
    return low < high


def hanging():
    low = tick()
    high = tick()
    while low > high:
        pass
    return True


def crashing():
    low = tick()
    high = tick()
    if low > high:
        os._exit(3)
    return True


def half(check):
    low = tick()
    high = tick()
    return low < high if check else True


def steps():
    low = tick()
    yield low
    one = tick()
    two = tick()
    yield one < two


def outer():
    def inner():
        low = tick()
        high = tick()
        return low < high

    return inner


def wrapped(function):
    @functools.wraps(function)
    def call(*given):
        low = tick()
        high = tick()
        assert low < high
        return function(*given)

    return call


@wrapped
def decorated(row):
    low = row.first()
    high = row.second()
    return low, high


class Row:
    def first(self):
        return 1

    def second(self):
        return 2

    def method(self):
        low = self.first()
        high = self.second()
        return low, high


saved = outer()


def lambdas():
    low = tick()
    high = tick()
    return (lambda: low < high), (lambda: high > low)
"""

TESTS = """
import importlib
import os
import sys

import mine

runs = []


def test_free():
    assert mine.free(mine.Row()) == (1, 2)


def test_free_again():
    assert mine.free(mine.Row()) == (1, 2)


def test_wrong():
    assert mine.wrong()


def test_hanging():
    assert mine.hanging()


def test_crashing():
    assert mine.crashing()


def test_half_blind():
    assert mine.half(False)


def test_half_seeing():
    assert mine.half(True)


def test_steps():
    assert list(mine.steps())[1]


def test_outer():
    assert mine.saved()


def test_lambdas():
    assert all(one() for one in mine.lambdas())


def test_method():
    assert mine.Row().method() == mine.decorated(mine.Row())


def test_unsteady():
    runs.append(1)
    assert mine.untested(mine.Row()) and len(runs) == 1


def test_forking():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert mine.free(mine.Row()) == (1, 2)


def test_reloading():
    again = importlib.reload(mine)
    assert again.free(again.Row()) == (1, 2)
"""


def project(folder: Path, code: str = CODE, tests: str = TESTS) -> Path:
    """A project with these sources and tests."""
    (folder / "tests").mkdir(parents=True)
    (folder / "mine.py").write_text(dedent(code))
    (folder / "tests" / "test_mine.py").write_text(dedent(tests))
    return folder


def confirmed(folder: Path, scratch: Path, seed: int = 0, timeout: float | None = None) -> Confirmation:
    request = VerifyRequest(
        project=folder,
        words=(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"),
        transforms=("reorder",),
        seeds=(seed,),
        timeout=timeout,
    )
    scratch.mkdir()
    return confirm(WorkingCopy.make(request, scratch, PROGRESS), seed)


@pytest.mark.slow
def test_what_tests_reject_is_not_changed_and_what_they_do_not_run_is_not_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeaudit.audit.projects.confirm.PATIENCE", (3.0, 5.0))
    outcome = confirmed(project(tmp_path / "project"), tmp_path / "scratch")
    (file,) = outcome.files
    kept = {record.unit.name for record in file.records if isinstance(record, Applied)}
    dropped = {record.unit.name: record.reason for record in file.records if isinstance(record, Declined)}
    assert kept == {"free", "decorated", "Row.method"}
    assert {record.evidence for record in file.records if isinstance(record, Applied)} == {"executed"}
    assert dropped["untested"] == UNTESTED  # only an unsteady test runs it
    assert {dropped[name] for name in ("wrong", "half", "steps", "outer", "wrapped", "lambdas")} == {FAILS}
    assert {dropped[name] for name in ("hanging", "crashing")} == {HANGS}
    assert outcome.unsteady == 1
    after = {node.name: ast.unparse(node) for node in ast.parse(file.after).body if hasattr(node, "name")}
    before = {node.name: ast.unparse(node) for node in ast.parse(file.before).body if hasattr(node, "name")}
    assert {name for name in before if before[name] != after[name]} == {"free", "decorated", "Row"}


@pytest.mark.slow
def test_the_residual_counts_what_the_first_half_lets_pass(tmp_path: Path) -> None:
    from codeaudit.audit.projects.confirm import _confirms

    names = ("tests/test_mine.py::test_half_blind", "tests/test_mine.py::test_half_seeing")
    seed = next(seed for seed in range(100) if _confirms(names[0], seed) and not _confirms(names[1], seed))
    code = CODE[: CODE.index("def free")] + CODE[CODE.index("def half") : CODE.index("def steps")]
    tests = "import mine\n" + TESTS[TESTS.index("def test_half_blind") : TESTS.index("def test_steps")]
    folder = project(tmp_path / "project", code, tests)
    outcome = confirmed(folder, tmp_path / "scratch", seed)
    assert (outcome.judged, outcome.broken, outcome.kept) == (1, 1, 0)
    assert [(half, test) for _, half, test in outcome.failures] == [("judge", names[1])]
    assert outcome.files[0].after == outcome.files[0].before
    # With the halves changed, the first one rejects it, and nothing is left to judge.
    other = next(seed for seed in range(100) if _confirms(names[1], seed) and not _confirms(names[0], seed))
    again = confirmed(folder, tmp_path / "scratch2", other)
    assert (again.judged, again.broken, again.kept) == (0, 0, 0)


@pytest.mark.slow
def test_the_command_writes_a_copy_that_passes_its_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(
        tmp_path / "project",
        CODE,
        TESTS.replace("and len(runs) == 1", ""),
    )
    before = (folder / "mine.py").read_bytes()
    command = shlex.join([sys.executable, "-m", "pytest", "-q", "-k", "free or method", "tests"])
    out = tmp_path / "out"
    words = ["transform", str(folder), "--out", str(out), "--dependence", "confirmed"]
    assert main([*words, "--test-command", command, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["by_transform"][0]["evidence"] == {"executed": 3}
    assert report["confirmed"]["kept"] == 3
    assert (folder / "mine.py").read_bytes() == before != (out / "mine.py").read_bytes()
    subprocess.run([sys.executable, "-m", "pytest", "-q", "tests"], cwd=out, check=True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a.py", "--out", "b"], "one folder"),
        (["p", "q", "--out", "b"], "one folder"),
        (["p", "--out", "b", "--transform", "rename"], "apply others to its result"),
        (["p", "--suite", "s.jsonl"], "not --suite"),
        (["p"], "give --out DIR"),
        (["p", "--out", "b", "--variants", "2"], "leave it out"),
        (["p", "--out", "b", "--test-command", ""], "is empty"),
    ],
)
def test_what_does_not_go_with_confirmed_is_a_usage_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("p", "q"):
        (tmp_path / name).mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["transform", *words, "--dependence", "confirmed"]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("-c pass", "must start pytest"),
        ("-m pytest -q -k nothing tests", "must start pytest"),
        ("-m no_such_module", "No module named no_such_module"),
    ],
)
def test_a_command_without_tests_is_told_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, told: str
) -> None:
    folder = project(tmp_path / "project")
    words = ["transform", str(folder), "--out", str(tmp_path / "out"), "--dependence", "confirmed"]
    assert main([*words, "--test-command", f"{sys.executable} {command}"]) == 3
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_ctrl_c_ends_the_candidate_that_runs(tmp_path: Path) -> None:
    place = tmp_path / "running"
    code = f"""
    import itertools
    import os

    tick = itertools.count().__next__

    def hanging():
        low = tick()
        high = tick()
        if low > high:
            with open({str(place)!r}, "w") as file:
                file.write(str(os.getpid()))
            while True:
                pass
        return True
    """
    tests = "import mine\n\ndef test_hanging():\n    assert mine.hanging()\n"
    folder = project(tmp_path / "project", code, tests)
    words = [sys.executable, "-m", "codeaudit", "transform", str(folder), "--dependence", "confirmed"]
    words += ["--out", str(tmp_path / "out"), "--test-command", f"{sys.executable} -m pytest -q tests"]
    process = subprocess.Popen(words, start_new_session=True)
    try:
        until(lambda: place.exists() and place.read_text() != "", seconds=60)
        child = int(place.read_text())
        process.send_signal(signal.SIGINT)
        process.wait(30)
        until(lambda: not Path(f"/proc/{child}").exists(), seconds=5)
    finally:
        process.kill()
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_tests_reject_orders_of_the_paper(tmp_path: Path) -> None:
    code = """
    def shout():
        print("one")
        print("two")
    """
    tests = """
    import mine

    def test_one(capsys):
        mine.shout()
        assert capsys.readouterr().out.split() == ["one", "two"]
    """
    folder = project(tmp_path / "project", code, tests)
    (tmp_path / "scratch").mkdir()
    request = VerifyRequest(
        project=folder, words=(sys.executable, "-m", "pytest", "tests"), transforms=(), seeds=(0,)
    )
    outcome = confirm(WorkingCopy.make(request, tmp_path / "scratch", PROGRESS), 0, "paper")
    assert (outcome.candidates, outcome.tried, outcome.kept) == (1, 1, 0)


def test_a_run_confirms_orders_of_samples_with_tests_only() -> None:
    text = "def f(x):\n    a = x.first()\n    b = x.second()\n    return a, b\n"
    plan = SuitePlan(transforms=("confirmed/reorder",), variants=1, seed=0, executed=True)
    for tests, reason in (("def check(f): f(1)", None), (None, NO_TESTS)):
        sample = raw_sample(text, language="python", label=None, path="a.py", line=1, tests=tests)
        (outcome,) = case(sample, plan).outcomes
        assert getattr(outcome, "reason", None) == reason
        (unexecuted,) = case(sample, replace(plan, executed=False)).outcomes
        assert isinstance(unexecuted, NotApplied)

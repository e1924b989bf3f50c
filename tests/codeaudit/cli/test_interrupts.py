"""Real processes and real signals: Ctrl-C once and twice, kill -9, a reader that leaves."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from tests.support.commands import COMMAND, environment, start
from tests.support.preloaded import Forked
from tests.support.waiting import until

BATCH = 4

PROGRAM = """
import json, sys, time
log = open(sys.argv[1], "a")
for line in sys.stdin:
    row = json.loads(line)
    log.write(json.dumps(row["source"]) + "\\n")
    log.flush()
    time.sleep(float(sys.argv[2]))
    print(json.dumps({"id": row["id"], "answer": "get_value"}), flush=True)
time.sleep(float(sys.argv[3]))
"""


@pytest.fixture
def words(tmp_path: Path, sources: Path) -> list[str]:
    """A run of a program that logs its queries and takes its time."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return [
        "run",
        "--corpus",
        str(sources),
        "--out",
        "out",
        "--workers",
        "1",
        "--batch-size",
        str(BATCH),
        "--model",
    ]


def model(pause: float, linger: float = 0.0) -> str:
    return f"exec/{sys.executable} program.py log {pause} {linger}"


def logged(folder: Path) -> list[str]:
    path = folder / "log"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def wait_for(folder: Path, count: int, process: Forked) -> None:
    until(lambda: len(logged(folder)) >= count, process=process)


def test_ctrl_c_says_how_to_go_on_and_going_on_asks_nothing_twice(tmp_path: Path, words: list[str]) -> None:
    process = start(*words, model(0.1), cwd=tmp_path)
    wait_for(tmp_path, 10, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    again = shlex.split(err.splitlines()[-1].partition("Go on with: codeaudit ")[2])
    assert again[:7] == ["run", "--config", "out", "--out", "out", "--model", model(0.1)]
    _finish(tmp_path, again)


@pytest.mark.slow
def test_an_interrupted_comparison_goes_on_as_one(tmp_path: Path, words: list[str]) -> None:
    two = ["compare", *words[1:], "fake/hash", "--model", model(0.1), "--html", "a page.html"]
    process = start(*two, cwd=tmp_path)
    wait_for(tmp_path, 10, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    again = shlex.split(err.splitlines()[-1].partition("Go on with: codeaudit ")[2])
    assert again[:3] == ["compare", "--html", "a page.html"]
    process = start(*again, cwd=tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "going on with the run in out" in err
    assert "shared samples" in out
    assert (tmp_path / "a page.html").exists()


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_run_ends_it_as_ctrl_c_does(
    tmp_path: Path, words: list[str], ending: signal.Signals
) -> None:
    process = start(*words, model(0.1), cwd=tmp_path)
    wait_for(tmp_path, 6, process)
    process.send_signal(ending)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Go on with: codeaudit run --config out --out out" in err


@pytest.mark.slow
def test_two_runs_do_not_write_into_one_folder(tmp_path: Path, words: list[str]) -> None:
    first = start(*words, model(0.5), cwd=tmp_path)
    try:
        wait_for(tmp_path, 1, first)
        before = sorted(path.name for path in (tmp_path / "out").iterdir())
        second = start(*words, "fake/hash", cwd=tmp_path)
        _, err = second.communicate(timeout=60)
        assert second.returncode == 3
        assert err.splitlines() == [
            "codeaudit: another codeaudit writes to 'out'; wait until it has ended, or give another --out"
        ]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before
    finally:
        first.kill()
        first.communicate(timeout=60)
    third = start(*words, "fake/hash", cwd=tmp_path)
    _, err = third.communicate(timeout=120)
    assert third.returncode == 0, err


@pytest.mark.slow
def test_kill_9_loses_at_most_the_batch_in_flight(tmp_path: Path, words: list[str]) -> None:
    process = start(*words, model(0.1), cwd=tmp_path)
    wait_for(tmp_path, 14, process)
    process.kill()
    process.communicate(timeout=60)
    _finish(tmp_path, [*words, model(0.1)])


def _finish(folder: Path, again: list[str]) -> None:
    before = len(logged(folder))
    process = start(*again, cwd=folder)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "going on with the run in out" in err
    needed = _needed(folder)
    assert before < needed, "the run was over before it was interrupted"
    assert needed <= len(logged(folder)) <= needed + BATCH
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "answers.parquet",
        "manifest.json",
        "suite.parquet",
        "summary.json",
        "verdicts.parquet",
    ]


def _needed(folder: Path) -> int:
    """How many queries the run asks when nothing disturbs it: each distinct text, and each original again, in
    smaller batches, in which none may be alone.
    """
    rows = list(read_rows(folder / "out" / "suite.parquet"))
    originals = {row["source"] for row in rows}
    variants = {row["perturbed"] for row in rows if row["status"] == "perturbed"}
    company = len(originals) % (BATCH // 2 + 1) == 1
    return len(originals | variants) + len(originals) + company


STUBBORN = """
import time
def f(queries):
    log = open("log", "w")
    print("here", file=log, flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        print("still here", file=log, flush=True)
        time.sleep(60)
"""


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once_and_without_a_traceback(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN, encoding="utf-8")
    process = start(*words, "py/stubborn:f", cwd=tmp_path)
    wait_for(tmp_path, 1, process)
    process.send_signal(signal.SIGINT)
    wait_for(tmp_path, 2, process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("codeaudit: stopped\n")
    assert "Traceback" not in err
    assert time.monotonic() - began < 1.5


@pytest.mark.slow
def test_the_program_behind_a_model_does_not_outlive_ctrl_c(tmp_path: Path, words: list[str]) -> None:
    process = start(*words, model(0.05, linger=60), cwd=tmp_path)
    wait_for(tmp_path, 6, process)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=60)  # until every holder of the pipes is gone
    assert process.returncode == 130
    assert time.monotonic() - began < 5


@pytest.mark.weekly
def test_two_ctrl_c_in_one_moment(tmp_path: Path, words: list[str]) -> None:
    process = start(*words, model(0.2), cwd=tmp_path)
    wait_for(tmp_path, 3, process)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.slow
def test_ctrl_c_before_the_first_answer(tmp_path: Path, words: list[str]) -> None:
    process = start(*words[:-1], "--corpus", "stdlib", "--limit", "0", "--model", "fake/hash", cwd=tmp_path)
    until((tmp_path / "out").exists, process=process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted" in err


@pytest.mark.thinned(2)
@pytest.mark.slow
@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
@pytest.mark.parametrize("pipe", ["| true", "2>&1 | true", "2>&1 >/dev/null | true", "2>&1 | head -1"])
def test_a_reader_that_leaves_is_no_error(tmp_path: Path, sources: Path, pipe: str) -> None:
    run = f"{' '.join(COMMAND)} run --model fake/hash --workers 1 --corpus {sources} --out out"
    command = f"{run} {pipe}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert os.path.exists(tmp_path / "out" / "summary.json")

"""The engine of Ray: the results of one process, whatever dies. Without ray only its absence is tested."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from codeaudit.audit.engines import ray as ray_module
from tests.support.commands import called, codeaudit, environment
from tests.support.waiting import until

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")

MODEL = """
import os, signal, time
from pathlib import Path

def count(queries):
    "Ends its process at calls 2, 4, …, as often as the variable says."
    calls = Path(os.environ["CALLS"])
    number = len(list(calls.iterdir()))
    deaths = int(os.environ.get("DEATHS", "0"))
    (calls / f"{time.time_ns()}-{os.getpid()}").touch()
    if number % 2 and number < 2 * deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(float(os.environ.get("SECONDS", "0")))
    return [str(len(query.source) % 7) for query in queries]
"""
SOURCE = "".join(
    f"def f{number}(alpha, beta):\n    one = alpha + {number}\n    two = beta * {number % 5}\n    return one - two\n\n"
    for number in range(60)
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "counting.py").write_text(MODEL)
    (tmp_path / "code.py").write_text(SOURCE)
    (tmp_path / "calls").mkdir()
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path


def words(out: str, *more: str) -> tuple[str, ...]:
    run = ("run", "--corpus", "code.py", "--transform", "rename", "--variants", "2", "--batch-size", "4")
    return (*run, "--workers", "2", "--out", out, "--cache", f"{out}.cache", "--format", "json", *more)


def same(folder: Path, other: Path) -> None:
    one, two = (json.loads((each / "summary.json").read_text()) for each in (folder, other))
    assert one == two
    for name in ("suite.parquet", "verdicts.parquet"):
        pd.testing.assert_frame_equal(pd.read_parquet(folder / name), pd.read_parquet(other / name))


def test_a_missing_ray_is_one_line(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_module, "find_spec", lambda name: None)
    done = called(*words("r", "--model", "fake/hash", "--engine", "ray"), cwd=world)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == 'codeaudit: --engine ray needs the package ray: pip install "codeaudit-ml[ray]"\n'
    assert not (world / "r").exists()


def test_an_address_is_of_ray(world: Path) -> None:
    done = called(*words("r", "--model", "fake/hash", "--address", "auto"), cwd=world)
    assert done.returncode == 2
    assert "add --engine ray" in done.stderr


@needs_ray
@pytest.mark.slow
def test_the_results_are_those_of_one_process(world: Path) -> None:
    models = ("--model", "fake/hash", "--model", "spe-checkpoint", "--movable", "70")
    expected = codeaudit(*words("local", *models), cwd=world)
    done = codeaudit(*words("ray", *models, "--engine", "ray"), cwd=world)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(expected.stdout)
    same(world / "local", world / "ray")
    assert all(line.startswith("codeaudit: ") for line in done.stderr.splitlines())


@needs_ray
@pytest.mark.slow
def test_permuted_networks_are_asked_and_proved_in_actors_too(world: Path) -> None:
    wrapped = ("--model", "vanilla-checkpoint", "--wrap", "columns", "--limit", "12", "--no-controls")
    codeaudit(*words("local", *wrapped), cwd=world)
    codeaudit(*words("ray", *wrapped, "--engine", "ray"), cwd=world)
    (entry,) = json.loads((world / "ray" / "summary.json").read_text())["models"]
    assert entry["network"]["groups"] > 1
    same(world / "local", world / "ray")


@needs_ray
@pytest.mark.slow
def test_ten_killed_processes_lose_nothing(world: Path) -> None:
    model = ("--model", "py/counting:count")
    assert codeaudit(*words("local", *model), cwd=world).returncode == 0
    for file in (world / "calls").iterdir():
        file.unlink()
    done = codeaudit(*words("ray", *model, "--engine", "ray"), cwd=world, DEATHS="10")
    assert done.returncode == 0, done.stderr
    same(world / "local", world / "ray")
    processes = {file.name.rpartition("-")[2] for file in (world / "calls").iterdir()}
    assert len(processes) > 10


@needs_ray
@pytest.mark.slow
def test_queries_that_end_every_process_end_the_run(world: Path) -> None:
    (world / "broken.py").write_text("import os, signal\n\ndef end(queries):\n    os.kill(os.getpid(), 9)\n")
    done = codeaudit(*words("ray", "--model", "py/broken:end", "--engine", "ray"), cwd=world)
    assert (done.returncode, done.stdout) == (3, "")
    assert "ended 6 processes with the same queries" in done.stderr.splitlines()[-1]


@needs_ray
@pytest.mark.slow
def test_errors_of_models_are_those_of_one_process(world: Path) -> None:
    for spec, code in (("py/counting:absent", 3), ("fake/absent", 2)):
        lines = []
        for engine in ("local", "ray"):
            done = codeaudit(*words(engine, "--model", spec, "--engine", engine), cwd=world)
            assert done.returncode == code
            lines.append(done.stderr.splitlines()[-1])
        assert lines[0] == lines[1]


@needs_ray
@pytest.mark.slow
def test_ctrl_c_ends_everything_and_going_on_asks_nothing_twice(world: Path) -> None:
    line = words("ray", "--model", "py/counting:count", "--engine", "ray")
    running = subprocess.Popen(
        [sys.executable, "-m", "codeaudit", *line],
        cwd=world,
        env=environment({"SECONDS": "0.3"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: len(list((world / "calls").iterdir())) >= 8, seconds=100, process=running)
    # As a terminal does: to every process of the group.
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, ""), err
    assert "every answer so far is kept" in err.splitlines()[-1]
    before = len(list((world / "calls").iterdir()))
    done = codeaudit(*line, cwd=world)
    assert done.returncode == 0, done.stderr
    assert "from the cache" in done.stderr
    codeaudit(*words("local", "--model", "py/counting:count"), cwd=world)
    same(world / "local", world / "ray")
    assert before


@needs_ray
@pytest.mark.slow
def test_an_absent_cluster_is_one_line(world: Path) -> None:
    line = words("r", "--model", "fake/hash", "--engine", "ray", "--address", "127.0.0.1:1")
    done = codeaudit(*line, cwd=world)
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot use Ray at '127.0.0.1:1'" in done.stderr.splitlines()[-1]

"""Runs that this machine made or checked are not checked again, and nobody profits from that by an edit."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from codeaudit import finished_runs, known_runs
from codeaudit.audit.run import judge
from codeaudit.audit.store import SUITE, SUMMARY, VERDICTS, RunFolder
from codeaudit.cli.main import main
from codeaudit.finished_runs import Run, read_run
from codeaudit.gating import gate, recomputed
from codeaudit.reports.records import Summary
from codeaudit.transforms.errors import RunError
from tests.support.checkpoints import write_checkpoint
from tests.support.forgery import edit_rows, rebind

MODEL = '''
def fickle(queries):
    """Reads one name."""
    return ["sum" if "total" in query.source else "other" for query in queries]


def silent(queries):
    """Answers half."""
    return ["sum" if "3" in query.source else None for query in queries]
'''
SOURCE = "".join(
    f"def take_{word}(values, start):\n    total = start\n    count = {n}\n"
    f"    for value in values:\n        total += value\n    return total, count\n\n\n"
    for n, word in enumerate("abcdefgh")
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two finished runs, and the cache of the machine that made them."""
    place = tmp_path_factory.mktemp("known")
    (place / "code.py").write_text(SOURCE, "utf-8")
    (place / "known_models.py").write_text(MODEL, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", sys.path[:])
        patch.setenv("CODEAUDIT_CACHE", str(place / "cache"))
        patch.delitem(sys.modules, "known_models", raising=False)
        models = ["--model", "py/known_models:fickle", "--model", "py/known_models:silent"]
        for name, more in {"one": [], "two": ["--trials", "2"]}.items():
            assert (
                main(
                    [
                        "run",
                        *models,
                        *more,
                        "--corpus",
                        "code.py",
                        "--workers",
                        "1",
                        "--movable",
                        "0",
                        "--out",
                        name,
                    ]
                )
                == 0
            )
        sys.modules.pop("known_models", None)
    return place


@pytest.fixture(autouse=True)
def _on_that_machine(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has copies of the runs and of the cache."""
    for name in ("one", "two", "cache"):
        shutil.copytree(made / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))


def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine, which made no run."""
    monkeypatch.setenv("CODEAUDIT_CACHE", "empty")


def unchecked(*_: object, **__: object) -> None:
    raise AssertionError("a verdict was judged again")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one", "two"])
def test_a_run_is_known_where_it_was_made_and_gives_the_numbers_of_its_verdicts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = read_run(Path(name)).known
    assert known is not None
    assert known == recomputed(Run(Path(name))) == read_run(Path(name)).summary
    elsewhere(monkeypatch)
    assert read_run(Path(name)).known is None


GATES: dict[str, Callable[[], object]] = {
    "a limit": lambda: gate("one", max_violation_rate=0.3),
    "a limit that holds": lambda: gate("one", max_violation_rate=1.0, min_sensitivity=0.0),
    "the score": lambda: gate("two", max_f1_drop=0.01),
    "a baseline": lambda: gate("one", "two"),
    "some transforms": lambda: gate("one", max_violation_rate=0.5, transforms="rename"),
    "some transforms of a baseline": lambda: gate("two", "one", transforms="reorder"),
}


@pytest.mark.thinned(1)
@pytest.mark.parametrize("ask", GATES.values(), ids=GATES)
def test_a_gate_decides_the_same_about_a_known_run(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = ask()
    elsewhere(monkeypatch)
    # The first one checks and remembers; by the second one the run is known.
    assert ask() == ask() == decision


@pytest.mark.slow
def test_a_known_run_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_runs, "judge", unchecked)
    gate("one", "two", max_violation_rate=1.0)
    read_run(Path("one")).check_verdicts()
    read_run(Path("one")).to_html("page.html")
    elsewhere(monkeypatch)
    with pytest.raises(AssertionError, match="judged again"):
        gate("one", max_violation_rate=1.0)
    monkeypatch.setattr(finished_runs, "judge", judge)
    gate("one", max_violation_rate=1.0)
    monkeypatch.setattr(finished_runs, "judge", unchecked)
    gate("one", max_violation_rate=1.0)


def _held(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    every = list(rows)
    assert any(row["outcome"] == "violated" for row in every)
    return [{**row, "outcome": "held"} if row["outcome"] == "violated" else row for row in every]


def test_an_edited_table_is_found() -> None:
    """With the hashes of the run, and with new ones."""
    folder = RunFolder(Path("one"))
    edit_rows(folder.path / VERDICTS, _held)
    with pytest.raises(RunError, match="is not the file that this run wrote"):
        read_run(folder.path)
    # The numbers of the edited table, as somebody would write them who hides the edit.
    unchecked_run = Run(folder.path, known=Run(folder.path).summary)
    folder.write_text(SUMMARY, recomputed(unchecked_run).to_json())
    rebind(folder.path)
    assert read_run(folder.path).known is None
    with pytest.raises(RunError, match="does not follow from its answers"):
        gate(folder.path, max_violation_rate=0.1)
    # What was not believed is not remembered.
    assert read_run(folder.path).known is None


def test_a_run_of_another_machine_is_believed_with_its_shifts_and_not_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("code.py").write_text(SOURCE, "utf-8")
    model = str(write_checkpoint(tmp_path / "small", network="vanilla"))
    words = ["--corpus", "code.py", "--transform", "rename", "--variants", "1", "--workers", "1"]
    assert main(["run", "--model", model, *words, "--out", "shifted"]) == 0
    elsewhere(monkeypatch)
    assert read_run(Path("shifted")).known is None
    read_run(Path("shifted")).check_verdicts()

    def smaller(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        every = list(rows)
        assert any(row["shift"] for row in every)
        return [{**row, "shift": row["shift"] and row["shift"] / 2} for row in every]

    edit_rows(Path("shifted", VERDICTS), smaller)
    rebind(Path("shifted"))
    with pytest.raises(RunError, match="does not follow from its answers"):
        read_run(Path("shifted")).check_verdicts()


def test_a_digest_of_another_run_does_not_help() -> None:
    """The manifest of a known run, beside the tables of another one."""
    Path("one", VERDICTS).write_bytes(Path("two", VERDICTS).read_bytes())
    Path("one", SUITE).write_bytes(Path("two", SUITE).read_bytes())
    with pytest.raises(RunError, match="is not the file that this run wrote"):
        read_run(Path("one"))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _emptied(path: Path) -> None:
    path.write_text("{}")


def _no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


@pytest.mark.thinned(1)
@pytest.mark.parametrize("damage", [_cut, _emptied, _no_text, Path.unlink])
def test_a_damaged_memory_costs_time_only(damage: Callable[[Path], None]) -> None:
    decision = gate("one", max_violation_rate=0.3)
    for path in Path("cache", known_runs.FOLDER).iterdir():
        damage(path)
    assert read_run(Path("one")).known is None
    assert gate("one", max_violation_rate=0.3) == decision
    assert read_run(Path("one")).known is not None


def test_a_cache_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").touch()
    monkeypatch.setenv("CODEAUDIT_CACHE", "file")
    assert gate("one", max_violation_rate=1.0).passed is not None
    assert read_run(Path("one")).known is None


def test_another_state_of_the_code_checks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = known_runs._code()
    assert state == known_runs._code.__wrapped__()
    monkeypatch.setattr(known_runs, "_code", lambda: "another")
    assert read_run(Path("one")).known is None


def test_the_state_of_the_code_is_that_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("audit/run.py", "reports/gate.py", "gating.py"):
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text("1")
    monkeypatch.setattr(known_runs, "__file__", str(tmp_path / "code" / "known_runs.py"))
    seen = {known_runs._code.__wrapped__()}
    for name in ("audit/run.py", "reports/gate.py", "gating.py"):
        (tmp_path / "code" / name).write_text("2")
        seen.add(known_runs._code.__wrapped__())
    assert len(seen) == 4


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "changed",
    [
        {"task": "py/tasks:MINE"},
        {"task": "a-plug-in"},
        {"transforms": ["rename", "a-plug-in"]},
        {"transforms": None},
        {"digest": None},
    ],
)
def test_what_plug_ins_decide_is_not_remembered(changed: dict[str, object]) -> None:
    manifest = dict(read_run(Path("one")).manifest)
    assert known_runs.recall(manifest) is not None
    summary = Summary.from_json(Path("one", SUMMARY).read_text("utf-8"))
    manifest |= changed
    known_runs.remember(manifest, summary)
    assert known_runs.recall(manifest) is None


def test_the_newest_runs_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    run = read_run(Path("one"))
    monkeypatch.setattr(known_runs, "MOST", 3)
    folder = Path("cache", known_runs.FOLDER)
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    for number in range(5):
        known_runs.remember({**run.manifest, "digest": f"run {number}"}, run.summary)
    recalled = [known_runs.recall({**run.manifest, "digest": f"run {number}"}) for number in range(5)]
    assert len(list(folder.iterdir())) == 3
    assert [known is not None for known in recalled] == [False, False, True, True, True]
    assert all(json.loads(path.read_text("utf-8"))["models"] for path in folder.iterdir())

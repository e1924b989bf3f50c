"""Locks that a killed process leaves free, and temporary folders that the next process removes."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from codeaudit.transforms.errors import RunError
from codeaudit.transforms.folders import SCRATCH, reserved, scratch_folder
from tests.support.commands import environment

HOLDER = """
import sys, time
from pathlib import Path
from codeaudit.transforms.folders import reserved, scratch_folder
with reserved(Path(sys.argv[1])), scratch_folder("test") as scratch:
    (scratch / "file").write_text("")
    print("here", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that holds a lock on `tmp_path` and a temporary folder in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        env=environment({"TMPDIR": str(tmp_path)}),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def test_a_lock_ends_with_its_process(
    holder: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = [path for path in tmp_path.iterdir() if path.name.startswith(SCRATCH)]
    with holder:
        with pytest.raises(RunError, match="another codeaudit writes to"), reserved(tmp_path):
            pass
        with scratch_folder("test"):
            assert left[0].is_dir(), "it is in use"
        holder.kill()
    with reserved(tmp_path), scratch_folder("test") as scratch:
        assert [path for path in tmp_path.iterdir() if path.name.startswith(SCRATCH)] == [scratch]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_kept_to_one_caller_of_a_process_too(tmp_path: Path) -> None:
    with reserved(tmp_path), pytest.raises(RunError, match="give another --out"), reserved(tmp_path):
        pass
    with reserved(tmp_path):
        pass


def test_what_is_not_ours_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "codeaudit-runs").mkdir()
    (tmp_path / f"{SCRATCH}file").write_text("")
    (tmp_path / "target").mkdir()
    os.symlink(tmp_path / "target", tmp_path / f"{SCRATCH}link")
    before = sorted(tmp_path.iterdir())
    with scratch_folder("test"):
        pass
    assert sorted(tmp_path.iterdir()) == before


def test_where_nothing_can_be_locked_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refused(handle: int, how: int) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(fcntl, "flock", refused)
    (tmp_path / f"{SCRATCH}left").mkdir()
    with reserved(tmp_path), reserved(tmp_path), scratch_folder("test") as scratch:
        assert scratch.is_dir()
    assert (tmp_path / f"{SCRATCH}left").is_dir(), "it may be in use"

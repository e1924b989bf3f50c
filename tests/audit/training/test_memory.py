"""Memory that is free goes back to the system."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from codeaudit.audit.training import trainer
from codeaudit.audit.training.memory import _trim, give_back
from tests.audit.training.learners import small
from tests.audit.training.test_execution import trained

HOLES = """
from pathlib import Path
from codeaudit.audit.training.memory import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

kept = [bytes([number % 250 + 1]) * 100_000 for number in range(2000)]
del kept[:-1]  # the last one lies on top of the hole
before = resident()
give_back()
print(before, resident())
"""


@pytest.mark.skipif(_trim() is None, reason="not glibc")
def test_holes_below_what_is_in_use_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    assert before - after > 150


def test_another_c_library_or_system_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    try:
        assert _trim() is None
        give_back()
        _trim.cache_clear()
        monkeypatch.setattr(sys, "platform", "darwin")
        assert _trim() is None
    finally:
        _trim.cache_clear()


def test_a_training_gives_back_every_so_many_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(trainer, "GIVE_BACK_STEPS", 2)
    monkeypatch.setattr(trainer, "give_back", lambda: given.append(1))
    trained(small("terms", tmp_path / "cache", steps=5), tmp_path / "out")
    assert len(given) == 2

"""What every test runs under: no user cache, no options from the environment, untouched global generators."""

import os

# Before torch comes in: small networks are slower on several threads, by far where the machine is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import rich.style  # noqa: F401 - it draws from the global generator when it is first imported
from hypothesis import HealthCheck, settings

KEPT = {"CODEAUDIT_DATA"}

# Reproducible, and without a clock: a busy machine is no failure.
settings.register_profile(
    "codeaudit", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("codeaudit")


@pytest.fixture(autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("CODEAUDIT_") and name not in KEPT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(autouse=True)
def _untouched_generator() -> Iterator[None]:
    before = random.getstate()
    yield
    assert random.getstate() == before, "the product drew from Python's global generator"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with two files of ordinary functions."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "totals.py").write_text(TOTALS, encoding="utf-8")
    (folder / "words.py").write_text(WORDS, encoding="utf-8")
    return folder


TOTALS = '''\
def sum_values(values, start):
    """Add them up with sum_values."""
    total = start
    count = 0
    for value in values:
        total += value
        count += 1
    if not values:
        return sum_values([0], start)
    return total, count


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.entries = []

    @property
    def openBalance(self):
        first = 1
        second = 2
        return first + second


def stub():
    ...


def short(x): return x
'''

WORDS = """\
async def join_words(words, separator):
    left = "<"
    right = ">"
    joined = separator.join(words)
    return left + joined + right


def count_letters(text):
    upper = 0
    lower = 0
    for letter in text:
        if letter == "A":
            upper += 1
        else:
            lower += 1
    return upper, lower
"""

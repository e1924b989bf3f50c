"""What execution says of programs is kept, and nothing is executed twice."""

from contextlib import closing
from pathlib import Path

import pytest

from codeaudit.audit.cache import AnswerCache
from codeaudit.audit.tasks.solutions import FILE, Solutions
from codeaudit.transforms.oracle.calls import Passed, TrialFailed, Trials

RIGHT, WRONG = "def f():\n    return 1\n", "def f():\n    return 2\n"
TESTS = "assert f() == 1\n"


def solutions(folder: Path) -> Solutions:
    one = Solutions(cpu_seconds=1.0)
    one.keep(folder)
    return one


def test_results_are_told_in_order_and_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(RIGHT, TESTS), (WRONG, TESTS), (RIGHT, TESTS), (RIGHT, "assert f() == 2\n")]
    told = [None, "AssertionError", None, "AssertionError"]
    assert solutions(tmp_path).failures(pairs) == told
    monkeypatch.setattr(Trials, "outcomes", None)  # whatever is executed now breaks
    again = solutions(tmp_path)
    assert again.failures(pairs) == told
    assert again.failures([]) == []


def test_what_a_busy_machine_ended_is_tried_again_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter([[TrialFailed("out of time", certain=False), Passed()], [Passed()]])
    monkeypatch.setattr(Trials, "outcomes", lambda *_: next(said))
    assert solutions(tmp_path).failures([(RIGHT, TESTS), (WRONG, TESTS)]) == [None, None]

    late = [[TrialFailed("out of time", certain=False)]] * 4
    said = iter(late)
    for _ in range(2):
        assert solutions(tmp_path).failures([("", TESTS)]) == ["out of time"]
    with closing(AnswerCache(tmp_path / FILE)) as kept:
        assert len(kept.fetch([solutions(tmp_path)._key(text, TESTS) for text in (RIGHT, WRONG, "")])) == 2


def test_a_folder_that_cannot_be_used_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert solutions(tmp_path / "file").failures([(RIGHT, TESTS)]) == [None]

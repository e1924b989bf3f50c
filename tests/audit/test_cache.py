"""The cache: what its keys separate, what survives, and that floats come back exactly."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codeaudit.audit.cache import AnswerCache, ModelMemory, decode, default_folder, encode
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import RunError

QUERY = Query(task="function-name", language="python", source="def f(): ...")
ANSWER = Predicted(answer=("a", "b"), scores=(("a", 0.1), ("b", 1 / 3)), margin=5e-324)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    opened = AnswerCache(tmp_path / "deep" / "answers.sqlite")
    yield opened
    opened.close()


def memory(cache: AnswerCache, fingerprint: str = "model", run: str = "run") -> ModelMemory:
    return ModelMemory(cache=cache, fingerprint=fingerprint, run=run)


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        Predicted(answer="text"),
        Predicted(answer=0.1),
        Predicted(answer=()),
        Predicted(answer="\ud800"),
        Failed(reason="no readable answer"),
    ],
)
def test_predictions_come_back_exactly(answer: Prediction) -> None:
    assert decode(encode(answer)) == answer


def test_what_is_remembered_is_recalled_by_another_connection(cache: AnswerCache, tmp_path: Path) -> None:
    memory(cache).remember({QUERY: ANSWER}, again=False)
    with closing(AnswerCache(tmp_path / "deep" / "answers.sqlite")) as other:
        assert memory(other, run="another").recall([QUERY], again=False) == {QUERY: ANSWER}


def test_two_checkpoints_never_share_an_entry(cache: AnswerCache) -> None:
    memory(cache, "weights-1").remember({QUERY: ANSWER}, again=False)
    assert memory(cache, "weights-2").recall([QUERY], again=False) == {}


@pytest.mark.parametrize(
    "other",
    [
        Query(task="other", language="python", source=QUERY.source),
        Query(task=QUERY.task, language="java", source=QUERY.source),
        Query(task=QUERY.task, language="python", source=QUERY.source + " "),
        Query(task=QUERY.task + "p", language="ython", source=QUERY.source),
    ],
)
def test_everything_in_a_query_counts(cache: AnswerCache, other: Query) -> None:
    memory(cache).remember({QUERY: ANSWER}, again=False)
    assert memory(cache).recall([other], again=False) == {}


def test_repeated_queries_are_kept_apart_and_for_their_run_only(cache: AnswerCache) -> None:
    memory(cache).remember({QUERY: ANSWER}, again=True)
    assert memory(cache).recall([QUERY], again=False) == {}
    assert memory(cache).recall([QUERY], again=True) == {QUERY: ANSWER}
    assert memory(cache, run="other").recall([QUERY], again=True) == {}


def test_volatile_models_are_remembered_for_their_run_only(cache: AnswerCache) -> None:
    memory(cache, "volatile:x").remember({QUERY: ANSWER}, again=False)
    assert memory(cache, "volatile:x").recall([QUERY], again=False) == {QUERY: ANSWER}
    assert memory(cache, "volatile:x", "other").recall([QUERY], again=False) == {}


def test_a_run_is_forgotten_alone(cache: AnswerCache) -> None:
    memory(cache).remember({QUERY: ANSWER}, again=False)
    memory(cache).remember({QUERY: ANSWER}, again=True)
    cache.forget("run")
    assert memory(cache).recall([QUERY], again=False) == {QUERY: ANSWER}
    assert memory(cache).recall([QUERY], again=True) == {}


def test_thousands_of_keys_are_fetched_together(cache: AnswerCache) -> None:
    queries = [Query(task="t", language="python", source=str(number)) for number in range(3000)]
    memory(cache).remember(dict.fromkeys(queries, ANSWER), again=False)
    assert len(memory(cache).recall(queries, again=False)) == 3000


def test_values_are_json_and_nothing_else(cache: AnswerCache, tmp_path: Path) -> None:
    memory(cache).remember({QUERY: ANSWER}, again=False)
    assert json.loads(encode(ANSWER))["answer"] == ["a", "b"]
    assert b"pickle" not in (tmp_path / "deep" / "answers.sqlite").read_bytes()


def test_a_file_that_is_no_cache_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(RunError, match="cannot use the cache"):
        AnswerCache(path)


def test_a_place_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match="choose another with --cache"):
        AnswerCache(tmp_path / "file" / "answers.sqlite")


def test_one_variable_moves_everything_that_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "told"))
    assert default_folder() == tmp_path / "told"
    monkeypatch.setenv("CODEAUDIT_CACHE", "")
    assert default_folder() == tmp_path / "user" / "codeaudit"

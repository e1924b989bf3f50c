"""The driver with a model that answers in any order: the same verdicts as in batches, and nothing lost."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from codeaudit.audit.cache import AnswerCache, ModelMemory, NoMemory
from codeaudit.audit.interface import BaseModel, is_rolling
from codeaudit.audit.models.wrappers import canonical
from codeaudit.audit.records import Audited, Failed, Held, Prediction, Query, Unjudged
from codeaudit.audit.run import (
    AHEAD,
    ROLLING_WINDOW,
    AuditSetup,
    NoMonitor,
    audit,
    first_answers,
    queries,
    repeats,
)
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.errors import ModelError
from tests.support.models import Recorder, case, echo


class Shuffled(BaseModel):
    """A model that answers a few queries at a time, in an order drawn by chance."""

    name = "shuffled"
    fingerprint = "shuffled"
    task = None
    parameters = None
    noise = 0.0

    def __init__(
        self, answer: Callable[[Query], Prediction] = echo, *, lost_after: int | None = None
    ) -> None:
        self.answer, self.lost_after = answer, lost_after
        self.asked: list[Query] = []
        self.most_open = self.given = 0
        self.chance = Random(1)
        self.stops = 0

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        raise AssertionError("it is asked as a stream")

    def stream(self) -> "ShuffledStream":
        return ShuffledStream(self)


class ShuffledStream:
    def __init__(self, model: Shuffled) -> None:
        self.model = model
        self.open: list[tuple[int, Query]] = []
        self.last: list[tuple[int, Prediction]] = []
        self.count = 0

    def ask(self, queries: Sequence[Query]) -> None:
        self.open += enumerate(queries, start=self.count)
        self.count += len(queries)
        self.model.asked += queries
        self.model.most_open = max(self.model.most_open, len(self.open))

    def arrived(self) -> list[tuple[int, Prediction]]:
        if self.model.lost_after is not None and self.model.given >= self.model.lost_after:
            raise ModelError("gone")
        self.model.chance.shuffle(self.open)
        self.last = [(place, self.model.answer(query)) for place, query in self.open[:3]]
        del self.open[:3]
        self.model.given += len(self.last)
        return self.last

    def stop(self) -> list[tuple[int, Prediction]]:
        self.model.stops += 1
        return self.last


class Kept:
    """A memory without a file. The interruption comes while it stores."""

    def __init__(self, *, interrupted_at: int = -1) -> None:
        self.known: dict[tuple[Query, bool], Prediction] = {}
        self.interrupted_at = interrupted_at
        self.calls = 0

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        return {query: self.known[query, again] for query in queries if (query, again) in self.known}

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        self.calls += 1
        if self.calls == self.interrupted_at:
            raise KeyboardInterrupt
        self.known |= {(query, again): answer for query, answer in answers.items()}


def setup(model: object, memory: object = None) -> AuditSetup:
    return AuditSetup(
        model=model,  # type: ignore[arg-type]
        task=FUNCTION_NAME,
        memory=memory or NoMemory(),  # type: ignore[arg-type]
        monitor=NoMonitor(),
        batch_size=4,
    )


CASES = [case("aaaa", "aab", "aac"), case("bb", "bbb"), case("cccccc", "aab", "bb"), case("dd", "ddd")]


def without_name(audits: Sequence[Audited]) -> list[object]:
    return [
        (audited.sample, audited.before, audited.score, audited.verdicts, audited.after_scores)
        for audited in audits
    ]


@pytest.mark.slow
def test_the_verdicts_are_those_of_batches() -> None:
    rolled = list(audit(CASES, setup(Shuffled())))
    assert without_name(rolled) == without_name(list(audit(CASES, setup(Recorder(echo)))))
    many = [case(f"x{number}", f"y{number}", f"z{number % 7}") for number in range(500)]
    rolled = list(audit(many, setup(Shuffled())))
    assert without_name(rolled) == without_name(list(audit(many, setup(Recorder(echo)))))


def test_equal_queries_are_asked_once_and_the_original_once_more() -> None:
    model = Shuffled()
    list(audit(CASES, setup(model)))
    firsts = {query for given in CASES for query in queries(given, FUNCTION_NAME)}
    again = {query for given in CASES for query in repeats(given, FUNCTION_NAME)}
    assert len(again) == len(CASES)
    assert len(model.asked) == len(firsts) + len(again)
    assert set(model.asked) == firsts | again


def test_a_query_under_way_is_not_asked_again_for_a_later_case() -> None:
    many = [case(f"x{number}", f"y{number}", f"z{number % 7}") for number in range(500)]
    model = Shuffled()
    list(audit(many, setup(model, Kept())))
    assert len(model.asked) == len(set(model.asked)) == 500 + 500 + 500 + 7


@pytest.mark.slow
def test_later_cases_are_asked_before_earlier_ones_end_and_memory_is_bounded() -> None:
    model = Shuffled()
    drawn = 0

    def endless() -> object:
        nonlocal drawn
        while True:
            drawn += 1
            yield case(f"x{drawn}", f"y{drawn}")

    stream = audit(endless(), setup(model))  # type: ignore[arg-type]
    for _ in range(50):
        next(stream)
    assert AHEAD < model.most_open <= AHEAD + 2 * ROLLING_WINDOW
    stream.close()  # type: ignore[attr-defined]
    assert model.stops == 1


def test_what_arrived_is_kept_when_the_model_is_lost() -> None:
    memory, model = Kept(), Shuffled(lost_after=6)
    with pytest.raises(ModelError, match="gone"):
        list(audit(CASES, setup(model, memory)))
    assert len(memory.known) == 6
    rest = Shuffled()
    list(audit(CASES, setup(rest, memory)))
    whole = Shuffled()
    list(audit(CASES, setup(whole)))
    assert len(rest.asked) == len(whole.asked) - 6


@pytest.mark.parametrize("at", [1, 2, 3])
def test_ctrl_c_while_answers_are_stored_loses_none(at: int) -> None:
    memory, model = Kept(interrupted_at=at), Shuffled()
    with pytest.raises(KeyboardInterrupt):
        list(audit(CASES, setup(model, memory)))
    assert len(memory.known) == model.given


def test_the_cache_takes_answers_after_an_interrupted_store(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    cache._connection.execute("BEGIN IMMEDIATE")  # as Ctrl-C leaves it
    cache.store({b"a": "1"}, run="")
    assert cache.fetch([b"a"]) == {b"a": "1"}
    cache.close()


def test_failures_are_told_and_asked_again_another_time() -> None:
    memory = Kept()
    refusing = Shuffled(lambda query: Failed(reason="endpoint: 429"))
    for audited in audit(CASES, setup(refusing, memory)):
        assert all(isinstance(verdict, Unjudged) for verdict in audited.verdicts)
    assert memory.known == {}


def test_searches_ask_the_same_way() -> None:
    model = Shuffled()
    wanted = [query for given in CASES for query in queries(given, FUNCTION_NAME)]
    answers = first_answers(list(dict.fromkeys(wanted)), setup(model))
    assert answers == first_answers(list(dict.fromkeys(wanted)), setup(Recorder(echo)))
    assert model.stops == 1


NAMES = ("total", "sum_of_all", "x")


def test_the_canonical_wrapper_asks_equal_forms_once_and_repeats_them() -> None:
    texts = [f"def MASK(a):\n    {name} = a\n    return {name}\n" for name in NAMES]
    model = Shuffled()
    wrapped = canonical(model)
    assert is_rolling(wrapped)
    broken = "def MASK(:\n"
    audits = list(audit([case(*texts), case(broken)], setup(wrapped)))
    assert all(isinstance(verdict, Held) for verdict in audits[0].verdicts)
    assert audits[1].before == Failed(reason="source does not parse")
    assert len(model.asked) == 2, "one form, and once more for the noise"
    assert not is_rolling(canonical(Recorder(echo)))


def test_a_memory_with_everything_asks_nothing(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers.sqlite")
    memory = ModelMemory(cache=cache, fingerprint="m", run="r")
    list(audit(CASES, setup(Shuffled(), memory)))
    again = Shuffled()
    assert len(list(audit(CASES, setup(again, memory)))) == len(CASES)
    assert again.asked == []
    cache.close()

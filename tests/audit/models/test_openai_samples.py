"""`-M samples=N` of an endpoint: as many requests, each with a seed of its own, and none left out."""

import logging
import time

import pytest

from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.test_openai import FEW_SECONDS, KEY, load
from tests.support.endpoints import Act, Asked, hangs, refuses, resets, says, serving


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def query(number: int) -> Query:
    return Query(task="generation", language="python", source=f"def f(a):\n    b = a + {number:03}\n")


def queries(count: int) -> list[Query]:
    return [query(number) for number in range(count)]


def number_of(asked: Asked) -> int:
    return int(asked.text.partition("a + ")[2][:3])


def by_seed(asked: Asked) -> Act:
    """A server that keeps to its seeds."""
    return says(f"    return {number_of(asked)}, {asked.body['seed']}\n")


def test_a_query_is_asked_so_often_with_seeds_of_its_own() -> None:
    with serving(by_seed) as endpoint:
        model = load(endpoint.url, samples="5")
        predictions = model.predict(queries(3))
    for number, prediction in enumerate(predictions):
        assert isinstance(prediction, Predicted)
        assert prediction.answer == prediction.draws[0]
        assert len(set(prediction.draws)) == 5
        assert all(text.startswith(f"    return {number}, ") for text in prediction.draws)
        assert (prediction.scores, prediction.margin) == ((), None)
    bodies = [request.body for request in endpoint.asked]
    assert {body["temperature"] for body in bodies} == {0.8}
    assert {body["max_tokens"] for body in bodies} == {512}
    assert not any("n" in body for body in bodies)
    seeds = {body["seed"] for body in bodies}
    assert len(seeds) == 5, "the same for every query"
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert model.usage["requests"] == 15
    assert (model.usage["tokens_in"], model.usage["tokens_out"]) == (7 * 15, 3 * 15)


@pytest.mark.slow
def test_answers_are_the_same_in_any_order_and_fewer_are_the_first_ones() -> None:
    def late(asked: Asked) -> Act:
        number = number_of(asked)
        return says(f"    return {number}, {asked.body['seed']}\n", after=asked.body["seed"] % 5 / 100)

    with serving(late) as endpoint:
        predictions = load(endpoint.url, samples="6").predict(queries(3))
        again = load(endpoint.url, samples="6", concurrency="1").predict(queries(3)[::-1])
        few = load(endpoint.url, samples="2").predict(queries(3))
        other = load(endpoint.url, samples="2", seed="1").predict(queries(3))
    assert again == predictions[::-1]
    assert few == [Predicted(answer=said.answer, draws=said.draws[:2]) for said in predictions]
    assert all(one != two for one, two in zip(few, other, strict=True))


def test_attempts_are_asked_beside_one_another_as_many_as_may_be() -> None:
    began = time.monotonic()
    with serving(lambda asked: says("    pass\n", after=0.2)) as endpoint:
        load(endpoint.url, samples="12", concurrency="4").predict([query(0)])
        assert time.monotonic() - began < 12 * 0.2
    assert endpoint.most_at_once == 4


@pytest.mark.parametrize("fault", [refuses(500), refuses(429), resets], ids=["500", "429", "reset"])
def test_an_attempt_that_fails_is_asked_again_alone(fault: Act) -> None:
    failed: list[int] = []

    def script(asked: Asked) -> Act:
        if number_of(asked) == 1 and not failed:
            failed.append(asked.body["seed"])
            return fault
        return by_seed(asked)

    with serving(script) as endpoint:
        model = load(endpoint.url, samples="4")
        predictions = model.predict(queries(2))
        assert predictions == load(endpoint.url, samples="4").predict(queries(2))
    assert (model.usage["requests"], model.usage["retries"], model.usage["failed"]) == (9, 1, {})
    assert [request.body["seed"] for request in endpoint.asked].count(failed[0]) == 5, (
        "for both queries by both models, and again"
    )


@pytest.mark.slow
def test_a_query_of_which_one_attempt_is_lost_has_no_answer_and_counts_once() -> None:
    seeds: list[int] = []

    def script(asked: Asked) -> Act:
        if number_of(asked) == 1:
            seeds.append(asked.body["seed"])
            if len(set(seeds)) > 2:
                return refuses(400, "too long")
        return by_seed(asked)

    with serving(script) as endpoint:
        model = load(endpoint.url, samples="40", concurrency="4")
        first, lost, last = model.predict(queries(3))
    assert lost == Failed(reason="endpoint: 400")
    assert all(isinstance(said, Predicted) and len(said.draws) == 40 for said in (first, last))
    assert model.usage["failed"] == {"endpoint: 400": 1}
    assert len(seeds) < 10, "the rest of it is not asked for any more"
    assert model.usage["requests"] == len(endpoint.asked) == 80 + len(seeds)


def test_a_filter_or_a_timeout_of_one_attempt_drops_no_attempt_silently() -> None:
    filtered = says("no", finish="content_filter")
    for act, reason in ((filtered, "refused by its filter"), (hangs, "timeout")):
        with serving(lambda asked, act=act: act if asked.number == 2 else by_seed(asked)) as endpoint:  # type: ignore[misc]
            model = load(endpoint.url, samples="4", concurrency="1", timeout="0.5", retries="0")
            assert model.predict([query(0)]) == [Failed(reason=f"endpoint: {reason}")]
            assert len(endpoint.asked) == 3


def test_texts_that_are_empty_or_cut_off_are_attempts() -> None:
    def script(asked: Asked) -> Act:
        return (says(None, finish="length"), says("<think>so"), says("    ret", finish="length"))[
            asked.number
        ]

    with serving(script) as endpoint:
        model = load(endpoint.url, samples="3", concurrency="1")
        assert model.predict([query(0)]) == [Predicted(answer="", draws=("", "", "    ret"))]
    assert model.usage["failed"] == {}


def test_a_run_that_ends_keeps_whole_answers_and_no_others() -> None:
    began = time.monotonic()
    with serving(lambda asked: by_seed(asked) if asked.number < 7 else refuses(401)) as endpoint:
        model = load(endpoint.url, samples="3", concurrency="1")
        predictions = model.predict(queries(4))
        assert [len(said.draws) for said in predictions[:2] if isinstance(said, Predicted)] == [3, 3]
        assert predictions[2:] == [Failed(reason="endpoint: stopped")] * 2
        with pytest.raises(ModelError, match="does not accept OPENAI_API_KEY"):
            model.predict(queries(1))
    assert time.monotonic() - began < FEW_SECONDS


def bodies(**given: str) -> list[dict[str, object]]:
    with serving(lambda asked: says("    pass\n")) as endpoint:
        load(endpoint.url, **given).predict([query(0)])
    return [dict(request.body) for request in endpoint.asked]


def test_what_an_endpoint_does_not_take_can_be_left_out_here_too() -> None:
    assert {body["temperature"] for body in bodies(samples="2", temperature="0.2")} == {0.2}
    assert not any("seed" in body for body in bodies(samples="2", seed="none"))
    without = bodies(samples="2", temperature="none")
    assert not any("temperature" in body for body in without)
    assert len({body["seed"] for body in without}) == 2


def test_one_answer_is_asked_for_as_ever() -> None:
    (plain,) = bodies()
    assert (plain["temperature"], plain["seed"]) == (0.0, 0)
    assert bodies(samples="1") == [plain]
    assert bodies(samples="1", temperature="0.8") == [{**plain, "temperature": 0.8}]


def fingerprint(**given: str) -> str:
    model = load("http://127.0.0.1:1/v1", **given)
    assert isinstance(model, EndpointModel)
    return model.fingerprint


def test_the_fingerprint_has_the_number_and_the_temperature() -> None:
    assert fingerprint(samples="1") == fingerprint()
    assert "samples" not in fingerprint()
    assert "&temperature=0.8&seed=0&max_tokens=256&samples=5&" in fingerprint(samples="5")
    assert fingerprint(samples="5") == fingerprint(samples="5", temperature="0.8")
    given = (  # type: ignore[var-annotated]
        {},
        {"samples": "2"},
        {"samples": "3"},
        {"samples": "2", "temperature": "1"},
        {"temperature": "1"},
    )
    assert len({fingerprint(**options) for options in given}) == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": "0"}, "-M samples=0 must be a whole number from 1 to 1000"),
        ({"samples": "many"}, "-M samples=many must be a whole number from 1 to 1000"),
        (
            {"samples": "5", "temperature": "0"},
            "-M samples=5 with temperature=0 would be one answer many times",
        ),
        ({"samples": "5", "temperature": "inf"}, "must be a number of at least 0"),
        (
            {"samples": "5", "extra_body": '{"seed": 1}'},
            "-M samples=5: .* extra_body cannot set seed; write -M",
        ),
        ({"samples": "5", "extra_body": '{"temperature": 1}'}, "-M extra_body cannot set temperature"),
        ({"samples": "5", "extra_body": '{"n": 5}'}, "-M extra_body cannot set n"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_asked(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load("http://127.0.0.1:1/v1", **given)


def test_an_endpoint_that_does_not_sample_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    def script(asked: Asked) -> Act:
        return by_seed(asked) if number_of(asked) == 9 else says(f"    return {number_of(asked)}\n")

    with serving(script) as endpoint, caplog.at_level(logging.WARNING):
        load(endpoint.url).predict(queries(2))
        load(endpoint.url, samples="3").predict([query(9), *queries(2)])
        assert not caplog.messages, "one query with answers that differ is enough"
        model = load(endpoint.url, samples="3")
        model.predict(queries(2))
        model.predict(queries(2))
    (message,) = caplog.messages
    assert message.startswith(
        "codeaudit: openai/tiny: all 3 answers to each of the first queries are equal; does"
    )

"""`openai/MODEL` against a server that answers and fails as it is told, over real sockets."""

import _thread
import asyncio
import gc
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints import session as endpoint_session
from codeaudit.audit.models.endpoints.client import RequestError, address
from codeaudit.audit.models.endpoints.model import EndpointModel
from codeaudit.audit.models.endpoints.throttle import START
from codeaudit.audit.models.endpoints.urls import redacted
from codeaudit.audit.models.openai.decoding import Decoding
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from tests.support.endpoints import (
    Act,
    Asked,
    Handler,
    disconnects,
    drips,
    free_port,
    halves,
    hangs,
    refuses,
    resets,
    says,
    sends,
    serving,
)

KEY = "sk-FAKEfakeFAKEfake0123456789"
PAIR = "[compute_mean] [mean]"
MEAN = Predicted(answer="compute_mean")
FEW_SECONDS = 8.0
"""Far more than anything here takes, and far less than what it would take to wait for hangs or long pauses."""


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def query(number: int, task: str = "function-name") -> Query:
    return Query(task=task, language="python", source=f"def MASK(a):\n    return a + {number:03}\n")


def queries(count: int) -> list[Query]:
    return [query(number) for number in range(count)]


def number_of(asked: Asked) -> int:
    return int(asked.text.rstrip()[-3:])


def load(url: str, name: str = "tiny", **given: str) -> EndpointModel:
    quick = {"backoff": "0.01", "timeout": "20", **given}
    model = catalogue.load(f"openai/{name}", Settings(base_url=url), quick)
    assert isinstance(model, EndpointModel)
    return model


def test_a_request_says_all_that_decides_the_answer() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        assert load(endpoint.url, "org/tiny").predict([query(1)]) == [MEAN]
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    (message,) = asked.body["messages"]
    assert message["role"] == "user"
    assert message["content"].endswith("Here is the code:\n" + query(1).source)
    assert {**asked.body, "messages": None} == {
        "model": "org/tiny",
        "messages": None,
        "stream": False,
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 256,
    }


def test_what_an_endpoint_does_not_take_can_be_left_out_or_called_otherwise(tmp_path: Path) -> None:
    template = tmp_path / "ask.txt"
    template.write_text("Name {source}", encoding="utf-8")
    with serving(lambda asked: says(PAIR)) as endpoint:
        model = load(
            endpoint.url,
            seed="none",
            temperature="0.5",
            max_tokens="9",
            tokens_field="max_completion_tokens",
            extra_body='{"top_k": 1}',
            system="Be brief.",
            template=str(template),
        )
        assert model.predict([query(1)]) == [MEAN]
    assert endpoint.asked[0].body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"Name {query(1).source}"},
        ],
        "stream": False,
        "temperature": 0.5,
        "max_completion_tokens": 9,
        "top_k": 1,
    }


def test_models_without_a_chat_continue_a_text() -> None:
    with serving(lambda asked: says(f" {PAIR}\n\nI have a segment")) as endpoint:
        assert load(endpoint.url, api="completions").predict([query(1)]) == [MEAN]
    (asked,) = endpoint.asked
    assert asked.path == "/v1/completions"
    assert asked.body["prompt"].endswith("\n\nAnswer:")


def test_answers_come_in_the_order_of_the_queries() -> None:
    def script(asked: Asked) -> Act:
        number = number_of(asked)
        return says(f"[name_{number}] [n]", after=0.15 if number == 0 else 0.0)

    with serving(script) as endpoint:
        predictions = load(endpoint.url).predict(queries(9))
    assert predictions == [Predicted(answer=f"name_{number}") for number in range(9)]
    assert sorted(map(number_of, endpoint.asked)) == list(range(9))


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (says("It computes the mean."), "no readable answer"),
        (says(""), "no readable answer"),
        (says("[compute_mean] [me", finish="length"), "answer cut off by max_tokens"),
        (says(None, finish="length"), "answer cut off by max_tokens"),
        (says(PAIR, finish="content_filter"), "endpoint: refused by its filter"),
    ],
)
def test_a_reply_without_an_answer_is_a_failure_and_is_not_asked_again(act: Act, reason: str) -> None:
    with serving(lambda asked: act) as endpoint:
        model = load(endpoint.url)
        assert model.predict(queries(2)) == [Failed(reason=reason)] * 2
    assert len(endpoint.asked) == 2
    assert model.usage["failed"] == {reason: 2}


TRANSIENT = {
    "408": refuses(408),
    "409": refuses(409),
    "429": refuses(429, "slow down"),
    "500": refuses(500),
    "503": sends(503, "<html>busy</html>", "text/html"),
    "529": refuses(529),
    "half body": halves,
    "disconnect": disconnects,
    "reset": resets,
    "no JSON": sends(200, '{"choices": ['),
    "other JSON": sends(200, '{"choices": []}'),
    "wrong types": sends(200, '{"choices": [{"message": {"content": 3}}], "usage": "none"}'),
    "an array": sends(200, "[1, 2]"),
    "null": sends(200, "null"),
    "a page": sends(200, "<html>login</html>", "text/html"),
    "an error as if nothing had happened": sends(200, '{"error": {"message": "overloaded"}}'),
    "no text": says(None),
}
REASONS = {
    "408": "endpoint: 408",
    "409": "endpoint: 409",
    "429": "endpoint: 429",
    "500": "endpoint: 500",
    "503": "endpoint: 503",
    "529": "endpoint: 529",
    "an error as if nothing had happened": "endpoint: 503",
    **dict.fromkeys(("half body", "disconnect", "reset"), "endpoint: connection broken"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", TRANSIENT)
def test_what_may_pass_is_asked_again_and_then_failed(fault: str) -> None:
    def script(asked: Asked) -> Act:
        gone = number_of(asked) == 1 or asked.number == 0
        return TRANSIENT[fault] if gone else says(PAIR)

    with serving(script) as endpoint:
        model = load(endpoint.url, retries="2")
        predictions = model.predict(queries(2))
    reason = REASONS.get(fault, "endpoint: unreadable reply")
    assert predictions == [MEAN, Failed(reason=reason)]
    asked = [number_of(request) for request in endpoint.asked]
    assert asked.count(1) == 3, "the first time and two retries"
    assert asked.count(0) <= 2
    assert model.usage["failed"] == {reason: 1}


@pytest.mark.parametrize("act", [hangs, drips], ids=["hangs", "drips"])
@pytest.mark.thinned(1)
def test_no_request_takes_longer_than_its_timeout(act: Act) -> None:
    began = time.monotonic()
    with serving(lambda asked: act if number_of(asked) == 0 else says(PAIR)) as endpoint:
        predictions = load(endpoint.url, timeout="0.5", retries="1").predict(queries(2))
        assert predictions[0] == Failed(reason="endpoint: timeout")
        assert time.monotonic() - began < FEW_SECONDS
    assert [number_of(request) for request in endpoint.asked].count(0) == 2


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_query_that_is_refused_fails_alone_and_at_once(status: int) -> None:
    def script(asked: Asked) -> Act:
        return refuses(status, "maximum context length is 16") if number_of(asked) == 0 else says(PAIR)

    with serving(script) as endpoint:
        model = load(endpoint.url)
        assert model.predict(queries(3)) == [Failed(reason=f"endpoint: {status}"), MEAN, MEAN]
    assert len(endpoint.asked) == 3
    assert f"endpoint: {status} x1 (maximum context length is 16)" in model.bill


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (refuses(401, "bad key"), r"does not accept OPENAI_API_KEY \(401\) \(bad key\)"),
        (refuses(402, "no money"), "nothing is left to pay with .*start again to go on"),
        (refuses(429, "no money", code="insufficient_quota"), "nothing is left to pay with"),
        (refuses(400, "unsupported", param="max_tokens"), "try -M tokens_field=max_completion_tokens"),
        (refuses(400, "unsupported", param="temperature"), "-M temperature=none"),
        (refuses(422, "unsupported", param="seed"), "-M seed=none"),
        (refuses(400, "unsupported", param="top_k"), "take it out of -M extra_body"),
    ],
)
def test_what_no_other_query_would_change_ends_the_run_at_once(act: Act, message: str) -> None:
    with serving(lambda asked: act) as endpoint:
        model = load(endpoint.url, extra_body='{"top_k": 1}')
        with pytest.raises(ModelError, match=message) as caught:
            model.predict(queries(40))
        assert endpoint.url in str(caught.value)
        assert "\n" not in str(caught.value)
    assert len(endpoint.asked) <= 2 * START, "what was under way, and no more"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, r"refuses to serve model 'tiny' \(403\)"),
        (404, "has no model 'tiny', or it is the wrong address"),
        (405, "405"),
    ],
)
def test_a_first_batch_that_is_refused_as_a_whole_ends_the_run(status: int, message: str) -> None:
    with serving(lambda asked: refuses(status)) as endpoint, pytest.raises(ModelError, match=message):
        load(endpoint.url).predict(queries(3))
    assert len(endpoint.asked) == 3
    with serving(lambda asked: refuses(status) if number_of(asked) == 0 else says(PAIR)) as endpoint:
        assert load(endpoint.url).predict(queries(2)) == [Failed(reason=f"endpoint: {status}"), MEAN]


@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param("no-such-host.invalid", marks=pytest.mark.slow)])
def test_an_address_where_nobody_is_ends_the_run(host: str) -> None:
    began = time.monotonic()
    url = f"http://{host}:{free_port()}/v1"
    with pytest.raises(ModelError, match=rf"cannot reach {url} \(.*\); is the server up") as caught:
        load(url).predict(queries(40))
    # A name is looked up three times, and a resolver without a network takes its time.
    assert time.monotonic() - began < (FEW_SECONDS if host == "127.0.0.1" else 60)
    if host == "127.0.0.1":
        assert "(Connection refused)" in str(caught.value)


def test_a_server_that_goes_away_for_a_while_is_waited_for() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        model = load(endpoint.url, backoff="0.2", retries="8")
        assert model.predict([query(0)]) == [MEAN]
    predictions: list[Prediction] = []
    waiting = threading.Thread(target=lambda: predictions.extend(model.predict([query(1)])))
    waiting.start()
    time.sleep(0.3)
    with serving(lambda asked: says(PAIR), port=int(endpoint.url.split(":")[2].split("/")[0])):
        waiting.join(FEW_SECONDS)
    assert predictions == [MEAN]


def test_an_endpoint_that_answers_nothing_for_too_long_ends_the_run() -> None:
    with serving(lambda asked: refuses(503, "loading") if asked.number else says(PAIR)) as endpoint:
        model = load(endpoint.url, patience="0.3", backoff="0.1", retries="50")
        assert model.predict([query(0)]) == [MEAN]
        with pytest.raises(
            ModelError,
            match=r"gave no answer for \d+ s \(-M patience=0.3\), at last 'endpoint: 503' \(loading\); start",
        ):
            model.predict([query(1)])


def test_answers_that_were_had_before_the_key_was_lost_are_kept() -> None:
    with serving(lambda asked: says(PAIR) if asked.number < 3 else refuses(401)) as endpoint:
        model = load(endpoint.url, concurrency="1")
        predictions = model.predict(queries(6))
        assert predictions[:3] == [MEAN] * 3
        assert set(predictions[3:]) == {Failed(reason="endpoint: stopped")}
        before = len(endpoint.asked)
        with pytest.raises(ModelError, match="does not accept OPENAI_API_KEY"):
            model.predict(queries(6))
        assert len(endpoint.asked) == before


@pytest.mark.slow
def test_concurrency_is_what_is_asked_for_and_no_more() -> None:
    def when_full(handler: Handler) -> None:
        end = time.monotonic() + 0.4
        while handler.endpoint.active < 6 and time.monotonic() < end:
            time.sleep(0.005)
        says(PAIR)(handler)

    with serving(lambda asked: when_full) as endpoint:
        assert set(load(endpoint.url, concurrency="6").predict(queries(40))) == {MEAN}
    assert endpoint.most_at_once == 6


@pytest.mark.slow
def test_concurrency_falls_to_what_the_endpoint_bears_and_all_are_answered() -> None:
    with serving(lambda asked: refuses(429) if asked.beside > 2 else says(PAIR, after=0.03)) as endpoint:
        model = load(endpoint.url, concurrency="16", retries="12", backoff="0.02")
        assert set(model.predict(queries(40))) == {MEAN}
        assert model._session.throttle.limit <= 3
    assert len(endpoint.asked) < 80


@pytest.mark.slow
def test_a_storm_is_weathered_one_request_at_a_time() -> None:
    def script(asked: Asked) -> Act:
        storm = asked.at - endpoint.asked[0].at < 0.6
        return refuses(429, "storm", retry_after="0.3") if storm else says(PAIR)

    with serving(script) as endpoint:
        model = load(endpoint.url, concurrency="16", retries="5")
        assert set(model.predict(queries(30))) == {MEAN}
    refused = sum(1 for asked in endpoint.asked if asked.at - endpoint.asked[0].at < 0.6)
    assert refused <= 16 + 2, "those under way when it began, and a probe after each pause"


@pytest.mark.parametrize(
    "header",
    [
        lambda: {"retry_after": "0.5"},
        lambda: {"retry_after_ms": "500"},
        lambda: {"retry_after": format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)},
    ],
    ids=["seconds", "milliseconds", "date"],
)
@pytest.mark.thinned(1)
def test_nothing_is_asked_until_the_endpoint_wants_to_be(header: Callable[[], dict[str, str]]) -> None:
    with serving(lambda asked: says(PAIR) if asked.number else refuses(429, **header())) as endpoint:
        assert load(endpoint.url, concurrency="1").predict(queries(2)) == [MEAN, MEAN]
    first, second, _ = endpoint.asked
    assert second.at - first.at > 0.45


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "header", ["99999999", "1e999", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "-3", "nan"]
)
def test_no_pause_is_longer_than_the_longest(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_session, "LONGEST_WAIT", 0.1)
    began = time.monotonic()
    with serving(lambda asked: says(PAIR) if asked.number else refuses(503, retry_after=header)) as endpoint:
        assert load(endpoint.url).predict([query(0)]) == [MEAN]
    assert time.monotonic() - began < FEW_SECONDS


def test_tokens_are_counted_and_priced_and_what_is_not_told_is_said() -> None:
    def script(asked: Asked) -> Act:
        return says(PAIR, usage=None if asked.number == 0 else (1000, 50))

    with serving(script) as endpoint:
        model = load(endpoint.url, concurrency="1", price_in="2.5", price_out="10")
        assert model.usage == {}
        model.predict(queries(5))
    assert model.usage["tokens_in"] == 4000
    assert model.usage["tokens_out"] == 200
    assert model.usage["cost"] == pytest.approx(4000 * 2.5e-6 + 200 * 10e-6)
    assert model.usage["served"] == ["tiny-1"]
    assert model.bill == (
        "5 requests; 4,000 tokens in, 200 out; 1 replies did not report their tokens; cost 0.0120"
    )


def test_the_fingerprint_holds_all_that_decides_an_answer_and_nothing_else(tmp_path: Path) -> None:
    template = tmp_path / "t.txt"
    template.write_text("{source}", encoding="utf-8")
    url = "http://127.0.0.1:1/v1"
    plain = load(url).fingerprint
    assert plain.startswith(f"openai/tiny@{url}?api=chat&temperature=0.0&seed=0&max_tokens=256&prompts=")
    assert load(f"{url}/", timeout="3", retries="1", concurrency="2", price_in="1").fingerprint == plain
    others = [
        load(url, "other").fingerprint,
        load("http://127.0.0.1:2/v1").fingerprint,
        load(url, temperature="1").fingerprint,
        load(url, temperature="none").fingerprint,
        load(url, seed="1").fingerprint,
        load(url, max_tokens="255").fingerprint,
        load(url, max_tokens="none").fingerprint,
        load(url, tokens_field="max_completion_tokens").fingerprint,
        load(url, api="completions").fingerprint,
        load(url, extra_body='{"a": 1}').fingerprint,
        load(url, extra_body='{"a": 2}').fingerprint,
        load(url, system="x").fingerprint,
        load(url, template=str(template)).fingerprint,
        load(url, version="2").fingerprint,
    ]
    assert len({plain, *others}) == 1 + len(others)


def test_openai_itself_is_asked_by_default_and_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    model = catalogue.load("openai/tiny", Settings(), {})
    assert model.fingerprint.startswith("openai/tiny@https://api.openai.com/v1?")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    model = catalogue.load("openai/tiny", Settings(), {})
    assert model.fingerprint.startswith("openai/tiny@http://localhost:1/v1?")
    monkeypatch.delenv("OPENAI_API_KEY")
    catalogue.load("openai/tiny", Settings(), {})
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(ModelError, match="set OPENAI_API_KEY, or name another endpoint with --base-url"):
        catalogue.load("openai/tiny", Settings(), {})


def test_a_server_without_keys_needs_none_and_one_with_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serving(lambda asked: says(PAIR)) as endpoint:
        assert load(endpoint.url).predict([query(0)]) == [MEAN]
    asks = pytest.raises(ModelError, match=r"asks for a key \(401\) \(no\); set OPENAI_API_KEY")
    with serving(lambda asked: refuses(401)) as endpoint, asks:
        load(endpoint.url).predict([query(0)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": "x"}, "-M seed=x must be a whole number"),
        ({"max_tokens": "0"}, "of at least 1"),
        ({"temperature": "-1"}, "of at least 0"),
        ({"temperature": "nan"}, "must be a number"),
        ({"timeout": "0"}, "must be a number above 0"),
        ({"concurrency": "2.5"}, "must be a whole number"),
        ({"api": "assistants"}, "must be one of: chat, completions, responses"),
        ({"tokens_field": "n"}, "must be one of: max_tokens, max_completion_tokens"),
        ({"extra_body": "[1]"}, "must be a JSON object"),
        ({"extra_body": '{"stream": true}'}, "cannot set stream"),
    ],
)
def test_arguments_are_checked_before_anything_is_asked(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load("http://127.0.0.1:1/v1", **given)


def test_a_template_that_is_not_there_could_not_be_used() -> None:
    with pytest.raises(ModelError, match=r"cannot read -M template=nowhere\.txt: No such file"):
        load("http://127.0.0.1:1/v1", template="nowhere.txt")


def test_a_task_without_a_prompt_is_an_error_before_anything_is_asked() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        with pytest.raises(ModelError, match="no prompt for the task 'riddles'"):
            load(endpoint.url).predict([query(0), query(1, "riddles")])
        assert load(endpoint.url).predict([]) == []
    assert not endpoint.asked


PASSWORD = "p@ss/word-0123456789"
BASIC = "dXNlcjpwQHNzL3dvcmQtMDEyMzQ1Njc4OQ=="


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("opener", ["", "user:p%40ss%2Fword-0123456789@"], ids=["key", "URL"])
def test_what_opens_an_endpoint_is_sent_and_never_shown(opener: str) -> None:
    secrets = (PASSWORD, BASIC, "p%40ss", "user:") if opener else (KEY, KEY[3:20])

    def script(asked: Asked) -> Act:
        echo = asked.headers["authorization"]
        if asked.number == 0:
            return refuses(400, f"your header {echo} is long, {PASSWORD}, sk-ab***xyz")
        return says(f"[{echo}] [{KEY}{PASSWORD}]\n{PAIR}") if asked.number == 1 else refuses(401, echo)

    with serving(script) as endpoint:
        model = load(endpoint.url.replace("//", f"//{opener}"), concurrency="1")
        shown = [str(model.predict([query(0)])), str(model.predict([query(1)]))]
        with pytest.raises(ModelError) as caught:
            model.predict([query(2)])
    sent = endpoint.asked[0].headers["authorization"]
    assert sent == (f"Basic {BASIC}" if opener else f"Bearer {KEY}")
    shown += [told(caught.value), model.bill, str(model.usage), model.fingerprint, model.name, repr(model)]
    shown.append(repr(model._endpoint))
    for secret in secrets:
        assert secret not in "\n".join(shown)
    assert "***" in model.bill
    assert "sk-ab" not in model.bill


@pytest.mark.thinned(3)
@pytest.mark.parametrize("length", range(40, 100, 7))
def test_a_key_in_an_answer_that_cannot_be_read_is_not_shown(length: int) -> None:
    with serving(lambda asked: says(f"{'no' * length} {KEY} {'no' * length}")) as endpoint:
        (prediction,) = load(endpoint.url, concurrency="1").predict([query(0)])
    assert isinstance(prediction, Failed)
    assert prediction.given
    assert not any(KEY[start : start + 6] in prediction.given for start in range(len(KEY) - 5))


@pytest.mark.parametrize(
    "act", [refuses(500, KEY), disconnects, hangs], ids=["status", "connection", "timeout"]
)
def test_no_error_of_the_client_leaves_with_its_request(act: Act) -> None:
    async def asked(url: str) -> RequestError:
        from codeaudit.audit.models.openai.client import Client

        client = Client(address(url, KEY, key_name="OPENAI_API_KEY"), "tiny", Decoding(), 0.5)
        try:
            await client.ask(built_in()["function-name"], query(0))
        except RequestError as trouble:
            return trouble
        finally:
            await client.close()
        raise AssertionError("no trouble")

    with serving(lambda asked: act) as endpoint:
        trouble = asyncio.run(asked(endpoint.url))
    assert trouble.__cause__ is None
    assert KEY not in told(trouble)


@pytest.mark.parametrize(
    "url",
    [
        "user:hunter2hunter2@host/v1",
        "ftp://user:hunter2hunter2@host/v1",
        "http://user:hunter2hunter2@host:99999/v1",
        "http://user:hunter2hunter2@host/v1?a=1",
        "http://user:hunter2/hunter2@host/v1",
        "http://user:hunter2#hunter2@host/v1",
        "http://user:hunter2hunter2@[::1/v1",
        "http://user:hunter2%0Ahunter2@host/v1",
        "",
        "localhost:8000",
    ],
)
def test_an_address_that_is_none_is_told_without_its_secret(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url") as caught:
        address(url, KEY, key_name="OPENAI_API_KEY")
    assert "hunter2" not in told(caught.value)


def test_a_recorded_address_is_redacted_and_cannot_be_used_as_it_stands() -> None:
    shown = redacted("--base-url=http://user:pa/ss@host:1/v1")
    assert shown == "--base-url=http://***@host:1/v1"
    with pytest.raises(UsageError, match="was recorded without its user and password; give it anew"):
        address("http://***@host:1/v1", None, key_name="OPENAI_API_KEY")


@pytest.mark.parametrize("key", ["sk-with blank", "sk-with\nline", "sk-schlüssel"])
def test_a_key_that_no_header_can_carry_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds a character") as caught:
        address("http://host/v1", key, key_name="OPENAI_API_KEY")
    assert "sk-" not in told(caught.value).replace("sk-...", "")
    assert address("http://host/v1", f"{KEY}\n", key_name="").key == KEY


def test_ctrl_c_ends_the_waiting_at_once_and_the_model_stays_usable() -> None:
    def script(asked: Asked) -> Act:
        return hangs if asked.number < 2 else says(PAIR)

    with serving(script) as endpoint:
        model = load(endpoint.url)
        model.predict([])
        began = time.monotonic()
        timer = threading.Timer(0.5, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.predict(queries(2))
        assert time.monotonic() - began < FEW_SECONDS
        timer.join()
        assert model.predict([query(5)]) == [MEAN]


@pytest.mark.slow
def test_a_model_that_is_let_go_leaves_no_thread_and_no_connection() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        model = load(endpoint.url)
        model.predict(queries(3))
        gone = weakref.ref(model)
        loop = model._loop
        assert loop is not None
        del model
        gc.collect()
        assert gone() is None
        loop._thread.join(FEW_SECONDS)
        assert not loop._thread.is_alive()


def test_code_may_be_longer_than_other_answers_and_may_end_nowhere() -> None:
    code = "    return a + 1\n\n\ndef other("
    asked = query(1, "generation")
    with serving(lambda _: says(code, finish="length")) as endpoint:
        for given in ({"api": "completions"}, {}, {"max_tokens": "9"}):
            (prediction,) = load(endpoint.url, **given).predict([asked])
            assert prediction == Predicted(answer=code)
    continued, chat, bounded = (request.body for request in endpoint.asked)
    assert continued["prompt"] == asked.source
    assert [body["max_tokens"] for body in (continued, chat, bounded)] == [512, 512, 9]
    (message,) = chat["messages"]
    assert "breaks off in the middle of its last function" in message["content"]


def test_lines_are_as_long_as_other_answers() -> None:
    with serving(lambda _: says("```python\nreturn a\n```")) as endpoint:
        (prediction,) = load(endpoint.url).predict([query(1, "next-line")])
    assert prediction == Predicted(answer="```python\nreturn a\n```"), "the task reads the line"
    assert endpoint.asked[0].body["max_tokens"] == 256

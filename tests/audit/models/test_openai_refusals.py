"""What a server refuses with, in many forms, and addresses that are wrong: the run ends soon and says why."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from codeaudit.audit.models.openai.model import proposal
from codeaudit.audit.models.openai.refusals import server_words
from codeaudit.audit.records import Failed
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import FEW_SECONDS, MEAN, PAIR, load, number_of, queries
from tests.support.endpoints import Act, Asked, refuses, says, sends, serving

FASTAPI = {
    "detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs", "input": 0}]
}
GOOGLE = {
    "error": {
        "code": 400,
        "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
        "status": "INVALID_ARGUMENT",
        "details": [{"fieldViolations": [{"field": "seed", "description": "unknown"}]}],
    }
}
BODIES: dict[str, tuple[object, str]] = {
    "OpenAI": ({"error": {"message": "Unsupported parameter", "param": "seed"}}, "Unsupported parameter"),
    "OpenAI without a place": ({"error": {"message": "'seed' is not supported"}}, "'seed' is not"),
    "FastAPI": (FASTAPI, "seed: Extra inputs"),
    "FastAPI, in words": ({"detail": "Unknown field: seed"}, "Unknown field"),
    "Mistral": ({"object": "error", "message": FASTAPI}, "seed: Extra inputs"),
    "Google": (GOOGLE, "Invalid JSON payload"),
    "Google in a list": ([GOOGLE], "Invalid JSON payload"),
    "a text in a text": ({"error": {"message": json.dumps(FASTAPI)}}, "seed: Extra inputs"),
    "an error in words": ({"error": "unknown argument `seed`"}, "unknown argument"),
    "an error in small words": ({"msg": "no such option: seed"}, "no such option"),
    "errors in a list": ({"errors": [{"message": "seed is unknown"}]}, "seed is unknown"),
    "problem details": ({"title": "Invalid", "errors": {"seed": ["Unknown field."]}}, "seed: Unknown field."),
    "a capital letter": ({"Message": "property 'seed' is unsupported"}, "property 'seed'"),
    "OAuth": ({"error_description": "seed not allowed"}, "seed not allowed"),
    "plain text": ("seed: unexpected field", "seed: unexpected field"),
    "a parameter beside it": ({"code": "InvalidParameter", "parameter": "seed", "message": "bad"}, "bad"),
    "a pointer": ({"message": "bad", "path": "/body/seed"}, "bad"),
}


def says_no(status: int, body: object) -> Act:
    return sends(status, body if isinstance(body, str) else json.dumps(body))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_field_ends_the_run_with_the_words_and_the_flag(form: str, status: int) -> None:
    body, words = BODIES[form]
    with serving(lambda asked: says_no(status, body)) as endpoint:
        with pytest.raises(ModelError, match=r"does not take 'seed' .*-M seed=none") as caught:
            load(endpoint.url).predict(queries(9))
        assert words in str(caught.value)
    assert len(endpoint.asked) <= 8, "what was under way"


FIELDS = {
    "temperature": (
        "Unsupported value: 'temperature' does not support 0.0 with this model.",
        "temperature=none",
    ),
    "max_tokens": (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "tokens_field=",
    ),
    "max_tokens, too many": ("max_tokens is too large: 256. This model supports at most 9", "max_tokens=N"),
    "extra_body": ("Unrecognized request argument supplied: top_k", "take it out of -M extra_body"),
    "system": ("System role not supported", "leave out -M system"),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("field", FIELDS)
def test_every_field_that_we_send_has_a_flag(field: str) -> None:
    words, flag = FIELDS[field]
    with serving(lambda asked: refuses(400, words)) as endpoint:
        model = load(endpoint.url, system="Be brief.", extra_body='{"top_k": 1}')
        with pytest.raises(ModelError, match="does not take") as caught:
            model.predict(queries(9))
    assert flag in str(caught.value)


def test_a_server_that_fails_at_a_field_is_not_asked_for_long() -> None:
    act = refuses(500, "seed is not implemented")
    with serving(lambda asked: act) as endpoint, pytest.raises(ModelError, match="-M seed=none"):
        load(endpoint.url, concurrency="1").predict(queries(9))
    assert len(endpoint.asked) < 30


@pytest.mark.parametrize("words", ["the request is invalid", "", "request 12{} is invalid"])
def test_refusals_that_repeat_end_the_run_with_the_words_of_the_server(words: str) -> None:
    def script(asked: Asked) -> Act:
        return says_no(422, {"detail": words.format(asked.number)} if words else {})

    with serving(script) as endpoint:
        with pytest.raises(ModelError, match=r"refuses every query for model 'tiny' .422.") as caught:
            load(endpoint.url).predict(queries(40))
        assert words.partition("{")[0] in str(caught.value)
        assert "-M extra_body" in str(caught.value)
    assert len(endpoint.asked) <= 16


@pytest.mark.parametrize("number", [0, 5])
def test_a_field_that_was_taken_before_is_no_reason_to_end(number: int) -> None:
    """A query that is refused beside answered ones fails alone, whatever the words are."""

    def script(asked: Asked) -> Act:
        return refuses(400, "This code is too odd") if number_of(asked) == number else says(PAIR)

    with serving(script) as endpoint:
        predictions = load(endpoint.url, concurrency="1").predict(queries(9))
    assert predictions == [Failed(reason="endpoint: 400") if each == number else MEAN for each in range(9)]


def test_long_queries_that_are_refused_first_do_not_end_the_run() -> None:
    words = (
        "'max_tokens' is too large: 256. This model's maximum context length is 99 tokens and your request "
        "has {} input tokens"
    )

    def script(asked: Asked) -> Act:
        return (
            refuses(400, words.format(number_of(asked)), param="max_tokens")
            if number_of(asked) < 9
            else says(PAIR)
        )

    many = "".join(f"word{number}(value)\n" for number in range(400))
    asked = [
        replace(query, source=many + query.source) if number < 9 else query
        for number, query in enumerate(queries(12))
    ]
    with serving(script) as endpoint:
        predictions = load(endpoint.url, concurrency="1").predict(asked)
    assert predictions == [Failed(reason="endpoint: 400")] * 9 + [MEAN] * 3


def test_the_words_of_deep_bodies_are_bounded() -> None:
    deep: object = "no"
    for _ in range(50):
        deep = {"error": deep}
    assert server_words(deep) == ""
    assert server_words([{"msg": str(number)} for number in range(9)]) == "0; 1; 2"
    assert server_words("<html>busy</html>") == ""


# ── wrong addresses ──────────────────────────────────────────────────────────────────────────────────────


LM_STUDIO = json.dumps(
    {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}
)
PAGES: dict[str, Act] = {
    "LM Studio": sends(200, LM_STUDIO),
    "an error as an object": sends(200, '{"error": {"message": "no such route"}}'),
    "a web page": sends(200, "<!doctype html><title>Login</title>", "text/html"),
    "a page behind a mark": sends(200, "\ufeff\n<html>", "text/html"),
    "other JSON": sends(200, '{"status": "ok"}'),
    "a list": sends(200, "[]"),
    "null": sends(200, "null"),
    "a word": sends(200, "Ollama is running", "text/plain"),
    "nothing": sends(200, "", "text/plain"),
    "no choices": sends(200, '{"choices": []}'),
    "another protocol": sends(200, '{"type": "message", "content": [{"type": "text", "text": "a"}]}'),
    "a page for 404": sends(404, "<html>Not Found</html>", "text/html"),
    "words for 404": sends(404, "404 page not found", "text/plain"),
    "JSON for 404": sends(404, '{"detail": "Not Found"}'),
    "a page for 405": sends(405, "<html>nginx</html>", "text/html"),
    "a page for 400": sends(400, "<html>The plain HTTP request was sent to HTTPS port</html>", "text/html"),
    "a page for 501": sends(501, "<!DOCTYPE HTML>Unsupported method ('POST')", "text/html"),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("form", PAGES)
def test_an_address_in_another_protocol_ends_within_seconds_and_proposes_one(form: str) -> None:
    began = time.monotonic()
    with serving(lambda asked: PAGES[form]) as endpoint:
        url = endpoint.url.removesuffix("/v1")
        with pytest.raises(ModelError, match=rf"; try {url}/v1$") as caught:
            load(url, backoff="0.05").predict(queries(1))
    assert time.monotonic() - began < FEW_SECONDS / 2
    assert len(endpoint.asked) <= 3
    assert "template" not in str(caught.value)
    if form == "LM Studio":
        assert "answers, but not in this protocol (Unexpected endpoint or method" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://h:1234", "; try http://h:1234/v1"),
        ("http://h/proxy", "; try http://h/proxy/v1"),
        ("http://h/v1/chat/completions", "; try http://h/v1"),
        ("http://h/v1/completions", "; try http://h/v1"),
        ("http://h/v1", "; is it the address of an OpenAI-compatible server?"),
        ("http://h/v1beta/openai", "; is it the address of an OpenAI-compatible server?"),
        ("https://h/openai/deployments/d", "; is it the address of an OpenAI-compatible server?"),
    ],
)
def test_the_proposal_follows_the_address(url: str, told: str) -> None:
    assert proposal(url) == told


def test_an_error_with_status_200_at_a_right_address_may_pass() -> None:
    fault = sends(200, '{"error": {"message": "Provider returned error", "code": 502}}')
    with serving(lambda asked: fault if asked.number < 4 else says(PAIR)) as endpoint:
        assert load(endpoint.url).predict(queries(1)) == [MEAN]


@contextmanager
def talking(first: bytes) -> Iterator[str]:
    """A program that is no web server: it says something, or nothing, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(first)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


@pytest.mark.parametrize("first", [b"SSH-2.0-OpenSSH_9.6\r\n", b"", b"\x15\x03\x01\x00\x02\x02\x46"])
def test_a_program_that_is_no_web_server_ends_within_seconds(first: bytes) -> None:
    began = time.monotonic()
    with talking(first) as place, pytest.raises(ModelError, match=f"cannot reach http://{place}/v1 "):
        load(f"http://{place}/v1", backoff="0.05").predict(queries(1))
    assert time.monotonic() - began < FEW_SECONDS / 2


def test_https_where_only_http_is_spoken_says_so() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        url = endpoint.url.replace("http:", "https:")
        with pytest.raises(ModelError, match="it does not speak https; try http://"):
            load(url).predict(queries(1))


def test_an_address_where_nobody_answers_at_all_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeaudit.audit.models.openai.client.CONNECT", 0.3)
    began = time.monotonic()
    with socket.socket() as server, ExitStack() as opened:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        place = server.getsockname()
        for _ in range(4):  # its queue is full, so that further connections are never made
            connection = opened.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(place)
        with pytest.raises(ModelError, match=r"cannot reach .*timeout"):
            load(f"http://127.0.0.1:{place[1]}/v1", timeout="60").predict(queries(1))
    assert time.monotonic() - began < FEW_SECONDS


@pytest.mark.thinned(1)
@pytest.mark.parametrize("concurrency", ["1", "8"])
@pytest.mark.parametrize("only", [True, None])
def test_a_server_that_takes_one_way_of_replies_only_is_asked_in_that_way(
    only: bool | None, concurrency: str
) -> None:
    """Servers that only stream, and servers that do not know the field."""

    def script(asked: Asked) -> Act:
        if asked.body.get("stream") == only:
            return says(PAIR)
        return refuses(400, "This server supports only stream=true" if only else "unknown field: 'stream'")

    with serving(script) as endpoint:
        assert load(endpoint.url, concurrency=concurrency).predict(queries(9)) == [MEAN] * 9
    assert len(endpoint.asked) <= 9 + 2 * int(concurrency)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ({"message": "No such model here"}, 400),
        ({"message": "The prompt is blocked", "code": "policy"}, 400),
        ({"message": "No allowed parameters", "code": 422}, 422),
        ({"message": "Incorrect API key", "type": "invalid_request_error"}, 401),
        ({"message": "no", "code": "insufficient_quota"}, 402),
    ],
)
def test_an_error_with_status_200_ends_the_run_with_its_words(fault: dict[str, object], status: int) -> None:
    act = sends(200, json.dumps({"error": fault}))
    began = time.monotonic()
    with serving(lambda asked: act) as endpoint, pytest.raises(ModelError) as caught:
        load(endpoint.url).predict(queries(40))
    assert str(fault["message"]) in str(caught.value)
    assert f"({status})" in str(caught.value) or status == 402
    assert "template" not in str(caught.value)
    assert len(endpoint.asked) <= 16
    assert time.monotonic() - began < FEW_SECONDS


def test_short_queries_that_are_too_long_end_the_run_with_the_flag_that_helps() -> None:
    act = refuses(400, "This model's maximum context length is 128 tokens")
    with (
        serving(lambda asked: act) as endpoint,
        pytest.raises(ModelError, match="-M max_tokens=N leaves") as caught,
    ):
        load(endpoint.url).predict(queries(40))
    assert "FIELD=none" not in str(caught.value)
    assert len(endpoint.asked) <= 16

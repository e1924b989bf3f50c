"""No wait for an endpoint is longer than `-M patience`, whatever it waits for."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.spending import Spending
from codeaudit.audit.models.provider import Settings
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import FEW_SECONDS, KEY, MEAN, PAIR, load, queries, query
from tests.support.endpoints import Act, drips, hangs, refuses, says, serving

PATIENCE = "0.4"
HOUR = datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@contextmanager
def in_time() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert float(PATIENCE) - 0.05 < time.monotonic() - began < FEW_SECONDS


WAITS: dict[str, tuple[Callable[[], Act], dict[str, str], str]] = {
    "Retry-After in seconds": (lambda: refuses(429, retry_after="3600"), {}, "asks to wait 3,600 s"),
    "Retry-After of another status": (lambda: refuses(503, retry_after="50"), {}, "asks to wait 50 s"),
    "Retry-After of an error": (lambda: refuses(500, retry_after="3600"), {}, "asks to wait 3,600 s"),
    "Retry-After as a date": (
        lambda: refuses(429, retry_after=format_datetime(HOUR, usegmt=True)),
        {},
        "asks to wait 3,",
    ),
    "milliseconds": (lambda: refuses(429, retry_after_ms="3600000"), {}, "asks to wait 3,600 s"),
    "backoff": (lambda: refuses(500), {"backoff": "60"}, "at last 'endpoint: 500'"),
    "no reply": (lambda: hangs, {"timeout": "120"}, "gave no answer for"),
    "half a reply": (lambda: drips, {"timeout": "120"}, "gave no answer for"),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("wait", WAITS)
def test_the_shorter_of_a_wait_and_the_patience_wins_and_the_line_says_so(wait: str) -> None:
    act, given, words = WAITS[wait]
    with serving(lambda asked: act()) as endpoint:
        model = load(endpoint.url, patience=PATIENCE, **{"retries": "50", "backoff": "0.1", **given})
        with in_time(), pytest.raises(ModelError) as caught:
            model.predict(queries(3))
    message = str(caught.value)
    assert f"(-M patience={PATIENCE})" in message
    assert words in message
    assert ("the patience is shorter" in message) == ("asks to wait" in message)


def test_a_connection_that_nobody_accepts_ends_with_the_patience() -> None:
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)  # after one connection that nobody accepts, the others hang
        for connection in (first, second):
            connection.setblocking(False)
            connection.connect_ex(listening.getsockname())
        port = listening.getsockname()[1]
        model = load(f"http://127.0.0.1:{port}/v1", patience=PATIENCE, timeout="120", retries="50")
        with in_time(), pytest.raises(ModelError, match=r"\(-M patience=0.4\)"):
            model.predict([query(0)])


def test_a_request_that_hangs_when_a_limit_is_reached_is_not_waited_for_any_longer() -> None:
    with serving(lambda asked: hangs if asked.number else says(PAIR)) as endpoint:
        settings = Settings(base_url=endpoint.url, spending=Spending(max_requests=2), max_requests=2)
        given = {"patience": PATIENCE, "timeout": "120", "concurrency": "1"}
        model = catalogue.load("openai/tiny", settings, given)
        with in_time():
            assert model.predict(queries(4))[0] == MEAN


def test_a_wait_of_our_own_is_no_silence_of_the_endpoint() -> None:
    with serving(lambda asked: says(PAIR)) as endpoint:
        # 1.2 s from one request to the next.
        model = load(endpoint.url, patience=PATIENCE, rpm="50", concurrency="1")
        assert model.predict(queries(2)) == [MEAN, MEAN]
        assert model.predict([query(9)]) == [MEAN]


def test_answers_begin_the_patience_anew() -> None:
    with serving(lambda asked: says(PAIR, after=0.25)) as endpoint:
        model = load(endpoint.url, patience=PATIENCE, concurrency="1")
        assert model.predict(queries(4)) == [MEAN] * 4

"""`openai/MODEL` against endpoints that answer without end, or send the request elsewhere."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest

from codeaudit.audit.records import Failed
from codeaudit.transforms.errors import ModelError
from tests.audit.models.test_openai import MEAN, PAIR, load, queries, query
from tests.support.endpoints import Act, Asked, completion, floods, packs, says, sends, serving

LARGE = Failed(reason="endpoint: reply too large")
LARGEST = 8 << 20
"""Bytes of a reply: `LARGEST_REPLY`."""
MOST = 12 * LARGEST
"""Bytes of memory that a bounded reply may take, with the buffers of the sockets at both ends."""
BLANKS = b" " * (1 << 16)
BOMB = 64 << 20
"""So many bytes are 64 KiB when they are packed."""


@pytest.fixture(autouse=True)
def _own_environment_of_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")


def packed(data: bytes, coding: str) -> bytes:
    for name in coding.split(", "):
        data = gzip.compress(data) if name == "gzip" else zlib.compress(data)
    return data


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("status", [200, 401, 503])
@pytest.mark.parametrize(
    ("part", "coding"),
    [
        (lambda: BLANKS, ""),
        (lambda: packed(b" " * BOMB, "gzip"), "gzip"),
        (lambda: packed(b" " * BOMB, "deflate"), "deflate"),
        (lambda: packed(b" " * BOMB, "gzip, gzip"), "gzip, gzip"),
        # Empty blocks, which unpack to nothing.
        (lambda: b"\x00\x00\x00\xff\xff" * 10_000, "deflate"),
        # What comes after the packed data is kept by zlib.
        (lambda: packed(completion(PAIR).encode(), "gzip") + BLANKS, "gzip"),
    ],
    ids=["plain", "gzip", "deflate", "gzip twice", "empty blocks", "more than the packed data"],
)
def test_no_reply_takes_more_memory_than_its_limit(
    part: Callable[[], bytes], coding: str, status: int
) -> None:
    act, sent = floods(part(), coding=coding, status=status)
    with serving(lambda asked: act if asked.number == 0 else says(PAIR)) as endpoint:
        model = load(endpoint.url, concurrency="1", retries="0")
        tracemalloc.start()
        try:
            predictions = model.predict(queries(2))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert predictions == [LARGE, MEAN], "and the next query is answered"
    assert peak < MOST
    assert sent[0] < 4 * LARGEST, "the connection was closed"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "deflate, gzip"])
def test_a_packed_reply_is_read_as_any_other(coding: str) -> None:
    with serving(lambda _: packs(packed(completion(PAIR).encode(), coding), coding)) as endpoint:
        assert load(endpoint.url).predict([query(1)]) == [MEAN]


def test_a_reply_below_the_limit_is_read_whole() -> None:
    from codeaudit.audit.models.openai.http import LARGEST_REPLY

    assert LARGEST_REPLY == LARGEST
    with serving(lambda _: sends(200, completion(PAIR) + " " * (LARGEST - 2000))) as endpoint:
        assert load(endpoint.url).predict([query(1)]) == [MEAN]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "USER:PASSWORD@localhost"])
def test_no_request_is_redirected_to_another_host(status: int, name: str) -> None:
    with serving(lambda _: says(PAIR)) as other:
        # Another port of the same host is another program, perhaps another user's.
        there = other.url.replace("127.0.0.1", name)
        act = sends(status, "", location=f"{there}/secret")
        with serving(lambda _: act) as endpoint, pytest.raises(ModelError) as caught:
            load(endpoint.url).predict(queries(3))
    assert other.asked == []
    assert "redirects to another host, http://" in str(caught.value)
    assert "name it with --base-url" in str(caught.value)
    assert "PASSWORD" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_redirect_on_the_same_host_is_followed() -> None:
    def script(asked: Asked) -> Act:
        if asked.path.endswith("/"):
            return says(PAIR)
        return sends(307, "", location=f"{asked.path}/")

    with serving(script) as endpoint:
        assert load(endpoint.url).predict([query(1)]) == [MEAN]
    assert endpoint.asked[0].body == endpoint.asked[1].body


def test_the_body_of_a_redirect_is_not_read() -> None:
    act, sent = floods(BLANKS, status=307, location="/v1/other/")
    with serving(lambda asked: says(PAIR) if asked.path.endswith("/") else act) as endpoint:
        assert load(endpoint.url).predict([query(1)]) == [MEAN]
    assert sent[0] < LARGEST


def test_a_circle_of_redirects_ends() -> None:
    with serving(lambda asked: sends(307, "", location=asked.path)) as endpoint:
        (prediction,) = load(endpoint.url, retries="0").predict([query(1)])
    assert prediction == Failed(reason="endpoint: connection broken")
    assert len(endpoint.asked) < 10


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        ("http://a/v1", "http://a:80/x", True),
        ("http://a/v1", "https://a/x", True),
        ("http://a:8000/v1", "https://a/x", False),
        ("https://a/v1", "http://a/x", False),
        ("https://a/v1", "https://a:8443/x", False),
        ("https://a/v1", "https://b.a/x", False),
        ("https://a/v1", "https://A/x", True),
    ],
)
def test_what_the_same_host_is(here: str, there: str, same: bool) -> None:
    import httpx2

    from codeaudit.audit.models.openai.http import is_same_host

    assert is_same_host(httpx2.URL(here), httpx2.URL(there)) is same

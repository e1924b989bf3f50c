"""The HTTP client below the `openai` library: it bounds the size of replies and stays with its host."""

from collections.abc import AsyncIterator
from typing import Any, Final

import httpx2
import openai

LARGEST_REPLY: Final = 8 << 20
"""Bytes of a reply, as they arrive and unpacked. With `logprobs` replies have hundreds of kilobytes."""
MOST_REDIRECTS: Final = 5
_PACKING: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that describe the body as it arrived, and not the unpacked one."""


class ReplyTooLarge(Exception):  # noqa: N818 - it describes the reply
    """A reply has more than `LARGEST_REPLY` bytes."""


class RedirectedElsewhere(Exception):  # noqa: N818 - it describes the reply
    """The endpoint redirects to another host; its address is the only argument. Nothing was sent there."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """Reads at most `largest` bytes of a reply, and follows redirects on the same host only.

    A redirected request holds the source code of a sample. The user trusts one host with it.
    """

    def __init__(self, *, largest: int = LARGEST_REPLY, **options: Any) -> None:
        super().__init__(**options)
        self._largest = largest

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; the whole reply is read.

        Raises:
            ReplyTooLarge: the reply is too large.
            RedirectedElsewhere: the reply is a redirect to another host, or to the same one in the clear.
        """
        options |= {"stream": True, "follow_redirects": False}
        for _ in range(MOST_REDIRECTS):
            response = await super().send(request, **options)
            try:
                if (after := response.next_request) is None:
                    return await _whole(response, self._largest)
            finally:
                # The body of a redirect is never read.
                await response.aclose()
            if not is_same_host(request.url, after.url):
                raise RedirectedElsewhere(_origin(after.url))
            request = after
        raise httpx2.TooManyRedirects("too many redirects", request=request)


async def _whole(response: httpx2.Response, largest: int) -> httpx2.Response:
    """The response with its unpacked body.

    Raises:
        ReplyTooLarge: there is too much of it, packed or unpacked.
    """
    # A second response, because the first one has no limit on the bytes that it hands to the decoder.
    packed = httpx2.Response(
        response.status_code, headers=response.headers, stream=_Arriving(response, largest)
    )
    body = bytearray()
    async for part in packed.aiter_bytes():
        body += part
        _check(len(body), largest)
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _PACKING]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=bytes(body),
        request=response.request,
        extensions=response.extensions,
    )


class _Arriving(httpx2.AsyncByteStream):
    """The body of a response as it arrives, up to the limit."""

    def __init__(self, response: httpx2.Response, largest: int) -> None:
        self._response = response
        self._largest = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        arrived = 0
        async for part in self._response.aiter_raw():
            arrived += len(part)
            _check(arrived, self._largest)
            yield part


def _check(size: int, largest: int) -> None:
    if size > largest:
        raise ReplyTooLarge(f"more than {largest >> 20} MiB")


def is_same_host(here: httpx2.URL, there: httpx2.URL) -> bool:
    """Whether one host, and one program there, answers at both addresses."""
    if here.host != there.host:
        return False
    # The same host may move to https on its usual ports. Another port is another program.
    return _place(here) == _place(there) or (_place(here), _place(there)) == (("http", 80), ("https", 443))


def _place(url: httpx2.URL) -> tuple[str, int | None]:
    return url.scheme, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _origin(url: httpx2.URL) -> str:
    """The address without path, user and password."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"

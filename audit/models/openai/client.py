"""Sends one request with the `openai` library. Implements `EndpointClient`.

It does not repeat requests; `EndpointModel` does. Errors of the library contain the request with its headers
and so the key. So none of them leaves this module, not even as a cause (`from None`), and texts are scrubbed.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

import httpx2
import openai

from codeaudit.audit.checks import is_whole
from codeaudit.audit.models.endpoints.client import TRANSIENT, EndpointAddress, Reply, RequestError
from codeaudit.audit.models.openai.http import BoundedClient, RedirectedElsewhere, ReplyTooLarge
from codeaudit.audit.models.openai.model import Decoding
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query

BUSY: Final = frozenset({429, 503, 529})
"""Statuses for too many requests."""
LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=1000)
"""Of the connections: the layer above decides how many requests run at once, and reuses their connections."""
NO_KEY: Final = "none"
"""Sent if there is no key, because the library always sends one."""
LONGEST_TEXT: Final = 160
"""Largest number of characters shown of an endpoint's message."""


class Client:
    """Sends requests for one model to one endpoint. It belongs to the event loop that first uses it."""

    def __init__(self, address: EndpointAddress, model: str, decoding: Decoding, timeout: float) -> None:
        self._address = address
        self._model = model
        self._decoding = decoding
        self._timeout = timeout
        self._client = openai.AsyncOpenAI(
            api_key=address.key or NO_KEY,
            base_url=address.url,
            default_headers=address.headers,
            timeout=timeout,
            max_retries=0,
            http_client=BoundedClient(
                base_url=address.url,
                timeout=timeout,
                # With a transport of our own the library does not look for a proxy in the environment.
                transport=httpx2.AsyncHTTPTransport(
                    limits=LIMITS, proxy=address.proxy.url if address.proxy else None
                ),
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """As `EndpointClient.ask`. The seed depends on `attempt` if several answers are drawn."""
        try:
            async with asyncio.timeout(self._timeout):
                return self._read(await self._send(prompt, query, attempt))
        except (TimeoutError, openai.APITimeoutError) as error:
            unreachable = type(error.__cause__).__name__ == "ConnectTimeout"
            raise RequestError("timeout", again=True, busy=not unreachable, unreachable=unreachable) from None
        except openai.APIConnectionError as error:
            unreachable = type(error.__cause__).__name__ == "ConnectError"
            reason = "unreachable" if unreachable else "connection broken"
            why = self._shown(_why(error))
            raise RequestError(reason, message=why, again=True, unreachable=unreachable) from None
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except ReplyTooLarge as error:
            raise RequestError("reply too large", message=str(error)) from None
        except RedirectedElsewhere as error:
            raise RequestError("redirect", elsewhere=self._shown(str(error))) from None
        except RequestError:  # from `_read`, with its own reason
            raise
        except Exception as error:  # the library does not check replies, so any error may occur
            message = type(error).__name__
            raise RequestError("unreadable reply", message=message, again=True, unreadable=True) from None

    async def _send(self, prompt: Prompt, query: Query, attempt: int) -> object:
        """Send a request; gives its reply as JSON. The typed calls of the library check nothing more."""
        seed = self._decoding.seed_of(attempt)
        body: dict[str, object] = {"model": self._model}
        if self._decoding.api == "completions":
            body["prompt"] = prompt.text(query)
        else:
            turns = prompt.messages(query)
            body["messages"] = [{"role": turn.role, "content": turn.content} for turn in turns]
        body |= {
            "stream": False,
            **self._decoding.sent(self._decoding.longest(prompt), seed=seed),
            **self._decoding.extra_body,
        }
        path = "/completions" if self._decoding.api == "completions" else "/chat/completions"
        return await self._client.post(path, cast_to=object, body=body)

    def _read(self, completion: object) -> Reply:
        """The reply in a completion. Its shape is checked here."""
        choices = _of(completion, "choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = _of(choice, "message")
        text = _of(message, "content") if self._decoding.api == "chat" else _of(choice, "text")
        ended = _of(choice, "finish_reason")
        if ended == "content_filter" or _of(message, "refusal"):
            raise RequestError("refused by its filter")
        if text is None and ended == "length":  # a reasoning model that has used up its tokens with thinking
            text = ""
        if not isinstance(text, str):
            told = _told(_of(completion, "error"))
            message = self._shown(told or str(completion) or "nothing")
            raise RequestError("unreadable reply", message=message, again=True, unreadable=True)
        names = [_of(completion, name) for name in ("model", "system_fingerprint")]
        return Reply(
            text=self._address.cleared(text),
            cut=ended == "length",
            tokens=_tokens(_of(completion, "usage")),
            served=self._shown(" ".join(name for name in names if isinstance(name, str) and name)),
        )

    def _refusal(self, error: openai.APIStatusError) -> RequestError:
        status = error.status_code
        headers = error.response.headers
        spent = error.code == "insufficient_quota"
        again = (status in TRANSIENT or status >= 500) and headers.get("x-should-retry") != "false"
        return RequestError(
            str(status),
            message=self._shown(_told(error.body)),
            again=again and not spent,
            busy=status in BUSY,
            wait=_wait(headers),
            # OpenAI sends 429 for an exhausted quota; waiting does not help, so it counts as 402.
            status=402 if spent else status,
            field=error.param if isinstance(error.param, str) else "",
        )

    def _shown(self, text: str) -> str:
        line = " ".join(self._address.scrub(text).split())
        line = "".join(letter if letter.isprintable() else "?" for letter in line)
        return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _why(error: BaseException) -> str:
    """The operating system's message for a failed connection."""
    seen = 0
    cause: BaseException | None = error
    while cause is not None and seen < 10:  # exceptions may refer to each other in a circle
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        last, cause, seen = cause, cause.__cause__ or cause.__context__, seen + 1
    return str(last) or type(last).__name__


def _told(body: object) -> str:
    """The message in the body of a refusal, in the forms of common servers."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            # OpenAI: {"error": {"message": …}}; FastAPI: {"detail": …}; others: {"error": "…"}.
            if found := body.get(name):
                return _told(found)
        return ""
    if isinstance(body, list):
        return _told(body[0]) if body else ""
    text = str(body or "")
    return "" if text.lstrip().startswith("<") else text  # a proxy's page


def _of(value: object, name: str) -> object:
    """A member of a JSON object; `None` without it."""
    return value.get(name) if isinstance(value, Mapping) else None


def _tokens(usage: object) -> tuple[int, int] | None:
    into, out = _count(_of(usage, "prompt_tokens")), _count(_of(usage, "completion_tokens") or 0)
    return None if into is None or out is None else (into, out)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and is_whole(value) and value >= 0 else None


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds to wait by `Retry-After` (a number or a date) or `Retry-After-Ms`; 0 without them."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(0.0, seconds) if isfinite(seconds) else 0.0
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, moment.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0

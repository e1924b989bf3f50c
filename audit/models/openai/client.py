"""Sends one request with the `openai` library. Implements `EndpointClient`.

It does not repeat requests; `EndpointModel` does. Errors of the library contain the request with its headers
and so the key. So none of them leaves this module, not even as a cause (`from None`), and texts are scrubbed.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from math import hypot
from operator import mul
from typing import Any, Final

import httpx2
import openai
from typing_extensions import override

from codeaudit.audit.checks import is_number, is_whole
from codeaudit.audit.interface import OneLabel, OneNumber, OneWordOf, Ranking
from codeaudit.audit.models.answers import ranked_by
from codeaudit.audit.models.endpoints.client import (
    AUTHORIZATION,
    BUSY,
    TRANSIENT,
    EndpointAddress,
    EndpointClient,
    Reply,
    RequestError,
    passes_later,
    wait_of,
)
from codeaudit.audit.models.openai.decoding import EMBEDDINGS, TOKENS, Api, Decoding
from codeaudit.audit.models.openai.http import (
    LARGEST_REPLY,
    BoundedClient,
    RedirectedElsewhere,
    ReplyTooLarge,
)
from codeaudit.audit.models.openai.refusals import (
    CHAT,
    SYSTEM,
    exceeds,
    is_loading,
    is_of_size,
    is_page,
    is_unloadable,
    rejected,
    server_words,
    status_in,
)
from codeaudit.audit.models.openai.replies import NO_LEAD, choice_of, leads, of_responses, text_of, whole
from codeaudit.audit.prompts import Prompt, thinks
from codeaudit.audit.records import Query
from codeaudit.audit.registry import answer_kind

ANSWER: Final = "answer"


def structured(prompt: Prompt, query: Query, *, flat: bool) -> dict[str, object]:
    """The field of a request that asks for the object; `flat` as the interface `responses` has it."""
    # In this order, because a model writes the object from its beginning.
    members: dict[str, object] = {"thoughts": {"type": "string"}} if thinks(prompt) else {}
    members[ANSWER] = _answer(query)
    schema = {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
    about: dict[str, Any] = {"name": ANSWER, "strict": True, "schema": schema}
    if flat:
        return {"text": {"format": {"type": "json_schema", **about}}}
    return {"response_format": {"type": "json_schema", "json_schema": about}}


def _answer(query: Query) -> dict[str, object]:
    match answer_kind(query.task):
        case OneNumber():
            return {"type": "number"}
        case Ranking():
            return {"type": "integer"}
        case OneWordOf(words=words):
            return {"type": "string", "enum": list(words)}
        case OneLabel() if query.labels:
            return {"type": "string", "enum": list(query.labels)}
        case _:
            return {"type": "string"}


def answer_in(text: str) -> str | None:
    """The answer in such a reply; `None` if it is no such object, as of a server that ignores the field."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    answer = content.get(ANSWER) if isinstance(content, Mapping) else None
    if isinstance(answer, bool):
        return str(answer).lower()
    return str(answer) if isinstance(answer, str | int | float) else None


def vectors_in(reply: object) -> list[list[float]] | None:
    """The vectors of a reply by their indices, all of one length; `None` if it has no such list."""
    rows = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    # Servers may answer in any order. One that gives no indices keeps that of the texts.
    vectors: dict[object, list[float]] = {}
    for place, row in enumerate(rows):
        vector, index = row.get("embedding"), row.get("index", place)
        if not (isinstance(vector, list) and all(map(is_number, vector)) and any(vector) and is_whole(index)):
            return None
        vectors[index] = list(map(float, vector))
    sizes = set(map(len, vectors.values()))
    return (
        [vectors[place] for place in range(len(rows))]
        if vectors.keys() == set(range(len(rows))) and len(sizes) < 2
        else None
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, none of which is zero."""
    return float(sum(map(mul, one, other))) / (hypot(*one) * hypot(*other))


LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=1000)
"""No limit on connections: the layer above decides how many requests run at once, and reuses connections."""
STREAM: Final = "stream"
PATHS: Final[Mapping[Api, str]] = {
    "chat": "/chat/completions",
    "completions": "/completions",
    "responses": "/responses",
    EMBEDDINGS: "/embeddings",
}
"""By interface."""
NO_KEY: Final = "none"
"""Sent if there is no key, because the library always sends one."""
CONNECT: Final = 5.0
"""Largest number of seconds to connect, because nobody answers at a wrong address."""
VERSION: Final = re.compile(r"/v\d")
"""In the addresses of most endpoints."""


class Client(EndpointClient):
    """Sends requests for one model to one endpoint. It belongs to the event loop that first uses it."""

    def __init__(self, address: EndpointAddress, model: str, decoding: Decoding, timeout: float) -> None:
        self._address = address
        self._model = model
        self._decoding = decoding
        self._stream: bool | None = decoding.stream
        """Whether replies are asked for as streams; `None`: the field is not sent. Refusals change it."""
        self._tokens_field = decoding.tokens_field
        """The name of the limit on tokens. A refusal that names another one changes it."""
        self._timeout = timeout
        limits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT))
        # The library would send one even without a key.
        self._headers = {AUTHORIZATION: openai.Omit()} if address.keyless else {}
        self._client = openai.AsyncOpenAI(
            api_key=address.key or NO_KEY,
            base_url=address.url,
            default_headers=address.headers,
            default_query=address.query,
            timeout=limits,
            max_retries=0,
            http_client=self._http(timeout, LARGEST_REPLY),
        )

    def _http(self, timeout: float, largest: int) -> BoundedClient:
        """An HTTP client that reads no larger reply than `largest` bytes."""
        proxy = self._address.proxy
        return BoundedClient(
            base_url=self._address.url,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT)),
            largest=largest,
            # With a transport of our own the library does not look for a proxy in the environment.
            transport=httpx2.AsyncHTTPTransport(limits=LIMITS, proxy=proxy.url if proxy else None),
        )

    @override
    async def close(self) -> None:
        await self._client.close()

    @override
    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """The seed depends on `attempt` if several answers are drawn."""
        body = self._body(prompt, query, attempt)
        async with self._failures(body), asyncio.timeout(self._timeout):
            reply = await self._send(body)
            return self._ranked(reply, query) if self._decoding.api == EMBEDDINGS else self._read(reply)

    @asynccontextmanager
    async def _failures(self, sent: Mapping[str, object]) -> AsyncIterator[None]:
        """Turns every failure of a request with this body into a `RequestError`."""
        try:
            yield
        except (TimeoutError, openai.APITimeoutError) as error:
            unreachable = type(error.__cause__).__name__ == "ConnectTimeout"
            raise RequestError("timeout", again=True, busy=not unreachable, unreachable=unreachable) from None
        except openai.APIConnectionError as error:
            unreachable = type(error.__cause__).__name__ == "ConnectError"
            reason = "unreachable" if unreachable else "connection broken"
            why = self._address.line(_why(error))
            if self._address.url.startswith("https:") and "WRONG_VERSION" in why:
                why = "it does not speak https; try http://"
            raise RequestError(
                reason, message=why, again=True, unreachable=unreachable, broken=not unreachable
            ) from None
        except openai.APIStatusError as error:
            raise self._refusal(error, sent) from None
        except ReplyTooLarge as error:
            raise RequestError("reply too large", message=str(error)) from None
        except RedirectedElsewhere as error:
            raise RequestError("redirect", elsewhere=self._address.line(str(error))) from None
        except RequestError:  # from `_read`, with its own reason
            raise
        except Exception as error:  # the library does not check replies, so any error may occur
            message = type(error).__name__
            raise RequestError("unreadable reply", message=message, again=True, unreadable=True) from None

    def _body(self, prompt: Prompt, query: Query, attempt: int) -> dict[str, object]:
        """The body of a request."""
        decoding = self._decoding
        body: dict[str, object] = {"model": self._model}
        if decoding.api == EMBEDDINGS:
            # As numbers: the library would ask for packed ones, which not every server sends.
            texts = [query.text or query.source, *query.candidates]
            return body | {"input": texts, "encoding_format": "float", **decoding.extra_body}
        if decoding.api == "completions":
            body["prompt"] = prompt.text(query)
        else:
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages(query)]
            body["input" if decoding.api == "responses" else "messages"] = turns
        if decoding.api == "responses":
            body["store"] = False  # the vendor keeps nothing
        elif self._stream is not None:
            body["stream"] = self._stream
        fields = decoding.sent(decoding.longest(prompt), seed=decoding.seed_of(attempt))
        if decoding.tokens_field in fields:
            fields[self._tokens_field] = fields.pop(decoding.tokens_field)
        if decoding.structured:
            fields |= structured(prompt, query, flat=decoding.api == "responses")
        return body | {**fields, **decoding.extra_body}

    async def _send(self, body: Mapping[str, object]) -> object:
        """Send a request; gives its reply as JSON, or as a text if it is none."""
        path = PATHS[self._decoding.api]
        # The typed calls of the library check nothing more, and know no stream that nobody asked for.
        response = await self._client.post(
            path, cast_to=httpx2.Response, body=body, options={"headers": self._headers}
        )
        return of_responses(whole(response.text))

    def _read(self, completion: object) -> Reply:
        """The reply in a completion. Its shape is checked here."""
        choice = choice_of(completion)
        if choice is None:
            raise self._unreadable(completion, foreign=True)
        message = text_of(choice, chat=self._decoding.api != "completions")
        ended = choice.get("finish_reason")
        if ended == "content_filter" or message.refused:
            raise RequestError("refused by its filter")
        # A reasoning model that has used up its tokens with thinking was cut off.
        cut = ended == "length"
        if message.text is None and not (cut or message.thought):
            raise self._unreadable(completion)
        names = [_of(completion, name) for name in ("model", "system_fingerprint")]
        text = self._address.cleared(message.text or "")
        likely = leads(choice) if self._decoding.logprobs and self._decoding.samples == 1 else NO_LEAD
        return Reply(
            text=text,
            margin=likely.margin,
            scores=likely.scores,
            inside=answer_in(text) if self._decoding.structured else None,
            cut=cut,
            thought="" if cut else message.thought,
            tokens=_tokens(_of(completion, "usage")),
            served=self._address.line(" ".join(name for name in names if isinstance(name, str) and name)),
        )

    def _ranked(self, reply: object, query: Query) -> Reply:
        """The ranking of the candidates by the cosine of their embeddings with that of the query."""
        vectors = vectors_in(reply)
        if vectors is None or len(vectors) != 1 + len(query.candidates):
            raise self._unreadable(reply, foreign=vectors is None)
        words, *candidates = vectors
        ranked = ranked_by([cosine(words, candidate) for candidate in candidates])
        served = _of(reply, "model")
        return Reply(
            text=", ".join(map(str, ranked.answer)) if isinstance(ranked.answer, tuple) else "",
            scores=ranked.scores,
            tokens=_tokens(_of(reply, "usage")),
            served=self._address.line(served) if isinstance(served, str) else "",
        )

    def _unreadable(self, completion: object, *, foreign: bool = False) -> RequestError:
        page = isinstance(completion, str) and is_page(completion)
        fault = _of(completion, "error")
        if isinstance(fault, str) and fault:  # the words alone
            fault = {**completion} if isinstance(completion, Mapping) else {}
        if isinstance(fault, Mapping) and VERSION.search(self._address.url):
            return self._fault(completion, fault)
        words = "a web page" if page else server_words(completion) or str(completion)
        return RequestError(
            "unreadable reply",
            message=self._address.line(words) or "nothing",
            again=True,
            unreadable=True,
            foreign=foreign,
        )

    def _fault(self, completion: object, fault: Mapping[str, object]) -> RequestError:
        """The refusal in a reply with status 200: routers hand on errors of the servers behind them so."""
        words = server_words(completion)
        status = status_in(fault, words)
        return RequestError(
            str(status),
            message=self._address.line(words),
            again=status in TRANSIENT or status >= 500,
            busy=status in BUSY,
            status=status,
            sized=is_of_size(words),
        )

    def _refusal(self, error: openai.APIStatusError, sent: Mapping[str, object]) -> RequestError:
        # The library hands on what stands in `error`, or the whole body.
        return self._refused(error.status_code, error.response.headers, error.body, sent)

    def _refused(
        self, status: int, headers: Mapping[str, str], body: object, sent: Mapping[str, object]
    ) -> RequestError:
        words = server_words(body)
        if status == 500 and exceeds(words):
            status = 400
        spent = _of(body, "code") == "insufficient_quota"
        passes = passes_later(status)
        again = passes and headers.get("x-should-retry") != "false"
        page = isinstance(body, str) and is_page(body)
        field = rejected(body, words, _fields(sent))
        # Some servers only stream, some do not know the field. The answers are the same: each way is tried.
        other = (field == STREAM and self._streams_otherwise(sent)) or self._limits_otherwise(words, sent)
        return RequestError(
            str(status),
            message=self._address.line("a web page" if page else words),
            again=(again and not spent) or other,
            busy=status in BUSY and not other,
            wait=wait_of(headers),
            # OpenAI sends 429 for an exhausted quota; waiting does not help, so it counts as 402.
            status=402 if spent else status,
            field="" if other else field,
            sized=status == 413 or is_of_size(words),
            foreign=page,
            loading=status == 503 and is_loading(words),
            unloadable=status >= 500 and is_unloadable(words),
        )

    def _streams_otherwise(self, sent: Mapping[str, object]) -> bool:
        """Whether a request that was refused for its field `stream` may be sent with another one."""
        if sent.get(STREAM) == self._stream:
            self._stream = None if self._stream else True
        return sent.get(STREAM) != self._stream

    def _limits_otherwise(self, words: str, sent: Mapping[str, object]) -> bool:
        """Whether a request that was refused for the name of its limit may be sent with the other name, which
        the refusal says."""
        for one, other in (TOKENS, TOKENS[::-1]):
            if one in sent and f"'{other}' instead" in words.replace("`", "'").replace('"', "'"):
                self._tokens_field = other
                return True
        return False


def _why(error: BaseException) -> str:
    """The operating system's message for a failed connection."""
    depth = 0
    cause: BaseException | None = error
    while cause is not None and depth < 10:  # exceptions may refer to each other in a circle
        if isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        last, cause, depth = cause, cause.__cause__ or cause.__context__, depth + 1
    return str(last) or type(last).__name__


def _fields(body: Mapping[str, object]) -> frozenset[str]:
    """The fields of a request that a user can change."""
    turns = body.get("messages") or body.get("input")
    system = isinstance(turns, list) and any(turn["role"] == SYSTEM for turn in turns)
    turned = ({SYSTEM} if system else set()) | ({CHAT} if "messages" in body else set())
    return frozenset(body) - {"messages", "prompt", "input", "store"} | turned


def _of(value: object, name: str) -> object:
    """A member of a JSON object; `None` without it."""
    return value.get(name) if isinstance(value, Mapping) else None


def _tokens(usage: object) -> tuple[int, int] | None:
    into, out = _count(_of(usage, "prompt_tokens")), _count(_of(usage, "completion_tokens") or 0)
    return None if into is None or out is None else (into, out)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and is_whole(value) and value >= 0 else None

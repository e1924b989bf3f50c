"""Sends one request through inspect-ai. Implements `EndpointClient`.

The provider object of inspect-ai is asked directly: the layer above it repeats requests, caches answers and
keeps a record of every one, all of which is done elsewhere here. Errors of the vendors' libraries contain the
request and may contain the key. So none of them leaves this module, and texts are scrubbed.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import httpx2
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    GenerateConfig,
    Logprobs,
    Model,
    ModelOutput,
    get_model,
)
from typing_extensions import override

from codeaudit.audit.models.endpoints.client import (
    BUSY,
    EndpointAddress,
    EndpointClient,
    Reply,
    RequestError,
    passes_later,
    wait_of,
)
from codeaudit.audit.models.inspect.decoding import LIKELIEST, LOGPROBS, VendorDecoding
from codeaudit.audit.models.openai.client import CONNECT, LIMITS
from codeaudit.audit.models.openai.http import BoundedClient, RedirectedElsewhere, ReplyTooLarge
from codeaudit.audit.models.openai.refusals import is_of_size, is_page, rejected, server_words
from codeaudit.audit.models.openai.replies import NO_LEAD, Lead, leads
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query
from codeaudit.transforms.errors import ModelError

DEEPEST: Final = 8
"""How far causes of an error are followed; they may refer to each other in a circle."""
NOTHING: Final = "(no content)"
"""What inspect-ai writes where a vendor gave nothing."""
AT_ONCE: Final = 100_000
"""Connections; the layer above decides how many requests run at once."""
_ABSENT: Final = frozenset({"ConnectError", "ConnectionRefusedError", "gaierror", "ClientConnectorError"})
"""Errors of several libraries where nobody answers at an address."""
_ROLES: Final[Mapping[str, Any]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class InspectClient(EndpointClient):
    """Sends requests for one model of one vendor. It belongs to the event loop that first uses it."""

    transports: type[BoundedClient] = BoundedClient
    arguments: Mapping[str, object] = {}
    """Further arguments for the model of inspect-ai."""

    def __init__(
        self,
        spec: str,
        where: EndpointAddress,
        base_url: str | None,
        generation: VendorDecoding,
        timeout: float,
    ) -> None:
        theirs = logging.getLogger("inspect_ai")
        theirs.addHandler(_FORWARDED)  # once, however often it is added
        theirs.propagate = False
        self._address = where
        self._generation = generation
        self._timeout = timeout
        self._warned = False
        """Whether the user knows that the vendor gives no log-probabilities."""
        self._http = self.transports(
            base_url=where.url,
            timeout=httpx2.Timeout(None, connect=CONNECT),
            transport=httpx2.AsyncHTTPTransport(limits=LIMITS),
        )
        self._model = _model(spec, where, base_url, self._http, self.arguments)

    @override
    async def close(self) -> None:
        with suppress(Exception):  # not every vendor's library can
            await self._model.api.aclose()
        await self._http.aclose()

    @override
    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """The seed depends on `attempt` if several answers are drawn."""
        turns: list[ChatMessage] = [
            _ROLES[message.role](content=message.content) for message in prompt.messages(query)
        ]
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._model.api.generate(
                    input=turns, tools=[], tool_choice="none", config=self._config(prompt, attempt)
                )
            output = answer[0] if isinstance(answer, tuple) else answer
            if isinstance(output, BaseException):
                raise output
            return self._read(output)
        except TimeoutError:
            raise RequestError("timeout", again=True, busy=True) from None
        except RequestError:
            raise
        except Exception as error:  # each vendor's library has errors of its own
            raise self._failure(error) from None

    def _config(self, prompt: Prompt, attempt: int) -> GenerateConfig:
        generation = self._generation
        longest = generation.longest(prompt)
        config = GenerateConfig(
            temperature=generation.temperature,
            seed=generation.seed_of(attempt),
            max_tokens=longest,
            max_retries=0,
            max_connections=AT_ONCE,
            # To find out whether reasoning may be summarised, OpenAI would be asked something else first.
            **{"cache_prompt": False, "reasoning_summary": "none", **generation.options},
            **({"logprobs": True, "top_logprobs": LIKELIEST} if generation.logprobs else {}),
        )
        if longest is None:  # some vendors want a number
            api = self._model.api
            config.max_tokens = api.max_tokens_for_config(config) or api.max_tokens()
        return config

    def _read(self, output: ModelOutput) -> Reply:
        if output.error or not output.choices:
            words = self._address.line(output.error or "no choice")
            raise RequestError("unreadable reply", message=words, again=True, unreadable=True)
        if output.stop_reason == "content_filter":
            raise RequestError("refused by its filter")
        content = output.choices[0].message.content
        text = "" if output.completion == NOTHING else output.completion
        parts = content if isinstance(content, list) else []
        thought = not text and any(isinstance(part, ContentReasoning) for part in parts)
        cut = output.stop_reason in ("max_tokens", "model_length")
        if not text and not (cut or thought):
            raise RequestError("unreadable reply", message="nothing", again=True, unreadable=True)
        usage, likely = output.usage, self._likely(output.choices[0].logprobs, text)
        read = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0) if usage else 0
        return Reply(
            text=self._address.cleared(text),
            margin=likely.margin,
            scores=likely.scores,
            cut=cut,
            thought="reasoning" if thought and not cut else "",
            tokens=(usage.input_tokens + read, usage.output_tokens) if usage else None,
            served=self._address.line(output.model or ""),
        )

    def _likely(self, logprobs: Logprobs | None, text: str) -> Lead:
        """What the log-probabilities of a reply say; inspect-ai gives all in the form of OpenAI's chats."""
        if not self._generation.logprobs or self._generation.samples > 1:
            return NO_LEAD
        if logprobs is None:
            if not self._warned:
                self._warned = True
                _log.warning("codeaudit: the vendor gives no log-probabilities; answers have no margins")
            return NO_LEAD
        # inspect-ai drops tokens of Google's that are certain; without the first one, another would be read.
        content = "".join(place.token for place in logprobs.content).strip()
        return leads({"logprobs": logprobs.model_dump()}) if content.startswith(text.strip()) else NO_LEAD

    def _failure(self, error: Exception) -> RequestError:
        """What an error of a vendor's library means."""
        chain = list(_causes(error))
        for cause in chain:
            if isinstance(cause, RedirectedElsewhere):
                return RequestError("redirect", elsewhere=self._address.line(str(cause)))
            if isinstance(cause, ReplyTooLarge):
                return RequestError("reply too large", message=str(cause))
        status = next(filter(None, map(_status, chain)), None)
        if status is None:
            return self._without_status(chain)
        body = next((content for cause in chain if (content := _body(cause))), "")
        page = isinstance(body, str) and is_page(body)
        words = "a web page" if page else server_words(body)
        passes = passes_later(status)
        spent = "insufficient_quota" in str(body)
        return RequestError(
            str(status),
            message=self._address.line(words),
            again=passes and not spent,
            busy=status in BUSY,
            wait=max(wait_of(_headers(cause)) for cause in chain),
            status=402 if spent else status,
            field=rejected(
                body, words, ("temperature", "seed", "max_tokens", *LOGPROBS, *self._generation.options)
            ),
            sized=status == 413 or is_of_size(words),
            foreign=page,
            elsewhere=self._address.line(_target(chain)) if 300 <= status < 400 else "",
        )

    def _without_status(self, chain: Sequence[BaseException]) -> RequestError:
        """What an error means that came before a response, or behind one that nobody can read."""
        names = {kind.__name__ for cause in chain for kind in type(cause).__mro__}
        if any("Timeout" in name for name in names):
            far = any("ConnectTimeout" in name for name in names)
            return RequestError("timeout", again=True, busy=not far, unreachable=far)
        if not names.isdisjoint(_ABSENT):
            words = self._address.line(str(chain[-1]))
            return RequestError("unreachable", message=words, again=True, unreachable=True)
        if any(part in name for name in names for part in ("Connection", "Protocol", "ReadError")):
            return RequestError("connection broken", again=True, broken=True)
        kind = type(chain[0]).__name__
        return RequestError("unreadable reply", message=kind, again=True, unreadable=True)


def _model(
    spec: str,
    where: EndpointAddress,
    base_url: str | None,
    http: BoundedClient,
    arguments: Mapping[str, object],
) -> Model:
    """The model of inspect-ai, with our client of HTTP where its package takes one.

    Raises:
        ModelError: inspect-ai knows no such vendor, or lacks the package for it.
    """
    try:
        model = get_model(spec, base_url=base_url, api_key=where.key or None, memoize=False, **arguments)
    except Exception as error:  # it raises its own kinds, some of them with colours in their texts
        raise ModelError(f"inspect-ai cannot use {spec!r}: {where.line(str(error))}") from None
    api: Any = model.api
    client: Any = getattr(api, "client", None)
    if hasattr(client, "with_options"):  # the packages of OpenAI, Anthropic and Groq are made alike
        try:
            api.client = client.with_options(max_retries=0, http_client=http)
        except TypeError:  # it is built on another HTTP library
            api.client = client.with_options(max_retries=0)
    elif hasattr(api, "model_client"):  # Google's makes a client for each request
        make = api.model_client

        def model_client(options: Any) -> Any:
            options.httpx_async_client = http
            return make(options)

        api.model_client = model_client
    return model


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(DEEPEST):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _status(error: BaseException) -> int | None:
    """The status of HTTP in an error of any vendor's library."""
    response = getattr(error, "response", None)
    places = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(error, "status", None),
        getattr(response, "status_code", None),
        # boto
        response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None,
    )
    return next((status for status in places if isinstance(status, int) and 300 <= status < 600), None)


def _body(error: BaseException) -> object:
    """The words of the vendor in an error."""
    for name in ("body", "details", "error", "message"):
        words = getattr(error, name, None)
        if words and not callable(words):
            return words
    return ""


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _target(chain: list[BaseException]) -> str:
    return next(
        (location for error in chain if (location := _headers(error).get("location", ""))), "another place"
    )


class _Forwarded(logging.Handler):
    """Tells each message of inspect-ai once, as ours: it repeats them with every request."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Tell a message that is new."""
        text = " ".join(record.getMessage().split())
        if text not in self._seen and not text.startswith("Hooks:"):  # about its own record of requests
            self._seen.add(text)
            _log.warning("codeaudit: inspect-ai: %s", text)


_log: Final = logging.getLogger(__name__)
_FORWARDED: Final = _Forwarded()

"""Sends batches to Anthropic's Message Batches. Implements `BatchClient`.

inspect-ai makes each request and reads each answer, as for single ones: what it would send is taken from it,
and what came is handed to it as the reply. So the same query is the same request in a batch.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import httpx2
from typing_extensions import override

from codeaudit.audit.models.endpoints.batches import BatchClient, BatchState
from codeaudit.audit.models.endpoints.client import EndpointAddress, Reply, RequestError
from codeaudit.audit.models.inspect.client import InspectClient
from codeaudit.audit.models.inspect.decoding import VendorDecoding
from codeaudit.audit.models.openai.batches import LARGEST_FILE, PAGE, PAGES, SLOWEST
from codeaudit.audit.models.openai.http import BoundedClient
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query
from codeaudit.transforms.errors import ModelError

PATH: Final = "/v1/messages/batches"
HEAD: Final = b'{"custom_id":"'
KEY: Final = 20
"""Letters of a batch's key that begin the name of each of its requests: a name has 64 at most."""
SKEW: Final = 600.0
"""Seconds by which the vendor's clock may be behind ours."""
WAIT: Final = 30.0
"""Seconds between two looks at a batch that may be the one that is looked for."""
STATUSES: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""By the type of an error in a batch, the status that a single request gets; 500 for others."""


@dataclass(slots=True)
class _Played:
    """A request of inspect-ai that is not sent."""

    reply: object = None
    """What it is answered with; `None`: nothing."""
    status: int = 200
    sent: dict[str, Any] | None = None
    """Its body."""


_PLAYED: ContextVar[_Played | None] = ContextVar("played", default=None)


class _RefusedError(Exception):
    """A refusal, with the parts that errors of the vendors' libraries have."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response
        self.body = response.text


class PlayedClient(BoundedClient):
    """Sends requests, except for those that are played."""

    @override
    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        played = _PLAYED.get()
        if played is None:
            return await super().send(request, **options)
        played.sent = json.loads(request.content)
        if played.reply is None:
            raise httpx2.ConnectError("not sent", request=request)
        return httpx2.Response(played.status, json=played.reply, request=request)


class AnthropicBatches(InspectClient, BatchClient):
    """Sends batches, and single requests as every client."""

    transports = PlayedClient
    arguments: Mapping[str, object] = {"streaming": False}

    def __init__(
        self,
        spec: str,
        where: EndpointAddress,
        base_url: str | None,
        generation: VendorDecoding,
        timeout: float,
    ) -> None:
        super().__init__(spec, where, base_url, generation, timeout)
        self._slowest = max(timeout, SLOWEST)
        self._large = BoundedClient(
            largest=LARGEST_FILE,
            timeout=httpx2.Timeout(self._slowest),
            transport=httpx2.AsyncHTTPTransport(),
        )

    @override
    async def close(self) -> None:
        await self._large.aclose()
        await super().close()

    @override
    async def line(self, name: str, prompt: Prompt, query: Query, number: int) -> bytes:
        played = _Played()
        with suppress(RequestError):
            await self._play(played, prompt, query, number)
        if played.sent is None:
            raise ModelError("inspect-ai made no request that a batch could hold; leave out -M batch")
        played.sent.pop("stream", None)
        params = json.dumps(played.sent, separators=(",", ":")).encode()
        return HEAD + name.encode() + b'","params":' + params + b"}"

    @override
    async def submit(self, key: str, lines: Sequence[bytes]) -> str:
        """The names of the requests have the key, because nothing else has one."""
        named = [HEAD + key[:KEY].encode() + b"-" + line.removeprefix(HEAD) for line in lines]
        batch = await self._call("POST", "", b'{"requests":[' + b",".join(named) + b"]}")
        if not isinstance(name := batch.get("id"), str) or not name:
            raise RequestError("unreadable reply", message="no id", again=True)
        return name

    @override
    async def find(self, key: str, *, made: float, count: int) -> str:
        """Only the answers of a batch have its key; others may be waited for."""
        while True:
            waiting = False
            async for batch in self._recent(made - SKEW):
                if sum(_counts(batch).values()) != count:
                    continue
                if batch.get("processing_status") != "ended":
                    waiting = True
                elif any(name.startswith(f"{key[:KEY]}-") for name, _ in await self._lines(str(batch["id"]))):
                    return str(batch["id"])
            if not waiting:
                return ""
            await asyncio.sleep(WAIT)

    @override
    async def look(self, batch: str) -> BatchState:
        state = await self._call("GET", f"/{batch}")
        counts = _counts(state)
        total = sum(counts.values())
        return BatchState(
            id=self._address.line(batch),
            status=self._address.line(str(state.get("processing_status", ""))),
            ended=state.get("processing_status") == "ended",
            done=total - counts.get("processing", 0),
            total=total,
            expired=bool(counts.get("expired")),
            cancelled=bool(counts.get("canceled")),
            files=(batch,),
        )

    @override
    async def results(
        self, state: BatchState, prompt: Prompt, query: Query
    ) -> list[tuple[str, Reply | RequestError]]:
        """What expired or was cancelled has no line."""
        outcomes: list[tuple[str, Reply | RequestError]] = []
        for name, result in await self._lines(state.files[0]):
            message, kind = result.get("message"), result.get("type")
            if kind == "succeeded":
                played = _Played(message)
            elif kind == "errored":
                error = result.get("error")
                inner = error.get("error") if isinstance(error, dict) else None
                fault = inner.get("type") if isinstance(inner, dict) else None
                played = _Played(error, STATUSES.get(str(fault), 500))
            else:
                continue
            try:
                outcome: Reply | RequestError = await self._play(played, prompt, query, 0)
            except RequestError as failed:
                # What was answered was paid for, and another answer would be, too.
                failed.again = failed.again and kind == "errored"
                outcome = failed
            outcomes.append((name.partition("-")[2], outcome))
        return outcomes

    async def _play(self, played: _Played, prompt: Prompt, query: Query, number: int) -> Reply:
        before = _PLAYED.set(played)
        try:
            return await super().ask(prompt, query, number)
        finally:
            _PLAYED.reset(before)

    async def _recent(self, since: float) -> AsyncIterator[dict[str, Any]]:
        """The batches that were made since then, the newest first."""
        after = ""
        for _ in range(PAGES):
            page = await self._call("GET", f"?limit={PAGE}{f'&after_id={after}' if after else ''}")
            listed = page.get("data")
            batches = (
                [batch for batch in listed if isinstance(batch, dict)] if isinstance(listed, list) else []
            )
            for batch in batches:
                if datetime.fromisoformat(str(batch["created_at"])).timestamp() < since:
                    return
                yield batch
            if page.get("has_more") is not True or not batches:
                return
            after = str(batches[-1].get("id", ""))

    async def _lines(self, batch: str) -> list[tuple[str, dict[str, Any]]]:
        """The names and results in the file of answers of a batch."""
        async with self._failures():
            # By the path and not by the address that the vendor tells: nothing is asked elsewhere.
            data = (await self._answer("GET", f"/{batch}/results")).content
        results = []
        for line in data.splitlines():
            with suppress(ValueError, RecursionError, AttributeError):
                answer = json.loads(line)
                result = answer.get("result")
                results.append((str(answer.get("custom_id", "")), result if isinstance(result, dict) else {}))
        return results

    async def _call(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        async with self._failures():
            reply = (await self._answer(method, path, body)).json()
            if not isinstance(reply, dict):
                raise RequestError("unreadable reply", message="no object", again=True)
            return reply

    async def _answer(self, method: str, path: str, body: bytes | None = None) -> httpx2.Response:
        client: Any = self._model.api.client
        defaults = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
        key = {"x-api-key": self._address.key} if self._address.key else {}
        headers = {**defaults, **key, "content-type": "application/json"}
        url = f"{str(client.base_url).rstrip('/')}{PATH}{path}"
        request = self._large.build_request(method, url, content=body, headers=headers)
        response = await self._large.send(request)
        if response.is_error:
            raise _RefusedError(response)
        return response

    @asynccontextmanager
    async def _failures(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._slowest):
                yield
        except TimeoutError:
            raise RequestError("timeout", again=True) from None
        except RequestError:
            raise
        except Exception as error:  # as for single requests
            raise self._failure(error) from None


def _counts(batch: Mapping[str, Any]) -> dict[str, int]:
    counts = batch.get("request_counts")
    numbers = counts if isinstance(counts, dict) else {}
    return {name: number for name, number in numbers.items() if isinstance(number, int)}

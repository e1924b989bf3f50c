"""Sends batches to OpenAI's Batch API: a file of requests, a batch of the file, and files of answers."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import httpx2
from typing_extensions import override

from codeaudit.audit.models.endpoints.batches import BatchClient, BatchState
from codeaudit.audit.models.endpoints.client import EndpointAddress, Reply, RequestError
from codeaudit.audit.models.openai.client import PATHS, Client
from codeaudit.audit.models.openai.decoding import Decoding
from codeaudit.audit.models.openai.refusals import server_words
from codeaudit.audit.models.openai.replies import of_responses
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query

LARGEST_FILE: Final = 1 << 30
"""Bytes of a file of answers."""
SLOWEST: Final = 600.0
"""Fewest seconds for a file to be sent or fetched."""
KEY: Final = "codeaudit"
"""The name of the key in the metadata of a batch."""
PAGE: Final = 100
"""Batches in a part of the list of all; the largest that OpenAI gives."""
PAGES: Final = 100
"""Parts of the list that are read; the newest batches come first."""
ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
WAITING: Final = "token_limit_exceeded"
"""The code of a batch that was refused because too many tokens wait already."""


class BatchingClient(Client, BatchClient):
    """Implements `BatchClient`."""

    def __init__(self, address: EndpointAddress, model: str, decoding: Decoding, timeout: float) -> None:
        super().__init__(address, model, decoding, timeout)
        self._slowest = max(timeout, SLOWEST)
        self._files = self._client.with_options(
            timeout=self._slowest, http_client=self._http(self._slowest, LARGEST_FILE)
        )

    @override
    async def close(self) -> None:
        await self._files.close()
        await super().close()

    @override
    async def line(self, name: str, prompt: Prompt, query: Query, number: int) -> bytes:
        body = self._body(prompt, query, number)
        body.pop("stream", None)
        # The path as OpenAI knows it, wherever the server has it.
        line = {"custom_id": name, "method": "POST", "url": self._path, "body": body}
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"

    @override
    async def submit(self, key: str, lines: Sequence[bytes]) -> str:
        async with self._failures({}), asyncio.timeout(self._slowest):
            sent = await self._files.post(
                "/files",
                cast_to=httpx2.Response,
                body={"purpose": "batch"},
                files={"file": (f"codeaudit-{key}.jsonl", b"".join(lines), "application/jsonl")},
                options={"headers": {**self._headers, "Content-Type": "multipart/form-data"}},
            )
            file = self._named(sent)
            batch = await self._client.post(
                "/batches",
                cast_to=httpx2.Response,
                body={
                    "input_file_id": file,
                    "endpoint": self._path,
                    "completion_window": "24h",
                    "metadata": {KEY: key},
                },
                options={"headers": self._headers},
            )
            return self._named(batch)

    @override
    async def find(self, key: str, *, made: float, count: int) -> str:
        after = ""
        for _ in range(PAGES):
            page = await self._get("/batches", {"limit": PAGE, **({"after": after} if after else {})})
            listed = page.get("data")
            batches = (
                [batch for batch in listed if isinstance(batch, dict)] if isinstance(listed, list) else []
            )
            for batch in batches:
                metadata = batch.get("metadata")
                if isinstance(metadata, dict) and metadata.get(KEY) == key:
                    return str(batch.get("id", ""))
            if page.get("has_more") is not True or not batches:
                return ""
            after = str(batches[-1].get("id", ""))
        return ""

    @override
    async def look(self, batch: str) -> BatchState:
        state = await self._get(f"/batches/{batch}", {})
        status = str(state.get("status", ""))
        counts = state.get("request_counts")
        done, failed, total = (
            value if isinstance(counts, dict) and isinstance(value := counts.get(name), int) else 0
            for name in ("completed", "failed", "total")
        )
        errors = state.get("errors")
        faults = errors.get("data") if isinstance(errors, dict) else None
        codes = (
            [fault.get("code") for fault in faults if isinstance(fault, dict)]
            if isinstance(faults, list)
            else []
        )
        names = (state.get(name) for name in ("output_file_id", "error_file_id"))
        return BatchState(
            id=self._address.line(batch),
            status=self._address.line(status),
            ended=status in ENDED,
            done=done + failed,
            total=total,
            expired=status == "expired",
            cancelled=status == "cancelled",
            fault=self._address.line(server_words(faults) or "no reason") if status == "failed" else "",
            too_large=WAITING in codes,
            files=tuple(name for name in names if isinstance(name, str) and name),
        )

    @override
    async def results(
        self, state: BatchState, prompt: Prompt, query: Query
    ) -> list[tuple[str, Reply | RequestError]]:
        sent = self._body(prompt, query, 0)
        outcomes: list[tuple[str, Reply | RequestError]] = []
        for name in state.files:
            async with self._failures({}), asyncio.timeout(self._slowest):
                response = await self._files.get(
                    f"/files/{name}/content", cast_to=httpx2.Response, options={"headers": self._headers}
                )
                outcomes += [self._outcome(line, sent) for line in _lines(response.content)]
        return outcomes

    def _outcome(
        self, line: Mapping[str, Any], sent: Mapping[str, object]
    ) -> tuple[str, Reply | RequestError]:
        """What a line of a file of answers says."""
        name = line.get("custom_id")
        name = name if isinstance(name, str) else ""
        response = line.get("response")
        if not isinstance(response, dict):
            error = line.get("error")
            code = error.get("code") if isinstance(error, dict) else None
            # What was not answered in time was not worked on.
            return name, RequestError(
                self._address.line(str(code or "no response in its batch")),
                message=self._address.line(server_words(error)),
                again=code == "batch_expired",
            )
        status, body = response.get("status_code"), response.get("body")
        if isinstance(status, int) and status >= 400:
            inner = body.get("error", body) if isinstance(body, dict) else body
            return name, self._refused(status, {}, inner, sent)
        try:
            return name, self._read(of_responses(body))
        except RequestError as error:
            # It was paid for, and another one would be, too.
            error.again = False
            return name, error

    async def _get(self, path: str, query: Mapping[str, object]) -> dict[str, Any]:
        async with self._failures({}), asyncio.timeout(self._timeout):
            response = await self._client.get(
                path, cast_to=httpx2.Response, options={"headers": self._headers, "params": query}
            )
            reply = json.loads(response.text)
            if not isinstance(reply, dict):
                raise RequestError("unreadable reply", message="no object", again=True)
            return reply

    def _named(self, response: httpx2.Response) -> str:
        """The id of the file or batch that was made.

        Raises:
            RequestError: the reply has none.
        """
        reply = json.loads(response.text)
        name = reply.get("id") if isinstance(reply, dict) else None
        if not isinstance(name, str) or not name:
            raise RequestError("unreadable reply", message="no id", again=True)
        return name

    @property
    def _path(self) -> str:
        return f"/v1{PATHS[self._decoding.api]}"


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects in the lines of a file; what is none is an object without a name."""
    for line in data.splitlines():
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            yield record if isinstance(record, dict) else {}

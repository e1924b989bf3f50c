"""The event loop of the requests to an endpoint, and the count of what they cost."""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from codeaudit.audit.models.endpoints.arguments import Prices
from codeaudit.audit.models.endpoints.client import EndpointClient

CLOSING: Final = 2.0
"""Seconds that connections have to close."""


class LoopThread:
    """Runs coroutines for a caller that waits, and keeps the client that belongs to the loop.

    It holds no model, so that a model nobody uses any more can be collected.
    """

    def __init__(self, connect: Callable[[], EndpointClient]) -> None:
        self._connect = connect
        self._client: EndpointClient | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
        self._thread.start()

    def client(self) -> EndpointClient:
        """The client, made at the first call. To be called inside the loop only."""
        if self._client is None:
            self._client = self._connect()
        return self._client

    def begin(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        """Start a coroutine in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a function in the loop, soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def close(self) -> None:
        """End the connections, the loop and the thread."""
        if threading.current_thread() is self._thread:  # the loop held the last reference to the model
            self._loop.stop()
            return
        # With time limits, because the program may end here and a broken connection must not keep it.
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result(timeout=CLOSING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=CLOSING)
        if not self._thread.is_alive():  # a running loop cannot be closed
            self._loop.close()

    async def _ended(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._client is not None:
            await self._client.close()


_LETTERS: Final = re.compile(r"[^a-z0-9]+")
MOST_NAMES: Final = 10
"""How many different names of the serving model are kept: some endpoints give every reply another one."""


@dataclass(slots=True, kw_only=True)
class Meter:
    """The counts since the model was loaded."""

    prices: Prices | None
    model: str = ""
    """The model that requests name."""
    requests: int = 0
    retries: int = 0
    """Requests that repeated an earlier one; included in `requests`."""
    tokens_in: int = 0
    tokens_out: int = 0
    batched_in: int = 0
    batched_out: int = 0
    """Tokens of requests in batches; included in the numbers above."""
    unmetered: int = 0
    """Replies without a number of tokens."""
    failed: Counter[str] = field(default_factory=Counter)
    """Queries without an answer, by reason."""
    messages: dict[str, str] = field(default_factory=dict)
    """By reason, the endpoint's message with its first failure."""
    served: list[str] = field(default_factory=list)
    """The models, with versions, that replies name."""

    def reply(self, tokens: tuple[int, int] | None, served: str) -> None:
        """Count a reply."""
        if tokens is None:
            self.unmetered += 1
        else:
            self.tokens_in += tokens[0]
            self.tokens_out += tokens[1]
        if served and served not in self.served and len(self.served) < MOST_NAMES:
            self.served.append(served)

    def failure(self, reason: str, message: str = "") -> None:
        """Count a query without an answer."""
        self.failed[reason] += 1
        if message:
            self.messages.setdefault(reason, message)

    @property
    def cost(self) -> float | None:
        """In the currency of the prices; `None` without prices."""
        if self.prices is None:
            return None
        single = self.prices.cost(self.tokens_in - self.batched_in, self.tokens_out - self.batched_out)
        return single + self.prices.cost(self.batched_in, self.batched_out, batched=True)

    def as_mapping(self) -> Mapping[str, object]:
        """The record for the manifest; empty before the first request."""
        if not self.requests:
            return {}
        return {
            "requests": self.requests,
            "retries": self.retries,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "replies_without_tokens": self.unmetered,
            "cost": self.cost,
            "failed": dict(self.failed.most_common()),
            "told": dict(self.messages),
            "served": list(self.served),
        }

    def __str__(self) -> str:
        """One line for the user."""
        again = f" ({self.retries:,} of them again)" if self.retries else ""
        parts = [
            f"{self.requests:,} request{'s' if self.requests > 1 else ''}{again}",
            f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out",
        ]
        if self.unmetered:
            parts.append(f"{self.unmetered:,} replies did not report their tokens")
        if odd := [name for name in self.served if _differ(name, self.model)]:
            parts.append(f"{odd[0]!r} answered in the place of {self.model!r}")
        if self.cost is not None:
            parts.append(f"cost {self.cost:.4f}")
        for reason, count in self.failed.most_common():
            message = f" ({self.messages[reason]})" if reason in self.messages else ""
            parts.append(f"{reason} x{count:,}{message}")
        return "; ".join(parts)


def _differ(served: str, asked: str) -> bool:
    """Whether a reply names another model than the request, and not the same one with a version or a path."""
    one, other = (
        _LETTERS.sub("", name.split()[0].lower()) if name.split() else "" for name in (served, asked)
    )
    return one not in other and other not in one

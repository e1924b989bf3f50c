"""The requests to an endpoint: their event loop, how many run at once, and the count of what they cost."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from codeaudit.audit.models.endpoints.arguments import Prices
from codeaudit.audit.models.endpoints.client import EndpointClient

T = TypeVar("T")

PULSE: Final = 0.5
"""Seconds between two looks of a waiting caller, because not every platform wakes it for Ctrl-C."""


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

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. If waiting ends otherwise, as by Ctrl-C, the coroutine is cancelled."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not future.done():
                wait([future], timeout=PULSE)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the connections, the loop and the thread."""
        if threading.current_thread() is self._thread:  # the loop held the last reference to the model
            self._loop.stop()
            return
        # With time limits, because the program may end here and a broken connection must not keep it.
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result(timeout=2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2)
        if not self._thread.is_alive():  # a running loop cannot be closed
            self._loop.close()

    async def _ended(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._client is not None:
            await self._client.close()


START: Final = 4
"""The first limit."""


class Throttle:
    """Admits the requests of one event loop. It keeps its limit from one batch to the next.

    It finds out how many requests the endpoint takes at once: additive increase, multiplicative decrease.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(START, most))
        self._active = 0
        self._opens = 0.0
        self._lowered = 0.0
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        """How many requests may be sent at once."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait until a request may be sent; count it until the context ends. Gives the time of its start."""
        # In a loop: while a request sleeps, another may be refused and begin another pause.
        while (pause := self._opens - time.monotonic()) > 0 or self._active >= self.limit:
            if pause > 0:
                await asyncio.sleep(pause)
            else:
                await self._changed.wait()
        self._active += 1
        try:
            yield time.monotonic()
        finally:
            self._active -= 1
            self._wake()

    def granted(self) -> None:
        """A request succeeded: raise the limit by one after as many successes as the limit."""
        self._limit = min(self._most, self._limit + 1 / self._limit)
        self._wake()

    def refused(self, began: float, pause: float) -> None:
        """The endpoint refused a request as one too many: halve the limit, and pause for `pause` seconds.

        A request that began before the last halving does not halve again, because it was sent under the old
        limit.
        """
        now = time.monotonic()
        self._opens = max(self._opens, now + pause)
        if began >= self._lowered:
            self._limit = max(1.0, self._limit / 2)
            self._lowered = now

    def _wake(self) -> None:
        # A new event for those that wait from now on, because the old one stays set.
        self._changed.set()
        self._changed = asyncio.Event()


MOST_NAMES: Final = 10
"""How many different names of the serving model are kept: some endpoints give every reply another one."""


@dataclass(slots=True, kw_only=True)
class Meter:
    """The counts since the model was loaded."""

    prices: Prices | None
    requests: int = 0
    retries: int = 0
    """Requests that repeated an earlier one; included in `requests`."""
    tokens_in: int = 0
    tokens_out: int = 0
    unmetered: int = 0
    """Replies without a number of tokens."""
    failed: Counter[str] = field(default_factory=Counter)
    """Queries without an answer, by reason."""
    told: dict[str, str] = field(default_factory=dict)
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
            self.told.setdefault(reason, message)

    @property
    def cost(self) -> float | None:
        """In the currency of the prices; `None` without prices."""
        if self.prices is None:
            return None
        return (self.tokens_in * self.prices.into + self.tokens_out * self.prices.out) / 1e6

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
            "told": dict(self.told),
            "served": list(self.served),
        }

    def __str__(self) -> str:
        """One line for the user."""
        again = f" ({self.retries:,} of them again)" if self.retries else ""
        told = [
            f"{self.requests:,} requests{again}",
            f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out",
        ]
        if self.unmetered:
            told.append(f"{self.unmetered:,} replies did not report their tokens")
        if self.cost is not None:
            told.append(f"cost {self.cost:.4f}")
        for reason, count in self.failed.most_common():
            message = f" ({self.told[reason]})" if reason in self.told else ""
            told.append(f"{reason} x{count:,}{message}")
        return "; ".join(told)

"""Finds out how many requests an endpoint takes at once: additive increase, multiplicative decrease."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

START: Final = 4
"""The first limit."""


class Throttle:
    """Admits the requests of one event loop. It keeps its limit from one batch to the next."""

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
        self._changed.set()
        self._changed = asyncio.Event()

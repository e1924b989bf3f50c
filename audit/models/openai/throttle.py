"""How many requests an endpoint bears at once, found out by asking: one more, or half as many."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

START: Final = 4
"""Requests at once to begin with."""


class Throttle:
    """Admits requests of one event loop. It remembers what it found out from one batch to the next."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(START, most))
        self._active = 0
        self._opens = 0.0
        self._lowered = 0.0
        self._changed = asyncio.Event()

    @property
    def limit(self) -> int:
        """Requests that may be under way at once."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a place among the requests under way and keep it; the time at which it was had."""
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
        """A request was served: one more at once after as many as are under way."""
        self._limit = min(self._most, self._limit + 1 / self._limit)
        self._wake()

    def refused(self, began: float, pause: float) -> None:
        """A request that began then was too much: half as many, and none for so many seconds.

        Requests that began before the last halving tell nothing new.
        """
        now = time.monotonic()
        self._opens = max(self._opens, now + pause)
        if began >= self._lowered:
            self._limit = max(1.0, self._limit / 2)
            self._lowered = now

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

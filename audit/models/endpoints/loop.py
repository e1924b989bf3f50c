"""An event loop in its own thread, in which an endpoint's requests run."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from contextlib import suppress
from typing import Any, Final, TypeVar

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
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._ended(), self._loop).result(timeout=2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2)
        if not self._thread.is_alive():
            self._loop.close()

    async def _ended(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

"""Waits for what another process or thread does, and no longer."""

import time
from collections.abc import Callable
from typing import Protocol


class Ending(Protocol):
    """A process that may end: one of `subprocess`, or a fork."""

    def poll(self) -> int | None:
        """The exit code, or `None` while it runs."""
        ...

    def communicate(self) -> object:
        """What it wrote, when it has ended."""
        ...


def until(holds: Callable[[], object], *, seconds: float = 60, process: Ending | None = None) -> None:
    """Return as soon as it holds. The test fails after so many seconds, or when the process ends before."""
    end = time.monotonic() + seconds
    while not holds():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"it does not hold within {seconds} s"
        time.sleep(0.01)

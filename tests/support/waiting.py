"""Waits for what another process or thread does, and no longer."""

import subprocess
import time
from collections.abc import Callable
from typing import Any


def until(
    holds: Callable[[], object], *, seconds: float = 60, process: "subprocess.Popen[Any] | None" = None
) -> None:
    """Return as soon as it holds. The test fails after so many seconds, or when the process ends before."""
    end = time.monotonic() + seconds
    while not holds():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"it does not hold within {seconds} s"
        time.sleep(0.01)

"""Messages over pipes: the length in four bytes (big endian), then the message."""

import os
import select
import time
from typing import Final

HEADER: Final = 4
"""Bytes of the length."""
_CHUNK: Final = 1 << 16


def send(pipe: int, message: bytes) -> None:
    """Write one message.

    Raises:
        OSError: the other end is closed.
    """
    rest = memoryview(len(message).to_bytes(HEADER, "big") + message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive(pipe: int, *, seconds: float | None = None, limit: int) -> bytes:
    """Read one message of at most `limit` bytes. Without `seconds`, wait as long as it takes.

    Raises:
        EOFError: the other end is closed.
        TimeoutError: the message did not arrive completely in time.
        ValueError: it is longer than `limit` bytes.
    """
    end = None if seconds is None else time.monotonic() + seconds
    length = int.from_bytes(_exactly(pipe, HEADER, end), "big")
    if length > limit:
        raise ValueError(f"message of {length} bytes, more than {limit}")
    return _exactly(pipe, length, end)


def _exactly(pipe: int, count: int, end: float | None) -> bytes:
    found = bytearray()
    while len(found) < count:
        if end is not None and not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError
        part = os.read(pipe, min(count - len(found), _CHUNK))
        if not part:
            raise EOFError
        found += part
    return bytes(found)

"""What to do when a reader of stdout or stderr has gone. Needs no other package."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


def silence_stdout() -> None:
    """Redirect stdout to nothing, because the interpreter's last flush would fail on a closed pipe."""
    _silence(1)


def _silence(descriptor: int) -> None:
    # The descriptor and not the stream: what is still in a buffer is flushed into it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextmanager
def lasting_stderr() -> Iterator[None]:
    """Let nothing end because the reader of stderr has gone, as in `codeaudit run … 2>&1 | head -3`.

    Only messages are lost: an audit goes on, and its exit code is its own.
    """
    before = sys.stderr
    if before is None:  # closed by `2>&-`
        yield
        return
    lasting: Any = _Lasting(before)
    sys.stderr = lasting
    try:
        yield
    finally:
        if sys.stderr is lasting:
            sys.stderr = before


class _Lasting:
    """A stream that goes silent when its pipe breaks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As of the stream."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            _silence(2)
            return len(text)

    def flush(self) -> None:
        """As of the stream."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            _silence(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

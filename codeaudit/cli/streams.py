"""stdin, stdout and stderr as a command finds them: closed, left by their reader, or shown by a terminal.

`sound_streams` makes all three usable for a command, whoever writes to them: this package, click, `warnings`,
`logging`, a plug-in, a traceback.

- A closed stream reads and writes nothing. That is no error.
- A reader that has gone, as in `codeaudit run … 2>&1 | head -3`, ends nothing: only messages are lost.
- Text is cleaned (`codeaudit.transforms.grammar`): a file's name, a source or a model's answer cannot
  steer the terminal or hide its neighbours. A carriage return that ends no line becomes the end of a line.

Not cleaned are the colours and bars of `codeaudit.cli.output.Terminal`, which cleans the text between them,
and bytes that a user asks for as they are (`transform --out -`). JSON needs no exception: it is written in
ASCII, with its own escapes.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO

from codeaudit.transforms.grammar import visible

_LONE_RETURN: Final = re.compile(r"\r(?!\n)")


@contextmanager
def sound_streams(*, lasting: bool) -> Iterator[None]:
    """Let stdin, stdout and stderr be usable inside; afterwards too if they are `lasting`.

    A process of ours keeps them to its end, because the interpreter's traceback is written last.
    """
    before = sys.stdin, sys.stdout, sys.stderr
    if lasting:
        _fill_descriptors()
    stdin, stdout, stderr = (
        # A stream whose descriptor was closed is `None`; one that was closed later has a `closed`.
        open(os.devnull, mode, encoding="utf-8") if stream is None or stream.closed else stream  # noqa: SIM115
        for stream, mode in zip(before, "rww", strict=True)
    )
    sys.stdin = stdin
    out: Any = CleanStream(stdout)
    lasting_stderr: Any = _Lasting(stderr)
    err: Any = CleanStream(lasting_stderr)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        if not lasting:
            sys.stdin, sys.stdout, sys.stderr = before
            for stream, old in zip((stdin, stdout, stderr), before, strict=True):
                if stream is not old:
                    stream.close()


def _fill_descriptors() -> None:
    """Open those of the descriptors 0, 1 and 2 that are closed.

    A file that is opened later would get such a number, and messages of a library would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system gives the lowest free number, and those below are taken.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def beneath(stream: TextIO) -> TextIO:
    """The stream that takes text as it is, for a caller that cleans or that writes what a user asked for."""
    # While a bar is drawn, a stream of rich lies between two clean ones.
    while (inner := getattr(stream, "beneath", None)) is not None:
        stream = inner
    return stream


def silence_stdout() -> None:
    """Redirect stdout to nothing, because the interpreter's last flush would fail on a closed pipe."""
    _silence(1)


def _silence(descriptor: int) -> None:
    # The descriptor and not the stream: what is still in a buffer is flushed into it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


class CleanStream:
    """A stream of text that cannot steer a terminal."""

    def __init__(self, stream: Any) -> None:
        self.beneath = stream

    def write(self, text: str) -> int:
        """Write the text, cleaned."""
        self.beneath.write(visible(_LONE_RETURN.sub("\n", text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each text, cleaned."""
        for line in lines:
            self.write(line)

    @property
    def bars(self) -> "CleanStream":
        """The same stream for the bars of a library: they return to the beginning of their line."""
        return _Bars(self.beneath)

    def __getattr__(self, name: str) -> Any:
        # A writer that finds the bytes below, as click does for some encodings, would write past us.
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.beneath, name)


class _Bars(CleanStream):
    """A clean stream that may return to the beginning of a line, and go a line up."""

    _MOVES: Final = re.compile(r"(\r|\x1b\[A)")

    def write(self, text: str) -> int:
        """Write what a clean stream would."""
        self.beneath.write(
            "".join(
                part if self._MOVES.fullmatch(part) else visible(part) for part in self._MOVES.split(text)
            )
        )
        return len(text)


class _Lasting:
    """A stream that goes silent when its pipe breaks."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, or nothing once the pipe is broken."""
        try:
            self._stream.write(text)
        except BrokenPipeError:
            _silence(2)
        return len(text)

    def flush(self) -> None:
        """Write what is kept back, or nothing once the pipe is broken."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            _silence(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

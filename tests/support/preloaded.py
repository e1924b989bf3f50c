"""The command `codeaudit` without the seconds that importing torch, pandas and scipy takes.

One process of each test session imports them and then forks for each command. A command runs in its fork with the
streams, the folder and the environment of who asks, gets signals, and ends as a process of its own: with an exit
code or by a signal. What it shares with the next command is what has been imported.

    python -m tests.support.preloaded SOCKET    the process that forks
"""

import atexit
import gc
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Final, NoReturn, Self

from tests.support.waiting import until

CLIENT: Final = """\
import json, os, socket, sys

def is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False

numbers = [number for number in range(3) if is_open(number)]
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    asked = json.dumps(["", sys.argv[2:], os.getcwd(), dict(os.environ), numbers]).encode()
    socket.send_fds(line, [len(asked).to_bytes(8, "big")], numbers)
    line.sendall(asked)
    told = line.makefile("rb").read()
code = int.from_bytes(told[8:16], "big", signed=True)
sys.exit(code if code >= 0 else 128 - code)
"""
"""It passes on what it was asked and waits for the exit code."""


@cache
def _server() -> Path:
    """The socket of the process that forks, which starts when the first command is asked for."""
    # Not in the folder of a test: its path could be too long for a socket.
    place = Path(tempfile.mkdtemp(prefix="codeaudit-tests-")) / "commands"
    words = [sys.executable, "-m", "tests.support.preloaded", str(place)]
    # It ends when nobody can write to its input any more: however this process ends.
    process = subprocess.Popen(words, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE)
    atexit.register(process.communicate)
    until(place.exists, process=process)
    return place


def program(folder: Path) -> str:
    """The text of a program that stands for `codeaudit`; what it needs is written into the folder."""
    client = folder / "client.py"
    client.write_text(CLIENT, "utf-8")
    return f'#!/bin/sh\nexec {sys.executable} -I -S {client} {_server()} "$@"\n'


class Forked:
    """A command that runs in a fork: what `subprocess.Popen` offers of it, with both streams as pipes.

    With `code` the fork runs it instead of the command, with the words as its arguments, as `python -c` does.
    """

    def __init__(
        self, words: Sequence[str], cwd: Path, environment: Mapping[str, str], code: str = ""
    ) -> None:
        self.args = ["-c" if code else "codeaudit", *words]
        self.returncode: int | None = None
        self._waiting = Lock()
        out, err = os.pipe(), os.pipe()
        self.stdout: IO[str] = os.fdopen(out[0], encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(err[0], encoding="utf-8")
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(str(_server()))
        asked = json.dumps([code, words, str(cwd), dict(environment), [0, 1, 2]]).encode()
        with open(os.devnull, "rb") as nothing:
            streams = [nothing.fileno(), out[1], err[1]]
            socket.send_fds(self._line, [len(asked).to_bytes(8, "big")], streams)
            self._line.sendall(asked)
        os.close(out[1])
        os.close(err[1])
        self.pid = self._number()

    def _number(self) -> int:
        return int.from_bytes(self._line.recv(8, socket.MSG_WAITALL), "big", signed=True)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, or the signal that ended the command, as a negative number."""
        # A second thread that waits finds the number that the first one read.
        if not self._waiting.acquire(timeout=-1 if timeout is None else timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        try:
            if self.returncode is None:
                if not select.select([self._line], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                self.returncode = self._number()
                self._line.close()
            return self.returncode
        finally:
            self._waiting.release()

    def poll(self) -> int | None:
        """The same as `wait`, or `None` while the command runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(timeout=0)
        return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What the command wrote, when nobody holds its streams any more and it has ended."""
        printed: dict[str, str] = {}

        def read(name: str, stream: IO[str]) -> None:
            with stream:
                printed[name] = stream.read()

        streams = {"out": self.stdout, "err": self.stderr}
        readers = [
            Thread(target=read, args=entry, daemon=True) for entry in streams.items() if not entry[1].closed
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(timeout)
        return printed.get("out", ""), printed.get("err", "")

    def send_signal(self, number: int) -> None:
        """Send a signal to the command, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the command to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the command."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self.wait()


def serve(place: str) -> None:
    """Fork for each command that is asked for, until the input ends."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import scipy.stats  # noqa: F401
    import torch  # noqa: F401

    import codeaudit.cli.main
    import codeaudit.running  # noqa: F401

    gc.collect()
    gc.freeze()  # else the collector of each fork would write to all that they share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{place}.part")
        listening.listen()
        os.rename(f"{place}.part", place)
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _keep(line)
            line.close()
    shutil.rmtree(Path(place).parent)


def _keep(line: socket.socket) -> NoReturn:
    """Fork for one command and tell its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(line, 8, 3)
    with line.makefile("rb") as file:
        code, words, folder, environment, numbers = json.loads(file.read(int.from_bytes(size, "big")))
    if process := os.fork():
        for stream in streams:
            os.close(stream)
        with suppress(OSError):  # who asked may have gone
            line.sendall(process.to_bytes(8, "big", signed=True))
            ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            line.sendall(ended.to_bytes(8, "big", signed=True))
        os._exit(0)
    line.close()
    _become(folder, environment, dict(zip(numbers, streams, strict=True)))
    if code:
        sys.argv = ["-c", *words]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        sys.exit(0)
    import codeaudit
    from codeaudit.cli.main import main

    sys.argv = [str(Path(codeaudit.__file__).with_name("__main__.py")), *words]
    sys.exit(main())


def _become(folder: str, environment: dict[str, str], streams: Mapping[int, int]) -> None:
    """Take the streams, the folder and the environment of who asked."""
    for number, stream in streams.items():
        os.dup2(stream, number)
        os.close(stream)
    # A stream that the client lacks is closed here, too, and `None`, as the interpreter sets it.
    for number in {0, 1, 2}.difference(streams):
        os.close(number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", closefd=False) if number in streams else None
        for number, mode in enumerate("rww")
    )
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    named = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [place for place in named if place and place not in sys.path]


if __name__ == "__main__":
    serve(sys.argv[1])

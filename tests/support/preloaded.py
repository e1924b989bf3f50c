"""The command `codeaudit` without the seconds that importing torch, pandas and scipy takes.

One process imports them and then forks for each command. The command runs in the fork with the streams, the
folder and the environment of a small program that stands for `codeaudit`.

    python -m tests.support.preloaded SOCKET    the process that forks
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

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
    asked = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ), numbers]).encode()
    socket.send_fds(line, [len(asked).to_bytes(8, "big")], numbers)
    line.sendall(asked)
    code = line.recv(1)
sys.exit(code[0] if code else "the command ended without an exit code")
"""
"""It passes on what it was asked and waits for the exit code."""


@contextmanager
def preloaded(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Start the process that forks; gives the text of a program that stands for `codeaudit`."""
    place, client = folder / "commands", folder / "client.py"
    client.write_text(CLIENT, "utf-8")
    words = [sys.executable, "-m", "tests.support.preloaded", str(place)]
    with subprocess.Popen(words, env=environment) as process:
        try:
            until(place.exists, process=process)
            yield f'#!/bin/sh\nexec {sys.executable} -I -S {client} {place} "$@"\n'
        finally:
            process.terminate()


def serve(place: str) -> None:
    """Fork for each command that is asked for, until a signal ends the process."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import scipy.stats  # noqa: F401
    import torch  # noqa: F401

    import codeaudit.cli.main
    import codeaudit.running  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{place}.part")
        listening.listen()
        os.rename(f"{place}.part", place)
        while True:
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                os._exit(_carry_out(line))
            line.close()


def _carry_out(line: socket.socket) -> int:
    """Run one command as a process of its own would, and answer with its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(line, 8, 3)
    with line.makefile("rb") as file:
        words, folder, environment, numbers = json.loads(file.read(int.from_bytes(size, "big")))
    for number, stream in zip(numbers, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    # A stream that the client lacks is closed here, too, and `None`, as the interpreter sets it.
    for number in {0, 1, 2}.difference(numbers):
        os.close(number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", closefd=False) if number in numbers else None
        for number, mode in enumerate("rww")
    )
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["codeaudit", *words]
    from codeaudit.cli.main import main

    code = 70
    try:
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        line.sendall(bytes([code]))
    return code


if __name__ == "__main__":
    serve(sys.argv[1])

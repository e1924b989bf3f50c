"""`exec/COMMAND`: a program as a model, over JSON lines on its standard input and output."""

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Final

from audit.models.answers import read_answer
from audit.models.settings import Settings
from audit.records import Prediction, Query
from transforms.errors import ModelError, UsageError

TIMEOUT: Final = 600.0
"""Seconds without any answer after which a program counts as hung."""


class ProgramModel:
    """Writes `{"id", "task", "language", "source"}` lines and reads `{"id", "answer"}` lines, in any order.

    The program is started with the first query, stays up, and ends when its input ends. A batch may be
    answered before it is written whole, so writing and reading never wait for one another.
    """

    def __init__(self, command: Sequence[str], *, name: str, fingerprint: str, timeout: float) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.task: str | None = None
        self.parameters: int | None = None
        self.noise = 0.0
        self._command = list(command)
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None
        self._lines: Queue[str | None] = Queue()
        self._asked = 0

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        Raises:
            ModelError: the program cannot be started, ended, hangs, or does not speak JSON lines.
        """
        process = self._process or self._start()
        try:
            return self._ask(process, queries)
        except KeyboardInterrupt:
            _kill(process)
            raise

    def _ask(self, process: subprocess.Popen[str], queries: Sequence[Query]) -> list[Prediction]:
        identities = [str(self._asked + number) for number in range(len(queries))]
        self._asked += len(queries)
        writer = threading.Thread(target=self._write, args=(process, identities, queries), daemon=True)
        writer.start()
        wanted = set(identities)
        answers: dict[str, Prediction] = {}
        while wanted - answers.keys():
            identity, prediction = self._next()
            if identity in wanted:
                answers[identity] = prediction
        writer.join()
        return [answers[identity] for identity in identities]

    def _start(self) -> subprocess.Popen[str]:
        try:
            # A process group of its own: Ctrl-C is for us to handle, and it ends when its input does.
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(f"cannot start {self.name!r}: {error.strerror or error}") from error
        reader = threading.Thread(target=_read, args=(process, self._lines), daemon=True)
        reader.start()
        weakref.finalize(self, _end, process, reader)
        self._process = process
        return process

    def _write(self, process: subprocess.Popen[str], identities: list[str], queries: Sequence[Query]) -> None:
        if process.stdin is None:
            return
        try:
            for identity, query in zip(identities, queries, strict=True):
                fields = {"task": query.task, "language": query.language, "source": query.source}
                process.stdin.write(json.dumps({"id": identity, **fields}) + "\n")
            process.stdin.flush()
        except (OSError, ValueError):
            # The program closed its input: the reader sees the end of its output and says so.
            return

    def _next(self) -> tuple[str, Prediction]:
        try:
            line = self._lines.get(timeout=self._timeout)
        except Empty:
            raise ModelError(f"{self.name!r} gave no answer within {self._timeout:g} s") from None
        if line is None:
            code = self._process.wait() if self._process else None
            raise ModelError(f"{self.name!r} ended with status {code} before it had answered")
        try:
            row = json.loads(line)
            identity = str(row.pop("id"))
        except (ValueError, KeyError, AttributeError, RecursionError):
            text = f'{line.strip()[:60]!r} is no line {{"id": …, "answer": …}}'
            raise ModelError(f"{self.name!r} does not keep to the protocol: {text}") from None
        return identity, read_answer(row)


def _read(process: subprocess.Popen[str], lines: "Queue[str | None]") -> None:
    if process.stdout is not None:
        with process.stdout as output:
            for line in output:
                if line.strip():
                    lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[str], reader: threading.Thread) -> None:
    """Close its input, then wait a moment, then end it."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        _kill(process)
    reader.join(timeout=2)


def _kill(process: subprocess.Popen[str]) -> None:
    """End the program with all that it started: it leads a process group of its own."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def load(name: str, settings: Settings) -> ProgramModel:
    """The model behind a command line; nothing is started yet.

    Raises:
        UsageError: the command is empty or has an open quote.
        ModelError: there is no such program.
    """
    try:
        command = shlex.split(name)
    except ValueError as error:
        raise UsageError(f"cannot read the command of model 'exec/{name}': {error}") from error
    if not command:
        raise UsageError("model 'exec/' has no command")
    program = shutil.which(command[0])
    if program is None:
        raise ModelError(f"cannot start 'exec/{name}': no program {command[0]!r}")
    return ProgramModel(
        [program, *command[1:]],
        name=f"exec/{name}",
        fingerprint=_fingerprint(name, command, settings.arguments.get("version")),
        timeout=float(settings.arguments.get("timeout", TIMEOUT)),
    )


def _fingerprint(name: str, command: Sequence[str], version: str | float | None) -> str:
    """With a version the user vouches for it; without, answers are kept for one run only."""
    if version is not None:
        return f"exec/{name}@{version}"
    digest = hashlib.sha256(name.encode())
    script = next((Path(part) for part in command[1:] if Path(part).is_file()), None)
    if script is not None:
        digest.update(script.read_bytes())
    return f"volatile:exec/{name}:{digest.hexdigest()[:16]}"

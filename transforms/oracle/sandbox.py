"""The parent's end of a contained server.

It starts the server, sends the texts of jobs to the processes that run them, reads their answers, and ends
the server with every process that it started.
"""

import json
import math
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.oracle.containment import SLOWEST, RunLimits, offered, require
from codeaudit.transforms.oracle.server import (
    BROKEN,
    CAUSES,
    CHUNK,
    ENDING,
    GONE,
    HEADER,
    framed,
    receive,
    send,
)

ROOT: Final = str(Path(__file__).parents[3])
_BOOT: Final = (
    f"import sys; sys.path.insert(0, {ROOT!r}); from codeaudit.transforms.oracle.server import main; main()"
)
RESTARTED: Final = "the sandbox had to be restarted"
"""The text of `Lost`."""
_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 2.0
_SLACK_SECONDS: Final = 20.0
"""Seconds added to the time limit of a request for starting processes and sending data."""
_RESTARTS: Final = 3
"""Number of times that a lost run is continued behind the input that ended it."""
_LARGEST_START: Final = 1 << 20
"""Bytes of the largest message about the start."""
_KEY: Final = 16
"""Bytes of a run's key."""
_SHARED: Final = "setup"
"""The part of a job that its original and its variants share. The server prepares it, once."""

Answer = tuple[str, str]
"""`("seen", answer)` for an input, or `("lost", reason)`."""


class Lost(Exception):  # noqa: N818 - it names what happened to a request
    """The server did not answer. It was ended; the next request starts a new one."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """The end of a run: its answers, and the reason why there are no more."""

    answers: tuple[str, ...]
    reason: str


class Sandbox:
    """A contained server. A context manager; the server starts with the first request."""

    def __init__(
        self, target: str, limits: RunLimits | None = None, *, hashes: int = 0, paired: bool = False
    ) -> None:
        """Prepare a server that runs jobs with the module `target`: a `server.Target`, or a `PairTarget`.

        `hashes` seeds Python's hashes. With `paired`, `ask_pair` asks; without, `ask`.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        self._layers = offered()
        require(self._layers)
        self._target = target
        self._limits = limits or RunLimits()
        self._hashes = hashes
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = ""
        self._scratch = ExitStack()
        self._requests = self._replies = -1
        self._paired = paired
        self._texts: tuple[int, ...] = ()
        self._number = 0
        self.namespaces: tuple[str, ...] = ()
        """The namespaces that the running server is in."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def ask(self, jobs: Sequence[Mapping[str, Any]]) -> list[list[Answer]]:
        """Run jobs; each holds `count`, its number of inputs, and the data that the target needs.

        A job's `cpu_seconds`, if given, lowers the limit for each of its inputs. Returns one list per job,
        one answer per input.

        Raises:
            CannotAudit: the server cannot be started.
            Lost: it did not answer in time or in the agreed format; it was ended with all that it ran.
        """
        return [self._answered(job) for job in jobs]

    def ask_pair(self, program: Mapping[str, Any], tests: Mapping[str, Any]) -> Answer:
        """Run a program and its tests, in a process each. The data of the one never reaches the other.

        Raises:
            CannotAudit: the server cannot be started.
            Lost: it did not answer in time or in the agreed format; it was ended with all that it ran.
        """
        ended = self._run({}, 1, self._limits.cpu_seconds, program, tests)
        return ("seen", ended.answers[0]) if ended.answers else ("lost", ended.reason)

    def _answered(self, job: Mapping[str, Any]) -> list[Answer]:
        """One answer for each input of a job."""
        total: int = job["count"]
        request = {name: value for name, value in job.items() if name == _SHARED}
        text = {name: value for name, value in job.items() if name not in (_SHARED, "count", "cpu_seconds")}
        cpu_seconds: float = min(self._limits.cpu_seconds, job.get("cpu_seconds", math.inf))
        answers: list[Answer] = []
        for _ in range(_RESTARTS + 1):
            start = len(answers)
            ended = self._run(request, total - start, cpu_seconds, {**text, "start": start})
            answers += (("seen", answer) for answer in ended.answers[: total - start])
            if len(answers) == total:
                break
            answers.append(("lost", ended.reason))
            if len(answers) == total:
                break
        answers += [("lost", "too many inputs before it were lost")] * (total - len(answers))
        return answers

    def _run(
        self, request: Mapping[str, Any], count: int, cpu_seconds: float, *texts: Mapping[str, Any]
    ) -> _Ended:
        """Run the texts in a process each; the last one answers."""
        if self._process is None:
            self._start()
        self._number += 1
        number = {"number": self._number}
        key = secrets.token_bytes(_KEY)
        # A backstop for all inputs together, because the server holds each to its own limit.
        all_seconds = 1 + math.ceil(cpu_seconds * count)
        times = {"cpu_seconds": cpu_seconds, "all_seconds": all_seconds}
        seconds = _SLACK_SECONDS + count * SLOWEST * self._limits.idle_seconds
        try:
            send(self._requests, json.dumps({**request, **times, **number}).encode())
            for place, (pipe, text) in enumerate(zip(self._texts, texts, strict=True), start=1):
                secret = {"key": key.hex()} if place == len(texts) else {}
                # A child that was ended does not read, and the server holds the pipe open.
                send(pipe, json.dumps({**text, **number, **secret}).encode(), seconds=seconds)
            largest = ENDING.size + self._limits.answer_size + CHUNK
            reply = receive(self._replies, seconds=seconds, limit=largest)
        except (OSError, EOFError, ValueError) as error:
            self.close()
            raise Lost(RESTARTED) from error
        except BaseException:  # the answer of an interrupted request would be taken for that of the next one
            self.close()
            raise
        cause, status, program_status = ENDING.unpack_from(reply)
        data = reply[ENDING.size :]
        if not data.startswith(framed("", key)):
            self.close()  # a part of its text may still be in the pipe
        frames = _frames(data, key, whole=not cause)
        if self._paired and status == GONE and not cause:
            # A program that closes its pipes and lives on has to be killed.
            return _Ended((), BROKEN if program_status == -signal.SIGKILL else _ending(program_status))
        if frames is None or (self._paired and cause):
            return _Ended((), CAUSES[cause] or BROKEN)
        return _Ended(frames[1:], CAUSES[cause] or _ending(status))

    def close(self) -> None:
        """End the server and every process that it started, and remove its folder."""
        if self._process is None:
            return
        for pipe in (self._requests, self._replies, *self._texts):
            os.close(pipe)
        try:
            self._process.wait(timeout=_END_SECONDS)  # an idle server ends when its pipe is closed
        except subprocess.TimeoutExpired:
            # The server has a session of its own, so the group holds only its processes.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._scratch.close()
        self._process = None

    def _start(self) -> None:
        request_end, self._requests = os.pipe()
        self._replies, reply_end = os.pipe()
        texts = [os.pipe() for _ in range(1 + self._paired)]
        self._texts = tuple(writing for _, writing in texts)
        theirs = (request_end, reply_end, *(reading for reading, _ in texts))
        self._folder = str(self._scratch.enter_context(scratch_folder("oracle")))
        settings = {
            "target": self._target,
            "root": ROOT,
            "folder": self._folder,
            "layers": asdict(self._layers),
            "limits": asdict(self._limits),
            "requests": request_end,
            "replies": reply_end,
            "texts": theirs[2:],
        }
        self._process = subprocess.Popen(
            # -S and -s: no site-packages, whose `.pth` files run code. -P: no modules of the working folder,
            # which foreign programs write to.
            [sys.executable, "-S", "-s", "-P", "-B", "-X", "utf8", "-c", _BOOT, json.dumps(settings)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a program could otherwise write into the output of `codeaudit`
            stderr=subprocess.DEVNULL,
            env=_environment(self._folder, self._hashes),
            cwd=self._folder,
            pass_fds=theirs,
            start_new_session=True,
        )
        for pipe in theirs:
            os.close(pipe)
        try:
            reply = json.loads(receive(self._replies, seconds=_START_SECONDS, limit=_LARGEST_START))
        except (OSError, EOFError, ValueError) as error:
            self.close()
            raise CannotAudit("programs can't be run safely here: the sandbox did not start") from error
        if "error" in reply:
            self.close()
            raise CannotAudit(f"programs can't be run safely here: {reply['error']}")
        self.namespaces = tuple(reply["ready"])


def _environment(folder: str, hashes: int) -> dict[str, str]:
    """The complete environment of contained programs: nothing of the user's, which may hold credentials."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "PATH": "/nonexistent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hashes),
    }


def _ending(status: int) -> str:
    if status < 0:
        return f"killed by signal {-status}"
    return f"left with status {status}" if status else "left without an answer"


def _frames(data: bytes, key: bytes, *, whole: bool) -> tuple[str, ...] | None:
    """The frames in a run's output; `None` if there is anything else in it.

    A run that was stopped (not `whole`) may end in the middle of a frame.
    """
    frames: list[str] = []
    at = 0
    while at < len(data):
        body = at + _KEY + HEADER
        end = body + int.from_bytes(data[at + _KEY : body], "big")
        if end + _KEY > len(data):
            return None if whole or data[at : at + _KEY] != key[: len(data) - at] else tuple(frames)
        if data[at : at + _KEY] != key or data[end : end + _KEY] != key:
            return None
        try:
            frames.append(data[body:end].decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            return None
        at = end + _KEY
    return tuple(frames)

"""Inside the containment: one warm interpreter that forks a further limited child for every run.

The server runs no foreign code. Its child does, and answers on a pipe of its own: one frame for each input,
each between two copies of a random key that is drawn for this run. If a run's pipe holds anything but whole
frames, the run has no answers at all. A program can therefore lie about itself (it shares a process with its
observer), but it cannot answer for another program, and no stray write becomes an answer.

A pair is a program and its tests, in two children. Its texts do not pass through the server, so neither child
finds the other's text in the memory that it inherits: each reads its own from a pipe of its own, and closes
that pipe before it executes anything.

Server and parent exchange messages over pipes: the length in four bytes (big endian), then the message.
"""

import gc
import json
import math
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from codeaudit.transforms.oracle.containment import SLOWEST, Containment, Layers, RunLimits

HEADER: Final = 4
"""Bytes of the length."""
_CHUNK: Final = 1 << 16


def send(pipe: int, message: bytes, *, seconds: float | None = None) -> None:
    """Write one message. Without `seconds`, wait as long as it takes.

    Raises:
        OSError: the other end is closed.
        TimeoutError: the message was not read completely in time.
    """
    end = None if seconds is None else time.monotonic() + seconds
    rest = memoryview(len(message).to_bytes(HEADER, "big") + message)
    while rest:
        if end is not None and not select.select([], [pipe], [], max(0.0, end - time.monotonic()))[1]:
            raise TimeoutError
        # A pipe that is ready takes `PIPE_BUF` bytes without blocking.
        rest = rest[os.write(pipe, rest if end is None else rest[: select.PIPE_BUF]) :]


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


CPU: Final = "out of processor time"
IDLE: Final = "out of time"
BROKEN: Final = "something else was written to the channel"
"""Reason for output that is not in the format of this module."""
GONE: Final = '{"gone": true}'
"""The answer of tests whose program ended."""
_PATIENCE: Final = 0.2
"""Seconds in which a program whose tests have no more answers can end by itself."""
RESTARTS: Final = 3
"""Number of times that a lost run is continued behind the input that ended it."""
LARGEST_REQUEST: Final = 64 << 20
"""Bytes of the largest request."""
LARGEST_REPLY: Final = 256 << 20
"""Bytes of the largest reply."""
_TICK: Final = 20
"""Milliseconds between looks at the clocks of a silent run."""
_SOME_WORK: Final = 0.005
"""Seconds of processor time that show that a run is not asleep."""
_KEY: Final = 16
"""Bytes of a run's key."""


class Target(Protocol):
    """The module that runs jobs."""

    def warm(self) -> None:
        """In the server, before it is closed in: read and set up everything that a job needs."""

    def prepare(self, job: dict[str, Any]) -> None:
        """In the server: make a job ready. No foreign code may run."""

    def run(self, job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
        """In a child: run a job from a given input on, and answer once for each input."""


class PairTarget(Protocol):
    """The module that runs pairs."""

    def warm(self) -> None:
        """In the server, before it is closed in: read and set up everything that a pair needs."""

    def serve(self, job: Mapping[str, Any], calls: int, results: int) -> None:
        """In the child of the program: execute it, and answer the calls."""

    def judge(self, job: Mapping[str, Any], calls: int, results: int, answer: Callable[[str], None]) -> None:
        """In the child of the tests: execute them, and answer once, with `GONE` if the program ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of one child: its answers, and the reason why there are no more."""

    answers: tuple[str, ...]
    reason: str


def main() -> None:
    """Close the process in and serve until the parent closes its pipe. `sys.argv` holds the settings."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    requests, replies = settings["requests"], settings["replies"]
    limits = RunLimits(**settings["limits"])
    containment = Containment()
    entered = containment.enter_namespaces()
    # Only a child is in the new process namespace. This process stays outside and passes on its exit status.
    inner = os.fork()
    if inner:
        for pipe in (requests, replies, *settings["texts"]):
            os.close(pipe)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
    containment.die_with_parent()
    try:
        target = _prepare(settings, limits, containment, entered)
    except OSError as error:
        send(replies, json.dumps({"error": str(error)}).encode())
        return
    send(replies, json.dumps({"ready": entered}).encode())
    texts = settings["texts"]
    server = Server(target, limits, containment, settings["folder"], requests, replies, texts)
    server.serve()


def _prepare(
    settings: Mapping[str, Any], limits: RunLimits, containment: Containment, entered: Sequence[str]
) -> Any:
    folder: str = settings["folder"]
    if "mounts" in entered:
        containment.limit_folder(folder, limits.folder_size)
    os.chdir(folder)
    module: str = settings["target"]
    target: Any = import_module(module)  # a Target or a PairTarget
    # First, because warming imports modules of this package, whose files cannot be opened afterwards.
    target.warm()
    containment.limit(limits)
    containment.close(Layers(**settings["layers"]), readable=settings["readable"], folder=folder)
    _hide_package(settings["root"])
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object, and so copy every shared page
    gc.disable()  # the moment at which cycles are collected depends on every earlier allocation
    return target


_KEPT: list[object] = []


def _hide_package(root: str) -> None:
    """Let foreign code find the standard library only."""
    sys.path.remove(root)
    # The modules stay alive in `_KEPT`, because their code is still running.
    own = [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]
    _KEPT.extend(sys.modules.pop(name) for name in own)


class Server:
    """Serves requests one after the other."""

    def __init__(
        self,
        target: Any,
        limits: RunLimits,
        containment: Containment,
        folder: str,
        requests: int,
        replies: int,
        texts: Sequence[int] = (),
    ) -> None:
        self._target = target
        self._texts = texts
        self._limits = limits
        self._containment = containment
        self._folder = folder
        self._requests = requests
        self._replies = replies

    def serve(self) -> None:
        """Answer requests until the parent closes its end."""
        while True:
            try:
                message = receive(self._requests, limit=LARGEST_REQUEST)
            except EOFError:
                return
            run = self._pair if self._texts else self._job
            reply = [run(job) for job in json.loads(message)]
            send(self._replies, json.dumps(reply).encode())

    def _job(self, job: dict[str, Any]) -> list[tuple[str, str]]:
        """`("seen", answer)` or `("lost", reason)` for each input of a job."""
        self._target.prepare(job)
        found: list[tuple[str, str]] = []
        total: int = job["count"]
        for _ in range(RESTARTS + 1):
            ended = self._once(job, len(found), total)
            found += (("seen", answer) for answer in ended.answers[: total - len(found)])
            if len(found) == total:
                break
            found.append(("lost", ended.reason))
            if len(found) == total:
                break
        found += [("lost", "too many inputs before it were lost")] * (total - len(found))
        self._clean()
        return found

    def _once(self, job: Mapping[str, Any], start: int, total: int) -> Ended:
        """Run a job from input `start` on in a fresh child."""
        cpu_seconds: float = min(self._limits.cpu_seconds, job.get("cpu_seconds", math.inf))
        reading, writing = os.pipe()
        key = os.urandom(_KEY)
        child = os.fork()
        if child == 0:
            try:
                for pipe in (reading, self._requests, self._replies):
                    os.close(pipe)
                # A backstop for all inputs together; the watch below holds each input to its own limit.
                self._containment.close_job(1 + math.ceil(cpu_seconds * (total - start)))
                self._target.run(job, start, _channel(writing, key))
            finally:
                os._exit(0)  # without the handlers and flushes that foreign code may have registered
        os.close(writing)
        watch = _RunWatch((child,), reading, self._limits, cpu_seconds)
        try:
            data, reason = watch.read()
        finally:
            os.close(reading)
            status = _end(child)
        answers = _answers(data, key, whole=not reason)
        if answers is None:
            return Ended((), reason or BROKEN)
        return Ended(answers, reason or _ending(status))

    def _pair(self, job: Mapping[str, Any]) -> list[tuple[str, str]]:
        """`("seen", answer)` or `("lost", reason)` for the pair whose texts come next."""
        programs, tests = self._texts
        calls, to_program = os.pipe()
        results, from_program = os.pipe()
        program = self._forked(
            job["number"],
            programs,
            (calls, from_program),
            lambda text: self._target.serve(text, calls, from_program),
        )
        # After the first fork, so that the program inherits neither the channel nor its key.
        reading, writing = os.pipe()
        key = os.urandom(_KEY)
        answer = _channel(writing, key)
        judge = self._forked(
            job["number"],
            tests,
            (to_program, results, writing),
            lambda text: self._target.judge(text, to_program, results, answer),
        )
        for pipe in (calls, to_program, results, from_program, writing):
            os.close(pipe)
        watch = _RunWatch((program, judge), reading, self._limits, self._limits.cpu_seconds)
        try:
            data, reason = watch.read()
        finally:
            os.close(reading)
            status = _end(judge)
            answers = () if reason else _answers(data, key, whole=True)
            gone = _end(program, patience=_PATIENCE if answers == (GONE,) else 0.0)
        self._clean()
        if not answers:
            return [("lost", reason or _ending(status))]
        if answers != (GONE,):
            return [("seen", answers[0])]
        # A program that closes its pipes and lives on has to be killed.
        return [("lost", BROKEN if gone == -signal.SIGKILL else _ending(gone))]

    def _forked(self, number: int, source: int, kept: Sequence[int], run: Callable[[Any], None]) -> int:
        """A child that reads a text of a pair from a pipe and runs it, with no other pipe open but `kept`."""
        child = os.fork()
        if child:
            return child
        try:
            start = 3
            for pipe in sorted((source, *kept)):
                os.closerange(start, pipe)
                start = pipe + 1
            os.closerange(start, self._limits.open_files)
            self._containment.close_job(1 + math.ceil(self._limits.cpu_seconds))
            # An earlier child that was ended too soon may have left its text in the pipe.
            while (text := json.loads(receive(source, limit=LARGEST_REQUEST)))["number"] != number:
                continue
            os.close(source)
            run(text)
        finally:
            os._exit(0)  # without the handlers and flushes that foreign code may have registered

    def _clean(self) -> None:
        """Empty the folder for the next run; a folder that cannot be emptied ends the server."""
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def _channel(pipe: int, key: bytes) -> Callable[[str], None]:
    write = os.write  # bound now, because foreign code may replace `os.write`

    def answer(text: str) -> None:
        body = text.encode("utf-8", "surrogatepass")
        rest = key + len(body).to_bytes(HEADER, "big") + body + key
        while rest:
            rest = rest[write(pipe, rest) :]

    return answer


def _end(child: int, *, patience: float = 0.0) -> int:
    """End a child and return its status. With `patience`, it has so many seconds to end by itself."""
    end = time.monotonic() + patience
    while patience and time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(patience / 100)
    os.kill(child, signal.SIGKILL)  # also after its end: a zombie keeps its id until `waitpid`
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _ending(status: int) -> str:
    if status < 0:
        return f"killed by signal {-status}"
    return f"left with status {status}" if status else "left without an answer"


def _answers(data: bytes, key: bytes, *, whole: bool) -> tuple[str, ...] | None:
    """The answers in a run's output; `None` if there is anything else in it.

    A run that was stopped (not `whole`) may end in the middle of a frame.
    """
    found: list[str] = []
    at = 0
    while at < len(data):
        body = at + _KEY + HEADER
        end = body + int.from_bytes(data[at + _KEY : body], "big")
        if end + _KEY > len(data):
            return None if whole or data[at : at + _KEY] != key[: len(data) - at] else tuple(found)
        if data[at : at + _KEY] != key or data[end : end + _KEY] != key:
            return None
        found.append(data[body:end].decode("utf-8", "surrogatepass"))
        at = end + _KEY
    return tuple(found)


class _RunWatch:
    """Reads the answers of a run, and looks at its clocks while it is silent."""

    def __init__(self, children: Sequence[int], pipe: int, limits: RunLimits, cpu_seconds: float) -> None:
        # The ids of the clocks of other processes' processor time (`clock_getcpuclockid` of libc).
        self._clocks = [~child << 3 | 2 for child in children]
        self._pipe = pipe
        self._limits = limits
        self._cpu_seconds = cpu_seconds

    def read(self) -> tuple[bytes, str]:
        """All output, and the reason why reading stopped before its end (empty if it did not)."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        data = bytearray()
        idle_since = silent_since = time.monotonic()
        at_answer = at_work = 0.0
        while True:
            if poll.poll(_TICK):
                part = os.read(self._pipe, 1 << 16)
                if not part:
                    return bytes(data), ""
                data += part
                if len(data) > self._limits.answer_size:
                    return bytes(data), "too much output"
                idle_since = silent_since = time.monotonic()
                at_answer = at_work = self._used()
                continue
            used, now = self._used(), time.monotonic()
            # Work starts the idle time anew: a run that waits for a busy machine still works a little.
            if used - at_work > _SOME_WORK:
                idle_since, at_work = now, used
            if used - at_answer > self._cpu_seconds:
                return bytes(data), CPU
            if now - idle_since > self._limits.idle_seconds:
                return bytes(data), IDLE
            if now - silent_since > SLOWEST * self._limits.idle_seconds:
                return bytes(data), IDLE

    def _used(self) -> float:
        return sum(map(time.clock_gettime, self._clocks))

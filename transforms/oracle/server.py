"""Inside the containment: one warm interpreter that forks a further limited child for every run.

The server runs no foreign code. Its child does, and answers on a pipe of its own: one frame for each input,
each between two copies of a random key that the parent drew for this run. The first frame is empty: it says
that the child has read its text. If a run's pipe holds anything but whole frames, the run has no answers.

A child inherits the server's memory, so the server holds nothing of any program. The parent sends a text
straight to the child, through a pipe that the child closes before it executes anything. What a child answers
passes through memory that no child inherits, and only the parent reads it. A program can therefore lie about
itself (it shares a process with its observer). It cannot see or answer what another program is asked.

A pair is a program and its tests, in two children, with a pipe for each text.

Parent and server exchange messages over pipes: the length in four bytes (big endian), then the message.
"""

import builtins
import gc
import json
import mmap
import os
import select
import shutil
import signal
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from codeaudit.transforms.oracle.containment import SLOWEST, Containment, Layers, RunLimits
from codeaudit.transforms.oracle.readable import readable

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

HEADER: Final = 4
"""Bytes of the length."""
CHUNK: Final = 1 << 16
"""Most bytes that are read at once."""


def send(pipe: int, message: bytes, *, seconds: float | None = None) -> None:
    """Write one message. Without `seconds`, wait as long as it takes.

    Raises:
        OSError: the other end is closed.
        TimeoutError: the message was not read completely in time.
    """
    frame = len(message).to_bytes(HEADER, "big") + message
    if seconds is None:
        write_all(pipe, frame)
        return
    end = time.monotonic() + seconds
    rest = memoryview(frame)
    while rest:
        if not select.select([], [pipe], [], max(0.0, end - time.monotonic()))[1]:
            raise TimeoutError
        # A pipe that is ready takes `PIPE_BUF` bytes without blocking.
        rest = rest[os.write(pipe, rest[: select.PIPE_BUF]) :]


def write_all(pipe: int, content: bytes | memoryview) -> None:
    """Write all of it, as long as it takes.

    Raises:
        OSError: the other end is closed.
    """
    rest = memoryview(content)
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
    received = bytearray()
    while len(received) < count:
        if end is not None and not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError
        part = os.read(pipe, min(count - len(received), CHUNK))
        if not part:
            raise EOFError
        received += part
    return bytes(received)


CPU: Final = "out of processor time"
IDLE: Final = "out of time"
BROKEN: Final = "something else was written to the channel"
"""Reason for output that is not in the format of this module."""
TOO_MUCH: Final = "too much output"
CAUSES: Final = ("", CPU, IDLE, TOO_MUCH)
"""Why the server stopped reading before the end of a run; empty if it did not."""
ENDING: Final = struct.Struct(">Bii")
"""The beginning of a reply: the place of the cause in `CAUSES`, the status of the child that answers, and for
a pair that of the program. What the child wrote follows."""
GONE: Final = 3
"""The status with which tests leave whose program ended."""
_PATIENCE: Final = 0.2
"""Seconds in which a program whose tests have no more answers can end by itself."""
LARGEST_REQUEST: Final = 64 << 20
"""Bytes of the largest request."""
_TICK: Final = 20
"""Milliseconds between looks at the clocks of a silent run."""
_SOME_WORK: Final = 0.005
"""Seconds of processor time that show that a run is not asleep."""


class Target(Protocol):
    """The module that runs jobs."""

    def warm(self) -> None:
        """In the server, before it is closed in: read and set up everything that a job needs."""

    def prepare(self, job: dict[str, Any]) -> None:
        """In the server: make ready what all programs of a comparison share. No foreign code may run."""

    def run(self, job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
        """In a child: run a job from a given input on, and answer once for each input."""


class PairTarget(Protocol):
    """The module that runs pairs."""

    def warm(self) -> None:
        """In the server, before it is closed in: read and set up everything that a pair needs."""

    def serve(self, job: Mapping[str, Any], calls: int, results: int) -> None:
        """In the child of the program: execute it, and answer the calls."""

    def judge(self, job: Mapping[str, Any], calls: int, results: int, answer: Callable[[str], None]) -> None:
        """In the child of the tests: execute them, and answer once; or leave with `GONE`."""


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
    files = readable()
    containment.limit(limits)
    containment.close(Layers(**settings["layers"]), readable=files, folder=folder)
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
    names = [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]
    _KEPT.extend(sys.modules.pop(name) for name in names)


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
        texts: Sequence[int],
    ) -> None:
        self._target = target
        self._texts = texts
        self._limits = limits
        self._containment = containment
        self._folder = folder
        self._requests = requests
        self._replies = replies
        self._memory = mmap.mmap(-1, limits.answer_size + CHUNK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._memory.madvise(mmap.MADV_DONTFORK)  # children do not inherit it: it holds earlier answers

    def serve(self) -> None:
        """Answer requests until the parent closes its end."""
        while True:
            try:
                request = json.loads(receive(self._requests, limit=LARGEST_REQUEST))
            except EOFError:
                return
            run = self._pair if len(self._texts) > 1 else self._job
            count, cause, status, other = run(request)
            self._clean()
            ending = ENDING.pack(CAUSES.index(cause), status, other)
            write_all(self._replies, (len(ending) + count).to_bytes(HEADER, "big") + ending)
            # Written from where it lies: a copy would stay in the memory that children inherit.
            write_all(self._replies, memoryview(self._memory)[:count])

    def _job(self, request: dict[str, Any]) -> tuple[int, str, int, int]:
        """Run the job whose text comes next; the number of bytes that it wrote, and how it ended."""
        self._target.prepare(request)
        reading, writing = os.pipe()

        def run(job: dict[str, Any]) -> None:
            answer = _channel(writing, job)
            self._target.run({**job, **request}, job["start"], answer)

        # A backstop for all inputs together; the watch below holds each input to its own limit.
        child = self._forked(request, self._texts[0], (writing,), request["all_seconds"], run)
        os.close(writing)
        watch = _RunWatch((child,), reading, self._limits, request["cpu_seconds"])
        try:
            count, cause = watch.read(self._memory)
        finally:
            os.close(reading)
            status = _end(child)
        return count, cause, status, 0

    def _pair(self, request: dict[str, Any]) -> tuple[int, str, int, int]:
        """Run the pair whose texts come next; the number of bytes that its tests wrote, and both ends."""
        programs, tests = self._texts
        calls, to_program = os.pipe()
        results, from_program = os.pipe()
        seconds = request["all_seconds"]

        def serve(job: dict[str, Any]) -> None:
            self._target.serve(job, calls, from_program)

        program = self._forked(request, programs, (calls, from_program), seconds, serve)
        # After the first fork, so that the program does not inherit the channel.
        reading, writing = os.pipe()

        def judge(job: dict[str, Any]) -> None:
            self._target.judge(job, to_program, results, _channel(writing, job))

        judging = self._forked(request, tests, (to_program, results, writing), seconds, judge)
        for pipe in (calls, to_program, results, from_program, writing):
            os.close(pipe)
        watch = _RunWatch((program, judging), reading, self._limits, request["cpu_seconds"])
        try:
            count, cause = watch.read(self._memory)
        finally:
            os.close(reading)
            status = _end(judging)
            other = _end(program, patience=_PATIENCE if status == GONE else 0.0)
        return count, cause, status, other

    def _forked(
        self,
        request: Mapping[str, Any],
        source: int,
        pipes: Sequence[int],
        seconds: int,
        run: Callable[[dict[str, Any]], None],
    ) -> int:
        """A child that reads its text from a pipe and runs it, with no other pipe open but `pipes`."""
        child = os.fork()
        if child:
            return child
        try:
            start = 3
            for pipe in sorted((source, *pipes)):
                os.closerange(start, pipe)
                start = pipe + 1
            os.closerange(start, self._limits.open_files)
            self._containment.close_job(seconds)
            # An earlier child that was ended too soon may have left its text in the pipe.
            while (job := json.loads(receive(source, limit=LARGEST_REQUEST)))["number"] != request["number"]:
                continue
            os.close(source)
            run(job)
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


def _channel(pipe: int, job: dict[str, Any]) -> Callable[[str], None]:
    """The function that answers, for a child that has read its text."""
    write = os.write  # bound now, because foreign code may replace `os.write`
    key = bytes.fromhex(job.pop("key"))

    def answer(text: str) -> None:
        rest = framed(text, key)
        while rest:
            rest = rest[write(pipe, rest) :]

    answer("")
    return answer


def framed(text: str, key: bytes) -> bytes:
    """A frame."""
    body = text.encode("utf-8", "surrogatepass")
    return key + len(body).to_bytes(HEADER, "big") + body + key


def _end(child: int, *, patience: float = 0.0) -> int:
    """End a child and return its status. With `patience`, it has so many seconds to end by itself."""
    end = time.monotonic() + patience
    while patience and time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(patience / 100)
    os.kill(child, signal.SIGKILL)  # also after its end: a zombie keeps its id until `waitpid`
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class _RunWatch:
    """Reads the answers of a run, and looks at its clocks while it is silent."""

    def __init__(self, children: Sequence[int], pipe: int, limits: RunLimits, cpu_seconds: float) -> None:
        # The ids of the clocks of other processes' processor time (`clock_getcpuclockid` of libc).
        self._clocks = [~child << 3 | 2 for child in children]
        self._pipe = pipe
        self._limits = limits
        self._cpu_seconds = cpu_seconds

    def read(self, memory: mmap.mmap) -> tuple[int, str]:
        """Read all output; its length, and the cause why reading stopped before its end."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        room = memoryview(memory)
        count = 0
        idle_since = silent_since = time.monotonic()
        at_answer = at_work = 0.0
        while True:
            if poll.poll(_TICK):
                part = os.readv(self._pipe, [room[count : count + CHUNK]])
                if not part:
                    return count, ""
                count += part
                if count > self._limits.answer_size:
                    return count, TOO_MUCH
                idle_since = silent_since = time.monotonic()
                at_answer = at_work = self._used()
                continue
            used, now = self._used(), time.monotonic()
            # Work starts the idle time anew: a run that waits for a busy machine still works a little.
            if used - at_work > _SOME_WORK:
                idle_since, at_work = now, used
            if used - at_answer > self._cpu_seconds:
                return count, CPU
            if now - idle_since > self._limits.idle_seconds:
                return count, IDLE
            if now - silent_since > SLOWEST * self._limits.idle_seconds:
                return count, IDLE

    def _used(self) -> float:
        return sum(map(time.clock_gettime, self._clocks))

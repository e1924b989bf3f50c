"""`exec/COMMAND`: a program as a model, with JSON lines on its standard input and output."""

import codecs
import hashlib
import io
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from typing_extensions import override

from codeaudit.audit.interface import BaseModel
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.provider import Provider, Settings
from codeaudit.audit.prompts import VERSION
from codeaudit.audit.records import Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.grammar import first_of
from codeaudit.transforms.permission import demand

TIMEOUT: Final = 600.0
"""Default number of seconds without an answer after which a program counts as hung."""
LONGEST_LINE: Final = 16 << 20
"""Largest answer in bytes. A program that writes more without a newline does not write lines."""
_TICK: Final = 0.2
"""Seconds between checks that a silent program still runs, because its children may keep its output open."""
_END_SECONDS: Final = 2.0
_CHUNK: Final = 1 << 16
_KEPT_LINES: Final = 200
"""Lines of its standard error that are kept, so that a traceback is whole."""
_LAST_LINES: Final = 3
_FRAME: Final = re.compile(r'File "(?P<file>[^"]+)", line \d+')
_PACKAGED: Final = re.compile(
    r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[.\d]*)[/\\]|^<", re.IGNORECASE
)
"""Files of Python and of installed packages."""
_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|\w*ACCESS_?KEY|KEY|KEYS|PAT|TOKENS?|SECRETS?|PASS|PASSWORDS?|PASSWD|PASSPHRASE"
    r"|CREDENTIALS?|AUTH|COOKIES?)(?:_|$)|(?:TOKEN|SECRET|PASSWORD|APIKEY)$"
    r"|^AWS_(?!CA_BUNDLE$|REGION$|DEFAULT_REGION$|PAGER$)",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@|\b(?:sk-|gh[a-z]_|github_pat_|glpat-|hf_|xox[a-z]-|AKIA)[\w-]{8}|-----BEGIN "
)
"""Addresses with a password, and the beginnings of well-known keys."""


class ProgramModel(BaseModel):
    """Writes `{"id", "task", "language", "source"}` lines and reads `{"id", "answer"}` lines, in any order.

    The program starts with the first query and ends when its input is closed. It may answer before a batch is
    written completely, so writing and reading happen at the same time. Its standard error is passed on; the
    last lines of it are part of the error when the program fails.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        fingerprint: str,
        timeout: float,
        allowed: Collection[str] = (),
    ) -> None:
        """`allowed` are the variables of the environment that the program gets although they look secret."""
        self.name = name
        self.fingerprint = fingerprint
        self.task: str | None = None
        self.parameters: int | None = None
        self.noise = 0.0
        self._command = list(command)
        self._timeout = timeout
        self._environment, self._withheld = open_environment(os.environ, allowed)
        self._running: _Running | None = None
        self._count = 0

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query.

        Raises:
            ModelError: the program cannot be started, ended, hangs, or breaks the protocol. It is then
                killed with all processes that it started.
        """
        running = self._running or self._start()
        try:
            return self._ask(running, queries)
        except BaseException:
            self._running = None
            running.kill()
            raise

    def _start(self) -> "_Running":
        try:
            running = _Running(self._command, self._environment)
        except OSError as error:
            why = error.strerror or str(error)
            if isinstance(error, FileNotFoundError):  # the file is there: `load` has looked
                why = (
                    "the program in its first line (#!) does not exist; a line that ends with CRLF names none"
                )
            raise ModelError(f"cannot start {self.name!r}: {why}") from error
        # Not `__del__`: a finalizer runs at the exit of the interpreter, too. It must not hold the model.
        weakref.finalize(self, running.end)
        self._running = running
        return running

    def _ask(self, running: "_Running", queries: Sequence[Query]) -> list[Prediction]:
        first = self._count
        self._count += len(queries)
        answers: dict[int, Prediction] = {}
        try:
            lines = running.talk(list(map(_question, range(first, self._count), queries)), self._timeout)
            while len(answers) < len(queries):
                number, prediction = self._answer(next(lines))
                if number < first or number in answers:
                    raise _BrokenError(f"answered the id {str(number)!r} twice")
                answers[number] = prediction
        except _BrokenError as broken:
            note = f"; {len(queries) - len(answers)} of the {self._count} queries so far had no answer"
            words = running.last_words()
            quoted = f"; its last words: {words}" if words else ""
            raise ModelError(f"{self.name!r} {broken}{note}{quoted}{self._hint()}") from None
        return [answers[number] for number in range(first, self._count)]

    def _hint(self) -> str:
        """What the program may have missed."""
        if not self._withheld:
            return ""
        return f"; it got no keys ({first_of(sorted(self._withheld), 3)}; -M env=NAME gives it one)"

    def _answer(self, line: bytes) -> tuple[int, Prediction]:
        """The number of the query that a line answers, and the answer."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise _BrokenError(f"wrote {_quoted(line)} to stdout, which is not UTF-8") from None
        try:
            row = json.loads(text)
            identity = str(row.pop("id"))
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            form = 'each line on stdout must be {"id": …, "answer": …}; print everything else to stderr'
            raise _BrokenError(f"wrote {_quoted(line)} to stdout: {form}") from None
        # `int` takes " 7", "+7" and "٧" as well; the slice keeps it from numbers with thousands of digits.
        known = identity.isascii() and identity.isdigit() and str(int(identity[:18])) == identity
        if not known or int(identity) >= self._count:
            raise _BrokenError(f"answered the id {identity[:60]!r}, which it was not asked")
        return int(identity), read_answer(row)


def open_environment(
    environment: Mapping[str, str], allowed: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables that a foreign program gets, and the names of those that it does not get.

    It gets none that looks like a secret by its name or its value, except the `allowed` ones.
    """
    withheld = [
        name
        for name, value in environment.items()
        if name not in allowed and (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value))
    ]
    return {name: value for name, value in environment.items() if name not in withheld}, tuple(withheld)


class _BrokenError(Exception):
    """The program cannot be used any more; the message says why."""


class _Running:
    """A running program and its pipes."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        # Its own process group, because Ctrl-C is ours to handle; the program ends when its input closes.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            # A Python program that does not flush would otherwise wait for us while we wait for it.
            env={"PYTHONUNBUFFERED": "1", **environment},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        # A program may answer while it reads: it would wait for us to read, and we for it to read.
        os.set_blocking(self._input.fileno(), False)
        self._tail: deque[str] = deque(maxlen=_KEPT_LINES)
        pipe = self._process.stderr
        self._listener = threading.Thread(target=_listen, args=(pipe, self._tail), daemon=True)
        self._listener.start()
        self._lines: deque[bytes] = deque()
        self._begun = bytearray()
        self._over = False

    def last_words(self) -> str:
        """The last lines on its standard error, in one line."""
        self._listener.join(timeout=_TICK)
        return " | ".join(_last_lines(list(self._tail)))

    def talk(self, questions: Sequence[bytes], timeout: float) -> Iterator[bytes]:
        """Write lines, and yield the lines that come back until the caller stops.

        Raises:
            _BrokenError: no line came for `timeout` seconds, a line is too long, or the program ended.
        """
        # A view, so that the rest is not copied for each part that the pipe takes.
        unsent = memoryview(b"".join(questions))
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            if not self._input.closed:
                selector.register(self._input, selectors.EVENT_WRITE)
            since = time.monotonic()
            while True:
                while self._lines:
                    line = self._lines.popleft()
                    if line.strip():
                        yield line
                        since = time.monotonic()
                gone = self._process.poll() is not None  # checked before its last output is read
                ready = {key.fileobj for key, _ in selector.select(_TICK)}
                if self._input in ready:
                    unsent = self._send(unsent)
                    if not unsent:
                        selector.unregister(self._input)
                if self._output in ready:
                    if not self._receive():
                        raise _BrokenError(self._ending())
                elif gone:
                    raise _BrokenError(self._ending())
                # Since the last answer and not for a batch, because batches differ in size.
                if time.monotonic() - since > timeout and not self._lines:
                    hint = "does it flush each line? -M timeout=SECONDS sets the limit"
                    raise _BrokenError(f"gave no answer within {timeout:g} s ({hint})")

    def _send(self, data: memoryview) -> memoryview:
        """Write as much as the pipe takes; the rest of the data is returned."""
        try:
            return data[os.write(self._input.fileno(), data) :]
        except BlockingIOError:
            return data
        except OSError:  # it has closed its input; its output or its end says more
            return data[:0]

    def _receive(self) -> bool:
        """Read its output; false at the end. An incomplete last line counts if it is JSON."""
        part = os.read(self._output.fileno(), _CHUNK)
        *ends, rest = part.split(b"\n")
        for end in ends:
            self._lines.append(bytes(self._begun) + end)
            self._begun.clear()
        self._begun += rest
        if len(self._begun) > LONGEST_LINE:
            raise _BrokenError(f"wrote a line of more than {LONGEST_LINE >> 20} MiB")
        if not part and self._begun:
            with suppress(ValueError, RecursionError):
                json.loads(self._begun)
                self._lines.append(bytes(self._begun))
                self._begun.clear()
        return bool(part or self._lines)

    def _ending(self) -> str:
        """How the program ended, for messages."""
        where = "in the middle of a line" if self._begun else "before it had answered"
        try:
            code = self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            return f"closed its output {where}"
        if code < 0:
            with suppress(ValueError):
                return f"was killed by {signal.Signals(-code).name} {where}"
        return f"ended with status {code} {where}"

    def end(self) -> None:
        """Close its input, wait `_END_SECONDS` for it to end, then kill it."""
        with suppress(OSError):
            self._input.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill it with all processes that it started, which are its process group."""
        if self._over:  # its number may belong to another process group by now
            return
        self._over = True
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join(timeout=_END_SECONDS)
        for pipe in (self._input, self._output):
            with suppress(OSError):
                pipe.close()


def _question(number: int, query: Query) -> bytes:
    row: dict[str, object] = {"id": str(number), "task": query.task, "language": query.language}
    row["source"] = query.source
    if query.labels:
        row["labels"] = query.labels
    row |= query.beside
    return json.dumps(row).encode() + b"\n"


def _last_lines(lines: Sequence[str]) -> Sequence[str]:
    """The last lines. Of a traceback of Python, the innermost line of the user's own file and the error."""
    frames = [
        line for line in lines if (match := _FRAME.search(line)) and not _PACKAGED.search(match["file"])
    ]
    last = list(lines[-_LAST_LINES:])
    # The frame of a library may stand last, and the user's far above it.
    return last if not frames or frames[-1] in last else [frames[-1], lines[-1]]


def _quoted(line: bytes) -> str:
    return repr(line.strip()[:60].decode(errors="backslashreplace"))


def _listen(pipe: IO[bytes] | None, tail: "deque[str]") -> None:
    """Pass on a program's standard error, and keep its last lines."""
    assert pipe is not None
    # A bar of the program returns to the beginning of its line; here each of its states is a line.
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
    begun = ""
    with pipe:
        while part := pipe.read(_CHUNK):
            text = decoder.decode(part)
            with suppress(OSError, ValueError):
                sys.stderr.write(text)
                sys.stderr.flush()
            *lines, begun = (begun + text).split("\n")
            begun = begun[-_CHUNK:]
            tail.extend(line.strip()[:200] for line in lines if line.strip())
    if begun.strip():
        tail.append(begun.strip()[:200])


def load(name: str, settings: Settings) -> ProgramModel:
    """The model for a command; nothing is started yet.

    Raises:
        UsageError: the command is empty or has an open quote, only a file names it, the timeout is not
            positive, or a variable is not set.
        ModelError: there is no such program.
    """
    try:
        command = shlex.split(name)
    except ValueError as error:
        raise UsageError(f"cannot read the command of model 'exec/{name}': {error}") from error
    if not command:
        raise UsageError("model 'exec/' has no command")
    demand(f"exec/{name}", noun="model")
    program = shutil.which(command[0])
    if program is None:
        if Path(command[0]).is_file():
            why = f"{command[0]!r} is not executable; chmod +x {shlex.quote(command[0])}"
        else:
            why = f"no program {command[0]!r}"
        raise ModelError(f"cannot start 'exec/{name}': {why}")
    timeout = float(settings.arguments.get("timeout", TIMEOUT))
    if not timeout > 0:
        raise UsageError(f"argument timeout={timeout:g} of model 'exec/{name}' must be positive")
    allowed = [
        variable.strip() for variable in str(settings.arguments.get("env", "")).split(",") if variable.strip()
    ]
    for variable in allowed:
        if variable not in os.environ:
            raise UsageError(f"-M env={variable}: the environment has no variable {variable!r}")
    return ProgramModel(
        [program, *command[1:]],
        name=f"exec/{name}",
        fingerprint=_fingerprint(name, [program, *command[1:]], settings.arguments.get("version")),
        timeout=timeout,
        allowed=allowed,
    )


def _fingerprint(name: str, command: Sequence[str], version: str | float | None) -> str:
    """With the user's version, answers are shared between runs; else they are kept for one run only."""
    if version is not None:
        return f"exec/{name}@{version}?reading={VERSION}"
    digest = hashlib.sha256(name.encode())
    scripts = [Path(part) for part in command[1:] if Path(part).is_file()][:1]
    for path in [Path(command[0]), *scripts] if _is_script(command[0]) else scripts:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"volatile:exec/{name}:{digest.hexdigest()[:16]}"


def _is_script(program: str) -> bool:
    with suppress(OSError), open(program, "rb") as file:
        return file.read(2) == b"#!"
    return False


PROVIDER: Final = Provider(
    form="exec/COMMAND",
    summary='a program: a line {"id", "task", "language", "source"} in, a line {"id", "answer"} out',
    load=load,
    arguments={"version": str, "timeout": float, "env": str},
    runs_here=True,
)

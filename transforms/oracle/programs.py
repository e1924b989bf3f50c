"""Runs programs of other languages than Python, each with its tests in one text, contained as Python's are.

Each run has processes of its own in a private folder: without network, without the user's files and
environment, with limits on time, memory and output. A program shares its process with its tests. What shows
that they passed is a random key, written behind the last test: a program that ends before its tests has not
passed. One that looks for the key in its own file can forge it.
"""

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Final

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.oracle.calls import (
    Outcome,
    Passed,
    ProgramTrial,
    Raised,
    Result,
    Returned,
    TrialFailed,
    Unknown,
)
from codeaudit.transforms.oracle.carry import is_name
from codeaudit.transforms.oracle.containment import MEGABYTE, RunLimits, offered, require
from codeaudit.transforms.oracle.sandbox import ROOT
from codeaudit.transforms.oracle.server import BROKEN, CHUNK, CPU, HEADER, IDLE, TOO_MUCH
from codeaudit.transforms.oracle.single import (
    MISSING,
    MOST_PARTS,
    NO_RETURN,
    NO_START,
    NOT_PLAIN,
    THROWS,
    TOO_LONG,
    UNDEFINED,
    UNSTABLE,
)
from codeaudit.transforms.oracle.toolchains import PROGRAM, Toolchain, installed

_BOOT: Final = (
    f"import sys; sys.path.insert(0, {ROOT!r}); from codeaudit.transforms.oracle.launch import main; main()"
)
NOT_COMPILED: Final = "it does not compile"
FAILED: Final = "its tests failed"
"""The failure of a program whose errors name nothing."""
_COMPILE_SECONDS: Final = 10.0
_COMPILE_MEMORY: Final = 2048 * MEGABYTE
_OUTPUT: Final = MEGABYTE
"""Bytes that a program may print."""
_START_SECONDS: Final = 3.0
"""Seconds that starting may take, beside the run itself."""
_PATIENCE: Final = 3
"""Factor between the processor time and the clock time of a run."""

_UNFIT: Final = {"missing": MISSING, "strange": NOT_PLAIN, "long": TOO_LONG, "raised": THROWS}
_NEEDS: Final = ("ReferenceError", "Cannot find module")
"""In the errors of a program that lacks something."""


class Programs:
    """Runs the programs of a language."""

    def __init__(self, tool: Toolchain, *, cpu_seconds: float) -> None:
        """Each program with its tests may use `cpu_seconds` of processor time, rounded up to whole seconds.

        Raises:
            CannotAudit: this machine cannot contain programs, or lacks the tool.
        """
        self._layers = offered()
        require(self._layers)
        known = installed(tool)
        if known is None:
            raise CannotAudit(tool.missing)
        self._tool, self._installed = tool, known
        self._limits = RunLimits(cpu_seconds=cpu_seconds, memory=tool.memory, resident=tool.resident)

    def outcomes(self, trials: Sequence[ProgramTrial]) -> list[Outcome]:
        """The outcome of each trial, in order."""
        return [self._outcome(trial) for trial in trials]

    def _outcome(self, trial: ProgramTrial) -> Outcome:
        key = secrets.token_hex(16)
        after = self._tool.after.replace("{key}", key)
        text = f"{self._tool.before}{trial.program}{self._tool.between}{trial.tests}{after}"
        printed, errors, ended, cut = self.ran(text)
        status, used, started = ended[-1] if ended else (-signal.SIGKILL, 0.0, True)
        if not started:
            raise CannotAudit(f"programs can't be run safely here: {self._tool.command} did not start")
        if cut:
            return TrialFailed(cut, certain=cut == TOO_MUCH)
        if status and self._tool.build and len(ended) == 1:
            return TrialFailed(NOT_COMPILED)
        if not status and printed.rstrip().endswith(key):
            return Passed()
        if status == -signal.SIGXCPU or used >= self._limits.cpu_seconds:
            return TrialFailed(CPU)
        named = self._tool.failures.search(errors)
        return TrialFailed(named[1] if named else f"killed by signal {-status}" if status < 0 else FAILED)

    def ran(self, text: str, runs: Sequence[str] = ()) -> tuple[str, str, list[tuple[int, float, bool]], str]:
        """What a program printed on its two streams; of each step its status, its time, and whether it
        started; and why the program was ended (empty if it ended by itself).

        With `runs` it runs once with each of these arguments, one after the other, whatever their ends.
        """
        with scratch_folder("program") as folder:
            place = str(folder)
            telling, writing = os.pipe()
            job: dict[str, Any] = {
                "folder": place,
                "layers": asdict(self._layers),
                "limits": asdict(self._limits),
                "files": {self._tool.file: text},
                "steps": self._steps(place, runs),
                "told": writing,
            }
            # No argument, because a text may be longer than those may be.
            file = os.memfd_create("job")
            os.write(file, json.dumps(job).encode())
            os.lseek(file, 0, os.SEEK_SET)
            process = subprocess.Popen(
                [sys.executable, "-S", "-s", "-P", "-B", "-X", "utf8", "-c", _BOOT, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": "/nonexistent", "LANG": "C.UTF-8"},
                cwd=place,
                pass_fds=(writing, file),
                start_new_session=True,
            )
            os.close(writing)
            os.close(file)
            try:
                printed, errors, cut = self._read(process, len(runs) or 1)
            finally:
                # The session holds only its processes; what a namespace holds ends with its first one.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            with open(telling, "rb") as pipe:
                ended = json.loads(pipe.read()[HEADER:] or "[]")
        return printed, errors, [(int(end), float(used), bool(started)) for end, used, started in ended], cut

    def _steps(self, folder: str, runs: Sequence[str]) -> list[dict[str, Any]]:
        """The steps that run a program, after one that compiles it if the language has a compiler."""
        tool, known = self._tool, self._installed
        environment = {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "TZ": "UTC"}
        step = {
            "words": [known.path, *tool.run, tool.file],
            "readable": known.readable,
            "executable": known.executable,
            "environment": {**environment, "PATH": "/nonexistent", **tool.environment},
            "limits": asdict(self._limits),
            "starts": False,
            "needed": not runs,
        }
        if not tool.build:
            words = [known.path, *tool.run, tool.file]
            return [{**step, "words": [*words, *more]} for more in _words(runs)]
        limits = replace(self._limits, cpu_seconds=_COMPILE_SECONDS, memory=_COMPILE_MEMORY, resident=0)
        build = {
            **step,
            "words": [known.path, *tool.build],
            "environment": {**environment, "PATH": known.path_list},
            "limits": asdict(limits),
            "starts": True,
            "needed": True,
        }
        program = os.path.join(folder, PROGRAM)
        loader, *libraries = known.libraries
        run = {**step, "readable": libraries, "executable": [program, loader]}
        return [build, *({**run, "words": [program, *more]} for more in _words(runs))]

    def _read(self, process: subprocess.Popen[bytes], runs: int) -> tuple[str, str, str]:
        """What a process prints until it ends, and the cause if it has to be ended before."""
        assert process.stdout is not None
        assert process.stderr is not None
        end = time.monotonic() + _START_SECONDS + _PATIENCE * self._limits.cpu_seconds * runs
        end += _PATIENCE * _COMPILE_SECONDS if self._tool.build else 0
        outputs = {process.stdout: bytearray(), process.stderr: bytearray()}
        with selectors.DefaultSelector() as waiting, process.stdout, process.stderr:
            for stream in outputs:
                waiting.register(stream, selectors.EVENT_READ)
            cut = ""
            while waiting.get_map() and not cut:
                ready = waiting.select(max(0.0, end - time.monotonic()))
                if not ready:
                    cut = IDLE
                for key, _ in ready:
                    part = os.read(key.fd, CHUNK)
                    if part:
                        outputs[key.fileobj] += part  # type: ignore[index]
                    else:
                        waiting.unregister(key.fileobj)
                if sum(map(len, outputs.values())) > _OUTPUT:
                    cut = TOO_MUCH
        printed, errors = (output.decode("utf-8", "replace") for output in outputs.values())
        return printed, errors, cut


def _words(runs: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return ((run,) for run in runs) if runs else ((),)


class ProgramCaller(Programs):
    """Evaluates calls in a language whose tool can (`Toolchain.value`), each in a process of its own.

    The program shares the process with its observer, so it can lie about its own value.
    """

    def results(self, calls: Sequence[tuple[str, str]]) -> list[Result]:
        """The result of each call behind its program, in order. Values are literals of the language.

        Where a tool builds programs, each call runs twice, and a result that is not the same is unknown.
        """
        if not self._tool.case:
            return [self._called(program, [call])[0] for program, call in calls]
        by_program = {text: [call for program, call in calls if program == text] for text, _ in calls}
        by_call = {
            (program, call): result
            for program, group in by_program.items()
            for call, result in zip(group, self._built(program, group), strict=True)
        }
        return [by_call[pair] for pair in calls]

    def _built(self, program: str, calls: Sequence[str]) -> list[Result]:
        """The results of calls that one build holds; of each half alone where one does not compile."""
        results = self._called(program, calls)
        if (
            len(calls) == 1
            or Unknown(NOT_COMPILED) not in results
            or Unknown(NOT_COMPILED) in self._called(program)
        ):
            return results
        half = len(calls) // 2
        return [*self._built(program, calls[:half]), *self._built(program, calls[half:])]

    def _called(self, program: str, calls: Sequence[str] = ()) -> list[Result]:
        key, tool = secrets.token_hex(16), self._tool
        text = tool.value.replace("{key}", key).replace("{parts}", str(MOST_PARTS))
        cases = [
            (tool.case or "{call}").replace("{number}", str(number)).replace("{call}", call)
            for number, call in enumerate(calls)
        ]
        text = text.replace("{call}", "".join(cases))
        numbers = [str(number) for number in range(len(cases) or 1)]  # without a call: whether it compiles
        if not tool.case:
            return self._results(program + text, key, numbers)
        results = self._results(program + text, key, [*numbers, *(f"{number}/2" for number in numbers)])
        pairs = zip(results, results[len(numbers) :], strict=False)
        return [first if first == again else _different(first, again) for first, again in pairs]

    def written(self, program: str, runs: Sequence[str]) -> list[Result]:
        """What a program tells in each of these runs. It writes `{key}` and what it tells as `value` does."""
        key = secrets.token_hex(16)
        return self._results(program.replace("{key}", key).replace("{parts}", str(MOST_PARTS)), key, runs)

    def _results(self, text: str, key: str, numbers: Sequence[str]) -> list[Result]:
        tool = self._tool
        runs = numbers if tool.case else []
        printed, errors, ended, cut = self.ran(tool.before + text, runs)
        if ended and not ended[-1][2]:
            raise CannotAudit(f"programs can't be run safely here: {tool.command} did not start")
        if cut:
            return [Unknown(cut, certain=cut == TOO_MUCH) for _ in numbers]
        if not ended:
            return [Unknown(NO_START) for _ in numbers]
        if tool.build and len(ended) == 1:
            return [Unknown(NOT_COMPILED) for _ in numbers]
        if not runs:
            return [self._result_of(printed, errors, key, *ended[-1][:2])]
        parts, reports = _by_run(printed, key), _by_run(errors, key)
        return [
            self._result_of(parts.get(number, ""), reports.get(number, ""), key, *step[:2])
            for number, step in zip(runs, ended[1:], strict=True)
        ]

    def _result_of(self, printed: str, errors: str, key: str, status: int, used: float) -> Result:
        _, mark, text = printed.rpartition(key)
        if mark:
            return _result(text)
        if status == -signal.SIGXCPU or used >= self._limits.cpu_seconds:
            return Unknown(CPU)
        if self._tool.undefined is not None:
            is_undefined = status and self._tool.undefined.search(errors)
            return Unknown(UNDEFINED if is_undefined else NO_RETURN)
        return Unknown(MISSING if any(need in errors for need in _NEEDS) else NO_START)


def _different(*results: Result) -> Result:
    """The result of a call that ended otherwise when it ran again."""
    return next(
        (result for result in results if isinstance(result, Unknown) and not result.certain),
        Unknown(UNSTABLE),
    )


def _by_run(printed: str, key: str) -> dict[str, str]:
    """What each run printed, by its argument, from the line on that begins it."""
    parts = (part.partition("\n") for part in printed.split(f"\n{key}<")[1:])
    return {number: text for number, _, text in parts}


def _result(answer: str) -> Result:
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        return Unknown(BROKEN)
    match content:
        case ["value", str(text)]:
            return Returned(text)
        case ["kind", str(name)] if is_name(name):
            return Raised(name)
        case ["unfit", str(reason)] if reason in _UNFIT:
            return Unknown(_UNFIT[reason])
    return Unknown(BROKEN)

"""A project's own tests, run by its own command: the result of each test.

pytest is asked by a plugin of ours, however it is started; `unittest` tells in its verbose output; JUnit,
Maven and Gradle in the files `TEST-*.xml` that they write; of every other command the exit code is the one
result.
"""

import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias

from codeaudit.transforms.errors import RunError

State: TypeAlias = Literal["passed", "failed", "skipped"]

Teller: TypeAlias = Literal["pytest", "unittest", "junit", "exit code"]
"""Who tells of the tests one by one, if somebody does."""

SUPPORT: Final = Path(__file__).with_name("support")
"""On the path of the tests: the plugin and the probe."""
WHOLE: Final = "the whole command"
"""The one test of a command that tells nothing but its exit code."""
SHOWN: Final = 4000
"""Characters kept of a test's failure and of a command's output."""

REPORTS: Final = "TEST-*.xml"
"""How the files are called in which Java's runners tell of tests."""

_HEADER: Final = re.compile(r"^(\w+ \([\w.<>]+\))", re.MULTILINE)
_REPORT: Final = re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.<>]+\)).*\n(?:[^\n]*\n)??-{70}\n", re.MULTILINE)
_PASSED: Final = re.compile(r"(?:\.\.\. |^)ok$", re.MULTILINE)
_SKIPPED: Final = re.compile(r"(?:\.\.\. |^)(?:skipped|expected failure)\b", re.MULTILINE)
_WORST: Final[Sequence[State]] = ("failed", "passed", "skipped")
_RAN: Final = re.compile(r"^Ran \d+ tests? in ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one test."""

    state: State
    text: str = ""
    """How it failed, as its runner tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What became of all tests."""

    results: Mapping[str, Result]
    told_by: Teller
    code: int
    output: str
    """The end of what the command printed."""
    seconds: float
    timed_out: bool
    hits: frozenset[int] = field(default_factory=frozenset)
    """The numbers of the units that were executed, where the run was to find out."""

    def passed(self) -> frozenset[str]:
        """The tests that passed."""
        return frozenset(name for name, result in self.results.items() if result.state == "passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How a project is tested."""

    words: tuple[str, ...]
    folder: Path
    """The copy of the project, in which the command runs."""
    scratch: Path
    """A folder for what the tests report."""
    roots: tuple[Path, ...]
    """What goes first on the path of imports."""
    timeout: float | None
    """Seconds for a run."""

    def run(self, only: Collection[str] | None = None) -> Run:
        """Run the tests, or, where pytest runs them, `only` those.

        Raises:
            RunError: the command cannot be started.
        """
        results, chosen, hits, output = (
            self.scratch / name for name in ("results", "only", "hits", "output")
        )
        for place in (results, hits):
            place.unlink(missing_ok=True)
        temporary = self.scratch / "tmp"  # what tests leave behind goes with the copy
        temporary.mkdir(exist_ok=True)
        extra = {
            "_CODEAUDIT_RESULTS": str(results),
            "_CODEAUDIT_HITS": str(hits),
            "TMPDIR": str(temporary),
        }
        if only is not None:
            chosen.write_text(json.dumps(sorted(only)), encoding="utf-8")
            extra["_CODEAUDIT_ONLY"] = str(chosen)
        output.touch()
        since = output.stat().st_mtime_ns
        began = time.monotonic()
        code, timed_out = self._finished(output, extra)
        seconds = time.monotonic() - began
        text = output.read_text(encoding="utf-8", errors="replace")
        found, told_by = self._results(results, text, code, since)
        return Run(
            results=found,
            told_by=told_by,
            code=code,
            output=text[-SHOWN:],
            seconds=seconds,
            timed_out=timed_out,
            hits=frozenset(map(int, hits.read_text().split())) if hits.exists() else frozenset(),
        )

    def _finished(self, output: Path, extra: Mapping[str, str]) -> tuple[int, bool]:
        with (
            output.open("wb") as file,
            _started(self._words(), self.folder, self._environment(extra), file) as process,
        ):
            try:
                return process.wait(self.timeout), False
            except subprocess.TimeoutExpired:
                return -signal.SIGKILL, True

    def _results(self, path: Path, output: str, code: int, since: int) -> tuple[dict[str, Result], Teller]:
        if path.exists():
            return pytest_results(path.read_text(encoding="ascii").splitlines()), "pytest"
        if found := unittest_results(output):
            return found, "unittest"
        places = [one for one in sorted(self.folder.rglob(REPORTS)) if one.is_file()]
        reports = [one for one in places if one.stat().st_mtime_ns >= since]
        if found := junit_results([one.read_bytes() for one in reports]):
            return found, "junit"
        return {WHOLE: Result("failed" if code else "passed", output[-SHOWN:] if code else "")}, "exit code"

    def _words(self) -> list[str]:
        verbose = "unittest" in self.words and not {"-v", "--verbose"} & set(self.words)
        return [*self.words, *(["-v"] if verbose else [])]

    def _environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        before = os.environ.get("PYTHONPATH")
        path = [str(SUPPORT), *map(str, self.roots), *([before] if before else [])]
        options = os.environ.get("PYTEST_ADDOPTS", "")
        return {
            **os.environ,
            **extra,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTEST_ADDOPTS": f"{options} -p _codeaudit_pytest".strip(),
        }


@contextmanager
def _started(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], output: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, of which nothing is left at the end."""
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise RunError(
            f"cannot run the test command {words[0]!r}: {error.strerror or error}; "
            "give --test-command a program that is installed here"
        ) from error
    try:
        yield process
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def pytest_results(lines: Sequence[str]) -> dict[str, Result]:
    """The results that the plugin wrote; a test that did not come to its end has failed."""
    found: dict[str, Result] = {}
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:  # the process was killed while it wrote
            continue
        name, when, outcome = row["id"], row["when"], row["outcome"]
        known = found.get(name)
        if when == "start":
            found[name] = Result("failed", "the test did not finish")
        elif outcome == "failed":
            earlier = known.text + "\n" if known and known.state == "failed" and when == "teardown" else ""
            found[name] = Result("failed", (earlier + row["text"])[-SHOWN:])
        elif outcome == "skipped":
            found[name] = Result("skipped")
        elif when == "call" and outcome == "passed":
            found[name] = Result("passed")
    return found


def unittest_results(output: str) -> dict[str, Result]:
    """The results in the verbose output of `unittest`; empty where it is not one."""
    if not _RAN.search(output) and " ... ok" not in output:
        return {}
    listed = output.split("\n" + "=" * 70 + "\n")[0]
    headers = list(_HEADER.finditer(listed))
    found: dict[str, Result] = {}
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(listed)
        told = listed[header.start() : end]
        state: State = "failed"
        if _SKIPPED.search(told):
            state = "skipped"
        elif _PASSED.search(told):
            state = "passed"
        found[header[1]] = Result(state)
    for report in _REPORT.finditer(output):
        text = output[report.end() :].split("\n" + "=" * 70 + "\n")[0]
        found[report[1]] = Result("failed", text[-SHOWN:])
    return found


def junit_results(reports: Iterable[bytes]) -> dict[str, Result]:
    """The results in JUnit's XML. Of tests of one name, as of one with several inputs, the worst counts.

    What is no such file is passed over.
    """
    found: dict[str, Result] = {}
    for report in reports:
        try:
            cases = list(ElementTree.fromstring(report).iter("testcase"))
        except ElementTree.ParseError:
            continue
        for case in cases:
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            result = _junit_result(case)
            if name not in found or _WORST.index(result.state) < _WORST.index(found[name].state):
                found[name] = result
    return found


def _junit_result(case: ElementTree.Element) -> Result:
    for told in case:
        if told.tag in ("failure", "error"):
            return Result("failed", (told.text or told.get("message") or "")[:SHOWN])
        if told.tag == "skipped":
            return Result("skipped")
    return Result("passed")

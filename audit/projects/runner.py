"""Runs a project's own test command and reads the result of each test. Called by `codeaudit verify`.

Sources of results:
- pytest: our plug-in writes a line per test, however pytest is started;
- unittest: its verbose output;
- JUnit, Maven, Gradle, and whatever else writes JUnit's XML: the files `TEST-*.xml`;
- TAP, as tape, Node's own runner and many others print it;
- any other command: its exit code is the only result.
"""

import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias

from codeaudit.audit.projects.build_output import BuildOutput, build_output
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.source_files import Numbering

State: TypeAlias = Literal["passed", "failed", "skipped"]

ResultSource: TypeAlias = Literal["pytest", "unittest", "junit", "tap", "exit code"]
"""Where the results were read from."""

SUPPORT: Final = Path(__file__).with_name("support")
"""On the import path of the tests: the pytest plug-in and the probe."""
WHOLE: Final = "the whole command"
"""The name of the only result of a command with nothing but an exit code."""
SHOWN: Final = 4000
"""Characters kept of a failure's text and of a command's output."""

REPORTS: Final = "TEST-*.xml"
"""The result files of Java's test runners."""

_TAP: Final = re.compile(r"^(?:TAP version \d+|\d+\.\.\d+)[ \t]*(?:#.*)?$", re.MULTILINE)
"""The first line of the Test Anything Protocol, or the one that tells the number of tests."""
_POINT: Final = re.compile(r"[ \t]*(?P<bad>not )?ok\b(?: \d+)?(?: -)? ?(?P<name>[^#\n]*)(?P<rest>[^\n]*)")
_TITLE: Final = re.compile(r"[ \t]*# (?:Subtest: )?(?P<title>[^\n]*)")
_HEADER: Final = re.compile(r"^(\w+ \([\w.<>]+\))", re.MULTILINE)
_REPORT: Final = re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.<>]+\)).*\n(?:[^\n]*\n)??-{70}\n", re.MULTILINE)
_PASSED: Final = re.compile(r"(?:\.\.\. |^)ok$", re.MULTILINE)
_SKIPPED: Final = re.compile(r"(?:\.\.\. |^)(?:skipped|expected failure)\b", re.MULTILINE)
_WORST: Final[Sequence[State]] = ("failed", "passed", "skipped")
_RAN: Final = re.compile(r"^Ran \d+ tests? in ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectTestResult:
    """The result of one test."""

    state: State
    text: str = ""
    """The failure as the test runner printed it; empty if it did not fail."""


Results: TypeAlias = Mapping[str, ProjectTestResult]
"""By the name of the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTestRun:
    """One run of the test command."""

    results: Results
    told_by: ResultSource
    code: int
    output: str
    """The end of the command's output."""
    build: BuildOutput
    """What all of the output says about the command's end."""
    seconds: float
    timed_out: bool
    hits: frozenset[int] = field(default_factory=frozenset)
    """Numbers of the units that were executed; empty unless probes were inserted."""

    @property
    def reported(self) -> bool:
        """Whether a test runner reported tests or files of tests; false if only the exit code is known."""
        return bool(self.results.keys() - {WHOLE})

    def passed(self) -> frozenset[str]:
        """Names of the tests that passed."""
        return frozenset(name for name, result in self.results.items() if result.state == "passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTestCommand:
    """A project's test command."""

    words: tuple[str, ...]
    folder: Path
    """The copy of the project; the command's working directory."""
    scratch: Path
    """A folder for results and temporary files."""
    roots: tuple[Path, ...]
    """Folders for the front of the import path."""
    timeout: float | None
    """Seconds for one run; `None` for no limit."""

    def run(self, only: Collection[str] | None = None) -> ProjectTestRun:
        """Run all tests. If pytest runs them, only those named in `only`; other runners always run all.

        Raises:
            RunError: the command cannot be started.
        """
        results, chosen, hits, output = (
            self.scratch / name for name in ("results", "only", "hits", "output")
        )
        for place in (results, hits):
            place.unlink(missing_ok=True)
        temporary = self.scratch / "tmp"  # tests may leave files behind; these are deleted with the copy
        temporary.mkdir(exist_ok=True)
        extra = {
            "_CODEAUDIT_RESULTS": str(results),
            "_CODEAUDIT_HITS": str(hits),
            "TMPDIR": str(temporary),
        }
        if only is not None:
            chosen.write_text(json.dumps(sorted(only)), encoding="utf-8")
            extra["_CODEAUDIT_ONLY"] = str(chosen)
        # Reports that a run leaves as they are belong to the project or to another command.
        earlier = self._reports()
        began = time.monotonic()
        code, timed_out = self._finished(output, extra)
        seconds = time.monotonic() - began
        text = output.read_text(encoding="utf-8", errors="replace")
        by_test, told_by = self._results(results, text, code, earlier)
        return ProjectTestRun(
            results=by_test,
            told_by=told_by,
            code=code,
            output=text[-SHOWN:],
            build=build_output(text),
            seconds=seconds,
            timed_out=timed_out,
            hits=frozenset(map(int, hits.read_text().split())) if hits.exists() else frozenset(),
        )

    def work(
        self, plugin: str, extra: Mapping[str, str], timeout: float | None, tick: Callable[[], None]
    ) -> tuple[bool, str]:
        """Run the command with another plug-in of `SUPPORT` in pytest. `tick` is called now and then.

        Returns whether it ran into the time limit, and the end of its output.

        Raises:
            RunError: the command cannot be started.
        """
        output = self.scratch / "output"
        temporary = self.scratch / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = self._environment({**extra, "TMPDIR": str(temporary)}, plugin)
        end = None if timeout is None else time.monotonic() + timeout
        late = False
        with (
            output.open("wb") as file,
            _started(self._words(), self.folder, environment, file) as process,
        ):
            while process.poll() is None and not late:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
                tick()
                late = end is not None and time.monotonic() > end
        return late, output.read_text(encoding="utf-8", errors="replace")[-SHOWN:]

    def _finished(self, output: Path, extra: Mapping[str, str]) -> tuple[int, bool]:
        with (
            output.open("wb") as file,
            _started(self._words(), self.folder, self._environment(extra), file) as process,
        ):
            try:
                return process.wait(self.timeout), False
            except subprocess.TimeoutExpired:
                return -signal.SIGKILL, True

    def _reports(self) -> dict[Path, tuple[int, int, int]]:
        """The result files of Java's test runners, each with what differs once it is written anew."""
        stats = {path: path.stat() for path in sorted(self.folder.rglob(REPORTS)) if path.is_file()}
        return {path: (stat.st_mtime_ns, stat.st_ino, stat.st_size) for path, stat in stats.items()}

    def _results(
        self, path: Path, output: str, code: int, earlier: Mapping[Path, tuple[int, int, int]]
    ) -> tuple[Results, ResultSource]:
        if path.exists():
            return pytest_results(path.read_text(encoding="ascii").splitlines()), "pytest"
        if by_test := unittest_results(output):
            return by_test, "unittest"
        reports = [report for report, stamp in self._reports().items() if earlier.get(report) != stamp]
        if by_test := junit_results([report.read_bytes() for report in reports]):
            # Gradle leaves out tests whose sources did not change since their reports were written.
            for report in reports:
                with suppress(OSError):
                    report.unlink()
            return by_test, "junit"
        if by_test := tap_results(output):
            return by_test, "tap"
        return {
            WHOLE: ProjectTestResult("failed" if code else "passed", output[-SHOWN:] if code else "")
        }, "exit code"

    def _words(self) -> list[str]:
        if "unittest" not in self.words:
            return [*self.words]
        words = [word for word in self.words if word not in {"-f", "--failfast"}]
        return words if {"-v", "--verbose"} & set(words) else [*words, "-v"]

    def _environment(self, extra: Mapping[str, str], plugin: str = "_codeaudit_pytest") -> dict[str, str]:
        before = os.environ.get("PYTHONPATH")
        path = [str(SUPPORT), *map(str, self.roots), *([before] if before else [])]
        options = os.environ.get("PYTEST_ADDOPTS", "")
        return {
            **os.environ,
            **extra,
            "PYTHONPATH": os.pathsep.join(path),
            # A cached module has the time of its source in whole seconds, so a file that is perturbed within
            # the second would not be compiled again.
            "PYTHONDONTWRITEBYTECODE": "1",
            # Sets have one order in all runs, so that their order is no difference between them.
            "PYTHONHASHSEED": "0",
            "PYTEST_ADDOPTS": f"{options} -p {plugin}".strip(),
        }


@contextmanager
def _started(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], output: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in its own session. At exit the whole process group is killed."""
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that killing the group ends the servers that tests start, too
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


def pytest_results(lines: Sequence[str]) -> Results:
    """The results in the plug-in's lines. A test that started and did not finish has failed."""
    by_test: dict[str, ProjectTestResult] = {}
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:  # the process was killed while it wrote
            continue
        name, when, outcome = row["id"], row["when"], row["outcome"]
        last = by_test.get(name)
        if when == "start":
            # Replaced by its result, unless the process is killed or exits in the middle of the test.
            by_test[name] = ProjectTestResult("failed", "the test did not finish")
        elif outcome == "failed":
            # An error in the teardown does not hide that of the test, which has the traceback that is
            # searched.
            earlier = last.text + "\n" if last and last.state == "failed" and when == "teardown" else ""
            by_test[name] = ProjectTestResult("failed", (earlier + row["text"])[-SHOWN:])
        elif outcome == "skipped":
            by_test[name] = ProjectTestResult("skipped")
        elif when == "call" and outcome == "passed":
            by_test[name] = ProjectTestResult("passed")
    return by_test


def unittest_results(output: str) -> Results:
    """The results in the verbose output of `unittest`; empty if the output is not from it."""
    if not _RAN.search(output) and " ... ok" not in output:
        return {}
    # The first line of 70 `=` ends the list of tests; the failures with their tracebacks follow it.
    listed = output.split("\n" + "=" * 70 + "\n")[0]
    headers = list(_HEADER.finditer(listed))
    by_test: dict[str, ProjectTestResult] = {}
    for number, header in enumerate(headers):
        # What a test prints stands between its header and its result, so the result is looked for up to the
        # next.
        end = headers[number + 1].start() if number + 1 < len(headers) else len(listed)
        part = listed[header.start() : end]
        state: State = "failed"
        if _SKIPPED.search(part):
            state = "skipped"
        elif _PASSED.search(part):
            state = "passed"
        by_test[header[1]] = ProjectTestResult(state)
    for report in _REPORT.finditer(output):
        text = output[report.end() :].split("\n" + "=" * 70 + "\n")[0]
        by_test[report[1]] = ProjectTestResult("failed", text[-SHOWN:])
    return by_test


def tap_results(output: str) -> Results:
    """The results in lines of the Test Anything Protocol; empty if the output has none.

    A test is named after its line and the comment above it; of equal names each has its number. The lines
    behind a failure are its text.
    """
    if not _TAP.search(output):
        return {}
    by_test: dict[str, ProjectTestResult] = {}
    title, numbering = "", Numbering()
    failed, lines = "", list[str]()
    for line in output.split("\n"):
        point, heading = _POINT.fullmatch(line), _TITLE.fullmatch(line)
        if point is None and heading is None:
            lines.append(line)
            continue
        if failed:
            by_test[failed] = ProjectTestResult("failed", "\n".join(lines)[:SHOWN])
            failed = ""
        lines = []
        if heading is not None:
            title = heading["title"]
        if point is not None:
            name = numbering.of(f"{title}::{point['name'].strip()}")
            skipped = re.match(r"#\s*(?:skip|todo)", point["rest"], re.IGNORECASE) is not None
            by_test[name] = ProjectTestResult(
                "skipped" if skipped else "failed" if point["bad"] else "passed"
            )
            failed = name if by_test[name].state == "failed" else ""
    if failed:
        by_test[failed] = ProjectTestResult("failed", "\n".join(lines)[:SHOWN])
    return by_test


def junit_results(reports: Iterable[bytes]) -> Results:
    """The results in JUnit XML files. Files that are not XML are ignored.

    A name may occur several times (a parametrised test); the worst result counts: failed, passed, skipped.
    """
    by_test: dict[str, ProjectTestResult] = {}
    for report in reports:
        try:
            cases = list(ElementTree.fromstring(report).iter("testcase"))
        except ElementTree.ParseError:
            continue
        for case in cases:
            name = f"{case.get('classname', '')}::{case.get('name', '')}"
            result = _junit_result(case)
            if name not in by_test or _WORST.index(result.state) < _WORST.index(by_test[name].state):
                by_test[name] = result
    return by_test


def _junit_result(case: ElementTree.Element) -> ProjectTestResult:
    for child in case:
        if child.tag in ("failure", "error"):
            return ProjectTestResult("failed", _java_trace(child.text or child.get("message") or ""))
        if child.tag == "skipped":
            return ProjectTestResult("skipped")
    return ProjectTestResult("passed")


def _java_trace(text: str) -> str:
    """A failure's text, cut where it is long: its beginning and its innermost cause."""
    half = SHOWN // 2
    cause = text.rfind("\nCaused by: ")
    if len(text) <= SHOWN or cause < half:
        return text[:SHOWN]
    return text[:half].rpartition("\n")[0] + text[cause : cause + half]

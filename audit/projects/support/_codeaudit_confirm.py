"""A pytest plug-in for the project under test: tries functions in another order, one after the other.

`_CODEAUDIT_CONFIRM` names a JSON file with the job; results are appended to the file that it names, as lines
of JSON. There are two jobs:

- `cover`: run all tests once, note which statements of the targets each test executes, and then run in a
  forked child all that passed once more, to see which of them pass again.
- `try`: for each candidate, fork a child, put the candidate's file on the disk, give its code to every live
  function that has the old code, and run the tests that execute it. A child that hangs is killed.

The children keep what a test breaks away from the next candidate. The plug-in runs in the project's own
Python, so it imports only pytest and the standard library.
"""

import ctypes
import gc
import json
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

import pytest

_PARENT_DEATH = 1
"""PR_SET_PDEATHSIG of Linux's `prctl`: the signal that a process gets when its parent dies."""


def pytest_configure(config: Any) -> None:
    """Register the loop, in the main process only: a pytest that a test starts must not see the job."""
    place = os.environ.pop("_CODEAUDIT_CONFIRM", None)
    if place is not None and getattr(config, "workerinput", None) is None:
        with open(place, encoding="utf-8") as file:
            config.pluginmanager.register(_Loop(json.load(file)), "_codeaudit_loop")


class _Loop:
    def __init__(self, job: Any) -> None:
        self._job = job
        self._failed = False
        self._passed = False

    def _write(self, row: Any) -> None:
        with open(self._job["results"], "a", encoding="ascii") as file:
            file.write(json.dumps(row) + "\n")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail"):
            self._passed = True
        if report.outcome == "failed":
            self._failed = True

    def _run(self, item: Any, following: Any) -> bool:
        """Whether a test passes."""
        self._failed = self._passed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self._passed and not self._failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> Any:
        if session.config.option.collectonly or not session.items:
            return None
        # pytest counts failures for its options such as `-x`; here a failure is a result like any other.
        session.config.option.maxfail = 0
        if self._job["mode"] == "cover":
            self._cover(session.items)
        else:
            self._try(session.items)
        return True

    # ── which test executes what ─────────────────────────────────────────────────────────────────────

    def _cover(self, items: Any) -> None:
        tracer = _Tracer(self._job["targets"])
        passed = []
        for number, item in enumerate(items):
            began = time.monotonic()
            tracer.start()
            try:
                good = self._run(item, items[number + 1] if number + 1 < len(items) else None)
            finally:
                hits = tracer.stop()
            if good:
                passed.append(item)
            self._write(
                {"test": item.nodeid, "passed": good, "seconds": time.monotonic() - began, "hits": hits}
            )

        # A test that cannot run twice in one process, or whose result changes, is no witness.
        def again() -> Any:
            return [
                item.nodeid
                for number, item in enumerate(passed)
                if self._run(item, passed[number + 1] if number + 1 < len(passed) else None)
            ]

        self._write({"steady": _forked(again, self._job["limit"])})

    # ── trying candidates ────────────────────────────────────────────────────────────────────────────

    def _try(self, items: Any) -> None:
        by_name = {item.nodeid: item for item in items}
        live = _live_functions({candidate["file"] for candidate in self._job["candidates"]})
        loaded = {_real(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())}
        for candidate in self._job["candidates"]:
            self._write(
                {"candidate": candidate["number"], "result": self._tried(candidate, live, loaded, by_name)}
            )

    def _tried(self, candidate: Any, live: Any, loaded: Any, by_name: Any) -> Any:
        with open(candidate["source"], "rb") as file:
            new = file.read()
        with open(candidate["file"], "rb") as file:
            old = file.read()

        def action() -> Any:
            # A module that no test has imported yet is read from the disk.
            if not _swapped(candidate, old, new, live) and candidate["file"] in loaded:
                return "unreachable"
            for half in ("confirm", "judge"):
                tests = [by_name[name] for name in candidate[half] if name in by_name]
                if len(tests) < len(candidate[half]):
                    return "missing"
                for number, item in enumerate(tests):
                    following = tests[number + 1] if number + 1 < len(tests) else None
                    if not self._run(item, following):
                        return [half, item.nodeid]
            return "passed"

        stamp = os.stat(candidate["file"])
        try:
            # Reloads and other processes read the file.
            _put(candidate["file"], new)
            outcome = _forked(action, candidate["limit"])
        finally:
            _put(candidate["file"], old)
            os.utime(candidate["file"], ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        return outcome


def _put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


class _Tracer:
    """Notes which statements of the targets run, in all threads."""

    def __init__(self, targets: Any) -> None:
        self._by_file = {}  # type: Any
        self._places = []  # type: Any
        """For each target the numbers of its statements by line."""
        for number, target in enumerate(targets):
            self._by_file.setdefault(target["file"], []).append((target["first"], target["last"], number))
            lines = {}  # type: Any
            for place, (first, last) in enumerate(target["statements"]):
                for line in range(first, last + 1):
                    lines.setdefault(line, set()).add(place)
            self._places.append(lines)
        self._sizes = [len(target["statements"]) for target in targets]
        self._known = {}  # type: Any
        self._hits = {}  # type: Any

    def start(self) -> None:
        self._hits = {}
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> Any:
        """By target, the numbers of the statements that ran."""
        sys.settrace(None)
        threading.settrace(None)
        return {number: sorted(hit) for number, hit in self._hits.items() if hit}

    def _call(self, frame: Any, event: str, argument: object) -> Any:
        code = frame.f_code
        try:
            number = self._known[code]
        except KeyError:
            number = self._known[code] = self._target(code)
        if number is None:
            return None
        hit = self._hits.setdefault(number, set())
        size = self._sizes[number]
        # Tracing every line is slow, so it ends with the last statement that is looked for.
        if len(hit) == size:
            return None
        places = self._places[number]

        def line(frame: Any, event: str, argument: object) -> Any:
            if event == "line":
                hit.update(places.get(frame.f_lineno, ()))
                if len(hit) == size:
                    frame.f_trace = None
                    return None
            return line

        return line

    def _target(self, code: Any) -> Any:
        for first, last, number in self._by_file.get(_real(code.co_filename), ()):
            if first <= code.co_firstlineno <= last:
                return number
        return None


def _swapped(candidate: Any, old: bytes, new: bytes, live: Any) -> bool:
    """Give a candidate's code to the live functions that have the old code; false if they cannot have it."""
    before, after = (
        _tree(compile(data, candidate["file"], "exec", dont_inherit=True), candidate) for data in (old, new)
    )
    if before is None or after is None:
        return False
    pairs = []  # type: Any
    if not _pair(before, after, pairs):
        return False
    swapped = False
    for was, becomes in pairs:
        for function in live.get((candidate["file"], was.co_firstlineno, was.co_name), ()):
            if function.__code__ == was:
                # Cells are found by their place, so that the names must be the same.
                if was.co_freevars != becomes.co_freevars:
                    return False
                function.__code__ = becomes
                swapped |= was is before
    return swapped


def _tree(code: Any, candidate: Any) -> Any:
    """The code of the candidate in the code of its file."""
    deeper = None
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if (inner.co_firstlineno, inner.co_name) == (candidate["first"], candidate["name"]):
                return inner
            deeper = deeper or _tree(inner, candidate)
    return deeper


def _pair(before: Any, after: Any, pairs: Any) -> bool:
    """Pair the code of a function and of all functions in it with the new code; false if some have no pair.

    A function in it may move, and there may be several of one name, such as lambdas.
    """
    pairs.append((before, after))
    left = [inner for inner in after.co_consts if isinstance(inner, CodeType)]
    for inner in before.co_consts:
        if isinstance(inner, CodeType):
            same = [other for other in left if other.co_name == inner.co_name]
            if len(same) > 1:
                same = [other for other in same if _shape(other) == _shape(inner)]
            if not same or any(_shape(other) != _shape(same[0]) for other in same):
                return False
            left.remove(same[0])
            if not _pair(inner, same[0], pairs):
                return False
    return not left


def _shape(code: Any) -> Any:
    """A code without its lines."""
    constants = tuple(
        _shape(constant) if isinstance(constant, CodeType) else (type(constant), repr(constant))
        for constant in code.co_consts
    )
    return (code.co_name, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants)


def _live_functions(files: Any) -> Any:
    """The function objects by file, first line and name. Closures of one code are several objects."""
    functions = {}  # type: Any
    for function in gc.get_objects():
        if type(function) is FunctionType:
            code = function.__code__
            file = _real(code.co_filename)
            if file in files:
                functions.setdefault((file, code.co_firstlineno, code.co_name), []).append(function)
    return functions


_places = {}  # type: dict[str, str]


def _real(path: str) -> str:
    place = _places.get(path)
    if place is None:
        place = _places[path] = os.path.realpath(path) if path else ""
    return place


def _forked(action: Any, limit: float) -> Any:
    """The result of an action in a forked child; "hung" or "crashed" if it does not give one."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        own = os.getpid()
        os.close(out)
        os.setpgid(0, 0)
        # Should the parent be killed, the child ends with it: on Linux at once, elsewhere by the alarm.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(limit) + 10)
        try:
            text = json.dumps(action()).encode("ascii")
            # A test may fork, and its child may come back here.
            if os.getpid() == own:
                while text:
                    text = text[os.write(into, text) :]
        finally:
            os._exit(0)
    os.close(into)
    text, end = b"", time.monotonic() + limit
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([out], [], [], left)[0]:
            result = "hung"
            break
        part = os.read(out, 1 << 16)
        if not part:
            result = json.loads(text.decode("ascii")) if text else "crashed"
            break
        text += part
    os.close(out)
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return result

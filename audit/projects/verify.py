"""Runs a project's own tests before and after its code is perturbed; the measurement of `codeaudit verify`.

All work is done on a copy. A test counts only if it passed in two runs before. A test that fails after a
perturbation runs again without, with and without it: this separates unsteady tests from changes of meaning.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from codeaudit.audit.projects.build_output import build_output
from codeaudit.audit.projects.files import (
    CountsByTransform,
    FileResult,
    copy_tree,
    file_format,
    languages,
    meant,
    prepare,
    probes,
    read_file,
    unread_line,
)
from codeaudit.audit.projects.runner import WHOLE, ProjectTestResult, ProjectTestRun
from codeaudit.audit.projects.working_copy import ChangedFile, WorkingCopy, changed_files, new_bytes
from codeaudit.audit.run import AnswerMonitor
from codeaudit.transforms.errors import CannotAudit, SourceError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.source_files import MODULE, SourceUnit, changed_units, function_names

STOPPED: Final = "the perturbed project does not build or start its tests"
"""The name of the one finding that stands for all tests without a result."""
REASONS: Final = 3
"""Number of reasons shown if nothing could be perturbed."""
PATIENCE: Final = (60.0, 5.0)
"""The default limit for a run: seconds, plus this multiple of the first run's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTests:
    """The tests of the unperturbed copy."""

    told_by: str
    passed: frozenset[str]
    """Tests that passed in every run."""
    failed: int
    skipped: int
    unsteady: int
    """Tests that passed in one run and not in the other."""
    seconds: float

    @property
    def passing(self) -> str:
        """How many pass, in words."""
        return "1 test passes" if len(self.passed) == 1 else f"{len(self.passed):,} tests pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerCheck:
    """How far the tests can see the changed units."""

    units: int
    """Outermost functions and methods of the files to perturb."""
    changed: int
    """Units, and module bodies, that some seed changed."""
    executed: int
    """The changed ones that tests execute."""
    caught: int | None
    """Tests that failed when every changed unit raised an error; `None` if the tests then hang."""
    stopped: bool = False
    """Whether no test was reported then: the test command itself uses the changed units, as pytest uses
    those of pluggy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFailure:
    """A test that passed before and fails after the perturbation."""

    test: str
    text: str
    units: tuple[SourceUnit, ...]
    """The perturbed units in its traceback, innermost first."""
    tests: int = 1
    """How many tests it stands for; more than one if `test` is `STOPPED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyTrial:
    """One seed."""

    seed: int
    files: Mapping[str, ChangedFile]
    """The perturbed files, by path."""
    counts: CountsByTransform
    failures: tuple[NewFailure, ...]
    flaky: int
    """Tests that failed after the perturbation, but then also on the unperturbed copy, or not again."""
    seconds: float
    timed_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of `codeaudit verify`."""

    before: BaselineTests
    power: PowerCheck
    trials: tuple[VerifyTrial, ...]
    unread: Mapping[str, str]
    """The files that could not be read, by path, with the reason."""

    @property
    def held(self) -> bool:
        """Whether every test that passed before passes after each perturbation."""
        return not any(trial.failures for trial in self.trials)


def verify(copy: WorkingCopy) -> Verification:
    """Run the tests, perturb the copy, and run the tests again for each seed.

    Raises:
        CannotAudit: no test passed before, nothing could be perturbed, or the tests do not run the copy.
        RunError: the command cannot be started.
    """
    before = baseline(copy)
    copy.say(f"before: {before.passing} in {before.seconds:,.1f} s ({before.told_by})")
    unread: dict[str, str] = {}
    drawn = {seed: _perturbed(copy, seed, unread) for seed in copy.request.seeds}
    if unread:
        copy.say(unread_line(unread))
    power = _power(copy, before, list(drawn.values()))
    trials = []
    for seed, (files, counts) in drawn.items():
        trial = perturbed_tests(copy, before, seed, files, counts)
        failures = "1 new failure" if len(trial.failures) == 1 else f"{len(trial.failures):,} new failures"
        copy.say(f"seed {seed}: {failures} in {trial.seconds:,.1f} s")
        trials.append(trial)
    return Verification(before=before, power=power, trials=tuple(trials), unread=unread)


def baseline(copy: WorkingCopy) -> BaselineTests:
    """Run the tests of the unperturbed copy twice. Sets the command's time limit where it has none.

    Raises:
        CannotAudit: no test passes twice.
        RunError: the command cannot be started.
    """
    first = copy.run({})
    passed = first.passed()
    if not passed:
        raise CannotAudit(_nothing_passed(first))
    # A test that fails now and then would look like a change of meaning. Two runs that differ show it.
    again = copy.run({}).passed()
    every, passed = passed | again, passed & again
    if not passed:
        raise CannotAudit("no test passes twice on the unchanged project; make its tests repeatable")
    # A perturbed program may loop for ever, but it may also be a little slower.
    if copy.command.timeout is None:
        constant, factor = PATIENCE
        copy.command = replace(copy.command, timeout=constant + factor * first.seconds)
    states = [result.state for name, result in first.results.items() if name not in every]
    return BaselineTests(
        told_by=first.told_by,
        passed=passed,
        failed=states.count("failed"),
        skipped=states.count("skipped"),
        unsteady=len(every - passed),
        seconds=first.seconds,
    )


def tests_fail(count: int) -> str:
    """`1 test fails`, `3 tests fail`."""
    return "1 test fails" if count == 1 else f"{count:,} tests fail"


def _nothing_passed(run: ProjectTestRun) -> str:
    texts = [
        result.text for name, result in run.results.items() if result.state == "failed" and name != WHOLE
    ]
    # A build says in other words than a failing test why it ended.
    reason = build_output(texts[0]).reason if texts else run.build.reason
    detail = f": {reason}" if reason else ""
    why = "no test passes on the unchanged project"
    if run.build.style_gate:
        why = f"a style gate of the build, {run.build.style_gate}, stops the tests"
    if run.timed_out:
        why = "the test command ran into the time limit"
    return f"{why} (exit code {run.code}{detail}); run the command yourself in a fresh copy of the project"


def _perturbed(
    copy: WorkingCopy, seed: int, unread: dict[str, str]
) -> tuple[dict[str, ChangedFile], CountsByTransform]:
    """The files of a seed. Adds to `unread` the files that could not be read."""
    counts: CountsByTransform = {}
    names = copy.drawn(seed)
    prepare(counts, names)
    with copy.progress.counting(f"seed {seed}: perturb", len(copy.paths), unit="files") as monitor:
        files = changed_files(_counted(copy.perturbed(seed), monitor, unread), counts)
    copy.say(f"seed {seed}: {len(files):,} of {counted(len(copy.paths), 'file')} changed")
    left_out = len(meant(copy.request.transforms, languages(copy.paths))) - len(names)
    if left_out:
        copy.say(
            f"seed {seed}: {counted(left_out, 'transform')} left out: each would undo one that was drawn"
        )
    return files, counts


def _counted(
    results: Iterable[FileResult], monitor: AnswerMonitor, unread: dict[str, str]
) -> Iterator[FileResult]:
    for result in results:
        yield result
        if result.unread:
            unread[result.path] = result.unread
        monitor.answered(1, recalled=False)


def units_of(files: Mapping[str, ChangedFile]) -> Iterator[tuple[tuple[str, str], bytes]]:
    """The units that differ in these files, as (path, unit name), each with its file before."""
    for path, file in files.items():
        for name in changed_units(file_format(path, file.before), file.before, file.after):
            yield (path, name), file.before


def executed_units(copy: WorkingCopy, units: Mapping[tuple[str, str], bytes]) -> frozenset[tuple[str, str]]:
    """The units that the tests execute. `units` as from `units_of`.

    Raises:
        RunError: the command cannot be started.
    """
    every = list(units)
    noted = {unit: probes(unit[0], units[unit]).noting(number) for number, unit in enumerate(every)}
    return frozenset(every[number] for number in copy.run(_with_first(units, noted)).hits)


def _power(
    copy: WorkingCopy,
    before: BaselineTests,
    drawn: Sequence[tuple[Mapping[str, ChangedFile], CountsByTransform]],
) -> PowerCheck:
    """Prove that the tests run the copy, and count the changed units that they execute."""
    changed = {unit: before for files, _ in drawn for unit, before in units_of(files)}
    if not changed:
        reasons: Counter[str] = Counter()
        for _, counts in drawn:
            for total in counts.values():
                reasons.update(total.reasons)
        listed = ", ".join(f"{reason}: {number:,}" for reason, number in reasons.most_common(REASONS))
        raise CannotAudit(
            "nothing could be perturbed; choose other transforms or another --source"
            + (f" (most frequent reasons: {listed})" if listed else "")
        )
    executed = len(executed_units(copy, changed))
    # A module that raises on import says nothing about the tests of its functions.
    functions = [unit for unit in changed if unit[1] != MODULE]
    raising = {unit: probes(unit[0], changed[unit]).raising for unit in functions or changed}
    run = copy.run(_with_first(changed, raising))
    # If pytest reports files that it cannot import, their tests have failed and it has not stopped.
    stopped = not run.timed_out and before.passed.isdisjoint(run.results) and not run.reported
    # A build of several modules may end in a later one.
    if before.passed.difference(run.results) or (before.told_by == "exit code" and run.code):
        _check_gate(run)
        # Then the inserted statements were refused, and nothing is known of the changed units.
        if run.build.compiler:
            raise CannotAudit(
                "with an error raised in every changed unit the project does not build; narrow the changed "
                f"code with --source: {run.build.reason}"
                + (f"; {run.build.remedy}" if run.build.remedy else "")
            )
    caught = None if run.timed_out else len(before.passed - run.passed())
    if caught is None:
        noticed = "when these raise, the test command runs into the time limit"
    elif stopped:
        noticed = f"when these raise, the test command itself stops: {run.build.reason}"
    else:
        noticed = f"{tests_fail(caught)} of {len(before.passed):,} when these raise"
    copy.say(f"power check: tests run {executed:,} of the {len(changed):,} changed units; {noticed}")
    # Without this check, tests of an installed copy would pass under every perturbation.
    if caught == 0:
        raise CannotAudit(
            "the tests did not notice errors raised in every changed unit: they run no changed code, or "
            "another copy that is installed; uninstall that copy, or name the tested code with --source"
        )
    copy.put({})
    texts = ((path, read_file(copy.folder / path)) for path in copy.paths)
    units = sum(len(function_names(file_format(path, data), data)) for path, data in texts)
    return PowerCheck(units=units, changed=len(changed), executed=executed, caught=caught, stopped=stopped)


def _check_gate(run: ProjectTestRun) -> None:
    """Check that the build did not refuse the style of the code, which says nothing of its meaning.

    Raises:
        CannotAudit: it did.
    """
    if run.build.style_gate:
        raise CannotAudit(
            f"a style gate of the build refuses changed code: {run.build.reason}; switch "
            f"{run.build.style_gate!r} off in --test-command"
        )


def _with_first(
    originals: Mapping[tuple[str, str], bytes], statements: Mapping[tuple[str, str], str]
) -> dict[str, bytes]:
    """The files of these units, with the given statement at the start of each unit."""
    by_file: dict[str, dict[str, str]] = {}
    for (path, name), statement in statements.items():
        by_file.setdefault(path, {})[name] = statement
    data = {path: before for (path, _), before in originals.items()}
    return {
        path: probes(path, data[path]).with_first(data[path], by_name) for path, by_name in by_file.items()
    }


def perturbed_tests(
    copy: WorkingCopy,
    before: BaselineTests,
    seed: int,
    files: Mapping[str, ChangedFile],
    counts: CountsByTransform,
) -> VerifyTrial:
    """Run the tests with these files perturbed, and again where tests fail that passed before.

    Raises:
        CannotAudit: a style gate of the build refuses the changed code.
        RunError: the command cannot be started.
    """
    run = copy.run(new_bytes(files))
    if copy.request.keep is not None:
        copy_tree(copy.folder, copy.request.keep / f"seed-{seed}")
    # Tests without a result count as failing: an error at import makes all tests of a file disappear.
    suspects = before.passed - run.passed()
    steady = suspects
    if suspects:
        if suspects.difference(run.results) or before.told_by == "exit code":
            _check_gate(run)
        copy.say(f"seed {seed}: {tests_fail(len(suspects))}; running them again without and with the changes")
        # Without, with, without: a test that depends on the clock seldom fails in just this order. All tests
        # run each time, because a test may depend on what an earlier one left.
        steady = suspects & copy.run({}).passed()
        if steady:
            steady -= copy.run(new_bytes(files)).passed()
        if steady:
            steady &= copy.run({}).passed()
    failures = tuple(_failures(copy, before, steady, run, files))
    return VerifyTrial(
        seed=seed,
        files=files,
        counts=counts,
        failures=failures,
        flaky=len(suspects - steady),
        seconds=run.seconds,
        timed_out=run.timed_out,
    )


def without_result(run: ProjectTestRun, tests: Collection[str]) -> frozenset[str]:
    """The tests that a run says nothing about, because the build or the test command ended before.

    Empty if only a part of them is missing and no compiler says why: then a file of tests is broken.
    """
    missing = frozenset(tests).difference(run.results)
    return missing if len(missing) == len(tests) or run.build.compiler else frozenset()


def _failures(
    copy: WorkingCopy,
    before: BaselineTests,
    steady: frozenset[str],
    run: ProjectTestRun,
    files: Mapping[str, ChangedFile],
) -> Iterator[NewFailure]:
    """The findings: one for each test that fails, and one for all tests without a result."""
    missing = steady & without_result(run, before.passed)
    # Each failing test is a finding with its name; a broken build is one finding.
    if len(missing) > 1:
        first = _failure(copy, min(missing), run, files)
        text = run.build.compiler or first.text
        units = _units(copy, f"{run.build.compiler}\n{text}", files)
        yield NewFailure(test=STOPPED, text=text, units=units, tests=len(missing))
        steady -= missing
    for test in sorted(steady):
        yield _failure(copy, test, run, files)


def _failure(
    copy: WorkingCopy, test: str, run: ProjectTestRun, files: Mapping[str, ChangedFile]
) -> NewFailure:
    result = run.results.get(test) or _missing(test, run)
    return NewFailure(test=test, text=result.text, units=_units(copy, result.text, files))


def _units(copy: WorkingCopy, text: str, files: Mapping[str, ChangedFile]) -> tuple[SourceUnit, ...]:
    traced = units_in_traceback(text, copy.folder, new_bytes(files))
    by_name = {(unit.path, unit.name): unit for file in files.values() for unit in file.applied}
    return tuple(by_name[unit] for unit in traced if unit in by_name)


def _missing(test: str, run: ProjectTestRun) -> ProjectTestResult:
    """The failure of a test without a result: that of its file or folder, else the end of the output."""
    # A syntax error in a test file, or in its conftest.py, is one result for all tests below.
    file = test.split("::")[0]
    for name, result in run.results.items():
        if result.state == "failed" and name and (file == name or file.startswith(name + "/")):
            return result
    return ProjectTestResult("failed", run.output)


_FRAMES: Final = (
    re.compile(r'File "([^"\n]+\.py)", line (\d{1,9})'),
    re.compile(r"^([^\s:][^:\n]*\.(?:py|java|[ch])):(\d{1,9}):", re.MULTILINE),
    re.compile(r"(?:\(|\bat )(?:file://)?([^\s():][^\s()]*\.[cm]?[jt]sx?):(\d{1,9}):\d"),
)
"""A frame as Python writes it, as pytest, javac and gcc write it, and as Node writes it: file, line."""
_JVM: Final = re.compile(r"\bat (?:[\w.@-]*/)*([\w$.]+)\.[\w$<>]+\((\w+\.java):(\d{1,9})\)")
"""A frame as the JVM writes it: class, file without its folder, line."""
_CAUSE: Final = re.compile(r"^\s*Caused by: ", re.MULTILINE)


def units_in_traceback(text: str, folder: Path, files: Mapping[str, bytes]) -> tuple[tuple[str, str], ...]:
    """The units that contain a frame of the traceback, innermost first, as (path, unit name).

    `files` are the candidates by path relative to `folder`. Frames in other files are ignored.
    """
    units: dict[tuple[str, str], None] = {}
    frames = [match for pattern in _FRAMES for match in pattern.finditer(text)]
    for frame in sorted(frames, key=lambda match: match.start(), reverse=True):
        path = _relative(frame[1], folder)
        if path in files:
            units[path, _unit(path, files[path], int(frame[2]))] = None
    for part in reversed(_CAUSE.split(text)):  # the last cause is the innermost
        for frame in _JVM.finditer(part):
            package = frame[1].rpartition(".")[0].replace(".", "/")
            name = f"{package}/{frame[2]}".lstrip("/")
            # The JVM knows the package and the file's name, but not the folder of sources above them.
            for path in [path for path in files if f"/{path}".endswith(f"/{name}")]:
                units[path, _unit(path, files[path], int(frame[3]))] = None
    return tuple(units)


def _relative(name: str, folder: Path) -> str:
    # pytest writes paths relative to its folder, Python absolute ones; a temporary folder may be behind a
    # link, as on macOS.
    absolute = os.path.normpath(os.path.join(folder, name))
    for root in (folder, folder.resolve()):
        if absolute.startswith(f"{root}{os.sep}"):
            return Path(absolute).relative_to(root).as_posix()
    return name


def _unit(path: str, data: bytes, line: int) -> str:
    try:
        form = file_format(path, data)
        places = form.places(form.decode(data).text)
    except SourceError:
        return MODULE
    return next((place.name for place in places if place.first <= line <= place.last), MODULE)

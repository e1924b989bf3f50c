"""The command `codeaudit verify`: checks the transforms with a project's own tests."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.audit.projects import bisect as bisecting
from codeaudit.audit.projects import verify as verifying
from codeaudit.audit.projects.bisect import Bisection, Culprit
from codeaudit.audit.projects.files import (
    CountsByTransform,
    add,
    languages,
    source_files,
    unit_diff,
    unread_line,
)
from codeaudit.audit.projects.verify import (
    STOPPED,
    NewFailure,
    Verification,
    VerifyTrial,
    tests_fail,
)
from codeaudit.audit.projects.working_copy import ChangedFile, VerifyRequest, WorkingCopy, keep_folder
from codeaudit.cli.options import (
    POSITIVE,
    Real,
    format_option,
    option,
    path_option,
    real_path,
    run_option,
    transform_option,
)
from codeaudit.cli.output import PROGRESS, counts_json, counts_sheet, show_sheet, show_text
from codeaudit.options import listed
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.registry import ALL, expand, levelled, related
from codeaudit.transforms.source_files import SourceUnit

PYTEST: Final = "pytest -q"
"""The test command if none is given."""
SHOWN: Final = 10
"""Number of failing tests shown with the units in their tracebacks, for each seed."""
LINES: Final = 12
"""Number of lines shown of a failure's text."""
_FRAME: Final = re.compile(r"\s+at [\w.$/@-]+\.[\w$<>]+\(")
"""A frame as the JVM writes it."""


@click.command("verify")
@click.argument("project", type=click.Path(path_type=Path), metavar="PROJECT")
@option(
    "--test-command",
    metavar="COMMAND",
    help="How the project is tested, from its top folder; for a shell's syntax: sh -c '…'. Single tests are "
    "read from pytest, unittest, JUnit's XML (Maven, Gradle, `ctest --output-junit TEST-c.xml`) and TAP "
    "(tape, `node --test --test-reporter=tap`); of any other command the exit code. Projects without Python "
    f"need it.  [default: {PYTEST}]",
    show_default=False,
)
@transform_option(
    "Transforms or families of them, one after the other. Of those that undo each other, a family and `all` "
    "draw one for each seed.",
    default=ALL,
)
@run_option("dependence")
@run_option("macros")
@option("--seeds", type=POSITIVE, default=1, metavar="N", help="Repeat with seeds S, S+1, …")
@run_option("seed", "The first seed.")
@option(
    "--source",
    "sources",
    multiple=True,
    metavar="PATH",
    help="A folder (without its tests) or file of the project to perturb; repeatable.  [default: all of it, "
    "without tests, documents, examples, setup.py]",
    show_default=False,
)
@option(
    "--timeout",
    type=Real(min=0, min_open=True),
    metavar="SECONDS",
    help="Limit for one run of the tests.  [default: five times the first run and a minute]",
    show_default=False,
)
@path_option("--keep", "DIR", "Keep each perturbed copy in DIR/seed-S.")
@run_option("workers", "Number of processes that perturb.")
@option("--narrow/--no-narrow", default=True, help="Search for the smallest edit that makes tests fail.")
@format_option("rich", "json")
def verify(project: Path, narrow: bool, form: str, **options: Any) -> int:
    """Check the transforms on a project: perturb a copy of it, and run its own tests before and after.

    The project's tests and code run as they always do, with your rights and without a sandbox, but in a
    private copy; PROJECT itself is only read. Exit code 0: no test that passed fails now. 1: some do; they
    are listed with the perturbed units in their tracebacks and the smallest edit that was found to break
    them. 3: the tests cannot be run, or do not run the copy.

    \b
    Examples:
      codeaudit verify . --test-command "pytest -q"
      codeaudit verify . --test-command "python -m unittest discover -s tests" --seeds 5
      codeaudit verify . --source src/mypackage --transform reorder,rename
      codeaudit verify . --test-command "mvn -o -q test" --source src/main/java
      codeaudit verify . --test-command "npx tape 'test/**/*.js'" --source src
      codeaudit verify . --test-command "make -s test" --source src
    """
    request = _request(project, **options)
    with scratch_folder("verify") as scratch:
        copy = WorkingCopy.make(request, scratch, PROGRESS)
        if options["test_command"] is None:
            _check_default(copy)
        verified = verifying.verify(copy)
        culprits = {
            trial.seed: bisecting.bisect(copy, trial, verified.before.passed)
            if narrow
            else Bisection(culprits=(), unexplained=())
            for trial in verified.trials
            if trial.failures
        }
    if form == "json":
        show_text(json.dumps(as_json(request, verified, culprits), indent=2) + "\n")
    else:
        _show(verified, culprits)
    return 0 if verified.held else 1


def _request(
    project: Path,
    *,
    test_command: str | None,
    transform: str,
    dependence: Dependence,
    macros: MacroLevel,
    seeds: int,
    seed: int,
    sources: tuple[str, ...],
    timeout: float | None,
    keep: Path | None,
    workers: int,
) -> VerifyRequest:
    if not project.is_dir():
        raise CorpusError(f"no project {str(project)!r}: not a folder")
    names = expand(listed(transform), interface=False)
    if not names:
        raise UsageError("--transform names no transform; leave it out for all of them")
    if dependence == "confirmed":
        raise UsageError(
            "--dependence confirmed: `verify` would judge orders by the tests that chose them; "
            "use `codeaudit transform PROJECT --dependence confirmed`"
        )
    names = levelled(related(names, dependence), macros)
    if keep is not None:
        # A copy inside the project would be copied and perturbed itself by the next seed.
        if real_path(keep).is_relative_to(real_path(project)):
            raise UsageError(f"--keep {str(keep)!r} lies in the project; give a folder outside of it")
        keep_folder(keep)
    return VerifyRequest(
        project=project,
        words=command_words(PYTEST if test_command is None else test_command),
        transforms=names,
        given=frozenset(listed(transform)),
        seeds=tuple(range(seed, seed + seeds)),
        sources=tuple(_source(project, source) for source in sources),
        timeout=timeout,
        workers=workers,
        keep=keep,
    )


BUILDS: Final = {
    "mvnw": "./mvnw -o -q test",
    "pom.xml": "mvn -o -q test",
    "gradlew": "./gradlew --offline test",
    "build.gradle": "gradle --offline test",
    "build.gradle.kts": "gradle --offline test",
    "package.json": "npm test",
    "Makefile": "make -s test",
}
"""A usual test command by the file of a build; the first that is there counts."""
USUAL: Final = {"java": "mvn -o -q test", "c": "make -s test", "cpp": "make -s test"}
"""The same by the language of a project without such a file; of others `npm test`."""


def _check_default(copy: WorkingCopy) -> None:
    """Check that the default test command can test the project.

    Raises:
        UsageError: the project holds no Python, so pytest does not test it.
    """
    written = languages(copy.paths)
    if not written or "python" in written:
        return
    # Tests in Python may test code of C.
    if written != ("java",) and "python" in languages(source_files(copy.folder)):
        return
    builds = (words for file, words in BUILDS.items() if (copy.folder / file).exists())
    usual = next(builds, USUAL.get(written[0], "npm test"))
    titles = " and ".join(LANGUAGES.get(name).title for name in written)
    raise UsageError(
        f"{str(copy.request.project)!r} holds {titles} and no Python, and {PYTEST!r}, the default, does not "
        f"test {titles}; give --test-command, such as {usual!r}"
    )


def command_words(text: str) -> tuple[str, ...]:
    """The words of a test command.

    Raises:
        UsageError: it is empty, or cannot be split.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--test-command {text!r} cannot be read: {error}") from error
    if not words:
        raise UsageError("--test-command is empty; give a command such as 'pytest -q'")
    return words


def _source(project: Path, source: str) -> str:
    """A source as a path below the project."""
    root = real_path(project)
    # A source may be named from the project or from the working directory.
    for place in (root / source, real_path(Path(source))):
        if place.exists() and real_path(place).is_relative_to(root):
            return real_path(place).relative_to(root).as_posix()
    raise UsageError(f"--source {source!r} is no file or folder of {str(project)!r}")


def _show(verified: Verification, culprits: Mapping[int, Bisection]) -> None:
    counts: CountsByTransform = {}
    for trial in verified.trials:
        add(counts, trial.counts)
    seeds = ", ".join(str(trial.seed) for trial in verified.trials)
    title = f"seed {seeds}" if len(verified.trials) == 1 else f"seeds {seeds} together"
    show_sheet(counts_sheet(counts, title=title, units="units"))
    show_text("\n")
    for trial in verified.trials:
        for failure in trial.failures[:SHOWN]:
            show_text("\n".join(_failure_lines(trial, failure)) + "\n\n")
        if len(trial.failures) > SHOWN:
            rest = ", ".join(failure.test for failure in trial.failures[SHOWN:])
            show_text(f"{len(trial.failures) - SHOWN:,} more fail: {rest}\n\n")
        if trial.seed in culprits:
            show_text("\n".join(_culprit_lines(culprits[trial.seed])) + "\n")
    show_text("\n".join(_closing_lines(verified)) + "\n")


def _failure_lines(trial: VerifyTrial, failure: NewFailure) -> Iterator[str]:
    yield f"FAILS NOW (seed {trial.seed}): {failure.test}" + (
        f"; {failure.tests:,} tests have no result" if failure.test == STOPPED else ""
    )
    for line in _error_lines(failure.text):
        yield f"    {line}"
    for unit in failure.units:
        changed = trial.files[unit.path]
        yield f"  in its traceback: {_place(unit)}, touched by {', '.join(changed.applied[unit])}"
        yield from _indented(_diff(changed, unit))


def _error_lines(text: str) -> list[str]:
    """The lines of a failure's text that hold the error."""
    lines = text.strip().splitlines()
    # The JVM begins with the error and ends with the test runner's frames; Python does the opposite.
    if not any(map(_FRAME.match, lines)):
        return lines[-LINES:]
    causes = [line for line in lines[LINES:] if line.startswith("Caused by: ")]
    return lines[:LINES] + causes[-1:]


def _culprit_lines(narrowed: Bisection) -> Iterator[str]:
    for culprit in narrowed.culprits:
        units = " and ".join(f"{name} in {_place(unit)}" for unit, name in culprit.rewritten)
        yield f"CULPRIT: {units}"
        if culprit.tests == (STOPPED,):
            yield f"  alone it has the effect that {STOPPED}"
        else:
            count = len(culprit.tests)
            fail = "1 test fail:" if count == 1 else f"{count:,} tests fail, such as"
            yield f"  alone it makes {fail} {culprit.tests[0]}"
        yield from _indented(_culprit_diff(culprit))
    if narrowed.unexplained:
        names = ", ".join(narrowed.unexplained[:SHOWN])
        yield f"not narrowed down: {names}{', …' if len(narrowed.unexplained) > SHOWN else ''}"


def _closing_lines(verified: Verification) -> Iterator[str]:
    before, power = verified.before, verified.power
    left_out = [
        f"{count:,} {word}"
        for count, word in (
            (before.failed, "failed before"),
            (before.unsteady, "were unsteady before"),
            (before.skipped, "were skipped"),
        )
        if count
    ]
    yield f"before: {before.passing}" + (f"; {', '.join(left_out)}" if left_out else "")
    # Raising errors in all changed units shows whether the tests could notice a broken unit at all.
    noticed = "the tests run into the time limit" if power.caught is None else tests_fail(power.caught)
    noticed = "the test command itself stops" if power.stopped else noticed
    # Functions, methods, and what stands outside of them in a file.
    yield (
        f"power: tests run {power.executed:,} of {power.changed:,} changed units; {noticed} when the changed "
        "units raise errors"
    )
    if verified.unread:
        yield unread_line(verified.unread)
    for trial in verified.trials:
        late = " (ran into the time limit)" if trial.timed_out else ""
        flaky = f", {trial.flaky:,} flaky" if trial.flaky else ""
        failing = sum(failure.test != STOPPED for failure in trial.failures)
        broken = f"{STOPPED}; " if failing < len(trial.failures) else ""
        yield f"seed {trial.seed}: {broken}{tests_fail(failing)} that passed before{flaky}{late}"


def _place(unit: SourceUnit) -> str:
    return f"{unit.path}:{unit.line} {unit.name}"


def _diff(changed: ChangedFile, unit: SourceUnit) -> str:
    return unit_diff(unit.path, unit.name, changed.before, changed.after)


def _culprit_diff(culprit: Culprit) -> str:
    units = dict.fromkeys(unit for unit, _ in culprit.rewritten)
    return "".join(_diff(culprit.files[unit.path], unit) for unit in units if unit.path in culprit.files)


def _indented(text: str) -> Iterator[str]:
    return (f"    {line}" for line in text.splitlines())


def as_json(
    request: VerifyRequest, verified: Verification, culprits: Mapping[int, Bisection]
) -> dict[str, object]:
    """Everything, for programs."""
    before = verified.before
    return {
        "schema": 1,
        "project": str(request.project),
        "command": list(request.words),
        "transforms": list(request.transforms),
        "held": verified.held,
        "before": {
            "passed": len(before.passed),
            "failed": before.failed,
            "skipped": before.skipped,
            "unsteady": before.unsteady,
            "seconds": before.seconds,
            "told_by": before.told_by,
        },
        "power": asdict(verified.power),
        "unread": dict(verified.unread),
        "trials": [_trial_json(trial, culprits.get(trial.seed)) for trial in verified.trials],
    }


def _trial_json(trial: VerifyTrial, narrowed: Bisection | None) -> dict[str, object]:
    return {
        "seed": trial.seed,
        "files_changed": len(trial.files),
        "seconds": trial.seconds,
        "timed_out": trial.timed_out,
        "flaky": trial.flaky,
        "by_transform": counts_json(trial.counts),
        "failures": [
            {
                "test": failure.test,
                "text": failure.text,
                "tests": failure.tests,
                "units": [
                    {
                        **_unit_json(unit),
                        "transforms": list(trial.files[unit.path].applied[unit]),
                        "diff": _diff(trial.files[unit.path], unit),
                    }
                    for unit in failure.units
                ],
            }
            for failure in trial.failures
        ],
        "culprits": [
            {
                "tests": list(culprit.tests),
                "rewritten": [{**_unit_json(unit), "transform": name} for unit, name in culprit.rewritten],
                "diff": _culprit_diff(culprit),
                "runs": culprit.runs,
            }
            for culprit in (narrowed.culprits if narrowed else ())
        ],
        "unexplained": list(narrowed.unexplained) if narrowed else [],
    }


def _unit_json(unit: SourceUnit) -> dict[str, object]:
    return {"path": unit.path, "name": unit.name, "line": unit.line}

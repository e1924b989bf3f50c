"""A project's own tests before and after its code is perturbed.

All work is done on a copy. A test counts where it passed every time before; what fails then after a
perturbation is run once more on the unperturbed copy, to tell a flaky test from a change of meaning.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from codeaudit.audit.trees.files import (
    NOT_COPIED,
    FileResult,
    Plan,
    copy_tree,
    perturb_files,
    read_file,
    replace_file,
    source_files,
)
from codeaudit.audit.trees.frames import units_in_traceback
from codeaudit.audit.trees.languages import language, languages, meant, probes
from codeaudit.audit.trees.runner import Command, Result, Run
from codeaudit.audit.trees.tally import Tallies, count, prepare
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Sites
from codeaudit.transforms.trees import MODULE, Applied, Choice, Record, Unit, changed_units, function_names

CACHES: Final = NOT_COPIED | {
    ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs",
}  # fmt: skip
"""What a copy of a project does without."""

NOT_SOURCES: Final = frozenset(
    {"test", "tests", "doc", "docs", "example", "examples", "benchmark", "benchmarks", "build", "dist"}
)
"""Folders whose files are not perturbed."""
NOT_SOURCE_FILES: Final = frozenset({"setup.py", "conftest.py", "noxfile.py"})
TEST_FILE: Final = re.compile(r"test_.*\.py|.*_test\.py|Test[A-Z].*\.java|.*(?:Test|Tests|TestCase|IT)\.java")
"""Names of files that hold tests."""

CHEAP: Final = 60.0
"""Seconds below which the tests are run twice before anything is changed."""
PATIENCE: Final = (60.0, 5.0)
"""Seconds, and multiples of the first run's time, that a run may last where no limit is given."""

Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be verified, and how."""

    project: Path
    words: tuple[str, ...]
    """The test command."""
    transforms: tuple[str, ...]
    seeds: tuple[int, ...]
    sites: Sites = "auto"
    sources: tuple[str, ...] = ()
    """Files or folders of the project to perturb, with `/`; empty for all of it. Tests in them are not."""
    timeout: float | None = None
    workers: int = 1
    keep: Path | None = None
    """Where perturbed copies are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The tests of the unperturbed copy."""

    told_by: str
    passed: frozenset[str]
    """Those that passed each time."""
    failed: int
    skipped: int
    unsteady: int
    """Those that passed once and not another time."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """How far the tests can see the changed units."""

    units: int
    """Outermost functions and methods of the files to perturb."""
    changed: int
    """Of these and of the files' own code, those that some seed changed."""
    executed: int
    """Of the changed ones, those that tests run."""
    caught: int | None
    """Tests that failed when every changed unit raised an error instead; `None` where the tests then hang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A file that was perturbed."""

    before: bytes
    after: bytes
    applied: Mapping[Unit, tuple[str, ...]]
    """The transforms that touched each unit, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A test that passed before and fails after."""

    test: str
    text: str
    units: tuple[Unit, ...]
    """The perturbed units in its traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One seed."""

    seed: int
    files: "Mapping[str, Changed]"
    """Those that changed, by path."""
    tallies: Tallies
    failures: tuple[Failure, ...]
    flaky: int
    """Tests that failed after, and again on the unperturbed copy."""
    seconds: float
    timed_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What came of it."""

    before: Before
    power: Power
    trials: tuple[Trial, ...]

    @property
    def held(self) -> bool:
        """Whether no test that passed fails now."""
        return not any(trial.failures for trial in self.trials)


@dataclass(slots=True)
class WorkingCopy:
    """The copy of the project: which of its files are perturbed now, and its tests."""

    request: Request
    folder: Path
    command: Command
    say: Say
    paths: tuple[str, ...]
    _changed: dict[str, bytes] = field(default_factory=dict)
    """The unperturbed bytes of the files that are changed now."""

    @classmethod
    def make(cls, request: Request, scratch: Path, say: Say) -> "WorkingCopy":
        """Copy the project below `scratch`.

        Raises:
            CannotAudit: it has no file to perturb.
            RunError: it cannot be copied.
        """
        folder = scratch / "project"
        copy_tree(request.project, folder, without=CACHES, environments=False)
        paths = tuple(path for path in source_files(folder) if _is_source(path, request.sources))
        if not paths:
            raise CannotAudit(
                f"no Python or Java file in {str(request.project)!r}; name code with --source DIR"
            )
        command = Command(
            words=request.words,
            folder=folder,
            scratch=scratch,
            roots=_import_roots(folder, request.sources),
            timeout=request.timeout,
        )
        return cls(request=request, folder=folder, command=command, say=say, paths=paths)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Make these files so, and every other one as it was."""
        for path in [path for path in self._changed if path not in files]:
            replace_file(self.folder / path, self._changed.pop(path))
        for path, data in files.items():
            if path not in self._changed:
                self._changed[path] = read_file(self.folder / path)
            replace_file(self.folder / path, data)

    def run(self, files: Mapping[str, bytes], *, only: Collection[str] | None = None) -> Run:
        """The tests with these files changed, and no others."""
        self.put(files)
        return self.command.run(only)

    def perturbed(
        self, seed: int, only: Mapping[str, frozenset[Choice]] | None = None
    ) -> Iterator[FileResult]:
        """The files perturbed under one seed; nothing is written."""
        self.put({})
        plan = Plan(transforms=self.request.transforms, seed=seed, sites=self.request.sites)
        workers = self.request.workers
        return perturb_files(self.folder, self.paths, plan, workers=workers, only=only)


def verify(copy: WorkingCopy) -> Verified:
    """Run the tests, perturb the copy, and run them again for each seed.

    Raises:
        CannotAudit: no test passed before, nothing could be perturbed, or the tests do not run the copy.
        RunError: the command cannot be started.
    """
    before = _before(copy)
    copy.say(f"before: {len(before.passed):,} tests pass in {before.seconds:,.1f} s ({before.told_by})")
    drawn = {seed: _perturbed(copy, seed) for seed in copy.request.seeds}
    power = _power(copy, before, [files for files, _ in drawn.values()])
    trials = []
    for seed, (files, tallies) in drawn.items():
        trial = _trial(copy, before, seed, files, tallies)
        copy.say(f"seed {seed}: {len(trial.failures):,} new failures in {trial.seconds:,.1f} s")
        trials.append(trial)
    return Verified(before=before, power=power, trials=tuple(trials))


def new_bytes(files: Mapping[str, Changed]) -> dict[str, bytes]:
    """The perturbed files as they are to be written."""
    return {path: changed.after for path, changed in files.items()}


def changed_files(results: Iterable[FileResult], tallies: Tallies) -> dict[str, Changed]:
    """The files that changed, by path; all records are counted."""
    found = {}
    for result in results:
        count(tallies, result.records)
        if result.after != result.before:
            found[result.path] = Changed(
                before=result.before, after=result.after, applied=_by_unit(result.records)
            )
    return found


def _by_unit(records: Iterable[Record]) -> dict[Unit, tuple[str, ...]]:
    found: dict[Unit, tuple[str, ...]] = {}
    for record in records:
        if isinstance(record, Applied) and record.kind != "identity":
            found[record.unit] = (*found.get(record.unit, ()), record.transform)
    return found


def _before(copy: WorkingCopy) -> Before:
    first = copy.run({})
    passed = first.passed()
    if not passed:
        raise CannotAudit(_nothing_passed(first))
    every = passed
    if first.seconds < CHEAP:
        again = copy.run({}).passed()
        every, passed = passed | again, passed & again
    if not passed:
        raise CannotAudit("no test passes twice on the unchanged project; make its tests repeatable")
    if copy.command.timeout is None:
        constant, factor = PATIENCE
        copy.command = Command(
            words=copy.command.words,
            folder=copy.command.folder,
            scratch=copy.command.scratch,
            roots=copy.command.roots,
            timeout=constant + factor * first.seconds,
        )
    states = [result.state for name, result in first.results.items() if name not in every]
    return Before(
        told_by=first.told_by,
        passed=passed,
        failed=states.count("failed"),
        skipped=states.count("skipped"),
        unsteady=len(every - passed),
        seconds=first.seconds,
    )


def _nothing_passed(run: Run) -> str:
    texts = [result.text for result in run.results.values() if result.state == "failed"] or [run.output]
    lines = [line.strip() for line in texts[0].splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("E ")), lines[-1] if lines else "")
    told = f": {' '.join(last.removeprefix('E ').split())}" if last else ""
    why = "no test passes on the unchanged project"
    if run.timed_out:
        why = "the test command ran into the time limit"
    return f"{why} (exit code {run.code}{told}); run the command yourself in a fresh copy of the project"


def _perturbed(copy: WorkingCopy, seed: int) -> tuple[dict[str, Changed], Tallies]:
    tallies: Tallies = {}
    prepare(tallies, meant(copy.request.transforms, languages(copy.paths)))
    files = changed_files(copy.perturbed(seed), tallies)
    copy.say(f"seed {seed}: {len(files):,} of {len(copy.paths):,} files changed")
    return files, tallies


def _power(copy: WorkingCopy, before: Before, drawn: Sequence[Mapping[str, Changed]]) -> Power:
    """Prove that the tests run the copy, and count the changed units that they run."""
    changed = {
        (path, name): one.before
        for files in drawn
        for path, one in files.items()
        for name in changed_units(language(path), one.before, one.after)
    }
    if not changed:
        raise CannotAudit("nothing could be perturbed; choose other transforms or another --source")
    noted = {unit: probes(unit[0]).noting(number) for number, unit in enumerate(changed)}
    functions = [unit for unit in changed if unit[1] != MODULE]
    executed = len(copy.run(_with_first(changed, noted)).hits)
    run = copy.run(_with_first(changed, {unit: probes(unit[0]).raising for unit in functions or changed}))
    if run.timed_out:
        copy.say(
            f"power check: tests run {executed:,} of the {len(changed):,} changed units; when these raise, "
            "the test command runs into the time limit"
        )
        return _powered(copy, len(changed), executed, None)
    if run.told_by != before.told_by:
        raise CannotAudit(
            "with an error raised in every changed unit the test command tells of no test; run it yourself: "
            f"{_last_line(run.output)}"
        )
    caught = len(before.passed - run.passed())
    copy.say(
        f"power check: tests run {executed:,} of the {len(changed):,} changed units; {caught:,} of "
        f"{len(before.passed):,} tests fail when these raise"
    )
    if not caught:
        raise CannotAudit(
            "the tests did not notice errors raised in every changed unit: they run no changed code, or "
            "another copy that is installed; uninstall that copy, or name the tested code with --source"
        )
    return _powered(copy, len(changed), executed, caught)


def _powered(copy: WorkingCopy, changed: int, executed: int, caught: int | None) -> Power:
    """The result, with the copy as it was."""
    copy.put({})
    units = sum(len(function_names(language(path), read_file(copy.folder / path))) for path in copy.paths)
    return Power(units=units, changed=changed, executed=executed, caught=caught)


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")


def _with_first(
    originals: Mapping[tuple[str, str], bytes], statements: Mapping[tuple[str, str], str]
) -> dict[str, bytes]:
    """The files of these units with a statement first in each unit."""
    by_file: dict[str, dict[str, str]] = {}
    for (path, name), statement in statements.items():
        by_file.setdefault(path, {})[name] = statement
    data = {path: before for (path, _), before in originals.items()}
    return {path: probes(path).with_first(data[path], wanted) for path, wanted in by_file.items()}


def _trial(
    copy: WorkingCopy, before: Before, seed: int, files: Mapping[str, Changed], tallies: Tallies
) -> Trial:
    run = copy.run(new_bytes(files))
    if copy.request.keep is not None:
        copy_tree(copy.folder, copy.request.keep / f"seed-{seed}")
    suspects = before.passed - run.passed()
    flaky: frozenset[str] = frozenset()
    if suspects:
        copy.say(f"seed {seed}: {len(suspects):,} tests fail; running them again on the unchanged copy")
        flaky = suspects - copy.run({}, only=suspects).passed()
    failures = tuple(_failure(copy, test, run, files) for test in sorted(suspects - flaky))
    return Trial(
        seed=seed,
        files=files,
        tallies=tallies,
        failures=failures,
        flaky=len(flaky),
        seconds=run.seconds,
        timed_out=run.timed_out,
    )


def _failure(copy: WorkingCopy, test: str, run: Run, files: Mapping[str, Changed]) -> Failure:
    result = run.results.get(test) or _missing(test, run)
    found = units_in_traceback(result.text, copy.folder, new_bytes(files))
    known = {(unit.path, unit.name): unit for one in files.values() for unit in one.applied}
    return Failure(test=test, text=result.text, units=tuple(known[unit] for unit in found if unit in known))


def _missing(test: str, run: Run) -> Result:
    """A test of which nothing was heard: what stood in its way, if that is known."""
    file = test.split("::")[0]
    for name, result in run.results.items():
        if result.state == "failed" and name and (file == name or file.startswith(name + "/")):
            return result
    return Result("failed", run.output)


def _is_source(path: str, sources: Sequence[str]) -> bool:
    """Whether a file is named, or lies in a named folder and is no test; all of the project by default."""
    pure = PurePosixPath(path)
    return any(
        path == source or (pure.is_relative_to(source) and _is_code(pure.relative_to(source)))
        for source in sources or (".",)
    )


def _is_code(path: PurePosixPath) -> bool:
    if path.name in NOT_SOURCE_FILES or TEST_FILE.fullmatch(path.name):
        return False
    return not NOT_SOURCES.intersection(path.parts[:-1])


def _import_roots(folder: Path, sources: Sequence[str]) -> tuple[Path, ...]:
    """The copy, its `src`, and what holds the topmost package of each source."""
    roots = [folder, folder / "src"]
    for source in sources:
        place = folder / source
        place = place if place.is_dir() else place.parent
        while (place / "__init__.py").exists() and place != folder:
            place = place.parent
        roots.append(place)
    return tuple(root for root in dict.fromkeys(roots) if root.is_dir())


def keep_folder(path: Path) -> None:
    """Make the folder for copies.

    Raises:
        CannotAudit: it exists and is not empty, or cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise CannotAudit(f"{str(path)!r} is not empty; give --keep another folder")
    except OSError as error:
        raise CannotAudit(f"cannot write to {str(path)!r}: {error.strerror or error}") from error

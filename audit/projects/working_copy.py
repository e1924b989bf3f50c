"""The copy of a project that `codeaudit verify` perturbs and tests. The project itself is only read."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from codeaudit.audit.projects.files import (
    NOT_COPIED,
    CountsByTransform,
    FileResult,
    ProjectPlan,
    copy_tree,
    count,
    languages,
    meant,
    perturb_files,
    read_file,
    replace_file,
    source_files,
)
from codeaudit.audit.projects.runner import ProjectTestCommand, ProjectTestRun
from codeaudit.audit.run import RunProgress
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Sites
from codeaudit.transforms.registry import one_way
from codeaudit.transforms.source_files import Applied, Choice, SourceUnit, UnitRecord

CACHES: Final = NOT_COPIED | {
    ".hg", ".svn", ".tox", ".nox", ".venv", "venv",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs",
}  # fmt: skip
"""Folders that tests do not need; they are not copied."""

NOT_SOURCES: Final = frozenset(
    {
        "test",
        "tests",
        "__tests__",
        "doc",
        "docs",
        "example",
        "examples",
        "benchmark",
        "benchmarks",
        "build",
        "dist",
    }
)
"""Folders whose files are not perturbed."""
NOT_SOURCE_FILES: Final = re.compile(
    r"setup\.py|conftest\.py|noxfile\.py|[Gg]ulpfile\.[cm]?[jt]s|[Gg]runtfile\.[cm]?[jt]s|.*\.config\.[cm]?[jt]s"
)
"""Names of files that say how a project is built and tested."""
TEST_FILE: Final = re.compile(
    r"test_.*\.py|.*_test\.py|Test[A-Z].*\.java|.*(?:Test|Tests|TestCase|IT)\.java|"
    r".*\.(?:test|spec)\.[cm]?[jt]sx?|tests?\.(?:[cm]?[jt]s|c)|(?:test_.*|.*_test)\.[ch]"
)
"""Names of files that hold tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What `codeaudit verify` was asked to do."""

    project: Path
    words: tuple[str, ...]
    """The test command."""
    transforms: tuple[str, ...]
    seeds: tuple[int, ...]
    given: frozenset[str] = frozenset()
    """Transforms that were named one by one: they are applied even if they undo another."""
    sites: Sites = "auto"
    sources: tuple[str, ...] = ()
    """Files or folders to perturb, as `/` paths inside the project; empty for all. Tests are left out."""
    timeout: float | None = None
    """Seconds for one run of the tests; `None` for a limit derived from the first run."""
    workers: int = 1
    keep: Path | None = None
    """Folder in which the perturbed copies are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was perturbed."""

    before: bytes
    after: bytes
    applied: Mapping[SourceUnit, tuple[str, ...]]
    """By unit, the transforms that rewrote it, in order."""


@dataclass(slots=True)
class WorkingCopy:
    """The copy of the project: its test command, and which of its files are perturbed at the moment."""

    request: VerifyRequest
    folder: Path
    command: ProjectTestCommand
    progress: RunProgress
    paths: tuple[str, ...]
    """The files to perturb, relative to `folder`."""
    _originals: dict[str, bytes] = field(default_factory=dict)
    """The unperturbed bytes of the files that are perturbed at the moment."""

    @classmethod
    def make(cls, request: VerifyRequest, scratch: Path, progress: RunProgress) -> "WorkingCopy":
        """Copy the project into a folder below `scratch`.

        Raises:
            CannotAudit: it has no file to perturb.
            RunError: it cannot be copied.
        """
        folder = scratch / "project"
        copy_tree(request.project, folder, without=CACHES, environments=False)
        paths = tuple(path for path in source_files(folder) if _is_source(path, request.sources))
        if not paths:
            raise CannotAudit(
                f"no file in {str(request.project)!r} that can be perturbed; name code with --source DIR"
            )
        command = ProjectTestCommand(
            words=request.words,
            folder=folder,
            scratch=scratch,
            roots=_import_roots(folder, request.sources),
            timeout=request.timeout,
        )
        return cls(request=request, folder=folder, command=command, progress=progress, paths=paths)

    def say(self, message: str) -> None:
        """Show a line of progress to the user."""
        self.progress.note(message)

    def drawn(self, seed: int) -> tuple[str, ...]:
        """The transforms of a seed: those asked for, without those that would undo others."""
        spoken = languages(self.paths)
        names = meant(self.request.transforms, spoken)
        return one_way(names, seed, languages=spoken, given=self.request.given)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write these files, and restore every other perturbed file."""
        for path in [path for path in self._originals if path not in files]:
            replace_file(self.folder / path, self._originals.pop(path))
        for path, data in files.items():
            if path not in self._originals:
                self._originals[path] = read_file(self.folder / path)
            replace_file(self.folder / path, data)

    def run(self, files: Mapping[str, bytes], *, only: Collection[str] | None = None) -> ProjectTestRun:
        """Run the tests with exactly these files perturbed."""
        self.put(files)
        return self.command.run(only)

    def perturbed(
        self, seed: int, only: Mapping[str, frozenset[Choice]] | None = None
    ) -> Iterator[FileResult]:
        """The files perturbed under one seed; nothing is written. `only` as in `perturb_files`."""
        self.put({})  # the transforms must read the originals, not the perturbed files
        plan = ProjectPlan(transforms=self.drawn(seed), seed=seed, sites=self.request.sites)
        workers = self.request.workers
        return perturb_files(
            self.folder, self.paths, plan, workers=workers, only=only, home=self.request.project.joinpath
        )


def new_bytes(files: Mapping[str, ChangedFile]) -> dict[str, bytes]:
    """The content to write, by path."""
    return {path: changed.after for path, changed in files.items()}


def changed_files(results: Iterable[FileResult], counts: CountsByTransform) -> dict[str, ChangedFile]:
    """The files that changed, by path. Adds the records of all files to `counts`."""
    changed = {}
    for result in results:
        count(counts, result.records)
        if result.after != result.before:
            changed[result.path] = ChangedFile(
                before=result.before, after=result.after, applied=_by_unit(result.records)
            )
    return changed


def _by_unit(records: Iterable[UnitRecord]) -> dict[SourceUnit, tuple[str, ...]]:
    by_unit: dict[SourceUnit, tuple[str, ...]] = {}
    for record in records:
        if isinstance(record, Applied) and record.kind != "identity":
            by_unit[record.unit] = (*by_unit.get(record.unit, ()), record.transform)
    return by_unit


def _is_source(path: str, sources: Sequence[str]) -> bool:
    """Whether a file is to be perturbed.

    It is named, or it lies in a named folder (by default the project) and is neither a test nor a build file.
    """
    pure = PurePosixPath(path)
    # A file that is named is perturbed even if it looks like a test: the user wants it.
    return any(
        path == source or (pure.is_relative_to(source) and _is_code(pure.relative_to(source)))
        for source in sources or (".",)
    )


def _is_code(path: PurePosixPath) -> bool:
    if NOT_SOURCE_FILES.fullmatch(path.name) or TEST_FILE.fullmatch(path.name):
        return False
    return not NOT_SOURCES.intersection(path.parts[:-1])


def _import_roots(folder: Path, sources: Sequence[str]) -> tuple[Path, ...]:
    """Folders for the import path of the tests: the copy, its `src`, the folder of each source's package."""
    # Before installed packages on the path: the tests must import the copy even if the project is installed.
    roots = [folder, folder / "src"]
    for source in sources:
        place = folder / source
        place = place if place.is_dir() else place.parent
        # A package is imported from the folder above its topmost `__init__.py`.
        while (place / "__init__.py").exists() and place != folder:
            place = place.parent
        roots.append(place)
    return tuple(root for root in dict.fromkeys(roots) if root.is_dir())


def keep_folder(path: Path) -> None:
    """Make the folder for the perturbed copies.

    Raises:
        CannotAudit: it exists and is not empty, or cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise CannotAudit(f"{str(path)!r} is not empty; give --keep another folder")
    except OSError as error:
        raise CannotAudit(f"cannot write to {str(path)!r}: {error.strerror or error}") from error

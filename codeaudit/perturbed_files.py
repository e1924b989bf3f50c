"""Writes perturbed code: a copy of source files and folders, or a suite. `codeaudit transform` calls it.

Sources are only read. A copy or a suite appears as a whole or not at all, because it is written under another
name and then renamed.
"""

import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from codeaudit.audit.cache import default_folder
from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import of_corpus
from codeaudit.audit.projects.files import (
    FileResult,
    ProjectPlan,
    copy_tree,
    perturb_files,
    replace_file,
    source_files,
)
from codeaudit.audit.projects.languages import languages, meant, source_languages
from codeaudit.audit.projects.transform_counts import CountsByTransform, count, prepare
from codeaudit.audit.registry import DEFAULT_TASK, TASKS
from codeaudit.audit.rows import suite_rows
from codeaudit.audit.run import Case, RunProgress
from codeaudit.audit.store import SCHEMA, RunFolder
from codeaudit.audit.tables import LINES, SUITE_COLUMNS, LinesWriter, TableWriter, read_about
from codeaudit.inputs import draw, with_witnesses
from codeaudit.run_options import RunOptions
from codeaudit.transforms.errors import CorpusError, RunError, UsageError
from codeaudit.transforms.languages import LANGUAGES
from codeaudit.transforms.records import Sample, Sites
from codeaudit.transforms.registry import entry_of

SUITES: Final = (".parquet", LINES)
"""Endings of a suite's file."""

FileSeen: TypeAlias = Callable[[FileResult], None]
CaseSeen: TypeAlias = Callable[[Case], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePerturbation:
    """Source files and folders, with the transforms for them."""

    sources: tuple[str, ...]
    """Files and folders."""
    transforms: tuple[str, ...] | None
    """`None` for the standard ones that keep what callers see."""
    seed: int
    sites: Sites
    workers: int

    @property
    def paths(self) -> list[Path]:
        """The sources as paths.

        Raises:
            CorpusError: a source does not exist.
            UsageError: a source is no source file or folder, or two have one name.
        """
        found = [_path(source) for source in self.sources]
        if len({path.resolve().name for path in found}) < len(found):
            raise UsageError("two of SRC have one name; copy them apart")
        return found


@dataclass(frozen=True, slots=True)
class CombinedCorpus:
    """Several corpora, one after the other."""

    spec: str
    parts: tuple[Corpus, ...]

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """As `codeaudit.audit.corpora.records.Corpus.read`."""
        for part in self.parts:
            yield from part.read(skipped)


def preview(request: FilePerturbation, progress: RunProgress, seen: FileSeen) -> CountsByTransform:
    """Perturb the files in memory only; `seen` receives each of them.

    Raises:
        CorpusError, UsageError: as `FilePerturbation.paths`; CorpusError also if there is no source file.
    """
    counts: CountsByTransform = {}
    for source in request.paths:
        whole = source.is_dir()
        root, paths = (source, list(source_files(source))) if whole else (source.parent, [source.name])
        for result in _perturbed(request, root, paths, counts, progress):
            seen(result)
    return counts


def copy(request: FilePerturbation, out: Path, progress: RunProgress, seen: FileSeen) -> CountsByTransform:
    """Write a perturbed copy to `out`; `seen` receives each source file.

    Raises:
        UsageError: `out` lies in a source, or is not empty.
        RunError: a file cannot be read or written.
        CorpusError: a source does not exist, or there is no source file.
    """
    sources = request.paths
    for source in sources:
        _check_apart(source, out)
    with _beside(out) as place:
        final = place
        if len(sources) == 1 and sources[0].is_dir():
            copy_tree(sources[0], place)
        elif len(sources) == 1 and out.suffix == sources[0].suffix:
            final = place / out.name
            _copy_file(sources[0], final)
        else:
            for source in sources:
                target = place / source.resolve().name
                copy_tree(source, target) if source.is_dir() else _copy_file(source, target)
        counts: CountsByTransform = {}
        for result in _perturbed(request, place, list(source_files(place)), counts, progress):
            seen(result)
            if result.after != result.before:
                replace_file(place / result.path, result.after)
        try:
            final.rename(out)
        except OSError as error:
            raise RunError(
                f"cannot write {str(out)!r}: {error.strerror or error}; give another --out"
            ) from error
    return counts


def write_suite(
    options: RunOptions,
    sources: tuple[str, ...],
    path: Path,
    progress: RunProgress,
    seen: Callable[[Case], None],
) -> CountsByTransform:
    """Write a suite of samples of these corpora; `seen` receives each case. `options` decide which
    samples and variants are drawn.

    Raises:
        UsageError: the ending is unknown, or the file exists and is no suite.
        CorpusError: a corpus does not exist, or has no example of the task.
        RunError: the file cannot be written.
    """
    if path.suffix not in SUITES:
        raise UsageError(f"--suite {str(path)!r} must end with .parquet or .jsonl")
    if path.exists():
        try:
            read_about(path)
        except RunError as error:
            raise UsageError(f"--suite {str(path)!r} exists and is no suite; give another name") from error
    task = TASKS.get(options.task or DEFAULT_TASK)
    parts = tuple(corpus(source) for source in sources)
    whole = parts[0] if len(parts) == 1 else CombinedCorpus(" ".join(part.spec for part in parts), parts)
    truth = of_corpus(task, cache=default_folder() / "labels", note=progress.note)
    inputs = draw(options, task, whole, truth, progress)
    if options.execute:
        inputs = with_witnesses(inputs)
    folder = RunFolder(path.parent)
    folder.reserve()
    about = {"schema": SCHEMA, "task": task.name, "corpus": inputs.name}
    writer = LinesWriter if path.suffix == LINES else TableWriter
    counts: CountsByTransform = {}
    with (
        progress.counting("suite", inputs.size(options.seed), unit="samples") as monitor,
        folder.replacing(path.name) as place,
        writer(place, SUITE_COLUMNS, about) as table,
    ):
        for case in inputs.cases(options.seed):
            table.write(suite_rows(options.seed, case))
            count(counts, case.outcomes)
            seen(case)
            monitor.answered(1, recalled=False)
    return counts


def _path(source: str) -> Path:
    path = Path(source)
    if path.is_dir() or (path.is_file() and path.suffix in source_languages()):
        return path
    corpus(source)  # raises CorpusError if the path does not exist
    raise UsageError(
        f"{source!r} is no Python or Java file or folder; give --suite FILE for a suite of its samples"
    )


def _check_apart(source: Path, out: Path) -> None:
    if out.resolve().is_relative_to(source.resolve()):
        raise UsageError(
            f"--out {str(out)!r} lies in {str(source)!r}, which is only read; give a folder outside"
        )
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"--out {str(out)!r} is not empty; give a new folder, or empty this one")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {str(out)!r} exists; give a new name")


def _copy_file(source: Path, target: Path) -> None:
    try:
        shutil.copy2(source, target)
    except OSError as error:
        raise RunError(f"cannot copy {str(source)!r}: {error.strerror or error}") from error


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, on the same file system, which is removed at the end."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        place = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.partial")
        place.mkdir()
    except OSError as error:
        raise RunError(
            f"cannot write to {str(out)!r}: {error.strerror or error}; give another --out"
        ) from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _perturbed(
    request: FilePerturbation, root: Path, paths: list[str], counts: CountsByTransform, progress: RunProgress
) -> Iterator[FileResult]:
    """The files at these paths below `root` after the transforms, counted and told."""
    if not paths:
        raise CorpusError(f"no Python or Java file in {', '.join(request.sources)}")
    known = languages(paths)
    names = request.transforms or tuple(
        dict.fromkeys(
            name for one in known for name in LANGUAGES.get(one).standard if not entry_of(name, one).interface
        )
    )
    prepare(counts, meant(names, known))
    plan = ProjectPlan(transforms=names, seed=request.seed, sites=request.sites)
    changed = 0
    with progress.counting("perturb", len(paths), unit="files") as monitor:
        for result in perturb_files(root, paths, plan, workers=request.workers):
            count(counts, result.records)
            changed += result.after != result.before
            yield result
            monitor.answered(1, recalled=False)
    progress.note(f"{changed:,} of {len(paths):,} files changed")

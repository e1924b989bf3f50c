"""The command `codeaudit transform`: writes a perturbed copy of files and folders, or a suite.

Sources are only read. A copy or a suite appears as a whole or not at all, because it is written under another
name and then renamed.
"""

import json
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import click
from typing_extensions import override

from codeaudit.audit.cache import FILE_FACTS, default_folder
from codeaudit.audit.corpora.records import BaseCorpus, Corpus, CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.corpora.tables import renaming
from codeaudit.audit.labels import labels
from codeaudit.audit.movable import readable_by
from codeaudit.audit.projects.confirm import Confirmation, confirm
from codeaudit.audit.projects.files import (
    CountsByTransform,
    FileResult,
    ProjectPlan,
    copy_tree,
    count,
    file_diff,
    languages,
    links_line,
    meant,
    others,
    others_line,
    perturb_files,
    prepare,
    remove_tree,
    replace_file,
    restore_modes,
    source_files,
    source_languages,
    text_diff,
    unread_line,
)
from codeaudit.audit.projects.working_copy import VerifyRequest, WorkingCopy
from codeaudit.audit.records import Case
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import suite_rows
from codeaudit.audit.run import RunProgress
from codeaudit.audit.store import (
    SUITE_ENDINGS,
    TABLE_SCHEMA,
    TOLD,
    ZIPPED,
    LinesWriter,
    RunFolder,
    TableWriter,
    has_lines,
    read_about,
    suite_columns,
)
from codeaudit.cli.options import (
    demand_outside_of_runs,
    format_option,
    on_command_line,
    option,
    path_option,
    real_path,
    run_option,
    transform_option,
)
from codeaudit.cli.output import (
    PROGRESS,
    STDOUT,
    counts_json,
    counts_sheet,
    note,
    show_bytes,
    show_sheet,
    show_text,
)
from codeaudit.cli.verify import PYTEST, command_words
from codeaudit.edits import most_frequent
from codeaudit.options import TABLE, RunOptions, listed, under_level, under_relation, with_mixture
from codeaudit.preparing import draw, usual_task, watched_cases, with_witnesses
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import CannotAudit, CorpusError, RunError, UsageError
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.grammar import counted, first_of, visible, with_reasons
from codeaudit.transforms.language import LANGUAGES, rewritten_today
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.perturb import FAILED
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.records import Perturbed, Sample, Sites
from codeaudit.transforms.registry import entry_of, expand, levelled, one_way, related
from codeaudit.transforms.remembering import remembering

FileSeen: TypeAlias = Callable[[FileResult], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePerturbation:
    """Source files and folders, with the transforms for them."""

    sources: tuple[str, ...]
    """Files and folders."""
    transforms: tuple[str, ...] | None
    """`None` for the standard ones that keep what callers see."""
    given: frozenset[str]
    """Transforms that were named one by one: they are applied even if they undo another."""
    seed: int
    sites: Sites
    dependence: Dependence
    """The relation of the standard set; named transforms have it in their names."""
    macros: MacroLevel
    """Likewise the level of what is assumed of macros."""
    workers: int

    @property
    def paths(self) -> list[Path]:
        """The sources as paths.

        Raises:
            CorpusError: a source does not exist.
            UsageError: a source is no source file or folder, or two have one name.
        """
        paths = [_path(source) for source in self.sources]
        # Each source becomes an entry of the copy with its last name; two equal ones would overwrite each
        # other.
        if len({real_path(path).name for path in paths}) < len(paths):
            raise UsageError("two of SRC have one name; copy them apart")
        return paths


@dataclass(frozen=True, slots=True)
class CombinedCorpus(BaseCorpus):
    """Several corpora, one after the other."""

    spec: str
    parts: tuple[Corpus, ...]

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for part in self.parts:
            yield from part.read(skipped)


def preview(request: FilePerturbation, progress: RunProgress, on_file: FileSeen) -> CountsByTransform:
    """Perturb the files in memory only; `on_file` receives each of them.

    Raises:
        CorpusError, UsageError: as `FilePerturbation.paths`; CorpusError also if no source file can be read.
    """
    counts: CountsByTransform = {}

    def results() -> Iterator[FileResult]:
        for source in request.paths:
            is_folder = source.is_dir()
            root, paths = (
                (source, _sources(source, progress)) if is_folder else (source.parent, [source.name])
            )
            yield from _perturbed(request, root, paths, counts, progress)

    for result in _some_read(results(), progress):
        on_file(result)
    return counts


def copy(request: FilePerturbation, out: Path, progress: RunProgress, on_file: FileSeen) -> CountsByTransform:
    """Write a perturbed copy to `out`; `on_file` receives each source file.

    Raises:
        UsageError: `out` lies in a source, or is not empty.
        RunError: a file cannot be read or written.
        CorpusError: a source does not exist, or no source file can be read.
    """
    sources = request.paths
    for source in sources:
        _check_apart(source, out)
    with _beside(out) as place:
        final, modes = place, dict[Path, int]()
        if len(sources) == 1 and sources[0].is_dir():
            modes = copy_tree(sources[0], place)
        # `transform a.py --out b.py` gives a file; `--out b` a folder with `a.py` in it.
        elif len(sources) == 1 and out.suffix == sources[0].suffix:
            final = place / real_path(sources[0]).name
            _copy_file(sources[0], final)
        else:
            for source in sources:
                target = place / real_path(source).name
                if source.is_dir():
                    modes |= copy_tree(source, target)
                else:
                    _copy_file(source, target)
        counts: CountsByTransform = {}
        results = _perturbed(request, place, _sources(place, progress), counts, progress, _home(sources))
        for result in _some_read(results, progress):
            on_file(result)
            # An unchanged file keeps its time stamp, which build tools look at.
            if result.after != result.before:
                replace_file(place / result.path, result.after)
        _moved(final, out, modes)
    return counts


def write_suite(
    options: RunOptions,
    sources: tuple[str, ...],
    path: Path,
    progress: RunProgress,
    on_case: Callable[[Case], None],
) -> CountsByTransform:
    """Write a suite of samples of these corpora; `on_case` receives each case. `options` decide which
    samples and variants are drawn.

    Raises:
        UsageError: the ending is unknown, or the file exists and is no suite.
        CorpusError: a corpus does not exist, or has no example of the task.
        RunError: the file cannot be written.
    """
    if not path.name.endswith(SUITE_ENDINGS):
        raise UsageError(f"--suite {str(path)!r} must end with {first_of(SUITE_ENDINGS)}")
    demand_outside_of_runs(path, "--suite")
    # A suite may be written anew. Any other file under this name is a mistake of the user.
    if path.exists():
        try:
            read_about(path)
        except RunError as error:
            raise UsageError(f"--suite {str(path)!r} exists and is no suite; give another name") from error
    resources = CorpusResources(note=progress.note, columns=renaming(options.columns))
    parts = tuple(corpus(source, None, resources) for source in sources)
    task = TASKS.get(options.task or usual_task(parts[0]))
    whole = parts[0] if len(parts) == 1 else CombinedCorpus(" ".join(part.spec for part in parts), parts)
    truth = labels(None, task, cache=default_folder() / "labels", note=progress.note)
    inputs = draw(options, task, whole, truth, progress)
    progress.note(inputs.headline)
    if inputs.labels.follows_variants:
        progress.note(f"labels: {inputs.label_source}")
    if options.execute:
        inputs = with_witnesses(inputs)
    folder = RunFolder(path.parent)
    folder.reserve(path.name, option="--suite")
    about: dict[str, object] = {"schema": TABLE_SCHEMA, "task": task.name, "corpus": inputs.name}
    lines = partial(LinesWriter, zipped=path.name.endswith(ZIPPED))
    writer = lines if has_lines(path) else TableWriter
    # In a table of lines every line would repeat it.
    about |= {} if has_lines(path) else {TOLD: list(inputs.told_errors)}
    counts: CountsByTransform = {}
    # No model is known yet, so every text is readable.
    chooser = inputs.chooser(readable_by((), task))
    with folder.replacing(path.name) as place, writer(place, suite_columns(task), about) as table:
        for case in watched_cases(inputs, options.seed, chooser, progress):
            table.write(suite_rows(options.seed, case))
            # The shares that the table shows are those of the plain draw.
            if not case.extra:
                count(counts, case.outcomes)
            on_case(case)
    return counts


def _path(source: str) -> Path:
    path = Path(source)
    if path.is_dir() or (path.is_file() and path.suffix in source_languages()):
        return path
    corpus(source)  # raises CorpusError if the path does not exist
    raise UsageError(
        f"{source!r} is no folder, and no file that can be perturbed in place; give --suite FILE for a suite "
        "of its samples"
    )


def _home(sources: list[Path]) -> Callable[[str], Path]:
    """Where a file of the copy comes from."""
    if len(sources) == 1 and sources[0].is_dir():
        return lambda path: sources[0] / path
    by_name = {real_path(source).name: source for source in sources}

    def place(path: str) -> Path:
        first, _, rest = path.partition("/")
        return by_name[first] / rest if rest else by_name[first]

    return place


def _check_apart(source: Path, out: Path) -> None:
    # The copy would be copied into itself.
    if real_path(out).is_relative_to(real_path(source)):
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
        # Beside it, because a rename is atomic on one file system only.
        place = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.partial")
        place.mkdir()
    except OSError as error:
        raise RunError(
            f"cannot write to {str(out)!r}: {error.strerror or error}; give another --out"
        ) from error
    try:
        yield place
    finally:
        remove_tree(place)


def _moved(place: Path, out: Path, modes: Mapping[Path, int]) -> None:
    """Close the folders of a finished copy that were read-only, and give it its name."""
    try:
        restore_modes(modes)
        place.rename(out)
    except OSError as error:
        raise RunError(f"cannot write {str(out)!r}: {error.strerror or error}; give another --out") from error


def _sources(root: Path, progress: RunProgress) -> list[str]:
    """The files below a folder that are perturbed; tells which links are not."""
    if links := links_line(root):
        progress.note(links)
    files = list(source_files(root))
    if not files:
        raise no_source_files(root)
    if line := others_line(others(root)):
        progress.note(f"left as they are: {line}")
    return files


def no_source_files(root: Path) -> CorpusError:
    """The error for a folder without a file that a transform rewrites."""
    line = others_line(others(root))
    # As a run says it of a corpus of files.
    more = f" ({line}); {rewritten_today()}" if line else ""
    titles = list(dict.fromkeys(_titles()))
    names = " or ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))
    return CorpusError(f"no {names} files in {str(root)!r}{more}")


def _titles() -> list[str]:
    return [language.title for language in source_languages().values()]


def _perturbed(
    request: FilePerturbation,
    root: Path,
    paths: list[str],
    counts: CountsByTransform,
    progress: RunProgress,
    home: Callable[[str], Path] | None = None,
) -> Iterator[FileResult]:
    """The files at these paths below `root` after the transforms, with counts and messages."""
    known = languages(paths)
    # A file is used by other files that are not perturbed: what callers see must stay.
    names = request.transforms or related(
        dict.fromkeys(
            name
            for language in known
            for name in LANGUAGES.get(language).standard
            if not entry_of(name, language).interface
        ),
        request.dependence,
    )
    names = names if request.transforms else levelled(names, request.macros)
    asked = meant(names, known)
    drawn = one_way(asked, request.seed, languages=known, given=request.given)
    if left_out := [name for name in asked if name not in drawn]:
        progress.note(f"left out, because each undoes one that was drawn: {', '.join(left_out)}")
    prepare(counts, drawn)
    plan = ProjectPlan(transforms=drawn, seed=request.seed, sites=request.sites)
    changed = 0
    with progress.counting("perturb", len(paths), unit="files") as monitor:
        for result in perturb_files(root, paths, plan, workers=request.workers, home=home):
            count(counts, result.records)
            changed += result.after != result.before
            yield result
            monitor.answered(1, recalled=False)
    progress.note(f"{changed:,} of {counted(len(paths), 'file')} changed")


def _some_read(results: Iterable[FileResult], progress: RunProgress) -> Iterator[FileResult]:
    """The results; then a line to the user about files that could not be read.

    Raises:
        CorpusError: at their end, if no file could be read.
    """
    unread: dict[str, str] = {}
    read = 0
    for result in results:
        if result.unread:
            unread[result.path] = result.unread
        else:
            read += 1
        yield result
    if unread and not read:
        raise CorpusError(f"no file can be read: {with_reasons(unread)}")
    if unread:
        progress.note(unread_line(unread))


CODEMOD: Final = "codemod/"
"""The names of transforms that only `--execute` can confirm."""


CONFIRMED: Final = "confirmed"
"""The relation whose orders a project's own tests confirm."""


def confirmed_copy(
    request: VerifyRequest, out: Path | None, on_file: FileSeen, progress: RunProgress
) -> Confirmation:
    """Write a copy of a project with the orders that its own tests confirm to `out`; `on_file` receives each
    source file. Nothing is written where `out` is absent.

    Raises:
        UsageError: `out` lies in the project, or is not empty.
        CannotAudit, RunError: as `confirm`; RunError also if the copy cannot be written.
    """
    if out is not None:
        _check_apart(request.project, out)
    with scratch_folder("confirm") as scratch:
        confirmed = confirm(WorkingCopy.make(request, scratch, progress), request.seeds[0])
    for result in confirmed.files:
        on_file(result)
    if out is not None:
        with _beside(out) as place:
            modes = copy_tree(request.project, place)
            for result in confirmed.files:
                if result.after != result.before:
                    replace_file(place / result.path, result.after)
            _moved(place, out, modes)
    return confirmed


@click.command("transform")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@transform_option(
    "Transforms or families of them, one after the other; `all` for every one that keeps the meaning. In "
    "files, of those that undo each other a family and `all` draw one. "
    "py/MODULE:OBJECT is a transform of your own, codemod/MODULE:CLASS a LibCST codemod, which needs --suite "
    "FILE --execute.  [default: the standard set; for files without those that change what callers see]"
)
@run_option("mixed")
@run_option("dependence")
@run_option("macros")
@run_option("seed", "Decides which edits are made.")
@path_option(
    "--out",
    "DIR",
    "Where the perturbed copy goes: a folder, or a file if SRC is one. Must not exist, or be an empty "
    "folder. `-` prints one file.",
)
@path_option(
    "--suite",
    "FILE",
    "Write a suite instead, for `codeaudit run --suite`: .parquet or .jsonl, a row per sample, "
    "transform and variant.",
)
@option(
    "--diff", is_flag=True, help="Print unified diffs to stdout, and the table to stderr.", show_default=False
)
@option(
    "--test-command",
    metavar="COMMAND",
    help=f"For --dependence confirmed: how the project is tested, by pytest in one process.  "
    f"[default: {PYTEST}]",
    show_default=False,
)
@run_option("sites")
@run_option(
    "variants",
    f"Variants per sample and transform of a suite.  [default: {TABLE['variants'].default}]",
    default=None,
)
@run_option("limit", f"Samples of a suite; 0 for all.  [default: {TABLE['limit'].default}]", default=None)
@run_option(
    "movable",
    "For a suite: draw more samples until each transform changes N, or the corpus ends; each only under the "
    f"transforms that it is drawn for.  [default: {TABLE['movable'].default}]",
)
@run_option(
    "task",
    "What the models of a suite are asked; py/MODULE:OBJECT is a task of your own.  "
    "[default: that of the language: throughput for assembly, else function-name]",
)
@run_option("columns")
@run_option("controls", "Put transforms that change the meaning into a suite, to measure sensitivity.")
@run_option("execute", f"For a suite. {TABLE['execute'].entry.help}")
@run_option("workers", "Number of processes.")
@format_option("rich", "json", text="Format of the counts.")
def transform(
    sources: tuple[str, ...],
    transform: str | None,
    suite: Path | None,
    out: Path | None,
    diff: bool,
    form: str,
    test_command: str | None,
    **options: Any,
) -> int:
    """Write a perturbed copy of files or folders, or a suite of perturbed samples.

    A folder gives a copy of it in which files of Python, Java, JavaScript, TypeScript, C and C++ are
    perturbed;
    every other file, and each byte that no transform touched, stays as it is. A file gives a file. SRC itself
    is only read.

    \b
    Examples:
      codeaudit transform src --out perturbed --transform rename,reorder --seed 7
      codeaudit transform src --diff | less
      codeaudit transform tool.py --transform rename --out - | python -
      codeaudit transform stdlib:json --suite json.parquet
      codeaudit transform PROJECT --out new --dependence confirmed --test-command "python -m pytest -q tests"
    """
    if options["dependence"] == CONFIRMED:
        words = PYTEST if test_command is None else test_command
        return _confirmed(sources, transform, suite, out, words, options, diff=diff, form=form)
    if test_command is not None and on_command_line("test_command"):
        raise UsageError("--test-command goes with --dependence confirmed")
    names = None if transform is None else listed(transform)
    if names is not None and not expand(names):
        raise UsageError("--transform names no transform; leave it out for the standard set")
    names = under_relation(with_mixture(names, options["mixed"]), options["dependence"])
    names = under_level(names, options["macros"])
    expanded = None if names is None else expand(names, interface=suite is not None)
    if names and not expanded:
        raise UsageError(
            f"--transform {','.join(names)}: a copy of files keeps what callers can read; name single "
            "transforms of the family if nobody reads it"
        )
    if suite is not None and out is not None:
        raise UsageError("give --out for a perturbed copy or --suite for a suite, not both")
    with remembering(default_folder() / FILE_FACTS):
        if suite is not None:
            counts = _suite(sources, suite, {**options, "transform": transform}, diff=diff)
        else:
            counts = _files(sources, expanded, frozenset(names or ()), out, options, diff=diff)
    units = "units" if suite is None else "variants"
    _show(counts, sources, options["seed"], form, units=units, diff=diff or out == STDOUT)
    if suite is not None:
        note(f"suite: {suite}")
    _demand_working(counts)
    return 0


def _confirmed(
    sources: tuple[str, ...],
    transform: str | None,
    suite: Path | None,
    out: Path | None,
    words: str,
    options: Mapping[str, Any],
    *,
    diff: bool,
    form: str,
) -> int:
    """Write or show a project with the orders that its own tests confirm."""
    if suite is not None:
        raise UsageError(
            "--dependence confirmed needs a project with its tests; give its folder and --out, not --suite"
        )
    if transform not in (None, REORDER.name):
        raise UsageError(
            f"--dependence confirmed goes with --transform {REORDER.name} alone; apply others to its result"
        )
    for name in ("variants", "limit", "execute"):
        if options[name] not in (None, False):
            raise UsageError(f"--{name} does not go with --dependence confirmed; leave it out")
    for source in sources:
        if not Path(source).exists():
            raise CorpusError(f"no project {source!r}: no such folder")
    if len(sources) != 1 or not Path(sources[0]).is_dir():
        raise UsageError(
            "--dependence confirmed needs one folder, the project with its tests; give it as SRC"
        )
    if out is None and not diff:
        raise UsageError("give --out DIR for a perturbed copy, or --diff")
    if out == STDOUT:
        raise UsageError("--out - prints one file; give a folder for the copy of a project")
    seed = options["seed"]
    request = VerifyRequest(
        project=Path(sources[0]), words=command_words(words), transforms=(REORDER.name,), seeds=(seed,)
    )

    def on_file(result: FileResult) -> None:
        if diff:
            show_text(visible(file_diff(result.path, result.before, result.after)))

    confirmed = confirmed_copy(request, out, on_file, PROGRESS)
    counts: CountsByTransform = {}
    prepare(counts, (REORDER.name,))
    for result in confirmed.files:
        count(counts, result.records)
    more = {"confirmed": confirmed_json(confirmed)}
    _show(counts, sources, seed, form, units="units", diff=diff, more=more)
    if form != "json":
        for line in confirmed_lines(confirmed):
            note(line)
    if out is not None:
        note(f"perturbed copy: {out}")
    return 0


def _demand_working(counts: CountsByTransform) -> None:
    """Check that no transform raised for all that it was given.

    Raises:
        CannotAudit: one did; what the others wrote stays.
    """
    for name, row in counts.items():
        failed = Counter(
            {reason: count for reason, count in row.reasons.items() if reason.startswith(FAILED)}
        )
        if failed and failed.total() == row.units:
            raise CannotAudit(f"transform {name!r} changed nothing: {most_frequent(failed)}")


def confirmed_lines(confirmed: Confirmation) -> Iterator[str]:
    """What the tests say, for people."""
    yield (
        f"confirmed: {confirmed.tests:,} tests pass twice ({confirmed.unsteady:,} more are unsteady); of "
        f"{confirmed.functions:,} functions {confirmed.candidates:,} have another order under the relaxed "
        f"relation, tests execute {confirmed.tried:,} of these, and {confirmed.kept:,} pass"
    )
    if not confirmed.judged:
        yield "residual: not known, because no function is executed by both halves of the tests"
        return
    low, high = wilson(confirmed.broken, confirmed.judged)
    yield (
        f"residual: {confirmed.broken:,} of {confirmed.judged:,} functions that half of the tests confirmed "
        f"failed in the other half ({confirmed.broken / confirmed.judged:.1%}, 95 % interval {low:.1%} to "
        f"{high:.1%}); they are left unchanged"
    )


def confirmed_json(confirmed: Confirmation) -> dict[str, object]:
    """The same for programs. The residual is absent (`null`) where no function is judged."""
    judged = confirmed.judged
    return {
        "functions": confirmed.functions,
        "candidates": confirmed.candidates,
        "tests": confirmed.tests,
        "unsteady": confirmed.unsteady,
        "tried": confirmed.tried,
        "kept": confirmed.kept,
        "judged": judged,
        "broken": confirmed.broken,
        "residual": confirmed.broken / judged if judged else None,
        "interval": list(wilson(confirmed.broken, judged)) if judged else None,
        "failures": [
            {"path": unit.path, "name": unit.name, "line": unit.line, "half": half, "test": test}
            for unit, half, test in confirmed.failures
        ],
    }


def _files(
    sources: tuple[str, ...],
    transforms: tuple[str, ...] | None,
    given: frozenset[str],
    out: Path | None,
    options: Mapping[str, Any],
    *,
    diff: bool,
) -> CountsByTransform:
    """Write or show perturbed files."""
    for name in ("variants", "limit", "movable"):
        if options[name] is not None and on_command_line(name):
            raise UsageError(f"--{name} goes with --suite; a tree is perturbed once, as a whole")
    if options["execute"] and on_command_line("execute"):
        raise UsageError("--execute goes with --suite; `codeaudit verify` runs a project's own tests")
    if any(name.startswith(CODEMOD) for name in transforms or ()):
        note(f"{CODEMOD}… changes nothing here, because nothing confirms it: give --suite FILE --execute")
    if out is None and not diff:
        raise UsageError("give --out DIR for a perturbed copy, --suite FILE for a suite, or --diff")
    if out == STDOUT and (diff or len(sources) != 1 or Path(sources[0]).is_dir()):
        raise UsageError("--out - prints one file; give one file as SRC, without --diff")
    request = FilePerturbation(
        sources=sources,
        transforms=transforms,
        given=given,
        **{name: options[name] for name in ("seed", "sites", "dependence", "macros", "workers")},
    )

    def on_file(result: FileResult) -> None:
        if out == STDOUT:
            show_bytes(result.after)
        if diff:
            show_text(visible(file_diff(result.path, result.before, result.after)))

    if out is None or out == STDOUT:
        return preview(request, PROGRESS, on_file)
    counts = copy(request, out, PROGRESS, on_file)
    note(f"perturbed copy: {out}")
    return counts


def _suite(
    sources: tuple[str, ...], path: Path, options: Mapping[str, Any], *, diff: bool
) -> CountsByTransform:
    """Write a suite."""

    def on_case(case: Case) -> None:
        for outcome in case.outcomes:
            if diff and isinstance(outcome, Perturbed):
                origin = outcome.sample.origin
                name = f"{origin.path}:{origin.line} {outcome.transform} {outcome.variant}"
                show_text(visible(text_diff(name, outcome.sample.source, outcome.source)))

    settings = {name: value for name, value in options.items() if value is not None}
    return write_suite(RunOptions(**settings), sources, path, PROGRESS, on_case)


def _show(
    counts: CountsByTransform,
    sources: tuple[str, ...],
    seed: int,
    form: str,
    *,
    units: str,
    diff: bool,
    more: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Show the counts on stdout, or on stderr below the diffs."""
    if form == "json":
        text = json.dumps({"schema": 1, "seed": seed, "by_transform": counts_json(counts), **more}, indent=2)
        if diff:
            note(text)
        else:
            show_text(text + "\n")
        return
    # Diffs on stdout can be piped into `patch`; the table must not be among them.
    title = f"{' '.join(sources)}, seed {seed}"
    show_sheet(counts_sheet(counts, title=title, units=units), stderr=diff)

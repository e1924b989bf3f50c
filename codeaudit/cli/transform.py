"""`codeaudit transform`: a perturbed copy of a source tree, or a suite of perturbed samples."""

import json
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.audit import suite
from codeaudit.audit.cache import default_folder
from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import of_corpus
from codeaudit.audit.projects.diffs import file_diff, text_diff
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
from codeaudit.audit.store import SCHEMA, RunFolder
from codeaudit.audit.tables import LINES, SUITE_COLUMNS, LinesWriter, TableWriter, read_about, suite_rows
from codeaudit.cli import completion
from codeaudit.cli.options import EXECUTE, POSITIVE, Listed, option
from codeaudit.cli.output import show_sheet, show_text
from codeaudit.cli.progress import PROGRESS, ProgressMonitor, note
from codeaudit.cli.tallies import tally_json, tally_sheet
from codeaudit.inputs import DrawnInputs, called
from codeaudit.transforms.errors import CorpusError, RunError, UsageError
from codeaudit.transforms.languages import LANGUAGES
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import entry_of, expand

SUITES: Final = (".parquet", LINES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformOptions:
    """What `codeaudit transform` was asked to do."""

    sources: tuple[str, ...]
    names: tuple[str, ...] | None
    """The named transforms; `None` for the standard set."""
    seed: int
    out: Path | None
    suite: Path | None
    diff: bool
    sites: Any
    variants: int | None
    limit: int | None
    task: str
    controls: bool
    execute: bool
    workers: int
    form: str


@click.command("transform")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@option(
    "--transform",
    cls=Listed,
    shell_complete=completion.transforms,
    metavar="NAME[,NAME]",
    help="Transforms or families of them, one after the other; `all` for every one that keeps the meaning.  "
    "[default: the standard set; for a tree without those that change what callers see]",
)
@option("--seed", type=int, default=0, metavar="S", help="Decides which edits are made.")
@option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the perturbed copy goes; must not exist, or be empty.",
    show_default=False,
)
@option(
    "--suite",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a suite instead, for `codeaudit run --suite`: .parquet or .jsonl, a row per sample, "
    "transform and variant.",
    show_default=False,
)
@option(
    "--diff", is_flag=True, help="Print unified diffs to stdout, and the table to stderr.", show_default=False
)
@option(
    "--sites",
    type=click.Choice(("auto", "all", "one")),
    default="auto",
    help="At how many places a transform edits: all and then random subsets, always all, or one.",
)
@option(
    "--variants",
    type=POSITIVE,
    metavar="K",
    help="Variants per sample and transform of a suite.  [default: 4]",
)
@option(
    "--limit", type=click.IntRange(min=0), metavar="N", help="Samples of a suite; 0 for all.  [default: 200]"
)
@option(
    "--task",
    default=DEFAULT_TASK,
    metavar="NAME",
    shell_complete=completion.tasks,
    help="What a suite's models are asked.",
)
@option(
    "--controls/--no-controls",
    default=True,
    help="Put changes of the meaning into a suite, to audit sensitivity.",
)
@option("--execute/--no-execute", default=False, help=f"For a suite. {EXECUTE}")
@option("--workers", type=POSITIVE, default=1, metavar="N", help="Processes that perturb.")
@option(
    "--format", "form", type=click.Choice(("rich", "json")), default="rich", help="How the counts are told."
)
def transform(transform: str | None, **options: Any) -> int:
    """Write a perturbed copy of files or folders, or a suite of perturbed samples.

    A folder gives a copy of it in which Python and Java files are perturbed; every other file, and each byte
    that no transform touched, stays as it is. A file gives a file. SRC itself is only read.

    \b
    Examples:
      codeaudit transform src --out perturbed --transform rename,reorder --seed 7
      codeaudit transform src --diff | less
      codeaudit transform stdlib:json --suite json.parquet
    """
    asked = TransformOptions(names=_names(transform, tree=options["suite"] is None), **options)
    if asked.suite is not None:
        return _write_suite(asked)
    return _write_tree(asked)


def _names(text: str | None, *, tree: bool) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    found = expand(names, interface=not tree)
    if not found:
        raise UsageError("--transform names no transform; leave it out for the standard set")
    return found if tree else names


# ── trees ────────────────────────────────────────────────────────────────────────────────────────────────


def _write_tree(asked: TransformOptions) -> int:
    for name, given in (("--variants", asked.variants), ("--limit", asked.limit)):
        if given is not None:
            raise UsageError(f"{name} goes with --suite; a tree is perturbed once, as a whole")
    if asked.execute:
        raise UsageError("--execute goes with --suite; `codeaudit verify` runs a project's own tests")
    if asked.out is None and not asked.diff:
        raise UsageError("give --out DIR for a perturbed copy, --suite FILE for a suite, or --diff")
    sources = [_tree_source(source) for source in asked.sources]
    if len({source.resolve().name for source in sources}) < len(sources):
        raise UsageError("two of SRC have one name; copy them apart")
    if asked.out is None:
        tallies = _diffed(asked, sources)
    else:
        for source in sources:
            _check_apart(source, asked.out)
        tallies = _copied(asked, sources, asked.out)
    _tell(asked, tallies, units="units")
    return 0


def _tree_source(source: str) -> Path:
    path = Path(source)
    if path.is_dir() or (path.is_file() and path.suffix in source_languages()):
        return path
    corpus(source)  # raises where there is no such place
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


def _copied(asked: TransformOptions, sources: list[Path], out: Path) -> CountsByTransform:
    """All is made in a folder beside `out` and then renamed, so that it appears whole or not at all."""
    with _beside(out) as place:
        if len(sources) == 1 and sources[0].is_dir():
            copy_tree(sources[0], place)
            final = place
        elif len(sources) == 1 and out.suffix == sources[0].suffix:
            final = place / out.name
            _copy_file(sources[0], final)
        else:
            final = place
            for source in sources:
                target = place / source.resolve().name
                copy_tree(source, target) if source.is_dir() else _copy_file(source, target)
        paths = list(source_files(place))

        def write(result: FileResult) -> None:
            if result.after != result.before:
                replace_file(place / result.path, result.after)

        tallies: CountsByTransform = {}
        _perturb(asked, place, paths, tallies, write)
        _move(final, out)
    note(f"perturbed copy: {out}")
    return tallies


def _copy_file(source: Path, target: Path) -> None:
    try:
        shutil.copy2(source, target)
    except OSError as error:
        raise RunError(f"cannot copy {str(source)!r}: {error.strerror or error}") from error


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
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


def _move(place: Path, out: Path) -> None:
    try:
        place.rename(out)
    except OSError as error:
        raise RunError(f"cannot write {str(out)!r}: {error.strerror or error}; give another --out") from error


def _diffed(asked: TransformOptions, sources: list[Path]) -> CountsByTransform:
    tallies: CountsByTransform = {}
    for source in sources:
        whole = source.is_dir()
        root, paths = (source, list(source_files(source))) if whole else (source.parent, [source.name])
        _perturb(asked, root, paths, tallies, lambda _: None)
    return tallies


def _perturb(
    asked: TransformOptions,
    root: Path,
    paths: list[str],
    tallies: CountsByTransform,
    done: Callable[[FileResult], None],
) -> None:
    if not paths:
        raise CorpusError(f"no Python or Java file in {', '.join(asked.sources)}")
    known = languages(paths)
    names = asked.names or tuple(
        dict.fromkeys(
            name for one in known for name in LANGUAGES.get(one).standard if not entry_of(name, one).interface
        )
    )
    prepare(tallies, meant(names, known))
    plan = ProjectPlan(transforms=names, seed=asked.seed, sites=asked.sites)
    changed = 0
    with ProgressMonitor("perturb", len(paths), unit="files") as monitor:
        for result in perturb_files(root, paths, plan, workers=asked.workers):
            count(tallies, result.records)
            changed += result.after != result.before
            if asked.diff:
                show_text(file_diff(result.path, result.before, result.after))
            done(result)
            monitor.answered(1, recalled=False)
    note(f"{changed:,} of {len(paths):,} files changed")


# ── suites ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Together:
    """Several corpora as one."""

    spec: str
    parts: tuple[Corpus, ...]

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """One after the other."""
        for part in self.parts:
            yield from part.read(skipped)


def _write_suite(asked: TransformOptions) -> int:
    path = asked.suite
    assert path is not None
    if asked.out is not None:
        raise UsageError("give --out for a perturbed copy or --suite for a suite, not both")
    if path.suffix not in SUITES:
        raise UsageError(f"--suite {str(path)!r} must end with .parquet or .jsonl")
    if path.exists():
        _check_ours(path)
    TASKS.summary(asked.task)
    inputs = _drawn(asked)
    folder = RunFolder(path.parent)
    folder.reserve()
    about = {"schema": SCHEMA, "task": TASKS.get(asked.task).name, "corpus": inputs.name}
    writer = LinesWriter if path.suffix == LINES else TableWriter
    tallies: CountsByTransform = {}
    with (
        ProgressMonitor("suite", inputs.size(asked.seed), unit="samples") as monitor,
        folder.replacing(path.name) as place,
        writer(place, SUITE_COLUMNS, about) as table,
    ):
        for case in inputs.cases(asked.seed):
            table.write(suite_rows(asked.seed, case))
            count(tallies, case.outcomes)
            if asked.diff:
                show_text("".join(_sample_diffs(case.outcomes)))
            monitor.answered(1, recalled=False)
    _tell(asked, tallies, units="variants")
    note(f"suite: {path}")
    return 0


def _check_ours(path: Path) -> None:
    try:
        read_about(path)
    except RunError as error:
        raise UsageError(f"--suite {str(path)!r} exists and is no suite; give another name") from error


def _drawn(asked: TransformOptions) -> DrawnInputs:
    parts = tuple(corpus(source) for source in asked.sources)
    whole = parts[0] if len(parts) == 1 else _Together(" ".join(part.spec for part in parts), parts)
    limit = 200 if asked.limit is None else asked.limit or None
    task = TASKS.get(asked.task)
    truth = of_corpus(task, cache=default_folder() / "labels", note=note)
    drawn = truth.examples(whole, task)
    selections = select(*drawn, limit=limit, seeds=(asked.seed,), unit=task.noun)
    languages = {sample.language for selection in selections for sample in selection.samples}
    if asked.names is None:
        names = suite.standard_transforms(languages, controls=asked.controls)
    else:
        names = suite.with_noise_floor(asked.names, languages, controls=asked.controls)
    return DrawnInputs(
        name=whole.spec,
        noun=task.noun,
        selections=selections,
        transforms=names,
        variants=asked.variants or 4,
        workers=asked.workers,
        sites=asked.sites,
        witnesses=called(languages, truth, PROGRESS) if asked.execute else None,
        labels=truth,
        progress=PROGRESS,
    )


def _sample_diffs(outcomes: Iterable[object]) -> Iterator[str]:
    for outcome in outcomes:
        if isinstance(outcome, Perturbed):
            origin = outcome.sample.origin
            name = f"{origin.path}:{origin.line} {outcome.transform} {outcome.variant}"
            yield text_diff(name, outcome.sample.source, outcome.source)


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────


def _tell(asked: TransformOptions, tallies: CountsByTransform, *, units: str) -> None:
    if asked.form == "json":
        text = json.dumps({"schema": 1, "seed": asked.seed, "by_transform": tally_json(tallies)}, indent=2)
        if asked.diff:
            note(text)
        else:
            show_text(text + "\n")
        return
    title = f"{' '.join(asked.sources)}, seed {asked.seed}"
    show_sheet(tally_sheet(tallies, title=title, units=units), stderr=asked.diff)

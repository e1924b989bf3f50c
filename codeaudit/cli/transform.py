"""The command `codeaudit transform`: its options and output. `codeaudit.perturbed_files` does the work."""

import json
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.audit.projects.diffs import file_diff, text_diff
from codeaudit.audit.projects.files import FileResult
from codeaudit.audit.projects.transform_counts import CountsByTransform
from codeaudit.audit.registry import DEFAULT_TASK
from codeaudit.audit.run import Case
from codeaudit.cli import completion
from codeaudit.cli.options import EXECUTE, POSITIVE, Listed, option
from codeaudit.cli.output import show_sheet, show_text
from codeaudit.cli.progress import PROGRESS, note
from codeaudit.cli.transform_counts import counts_json, counts_sheet
from codeaudit.perturbed_files import FilePerturbation, copy, preview, write_suite
from codeaudit.run_options import RunOptions, listed
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import expand

CODEMOD: Final = "codemod/"
"""The names of transforms that only `--execute` can confirm."""


@click.command("transform")
@click.argument("sources", nargs=-1, required=True, metavar="SRC...")
@option(
    "--transform",
    cls=Listed,
    shell_complete=completion.transforms,
    metavar="NAME[,NAME]",
    help="Transforms or families of them, one after the other; `all` for every one that keeps the meaning. "
    "py/MODULE:OBJECT is a transform of your own, codemod/MODULE:CLASS a LibCST codemod, which needs --suite "
    "FILE --execute.  [default: the standard set; for files without those that change what callers see]",
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
    help="Places that a transform edits. auto: all, then random subsets; all: always all; one: one.",
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
    help="What the models of a suite are asked; py/MODULE:OBJECT is a task of your own.",
)
@option(
    "--controls/--no-controls",
    default=True,
    help="Put transforms that change the meaning into a suite, to measure sensitivity.",
)
@option("--execute/--no-execute", default=False, help=f"For a suite. {EXECUTE}")
@option("--workers", type=POSITIVE, default=1, metavar="N", help="Number of processes.")
@option("--format", "form", type=click.Choice(("rich", "json")), default="rich", help="Format of the counts.")
def transform(
    sources: tuple[str, ...],
    transform: str | None,
    suite: Path | None,
    out: Path | None,
    diff: bool,
    form: str,
    **options: Any,
) -> int:
    """Write a perturbed copy of files or folders, or a suite of perturbed samples.

    A folder gives a copy of it in which Python and Java files are perturbed; every other file, and each byte
    that no transform touched, stays as it is. A file gives a file. SRC itself is only read.

    \b
    Examples:
      codeaudit transform src --out perturbed --transform rename,reorder --seed 7
      codeaudit transform src --diff | less
      codeaudit transform stdlib:json --suite json.parquet
    """
    names = None if transform is None else listed(transform)
    expanded = None if names is None else expand(names, interface=suite is not None)
    if names is not None and not expanded:
        raise UsageError("--transform names no transform; leave it out for the standard set")
    if suite is not None:
        if out is not None:
            raise UsageError("give --out for a perturbed copy or --suite for a suite, not both")
        counts = _suite(sources, transform, suite, diff=diff, **options)
    else:
        counts = _files(sources, expanded, out, diff=diff, **options)
    _show(counts, sources, options["seed"], form, units="units" if suite is None else "variants", diff=diff)
    if suite is not None:
        note(f"suite: {suite}")
    return 0


def _files(
    sources: tuple[str, ...],
    transforms: tuple[str, ...] | None,
    out: Path | None,
    *,
    diff: bool,
    variants: int | None,
    limit: int | None,
    execute: bool,
    seed: int,
    sites: Any,
    workers: int,
    **for_suites: object,
) -> CountsByTransform:
    """Write or show perturbed files."""
    for name, given in (("--variants", variants), ("--limit", limit)):
        if given is not None:
            raise UsageError(f"{name} goes with --suite; a tree is perturbed once, as a whole")
    if execute:
        raise UsageError("--execute goes with --suite; `codeaudit verify` runs a project's own tests")
    if any(name.startswith(CODEMOD) for name in transforms or ()):
        note(f"{CODEMOD}… changes nothing here, because nothing confirms it: give --suite FILE --execute")
    if out is None and not diff:
        raise UsageError("give --out DIR for a perturbed copy, --suite FILE for a suite, or --diff")
    request = FilePerturbation(
        sources=sources, transforms=transforms, seed=seed, sites=sites, workers=workers
    )

    def seen(result: FileResult) -> None:
        if diff:
            show_text(file_diff(result.path, result.before, result.after))

    if out is None:
        return preview(request, PROGRESS, seen)
    counts = copy(request, out, PROGRESS, seen)
    note(f"perturbed copy: {out}")
    return counts


def _suite(
    sources: tuple[str, ...],
    transform: str | None,
    path: Path,
    *,
    diff: bool,
    variants: int | None,
    limit: int | None,
    **options: Any,
) -> CountsByTransform:
    """Write a suite."""

    def seen(case: Case) -> None:
        for one in case.outcomes:
            if diff and isinstance(one, Perturbed):
                name = f"{one.sample.origin.path}:{one.sample.origin.line} {one.transform} {one.variant}"
                show_text(text_diff(name, one.sample.source, one.source))

    asked = RunOptions(
        transform=transform,
        variants=4 if variants is None else variants,
        limit=200 if limit is None else limit,
        **options,
    )
    return write_suite(asked, sources, path, PROGRESS, seen)


def _show(
    counts: CountsByTransform, sources: tuple[str, ...], seed: int, form: str, *, units: str, diff: bool
) -> None:
    """Show the counts on stdout, or on stderr below the diffs."""
    if form == "json":
        text = json.dumps({"schema": 1, "seed": seed, "by_transform": counts_json(counts)}, indent=2)
        if diff:
            note(text)
        else:
            show_text(text + "\n")
        return
    title = f"{' '.join(sources)}, seed {seed}"
    show_sheet(counts_sheet(counts, title=title, units=units), stderr=diff)

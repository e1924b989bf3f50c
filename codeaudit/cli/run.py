"""The commands `codeaudit run` and `codeaudit compare`, which audit models with the same options."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.urls import redacted, redacted_url
from codeaudit.audit.store import SUITE, RunFolder
from codeaudit.auditing import RUN_AGAIN, audit_models, demand_verdicts
from codeaudit.bound_arguments import has_idle_url
from codeaudit.cli.main import CONFIG
from codeaudit.cli.options import (
    VERBOSE,
    GroupedCommand,
    demand_retyped,
    file_option,
    given_as,
    on_command_line,
    path_option,
    run_options,
    with_models_of_file,
)
from codeaudit.cli.output import (
    PROGRESS,
    STDOUT,
    note,
    note_unanswered,
    note_unbound,
    show,
    show_run,
    show_sheets,
    show_text,
    write_or_show,
)
from codeaudit.finished_runs import comparison_page, read_run
from codeaudit.gating import read_compared
from codeaudit.options import PRINTED, TABLE, WITH_SECRETS, RunOptions, marked, usual_movable
from codeaudit.planning import exceeded, few_movable, plan_run, plan_sheet, total
from codeaudit.prompting import prompted
from codeaudit.reports.compare import compare as compare_runs
from codeaudit.reports.records import Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.retyping import next_commands
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registry import expand

DRY_RUN: Final = click.option(
    "--dry-run",
    is_flag=True,
    help="Ask nothing: print how many requests and tokens each model would need, estimated, and the cost by "
    "-M price_in and -M price_out. Needs no key and writes no run folder.",
)


@click.command(cls=GroupedCommand)
@run_options
@DRY_RUN
@VERBOSE
def run(dry_run: bool, verbose: bool, **options: Any) -> int:
    """Audit one or more models on a perturbed suite.

    The first table goes to stdout, progress to stderr, everything else into the run folder. Interrupted
    runs go on where they stopped when they are started again with the same --out.

    \b
    Examples:
      codeaudit run
      codeaudit run --corpus src/ --model py/codeaudit_model:predict
      codeaudit run --transform reorder --trials 5 --format markdown > audit.md
    """
    settings = _run_options(options)
    if dry_run:
        return _planned(settings)
    summary, folder = audited_now(settings)
    show_run(summary, settings.format, verbose=verbose)
    note_unanswered(summary, folder.path)
    if line := _few_movable(summary, settings, folder.manifest()["corpus"]):
        note(line)
    if settings.shard is None:
        follows = next_commands(folder.path, settings.to_json(settings.model), judged=summary.judged)
    else:
        follows = f"the other shards, then codeaudit merge {shlex.quote(str(folder.path))} … --out DIR"
    note(f"run folder: {folder.path}; next: {follows}")
    # A part may have no sample, or none that a transform changes. `codeaudit merge` looks at the whole.
    if settings.shard is None:
        demand_verdicts(summary, settings)
    return 0


def _few_movable(summary: Summary, options: RunOptions, corpus: Mapping[str, Any]) -> str:
    """One line on the transforms that changed few samples, if the corpus has more of them; else empty."""
    drawn, every = corpus.get("samples", 0), corpus.get("available", 0)
    left_out = sum(corpus.get("skipped", {}).values())
    chosen = (
        options.movable
        or options.suite is not None
        or options.shard is not None
        or on_command_line("movable")
    )
    if chosen or drawn + left_out >= every:
        return ""
    counts: dict[str, int] = {}
    for row in (row for model in summary.models for row in model.by_transform if row.kind == "preserving"):
        # A sample is movable, too, if a model gave no answer to it.
        moved = max(row.violations.total, ceil(row.applied / options.variants))
        counts[row.transform] = max(moved, counts.get(row.transform, 0))
    return few_movable(counts, drawn)


def _run_options(options: Mapping[str, Any]) -> RunOptions:
    """The options of a run; one of local models draws movable samples, too."""
    demand_retyped(options)
    options = with_models_of_file(options)
    source = click.get_current_context().get_parameter_source
    movable = options["movable"]
    if movable is None:
        bounded = any(source(name) is not ParameterSource.DEFAULT for name in marked("bounds"))
        movable = usual_movable(options["model"], bounded=bounded)
    return prompted(RunOptions(**{**options, "movable": movable}))


def audited_now(options: RunOptions, *, resumed: Sequence[str] = RUN_AGAIN) -> tuple[Summary, RunFolder]:
    """Audit the models with progress on stderr. Returns the summary and the run folder. `resumed` is that of
    `audit_models`.

    Raises:
        UsageError, CannotAudit: as `audit_models`.
    """
    options = _checked(options)
    command = ["codeaudit", *_recorded(sys.argv[1:])]
    return audit_models(options, command=command, resumed=resumed, progress=PROGRESS)


def _recorded(words: Sequence[str]) -> Iterator[str]:
    """The words of a command line without the secrets in them."""
    for before, word in pairwise(["", *words]):
        option, equals, value = word.partition("=")
        if _may_hold_secrets(option) and equals:
            yield f"{option}={redacted_url(value)}"
        else:
            yield redacted_url(word) if _may_hold_secrets(before) else redacted(word)


def _may_hold_secrets(word: str) -> bool:
    return word.startswith("--") and word.removeprefix("--").replace("-", "_") in WITH_SECRETS


def _planned(options: RunOptions) -> int:
    """Show what a run would ask.

    Raises:
        UsageError, CannotAudit: as `plan_run`.
    """
    options = _checked(options)
    if options.format not in PRINTED:
        raise UsageError(f"--dry-run --format {options.format}: known are {', '.join(PRINTED)}")
    plans = plan_run(options, PROGRESS, chosen=on_command_line("movable"))
    if options.format == "json":
        planned = {"models": [asdict(plan) for plan in plans], "total": dict(total(plans))}
        show_text(json.dumps({**planned, "exceeded": exceeded(plans, options)}, indent=2) + "\n")
    else:
        show_sheets([plan_sheet(plans, options)], options.format)
    return 0


def _checked(options: RunOptions) -> RunOptions:
    """The options, without those from the environment or a file that are for other models.

    Raises:
        UsageError: a name is unknown.
    """
    expand(options.transforms or ())  # rejects an unknown name before anything else
    FORMATS.get(options.format)  # a broken plug-in ends the command before a model is asked
    _note_idle(options)
    # CODEAUDIT_BASE_URL and files may set options for models that this run does not use.
    accepted = catalogue.accepted_options(options.model or catalogue.bundled())
    # An option on the command line is meant, so it stays, and an error says if no model takes it. One from
    # the environment or a file is for other runs, too.
    if has_idle_url(options.arguments, options.model):
        accepted -= {"base_url"}
    idle = [name for name in options.model_options if not on_command_line(name) and name not in accepted]
    return replace(options, **{name: TABLE[name].default for name in idle})


def _note_idle(options: RunOptions) -> None:
    """Tell which options on the command line have no effect."""
    if not options.attacks and on_command_line("budget"):
        note("--budget: no effect without --attack")
    if options.suite is None:
        return
    sources = {ParameterSource.COMMANDLINE}
    # In one TOML file both are a slip. The manifest of a run has every option.
    place = click.get_current_context().meta.get(CONFIG, "")
    if place.endswith(".toml") and given_as("suite") is ParameterSource.DEFAULT_MAP:
        sources.add(ParameterSource.DEFAULT_MAP)
    # `--suite FILE --seed 3`: the seed is that of the file.
    named = [TABLE[name].flag for name in marked("draws") if given_as(name) in sources]
    if named:
        note(f"{', '.join(named)}: no effect with --suite, which fixes the inputs")


@click.command(cls=GroupedCommand)
@click.argument("runs", nargs=-1, metavar="[RUN]...", type=click.Path(path_type=Path))
@run_options
@path_option(
    "--held-out",
    "RUN",
    "A run of the same models on held-out code of the same kind: the drop of the score under edits stands "
    "beside the drop there. Then one model is enough.",
)
@file_option(
    "--html",
    "Also write one page with the verdict, the runs and the tests; - for stdout, instead of the tables.",
    ".html",
    ".htm",
    may_be_stdout=True,
)
@DRY_RUN
def compare(
    runs: tuple[Path, ...], dry_run: bool, html: Path | None, held_out: Path | None, **options: Any
) -> int:
    """Compare models: from finished runs, or by auditing them now on the same inputs.

    Kruskal-Wallis and Conover across trials; Cochran's Q and exact McNemar tests where models met the same
    inputs, with effect sizes and the smallest difference that could have been seen. With --model, the
    options are those of `codeaudit run`; beside a RUN, the models meet the inputs of that run.

    \b
    Examples:
      codeaudit compare codeaudit-runs/old-model codeaudit-runs/new-model --html models.html
      codeaudit compare --model spe-checkpoint --model hf/./my-model --trials 5
      codeaudit compare codeaudit-runs/old-model --model openai/gpt-5 --base-url http://localhost:8000/v1
      codeaudit compare codeaudit-runs/public --held-out codeaudit-runs/own-code
    """
    settings = _run_options(options)
    if settings.shard is not None:
        if on_command_line("shard"):
            raise UsageError("--shard: shards are made by `codeaudit run`; compare the merged runs")
        settings = replace(settings, shard=None)
    # With CODEAUDIT_MODEL set for `run`, `compare ONE TWO` must not audit another model.
    from_outside = click.get_current_context().get_parameter_source("model") is ParameterSource.ENVIRONMENT
    models = () if runs and from_outside else settings.model
    idle = [name for name in options if name != "format" and on_command_line(name)]
    if idle and not models:
        flags = ", ".join(TABLE[name].flag for name in idle)
        note(f"{flags}: no effect on finished runs; options of a run go with --model")
    if not runs and len(models) < (1 if held_out else 2):
        raise UsageError("nothing to compare: give runs, or two models with --model")
    if dry_run:
        if not models:
            raise UsageError("--dry-run: finished runs ask nothing; it goes with --model")
        return _planned(_on_inputs_of(runs, settings))
    folders = [read_run(path) for path in runs]
    # First, because an audit costs: a path that does not exist is told before it.
    other = [] if held_out is None else [read_run(held_out)]
    judged = [read_compared(opened, scores=bool(other)) for opened in folders]
    held = [read_compared(opened, scores=True) for opened in other]
    for opened in (*folders, *other):
        note_unbound(opened)
        note_unanswered(opened.summary, opened.path)
    if models:
        settings = _on_inputs_of(runs, settings)
        files = (("--held-out", held_out), ("--html", html))
        named = [word for flag, path in files if path is not None for word in (flag, str(path))]
        again = ["codeaudit", "compare", *map(str, runs), *named]
        summary, folder = audited_now(settings, resumed=again)
        note_unanswered(summary, folder.path)
        note(f"run folder: {folder.path}")
        demand_verdicts(summary, settings)
        folders.append(read_run(folder.path))
        judged.append(read_compared(folders[-1], scores=bool(other)))
    compared = compare_runs(judged, held_out=held[0] if held else None)
    if html is not None:
        pages = list(zip((*folders, *other), (*judged, *held), strict=True))
        write_or_show(html, comparison_page(compared, pages))
    if html != STDOUT:
        show(compared, settings.format)
    return 0


def _on_inputs_of(runs: Sequence[Path], options: RunOptions) -> RunOptions:
    """The options with the inputs of the first run: only answers on the same inputs can be paired."""
    if not runs or options.suite is not None:
        return options
    return replace(
        options, suite=runs[0] / SUITE, movable=options.movable if on_command_line("movable") else 0
    )

"""`codeaudit run`: the main job."""

import shlex
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from codeaudit.audit.cache import AnswerCache, default_folder
from codeaudit.audit.corpora.selection import units
from codeaudit.audit.store import SUMMARY, RunFolder
from codeaudit.cli.fleet import DEFAULT_TASK, bundled_models, check_names, common_task, load_models
from codeaudit.cli.inputs import NOUNS, Drawn, Inputs, most, prepare_inputs, suite_task
from codeaudit.cli.job import Job, carry_out
from codeaudit.cli.manifest import begin, finish, stop
from codeaudit.cli.options import RunOptions, run_options
from codeaudit.cli.output import show
from codeaudit.cli.progress import note
from codeaudit.reports.records import Summary
from codeaudit.transforms.errors import CannotAudit, ModelError, RunError
from codeaudit.transforms.registry import expand

RUNS: Final = Path("codeaudit-runs")
CACHE_FILE: Final = "answers.sqlite"
DRAWING: Final = (
    "corpus",
    "labels",
    "transform",
    "sites",
    "variants",
    "controls",
    "execute",
    "limit",
    "seed",
    "trials",
)
"""Options that decide which inputs are made."""


@click.command()
@run_options
def run(**options: Any) -> int:
    """Audit one or more models on a perturbed suite.

    The table goes to stdout, progress to stderr, everything else into the run folder. Interrupted runs go
    on where they stopped when they are started again with the same --out.

    \b
    Examples:
      codeaudit run
      codeaudit run --corpus src/ --model py/my_module:predict
      codeaudit run --transform reorder --trials 5 --format markdown > audit.md
    """
    asked = RunOptions(**options)
    named = expand(asked.transforms or ())
    summary, folder = audit_models(asked)
    show(summary, asked.format)
    place = shlex.quote(str(folder.path))
    note(f"run folder: {folder.path}; next: codeaudit explain {place}, codeaudit report {place} --html FILE")
    demand_verdicts(summary, frozenset(named))
    return 0


def audit_models(asked: RunOptions) -> tuple[Summary, RunFolder]:
    """Carry a run out: what it found, and the folder that it left.

    Raises:
        UsageError: an option has a value that does not exist or does not fit the others.
        CannotAudit: the models, the corpus or the folder cannot be used.
    """
    _note_idle(asked)
    specs = check_names(asked)
    with _reserved(asked.out or _default_folder(asked)) as folder, _resumable(folder):
        named = asked.task or (suite_task(asked.suite) if asked.suite else None)
        models = load_models(asked, specs)
        task = common_task(named, models)
        inputs = prepare_inputs(asked, task)
        if not specs:
            specs = bundled_models(task.name, inputs.language)
            models = load_models(asked, specs)
        note(_inputs_line(inputs, task.name))
        job = Job(options=asked, specs=specs, task=task, models=models, inputs=inputs, folder=folder)
        return _finished(job), folder


def _finished(job: Job) -> Summary:
    """Carry the job out and write what is left to write."""
    manifest = begin(job)
    name = str(manifest["codeaudit"])
    with answer_cache(job.options, job.folder) as cache:
        try:
            summary = carry_out(job, cache, run=name)
        except BaseException:
            stop(job, manifest)
            raise
        job.folder.write_text(SUMMARY, summary.to_json())
        finish(job, manifest)
        cache.forget(name)
    return summary


def _default_folder(options: RunOptions) -> Path:
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{(options.task or DEFAULT_TASK).replace(':', '-')}"
    return path if not path.exists() else path.with_name(f"{path.name}-{uuid.uuid4().hex[:4]}")


@contextmanager
def _reserved(path: Path) -> Iterator[RunFolder]:
    """The run folder, gone again if nothing came to stand in it."""
    folder = RunFolder(path)
    new = [place for place in (path, path.parent) if not place.exists()]
    folder.reserve()
    try:
        yield folder
    finally:
        with suppress(OSError):
            for place in new:
                place.rmdir()


@contextmanager
def _resumable(folder: RunFolder) -> Iterator[None]:
    """Say how to go on after an interruption, or after a model broke off."""
    place = shlex.quote(str(folder.path))
    again = f"codeaudit run --config {place} --out {place}"
    try:
        yield
    except ModelError:
        with suppress(RunError):
            if folder.manifest().get("state") == "running":
                note(f"every answer so far is kept; go on with: {again}")
        raise
    except KeyboardInterrupt:
        try:
            folder.manifest()
        except RunError:
            raise KeyboardInterrupt("interrupted before the first answer; start the run again") from None
        raise KeyboardInterrupt(f"interrupted; every answer so far is kept. Go on with: {again}") from None


@contextmanager
def answer_cache(options: RunOptions, folder: RunFolder) -> Iterator[AnswerCache]:
    """The cache that was asked for, or the user's, or one in the run folder where that cannot be used."""
    try:
        cache = AnswerCache((options.cache or default_folder()) / CACHE_FILE)
    except RunError as error:
        if options.cache is not None:
            raise
        note(f"{error}; answers are kept in the run folder")
        cache = AnswerCache(folder.path / CACHE_FILE)
    try:
        yield cache
    finally:
        cache.close()


def _note_idle(options: RunOptions) -> None:
    """Say which of the named options have no effect."""
    context = click.get_current_context()
    if not options.attacks and context.get_parameter_source("budget") is ParameterSource.COMMANDLINE:
        note("--budget: no effect without --attack")
    if options.suite is not None:
        named = [
            name for name in DRAWING if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        ]
        if named:
            note(
                f"{', '.join(f'--{name}' for name in named)}: no effect with --suite, which fixes the inputs"
            )


def _inputs_line(inputs: Inputs, task: str) -> str:
    size = "frozen suite"
    if isinstance(inputs, Drawn):
        first = inputs.selections[0]
        noun = NOUNS.get(task) or units({sample.language for sample in first.samples})
        size = f"{len(first.samples):,} of {first.available:,} {noun}"
    left_out = f"; left out: {most(inputs.skipped, 6)}" if inputs.skipped else ""
    return f"corpus {inputs.name}: {size}{left_out}"


def demand_verdicts(summary: Summary, named: frozenset[str]) -> None:
    """See that something was judged of what was asked for.

    Raises:
        CannotAudit: a model has no verdict under the named transforms, or under any that keeps the meaning.
    """
    wanted = named - {"identity"} or named
    for model in summary.models:
        rows = [
            row
            for row in model.by_transform
            if (row.transform in wanted if wanted else row.kind == "preserving")
        ]
        if any(row.violations.total for row in rows):
            continue
        if any(row.applied for row in rows):
            why = f"{model.model!r} gave no usable answer ({most(model.unjudged_reasons)})"
        else:
            reasons = {reason: count for row in rows for reason, count in row.not_applied.items()}
            why = f"no perturbation could be applied ({most(reasons)})"
        raise CannotAudit(f"nothing could be judged: {why}")

"""`codeaudit run`: composes corpus, transforms, models, driver, store and report."""

import platform
import shlex
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import cpu_count
from pathlib import Path
from typing import Any, Final

import click

from audit.cache import AnswerCache, ModelMemory, default_folder
from audit.cli.fleet import check_names, common_task, load_models
from audit.cli.inputs import Inputs, prepare_inputs, suite_task
from audit.cli.options import RunOptions, as_json, run_options
from audit.cli.output import show
from audit.cli.progress import ProgressMonitor, note
from audit.cli.versions import versions
from audit.interface import Model, Task
from audit.records import Audited
from audit.run import Case, Desk, audit, queries, repeats
from audit.store import SCHEMA, SUITE, SUMMARY, VERDICTS, Manifest, RunFolder
from audit.tables import SUITE_COLUMNS, VERDICT_COLUMNS, TableWriter, suite_rows, verdict_rows
from reports.records import ModelHeader, RunHeader, Summary
from reports.summarise import summarise
from transforms.errors import CannotAudit, RunError
from transforms.registry import TRANSFORMS

RUNS: Final = Path("codeaudit-runs")
CACHE_FILE: Final = "answers.sqlite"
DECISIVE: Final = ("task", "seed", "trials", "transforms", "variants", "corpus", "models")
"""The fields of a manifest that decide a run's results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A run that is ready to begin."""

    options: RunOptions
    task: Task
    models: tuple[Model, ...]
    inputs: Inputs
    folder: RunFolder


@click.command()
@run_options
def run(**options: Any) -> int:
    """Audit one or more models on a perturbed suite.

    The table goes to stdout, progress to stderr, everything else into the run folder. Interrupted runs go
    on where they stopped when they are started again with the same --out.
    """
    asked = RunOptions(**options)
    for name in asked.transforms or ():
        TRANSFORMS.summary(name)
    specs = check_names(asked)
    with _reserved(asked.out or _default_folder(asked)) as folder:
        models = load_models(asked, specs)
        task = common_task(asked.task or (suite_task(asked.suite) if asked.suite else None), models)
        job = Job(options=asked, task=task, models=models, inputs=prepare_inputs(asked, task), folder=folder)
        return _carry_out(job)


def _default_folder(options: RunOptions) -> Path:
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{options.task or 'function-name'}"
    return path if not path.exists() else path.with_name(f"{path.name}-{uuid.uuid4().hex[:4]}")


@contextmanager
def _reserved(path: Path) -> Iterator[RunFolder]:
    """The run folder, gone again if nothing came to stand in it."""
    folder = RunFolder(path)
    new = folder.reserve()
    try:
        yield folder
    finally:
        if new:
            with suppress(OSError):
                path.rmdir()


def _carry_out(job: Job) -> int:
    manifest = _begin(job)
    with _resumable(job), _cache(job) as cache:
        summary = _audit_all(job, cache, str(manifest["codeaudit"]))
        job.folder.write_text(SUMMARY, summary.to_json())
        job.folder.write_manifest({**manifest, "state": "finished", "finished": _now()})
        cache.forget(str(manifest["codeaudit"]))
    show(summary, job.options.format)
    note(f"run folder: {job.folder.path}")
    _demand_verdicts(summary, job)
    return 0


def _begin(job: Job) -> Manifest:
    """Write the manifest of the run, with the name of the run that it goes on with, if any."""
    fresh = _manifest(job)
    try:
        old = job.folder.manifest()
    except RunError:
        old = {}
    same = all(old.get(field) == fresh[field] for field in DECISIVE)
    if same and old.get("state") == "running":
        note(f"going on with the run in {job.folder.path}")
        fresh = {**fresh, "codeaudit": old["codeaudit"], "started": old["started"]}
    elif old:
        note(f"replacing the run in {job.folder.path}")
    job.folder.write_manifest(fresh)
    return fresh


def _manifest(job: Job) -> Manifest:
    options, inputs = job.options, job.inputs
    models = [
        {
            "name": model.name,
            "fingerprint": model.fingerprint,
            "parameters": model.parameters,
            "noise": model.noise,
        }
        for model in job.models
    ]
    return {
        "schema": SCHEMA,
        "codeaudit": uuid.uuid4().hex,
        "state": "running",
        "started": _now(),
        "finished": None,
        "command": ["codeaudit", *sys.argv[1:]],
        "versions": versions(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": cpu_count()},
        "task": job.task.name,
        "seed": inputs.seeds[0],
        "trials": len(inputs.seeds),
        "transforms": list(inputs.transforms),
        "variants": options.variants,
        "corpus": dict(inputs.about),
        "models": models,
        "options": as_json(options),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def _resumable(job: Job) -> Iterator[None]:
    """Say how to go on after an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        place = shlex.quote(str(job.folder.path))
        again = f"codeaudit run --config {place} --out {place}"
        raise KeyboardInterrupt(f"interrupted; every answer so far is kept. Go on with: {again}") from None


@contextmanager
def _cache(job: Job) -> Iterator[AnswerCache]:
    """The cache that was asked for, or the user's, or one in the run folder where that cannot be used."""
    place = (job.options.cache or default_folder()) / CACHE_FILE
    try:
        cache = AnswerCache(place)
    except RunError as error:
        if job.options.cache is not None:
            raise
        note(f"{error}; answers are kept in the run folder")
        cache = AnswerCache(job.folder.path / CACHE_FILE)
    try:
        yield cache
    finally:
        cache.close()


def _audit_all(job: Job, cache: AnswerCache, run_name: str) -> Summary:
    about = {"schema": SCHEMA, "task": job.task.name, "corpus": job.inputs.name}
    headers = tuple(
        ModelHeader(
            name=model.name,
            parameters=model.parameters,
            fingerprint=model.fingerprint,
            noise=model.noise,
        )
        for model in job.models
    )
    header = RunHeader(
        task=job.task.name,
        corpus=job.inputs.name,
        seed=job.inputs.seeds[0],
        models=headers,
        skipped=job.inputs.skipped,
    )
    with ExitStack() as stack:
        suite_file = stack.enter_context(job.folder.replacing(SUITE))
        verdict_file = stack.enter_context(job.folder.replacing(VERDICTS))
        suite = stack.enter_context(TableWriter(suite_file, SUITE_COLUMNS, about))
        verdicts = stack.enter_context(TableWriter(verdict_file, VERDICT_COLUMNS, about))
        pass_ = _Pass(job=job, cache=cache, run=run_name, suite=suite, verdicts=verdicts)
        trials = ((seed, pass_.audited(seed)) for seed in job.inputs.seeds)
        return summarise(trials, task=job.task, header=header)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    """Audits trial by trial and writes the tables on the way."""

    job: Job
    cache: AnswerCache
    run: str
    suite: TableWriter
    verdicts: TableWriter

    def audited(self, seed: int) -> Iterator[Audited]:
        """Every model on every case of one trial."""
        began = time.monotonic()
        cases = []
        for case in self.job.inputs.cases(seed):
            self.suite.write(suite_rows(seed, case))
            cases.append(case)
        note(_suite_line(cases, time.monotonic() - began))
        for model in self.job.models:
            for one in self._model(model, cases):
                self.verdicts.write(verdict_rows(seed, one))
                yield one

    def _model(self, model: Model, cases: list[Case]) -> Iterator[Audited]:
        name = self.job.task.name
        total = len({query for case in cases for query in queries(case, name)})
        total += len({query for case in cases for query in repeats(case, name)})
        with ProgressMonitor(model.name, total) as monitor:
            desk = Desk(
                model=model,
                task=self.job.task,
                memory=ModelMemory(cache=self.cache, fingerprint=model.fingerprint, run=self.run),
                monitor=monitor,
                batch_size=self.job.options.batch_size,
            )
            yield from audit(cases, desk)


def _suite_line(cases: list[Case], seconds: float) -> str:
    variants = sum(
        outcome.kind != "identity" and hasattr(outcome, "moves")
        for case in cases
        for outcome in case.outcomes
    )
    return f"{len(cases):,} samples, {variants:,} variants, made in {seconds:.1f} s"


def _demand_verdicts(summary: Summary, job: Job) -> None:
    """Raise where a model's answers to what was asked for could not be judged at all."""
    asked = set(job.options.transforms or job.inputs.transforms)
    wanted = asked - {"identity"} or {"identity"}
    for model in summary.models:
        rows = [row for row in model.by_transform if row.transform in wanted]
        if any(row.violations.total for row in rows):
            continue
        reasons: Mapping[str, int] = model.unjudged_reasons
        if not any(row.applied for row in rows):
            reasons = {reason: count for row in rows for reason, count in row.not_applied.items()}
            raise CannotAudit(f"nothing could be judged: no perturbation could be applied ({_most(reasons)})")
        raise CannotAudit(
            f"nothing could be judged: {model.model!r} gave no usable answer ({_most(reasons)})"
        )


def _most(reasons: Mapping[str, int]) -> str:
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"{count} × {reason}" for reason, count in ranked) or "no samples"

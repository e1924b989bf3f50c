"""A run that is ready to begin, and its carrying out: trial by trial, model by model."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from audit.cache import AnswerCache, ModelMemory
from audit.cli.inputs import Inputs
from audit.cli.options import RunOptions
from audit.cli.progress import ProgressMonitor, note
from audit.interface import Model, Task
from audit.records import Audited
from audit.run import Case, Desk, audit, queries, repeats
from audit.store import SCHEMA, SUITE, VERDICTS, RunFolder
from audit.tables import SUITE_COLUMNS, VERDICT_COLUMNS, TableWriter, suite_rows, verdict_rows
from reports.records import ModelHeader, RunHeader, Summary
from reports.summarise import summarise
from transforms.records import Perturbed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is audited, with what, and where to."""

    options: RunOptions
    specs: tuple[str, ...]
    """The models as they are named, with the defaults filled in."""
    task: Task
    models: tuple[Model, ...]
    inputs: Inputs
    folder: RunFolder


def carry_out(job: Job, cache: AnswerCache, *, run: str) -> Summary:
    """Audit every model in every trial and write the tables; `run` names the run in the cache.

    Raises:
        ModelError: a model cannot answer.
        RunError: a table cannot be written.
    """
    about = {"schema": SCHEMA, "task": job.task.name, "corpus": job.inputs.name}
    with ExitStack() as stack:
        suite_file = stack.enter_context(job.folder.replacing(SUITE))
        verdict_file = stack.enter_context(job.folder.replacing(VERDICTS))
        carrying = _Carrying(
            job=job,
            cache=cache,
            run=run,
            suite=stack.enter_context(TableWriter(suite_file, SUITE_COLUMNS, about)),
            verdicts=stack.enter_context(TableWriter(verdict_file, VERDICT_COLUMNS, about)),
        )
        trials = ((seed, carrying.trial(seed)) for seed in job.inputs.seeds)
        return summarise(trials, task=job.task, header=_header(job))


def _header(job: Job) -> RunHeader:
    models = tuple(
        ModelHeader(
            name=model.name,
            parameters=model.parameters,
            fingerprint=model.fingerprint,
            noise=model.noise,
        )
        for model in job.models
    )
    return RunHeader(
        task=job.task.name,
        corpus=job.inputs.name,
        seed=job.inputs.seeds[0],
        models=models,
        skipped=job.inputs.skipped,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carrying:
    """A job under way, with its open tables."""

    job: Job
    cache: AnswerCache
    run: str
    suite: TableWriter
    verdicts: TableWriter

    def trial(self, seed: int) -> Iterator[Audited]:
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
    outcomes = [outcome for case in cases for outcome in case.outcomes if outcome.kind != "identity"]
    variants = sum(isinstance(outcome, Perturbed) for outcome in outcomes)
    return f"{len(cases):,} samples, {variants:,} variants, made in {seconds:.1f} s"

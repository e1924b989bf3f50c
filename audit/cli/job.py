"""A run that is ready to begin, and its carrying out: trial by trial, model by model."""

from collections.abc import Iterator
from dataclasses import dataclass

from audit.cache import AnswerCache, ModelMemory
from audit.cli.inputs import Inputs
from audit.cli.options import RunOptions
from audit.cli.progress import ProgressMonitor, note
from audit.interface import Model, Task
from audit.records import Audited
from audit.run import Desk, audit, queries, repeats
from audit.store import SCHEMA, SUITE, VERDICTS, RunFolder
from audit.tables import SUITE_COLUMNS, VERDICT_COLUMNS, TableWriter, read_suite, suite_rows, verdict_rows
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
    """Write the suite, audit every model on it in every trial, and write the verdicts.

    The suite is read back from its table, so that memory does not grow with it. `run` names the run in
    the cache.

    Raises:
        ModelError: a model cannot answer.
        RunError: a table cannot be written.
    """
    about = {"schema": SCHEMA, "task": job.task.name, "corpus": job.inputs.name}
    with job.folder.replacing(SUITE) as place, TableWriter(place, SUITE_COLUMNS, about) as table:
        sizes = {seed: _write_suite(job, seed, table) for seed in job.inputs.seeds}
    with job.folder.replacing(VERDICTS) as place, TableWriter(place, VERDICT_COLUMNS, about) as table:
        audits = _Audits(job=job, cache=cache, run=run, verdicts=table)
        trials = ((seed, audits.trial(seed, sizes[seed])) for seed in job.inputs.seeds)
        return summarise(trials, task=job.task, header=_header(job))


def _write_suite(job: Job, seed: int, table: TableWriter) -> int:
    """Write the cases of one trial; how many answers each model will have to give for them."""
    name = job.task.name
    variants = answers = 0
    with ProgressMonitor("suite", job.inputs.size(seed), unit="samples") as monitor:
        for case in job.inputs.cases(seed):
            table.write(suite_rows(seed, case))
            variants += sum(isinstance(one, Perturbed) and one.kind != "identity" for one in case.outcomes)
            answers += len(set(queries(case, name))) + len(set(repeats(case, name)))
            monitor.answered(1, recalled=False)
    note(f"suite: {variants:,} variants")
    return answers


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
class _Audits:
    """The audits of a job, with the table that they write."""

    job: Job
    cache: AnswerCache
    run: str
    verdicts: TableWriter

    def trial(self, seed: int, answers: int) -> Iterator[Audited]:
        """Every model on every case of one trial."""
        for model in self.job.models:
            with ProgressMonitor(model.name, answers) as monitor:
                desk = Desk(
                    model=model,
                    task=self.job.task,
                    memory=ModelMemory(cache=self.cache, fingerprint=model.fingerprint, run=self.run),
                    monitor=monitor,
                    batch_size=self.job.options.batch_size,
                )
                for one in audit(read_suite(self.job.folder.path / SUITE, seed=seed), desk):
                    self.verdicts.write(verdict_rows(seed, one))
                    yield one

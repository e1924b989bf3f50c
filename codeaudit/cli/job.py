"""A run that is ready to begin, and its carrying out: trial by trial, model by model."""

from collections.abc import Iterator
from dataclasses import dataclass

from codeaudit.audit.cache import AnswerCache, ModelMemory
from codeaudit.audit.interface import Model, RecordedAnswers, Task
from codeaudit.audit.records import Attacked, Audited, Query
from codeaudit.audit.run import AnswerMonitor, AuditSetup, NoMonitor, audit, queries, repeats
from codeaudit.audit.search.attacks import attack
from codeaudit.audit.store import ATTACKS, SCHEMA, SUITE, VERDICTS, RunFolder
from codeaudit.audit.tables import (
    ATTACK_COLUMNS,
    SUITE_COLUMNS,
    VERDICT_COLUMNS,
    TableWriter,
    attack_row,
    read_suite,
    suite_rows,
    verdict_rows,
)
from codeaudit.cli.fleet import billed
from codeaudit.cli.inputs import Inputs
from codeaudit.cli.options import RunOptions
from codeaudit.cli.progress import ProgressMonitor, note
from codeaudit.reports.attacks import with_attacks
from codeaudit.reports.records import ModelHeader, RunHeader, Summary
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.records import Perturbed


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
    for model in job.models:
        if isinstance(model, RecordedAnswers):
            note(model.fit(_queries(job)))
    with job.folder.replacing(VERDICTS) as place, TableWriter(place, VERDICT_COLUMNS, about) as table:
        audits = _Audits(job=job, cache=cache, run=run, verdicts=table)
        trials = ((seed, audits.trial(seed, sizes[seed])) for seed in job.inputs.seeds)
        summary = summarise(trials, task=job.task, header=_header(job))
    if not job.options.attacks:
        return summary
    with job.folder.replacing(ATTACKS) as place, TableWriter(place, ATTACK_COLUMNS, about) as table:
        return with_attacks(summary, _attacked(job, cache, table, run=run))


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


def _queries(job: Job) -> Iterator[Query]:
    """What every model is asked in all trials, as the suite has it."""
    for seed in job.inputs.seeds:
        for case in read_suite(job.folder.path / SUITE, seed=seed):
            yield from queries(case, job.task.name)


def _attacked(job: Job, cache: AnswerCache, table: TableWriter, *, run: str) -> Iterator[Attacked]:
    """Every search that was asked for, on every case of every trial."""
    sizes = [job.inputs.size(seed) for seed in job.inputs.seeds]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    for model in job.models:
        setup = _desk(job, model, cache, run, NoMonitor())
        for strategy in job.options.attacks:
            with (
                billed(model),
                ProgressMonitor(f"{model.name}, {strategy}", total, unit="samples") as monitor,
            ):
                for one in _searches(job, strategy, setup):
                    table.write([attack_row(one)])
                    monitor.answered(1, recalled=False)
                    yield one


def _searches(job: Job, strategy: str, setup: AuditSetup) -> Iterator[Attacked]:
    for seed in job.inputs.seeds:
        cases = read_suite(job.folder.path / SUITE, seed=seed)
        names, budget = job.inputs.transforms, job.options.budget
        yield from attack(cases, strategy, setup, transforms=names, budget=budget, seed=seed)


def _desk(job: Job, model: Model, cache: AnswerCache, run: str, monitor: AnswerMonitor) -> AuditSetup:
    return AuditSetup(
        model=model,
        task=job.task,
        memory=ModelMemory(cache=cache, fingerprint=model.fingerprint, run=run),
        monitor=monitor,
        batch_size=job.options.batch_size,
    )


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
            with billed(model), ProgressMonitor(model.name, answers) as monitor:
                setup = _desk(self.job, model, self.cache, self.run, monitor)
                for one in audit(read_suite(self.job.folder.path / SUITE, seed=seed), setup):
                    self.verdicts.write(verdict_rows(seed, one))
                    yield one

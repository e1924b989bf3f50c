"""Carries out a run, from options to a run folder. `codeaudit.run` and `codeaudit run` call `audit_models`.

A run writes its manifest first, then the suite, then the verdicts (and the attacks), then the summary. Every
answer is in the cache before the next batch is asked, so that an interrupted run resumes when it is started
again with the same folder.
"""

import platform
import re
import shlex
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from os import cpu_count
from pathlib import Path
from typing import Any, Final, TypeAlias

from codeaudit.audit.cache import FILE_FACTS, AnswerCache, ModelMemory, answers_scope, default_folder
from codeaudit.audit.checks import is_text
from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.engines.local import Engine, LocalEngine
from codeaudit.audit.integrity import bound, read_key
from codeaudit.audit.interface import Model, Task, is_rolling
from codeaudit.audit.judging import SAME_SUMMARY, Judge
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.batch_records import BatchRecords
from codeaudit.audit.models.endpoints.ledger import Ledger, read_ledger
from codeaudit.audit.models.endpoints.spending import Spending, spent_before
from codeaudit.audit.models.wrappers import innermost
from codeaudit.audit.movable import readable_by
from codeaudit.audit.records import Attacked, Audited, MovableDraw, Query, Violated
from codeaudit.audit.registry import DEFAULT_TASK
from codeaudit.audit.rows import (
    answer_rows,
    attack_row,
    read_first_stage,
    read_repeats,
    read_suite,
    suite_rows,
    verdict_rows,
)
from codeaudit.audit.run import (
    ONCE,
    AnswerMonitor,
    AuditSetup,
    NoMonitor,
    Repeating,
    RunProgress,
    SilentProgress,
    ask_again,
    audit,
    first_answers,
    queries,
    query_of,
)
from codeaudit.audit.search.attacks import attack
from codeaudit.audit.store import (
    ANALYSIS,
    ANSWERS,
    ATTACK_COLUMNS,
    ATTACKS,
    BOUND,
    LEDGER,
    MANIFEST,
    REPEATS,
    RUN_FILES,
    SCHEMA,
    SHARD,
    SHARD_COLUMNS,
    SUITE,
    SUMMARY,
    TABLE_SCHEMA,
    TOLD,
    VERDICT_COLUMNS,
    VERDICTS,
    Manifest,
    ReplyTable,
    RunFolder,
    TableWriter,
    reply_table,
    suite_columns,
)
from codeaudit.audit.tasks.recorded import FACTS, facts
from codeaudit.known_runs import remember
from codeaudit.options import TABLE, RunOptions, marked
from codeaudit.preparing import (
    Inputs,
    check_names,
    load_all,
    spending_of,
    suite_task,
    usage_noted,
    watched_cases,
)
from codeaudit.prompting import prompt_of
from codeaudit.repeating import Counted, Remaining, RepeatStages, after_first, fixed, is_hosted
from codeaudit.reports.records import JudgeNoise, ModelHeader, RunHeader, Summary
from codeaudit.reports.statistics.intervals import rate_of
from codeaudit.reports.statistics.trials import check_installed
from codeaudit.reports.summarise import summarise, with_attacks
from codeaudit.retyping import words
from codeaudit.transforms.distribution import NAME, version_of
from codeaudit.transforms.errors import (
    CannotAudit,
    CodeauditError,
    LimitError,
    ModelError,
    RunError,
    UsageError,
    WordsError,
)
from codeaudit.transforms.folders import reserved
from codeaudit.transforms.grammar import counted, counted_reasons
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import KEEPS_TEXT, Perturbed
from codeaudit.transforms.registry import expand, in_relation, is_related
from codeaudit.transforms.remembering import analysis_digest, remembering

RUNS: Final = Path("codeaudit-runs")
"""Where run folders go by default."""
CACHE_FILE: Final = "answers.sqlite"
BATCHES: Final = "batches"
"""The folder beside it with the batches whose answers are still to come."""
DISTRIBUTIONS: Final[Mapping[str, str]] = {
    "codeaudit": NAME,
    **{name: name for name in ("torch", "numpy", "scipy", "tokenizers", "safetensors", "pyarrow")},
}
"""Distributions whose versions may decide a number, by the name under which every manifest records them."""
JUDGED_AT_ONCE: Final = 32
"""Samples whose answers a judge is asked about together."""
DECISIVE: Final = (
    "task",
    "seed",
    "trials",
    "transforms",
    *marked("decides"),
    "attack",
    "corpus",
    "models",
    "judge",
    "shard",
    "label_map",
    "asked_again",
)
"""Fields of the manifest that decide the results: a run resumes only if all of them are equal."""


Remember: TypeAlias = Callable[[Model], ModelMemory]
"""Gives the part of the cache that belongs to a model in this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRun:
    """A run that is ready to start: everything is loaded and checked."""

    options: RunOptions
    specs: tuple[str, ...]
    """The names of the models, defaults filled in."""
    task: Task
    models: tuple[Model, ...]
    inputs: Inputs
    spending: Spending
    folder: RunFolder
    command: tuple[str, ...]
    """How the user started the run, for the manifest."""
    progress: RunProgress
    key: bytes | None = field(default=None, repr=False)
    """Signs the manifest."""
    judge: Model | None = None
    """The model of `--judge`."""


RUN_AGAIN: Final = ("codeaudit", "run")


def audit_models(
    options: RunOptions,
    *,
    given: Mapping[str, Model] | None = None,
    corpus: Corpus | None = None,
    command: Sequence[str],
    resumed: Sequence[str] = RUN_AGAIN,
    progress: RunProgress | None = None,
) -> tuple[Summary, RunFolder]:
    """Audit models and write a run folder. Returns the summary and the folder.

    `given` holds models that are objects, by name; `options.model` names them, too. `corpus` replaces the
    SPEC in `options.corpus`. `resumed` are the first words of the command that goes on after an interruption.

    Raises:
        UsageError: an option has a value that does not exist or does not fit the others.
        CannotAudit: the models, the corpus or the folder cannot be used.
    """
    progress = progress or SilentProgress()
    given = given or {}
    # A wrong name ends the run before it loads a model or reads a corpus.
    check_names(options, given, corpus_given=corpus is not None)
    part = options.part
    key = None if options.sign_key is None else read_key(options.sign_key)
    with (
        run_folder(options.out or default_run_folder(options, given)) as folder,
        _resumable(folder, options, resumed, progress),
        _engine(options) as engine,
        remembering((options.cache or default_folder()) / FILE_FACTS),
    ):
        _demand_own(folder)
        spending = spending_of(options)
        loaded = load_all(options, given, corpus, progress, engine=engine, spending=spending)
        specs, task, models, inputs = loaded.specs, loaded.task, loaded.models, loaded.inputs
        progress.note(inputs.headline)
        if options.shard is not None:
            progress.note(f"shard {part}: only its share of the samples is audited")
        _note_relations(models, inputs.transforms, progress)
        if len(models) > 1 and len(inputs.seeds) > 1:
            check_installed()  # the summary compares them
        job = PreparedRun(
            options=options,
            specs=specs,
            task=task,
            models=models,
            inputs=inputs,
            spending=spending,
            folder=folder,
            command=tuple(command),
            progress=progress,
            key=key,
            judge=loaded.judge,
        )
        return _finished(job), folder


@contextmanager
def _engine(options: RunOptions) -> Iterator[Engine]:
    """What the work of a run is distributed by.

    Raises:
        UsageError: an option is of another engine.
        RunError: the engine cannot be used.
    """
    if options.engine == "ray":
        from codeaudit.audit.engines.ray import ray_engine

        # Its network is spread over the GPUs of a machine.
        whole = any(argument.key == "device_map" for argument in options.arguments)
        with ray_engine(
            options.address, workers=options.workers, device=options.device, whole=whole
        ) as engine:
            yield engine
    else:
        if options.address is not None:
            raise UsageError(f"--address {options.address} is of a Ray cluster; add --engine ray")
        yield LocalEngine(options.workers)


def _note_relations(models: Sequence[Model], transforms: Sequence[str], progress: RunProgress) -> None:
    """Tell where orders are drawn under another relation than a model's masks."""
    drawn = {in_relation(name)[0] for name in transforms if is_related(in_relation(name)[1])}
    for model in models:
        relation = getattr(innermost(model), "dependence", None)
        if relation is not None and drawn - {relation}:
            progress.note(
                f"{model.name} was trained with the relation {relation!r}; here orders are of "
                f"{', '.join(sorted(drawn - {relation}))}"
            )


def demand_verdicts(summary: Summary, options: RunOptions) -> None:
    """Check that every model was judged under the named transforms, or else under any that keeps the meaning.

    Raises:
        CannotAudit: a model has no verdict.
    """
    named = frozenset(expand(options.transforms or ()))
    # The identity measures noise. It counts only if the user named nothing else.
    wanted = named - {"identity"} or named
    for model in summary.models:
        rows = [
            row
            for row in model.by_transform
            if (row.transform in wanted if wanted else row.kind == "preserving")
        ]
        if any(row.violations.total for row in rows):
            continue
        # Variants were made, so the model is at fault; else no transform fits the samples.
        if any(row.applied for row in rows):
            why = f"{model.model!r} gave no usable answer ({_counted(model.unjudged_reasons)})"
            # A checkpoint skips what its language is not: `not Python`.
            if all(reason.startswith("not ") for reason in model.unjudged_reasons):
                why += "; codeaudit list models names the models of each language"
            elif {*model.unjudged_reasons} == {"input too long"} and "hf/" in model.model:
                why += "; -M truncate=true cuts the end of the code"
        else:
            reasons = Counter[str]()
            for row in rows:
                reasons.update(row.not_applied)
            why = f"no perturbation could be applied ({_counted(reasons)})"
        raise CannotAudit(f"nothing could be judged: {why}")


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(counted_reasons(reasons, most=3)) or "no samples"


def _finished(job: PreparedRun) -> Summary:
    """Carry out the run, then write the summary and the final manifest."""
    new = not any((job.folder.path / name).exists() for name in RUN_FILES)
    manifest, displaced = _begin(job)
    name = str(manifest["codeaudit"])
    repeated: dict[str, Mapping[str, object]] = {}
    with _ledger(job), answer_cache(job.options, job.folder, job.progress) as cache:
        job.spending.batches = BatchRecords(cache.path.parent / BATCHES, name)
        try:
            summary = carry_out(
                job,
                lambda model: ModelMemory(
                    cache=cache,
                    fingerprint=answers_scope(
                        model.fingerprint, SAME_SUMMARY if model is job.judge else job.task
                    ),
                    run=name,
                ),
                repeated,
            )
        except BaseException as error:
            # A run that never came to its inputs must not stand in the place of a finished one.
            if displaced and isinstance(error, CodeauditError) and not (job.folder.path / SUITE).exists():
                job.folder.drop(LEDGER)
                job.folder.put_back()
                job.progress.note(f"the finished run is in {job.folder.path} again")
                raise
            # Nor does one leave anything behind that got no answer and spent nothing: there is nothing to
            # go on with.
            if new and not cache.stored and not _has_spent(job):
                with suppress(RunError):
                    for name in reversed(RUN_FILES):  # the manifest first: without it the others mean nothing
                        job.folder.drop(name)
                raise
            # The usage of an unfinished run is kept if possible; the user must see the first error.
            with suppress(RunError):
                job.folder.write_manifest(_with_usage(job, manifest))
            raise
        summary = _with_served(job, summary, manifest)
        # The summary before the final manifest: a folder whose manifest says `finished` has everything.
        job.folder.write_text(SUMMARY, summary.to_json())
        drawn = {"draws": [asdict(draw) for draw in summary.draws]} if summary.draws else {}
        repeats = {REPEATS: dict(repeated)}
        done = {**_with_usage(job, manifest), **drawn, **repeats, "state": "finished", "finished": now()}
        # Without an attack the table of an earlier, unfinished run may still be there.
        names = {
            *BOUND,
            *([ATTACKS] if job.options.attacks else ()),
            *([ANSWERS] if (job.folder.path / ANSWERS).exists() else ()),
            *([SHARD] if job.options.shard else ()),
        }
        final = bound(job.folder, done, sorted(names), job.key)
        job.folder.write_manifest(final)
        job.folder.drop(LEDGER)
        remember(final, summary)
        cache.forget(name)
    return summary


def _with_served(job: PreparedRun, summary: Summary, manifest: Manifest) -> Summary:
    """The summary with what the replies of all starts say about the models that answered."""
    named: dict[str, dict[str, None]] = {}
    for usage in _with_usage(job, manifest)["usage"]:
        named.setdefault(usage["model"], {}).update(dict.fromkeys(usage.get("served", ())))
    movable = {model.name: getattr(innermost(model), "may_move", False) for model in job.models}
    return replace(
        summary,
        models=tuple(
            replace(
                model,
                may_move=movable.get(model.model, False),
                served=tuple(named.get(model.model, ())),
            )
            for model in summary.models
        ),
    )


def _has_spent(job: PreparedRun) -> bool:
    spent = job.spending.committed
    return bool(spent.tokens or spent.cost or job.spending.waiting)


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────


def default_run_folder(options: RunOptions, given: Mapping[str, Model]) -> Path:
    """A new folder, named after the time and the task of the run."""
    task = options.task or (suite_task(options.suite) if options.suite is not None else None)
    # Without loading a model; those that say their task only then are rare.
    models = (given[spec].task if spec in given else catalogue.task_of(spec) for spec in options.model)
    task = task or next(filter(None, models), DEFAULT_TASK)
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{re.sub(r'[:/]', '-', task)}"
    # Two runs may start in the same second.
    return path if not path.exists() else path.with_name(f"{path.name}-{uuid.uuid4().hex[:4]}")


@contextmanager
def run_folder(path: Path) -> Iterator[RunFolder]:
    """The run folder; a new one is removed at the end if it stayed empty.

    Raises:
        UsageError: its name is no text, so that no manifest could say it.
    """
    if not is_text(str(path)):
        raise UsageError(f"--out {str(path)!r} is not UTF-8; give another name")
    folder = RunFolder(path)
    # The parent too: `codeaudit-runs` must not stay behind empty after a wrong option.
    new = [place for place in (path, path.parent) if not place.exists()]
    folder.reserve()
    # A user who tracks an older folder of runs wants it tracked.
    ignores = RUNS / ".gitignore" if path.parent == RUNS and RUNS in new else None
    if ignores is not None:
        ignores.write_text("# Made by codeaudit: runs are results, not sources.\n*\n", encoding="utf-8")
    try:
        with reserved(path):
            yield folder
    finally:
        with suppress(OSError):
            for place in new:
                if (
                    ignores is not None
                    and place == RUNS
                    and not any(path != ignores for path in RUNS.iterdir())
                ):
                    ignores.unlink()
                place.rmdir()


def _demand_own(folder: RunFolder) -> None:
    """Check that a run replaces no file of the user: a suite may lie where it is to write its own.

    Raises:
        RunError: the folder holds such a file and no manifest.
    """
    if not (folder.path / MANIFEST).exists():
        for name in (SUITE, VERDICTS, SUMMARY, ATTACKS, ANSWERS):
            if (folder.path / name).exists():
                place = str(folder.path / name)
                raise RunError(f"{place!r} is of no run and would be replaced; give another --out")


@contextmanager
def _resumable(
    folder: RunFolder, options: RunOptions, resumed: Sequence[str], progress: RunProgress
) -> Iterator[None]:
    """Tell how to resume after an interruption, or after a model or the disk failed."""
    place = shlex.quote(str(folder.path))
    recorded = words(options.to_json(options.model), permitted=False)
    typed = "".join(f" {word}" for name, word in recorded if name not in options.not_kept)
    anew = "".join(f" {TABLE[name].flag} URL" for name in options.not_kept)
    again = f"{shlex.join(resumed)} --config {place} --out {place}{typed}{anew}"
    try:
        yield
    except WordsError:  # the same command would end in the same way
        raise
    except (ModelError, RunError) as error:
        # A full disk is no reason to ask anything again.
        if isinstance(error, RunError) and not isinstance(error.__cause__, OSError):
            raise
        more = f" {error.more}" if isinstance(error, LimitError) and error.more else ""
        with suppress(RunError):
            # Before the manifest is written nothing was asked, and there is nothing to resume.
            if folder.manifest().get("state") == "running":
                progress.note(f"every answer so far is kept; go on with: {again}{more}")
        raise
    except KeyboardInterrupt:
        try:
            folder.manifest()
        except RunError:
            raise KeyboardInterrupt("interrupted before the first answer; start the run again") from None
        raise KeyboardInterrupt(f"interrupted; every answer so far is kept. Go on with: {again}") from None


@contextmanager
def answer_cache(options: RunOptions, folder: RunFolder, progress: RunProgress) -> Iterator[AnswerCache]:
    """The cache of `options.cache`, else the user's; if the user's cannot be used, one in the run folder.

    Raises:
        RunError: the named cache cannot be used.
    """
    try:
        cache = AnswerCache((options.cache or default_folder()) / CACHE_FILE)
    except RunError as error:
        # A folder that the user named must not be replaced silently. The default one may lie on a read-only
        # home.
        if options.cache is not None:
            raise
        progress.note(f"{error}; answers are kept in the run folder")
        cache = AnswerCache(folder.path / CACHE_FILE)
    try:
        yield cache
    finally:
        cache.close()


# ── the manifest ─────────────────────────────────────────────────────────────────────────────────────────


def _begin(job: PreparedRun) -> tuple[Manifest, bool]:
    """Write the manifest; a run that resumes keeps the name, start and usage of the unfinished one.

    Second: whether a finished run was put aside.
    """
    fresh = _manifest(job)
    displaced = False
    try:
        old = job.folder.manifest()
    except RunError:
        old = {}
    # A field that an old manifest lacks counts as another value: better to start anew than to mix results.
    same = all(old.get(field) == fresh.get(field) for field in DECISIVE)
    note = job.progress.note
    if same and old.get("state") == "running":
        note(f"going on with the run in {job.folder.path}")
        # Answers of models without a fingerprint are cached under the name of the run. With a new name they
        # would be asked again.
        kept = {field: old[field] for field in ("codeaudit", "started", "usage", "spent") if field in old}
        fresh = _with_killed(job, {**fresh, **kept})
    # A finished run is a result, perhaps the only copy of it. An unfinished one with other options is not.
    elif old.get("state") == "finished":
        displaced = True
        older = ", in the place of an older one" if job.folder.has_previous else ""
        note(f"the finished run in {job.folder.path} is kept in {job.folder.put_aside()}{older}")
    elif old:
        note(f"replacing the run in {job.folder.path}, which was not finished")
    if "spent" not in fresh:  # what lies there is of another run
        job.folder.drop(LEDGER)
    job.folder.write_manifest(fresh)
    return fresh, displaced


@contextmanager
def _ledger(job: PreparedRun) -> Iterator[None]:
    """Requests are written into the ledger of the run before they are sent."""
    ledger = Ledger(job.folder.path / LEDGER)
    job.spending.ledger = ledger
    try:
        yield
    finally:
        job.spending.ledger = None
        ledger.close()


def _with_killed(job: PreparedRun, manifest: Manifest) -> Manifest:
    """The manifest of a run that goes on, with what a killed start of it spent. It counts from now on.

    Raises:
        RunError: the ledger is damaged.
    """
    place = job.folder.path / LEDGER
    killed = read_ledger(place, int(manifest.get("spent", {}).get("ledger", 0)))
    job.spending.add(spent_before(manifest))
    for start in killed.values():
        job.spending.add(start.counted)
    used = [{"model": name, **start.as_mapping()} for name, start in killed.items()]
    return _with_spent(job, {**manifest, "usage": [*manifest["usage"], *used]})


def _with_spent(job: PreparedRun, manifest: Manifest) -> Manifest:
    """The manifest with what all starts have spent, and how much of the ledger is in it."""
    spent, size = job.spending.committed, Ledger(job.folder.path / LEDGER).size
    if not (spent.requests or size):  # no model behind an endpoint
        return manifest
    return {**manifest, "spent": {**asdict(spent), "ledger": size}}


def _manifest(job: PreparedRun) -> Manifest:
    options = job.options
    return {
        "schema": SCHEMA,
        "codeaudit": uuid.uuid4().hex,
        "state": "running",
        "started": now(),
        "finished": None,
        "command": list(job.command),
        "versions": versions(),
        ANALYSIS: analysis_digest(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": cpu_count()},
        "task": job.task.name,
        FACTS: facts(job.task),
        "seed": job.inputs.seeds[0],
        "trials": len(job.inputs.seeds),
        "transforms": list(job.inputs.transforms),
        **{name: getattr(options, name) for name in marked("decides")},
        **({"asked_again": options.repeats} if options.repeats else {}),
        "attack": {"strategies": options.attacks, "budget": options.budget} if options.attacks else None,
        "corpus": dict(job.inputs.about),
        **({"label_map": dict(job.task.words)} if job.task.words else {}),
        "models": [_facts(model) for model in job.models],
        **({"judge": _facts(job.judge)} if job.judge is not None else {}),
        "usage": [],
        "options": options.to_json(job.specs),
        **({"shard": {**asdict(options.part), "seeds": list(job.inputs.seeds)}} if options.shard else {}),
    }


def _facts(model: Model) -> dict[str, Any]:
    """What the manifest and the summary say about a model."""
    about = {name: getattr(model, name) for name in ("name", "fingerprint", "parameters", "noise")}
    if is_hosted(model):
        about["hosted"] = True
    if prompt := prompt_of(model):
        about["prompt"] = prompt
    if model.scale:
        about["scale"] = model.scale
    proof = getattr(model, "network", None)
    return about if proof is None else {**about, "network": asdict(proof)}


def versions() -> dict[str, str]:
    """The versions of Python and of the installed `DISTRIBUTIONS`, by name."""
    installed = {name: version_of(distribution) for name, distribution in DISTRIBUTIONS.items()}
    return {PYTHON.name: platform.python_version()} | {
        name: version for name, version in installed.items() if version
    }


def _with_usage(job: PreparedRun, manifest: Manifest) -> Manifest:
    """The manifest with the usage of each model in this process, after earlier processes' usage."""
    usages = [(model.name, innermost(model).usage) for model in job.models]
    if job.judge is not None:
        usages.append((f"{job.judge.name} (judge)", innermost(job.judge).usage))
    used = [{"model": name, **usage} for name, usage in usages if usage]
    return _with_spent(job, {**manifest, "usage": [*manifest["usage"], *used]})


def now() -> str:
    """The time, as manifests have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# ── the audit ────────────────────────────────────────────────────────────────────────────────────────────


def carry_out(job: PreparedRun, remember: Remember, repeated: dict[str, Mapping[str, object]]) -> Summary:
    """Write the suite, audit every model on it in every trial, and write the verdicts and attacks.

    The suite is read back from its table, so that memory does not grow with it. `repeated` gets how often
    each model was asked again, and why.

    Raises:
        ModelError: a model cannot answer.
        RunError: a table cannot be written.
    """
    _try_endpoints(job, remember)
    about = {"schema": TABLE_SCHEMA, "task": job.task.name, "corpus": job.inputs.name}
    with (
        job.folder.replacing(SUITE) as place,
        TableWriter(place, suite_columns(job.task), {**about, TOLD: list(job.inputs.told_errors)}) as table,
        _places(job, about) as places,
    ):
        # All trials first, because they share one table, which every model reads back.
        written = {seed: _write_suite(job, seed, table, places) for seed in job.inputs.seeds}
    _tell_near_copies(job, written.values())
    draws = tuple(trial.draw for trial in written.values() if trial.draw is not None)
    for model in job.models:
        # A file of answers that fits no query ends the run before it judges any answer.
        if model.repeats is not None:
            job.progress.note(model.fit(_queries(job), part=job.options.shard is not None))
    stages: dict[str, RepeatStages] = {}
    repeats = max((number + 1 for trial in written.values() for _, number in trial.repeats), default=0)
    with (
        job.folder.replacing(VERDICTS) as place,
        TableWriter(place, VERDICT_COLUMNS, about) as table,
        _replies(job, about) as replies,
    ):
        trials = (
            (seed, _audited(job, remember, table, replies, seed, trial, stages))
            for seed, trial in written.items()
        )
        summary = _summarised(job, remember, trials, _header(job, draws))
    repeated |= {model: staged.about(repeats) for model, staged in stages.items()}
    if not job.options.attacks:
        return summary
    with job.folder.replacing(ATTACKS) as place, TableWriter(place, ATTACK_COLUMNS, about) as table:
        return with_attacks(summary, _attacked(job, remember, table))


def _summarised(
    job: PreparedRun,
    remember: Remember,
    trials: Iterable[tuple[int, Iterator[Audited]]],
    header: RunHeader,
) -> Summary:
    """The summary; a judge is asked about the answers on the way."""
    if job.judge is None:
        return summarise(trials, task=job.task, header=header)
    setup = replace(
        _setup(job, job.judge, remember, NoMonitor()), task=SAME_SUMMARY, memory=remember(job.judge)
    )
    judge = Judge(setup)

    def heard(audited: Iterator[Audited]) -> Iterator[Audited]:
        while window := list(islice(audited, JUDGED_AT_ONCE)):
            judge.hear(window)
            yield from window

    task = job.task.judged_by(job.judge.name, judge.same)
    with usage_noted(job.judge, job.progress):
        summary = summarise(((seed, heard(audited)) for seed, audited in trials), task=task, header=header)
    tally = judge.record
    return replace(
        summary,
        judge=JudgeNoise(
            model=job.judge.name,
            pairs=tally.pairs,
            undecided=judge.undecided,
            swapped=rate_of(Counter({(1, 1): tally.swapped, (0, 1): tally.answered - tally.swapped}), seed=0),
            changed=rate_of(
                Counter({(1, 1): tally.changed, (0, 1): tally.asked_twice - tally.changed}), seed=0
            ),
        ),
    )


def _try_endpoints(job: PreparedRun, remember: Remember) -> None:
    """Ask each endpoint one query of the run: a wrong address, key or model is told before the suite is made.

    The answer goes into the memory, so that it is not paid for twice.

    Raises:
        ModelError: the endpoint is absent, or refuses the key or the model.
    """
    endpoints = [model for model in job.models if is_rolling(model)]
    sample = job.inputs.example() if endpoints else None
    if sample is None:
        return
    for model in endpoints:
        first_answers([query_of(sample, sample.source, job.task)], _setup(job, model, remember, NoMonitor()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenTrial:
    """What is known of a trial when its cases are in the suite."""

    answers: int
    """Number of distinct queries, without repeats."""
    samples: int
    near_copies: Mapping[str, int]
    """For each model by name: how many of the samples are near copies of texts that it learned from."""
    repeats: Mapping[tuple[bool, int], int]
    """Number of repeats by whether the sample was drawn in addition, then by the number of the repeat."""
    draw: MovableDraw | None

    def answer_count(self, repeating: Repeating) -> int:
        """Number of answers that a model has to give."""
        keys = ((extra, number) for extra, number in self.repeats if repeating.has(number, extra=extra))
        return self.answers + sum(self.repeats[key] for key in keys)


@contextmanager
def _places(job: PreparedRun, about: Mapping[str, object]) -> Iterator[TableWriter | None]:
    """The table with the places of a shard's cases; `None` if the run is whole."""
    if job.options.shard is None:
        yield None
        return
    with job.folder.replacing(SHARD) as place, TableWriter(place, SHARD_COLUMNS, about) as table:
        yield table


@contextmanager
def _replies(job: PreparedRun, about: Mapping[str, object]) -> Iterator[ReplyTable]:
    """The table of what models wrote. It is dropped if they wrote nothing, or with `--no-raw`."""
    job.folder.drop(ANSWERS)  # of an earlier start
    if not job.options.raw:
        yield ReplyTable(None)
        return
    with reply_table(job.folder, about, keep=job.options.shard is not None) as table:
        yield table


def _write_suite(
    job: PreparedRun, seed: int, table: TableWriter, places: TableWriter | None
) -> _WrittenTrial:
    """Write the cases of one trial."""
    variants = answers = 0
    repeated = Counter[tuple[bool, int]]()
    samples = 0
    copies = Counter[str]()
    chooser = job.inputs.chooser(readable_by(job.models, job.task))
    every = watched_cases(job.inputs, seed, chooser, job.progress)
    for place, content, case in job.inputs.placed(seed, every):
        table.write(suite_rows(seed, case))
        if places is not None:
            count = sum(isinstance(outcome, Perturbed) for outcome in case.outcomes)
            named = {"seed": seed, "sample": case.sample.id, "place": place, "content": content}
            places.write([{**named, "rows": len(case.outcomes), "verdicts": count}])
        variants += sum(
            isinstance(outcome, Perturbed) and outcome.kind not in KEEPS_TEXT for outcome in case.outcomes
        )
        samples += 1
        for model in job.models:
            if model.has_learned(case.sample.source, case.sample.language):
                copies[model.name] += 1
        # Equal texts are asked once; repeats are asked besides.
        answers += len(set(queries(case, job.task)))
        repeated.update(
            (case.extra, outcome.variant) for outcome in case.outcomes if outcome.kind == "identity"
        )
    job.progress.note(f"suite: {counted(variants, 'variant')}")
    return _WrittenTrial(
        answers=answers,
        samples=samples,
        near_copies=copies,
        repeats=repeated,
        draw=None if chooser is None else chooser.result(seed),
    )


def _tell_near_copies(job: PreparedRun, trials: Collection[_WrittenTrial]) -> None:
    """Say for each model how many samples it learned from, other names, comments and blanks aside."""
    most = max((trial.samples for trial in trials), default=0)
    counts = {
        model.name: max((trial.near_copies.get(model.name, 0) for trial in trials), default=0)
        for model in job.models
    }
    for number in sorted(set(counts.values()) - {0}, reverse=True):
        names = ", ".join(name for name, count in counts.items() if count == number)
        job.progress.note(
            f"{names}: learned from near copies of {number:,} of {counted(most, 'sample')} (other names, "
            "comments and blanks aside), so the score on them may be too good"
        )


def _queries(job: PreparedRun) -> Iterator[Query]:
    """All queries of all trials."""
    for seed in job.inputs.seeds:
        for case in read_suite(job.folder.path / SUITE, seed=seed):
            yield from queries(case, job.task)


def _audited(
    job: PreparedRun,
    remember: Remember,
    table: TableWriter,
    replies: ReplyTable,
    seed: int,
    written: _WrittenTrial,
    stages: dict[str, RepeatStages],
) -> Iterator[Audited]:
    """Every model on every case of one trial; the verdicts are written on the way."""
    place = job.folder.path / SUITE
    for model in job.models:
        known = stages.get(model.name)
        expected = written.answer_count(known.repeating if known else ONCE)
        with usage_noted(model, job.progress), job.progress.counting(_label(job, model), expected) as monitor:
            setup = _setup(job, model, remember, monitor)
            if known is None:
                known, setup = _first_stage(job, seed, setup)
                stages[model.name] = known
                monitor.expect(written.answer_count(known.repeating))
            setup = replace(setup, repeating=known.repeating)
            asked = ask_again(read_repeats(place, seed=seed, task=job.task, repeating=setup.repeating), setup)
            for record in audit(read_suite(place, seed=seed), setup, asked=asked):
                table.write(verdict_rows(seed, record))
                replies.write(answer_rows(seed, record))
                yield record


def _first_stage(job: PreparedRun, seed: int, setup: AuditSetup) -> tuple[RepeatStages, AuditSetup]:
    """How often a model is asked again; and the setup that counts only what the first stage did not ask.

    The first stage covers all trials, because a model is asked equally often in all of them.
    """
    known = fixed(setup.model, repeats=job.options.repeats, shard=job.options.shard is not None)
    if known is not None:
        return known, setup
    place = job.folder.path / SUITE
    own, others = Counted(setup.monitor), NoMonitor()
    unsteady = total = 0
    for other in job.inputs.seeds:
        first = replace(setup, repeating=ONCE, monitor=own if other == seed else others)
        asked = ask_again(read_repeats(place, seed=other, task=job.task, repeating=ONCE), first)
        for record in audit(read_first_stage(place, seed=other), first, asked=asked):
            total += 1
            unsteady += any(isinstance(verdict, Violated) for verdict in record.verdicts)
    if unsteady:
        job.progress.note(
            f"{setup.model.name}: {unsteady:,} of {total:,} answers to the same input changed; "
            "each sample is asked again as often as it has variants"
        )
    return after_first(unsteady, total), replace(setup, monitor=Remaining(setup.monitor, own.total))


def _label(job: PreparedRun, model: Model) -> str:
    """What progress calls a model: which one of several it is comes first, because a long name may be cut."""
    if len(job.models) == 1:
        return model.name
    return f"model {job.models.index(model) + 1} of {len(job.models)}, {model.name}"


def _attacked(job: PreparedRun, remember: Remember, table: TableWriter) -> Iterator[Attacked]:
    """Every strategy on every case of every trial; the attacks are written on the way."""
    sizes = [job.inputs.size(seed) for seed in job.inputs.seeds]
    # A suite from a file has no known size.
    # Nor has a shard whose samples are drawn from the variants of all.
    unknown = None in sizes or (job.options.shard is not None and job.options.movable)
    total = None if unknown else sum(size or 0 for size in sizes)
    for model in job.models:
        setup = _setup(job, model, remember, NoMonitor())
        for strategy in job.options.attacks:
            label = f"{_label(job, model)}, {strategy}"
            with (
                usage_noted(model, job.progress),
                job.progress.counting(label, total, unit="samples") as monitor,
            ):
                for search in _searches(job, strategy, setup):
                    table.write([attack_row(search)])
                    monitor.answered(1, recalled=False)
                    yield search


def _searches(job: PreparedRun, strategy: str, setup: AuditSetup) -> Iterator[Attacked]:
    for seed in job.inputs.seeds:
        # A sample that was drawn for one transform must not be searched under all of them.
        cases = (case for case in read_suite(job.folder.path / SUITE, seed=seed) if not case.extra)
        names, budget = job.inputs.transforms, job.options.budget
        yield from attack(cases, strategy, setup, transforms=names, budget=budget, seed=seed)


def _setup(job: PreparedRun, model: Model, remember: Remember, monitor: AnswerMonitor) -> AuditSetup:
    return AuditSetup(
        model=model,
        task=job.task,
        memory=remember(model),
        monitor=monitor,
        batch_size=job.options.batch_size,
    )


def _header(job: PreparedRun, draws: tuple[MovableDraw, ...]) -> RunHeader:
    return RunHeader(
        task=job.task.name,
        corpus=job.inputs.name,
        seed=job.inputs.seeds[0],
        models=tuple(ModelHeader.of(_facts(model)) for model in job.models),
        skipped=job.inputs.skipped,
        draws=draws,
        told_errors=job.inputs.told_errors,
    )

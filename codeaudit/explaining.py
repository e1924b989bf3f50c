"""Explains the violations of a finished run: the smallest edit that still changes the answer.

`codeaudit explain` calls it. The run's models are loaded again and asked; answers come from the cache if they
are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from codeaudit.audit.cache import ModelMemory, answers_scope
from codeaudit.audit.records import Explained, Gone, Predicted, Violated
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import keep_explanations, prediction_of, read_suite
from codeaudit.audit.run import AuditSetup, NoMonitor, RunProgress
from codeaudit.audit.search.shrinking import explain as shrink
from codeaudit.audit.store import SUITE, VERDICTS, RunFolder
from codeaudit.audit.tables import read_rows
from codeaudit.auditing import answer_cache
from codeaudit.finished_runs import Run
from codeaudit.model_selection import load_models
from codeaudit.run_options import RunOptions
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.records import Perturbed


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedViolation:
    """A violation as the run recorded it."""

    model: str
    seed: int
    """Of the trial."""
    violated: Violated


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """The results for some violations of a run."""

    explained: tuple[Explained, ...]
    gone: tuple[Gone, ...]
    """Violations that the model does not show any more."""


def violations(
    run: Run,
    *,
    models: Sequence[str] = (),
    sample: str | None = None,
    transforms: Sequence[str] = (),
    limit: int = 0,
) -> list[RecordedViolation]:
    """The chosen violations of a run; of each sample and transform the first variants come first.

    `sample` is a sample's id or the beginning of one. Without it, `limit` is the largest number of violations
    per model; 0 for all. Empty `models` or `transforms` choose all of them.

    Raises:
        RunError: the run has no verdicts, or no such sample.
        UsageError: the run has no such model, or several samples whose ids begin so.
    """
    names = _models(run, models)
    verdicts = [row for row in read_rows(run.path / VERDICTS) if row["model"] in names]
    if sample is not None:
        sample = _whole(sample, {row["sample"] for row in verdicts})
    wanted = {
        (row["model"], row["seed"], row["sample"], row["transform"], row["variant"]): row
        for row in verdicts
        if row["kind"] == "preserving"
        and row["outcome"] == "violated"
        and (sample is None or row["sample"] == sample)
        and (not transforms or row["transform"] in transforms)
    }
    perturbed = _variants(run, {key[1:] for key in wanted})
    found = []
    for model in names:
        keys = sorted((key for key in wanted if key[0] == model), key=lambda key: (key[4], key[1:]))
        for key in keys[: limit or None] if sample is None else keys:
            made = _violated(wanted[key], perturbed[key[1:]])
            if made is not None:
                found.append(RecordedViolation(model=model, seed=key[1], violated=made))
    return found


def explain(
    run: Run, found: Sequence[RecordedViolation], *, device: str, batch_size: int, progress: RunProgress
) -> Explanations:
    """Shrink each violation, and keep the results in the run folder; after an interruption, too.

    Raises:
        ModelError: a model cannot be loaded or cannot answer.
    """
    options = replace(RunOptions.of_manifest(run.manifest["options"]), device=device, batch_size=batch_size)
    results: list[Explained | Gone] = []
    try:
        results.extend(_shrunk(options, run, found, progress))
    finally:
        explained = tuple(one for one in results if isinstance(one, Explained))
        keep_explanations(RunFolder(run.path), explained)
    return Explanations(explained=explained, gone=tuple(one for one in results if isinstance(one, Gone)))


def _shrunk(
    options: RunOptions, run: Run, found: Sequence[RecordedViolation], progress: RunProgress
) -> Iterator[Explained | Gone]:
    recorded = {str(each["name"]): each["fingerprint"] for each in run.manifest["models"]}
    specs = dict(zip(recorded, run.manifest["options"]["model"], strict=True))
    task = TASKS.get(run.manifest["task"])
    with answer_cache(options, RunFolder(run.path), progress) as cache:
        for name in dict.fromkeys(one.model for one in found):
            (model,) = load_models(options, (specs[name],), {})
            if model.fingerprint != recorded[name]:
                progress.note(f"{name} is not as it was in the run: its violations are looked at anew")
            memory = ModelMemory(
                cache=cache,
                fingerprint=answers_scope(model.fingerprint, task),
                run=str(run.manifest["codeaudit"]),
            )
            setup = AuditSetup(
                model=model, task=task, memory=memory, monitor=NoMonitor(), batch_size=options.batch_size
            )
            mine = [one for one in found if one.model == name]
            with progress.counting(name, len(mine), unit="violations") as monitor:
                for one in mine:
                    yield shrink(one.violated, setup, seed=one.seed)
                    monitor.answered(1, recalled=False)


def _models(run: Run, wanted: Sequence[str]) -> tuple[str, ...]:
    known = [str(each["name"]) for each in run.manifest["models"]]
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise UsageError(f"the run has no model {name!r}; {hint}")
    return tuple(wanted or known)


def _whole(start: str, known: set[str]) -> str:
    """The id of the one sample that begins with `start`."""
    fits = sorted(each for each in known if each.startswith(start))
    if start in known or len(fits) == 1:
        return start if start in known else fits[0]
    if fits:
        raise UsageError(
            f"{len(fits)} samples begin with {start!r}: {', '.join(fits[:3])} …; give more of the id"
        )
    raise RunError(f"the run has no sample {start!r} with a verdict; `verdicts.parquet` lists them")


def _variants(run: Run, wanted: set[tuple[Any, ...]]) -> dict[tuple[Any, ...], Perturbed]:
    """The variants with these seeds, samples, transforms and numbers, read from the suite."""
    found: dict[tuple[Any, ...], Perturbed] = {}
    for seed in sorted({key[0] for key in wanted}):
        for case in read_suite(run.path / SUITE, seed=seed):
            for outcome in case.outcomes:
                if isinstance(outcome, Perturbed):
                    found[seed, case.sample.id, outcome.transform, outcome.variant] = outcome
    return found


def _violated(row: Mapping[str, Any], perturbed: Perturbed) -> Violated | None:
    before, after = prediction_of(row, "before"), prediction_of(row, "after")
    if isinstance(before, Predicted) and isinstance(after, Predicted):
        return Violated(perturbed=perturbed, before=before, after=after, deviation=row["deviation"])
    return None

"""Finished runs, and summaries alone, read back for a gate."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeaudit.audit.records import Audited
from codeaudit.audit.registry import TASKS
from codeaudit.audit.store import MANIFEST, SUMMARY, VERDICTS, Manifest, RunFolder
from codeaudit.audit.tables import read_rows
from codeaudit.audit.verdicts import read_audited
from codeaudit.reports.gate import Judged
from codeaudit.reports.records import Flip, ModelHeader, RunHeader, Summary
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.records import Kind
from codeaudit.transforms.registry import ENTRIES, expand

FINISHED: Final = "finished"


def finished(path: Path) -> Manifest:
    """The manifest of a finished run.

    Raises:
        RunError: there is no run, or it is not finished: its tables may be of an earlier one.
    """
    manifest = RunFolder(path).manifest()
    if manifest.get("state") != FINISHED or not (path / SUMMARY).exists():
        raise RunError(
            f"the run at {str(path)!r} is not finished; go on with it first: "
            f"codeaudit run --config {shlex.quote(str(path))} --out {shlex.quote(str(path))}"
        )
    return manifest


def read_judged(path: Path) -> Judged:
    """A finished run with its verdicts.

    Raises:
        RunError: there is no such run, it is not finished, or its files are damaged.
    """
    finished(path)
    flips: list[Flip] = []
    originals: dict[str, str] = {}
    unjudged: defaultdict[tuple[str, Kind, str], Counter[str]] = defaultdict(Counter)
    for row in read_rows(path / VERDICTS):
        if row["kind"] == "identity":
            originals[row["sample"]] = row["input"]
        if row["outcome"] == "unjudged":
            unjudged[row["model"], row["kind"], row["transform"]][row["reason"]] += 1
            continue
        flips.append(
            Flip(
                model=row["model"],
                seed=row["seed"],
                sample=row["sample"],
                transform=row["transform"],
                kind=row["kind"],
                variant=row["variant"],
                input=row["input"],
                violated=row["outcome"] == "violated",
            )
        )
    return Judged(
        name=str(path),
        summary=read_summary(path / SUMMARY),
        flips=tuple(flips),
        originals=originals,
        unjudged=unjudged,
    )


def read_baseline(path: Path) -> Judged:
    """A run's folder, or a summary alone: a `summary.json`, or a folder that holds one and no verdicts.

    Raises:
        RunError: there is neither, or it is damaged.
    """
    if path.is_dir() and (path / MANIFEST).exists() and (path / VERDICTS).exists():
        return read_judged(path)
    if not path.exists():
        raise RunError(f"no baseline at {str(path)!r}: no such file or folder")
    file = path / SUMMARY if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise RunError(f"no baseline at {str(path)!r}: neither a run nor a {SUMMARY}")
    return Judged(name=str(path), summary=read_summary(file), flips=None)


def read_summary(path: Path) -> Summary:
    """The summary in a file.

    Raises:
        RunError: it cannot be read, or is none.
    """
    try:
        return Summary.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error


def named_transforms(text: str, summary: Summary) -> frozenset[str]:
    """Those of the named transforms, or of the named families, that a run has.

    Raises:
        UsageError: there is no such transform, or the run has it not.
    """
    known = {row.transform for model in summary.models for row in model.by_transform}
    chosen: set[str] = set()
    for name in (part.strip() for part in text.split(",")):
        if not name:
            continue
        found = known & set(expand([name]))
        if not found:
            raise UsageError(f"the run has no transform {name!r}; it has: {', '.join(sorted(known))}")
        chosen |= found
    if not any(ENTRIES[name].kind == "preserving" for name in chosen if name in ENTRIES):
        raise UsageError("--transform names no transform that keeps the meaning")
    return frozenset(chosen)


def trials(
    path: Path, summary: Summary, transforms: frozenset[str] | None
) -> Iterator[tuple[int, Iterable[Audited]]]:
    """The audited samples of a run by trial, with the chosen transforms only.

    The identity stays; so do all controls, unless one of them is chosen.
    """
    seeds = dict.fromkeys(trial.seed for model in summary.models for trial in model.trials)
    for seed in seeds:
        audited = read_audited(path, seed=seed)
        yield seed, audited if transforms is None else (_only(one, transforms) for one in audited)


def restricted(path: Path, summary: Summary, transforms: frozenset[str]) -> Summary:
    """The summary as if the run had had the chosen transforms only.

    Raises:
        RunError: a table of the run is missing or damaged.
    """
    header = RunHeader(
        task=summary.task,
        corpus=summary.corpus,
        seed=summary.seed,
        skipped=summary.skipped,
        models=tuple(
            ModelHeader(
                name=model.model,
                parameters=model.parameters,
                fingerprint=model.fingerprint,
                noise=model.noise,
                truncated=model.truncated,
            )
            for model in summary.models
        ),
    )
    return summarise(trials(path, summary, transforms), task=TASKS.get(summary.task), header=header)


def _only(audited: Audited, transforms: frozenset[str]) -> Audited:
    kinds = {one.perturbed.transform: one.perturbed.kind for one in audited.verdicts}
    kinds |= {gap.transform: gap.kind for gap in audited.not_applied}
    some_control = any(
        name in transforms and name in ENTRIES and ENTRIES[name].kind == "control" for name in transforms
    )

    def chosen(name: str) -> bool:
        kind = kinds[name]
        return name in transforms or kind == "identity" or (kind == "control" and not some_control)

    kept = [
        (verdict, score)
        for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True)
        if chosen(verdict.perturbed.transform)
    ]
    return replace(
        audited,
        verdicts=tuple(verdict for verdict, _ in kept),
        after_scores=tuple(score for _, score in kept),
        not_applied=tuple(gap for gap in audited.not_applied if chosen(gap.transform)),
    )

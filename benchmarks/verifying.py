"""`codeaudit verify` on a project: its report kept in a file, and what broke told on stderr."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codeaudit.audit.projects.bisect import bisect
from codeaudit.audit.projects.files import CountsByTransform, languages, meant
from codeaudit.audit.projects.verify import baseline, executed_units, perturbed_tests, units_of
from codeaudit.audit.projects.working_copy import ChangedFile, VerifyRequest, WorkingCopy, changed_files
from codeaudit.cli.output import PROGRESS
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.registry import expand


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A project on this machine, and how it is tested."""

    name: str
    folder: Path
    command: str
    sources: tuple[str, ...]


def verified(project: Tested, words: Sequence[str], work: Path) -> dict[str, Any]:
    """The report of `codeaudit verify` with these arguments, kept in the folder.

    Raises:
        ValueError: it could not judge the project.
    """
    command = [sys.executable, "-m", "codeaudit", "verify", str(project.folder), *words]
    command += ["--test-command", project.command, "--format", "json"]
    command += [word for source in project.sources for word in ("--source", source)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"codeaudit verify ended with exit code {done.returncode}")
    (work / f"{project.name}.json").write_text(done.stdout, encoding="utf-8")
    report: dict[str, Any] = json.loads(done.stdout)
    for trial in report["trials"]:
        for culprit in trial["culprits"]:
            units = " and ".join(
                f"{unit['transform']} in {unit['path']}:{unit['line']} {unit['name']}"
                for unit in culprit["rewritten"]
            )
            print(
                f"{project.name}, seed {trial['seed']}: {units}: {culprit['tests'][0]}\n{culprit['diff']}",
                file=sys.stderr,
            )
    return report


def verified_alone(project: Tested, transform: str, seed: int, workers: int, work: Path) -> dict[str, Any]:
    """A report on the project's tests under each of these transforms alone, kept in the folder.

    Raises:
        CannotAudit: no test passes before.
    """
    request = VerifyRequest(
        project=project.folder,
        words=tuple(shlex.split(project.command)),
        transforms=expand(transform.split(","), interface=False),
        seeds=(seed,),
        sources=project.sources,
        workers=workers,
    )
    with scratch_folder("verify") as scratch:
        copy = WorkingCopy.make(request, scratch, PROGRESS)
        before = baseline(copy)
        drawn: dict[str, Mapping[str, ChangedFile]] = {}
        counts: CountsByTransform = {}
        for name in meant(request.transforms, languages(copy.paths)):
            copy.request = replace(request, transforms=(name,))
            drawn[name] = changed_files(copy.perturbed(seed), counts)
        executed = executed_units(
            copy, {unit: text for files in drawn.values() for unit, text in units_of(files)}
        )
        rows = []
        for name, files in drawn.items():
            changed = {unit for unit, _ in units_of(files)}
            row: dict[str, Any] = {
                "transform": name,
                "changed": len(changed),
                "executed": len(changed & executed),
                "failures": [],
                "flaky": 0,
            }
            rows.append(row)
            if not files:
                continue
            copy.request = replace(request, transforms=(name,))
            trial = perturbed_tests(copy, before, seed, files, counts)
            row |= {"failures": [failure.test for failure in trial.failures], "flaky": trial.flaky}
            copy.say(f"{name}: {len(changed):,} units changed, {len(trial.failures):,} new failures")
            if trial.failures:
                for culprit in bisect(copy, trial, before.passed).culprits:
                    units = ", ".join(f"{unit.path}:{unit.line} {unit.name}" for unit, _ in culprit.rewritten)
                    copy.say(f"{name}: {units}: {culprit.tests[0]}")
    report = {"passed": len(before.passed), "executed": len(executed), "transforms": rows}
    (work / f"{project.name}-alone.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
    return report


def alone_row(project: Tested, version: str, report: Mapping[str, Any], seconds: float) -> list[str]:
    """A project's line of the table of `ALONE`."""
    applied = [row for row in report["transforms"] if row["changed"]]
    return [
        f"{project.name} {version}".strip(),
        f"{report['passed']:,}",
        f"{len(applied):,} of {len(report['transforms']):,}",
        f"{sum(row['changed'] for row in applied):,}",
        f"{sum(row['executed'] for row in applied):,}",
        f"{sum(len(row['failures']) for row in applied):,}",
        f"{seconds:,.0f} s",
    ]


ALONE = (
    "project",
    "tests passing",
    "transforms applied",
    "units changed",
    "executed",
    "new failures",
    "time",
)
"""The heads of the table of transforms alone; a unit counts once for each transform that changed it."""


def write_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """All lines so far, as Markdown."""
    print()
    for cells in (heads, ["---", *["---:"] * (len(heads) - 1)], *rows):
        print(f"| {' | '.join(cells)} |")
    print(flush=True)

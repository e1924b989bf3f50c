"""`codeaudit explain`: the smallest edit that flips a prediction."""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import click
from rich.console import RenderableType
from rich.syntax import Syntax
from rich.text import Text

from codeaudit.audit.cache import ModelMemory
from codeaudit.audit.records import Explained, Gone, Predicted, Violated
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import AuditSetup, NoMonitor
from codeaudit.audit.search.shrinking import explain as shrink
from codeaudit.audit.store import SUITE, VERDICTS, Manifest, RunFolder
from codeaudit.audit.tables import explanation_row, keep_explanations, prediction_of, read_rows, read_suite
from codeaudit.cli import completion
from codeaudit.cli.fleet import load_models
from codeaudit.cli.judged import finished
from codeaudit.cli.options import FORMATS, POSITIVE, Listed, RunOptions, option, repeated
from codeaudit.cli.output import show_parts, show_sheet, show_text
from codeaudit.cli.progress import ProgressMonitor, note
from codeaudit.cli.run import answer_cache
from codeaudit.cli.run import run as run_command
from codeaudit.reports.explanations import answers, diff, headline, moves, tally
from codeaudit.reports.render.markdown import escape, of_sheets
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.records import Perturbed

SPREAD: Final = 50
"""Violations explained where no sample is named."""


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("sample", required=False, metavar="[SAMPLE_ID]")
@option("--model", multiple=True, metavar="NAME", help="Only of this model of the run; repeatable.")
@option(
    "--transform",
    cls=Listed,
    metavar="NAME[,NAME]",
    shell_complete=completion.transforms,
    help="Only under these transforms.",
)
@option(
    "--limit",
    type=click.IntRange(min=0),
    default=SPREAD,
    metavar="N",
    help="Violations of each model, taken over samples in turn; 0 for all.",
)
@option(
    "--show", type=click.IntRange(min=0), default=5, metavar="N", help="Diffs shown; the table is over all."
)
@option("--format", "form", type=click.Choice(FORMATS), default="rich", help="What goes to stdout.")
@option("--device", default="auto", metavar="NAME", help="Where models run: auto, cpu, cuda, …")
@option("--batch-size", type=POSITIVE, default=32, metavar="N", help="Queries asked together.")
def explain(
    run: Path,
    sample: str | None,
    model: tuple[str, ...],
    transform: str | None,
    limit: int,
    show: int,
    form: str,
    device: str,
    batch_size: int,
) -> int:
    """Shrink the violations of a run to the smallest edit that still flips the answer.

    Each violation is an edit of several moves (renamed variables, blocks in another order). Moves are taken
    away, and orders brought nearer to the original, while the answer stays flipped; every step is a legal
    perturbation. Without a sample, violations of the whole run are explained, and a table tells which moves
    flip most. What was found is kept in the run folder.

    \b
    Examples:
      codeaudit explain codeaudit-runs/20260101-120000-function-name
      codeaudit explain RUN 4f1d2c --model vanilla-checkpoint --transform reorder
      codeaudit explain RUN --limit 0 --show 0
    """
    folder = RunFolder(run)
    manifest = finished(run)
    names = _models(manifest, model)
    found = list(_violations(folder, names, sample, _names(transform), limit))
    if not found:
        note(_nothing(sample))
        return 0
    asked = repeated(manifest, run_command, device=device, batch_size=batch_size)
    results: list[Explained | Gone] = []
    try:
        results.extend(_explained(asked, manifest, folder, found))
    finally:  # an interruption keeps what was found so far
        keep_explanations(folder, (one for one in results if isinstance(one, Explained)))
    explained = [one for one in results if isinstance(one, Explained)]
    gone = [one for one in results if isinstance(one, Gone)]
    for each in gone[:3]:
        note(
            f"no violation any more: {each.model}, sample {each.violated.perturbed.sample.id}: {each.reason}"
        )
    if len(gone) > 3:
        note(f"{len(gone):,} violations in all are none any more: the model is not the one of the run")
    _show(explained, form, len(explained) if sample else show)
    return 0


def _models(manifest: Manifest, wanted: Sequence[str]) -> tuple[str, ...]:
    known = [str(each["name"]) for each in manifest["models"]]
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise UsageError(f"the run has no model {name!r}; {hint}")
    return tuple(wanted or known)


def _names(transform: str | None) -> frozenset[str]:
    return frozenset(name.strip() for name in (transform or "").split(",") if name.strip())


Found = tuple[str, int, Violated]
"""A model's name, the seed of the trial, and a violation as the run recorded it."""


def _violations(
    folder: RunFolder, models: Sequence[str], sample: str | None, transforms: frozenset[str], limit: int
) -> Iterator[Found]:
    """The violations that are meant, of each sample and transform the first variants first.

    Raises:
        RunError: the run has no verdicts, or no such sample.
        UsageError: the beginning of a sample's id fits several.
    """
    verdicts = [row for row in read_rows(folder.path / VERDICTS) if row["model"] in models]
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
    perturbed: dict[tuple[object, ...], Perturbed] = {}
    for seed in sorted({key[1] for key in wanted}):
        for case in read_suite(folder.path / SUITE, seed=seed):
            for outcome in case.outcomes:
                if isinstance(outcome, Perturbed):
                    perturbed[seed, case.sample.id, outcome.transform, outcome.variant] = outcome
    for model in models:
        keys = sorted((key for key in wanted if key[0] == model), key=lambda key: (key[4], key[1:]))
        for key in keys[: limit or None] if sample is None else keys:
            row = wanted[key]
            before, after = prediction_of(row, "before"), prediction_of(row, "after")
            if isinstance(before, Predicted) and isinstance(after, Predicted):
                made = perturbed[key[1:]]
                violated = Violated(perturbed=made, before=before, after=after, deviation=row["deviation"])
                yield model, row["seed"], violated


def _whole(start: str, known: set[str]) -> str:
    """The one sample whose id begins so."""
    fits = sorted(each for each in known if each.startswith(start))
    if start in known or len(fits) == 1:
        return start if start in known else fits[0]
    if fits:
        raise UsageError(
            f"{len(fits)} samples begin with {start!r}: {', '.join(fits[:3])} …; give more of the id"
        )
    raise RunError(f"the run has no sample {start!r} with a verdict; `verdicts.parquet` lists them")


def _nothing(sample: str | None) -> str:
    where = f"on sample {sample}" if sample else "in the run"
    return f"nothing to explain: no answer changed under an edit that keeps the meaning {where}"


def _explained(
    asked: RunOptions, manifest: Manifest, folder: RunFolder, found: Sequence[Found]
) -> Iterator[Explained | Gone]:
    recorded = {str(each["name"]): (each["fingerprint"], spec) for each, spec in _named(manifest)}
    task = TASKS.get(manifest["task"])
    with answer_cache(asked, folder) as cache:
        for name in dict.fromkeys(model for model, _, _ in found):
            print_then, spec = recorded[name]
            (model,) = load_models(asked, (spec,))
            if model.fingerprint != print_then:
                note(f"{name} is not as it was in the run: its violations are looked at anew")
            memory = ModelMemory(cache=cache, fingerprint=model.fingerprint, run=str(manifest["codeaudit"]))
            setup = AuditSetup(
                model=model, task=task, memory=memory, monitor=NoMonitor(), batch_size=asked.batch_size
            )
            mine = [(seed, violated) for each, seed, violated in found if each == name]
            with ProgressMonitor(name, len(mine), unit="violations") as monitor:
                for seed, violated in mine:
                    yield shrink(violated, setup, seed=seed)
                    monitor.answered(1, recalled=False)


def _named(manifest: Manifest) -> Iterator[tuple[Manifest, str]]:
    """What a run says of each of its models, and how the user named it."""
    return zip(manifest["models"], manifest["options"]["model"], strict=True)


def _show(explained: Sequence[Explained], form: str, most: int) -> None:
    if form == "json":
        rows = [explanation_row(each) for each in explained]
        show_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    for each in explained[:most]:
        show_text(_markdown(each)) if form == "markdown" else show_parts(*_parts(each))
    if len(explained) > 1:
        sheet = tally(explained)
        if form == "markdown":
            show_text(of_sheets([sheet]))
        else:
            show_sheet(sheet)
            show_parts("", *(Text(text, style="dim") for text in sheet.legend))


def _parts(each: Explained) -> Iterator[RenderableType]:
    before, after = answers(each)
    yield Text(headline(each), style="bold")
    yield Text(moves(each), style="dim")
    yield Syntax("\n".join(diff(each)), "diff", background_color="default", word_wrap=True)
    yield Text(f"before  {before}\nafter   {after}\n")


def _markdown(each: Explained) -> str:
    before, after = answers(each)
    body = "\n".join(diff(each))
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", body))])
    told = f"- {escape(moves(each))}\n- before: {escape(before)}\n- after: {escape(after)}"
    return f"#### {escape(headline(each))}\n\n{told}\n\n{fence}diff\n{body}\n{fence}\n\n"

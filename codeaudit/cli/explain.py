"""The command `codeaudit explain`: its options and its output. `codeaudit.explaining` does the work."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
from rich.console import RenderableType
from rich.syntax import Syntax
from rich.text import Text

from codeaudit.audit.records import Explained
from codeaudit.audit.rows import explanation_row
from codeaudit.cli import completion
from codeaudit.cli.options import FORMATS, POSITIVE, Listed, option
from codeaudit.cli.output import show_parts, show_sheet, show_text
from codeaudit.cli.progress import PROGRESS, note
from codeaudit.explaining import explain as explain_violations
from codeaudit.explaining import violations
from codeaudit.finished_runs import read_run
from codeaudit.reports.explanations import answers, diff, headline, moves, tally
from codeaudit.reports.render.markdown import escape, of_sheets
from codeaudit.run_options import listed

SPREAD: Final = 50
"""Violations of each model that are explained if no sample is named."""


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("sample", required=False, metavar="[SAMPLE_ID]")
@option("--model", multiple=True, metavar="NAME", help="Only violations of this model; repeatable.")
@option(
    "--transform",
    cls=Listed,
    metavar="NAME[,NAME]",
    shell_complete=completion.transforms,
    help="Only violations under these transforms.",
)
@option(
    "--limit",
    type=click.IntRange(min=0),
    default=SPREAD,
    metavar="N",
    help="Largest number of violations per model, taken from the samples in turn; 0 for all.",
)
@option(
    "--show",
    type=click.IntRange(min=0),
    default=5,
    metavar="N",
    help="Diffs shown; the table counts all.",
)
@option("--format", "form", type=click.Choice(FORMATS), default="rich", help="Format on stdout.")
@option("--device", default="auto", metavar="NAME", help="Where models run: auto, cpu, cuda, …")
@option("--batch-size", type=POSITIVE, default=32, metavar="N", help="Number of queries asked at once.")
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
    flip most. The results are kept in the run folder.

    \b
    Examples:
      codeaudit explain codeaudit-runs/20260101-120000-function-name
      codeaudit explain RUN 4f1d2c --model vanilla-checkpoint --transform reorder
      codeaudit explain RUN --limit 0 --show 0
    """
    found = read_run(run)
    chosen = violations(found, models=model, sample=sample, transforms=listed(transform or ""), limit=limit)
    if not chosen:
        where = f"on sample {sample}" if sample else "in the run"
        note(f"nothing to explain: no answer changed under an edit that keeps the meaning {where}")
        return 0
    done = explain_violations(found, chosen, device=device, batch_size=batch_size, progress=PROGRESS)
    for each in done.gone[:3]:
        note(
            f"no violation any more: {each.model}, sample {each.violated.perturbed.sample.id}: {each.reason}"
        )
    if len(done.gone) > 3:
        note(f"{len(done.gone):,} violations in all are none any more: the model is not the one of the run")
    _show(done.explained, form, len(done.explained) if sample else show)
    return 0


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

"""The command `codeaudit papers`: the tables and figures of the five papers, and what makes them."""

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from codeaudit.audit.papers.published import (
    GENERATED,
    PAPERS,
    Item,
    PresetName,
    Request,
    data_sets,
    forecast,
    item,
    items,
    steps,
)
from codeaudit.cli.options import POSITIVE
from codeaudit.cli.output import note
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.grammar import counted

MEANINGS = {
    "run": "codeaudit makes it",
    "drawing": "it shows no experiment",
    "missing": "it cannot be made",
}


@click.group()
def papers() -> None:
    """Make the tables and figures of the five papers, with their published values beside.

    \b
    Examples:
      codeaudit papers list
      codeaudit papers show spe/table-1
      codeaudit papers run renamer/table-3 --dry-run
      codeaudit papers run spe/table-1 --data DIR --preset paper --device cuda
    """


@papers.command("list")
@click.argument("paper", required=False, type=click.Choice(PAPERS), metavar="[PAPER]")
def listing(paper: str | None) -> int:
    """List the tables and figures, one a line: name, what makes it, title."""
    listed = list(items(paper))
    width = max(len(entry.name) for entry in listed)
    for entry in listed:
        click.echo(f"{entry.name:{width}}  {entry.state:7}  {entry.title}")
    click.echo()
    for state, meaning in MEANINGS.items():
        click.echo(f"{state:7}  {meaning} ({counted(sum(entry.state == state for entry in listed), 'item')})")
    return 0


@papers.command()
@click.argument("name", metavar="PAPER/ITEM")
def show(name: str) -> int:
    """Show what an item needs, its published values, and how ours differs.

    \b
    Examples:
      codeaudit papers show spe/table-4
    """
    shown = item(name)
    click.echo(f"{shown.name}: {shown.title}")
    click.echo(f"  paper: {shown.paper}")
    click.echo(f"  {shown.state}: {MEANINGS[shown.state]}{f': {shown.reason}' if shown.reason else ''}")
    if shown.of:
        click.echo(f"  shows {shown.y} over {shown.x} of {shown.of}: see codeaudit papers show {shown.of}")
    for group in shown.groups:
        if group.data == GENERATED:
            click.echo(f"  data: the corpus {GENERATED}, which codeaudit generates")
        else:
            for name in filter(None, (group.data, group.paper_data, group.audited)):
                _data(name)
    if shown.experiment is not None:
        click.echo(f"  rows: {'; '.join(shown.names)}")
        click.echo(f"  columns: {'; '.join(head for head, _, _ in shown.heads)}")
        for data_set in dict.fromkeys(map(shown.experiment.data_of, shown.experiment.scales)):
            if data_set:
                _data(data_set)
        for name, scale in shown.experiment.scales.items():
            click.echo(f"  --preset {name}: {_settings(scale)}")
    if shown.rows:
        click.echo(f"  trained: {'; '.join(row.name for row in shown.rows)}")
        click.echo(f"  columns: {'; '.join(head for head, _, _ in shown.heads)}")
    for row, values in shown.published.items():
        click.echo(
            f"  the paper found: {row}: {', '.join(f'{head} {value:g}' for head, value in values.items())}"
        )
    for text in shown.differences:
        click.echo(f"  difference: {text}")
    if (cost := forecast(shown)) is not None:
        click.echo(f"  --preset paper: about {cost.hours:.2g} h of an H100, {cost.memory:.0f} GiB")
    if shown.state == "run":
        needed = "" if _without_data(shown) else " --data DIR"
        click.echo(f"  codeaudit papers run {shown.name}{needed}")
    return 0


@papers.command()
@click.argument("name", metavar="PAPER/ITEM")
@click.option(
    "--preset",
    type=click.Choice(["small", "paper"]),
    default="small",
    show_default=True,
    help="small: minutes on two cores. paper: the sizes and settings of the paper.",
)
@click.option("--device", metavar="NAME", help="Of trainings and audits: cpu, cuda, cuda:1, auto.")
@click.option(
    "--seeds", type=POSITIVE, metavar="N", help="Trainings of each network.  [default: by the preset]"
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the data sets that `codeaudit papers show` names.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("codeaudit-papers"),
    show_default=True,
    metavar="DIR",
    help="Folder of networks, runs, tables and figures. Items that need one training share it.",
)
@click.option(
    "--steps",
    "ended",
    type=POSITIVE,
    metavar="N",
    help="To try a preset: one training of each network, which ends after N steps, and few samples.",
)
@click.option("--dry-run", is_flag=True, help="Print the steps and the forecast; do nothing.")
def run(
    name: str,
    preset: PresetName,
    device: str | None,
    seeds: int | None,
    data: Path | None,
    out: Path,
    ended: int | None,
    dry_run: bool,
) -> int:
    """Train and audit what an item needs, and print the table with the published values beside.

    What is complete is not done again: the same command goes on after Ctrl-C.

    \b
    Examples:
      codeaudit papers run renamer/table-3
      codeaudit papers run spe/table-1 --data DIR --preset paper --device cuda --seeds 3
      codeaudit papers run spe/figure-7 --data DIR --dry-run
    """
    from codeaudit.reproducing import TABLE, make, source_of

    wanted = item(name)
    source = source_of(wanted)
    presets = source.scales if source.experiment is None else source.experiment.scales
    if preset not in presets:
        raise UsageError(f"{source.name} has no preset {preset}")
    request = Request(preset=preset, out=out, data=data, device=device, seeds=seeds, dry=dry_run, steps=ended)
    if dry_run:
        _plan(source, request)
        return 0
    measured = make(wanted, request, note)
    click.echo(measured.text, nl=False)
    note(f"table: {wanted.folder(out) / TABLE}")
    return 0


def _without_data(wanted: Item) -> bool:
    source = item(wanted.of) if wanted.of else wanted
    if source.experiment is not None:
        return not source.experiment.data
    return all(group.data == GENERATED for group in source.groups)


def _data(name: str) -> None:
    data = data_sets()[name]
    click.echo(f"  data: DIR/{data.name}.jsonl.gz (or .csv, .parquet): {data.language}, {data.what}")
    click.echo(f"    columns: {data.columns}")
    click.echo(f"    published: {data.published}")


def _settings(scale: Mapping[str, Any]) -> str:
    """The settings of an experiment in words."""
    aside = ("minutes", "forecast", "data")
    return ", ".join(
        f"{name.replace('_', ' ')} {_worded(value)}" for name, value in scale.items() if name not in aside
    )


def _worded(value: object) -> str:
    """A setting as a user would write it."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return " and ".join(map(_worded, value)) or "none"
        case _:
            return str(value)


def _plan(source: Item, request: Request) -> None:
    """Print the steps of an item and what they cost."""
    if source.experiment is not None:
        settings = request.settings(source.experiment)
        for seed in range(request.trainings(int(settings["seeds"]))):
            for name in source.names:
                click.echo(f"{name}, seed {seed}: {_settings(settings)}")
        minutes = source.experiment.scales["small"].get("minutes")
    else:
        for step in steps(source, request):
            click.echo(shlex.join(["codeaudit", *step.words]))
        minutes = source.scales["small"].minutes.get(source.name.partition("/")[2])
    if request.steps is not None:
        return  # a try costs what cannot be told from the preset
    if request.preset == "small" and minutes is not None:
        click.echo(f"about {counted(math.ceil(minutes), 'minute')} of two cores, at most 4 GiB")
    if request.preset == "paper" and (cost := forecast(source, request.seeds)) is not None:
        click.echo(f"about {cost.hours:.2g} h of an H100, {cost.memory:.1f} GiB")

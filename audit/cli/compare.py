"""`codeaudit compare`: several runs beside each other."""

from collections.abc import Iterator
from pathlib import Path

import click

from audit.cli.options import FORMATS
from audit.cli.output import show
from audit.store import SUMMARY, VERDICTS, RunFolder
from audit.tables import read_rows
from reports.compare import compare as compare_runs
from reports.records import Flip, Run, Summary
from transforms.errors import RunError


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="rich",
    show_default=True,
    envvar="CODEAUDIT_FORMAT",
    help="What goes to stdout.",
)
def compare(runs: tuple[Path, ...], form: str) -> int:
    """Compare runs: statistics across models and trials.

    Kruskal-Wallis and Conover across trials; Cochran's Q and McNemar where models met the same inputs.
    """
    show(compare_runs([read_run(path) for path in runs]), form)
    return 0


def read_run(path: Path) -> Run:
    """A finished run, read back from its folder.

    Raises:
        RunError: there is no such run, it is not finished, or its files are damaged.
    """
    RunFolder(path).manifest()
    try:
        summary = Summary.from_json((path / SUMMARY).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(f"the run at {str(path)!r} is not finished; go on with it first") from error
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"cannot read {str(path / SUMMARY)!r}: {error}") from error
    return Run(name=str(path), summary=summary, flips=tuple(_flips(path / VERDICTS)))


def _flips(path: Path) -> Iterator[Flip]:
    for row in read_rows(path):
        if row["outcome"] != "unjudged":
            yield Flip(
                model=row["model"],
                seed=row["seed"],
                sample=row["sample"],
                transform=row["transform"],
                kind=row["kind"],
                variant=row["variant"],
                input=row["input"],
                violated=row["outcome"] == "violated",
            )

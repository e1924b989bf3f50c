"""The command `codeaudit report`: renders a finished run."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from codeaudit.cli.options import option
from codeaudit.cli.output import show, show_text
from codeaudit.cli.progress import note
from codeaudit.finished_runs import open_run, write_file
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.render import csv as csv_files
from codeaudit.reports.render import latex as latex_tables
from codeaudit.reports.render import markdown as markdown_tables
from codeaudit.transforms.errors import UsageError

STDOUT: Final = Path("-")

FILE: Final = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@option("--html", type=FILE, metavar="FILE", help="One page with everything, that needs nothing else.")
@option("--markdown", type=FILE, metavar="FILE", help="Tables for a README or a pull request.")
@option("--latex", type=FILE, metavar="FILE", help="Tables for a paper: booktabs, the best in bold.")
@option(
    "--csv", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Plain numbers, a file a table."
)
@option(
    "--junit", type=FILE, metavar="FILE", help="A test case for each sample, with the diff of what failed."
)
@option("--format", "form", type=click.Choice(tuple(FORMATS)), default="rich", help="What goes to stdout.")
def report(
    run: Path,
    html: Path | None,
    markdown: Path | None,
    latex: Path | None,
    folder: Path | None,
    junit: Path | None,
    form: str,
) -> int:
    """Render a finished run: as files, or on stdout where none is named. FILE may be `-` for stdout.

    \b
    Examples:
      codeaudit report RUN --html audit.html
      codeaudit report RUN --latex tables.tex --csv numbers/
      codeaudit report RUN --format markdown | gh pr comment --body-file -
    """
    found = open_run(run)
    summary = found.summary
    files: dict[Path | None, Callable[[], str]] = {
        markdown: lambda: markdown_tables.markdown(summary),
        latex: lambda: latex_tables.latex(summary),
        junit: found.to_junit,
        html: found.to_html,
    }
    named = [path for path in (markdown, latex, junit, html) if path is not None]
    if len(set(named)) < len(named):
        raise UsageError("two formats have the same FILE; name one for each")
    for path in named:
        _write(path, files[path]())
    if folder is not None:
        for name, text in csv_files.tables(summary).items():
            _write(folder / name, text)
    if not named and folder is None:
        show(summary, form)
    return 0


def _write(path: Path, text: str) -> None:
    """Write a file and tell its size; `-` is stdout."""
    if path == STDOUT:
        show_text(text)
        return
    write_file(path, text)
    note(f"{path}: {len(text.encode('utf-8', 'replace')):,} bytes")

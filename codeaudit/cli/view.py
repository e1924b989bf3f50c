"""The command `codeaudit view`: renders a finished run as a page and opens it in the browser."""

import tempfile
import webbrowser
from pathlib import Path
from typing import Final

import click

from codeaudit.cli.options import OutputFile
from codeaudit.cli.output import note, note_unbound, show_text
from codeaudit.finished_runs import read_run, write_file
from codeaudit.transforms.errors import RunError

PAGE: Final = "report.html"
"""The page's name in the run folder."""


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=OutputFile(".html", ".htm"),
    metavar="FILE",
    help="Where the page goes.  [default: report.html in the run folder]",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.", show_default=True)
def view(run: Path, out: Path | None, browser: bool) -> int:
    """Render a finished run as a page and open it in the browser. The path of the page goes to stdout.

    \b
    Examples:
      codeaudit view codeaudit-runs/monday
      codeaudit view RUN --no-browser --out audit.html
    """
    opened = read_run(run)
    note_unbound(opened)
    page = _page(opened.to_html(), run, out).absolute()
    show_text(f"{page}\n")
    # It returns false where no browser can be started, as on a server.
    if browser and not webbrowser.open(page.as_uri()):
        note("no browser could be started; open the page by hand")
    return 0


def _page(text: str, run: Path, out: Path | None) -> Path:
    """Write the page. A run folder that cannot be written, such as another user's, gets it beside the
    temporary files."""
    place = out or run / PAGE
    try:
        write_file(place, text)
    except RunError:
        if out is not None:
            raise
        place = Path(tempfile.mkdtemp(prefix="codeaudit-")) / PAGE
        write_file(place, text)
    return place

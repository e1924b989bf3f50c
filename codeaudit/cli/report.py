"""The command `codeaudit report`: renders a finished run."""

from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.cli.options import file_option, format_option, option, run_option
from codeaudit.cli.output import Terminal, note, note_unbound, show, write_or_show
from codeaudit.finished_runs import Run, read_run
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.render import csv as csv_files
from codeaudit.transforms.errors import UsageError

PAGES: Final[Mapping[str, Callable[[Run], str]]] = {"junit": Run.to_junit, "html": Run.to_html}
"""What is made from the samples of a run. A format of the registry is made from its summary."""
TABLES: Final = ("markdown", "latex")
"""Built-in formats of the registry that are written to files, too."""


def _options_of_plug_ins(command: Callable[..., int]) -> Callable[..., int]:
    """Add `--NAME FILE` for each report format that an installed package provides."""
    # Read when the module is imported, because click needs all options before it parses.
    for name in FORMATS.plug_ins():
        command = file_option(f"--{name}", f"Format {name!r} of an installed package.", may_be_stdout=True)(
            command
        )
    return command


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@file_option(
    "--html", "One page with everything; it needs no other file.", ".html", ".htm", may_be_stdout=True
)
@file_option("--markdown", "Tables for a README or a pull request.", ".md", ".txt", may_be_stdout=True)
@file_option("--latex", "Tables for a paper: booktabs, the best in bold.", ".tex", ".txt", may_be_stdout=True)
@option(
    "--csv", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Numbers, one file per table."
)
@file_option(
    "--junit", "A test case for each sample, with the diff of each violation.", ".xml", may_be_stdout=True
)
@file_option(
    "--baseline",
    "The judged pairs, a small file for codeaudit gate --baseline.",
    ".parquet",
    any_but_lines=True,
)
@run_option("sign_key", "Check that RUN was signed with the secret in this file, and sign the baseline file.")
@_options_of_plug_ins
@format_option(*FORMATS)
def report(
    run: Path, folder: Path | None, baseline: Path | None, sign_key: Path | None, form: str, **files: Any
) -> int:
    """Render a finished run: as files, or on stdout if none is named. FILE may be `-` for stdout, except
    that of --baseline.

    \b
    Examples:
      codeaudit report RUN --html audit.html
      codeaudit report RUN --latex tables.tex --csv numbers/
      codeaudit report RUN --format markdown | gh pr comment --body-file -
      codeaudit report RUN --baseline main.parquet
    """
    opened = read_run(run)
    note_unbound(opened)
    if sign_key is not None and baseline is None:
        raise UsageError("--sign-key signs a baseline file; name it with --baseline FILE")
    paths = {name: files[name.replace("-", "_")] for name in (*TABLES, *PAGES, *FORMATS.plug_ins())}
    named = {name: path for name, path in paths.items() if path is not None}
    # `--html x --latex x` would leave one of them, and `-` twice would mix them on stdout.
    if len(set(named.values())) < len(named):
        raise UsageError("two formats have the same FILE; name one for each")
    for name, path in named.items():
        write_or_show(path, PAGES[name](opened) if name in PAGES else _rendered(opened, name))
    if folder is not None:
        for name, text in csv_files.tables(opened.summary).items():
            write_or_show(folder / name, text)
    if baseline is not None:
        from codeaudit.gating import keep_baseline

        keep_baseline(opened, baseline, sign_key)
        note(f"{baseline}: {baseline.stat().st_size:,} bytes")
    if not named and folder is None and baseline is None:
        show(opened.summary, form)
    return 0


def _rendered(run: Run, form: str) -> str:
    """The text that a format of the registry writes about the summary."""
    text = StringIO()
    # Fixed width and no colour: a file must not depend on the terminal.
    FORMATS.get(form)(run.summary, Terminal(text, width=80, color_system=None))
    return text.getvalue()

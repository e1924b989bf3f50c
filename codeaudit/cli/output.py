"""Writes results to stdout. Everything else goes to stderr: see `codeaudit.cli.progress`."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType

from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.render.markdown import of_sheets
from codeaudit.reports.render.table import show_sheets as print_sheets
from codeaudit.reports.render.table import table
from codeaudit.reports.sheets import Sheet


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format of `FORMATS`. It is no error if the reader closes the pipe early."""
    with _unbroken():
        FORMATS.get(form)(report, _Stdout(file=sys.stdout))


def show_sheet(sheet: Sheet, *, stderr: bool = False) -> None:
    """Write one table for a terminal."""
    with _unbroken():
        console = _Stdout(file=sys.stderr if stderr else sys.stdout)
        console.print(table(sheet, console))


def show_sheets(sheets: Iterable[Sheet], form: str) -> None:
    """Write tables with their notes, as `rich` or as `markdown`."""
    if form == "markdown":
        show_text(of_sheets(sheets))
        return
    with _unbroken():
        print_sheets(sheets, _Stdout(file=sys.stdout))


def show_text(text: str) -> None:
    """Write text as it is."""
    with _unbroken():
        sys.stdout.write(text)


def show_parts(*parts: RenderableType) -> None:
    """Write rich objects for a terminal, one below the other."""
    with _unbroken():
        out = _Stdout(file=sys.stdout)
        for part in parts:
            out.print(part)


def silence_stdout() -> None:
    """Redirect stdout to nothing, because the interpreter's last flush would fail on a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@contextmanager
def _unbroken() -> Iterator[None]:
    """Flush stdout at the end; stay silent after the reader has closed the pipe."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


class _Stdout(Console):
    """A console that raises on a closed pipe; rich would end the process with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

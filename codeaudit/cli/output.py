"""Results on stdout; everything else goes to stderr."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType

from codeaudit.cli.streams import silence_stdout
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.reports.render.markdown import of_sheets
from codeaudit.reports.render.table import show_sheets as print_sheets
from codeaudit.reports.render.table import table
from codeaudit.reports.sheets import Sheet


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format. A reader that closes the pipe early is no error."""
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
    """Write parts for a terminal, one below the other."""
    with _unbroken():
        out = _Stdout(file=sys.stdout)
        for part in parts:
            out.print(part)


@contextmanager
def _unbroken() -> Iterator[None]:
    """Write everything, unless the reader has had enough."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


class _Stdout(Console):
    """A console that leaves a closed pipe to us; rich's own answer is to exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

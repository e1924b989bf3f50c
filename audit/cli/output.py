"""Results on stdout; everything else goes to stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from audit.cli.streams import silence_stdout
from reports.records import Comparison, Summary
from reports.registry import FORMATS
from reports.render.table import table
from reports.sheets import Sheet


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format. A reader that closes the pipe early is no error."""
    with _unbroken():
        FORMATS.get(form)(report, _Stdout(file=sys.stdout))


def show_sheet(sheet: Sheet, *, stderr: bool = False) -> None:
    """Write one table for a terminal."""
    with _unbroken():
        console = _Stdout(file=sys.stderr if stderr else sys.stdout)
        console.print(table(sheet, console))


def show_text(text: str) -> None:
    """Write text as it is."""
    with _unbroken():
        sys.stdout.write(text)


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

"""Results on stdout; everything else goes to stderr."""

import os
import sys

from rich.console import Console

from reports.records import Comparison, Summary
from reports.registry import FORMATS


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format. A reader that closes the pipe early is no error."""
    try:
        FORMATS.get(form)(report, _Stdout(file=sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


class _Stdout(Console):
    """A console that leaves a closed pipe to us; rich's own answer is to exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

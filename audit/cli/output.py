"""Results on stdout; everything else goes to stderr."""

import sys

from rich.console import Console

from audit.cli.streams import silence_stdout
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

"""Results on stdout; everything else goes to stderr."""

import os
import sys

from reports.records import Comparison, Summary
from reports.registry import FORMATS


def show(report: Summary | Comparison, form: str) -> None:
    """Write a report in a format. A reader that closes the pipe early is no error."""
    from rich.console import Console

    try:
        FORMATS.get(form)(report, Console(file=sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""The protocol of a report format."""

from typing import TYPE_CHECKING, Protocol

from codeaudit.reports.records import Comparison, Summary

if TYPE_CHECKING:
    from rich.console import Console


class Renderer(Protocol):
    """Writes a report to a console's stream. Formats differ in form only, never in numbers."""

    def __call__(self, report: Summary | Comparison, console: "Console") -> None:
        """Write the report, ending with a line end."""
        ...

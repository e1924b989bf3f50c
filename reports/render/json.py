"""Writes reports as JSON."""

from typing import TYPE_CHECKING

from codeaudit.reports.records import Comparison, Summary

if TYPE_CHECKING:
    from rich.console import Console


def render(report: Summary | Comparison, console: "Console") -> None:
    """Write the report's JSON text to the console's stream, without wrapping and styles."""
    console.file.write(report.to_json())

"""Writes reports as GitHub-flavoured Markdown tables."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from codeaudit.reports.first_screen import every_sheet
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.sheets import Cell, Sheet, legends_once

if TYPE_CHECKING:
    from rich.console import Console


def render(report: Summary | Comparison, console: "Console") -> None:
    """Write the report as Markdown to the console's stream, without wrapping and styles."""
    console.file.write(markdown(report))


def markdown(report: Summary | Comparison) -> str:
    """Return the report's tables as Markdown with a final newline."""
    return of_sheets(every_sheet(report))


def of_sheets(sheets: Iterable[Sheet]) -> str:
    """Return these tables as Markdown with a final newline."""
    return "\n".join(map(_sheet, legends_once(sheets)))


def _sheet(sheet: Sheet) -> str:
    lines = [f"### {escape(sheet.title)}", ""]
    if sheet.lead:
        lines += [*(f"- {escape(text)}" for text in sheet.lead), ""]
    if sheet.columns:
        lines.append(_row(escape(column.head) for column in sheet.columns))
        lines.append(_row("---:" if column.number else "---" for column in sheet.columns))
        lines += [_row(map(_cell, row)) for row in sheet.rows]
        lines.append("")
    for texts in (sheet.notes, sheet.legend):
        lines += [f"- {escape(text)}" for text in texts]
    if sheet.notes or sheet.legend:
        lines.append("")
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = ", ".join(escape(line) for line in cell.lines)
    return f"**{text}**" if cell.bold and text else text


def escape(text: str) -> str:
    """Escape all characters with a special meaning in a Markdown table."""
    # `f_1|x` in a cell would end it, and `_x_` would be set in italics.
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", text)

"""Prints reports as tables for a terminal."""

from collections.abc import Iterable
from typing import Final

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.sheets import Cell, Sheet, sheets

WIDEST: Final = 10_000
"""Width of a console at which no table needs to wrap a line."""


def render(report: Summary | Comparison, console: Console) -> None:
    """Print the report's tables.

    Names are never interpreted as markup. At 80 columns no number is cut.
    """
    show_sheets(sheets(report), console)


def show_sheets(found: Iterable[Sheet], console: Console) -> None:
    """Print tables with their notes and legends."""
    for number, sheet in enumerate(found):
        if number:
            console.print()
        if sheet.columns:
            console.print(table(sheet, console))
        else:
            console.print(Text(sheet.title, style="bold"))
        for style, texts in (("", sheet.notes), ("dim", sheet.legend)):
            if texts:
                console.print()
            for text in texts:
                console.print(Text(text, style=style))


def table(sheet: Sheet, console: Console) -> Table:
    """Return the sheet as a table: cells on one line if they fit, else stacked, else with less padding."""
    # The natural width is asked for on a very wide console: on the real one it would be cut to the width
    # already.
    unbound = console.options.update(width=WIDEST)
    for stack, gap in ((False, 1), (False, 0), (True, 1)):
        made = _build(sheet, stack=stack, gap=gap)
        if Measurement.get(console, unbound, made).maximum <= console.width:
            return made
    return _build(sheet, stack=True, gap=0)


def _build(sheet: Sheet, *, stack: bool, gap: int) -> Table:
    merged = sheet.stacked if stack else 1
    # A blank line between rows only if some row has several lines; else the table would be twice as long for
    # nothing.
    high = any(len(cell.lines) > 1 for row in sheet.rows for cell in row[merged - 1 :])
    made = Table(
        title=Text(sheet.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, gap, 0, 0),
        leading=int(stack and high),
    )
    made.add_column(Text(sheet.columns[0].head), overflow="fold")
    for column in sheet.columns[merged:]:
        # Only words give way: a broken number would be read as another one.
        head = column.head.replace(" ", "\n") if stack and column.number else column.head
        made.add_column(
            Text(head), justify="right" if column.number else "left", overflow="fold", no_wrap=column.number
        )
    for row in sheet.rows:
        first = _text(row[:merged], "\n")
        made.add_row(first, *(_text([cell], "\n" if stack else ", ") for cell in row[merged:]))
    return made


def _text(cells: Iterable[Cell], separator: str) -> Text:
    return Text(separator).join(
        Text(line, style="bold" if cell.bold else "") for cell in cells for line in cell.lines
    )

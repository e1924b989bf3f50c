"""Prints reports as tables for a terminal."""

import re
from collections.abc import Iterable
from math import sqrt
from typing import Final

from rich import box
from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from codeaudit.reports.first_screen import every_sheet
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.sheets import Cell, Sheet, legends_once

LONG: Final = 11
"""Where the columns do not fit, a longer word breaks at its hyphens."""
EVERY: Final = 99
"""More line breaks than a word has places for."""
LAYOUTS: Final = (
    (False, 1, 0), (False, 0, 0), (True, 1, 0), (True, 0, 0), (True, 0, 1), (True, 0, EVERY),
)  # fmt: skip
"""From wide to narrow: whether lines of a cell are stacked, blanks between columns, line breaks in a word."""
NARROW: Final = ((1, 0), (1, 1), (0, 1), (0, EVERY))
"""The layouts in which texts are wrapped: blanks between columns, line breaks in a word."""
WIDEST: Final = 10_000
"""Width of a console at which no table needs to wrap a line."""


def render(report: Summary | Comparison, console: Console) -> None:
    """Print the report's tables.

    Names are never interpreted as markup. At 80 columns no number is cut.
    """
    show_sheets(every_sheet(report), console)


def show_sheets(sheets: Iterable[Sheet], console: Console) -> None:
    """Print tables with their notes and legends."""
    for number, sheet in enumerate(legends_once(sheets)):
        if number:
            console.print()
        for text in sheet.lead:
            console.print(Text(text))
        if sheet.lead:
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


def table(sheet: Sheet, console: Console) -> Table | Group:
    """Return the sheet as a table in the first layout that fits.

    Where none fits, it becomes a list: a paragraph for each row.
    """
    # The natural width is asked for on a very wide console: on the real one it would be cut to the width
    # already.
    unbound = console.options.update(width=WIDEST)
    for stack, gap, breaks in LAYOUTS:
        made = _build(sheet, stack=stack, gap=gap, breaks=breaks)
        if Measurement.get(console, unbound, made).maximum <= console.width:
            return made
    # Texts give way before names are broken: of the narrow layouts the first whose words fit.
    for gap, breaks in NARROW:
        made = _build(sheet, stack=True, gap=gap, breaks=breaks)
        if _fitted(made, console):
            return made
    return _paragraphs(sheet)


def _fitted(made: Table, console: Console) -> bool:
    """Give the columns of a table widths that fill the console, so that no word is cut; false if there are
    none.

    Of a table that is too wide, rich cuts the widest columns in the middle of words, or the last ones off.
    """
    unbound = console.options.update(width=WIDEST)
    least, most = [], []
    for column in made.columns:
        sizes = [Measurement.get(console, unbound, cell) for cell in (column.header, *column.cells)]
        widest = max(size.maximum for size in sizes)
        least.append(widest if column.no_wrap else max(size.minimum for size in sizes))
        most.append(widest)
    between = Measurement.get(console, unbound, made).maximum - sum(most)
    room = console.width - between - sum(least)
    if room < 0:
        return False
    widths = list(least)
    for _ in range(min(room, sum(most) - sum(least))):
        # By the root, so that a long text leaves short ones whole: it has several lines anyway.
        lacking = [number for number in range(len(widths)) if widths[number] < most[number]]
        widths[min(lacking, key=lambda number: widths[number] / sqrt(most[number]))] += 1
    for column, width in zip(made.columns, widths, strict=True):
        column.width = width
    return True


def _paragraphs(sheet: Sheet) -> Group:
    parts = [Text(sheet.title, style="bold")]
    for row in sheet.rows:
        named = zip(sheet.columns[1:], row[1:], strict=True)
        parts += [Text(), _text(row[:1], ", ")]
        parts += [
            Text(f"  {column.head}: ").append(_text([cell], ", ")) for column, cell in named if cell.lines
        ]
    return Group(*parts)


def _build(sheet: Sheet, *, stack: bool, gap: int, breaks: int) -> Table:
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
        leading=int(stack and high and not sheet.dense),
    )
    made.add_column(Text(sheet.columns[0].head), overflow="fold")
    for column in sheet.columns[merged:]:
        head = Text(column.head)
        if stack and column.number:
            head = _broken(Text("\n").join(head.split(" ")), EVERY)
        made.add_column(
            head, justify="right" if column.number else "left", overflow="fold", no_wrap=column.number
        )
    for row in sheet.rows:
        cells = [
            _text(row[:merged], "\n"),
            *(_text([cell], "\n" if stack else ", ") for cell in row[merged:]),
        ]
        # Only words give way: a broken number would be read as another one.
        made.add_row(
            *(
                cell if column.no_wrap else _broken(cell, breaks)
                for column, cell in zip(made.columns, cells, strict=True)
            )
        )
    return made


def _broken(text: Text, breaks: int) -> Text:
    """A text with at most so many line breaks in each long word, at the hyphens nearest to its middle."""
    offsets = []
    for word in re.finditer(r"\S+-\S+", text.plain):
        if len(word[0]) > LONG:
            middle = (word.start() + word.end()) / 2
            places = [word.start() + hyphen.end() for hyphen in re.finditer("-", word[0][:-1])]
            offsets += sorted(places, key=lambda place: abs(place - middle))[:breaks]
    return Text("\n").join(text.divide(sorted(offsets)))


def _text(cells: Iterable[Cell], separator: str) -> Text:
    return Text(separator).join(
        Text(line, style="bold" if cell.bold else "") for cell in cells for line in cell.lines
    )

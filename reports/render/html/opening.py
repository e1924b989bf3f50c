"""The opening of the page: the verdict in words, what was asked at which cost, and a scorecard per model."""

from collections.abc import Sequence
from typing import Final

from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.records import Summary
from codeaudit.reports.render.html.charts import mark
from codeaudit.reports.render.html.markup import escaped, sentences
from codeaudit.reports.sheets import Cell, Column, Sheet
from codeaudit.reports.verdict import verdict

BEHIND: Final = ("size", "asked")
"""Columns that say nothing of robustness. On a narrow screen they would stand in front of those that do."""


def opening(summary: Summary, asked: Sequence[str]) -> str:
    """Return the sentences above everything else.

    Args:
        summary: the numbers.
        asked: when which models were asked what, and what that cost, in sentences.
    """
    told = sentences(
        [*first_screen(summary).lead, *verdict(summary.statistics)],
        "No answer to a perturbed input could be judged.",
    )
    facts = "".join(f"<p>{escaped(one)}</p>" for one in asked)
    return f'{told}<div class="asked">{facts}</div>'


def scorecards(summary: Summary) -> str:
    """Return a card for each model, in the order of the models, with the numbers of the first screen."""
    sheet = violations_first(first_screen(summary))
    cards = "".join(_card(sheet.columns, row, number) for number, row in enumerate(sheet.rows))
    return f'<div class="cards">{cards}</div><ul class="notes">{_legend(sheet)}</ul>' if cards else ""


def violations_first(sheet: Sheet) -> Sheet:
    """Return a table with its columns on size and number of samples behind the others."""
    order = sorted(range(len(sheet.columns)), key=lambda n: sheet.columns[n].head in BEHIND)
    return Sheet(
        title=sheet.title,
        columns=tuple(sheet.columns[n] for n in order),
        rows=tuple(tuple(row[n] for n in order) for row in sheet.rows),
        notes=sheet.notes,
        legend=sheet.legend,
        lead=sheet.lead,
        dense=sheet.dense,
    )


def _card(columns: Sequence[Column], row: Sequence[Cell], number: int) -> str:
    name, *cells = row
    rows = "".join(_line(column.head, cell) for column, cell in zip(columns[1:], cells, strict=True))
    head = f'<svg width="14" height="14" aria-hidden="true">{mark(number, 7, 7)}</svg>'
    return f'<article class="card"><h3>{head} {escaped(" ".join(name.lines))}</h3><dl>{rows}</dl></article>'


def _line(head: str, cell: Cell) -> str:
    first, *more = cell.lines or ("",)
    rest = f' <span class="soft">{escaped(", ".join(more))}</span>' if more else ""
    return f"<dt>{escaped(head)}</dt><dd><strong>{escaped(first)}</strong>{rest}</dd>"


def _legend(sheet: Sheet) -> str:
    return "".join(f'<li class="legend-text">{escaped(one)}</li>' for one in sheet.legend)

r"""Writes reports as LaTeX tables: booktabs, best in bold, one `table` per sheet, for `\input` in a paper."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from codeaudit.reports.first_screen import every_sheet
from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.sheets import Cell, Sheet

if TYPE_CHECKING:
    from rich.console import Console

# A comment, because the packages belong into the preamble of the paper, and this file is read by \input.
HEAD: Final = "% \\usepackage{booktabs,graphicx}\n"
FITTED: Final = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""LaTeX commands that print a table at its natural width, or scaled down to the width of the text."""
MARKS: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\N{EN DASH}": "--",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{SUPERSCRIPT TWO}": r"$^2$",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{BOX DRAWINGS HEAVY VERTICAL}": r"\rule{1.5pt}{1em}",
}
"""Characters with a special meaning in LaTeX or without a glyph in its usual fonts."""


def render(report: Summary | Comparison, console: "Console") -> None:
    """Write the report as LaTeX to the console's stream."""
    console.file.write(latex(report))


def latex(report: Summary | Comparison) -> str:
    """Return the report's tables as LaTeX text with a final newline."""
    return HEAD + "\n".join(map(_sheet, every_sheet(report)))


def _sheet(sheet: Sheet) -> str:
    notes = " ".join(escape(text) for text in (*sheet.lead, *sheet.notes, *sheet.legend))
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escape(sheet.title)}}}"]
    if sheet.columns:
        spec = "".join("r" if column.number else "l" for column in sheet.columns)
        lines += [FITTED, rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
        lines += [_row(escape(column.head) for column in sheet.columns), r"\midrule"]
        lines += [_row(map(_cell, row)) for row in sheet.rows]
        lines += [r"\bottomrule", r"\end{tabular}}"]
    if notes:
        lines += [r"\par\smallskip", rf"{{\footnotesize {notes}\par}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Cell) -> str:
    text = ", ".join(escape(line) for line in cell.lines)
    return rf"\textbf{{{text}}}" if cell.bold and text else text


def escape(text: str) -> str:
    """Escape all characters with a special meaning in LaTeX."""
    return "".join(MARKS.get(letter, letter) for letter in text)

"""Reports as LaTeX tables: booktabs, the best in bold, one `table` each, to be input into a paper."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from codeaudit.reports.records import Comparison, Summary
from codeaudit.reports.sheets import Cell, Sheet, sheets

if TYPE_CHECKING:
    from rich.console import Console

HEAD: Final = "% \\usepackage{booktabs,graphicx}\n"
FITTED: Final = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""As wide as it is, and no wider than the text."""
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
"""What means something else to LaTeX, or is not in its usual fonts."""


def render(report: Summary | Comparison, console: "Console") -> None:
    """Write the report as LaTeX to the console's stream."""
    console.file.write(latex(report))


def latex(report: Summary | Comparison) -> str:
    """The report's tables, ending with a line end."""
    return HEAD + "\n".join(map(_sheet, sheets(report)))


def _sheet(sheet: Sheet) -> str:
    notes = " ".join(escape(text) for text in (*sheet.notes, *sheet.legend))
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
    """Text whose letters mean themselves in LaTeX."""
    return "".join(MARKS.get(letter, letter) for letter in text)

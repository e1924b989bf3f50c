"""Tables in terminals of every width: nothing is cut off, and no word in the middle."""

import re
from io import StringIO
from random import Random

import pytest
from rich.console import Console

from codeaudit.reports.render.table import show_sheets
from codeaudit.reports.sheets import Cell, Sheet, numbers, words

WORDS = [
    "spe-checkpoint",
    "rise",
    "under",
    "rename-parameters",
    "85.0",
    "%",
    "(77.1–90.6,",
    "at",
    "most",
    "+1.0",
    "points",
    "FAILED",
    "cannot",
    "tell",
    "p",
    "1;",
    "of",
]


def sheet(rng: Random) -> Sheet:
    """A table of up to six columns of texts and numbers, of one to sixteen words each."""
    columns = [
        column
        for _ in range(rng.randint(2, 6))
        for column in (numbers if rng.random() < 0.3 else words)(
            " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))
        )
    ]
    longest = [rng.choice((1, 2, 4, 16)) for _ in columns]
    rows = tuple(
        tuple(
            Cell(lines=(f"{rng.randint(0, 999)}/{rng.randint(0, 999)}",))
            if column.number
            else Cell(lines=tuple(" ".join(rng.choices(WORDS, k=most)) for _ in range(rng.randint(1, 2))))
            for column, most in zip(columns, longest, strict=True)
        )
        for _ in range(rng.randint(1, 5))
    )
    return Sheet(title="t", columns=tuple(columns), rows=rows, stacked=rng.choice((1, 2)))


def shown(table: Sheet, width: int) -> str:
    text = StringIO()
    show_sheets([table], Console(file=text, width=width, color_system=None))
    return text.getvalue()


def parts(text: str) -> set[str]:
    """The words of a text; a line may break between them."""
    return set(re.findall(r"\w+", text))


@pytest.mark.thinned(1)
@pytest.mark.parametrize("seed", range(60))
def test_no_word_is_cut_at_any_width(seed: int) -> None:
    table = sheet(Random(seed))
    cells = parts(" ".join(line for row in table.rows for cell in row for line in cell.lines))
    for width in range(36, 122, 5):
        text = shown(table, width)
        assert cells <= parts(text), width
        assert max(map(len, text.splitlines())) <= width
        # As a list, every column but the first is named before its value.
        assert all(
            parts(column.head) <= parts(text.replace(":", "")) for column in table.columns[table.stacked :]
        )


def test_a_wide_text_leaves_room_for_the_short_ones() -> None:
    row = ("spe-checkpoint", "word " * 20, "at most 5 %", "FAILED")
    table = Sheet(
        title="t",
        columns=words("model", "found", "wanted", "verdict"),
        rows=(tuple(Cell(lines=(text,)) for text in row),),
    )
    assert re.search(r"^spe-checkpoint +word .* at most 5 % +FAILED", shown(table, 80), re.MULTILINE)

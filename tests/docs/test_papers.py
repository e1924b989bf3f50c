"""The pages of the papers: each lists every table and figure of its paper, with what is here of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.commands import ROOT

TEXTS: Final = ROOT.parent / "shared" / "papers"
"""The papers' texts, where they are at hand."""
PAGES: Final = sorted((ROOT / "docs" / "papers").glob("*.md"))
NAMES: Final = {"dependency-encoding": "code-dependency-encoding"}
"""Of texts that have another name than their page."""
STATES: Final = ("at paper size", "smaller", "missing")
KINDS: Final = {"tab": "Table", "fig": "Figure"}
MENTION: Final = re.compile(
    r"\b(Tab(?:le|\.)?s?|Fig(?:ure|\.)?s?)\s*(\d+)(?:\s*(?:,|and|to|-|–)\s*(\d+)(?![.\d]))?", re.IGNORECASE
)


def listed(page: Path) -> list[tuple[str, str]]:
    """The tables and figures of a page's list, with their states."""
    section = page.read_text("utf-8").partition("\n## Tables and figures\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| ((?:Table|Figure) \d+) \| ([\w ]+) \| .+ \|$", section, re.MULTILINE)


def mentioned(text: str) -> Iterator[str]:
    """The tables and figures that a text speaks of."""
    for match in MENTION.finditer(text):
        yield from (f"{KINDS[match[1][:3].lower()]} {number}" for number in match.groups()[1:] if number)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_table_and_figure_has_a_state(page: Path) -> None:
    rows = listed(page)
    assert {state for _, state in rows} <= set(STATES)
    match = re.search(
        r"^The paper has (\d+) tables and (\d+) figures\.$", page.read_text("utf-8"), re.MULTILINE
    )
    assert match is not None
    wanted = [f"{kind} {number}" for kind, count in (("Table", match[1]), ("Figure", match[2]))
              for number in range(1, int(count) + 1)]  # fmt: skip
    assert [name for name, _ in rows] == wanted


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_lists_what_its_paper_has(page: Path) -> None:
    text = TEXTS / f"{NAMES.get(page.stem, page.stem)}.txt"
    if not text.exists():
        pytest.skip("the papers' texts are not part of the project")
    assert set(mentioned(text.read_text("utf-8"))) == {name for name, _ in listed(page)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_heading_speaks_of_what_is_missing(page: Path) -> None:
    """A heading that names a table or a figure shows something of it."""
    missing = {name for name, state in listed(page) if state == "missing"}
    for heading in re.findall(r"^## .*\((.*)\)$", page.read_text("utf-8"), re.MULTILINE):
        assert not missing & _numbered(heading), heading


def _numbered(heading: str) -> set[str]:
    """`tables 1 and 2, figures 4 to 6` as single tables and figures."""
    names = set()
    for kind, numbers in re.findall(r"(table|figure)s? ([\d, and to]+)", heading):
        spans = re.findall(r"(\d+)(?: to (\d+))?", numbers)
        names |= {f"{kind.title()} {number}" for first, last in spans
                  for number in range(int(first), int(last or first) + 1)}  # fmt: skip
    return names

"""The pages of measurements: an index of one screen, and a page for each topic."""

import re
from pathlib import Path

import pytest

from tests.support.commands import ROOT

FOLDER = ROOT / "benchmarks"
RESULTS = sorted((FOLDER / "results").glob("*.md"))
INDEX = (FOLDER / "README.md").read_text("utf-8")
SCREEN = 40


def test_the_index_fits_one_screen_and_names_every_page_once() -> None:
    assert len(INDEX.splitlines()) <= SCREEN
    assert sorted(re.findall(r"\]\(results/([\w-]+\.md)\)", INDEX)) == [page.name for page in RESULTS]


@pytest.mark.parametrize("page", [FOLDER / "README.md", *RESULTS], ids=lambda page: page.name)
def test_every_program_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    named = {*re.findall(r"\bbenchmarks/(\w+)\.py", text), *re.findall(r"-m benchmarks\.(\w+)", text)}
    assert named or "codeaudit papers run" in text, "each page has a command"
    assert [name for name in sorted(named) if not (FOLDER / f"{name}.py").exists()] == []


def test_no_two_sections_have_one_title() -> None:
    """The site finds a section by its title."""
    titles = [title for page in RESULTS for title in re.findall(r"^## (.*)$", page.read_text("utf-8"), re.M)]
    assert len(titles) == len(set(titles))

"""The records of decisions: a page each, with what was rejected and what holds the decision."""

import re
from pathlib import Path

import pytest

from tests.support.commands import ROOT

FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "index.md"
RECORDS = sorted(path for path in FOLDER.glob("*.md") if path != INDEX)
LONGEST = 45
PARTS = ["Question", "Decision", "Why", "Rejected", "What guards it"]


def test_the_index_lists_every_record_with_its_question() -> None:
    rows = re.findall(r"^\| \[(.+)\]\((.+)\.md\) \| (.+) \|$", INDEX.read_text("utf-8"), re.MULTILINE)
    assert sorted(name for _, name, _ in rows) == [path.stem for path in RECORDS]
    for title, name, question in rows:
        text = (FOLDER / f"{name}.md").read_text("utf-8")
        assert text.startswith(f"# {title}\n\n## Question\n\n{question}\n")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_a_page_and_names_what_guards_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
    guards = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)", text.partition("\n## What guards it\n")[2])
    assert any(guard.startswith("tests/") for guard in guards)
    assert [guard for guard in guards if not (ROOT / guard).is_file()] == []

"""What README claims stands on the pages that it leads to: numbers, checkpoints, and where no difference is shown."""

import re
from typing import Final

import pytest

from tests.support.commands import ROOT

CLAIMS: Final = re.findall(
    r"^- (.*?)(?=^- |\Z)",
    (ROOT / "README.md").read_text("utf-8").partition("\nWhat was measured")[2].partition("\n## ")[0],
    re.MULTILINE | re.DOTALL,
)
LINK: Final = re.compile(r"\[figures\]\(([^)#]+)(?:#([^)]+))?\)")
NUMBER: Final = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")
NOTHING_SHOWN: Final = re.compile(r"no\s+difference\s+(?:is\s+)?shown", re.IGNORECASE)


def cited(claim: str) -> str:
    """The section that a claim leads to, or the whole page."""
    ((file, anchor),) = LINK.findall(claim)
    text: str = (ROOT / file).read_text("utf-8")
    if not anchor:
        return text
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    (section,) = (section for section in sections if _anchor(section.partition("\n")[0]) == anchor)
    return section


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_there_are_claims() -> None:
    assert len(CLAIMS) >= 6


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[:30])
def test_the_numbers_of_a_claim_stand_where_it_leads(claim: str) -> None:
    numbers = set(NUMBER.findall(LINK.sub("", claim)))
    assert numbers
    assert numbers - set(NUMBER.findall(cited(claim))) == set()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[:30])
def test_a_claim_names_its_checkpoints(claim: str) -> None:
    """A percentage of a network is that of one checkpoint, which the page names too."""
    named = set(re.findall(r"`([\w-]+-checkpoint)`", claim))
    networks = re.search(r"\b(?:SPE|SYMC|spe|symc|plain transformer)\b", claim)
    assert (networks is None) == (not named)
    assert named - set(re.findall(r"`([\w-]+-checkpoint)`", cited(claim))) == set()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[:30])
def test_a_claim_says_where_no_difference_is_shown(claim: str) -> None:
    assert (NOTHING_SHOWN.search(claim) is None) == (NOTHING_SHOWN.search(cited(claim)) is None)

"""The pages of the documentation, and the blocks of code in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.commands import ROOT

PAGES: Final = tuple(
    path.relative_to(ROOT)
    for pattern in ("README.md", "docs/**/*.md", "audit/*/README.md", "transforms/columns/README.md")
    for path in sorted(ROOT.glob(pattern))
)
_BLOCK: Final = re.compile(r"^( *)```([\w{}-]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    number: int
    """In the page, from 1."""
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"


def blocks() -> Iterator[Block]:
    """All blocks of all pages."""
    for page in PAGES:
        matches = _BLOCK.finditer((ROOT / page).read_text("utf-8"))
        for number, match in enumerate(matches, 1):
            yield Block(page, number, match[2], match[3])

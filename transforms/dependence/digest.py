"""A hash of the code that finds dependences, which tells whether two analyses can differ."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

SHARED: Final = ("dependence", "syntax", "x86")
"""Folders that decide dependences in every language, or in their own."""
ANALYSIS: Final = "analysis"
"""A language with such a folder decides them there and in the modules beside it."""


@cache
def analysis_digest(transforms: Path = Path(__file__).parents[1]) -> str:
    """A hash of the code in the folder of the transforms that finds dependences.

    With other code, a text may have other dependences: other features of a network, another drawing.
    """
    folders = {transforms / part for part in SHARED}
    for analysis in transforms.glob(f"*/{ANALYSIS}"):
        folders |= {analysis, analysis.parent}
    return digest_of((path for folder in sorted(folders) for path in sorted(folder.glob("*.py"))), transforms)


def digest_of(paths: Iterable[Path], root: Path) -> str:
    """A hash of files: of their names below `root`, and of their content."""
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.relative_to(root).as_posix()}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()

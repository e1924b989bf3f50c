"""Reads rows of data sets of clones in their own columns.

Sources: BigCloneBench (Svajlenko et al., ICSME 2014), as filtered by Wang et al. (SANER 2020), in CodeXGLUE
(Lu et al., 2021); POJ-104 (Mou et al., AAAI 2016).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.java.language import JAVA

Row: TypeAlias = Mapping[str, object]

OTHER: Final = "\0other"
"""A key that no column has: the second unit of a pair. A column `other` may be anything, unless `--columns`
names it."""
COLUMNS: Final = ("func1", "func2", "label")
"""The columns of a pair of functions."""
FUNCTIONS: Final = "data.jsonl"
"""The file of BigCloneBench with the functions, beside the files of pairs."""
_LAYOUT: Final = "a line of a file of pairs is two numbers of functions and a label, with tabs between them"


def functions(row: Row) -> Row:
    """A row with `func1`, `func2` and `label`; Java as in BigCloneBench, unless it has a `language`."""
    return {
        **row,
        "source": row.get("func1"),
        OTHER: row.get("func2"),
        "language": row.get("language") or JAVA.name,
    }


def program(row: Row) -> Row:
    """A row of POJ-104. Its programs are in C or C++; a column `language` comes first."""
    code = row.get("code")
    if row.get("language") or not isinstance(code, str) or not _IS_C.search(code):
        return row
    return {**row, "language": "cpp" if _IS_CPP.search(code) else "c"}


_IS_C: Final = re.compile(r"#\s*include\b|\bmain\s*\(")
_IS_CPP: Final = re.compile(r"\b(?:cin|cout|using\s+namespace)\b|<iostream>|\bclass\s+\w+\s*\{")


def is_file_of_pairs(path: Path) -> bool:
    """Whether a file may be one of the files of pairs of CodeXGLUE's BigCloneBench."""
    return path.suffix.lower() == ".txt" and path.with_name(FUNCTIONS).is_file()


def pairs(path: Path, skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a file of pairs with the functions of the file beside it, as the hub has them.

    Raises:
        CorpusError: the file beside it has no functions, or no line is a pair.
    """
    texts = _functions(path.with_name(FUNCTIONS))
    has_pairs = False
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 3:
                skipped["line that is no pair"] += 1
                continue
            has_pairs = True
            one, other, label = parts
            if one in texts and other in texts:
                yield (
                    number,
                    {"id1": one, "id2": other, "func1": texts[one], "func2": texts[other], "label": label},
                )
            else:
                skipped[f"pair of a function that {FUNCTIONS} lacks"] += 1
    if not has_pairs:
        raise CorpusError(f"{str(path)!r} has no pairs: {_LAYOUT}")


def _functions(path: Path) -> dict[str, str]:
    """The functions by their numbers.

    Raises:
        CorpusError: no line has `idx` and `func`.
    """
    by_index: dict[str, str] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and isinstance(row.get("func"), str) and "idx" in row:
                by_index[str(row["idx"])] = row["func"]
    if not by_index:
        raise CorpusError(f"{str(path)!r} has no functions: its lines must be objects with idx and func")
    return by_index

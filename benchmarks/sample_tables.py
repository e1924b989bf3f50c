"""Tables of samples, as compressed lines of JSON."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table. Equal rows make equal files: there is no name and no time stamp in it."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.writelines((json.dumps(row) + "\n").encode() for row in rows)

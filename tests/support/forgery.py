"""Edits of finished runs, as somebody would make them who wants to pass a gate."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from codeaudit.audit.integrity import FILES, SIGNATURE, bound
from codeaudit.audit.store import (
    ANSWER_COLUMNS,
    ANSWERS,
    MANIFEST,
    SUITE,
    SUITE_COLUMNS,
    SUMMARY,
    VERDICT_COLUMNS,
    VERDICTS,
    RunFolder,
    TableWriter,
    read_about,
    read_rows,
)

Row = dict[str, Any]
COLUMNS = {SUITE: SUITE_COLUMNS, VERDICTS: VERDICT_COLUMNS, ANSWERS: ANSWER_COLUMNS}


def edit_json(path: Path, **fields: object) -> None:
    """Set fields of a file of JSON."""
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **fields}, indent=2) + "\n", "utf-8")


def edit_rows(path: Path, change: Callable[[Iterable[Row]], Iterable[Row]]) -> None:
    """Write a table of a run again, with other rows."""
    rows = list(change([dict(row) for row in read_rows(path)]))
    about = read_about(path)
    with TableWriter(path, COLUMNS[path.name], about) as table:
        table.write(rows)


def rebind(folder: Path) -> None:
    """Compute the hashes anew, which everybody can. The signature stays."""
    run = RunFolder(folder)
    kept = {name: value for name, value in run.manifest().items() if name == SIGNATURE}
    run.write_manifest({**kept, **bound(run, run.manifest(), run.manifest()[FILES], None)})


def age(folder: Path) -> None:
    """Make a run of the first schema, which has no hashes."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    first = {
        name: value for name, value in manifest.items() if name not in ("files", "digest", "explanations")
    }
    (folder / MANIFEST).write_text(json.dumps({**first, "schema": 1}), "utf-8")


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """Change one bit near the middle of a file: the first that a reader of tables would notice."""
    content = path.read_bytes()
    before = _table(path)
    for place in range(len(content) // 2, len(content)):
        changed = bytearray(content)
        changed[place] ^= 4
        path.write_bytes(changed)
        if before is None or _table(path) != before:
            return
    raise AssertionError(f"no bit of {path} matters")


def _table(path: Path) -> list[Row] | None:
    """The rows of a Parquet file; `None` if it cannot be read or is none."""
    try:
        return [dict(row) for row in pq.read_table(path).to_pylist()] if path.suffix == ".parquet" else None
    except (OSError, ValueError):
        return None


NAMES = (SUITE, VERDICTS, SUMMARY)

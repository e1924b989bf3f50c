"""The run folder: `manifest.json`, `suite.parquet`, `verdicts.parquet`, `summary.json`; and its tables.

Every file appears as a whole or not at all, because it is written under another name and then renamed. The
answers of a killed run are in the cache; when it resumes, its tables are written again.

Tables are files of rows in Parquet or in lines of JSON; `codeaudit.audit.rows` turns records into rows and
back. Rows are written and read 1,024 at a time, so that memory does not grow with a table. A file is a suite
only if it has the metadata that the writers add.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeaudit.transforms.errors import RunError

SCHEMA: Final = 2
"""Version of the manifest. The first one does not bind the files of a run together."""
READABLE: Final = (1, SCHEMA)
TABLE_SCHEMA: Final = 1
"""Version of the tables."""
MANIFEST: Final = "manifest.json"
SUITE: Final = "suite.parquet"
VERDICTS: Final = "verdicts.parquet"
SUMMARY: Final = "summary.json"
ATTACKS: Final = "attacks.parquet"
EXPLANATIONS: Final = "explanations.jsonl"
BOUND: Final = frozenset({SUITE, VERDICTS, SUMMARY})
"""Files of every finished run, which the manifest binds by their hashes."""
PREVIOUS: Final = "previous"
"""A folder inside the run folder, with the finished run that was there before."""

Manifest = Mapping[str, Any]
"""The content of `manifest.json`; `codeaudit.auditing` writes the fields."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run on disk."""

    path: Path

    def reserve(self) -> bool:
        """Make the folder and check that it can be written. Returns whether it is new.

        Raises:
            RunError: it cannot be written, or it holds a manifest of another program.
        """
        new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # Permissions do not tell everything: a disk may be read-only or full. So a file is made.
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise RunError(
                f"cannot write to {str(self.path)!r}: {error.strerror or error}; give another --out"
            ) from error
        if not new and (self.path / MANIFEST).exists():
            self.manifest()
        return new

    def manifest(self) -> Manifest:
        """The content of the manifest.

        Raises:
            RunError: there is none, or codeaudit did not write it.
        """
        return read_manifest(self.path / MANIFEST)

    def put_aside(self) -> Path:
        """Move a finished run into the folder `previous`, replacing an earlier one. Returns that folder.

        Raises:
            RunError: it cannot be moved.
        """
        place = self.path / PREVIOUS
        try:
            place.mkdir(exist_ok=True)
            # The manifest is moved last: whoever finds one finds the files that it names.
            for name in (SUMMARY, SUITE, VERDICTS, ATTACKS, EXPLANATIONS, MANIFEST):
                (place / name).unlink(missing_ok=True)
                if (self.path / name).exists():
                    (self.path / name).replace(place / name)
        except OSError as error:
            raise RunError(f"cannot write to {str(place)!r}: {error.strerror or error}") from error
        return place

    def write_manifest(self, manifest: Manifest) -> None:
        """Write or replace the manifest."""
        self.write_text(MANIFEST, json.dumps(manifest, indent=2, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write or replace a file.

        Raises:
            RunError: the disk is full, or the folder cannot be written.
        """
        with self.replacing(name) as place:
            place.write_text(text, encoding="utf-8")

    @contextmanager
    def replacing(self, name: str) -> Iterator[Path]:
        """A path to write to; at the end of the context it becomes the file, at once.

        Raises:
            RunError: the disk is full, or the folder cannot be written.
        """
        place = self.path / f".{name}.partial"
        try:
            yield place
            # Without it some file systems rename before they write, and a power cut leaves an empty file.
            with place.open("rb") as file:
                os.fsync(file.fileno())
            place.replace(self.path / name)
        except OSError as error:
            raise RunError(f"cannot write {str(self.path / name)!r}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                place.unlink(missing_ok=True)


def read_manifest(path: Path) -> Manifest:
    """The content of a manifest.

    Raises:
        RunError: there is none, codeaudit did not write it, or it has another schema.
    """
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        place, what = (path.parent, f"{MANIFEST} ") if path.name == MANIFEST else (path, "")
        raise RunError(f"no run at {str(place)!r}: {what}{error.strerror or 'cannot be read'}") from error
    except ValueError as error:
        raise RunError(f"{str(path)!r} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or "codeaudit" not in manifest:
        raise RunError(f"{str(path)!r} is not the manifest of a codeaudit run; choose another folder")
    if manifest.get("schema") not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise RunError(f"{str(path)!r} has schema {manifest.get('schema')!r}; this version reads {known}")
    return manifest


TableRow = Mapping[str, Any]

SUITE_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "sample": "string",
    "language": "string",
    "path": "string",
    "line": "int64",
    "source": "string",
    "label": "string",  # JSON, because labels are texts, numbers or lists
    "transform": "string",
    "kind": "string",
    "variant": "int64",
    "status": "string",
    "input": "string",  # hash of the perturbed text, for answers that are made elsewhere
    "perturbed": "string",
    "reason": "string",
    "evidence": "string",
    "moves": "string",  # JSON
    "label_after": "string",  # JSON; the label of the perturbed text
    "asked": "string",  # the beginning of `source` that the model sees; null if it sees all
    "asked_after": "string",  # as `asked`, of the perturbed text
}

VERDICT_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "model": "string",
    "sample": "string",
    "transform": "string",
    "kind": "string",
    "variant": "int64",
    "input": "string",
    "outcome": "string",
    "reason": "string",
    "before": "string",  # JSON
    "after": "string",
    "before_scores": "string",
    "after_scores": "string",
    "before_margin": "float64",
    "after_margin": "float64",
    "deviation": "float64",
    "score_before": "float64",
    "score_after": "float64",
}

ATTACK_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "model": "string",
    "sample": "string",
    "strategy": "string",
    "budget": "int64",
    "queries": "int64",
    "outcome": "string",  # violated, held, certified or not_attacked
    "reason": "string",
    "transform": "string",
    "perturbed": "string",
    "moves": "string",  # JSON
    "before": "string",
    "after": "string",
}

LINES: Final = ".jsonl"
"""The ending of a suite in lines of JSON; every other ending means Parquet."""
ABOUT: Final = frozenset({"schema", "task", "corpus"})
"""Fields of a suite's metadata; in lines of JSON every line has them."""

_ROWS: Final = 1024


class TableWriter(AbstractContextManager["TableWriter"]):
    """Appends rows to a Parquet file, a thousand at a time."""

    def __init__(self, path: Path, columns: Mapping[str, str], about: Mapping[str, object]) -> None:
        """Open the file; `about` becomes its metadata."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        fields = [(name, getattr(pa, kind)()) for name, kind in columns.items()]
        self._schema = pa.schema(fields, metadata={"codeaudit": json.dumps(about)})
        self._writer = ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[TableRow] = []

    def __exit__(self, *error: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows. Columns that a row lacks become null."""
        self._rows.extend(rows)
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class LinesWriter(AbstractContextManager["LinesWriter"]):
    """Writes rows as lines of JSON, each with the metadata of the table."""

    def __init__(self, path: Path, columns: Mapping[str, str], about: Mapping[str, object]) -> None:
        """Open the file, as `TableWriter` does."""
        self._columns = tuple(columns)
        self._about = about
        self._file = path.open("w", encoding="utf-8")

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows. Columns that a row lacks become null."""
        for row in rows:
            whole = {**self._about, **{name: row.get(name) for name in self._columns}}
            self._file.write(json.dumps(whole, ensure_ascii=True, allow_nan=False) + "\n")


def read_rows(
    path: Path, *, seed: int | None = None, columns: Sequence[str] | None = None
) -> Iterator[TableRow]:
    """The rows of a table, or those of one trial; of a Parquet file with the named columns only.

    Raises:
        RunError: there is no such table, or it is damaged.
    """
    from pyarrow import ArrowException, compute
    from pyarrow.parquet import ParquetFile

    if path.suffix == LINES:
        yield from (row for row in read_lines(path) if seed is None or row.get("seed") == seed)
        return
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
                # Filtered by Arrow, so that no Python object is made for the rows of other trials.
                if seed is not None:
                    batch = batch.filter(compute.equal(batch["seed"], seed))
                yield from batch.to_pylist()
    except FileNotFoundError as error:
        raise RunError(f"no table {str(path)!r}") from error
    except (ArrowException, OSError) as error:
        raise RunError(f"cannot read table {str(path)!r}: {error}") from error


def read_lines(path: Path) -> Iterator[TableRow]:
    """The rows of a file of JSON lines.

    Raises:
        RunError: there is no such file, or a line is no object.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise RunError(f"cannot read suite {str(path)!r}: line {number} is not an object")
                yield row
    except FileNotFoundError as error:
        raise RunError(f"no suite {str(path)!r}") from error
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read suite {str(path)!r}: {error}") from error


def read_about(path: Path) -> Mapping[str, Any]:
    """The metadata of a table.

    Raises:
        RunError: there is no such table, it is damaged, or codeaudit did not write it.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import read_schema

    if path.suffix == LINES:
        first = next(read_lines(path), {})
        if not ABOUT.issubset(first):
            raise RunError(
                f"{str(path)!r} was not written by codeaudit: its rows lack {', '.join(sorted(ABOUT))}"
            )
        return {name: first[name] for name in ABOUT}
    try:
        metadata = read_schema(path).metadata or {}
    except FileNotFoundError as error:
        raise RunError(f"no suite {str(path)!r}") from error
    except (ArrowException, OSError) as error:
        raise RunError(f"cannot read suite {str(path)!r}: {error}") from error
    if b"codeaudit" not in metadata:
        raise RunError(f"{str(path)!r} was not written by codeaudit: it has no codeaudit metadata")
    about: Mapping[str, Any] = json.loads(metadata[b"codeaudit"])
    return about


def suite_contents(path: Path) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The seeds of a suite's trials and the names of its transforms, in order of appearance.

    Raises:
        RunError: there is no such table, or it is damaged or lacks columns.
    """
    try:
        pairs = list(dict.fromkeys((row["seed"], row["transform"]) for row in read_rows(path)))
    except KeyError as error:
        raise RunError(f"suite {str(path)!r} lacks the column {error}") from error
    return tuple(dict.fromkeys(seed for seed, _ in pairs)), tuple(dict.fromkeys(name for _, name in pairs))

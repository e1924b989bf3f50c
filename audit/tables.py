"""The tables of a run: their columns, and files of rows in Parquet or in lines of JSON.

`codeaudit.audit.rows` turns records into rows and back. Rows are written and read 1,024 at a time, so that
memory does not grow with a table. A file is a suite only if it has the metadata that the writers add.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from codeaudit.transforms.errors import RunError

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


class TableWriter:
    """Appends rows to a Parquet file, a thousand at a time."""

    def __init__(self, path: Path, columns: Mapping[str, str], about: Mapping[str, object]) -> None:
        """Open the file; `about` becomes its metadata."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        fields = [(name, getattr(pa, kind)()) for name, kind in columns.items()]
        self._schema = pa.schema(fields, metadata={"codeaudit": json.dumps(about)})
        self._writer = ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[TableRow] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


class LinesWriter:
    """Writes rows as lines of JSON, each with the metadata of the table."""

    def __init__(self, path: Path, columns: Mapping[str, str], about: Mapping[str, object]) -> None:
        """Open the file, as `TableWriter` does."""
        self._columns = tuple(columns)
        self._about = about
        self._file = path.open("w", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows. Columns that a row lacks become null."""
        for row in rows:
            whole = {**self._about, **{name: row.get(name) for name in self._columns}}
            self._file.write(json.dumps(whole, ensure_ascii=True, allow_nan=False) + "\n")


def read_rows(path: Path, *, seed: int | None = None) -> Iterator[TableRow]:
    """The rows of a table, or those of one trial.

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
            for batch in file.iter_batches(batch_size=_ROWS):
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

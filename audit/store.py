"""The run folder: `manifest.json`, `suite.parquet`, `verdicts.parquet`, `summary.json`; and its tables.

Every file appears as a whole or not at all, because it is written under another name and then renamed. The
answers of a killed run are in the cache; when it resumes, its tables are written again.

Tables are files of rows in Parquet or in lines of JSON; `codeaudit.audit.rows` turns records into rows and
back. Rows are written and read 1,024 at a time, so that memory does not grow with a table. A file is a suite
only if it has the metadata that the writers add.
"""

import gzip
import json
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, get_args

from codeaudit.audit.bound_files import Table
from codeaudit.audit.checks import (
    DAMAGED,
    KINDS,
    is_number,
    is_text,
    is_whole,
    load_json,
    shown,
    what_is_damaged,
)
from codeaudit.audit.records import answer_from_json
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Evidence, Kind, Sides

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    from codeaudit.audit.interface import Task

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
REPEATS: Final = "repeats"
"""The field of a manifest with how often each model was asked again, and why."""
ANALYSIS: Final = "analysis"
"""The field of a manifest with the hash of the code that finds dependences."""
ANSWERS: Final = "answers.parquet"
"""What models of texts wrote; nothing needs it."""
EXPLANATIONS: Final = "explanations.jsonl"
SHARD: Final = "shard.parquet"
"""Only in the folder of a shard: where its cases stand in the whole run."""
LEDGER: Final = "ledger.jsonl"
"""Only while a run is not finished: what its requests may have cost."""
RUN_FILES: Final = (SUMMARY, SUITE, VERDICTS, ATTACKS, ANSWERS, EXPLANATIONS, SHARD, LEDGER, MANIFEST)
"""Everything in a run folder; the manifest is moved last: whoever finds one finds the files that it names."""
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

    def reserve(self, name: str = "", *, option: str = "--out") -> bool:
        """Make the folder and check that it can be written. Returns whether it is new.

        Args:
            name: the file that will be written, for the message; the folder itself if empty.
            option: what the message asks the user to change.

        Raises:
            RunError: it cannot be written, or it holds a manifest of another program.
        """
        new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # Permissions do not show everything: a disk may be read-only or full. So a file is made.
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            place = str(self.path / name)
            raise RunError(
                f"cannot write to {place!r}: {error.strerror or error}; give another {option}"
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
        return put_aside(self.path, RUN_FILES)

    @property
    def has_previous(self) -> bool:
        """Whether an older run was put aside here."""
        return (self.path / PREVIOUS / MANIFEST).is_file()

    def put_back(self) -> None:
        """Undo `put_aside`: the finished run is in its folder again.

        Raises:
            RunError: it cannot be moved.
        """
        place = self.path / PREVIOUS
        try:
            for name in RUN_FILES:
                if (place / name).exists():
                    (place / name).replace(self.path / name)
            with suppress(OSError):  # somebody keeps other files there
                place.rmdir()
        except OSError as error:
            raise RunError(f"cannot write to {str(place)!r}: {error.strerror or error}") from error

    def forget(self) -> None:
        """Remove the manifest of an unfinished run.

        Raises:
            RunError: it cannot be removed.
        """
        self.drop(MANIFEST)

    def drop(self, name: str) -> None:
        """Remove a file of the run, if it is there.

        Raises:
            RunError: it cannot be removed.
        """
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"cannot write to {str(self.path)!r}: {error.strerror or error}") from error

    def write_manifest(self, manifest: Manifest) -> None:
        """Write or replace the manifest."""
        self.write_text(MANIFEST, json.dumps(manifest, indent=2, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write or replace a file.

        Raises:
            RunError: the disk is full, or the folder cannot be written.
        """
        with self.replacing(name) as place:
            # A lone surrogate, as in the name of a file that is not Unicode, becomes an escape of JSON.
            place.write_text(text, encoding="utf-8", errors="backslashreplace")

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


def put_aside(folder: Path, names: Iterable[str]) -> Path:
    """Move the files of these names, in their order, into the folder `previous` inside. Returns that folder.

    Files that an earlier call moved there are replaced or removed.

    Raises:
        RunError: a file cannot be moved.
    """
    place = folder / PREVIOUS
    try:
        place.mkdir(exist_ok=True)
        for name in names:
            (place / name).unlink(missing_ok=True)
            if (folder / name).exists():
                (folder / name).replace(place / name)
    except OSError as error:
        raise RunError(f"cannot write to {str(place)!r}: {error.strerror or error}") from error
    return place


def read_manifest(path: Path) -> Manifest:
    """The content of a manifest.

    Raises:
        RunError: there is none, codeaudit did not write it, or it has another schema.
    """
    try:
        manifest = load_json(path.read_bytes())
    except OSError as error:
        place, what = (path.parent, f"{MANIFEST}: ") if path.name == MANIFEST else (path, "")
        why = f"{what}{error.strerror or 'cannot be read'}"
        if isinstance(error, FileNotFoundError) and what:
            why = f"it has no {MANIFEST}" if place.is_dir() else "no such folder"
        elif isinstance(error, NotADirectoryError) and what:
            why = "it is a file; a run is a folder"
        raise RunError(f"no run at {str(place)!r}: {why}") from error
    except ValueError as error:
        raise RunError(f"{str(path)!r} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or "codeaudit" not in manifest:
        raise RunError(f"{str(path)!r} is not the manifest of a codeaudit run; choose another folder")
    if manifest.get("schema") not in READABLE:
        schemas = " and ".join(map(str, READABLE))
        raise RunError(f"{str(path)!r} has schema {manifest.get('schema')!r}; this version reads {schemas}")
    for field, (what, fits) in _FIELDS.items():
        if field in manifest and not fits(manifest[field]):
            raise RunError(f"{str(path)!r} is damaged: {field!r} is {shown(manifest[field])}, not {what}")
    return manifest


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _objects(value: object) -> TypeGuard[list[dict[str, object]]]:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _models(value: object) -> bool:
    return _objects(value) and all(
        is_text(model.get(name)) for model in value for name in ("name", "fingerprint")
    )


def _uses(value: object) -> bool:
    return _objects(value) and all(
        is_text(use.get("model"))
        and all(number is None or is_number(number) for name, number in use.items() if name in USED)
        for use in value
    )


def _spent(value: object) -> bool:
    names = ("requests", "tokens", "cost", "ledger")
    return isinstance(value, dict) and all(is_number(value.get(name)) for name in names)


def _repeats(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(repeat, dict) and is_whole(repeat.get("per_sample")) and is_text(repeat.get("why"))
        for repeat in value.values()
    )


def _object(value: object) -> bool:
    return isinstance(value, dict)


USED: Final = frozenset({"requests", "tokens_in", "tokens_out", "cost"})
"""The numbers that a manifest's usage of a model may have."""
_FIELDS: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "codeaudit": ("a text", is_text),
    "state": ("a text", is_text),
    "started": ("a text", is_text),
    "command": ("a list of texts", _texts),
    "versions": ("an object", _object),
    "machine": ("an object", _object),
    "corpus": ("an object", _object),
    "options": ("an object", _object),
    "shard": ("an object", _object),
    "task": ("a text", is_text),
    "seed": ("a whole number", is_whole),
    "trials": ("a whole number", is_whole),
    "transforms": ("a list of texts", _texts),
    "models": ("a list of objects with name and fingerprint", _models),
    "usage": ("a list of objects with a model and numbers", _uses),
    "spent": ("an object with requests, tokens, cost and ledger", _spent),
    "variants": ("a whole number", is_whole),
    "asked_again": ("a whole number", is_whole),
    "repeats": ("an object with an object for each model", _repeats),
}
"""Fields of a manifest that are read later: in words, and the check."""


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
    "rests_on": "string",  # ids of the language's ledger, with commas; null for controls and older suites
    "moves": "string",  # JSON
    "label_after": "string",  # JSON; the label of the perturbed text
    "asked": "string",  # the beginning of `source` that the model sees; null if it sees all
    "asked_after": "string",  # as `asked`, of the perturbed text
    "other_side": "string",  # the other side of the fix of `source`; null if it is not known
    "draw": "string",  # `movable` for a sample drawn in addition; null in the plain draw
}

BESIDE_COLUMNS: Final[Mapping[str, str]] = {
    "other": "string",  # the second unit of a pair, beside `source`
    "other_after": "string",  # the same, if it was rewritten, too
    # `second`: the model sees `other` first; `both`, `all`: edits rewrite more than the source; else null
    "sides": "string",
    "candidates": "string",  # JSON; units to choose from, `source` among them
    "candidates_after": "string",  # JSON; the others of them, if they were rewritten, too
    "text": "string",  # a query in words
}
"""Columns that only a suite has whose task shows more than a source (`Task.beside`)."""


def suite_columns(task: "Task") -> Mapping[str, str]:
    """The columns of a suite of this task."""
    return {**SUITE_COLUMNS, **BESIDE_COLUMNS} if task.beside else SUITE_COLUMNS


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
    "shift": "float64",  # null where the model gives no probabilities, and in older runs
    "score_before": "float64",
    "score_after": "float64",
    "draw": "string",  # as in the suite
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

ANSWER_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "model": "string",
    "sample": "string",
    "input": "string",  # as in the verdicts; of the original, the hash of the unchanged text
    "asked": "string",  # `first`; `again`, `again 2`, … of repeats; or the name of a transform of the network
    "attempt": "int64",  # from 0; several if answers are sampled
    "reply": "string",  # null if the model wrote none, or if nobody kept it
    "read": "string",  # the form in which the reply states the answer, or the reason why it states none
}

EXPLANATION_COLUMNS: Final[Mapping[str, str]] = {
    "model": "string",
    "seed": "int64",
    "sample": "string",
    "path": "string",
    "line": "int64",
    "transform": "string",
    "variant": "int64",
    "moves_before": "int64",
    "smallest": "bool",
    "queries": "int64",
    "source": "string",
    "perturbed": "string",
}
"""The simple columns of `explanations.jsonl`; `moves`, `before` and `after` are JSON values."""

SHARD_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "sample": "string",
    "place": "int64",  # puts the cases of all shards of a trial in order
    "content": "string",  # a hash that copies of the sample share; empty if copies are left out already
    "rows": "int64",  # number of its rows in the suite
    "verdicts": "int64",  # number of verdicts of each model on it
}

BASELINE: Final = "baseline"
"""The table in a baseline file, which the user names."""
BASELINE_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "model": "string",
    "sample": "string",
    "original": "string",  # hash of the sample's unchanged text
    "transform": "string",
    "kind": "string",
    "variant": "int64",
    "input": "string",
    "outcome": "string",
    "score": "float64",  # of the original; null without a label or if drawn in addition
}

_NAMED: Final = frozenset({"seed", "sample", "transform", "kind", "variant"})
FILLED: Final[Mapping[str, frozenset[str]]] = {
    SUITE: _NAMED | {"language", "path", "line", "source", "status"},
    VERDICTS: _NAMED | {"model", "input", "outcome", "before", "after"},
    ATTACKS: frozenset({"seed", "model", "sample", "strategy", "budget", "queries", "outcome"}),
    ANSWERS: frozenset(ANSWER_COLUMNS) - {"reply", "read"},
    EXPLANATIONS: frozenset(EXPLANATION_COLUMNS),
    SHARD: frozenset(SHARD_COLUMNS),
    BASELINE: frozenset(BASELINE_COLUMNS) - {"score"},
}
"""The columns that every row of a table fills. Earlier versions did not write some of the others."""
NEEDED: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("status", "perturbed"): ("perturbed", "moves", "evidence"),
    ("status", "not_applied"): ("reason",),
    ("outcome", "unjudged"): ("reason",),
    ("outcome", "held"): ("deviation",),
    ("outcome", "violated"): ("deviation",),
}
"""The columns that a row fills if another one has this value."""
SEARCHED: Final = frozenset({"held", "violated", "certified", "not_attacked"})
"""The outcomes of an attack."""
MOVABLE: Final = "movable"
"""In the column `draw`: the sample was drawn in addition, for transforms that changed too few samples."""
WORDS: Final[Mapping[str, frozenset[str]]] = {
    "kind": frozenset(get_args(Kind)),
    "evidence": frozenset(get_args(Evidence)),
    "status": frozenset({"perturbed", "not_applied"}),
    "outcome": frozenset({"held", "violated", "unjudged"}),
    "draw": frozenset({MOVABLE}),
    "sides": frozenset(get_args(Sides)),
}
"""The values that a column of words may have."""

LINES: Final = ".jsonl"
ZIPPED: Final = ".jsonl.gz"
PARQUET: Final = ".parquet"
SUITE_ENDINGS: Final = (PARQUET, LINES, ZIPPED)
"""Endings of suites."""


def has_lines(path: Table) -> bool:
    """Whether a table has a line of JSON for each row, gzipped or not."""
    return path.name.endswith((LINES, ZIPPED))


"""The ending of a suite in lines of JSON; every other ending means Parquet."""
TOLD: Final = "told_errors"
"""A field of the metadata of a suite in Parquet: sentences on the labels of its data sets."""
ABOUT: Final = frozenset({"schema", "task", "corpus"})
"""Fields of a suite's metadata; in lines of JSON every line has them."""

_ROWS: Final = 1024
_COLUMNS: Final = {
    SUITE: {**SUITE_COLUMNS, **BESIDE_COLUMNS},
    VERDICTS: VERDICT_COLUMNS,
    ATTACKS: ATTACK_COLUMNS,
    ANSWERS: ANSWER_COLUMNS,
    EXPLANATIONS: EXPLANATION_COLUMNS,
    SHARD: SHARD_COLUMNS,
    BASELINE: BASELINE_COLUMNS,
}


def is_extra(row: TableRow) -> bool:
    """Whether the sample of a row was drawn in addition. Tables of earlier versions lack the column."""
    return row.get("draw") == MOVABLE


class TableWriter(AbstractContextManager["TableWriter"]):
    """Appends rows to a Parquet file, a thousand at a time."""

    def __init__(
        self,
        path: Path,
        columns: Mapping[str, str],
        about: Mapping[str, object],
        *,
        distinct: Collection[str] = (),
    ) -> None:
        """Open the file; `about` becomes its metadata. Columns of texts that hardly repeat are `distinct`."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        fields = [(name, getattr(pa, kind)()) for name, kind in columns.items()]
        self._schema = pa.schema(fields, metadata={"codeaudit": json.dumps(about)})
        self._writer = ParquetWriter(
            path,
            self._schema,
            compression="zstd",
            # A dictionary would hold each text with its length, which compresses worse than texts in a row.
            use_dictionary=[name for name in columns if name not in distinct],
            column_encoding=dict.fromkeys(distinct, "DELTA_LENGTH_BYTE_ARRAY") or None,
        )
        self._rows: list[TableRow] = []

    def __exit__(self, *error: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows. Columns that a row lacks become null."""
        self._rows.extend(rows)
        if len(self._rows) >= _ROWS:
            self._flush()

    def write_table(self, table: "pa.Table") -> None:
        """Append rows that are in memory as Arrow has them.

        Raises:
            ArrowException: they have other columns.
        """
        self._flush()
        self._writer.write_table(table.cast(self._schema))

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class ReplyTable:
    """Receives the rows of `answers.parquet`."""

    def __init__(self, table: TableWriter | None) -> None:
        """Without a table the rows are dropped."""
        self._table = table
        self.has_replies = False

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows."""
        if self._table is not None:
            several = list(rows)
            self.has_replies = self.has_replies or any(row["reply"] is not None for row in several)
            self._table.write(several)


@contextmanager
def reply_table(folder: RunFolder, about: Mapping[str, object], *, keep: bool) -> Iterator[ReplyTable]:
    """The table `answers.parquet` of a run.

    One without any reply is not kept, unless `keep`: other shards may have replies.

    Raises:
        RunError: as `RunFolder.replacing`.
    """
    with (
        folder.replacing(ANSWERS) as place,
        TableWriter(place, ANSWER_COLUMNS, about, distinct=("reply",)) as table,
    ):
        replies = ReplyTable(table)
        yield replies
    if not (keep or replies.has_replies):
        folder.drop(ANSWERS)


class LinesWriter(AbstractContextManager["LinesWriter"]):
    """Writes rows as lines of JSON, each with the metadata of the table."""

    def __init__(
        self, path: Path, columns: Mapping[str, str], about: Mapping[str, object], *, zipped: bool = False
    ) -> None:
        """Open the file, as `TableWriter` does."""
        self._columns = tuple(columns)
        self._about = about
        self._stack = ExitStack()
        file = self._stack.enter_context(path.open("wb"))
        # Without a time and a name in it, so that equal suites are equal files.
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if zipped else file
        self._file = self._stack.enter_context(packed)

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def write(self, rows: Iterable[TableRow]) -> None:
        """Append rows. Columns that a row lacks become null."""
        for row in rows:
            entry = {**self._about, **{name: row.get(name) for name in self._columns}}
            self._file.write(json.dumps(entry, ensure_ascii=True, allow_nan=False).encode() + b"\n")


@contextmanager
def open_parquet(path: Table) -> Iterator["ParquetFile"]:
    """Open a Parquet file. Everything that its content makes the library raise inside becomes a RunError.

    Raises:
        RunError: there is no such file, or it is damaged; the message names it.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ExitStack() as stack:
            source = path if isinstance(path, Path) else stack.enter_context(path.open())
            file = stack.enter_context(ParquetFile(source))
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise RunError(f"table {str(path)!r} is damaged: it has two columns of one name")
            yield file
    except FileNotFoundError as error:
        raise RunError(f"no table {str(path)!r}") from error
    except (ArrowException, OSError, *DAMAGED) as error:
        raise RunError(f"cannot read table {str(path)!r}: {what_is_damaged(error)}") from error


def columns_of(path: Table) -> Mapping[str, str]:
    """The columns that a Parquet table of this name must have. A suite with one of `BESIDE_COLUMNS` must have
    all of them.

    Raises:
        RunError: there is no such table, or it is damaged.
    """
    with open_parquet(path) as file:
        return _columns_of(path.name, file.schema_arrow.names)


def _columns_of(table: str, names: Collection[str]) -> Mapping[str, str]:
    plain = table == SUITE and not set(names) & set(BESIDE_COLUMNS)
    return SUITE_COLUMNS if plain else _COLUMNS[table]


def schema_of(columns: Mapping[str, str]) -> "pa.Schema":
    """The columns of a table as Arrow describes them."""
    import pyarrow as pa

    return pa.schema([(column, getattr(pa, kind)()) for column, kind in columns.items()])


def read_batches(path: Table, size: int) -> Generator["pa.RecordBatch", None, None]:
    """The rows of the Parquet table of this name as Arrow has them, with exactly its columns.

    Raises:
        RunError: there is no such table, or it is damaged, as in `read_rows`; or it has other columns.
    """
    name, first = path.name, 1
    with open_parquet(path) as file:
        schema = file.schema_arrow
        expected = schema_of(_columns_of(name, schema.names))
        if not schema.equals(expected):
            wrong = [
                column.name
                for column in (*schema, *expected)
                if column not in list(schema) or column not in list(expected)
            ]
            what = f"the columns {', '.join(dict.fromkeys(wrong))}" if wrong else "the order of the columns"
            raise RunError(f"table {str(path)!r} is damaged: {what} are not as codeaudit writes them")
        for batch in file.iter_batches(batch_size=size):
            if not _is_right(name, batch, None):
                for number, row in enumerate(_rows(batch), start=first):
                    _check_row(path, name, number, row, None)
            first += batch.num_rows
            yield batch


def read_rows(
    path: Table,
    *,
    seed: int | None = None,
    kind: str | None = None,
    model: str | None = None,
    draw: str | None = None,
    columns: Sequence[str] | None = None,
    table: str | None = None,
) -> Iterator[TableRow]:
    """The rows of a table, of all or of one trial, kind, model or draw. A Parquet file is read with the named
    columns only.

    `table` says which columns it has, by default its own name; a file of any other name is a suite.

    Raises:
        RunError: there is no such table, it is damaged, or a row lacks a value or has one of another type.
    """
    filters = {"seed": seed, "kind": kind, "model": model, "draw": draw}
    only = {name: value for name, value in filters.items() if value is not None}
    name = table or (path.name if path.name in FILLED else SUITE)
    numbered = _lines(path) if has_lines(path) else _batches(path, name, only, columns)
    for number, row in numbered:
        # Rows that were checked together have no number.
        if number:
            _check_row(path, name, number, row, columns)
        if not only or all(row[column] == value for column, value in only.items()):
            yield row


def _check_row(path: Table, name: str, number: int, row: TableRow, columns: Sequence[str] | None) -> None:
    """Check the cells of a row, or those of the named columns.

    Raises:
        RunError: a cell is empty that must not be, or holds a value of another type.
    """
    wrong = None
    read = _COLUMNS[name].keys() if columns is None else frozenset(columns)
    for column, kind in _COLUMNS[name].items():
        value = row.get(column)
        if column not in read:
            continue
        if value is None:
            if column in FILLED[name]:
                wrong = f"no {column!r}"
                break
        elif not KINDS[kind][1](value):
            wrong = f"{shown(value)} in {column!r}, which must be {KINDS[kind][0]}"
            break
        elif column in WORDS:
            words = SEARCHED if (name, column) == (ATTACKS, "outcome") else WORDS[column]
            if value not in words:
                wrong = f"{shown(value)} in {column!r}; known: {', '.join(sorted(words))}"
                break
            needed = NEEDED.get((column, value), ())
            if missing := [key for key in needed if key in read and row.get(key) is None]:
                wrong = f"{column} {value!r}, but no {missing[0]!r}"
                break
    if wrong is None and name == EXPLANATIONS:
        wrong = _wrong_explanation(row)
    if wrong is not None:
        raise RunError(f"table {str(path)!r} is damaged: row {number} has {wrong}")


def _is_right(name: str, batch: "pa.RecordBatch", columns: Sequence[str] | None) -> bool:
    """Whether all rows of a batch are as `_check_row` wants them; for some right rows, too, it is false."""
    from pyarrow import compute, types

    kinds = {"string": types.is_string, "int64": types.is_int64, "float64": types.is_float64}
    read = {column: batch[column] for column in batch.schema.names}
    for column, kind in _COLUMNS[name].items():
        if column not in read:
            if column in FILLED[name] and (columns is None or column in columns):
                return False
            continue
        values = read[column]
        if not kinds[kind](values.type) or (values.null_count and column in FILLED[name]):
            return False
        if kind == "float64" and compute.all(compute.is_finite(values)).as_py() is False:
            return False
        if column not in WORDS:
            continue
        for word in compute.unique(values).to_pylist():
            if word is None:
                continue
            needed = [read[key] for key in NEEDED.get((column, word), ()) if key in read]
            if word not in WORDS[column] or (name, column) == (ATTACKS, "outcome"):
                return False
            if any(cells.null_count for cells in needed):
                these = compute.fill_null(compute.equal(values, word), False)
                if any(cells.filter(these).null_count for cells in needed):
                    return False
    return True


def _wrong_explanation(row: TableRow) -> str | None:
    """What is wrong with the JSON values of an explanation."""
    moves = row.get("moves")
    if not _objects(moves) or not all(is_text(move.get("note")) for move in moves):
        return f"{shown(moves)} in 'moves', which must be a list of moves"
    for side in ("before", "after"):
        try:
            answer_from_json(row.get(side))
        except RunError:
            return f"{shown(row.get(side))} in {side!r}, which must be an answer"
    return None


def _batches(
    path: Table, name: str, only: Mapping[str, object], columns: Sequence[str] | None
) -> Iterator[tuple[int, TableRow]]:
    """The numbered rows of a Parquet file. Some rows with other values than `only` are left out.

    Rows that are known to be right have the number 0. `name` is the table's.

    Raises:
        RunError: as `read_rows`.
    """
    from pyarrow import compute, types

    first = 1
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
            checked = _is_right(name, batch, columns)
            # Filtered by Arrow, so that no Python object is made for the rows of other trials.
            chosen = None
            for column, value in only.items():
                fits = types.is_integer if isinstance(value, int) else types.is_string
                if column in names and fits(batch[column].type):
                    # A row without a seed or a kind is damaged; it must be seen. The plain draw has
                    # no name.
                    right = compute.fill_null(compute.equal(batch[column], value), column != "draw")
                    chosen = right if chosen is None else compute.and_(chosen, right)
            if chosen is not None:
                numbers = compute.indices_nonzero(chosen).to_pylist()
                yield from (
                    (0 if checked else first + n, row)
                    for n, row in zip(numbers, _rows(batch.filter(chosen)), strict=True)
                )
            elif checked:
                yield from ((0, row) for row in _rows(batch))
            else:
                yield from enumerate(_rows(batch), start=first)
            first += batch.num_rows


def _rows(batch: "pa.RecordBatch") -> Iterator[TableRow]:
    """The rows of a batch; `to_pylist` takes twice the time."""
    names = batch.schema.names
    columns = [column.to_pylist() for column in batch.columns]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def counted_groups(batch: "pa.RecordBatch", columns: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Each combination of values of these columns, and how many rows of the batch have it."""
    import pyarrow as pa

    groups = pa.Table.from_batches([batch]).group_by(list(columns)).aggregate([([], "count_all")])
    for row in groups.to_pylist():
        number = row.pop("count_all")
        yield row, number


def count_rows(path: Table, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """How often each combination of values of these columns occurs in a Parquet table whose rows are right.

    Raises:
        RunError: there is no such table, or it is damaged.
    """
    counts = Counter[tuple[Any, ...]]()
    with open_parquet(path) as file:
        for batch in file.iter_batches(batch_size=1 << 16, columns=list(columns)):
            for row, number in counted_groups(batch, columns):
                counts[tuple(row[name] for name in columns)] += number
    return counts


def _lines(path: Table) -> Iterator[tuple[int, TableRow]]:
    """The numbered rows of a file of JSON lines.

    Raises:
        RunError: there is no such file, or a line is no object.
    """
    number = 0
    try:
        with path.open("rb") as file:
            unpacked = gzip.GzipFile(fileobj=file) if path.name.endswith(ZIPPED) else file
            for number, line in enumerate(unpacked, start=1):
                row = load_json(line)
                if not isinstance(row, dict):
                    raise RunError(f"cannot read table {str(path)!r}: line {number} is not an object")
                yield number, row
    except FileNotFoundError as error:
        raise RunError(f"no suite {str(path)!r}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise RunError(f"cannot read table {str(path)!r}: {what_is_damaged(error)}") from error
    except ValueError as error:
        raise RunError(f"cannot read table {str(path)!r}: line {number}: {what_is_damaged(error)}") from error


def read_about(path: Table) -> Mapping[str, Any]:
    """The metadata of a table.

    Raises:
        RunError: there is no such table, it is damaged, or codeaudit did not write it.
    """
    if has_lines(path):
        _, first = next(_lines(path), (0, {}))
        if not ABOUT.issubset(first):
            raise RunError(
                f"{str(path)!r} was not written by codeaudit: its rows lack {', '.join(sorted(ABOUT))}"
            )
        return _checked_about(path, {name: first[name] for name in ABOUT})
    if not path.exists():
        raise RunError(f"no suite {str(path)!r}")
    try:
        with open_parquet(path) as file:
            metadata = file.schema_arrow.metadata or {}
    except RunError as error:
        if path.suffix != PARQUET:
            raise RunError(
                f"{str(path)!r} is no suite: a suite ends with {', '.join(SUITE_ENDINGS)}, as "
                "`codeaudit run` and `codeaudit transform --suite FILE` write it; sources go to --corpus"
            ) from error
        raise
    if b"codeaudit" not in metadata:
        raise RunError(f"{str(path)!r} was not written by codeaudit: it has no codeaudit metadata")
    try:
        about = load_json(metadata[b"codeaudit"])
    except ValueError as error:
        raise RunError(f"the metadata of {str(path)!r} is damaged: {what_is_damaged(error)}") from error
    return _checked_about(path, about)


def _checked_about(path: Table, about: object) -> Mapping[str, Any]:
    if not isinstance(about, dict) or not all(is_text(about.get(name, "")) for name in ("task", "corpus")):
        raise RunError(f"the metadata of {str(path)!r} is damaged: task and corpus must be texts")
    return about


def suite_contents(path: Path) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The seeds of a suite's trials and the names of its transforms, in order of appearance.

    Raises:
        RunError: there is no such table, it is damaged, or it has a variant or the rows of a sample twice.
    """
    if path.suffix == PARQUET:
        with open_parquet(path) as file:
            lacking = {"source", "perturbed"} - set(file.schema_arrow.names)
        if lacking:
            raise RunError(
                f"{str(path)!r} is no suite: it has no column {' and no '.join(sorted(lacking))}; a baseline "
                "goes with codeaudit gate RUN --baseline"
            )
    pairs: dict[tuple[int, str], None] = {}
    samples: set[tuple[int, str]] = set()
    numbered = enumerate(read_rows(path), 1)
    for sample, rows in groupby(numbered, key=lambda pair: (pair[1]["seed"], pair[1]["sample"])):
        variants: set[tuple[str, int]] = set()
        for number, row in rows:
            variant = (row["transform"], row["variant"])
            if sample in samples or variant in variants:
                raise RunError(
                    f"table {str(path)!r} is damaged: row {number} repeats sample {sample[1]!r} under "
                    f"{variant[0]!r}; each variant stands in it once, and all of a sample in a row"
                )
            variants.add(variant)
            pairs[sample[0], variant[0]] = None
        samples.add(sample)
    return tuple(dict.fromkeys(seed for seed, _ in pairs)), tuple(dict.fromkeys(name for _, name in pairs))

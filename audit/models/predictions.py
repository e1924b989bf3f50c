"""`file/PREDICTIONS`: answers made elsewhere, looked up by their input. JSON lines, CSV or Parquet.

A row names its input by the value of the suite's column `input` (in `id` or `input`), else by the text itself
(in `perturbed` or `source`, optionally with `language`; of pairs with `other`, of candidates with these and
`text`). So the rows of a suite with an added answer can be used; of its rows of the identity
the first answers the original, and each further one is a repeat. The columns `answer`, `score`, `scores` and
`error` mean the same as for programs.
"""

import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple, TypeAlias

from typing_extensions import override

from codeaudit.audit.checks import what_is_damaged
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.provider import Provider, Settings
from codeaudit.audit.prompts import VERSION
from codeaudit.audit.records import Failed, Prediction, Query, Repeat
from codeaudit.audit.rows import input_hash
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.grammar import counted

MISSING: Final = Failed(reason="no answer in the file")
ONCE: Final = "a file answers once"
"""The reason for repeats that are not in the file. It would repeat itself and show no noise, which is not the
same as a model without noise."""

Row: TypeAlias = Mapping[str, Any]

_TOLD: Final = ("score", "scores", "error")
_NO_LANGUAGE: Final = ""
_INPUT: Final = re.compile(r"[0-9a-f]{16}")


class RecordedAnswer(NamedTuple):
    """The answer of one row."""

    line: int
    """Its line in the file, from 1; for Parquet the row."""
    prediction: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class FileModel(BaseModel):
    """Looks answers up."""

    name: str
    path: Path
    recorded: Mapping[str, RecordedAnswer]
    """By the hash of the input. A row with another `id` is kept under that `id` and answers no query."""
    fingerprint: str
    task: None = None
    parameters: None = None
    noise: float = 0.0
    repeats: int = 0

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """The answers in the file; `Failed` for queries without one."""
        return [self._prediction(query) for query in queries]

    def _prediction(self, query: Query) -> Prediction:
        entry = self._entry(query)
        if entry is not None:
            return entry.prediction
        return Failed(reason=ONCE) if isinstance(query, Repeat) else MISSING

    @override
    def fit(self, queries: Iterable[Query], *, part: bool = False) -> str:
        """Also how many rows answer none of the inputs.

        Raises:
            ModelError: no input of a whole run has an answer.
        """
        inputs = set(queries)
        entries = [entry for query in inputs if (entry := self._entry(query)) is not None]
        lines = {entry.line for key, entry in self.recorded.items() if _AGAIN not in key}
        text = f"{self.name}: answers to {len(entries):,} of {counted(len(inputs), 'input')}"
        if part:
            return text
        if not entries:
            raise ModelError(
                f"none of the {len(lines):,} rows of {str(self.path)!r} answers an input of this run; "
                f"give each the suite's `input` as its `id`"
            )
        idle = lines - {entry.line for entry in entries}
        note = f"; {len(idle):,} rows answer none, first {self.path}:{min(idle)}" if idle else ""
        return f"{text}{note}"

    def _entry(self, query: Query) -> RecordedAnswer | None:
        for language in (query.language, _NO_LANGUAGE):  # a row may name its language or not
            key = input_hash(language, query.source, **query.beside)
            if isinstance(query, Repeat):
                key = _repeat(key, query.number)
            if (entry := self.recorded.get(key)) is not None:
                return entry
        return None


def load(name: str, settings: Settings) -> FileModel:
    """Read the file.

    Raises:
        ModelError: there is no such file, or a row has no answer or contradicts another row.
    """
    path = Path(os.path.expanduser(name))
    reader = READERS.get(PurePosixPath(path.name.lower().removesuffix(".gz")).suffix)
    if reader is None or (reader is _parquet and path.suffix.lower() == ".gz"):
        raise ModelError(f"cannot read {name!r}: answers stand in .jsonl[.gz], .csv[.gz] or .parquet")
    identity = str(settings.arguments.get("id", "id"))
    answer = str(settings.arguments.get("answer", "answer"))
    try:
        answers = _answers(path, reader(path), identity, answer)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ModelError(f"cannot read the answers of {name!r}: {reason}") from error
    return FileModel(
        name=f"file/{name}",
        path=path,
        recorded=answers,
        fingerprint=f"file:{digest[:32]}:{identity}:{answer}:{VERSION}",
        repeats=max((int(key.partition(_AGAIN)[2] or -1) + 1 for key in answers), default=0),
    )


_AGAIN: Final = "\0again "


def _repeat(key: str, number: int) -> str:
    """The key of the repeat of this number, from 0, of an input."""
    return f"{key}{_AGAIN}{number}"


def _answers(
    path: Path, rows: Iterable[tuple[int, Row]], identity: str, answer: str
) -> dict[str, RecordedAnswer]:
    answers: dict[str, RecordedAnswer] = {}
    for line, row in rows:
        if row.get("status") == "not_applied":  # a row of the suite without an input
            continue
        key = _key(row, identity)
        if key is None:
            raise ModelError(f"{path}:{line} has neither {identity!r} nor 'source'")
        if row.get("transform") == "identity" and (again := str(row.get("variant") or "0")).isdecimal():
            key = _repeat(key, int(again) - 1) if int(again) else key
        prediction = _prediction(row, answer)
        if prediction is None:
            raise ModelError(f"{path}:{line} has no {answer!r}")
        if prediction is MISSING:  # an empty cell: the query has no answer, as if the row were absent
            continue
        other = answers.setdefault(key, RecordedAnswer(line, prediction))
        if other.prediction != prediction:
            raise ModelError(
                f"{path}:{line} and line {other.line} give one input different answers; keep one row for each"
            )
    if not answers:
        raise ModelError(f"no answers in {str(path)!r}")
    return answers


def _key(row: Row, identity: str) -> str | None:
    """The key of a row's input: the suite's hash, else the hash of the text, else the user's own `id`."""
    for named in (row.get(identity), row.get("input")):
        if isinstance(named, str) and _INPUT.fullmatch(named):
            return named
    # In a suite's row `source` is the original, and `asked_after` what is shown where that is not all.
    text = row.get("asked_after") or row.get("perturbed") or row.get("source")
    if isinstance(text, str) and text:
        language = row.get("language")
        # A text alone is not enough: many tables have a column of this name.
        others = row.get("other") or row.get("candidates")
        beside = {name: row[name] for name in ("other", "candidates", "text") if others and row.get(name)}
        return input_hash(language if isinstance(language, str) else _NO_LANGUAGE, text, **beside)
    return str(row[identity]) if row.get(identity) not in (None, "") else None


def _prediction(row: Row, answer: str) -> Prediction | None:
    """The prediction of a row; `None` if it has no column for an answer."""
    if answer not in row and not row.get("error"):
        return None
    cell = row.get(answer)
    unsaid = cell is None or (isinstance(cell, float) and cell != cell)  # NaN is the missing value of tables
    if unsaid and not row.get("error"):
        return MISSING
    return read_answer({"answer": cell, **{name: row.get(name) for name in _TOLD}})


# ── formats ──────────────────────────────────────────────────────────────────────────────────────────────


def _bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    with _bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                # Editors on Windows put a byte order mark in front of the first line.
                row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError):
                raise ModelError(f"{path}:{number} is not JSON") from None
            if not isinstance(row, dict):
                raise ModelError(f"{path}:{number} is no object")
            yield number, row


def _csv(path: Path) -> Iterator[tuple[int, Row]]:
    # Sources are longer than the default of 128 KiB; the limit is a C long, which has 32 bits on Windows.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with _bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text, restkey="", strict=True)
        line = 1
        try:
            for row in rows:
                line = rows.line_num
                if "" in row:
                    raise ModelError(f"{path}:{line} has more cells than there are columns")
                yield line, {name: _cell(path, line, name, cell) for name, cell in row.items()}
        except (csv.Error, UnicodeDecodeError) as error:
            raise ModelError(f"{path}:{line} is not CSV: {what_is_damaged(error)}") from None


def _cell(path: Path, line: int, name: str, cell: str | None) -> object:
    """A cell's value; `None` if it is empty."""
    if not cell:
        return None
    if name not in ("score", "scores"):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise ModelError(f"{path}:{line} has no number or object in {name!r}") from None


def _parquet(path: Path) -> Iterator[tuple[int, Row]]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            # In batches, because a table of sources may be larger than the memory.
            batches = file.iter_batches(batch_size=1024)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)
    except (ArrowException, UnicodeDecodeError) as error:
        raise ModelError(f"cannot read the answers of {str(path)!r}: {what_is_damaged(error)}") from error


READERS: Final[Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]]] = {
    ".jsonl": _lines,
    ".csv": _csv,
    ".parquet": _parquet,
}


PROVIDER: Final = Provider(
    form="file/PREDICTIONS",
    summary='answers made elsewhere for a suite: rows {"id", "answer"}, `id` being its column `input`',
    load=load,
    accepts=frozenset(),
    arguments={"id": str, "answer": str},
)

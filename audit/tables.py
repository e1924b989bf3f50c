"""The two tables of a run folder, `suite.parquet` and `verdicts.parquet`: written row by row, read back."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from codeaudit.audit.prompt_cut import shown
from codeaudit.audit.records import (
    Attacked,
    Audited,
    Explained,
    Failed,
    Predicted,
    Prediction,
    Unjudged,
    Verdict,
    Violated,
    answer_from_json,
    answer_to_json,
    label_from_json,
)
from codeaudit.audit.run import Case
from codeaudit.audit.store import EXPLANATIONS, RunFolder
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Move, NotApplied, Origin, Outcome, Perturbed, Sample

Row = Mapping[str, Any]

SUITE_COLUMNS: Final[Mapping[str, str]] = {
    "seed": "int64",
    "sample": "string",
    "language": "string",
    "path": "string",
    "line": "int64",
    "source": "string",
    "label": "string",  # JSON, since labels are texts, numbers or lists
    "transform": "string",
    "kind": "string",
    "variant": "int64",
    "status": "string",
    "input": "string",  # names the perturbed text, for answers that are made elsewhere
    "perturbed": "string",
    "reason": "string",
    "evidence": "string",
    "moves": "string",  # JSON
    "label_after": "string",  # JSON; the label of the perturbed text
    "asked": "string",  # the beginning of `source` that is shown, where that is not all
    "asked_after": "string",  # the same of the perturbed text
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

VIOLATION: Final = ("model", "seed", "sample", "transform", "variant")
"""What names a violation of a run."""

LINES: Final = ".jsonl"
"""The ending of a suite that is lines of JSON and not Parquet."""
ABOUT: Final = frozenset({"schema", "task", "corpus"})
"""What is said about a suite."""

_ROWS: Final = 1024


class TableWriter:
    """Appends rows to a Parquet file, a thousand at a time."""

    def __init__(self, path: Path, columns: Mapping[str, str], about: Mapping[str, object]) -> None:
        """Open the file; `about` is kept as its metadata."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        fields = [(name, getattr(pa, kind)()) for name, kind in columns.items()]
        self._schema = pa.schema(fields, metadata={"codeaudit": json.dumps(about)})
        self._writer = ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        self._writer.close()

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows with the table's columns."""
        self._rows.extend(rows)
        if len(self._rows) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class LinesWriter:
    """Writes rows as lines of JSON, each with what is said about the table."""

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

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows with the table's columns."""
        for row in rows:
            whole = {**self._about, **{name: row.get(name) for name in self._columns}}
            self._file.write(json.dumps(whole, ensure_ascii=True, allow_nan=False) + "\n")


def suite_rows(seed: int, case: Case) -> Iterator[Row]:
    """One row per outcome of a case."""
    sample = case.sample
    shared = {
        "seed": seed,
        "sample": sample.id,
        "language": sample.language,
        "path": sample.origin.path,
        "line": sample.origin.line,
        "source": sample.source,
        "label": None if sample.label is None else json.dumps(sample.label),
        "asked": sample.asked or None,
    }
    for outcome in case.outcomes:
        named = {"transform": outcome.transform, "kind": outcome.kind, "variant": outcome.variant}
        match outcome:
            case Perturbed():
                moves = [[move.kind, move.site, move.value, move.note] for move in outcome.moves]
                told = {
                    "input": input_hash(sample.language, shown(sample, outcome.source)),
                    "perturbed": outcome.source,
                    "evidence": outcome.evidence,
                    "moves": json.dumps(moves),
                    "label_after": json.dumps(outcome.sample.label),
                    "asked_after": shown(sample, outcome.source) if sample.asked else None,
                }
                yield {**shared, **named, "status": "perturbed", **told}
            case NotApplied():
                yield {**shared, **named, "status": "not_applied", "reason": outcome.reason}


def verdict_rows(seed: int, audited: Audited) -> Iterator[Row]:
    """One row per verdict on a sample."""
    for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True):
        perturbed = verdict.perturbed
        yield {
            "seed": seed,
            "model": audited.model,
            "sample": audited.sample.id,
            "transform": perturbed.transform,
            "kind": perturbed.kind,
            "variant": perturbed.variant,
            "input": input_hash(audited.sample.language, shown(audited.sample, perturbed.source)),
            "outcome": _outcome(verdict),
            "reason": verdict.reason if isinstance(verdict, Unjudged) else None,
            "deviation": None if isinstance(verdict, Unjudged) else verdict.deviation,
            "score_before": audited.score,
            "score_after": score,
            **_told("before", verdict.before),
            **_told("after", verdict.after),
        }


def attack_row(attacked: Attacked) -> Row:
    """What a search found for a sample."""
    row = {
        "seed": attacked.seed,
        "model": attacked.model,
        "sample": attacked.sample.id,
        "strategy": attacked.strategy,
        "budget": attacked.budget,
        "queries": attacked.queries,
        "reason": attacked.reason or None,
    }
    found = attacked.violated
    if found is None:
        held = "certified" if attacked.certified else "held"
        return {**row, "outcome": held if attacked.queries else "not_attacked"}
    moves = [[move.kind, move.site, move.value, move.note] for move in found.perturbed.moves]
    return {
        **row,
        "outcome": "violated",
        "transform": found.perturbed.transform,
        "perturbed": found.perturbed.source,
        "moves": json.dumps(moves),
        "before": json.dumps(answer_to_json(found.before.answer)),
        "after": json.dumps(answer_to_json(found.after.answer)),
    }


def input_hash(language: str, source: str) -> str:
    """Names an input: equal for equal texts of one language on every machine."""
    return hashlib.sha256(f"{language}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _outcome(verdict: Verdict) -> str:
    if isinstance(verdict, Unjudged):
        return "unjudged"
    return "violated" if isinstance(verdict, Violated) else "held"


def _told(side: str, prediction: Prediction) -> Row:
    match prediction:
        case Failed(reason=reason):
            return {side: json.dumps({"failed": reason}), f"{side}_scores": None, f"{side}_margin": None}
        case Predicted():
            scores = json.dumps(prediction.scores) if prediction.scores else None
            return {
                side: json.dumps(answer_to_json(prediction.answer)),
                f"{side}_scores": scores,
                f"{side}_margin": prediction.margin,
            }


def prediction_of(row: Row, side: str) -> Prediction:
    """What `verdict_rows` told of one side of a verdict, `before` or `after`."""
    value = json.loads(row[side])
    if isinstance(value, dict):
        return Failed(reason=str(value["failed"]))
    scores = json.loads(row[f"{side}_scores"] or "[]")
    return Predicted(
        answer=answer_from_json(value),
        scores=tuple((str(label), float(score)) for label, score in scores),
        margin=row[f"{side}_margin"],
    )


def explanation_row(explained: Explained) -> Row:
    """An explanation as a line of the run folder's file."""
    perturbed = explained.minimal.perturbed
    return {
        "model": explained.model,
        "seed": explained.seed,
        "sample": perturbed.sample.id,
        "path": perturbed.sample.origin.path,
        "line": perturbed.sample.origin.line,
        "transform": perturbed.transform,
        "variant": perturbed.variant,
        "moves": [asdict(move) for move in perturbed.moves],
        "moves_before": len(explained.violated.perturbed.moves),
        "smallest": explained.smallest,
        "queries": explained.queries,
        "before": answer_to_json(explained.minimal.before.answer),
        "after": answer_to_json(explained.minimal.after.answer),
        "source": perturbed.sample.source,
        "perturbed": perturbed.source,
    }


def keep_explanations(folder: RunFolder, explained: Iterable[Explained]) -> None:
    """Write explanations beside those of before, the newest of each violation.

    Raises:
        RunError: the file cannot be read or written.
    """
    path = folder.path / EXPLANATIONS
    rows = [*(_line_rows(path) if path.exists() else ()), *map(explanation_row, explained)]
    named = {tuple(row[name] for name in VIOLATION): row for row in rows}
    folder.write_text(EXPLANATIONS, "".join(json.dumps(row) + "\n" for row in named.values()))


def read_rows(path: Path, *, seed: int | None = None) -> Iterator[Row]:
    """The rows of a table of a run folder, or those of one trial, a thousand in memory.

    Raises:
        RunError: there is no such table, or it is damaged.
    """
    from pyarrow import ArrowException, compute
    from pyarrow.parquet import ParquetFile

    if path.suffix == LINES:
        yield from (row for row in _line_rows(path) if seed is None or row.get("seed") == seed)
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


def _line_rows(path: Path) -> Iterator[Row]:
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


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def read_about(path: Path) -> Mapping[str, Any]:
    """What the writer of a table said about it.

    Raises:
        RunError: there is no such table, it is damaged, or codeaudit did not write it.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import read_schema

    if path.suffix == LINES:
        first = next(_line_rows(path), {})
        if not ABOUT.issubset(first):
            raise RunError(f"{str(path)!r} was not written by codeaudit: its rows lack {_listed(ABOUT)}")
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


def read_suite(path: Path, *, seed: int) -> Iterator[Case]:
    """The cases of one trial of a suite, in the order they were written.

    Raises:
        RunError: there is no such table, or it is damaged or lacks columns.
    """
    try:
        for _, rows in groupby(read_rows(path, seed=seed), key=lambda row: row["sample"]):
            every = list(rows)
            sample = _sample(every[0])
            yield Case(sample=sample, outcomes=tuple(_read_outcome(sample, row) for row in every))
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"suite {str(path)!r} lacks a column or holds no such value: {error}") from error


def suite_contents(path: Path) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The seeds of a suite's trials and the names of its transforms, each in order of appearance.

    Raises:
        RunError: there is no such table, or it is damaged or lacks columns.
    """
    try:
        pairs = list(dict.fromkeys((row["seed"], row["transform"]) for row in read_rows(path)))
    except KeyError as error:
        raise RunError(f"suite {str(path)!r} lacks the column {error}") from error
    return tuple(dict.fromkeys(seed for seed, _ in pairs)), tuple(dict.fromkeys(name for _, name in pairs))


def _sample(row: Row) -> Sample:
    return Sample(
        id=row["sample"],
        language=row["language"],
        source=row["source"],
        label=None if row["label"] is None else label_from_json(json.loads(row["label"])),
        origin=Origin(path=row["path"], line=row["line"]),
        asked=row.get("asked") or "",
    )


def _read_outcome(sample: Sample, row: Row) -> Outcome:
    if row["status"] != "perturbed":
        return NotApplied(
            sample=sample,
            transform=row["transform"],
            kind=row["kind"],
            variant=row["variant"],
            reason=row["reason"],
        )
    return Perturbed(
        sample=_relabelled(sample, row.get("label_after")),
        transform=row["transform"],
        kind=row["kind"],
        variant=row["variant"],
        source=row["perturbed"],
        moves=tuple(_move(*parts) for parts in json.loads(row["moves"])),
        evidence=row["evidence"],
    )


def _relabelled(sample: Sample, told: str | None) -> Sample:
    """The sample with the label of its perturbed text; suites of earlier versions have one for both."""
    if told is None:
        return sample
    value = json.loads(told)
    label = None if value is None else label_from_json(value)
    return sample if label == sample.label else replace(sample, label=label)


def _move(kind: str, site: int, value: str | list[int], note: str) -> Move:
    return Move(kind=kind, site=site, value=value if isinstance(value, str) else tuple(value), note=note)

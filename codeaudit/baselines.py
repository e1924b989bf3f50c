"""Baseline files: the judged pairs of a run in one small file, for gates without the whole run folder.

A file is small enough to be committed beside the code: 1,000 samples under six transforms with four variants
each take less than 200 kB. Most of that are hashes of texts, which cannot be compressed. So a file holds as
many of their digits as a gate compares (schema 1 held all). Schema 3 added answers under controls and scores.

A file is a Parquet table: a row per model, sample, transform and variant that was judged. Its metadata has
the facts of the run that the gate needs, and a digest of facts and rows. As for a run, whoever edits the
file can compute the digest anew, but not a signature.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.checks import is_text, is_whole, shown
from codeaudit.audit.integrity import DIGEST, SIGNATURE, is_signature, signature
from codeaudit.audit.interface import Task
from codeaudit.audit.store import (
    BASELINE,
    BASELINE_COLUMNS,
    PARQUET,
    RunFolder,
    TableRow,
    TableWriter,
    read_about,
    read_rows,
)
from codeaudit.audit.tasks.recorded import FACTS, facts, recorded_task
from codeaudit.reports.judged import DIGITS, Judged
from codeaudit.reports.records import Flip, ModelHeader, RunHeader
from codeaudit.reports.summarise import summarise
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Kind

SCHEMA: Final = 3
READ: Final = (1, 2, 3)
"""The schemas that this version reads."""
FORMAT: Final = "baseline"
"""The value of the field `format`; suites and verdicts have none."""
KEPT: Final[tuple[Kind, ...]] = ("preserving", "paper", "control", "identity")
"""The kinds whose pairs a gate compares, or takes the noise from."""
REMEDY: Final = "write one with: codeaudit report RUN --baseline FILE"


def write_baseline(
    path: Path, judged: Judged, task: Task, run: Mapping[str, object], key: bytes | None
) -> None:
    """Write the pairs of a run to a file, signed if there is a key.

    `run` identifies the run that they are from.

    Raises:
        RunError: the file cannot be written.
    """
    rows = [
        {
            "seed": flip.seed,
            "model": flip.model,
            "sample": flip.sample,
            "original": judged.originals.get(flip.sample, "")[:DIGITS],
            "transform": flip.transform,
            "kind": flip.kind,
            "variant": flip.variant,
            "input": flip.input[:DIGITS],
            "outcome": "violated" if flip.violated else "held",
            "score": judged.scores.get(flip.model, {}).get((flip.seed, flip.sample)),
        }
        for flip in judged.flips
        if flip.kind in KEPT
    ]
    summary = judged.summary
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "task": summary.task,
        FACTS: facts(task),
        "corpus": summary.corpus,
        "seed": summary.seed,
        "models": [
            {
                "name": model.model,
                "fingerprint": model.fingerprint,
                "parameters": model.parameters,
                "noise": model.noise,
            }
            for model in summary.models
        ],
        "run": dict(run),
        "rows": len(rows),
    }
    content = _content(header, rows)
    signed = {} if key is None else {SIGNATURE: signature(content, key)}
    about = {**header, DIGEST: hashlib.sha256(content).hexdigest(), **signed}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    with (
        RunFolder(path.parent).replacing(path.name) as place,
        TableWriter(place, BASELINE_COLUMNS, about, distinct=("input",)) as table,
    ):
        table.write(rows)


def read_baseline_file(path: Path, key: bytes | None) -> Judged:
    """The pairs in a baseline file, as the gate takes them.

    Raises:
        RunError: it is no baseline file, was edited or cut, or was not signed with the key.
    """
    try:
        about = read_about(path)
    except RunError as error:
        # Of a file with another ending the message would be about suites.
        why = f" ({error})" if path.suffix == PARQUET else ""
        raise RunError(f"{str(path)!r} is no baseline file{why}; {REMEDY}") from error
    if about.get("format") != FORMAT:
        raise RunError(f"{str(path)!r} is no baseline file; {REMEDY}")
    if about.get("schema") not in READ:
        raise RunError(
            f"{str(path)!r} has schema {shown(about.get('schema'))}, this version reads "
            f"{' and '.join(map(str, READ))}; {REMEDY}"
        )
    rows = list(read_rows(path, table=BASELINE))
    older = about["schema"] < SCHEMA
    facts_in_file = {name: fact for name, fact in about.items() if name not in (DIGEST, SIGNATURE)}
    content = _content(facts_in_file, rows, scored=not older)
    if about.get(DIGEST) != hashlib.sha256(content).hexdigest():
        raise RunError(f"{str(path)!r} is not as it was written: edited or cut; {REMEDY}")
    if key is not None:
        _check_signature(path, about.get(SIGNATURE), content, key)
    header = _header(path, about)
    _check_rows(path, about, header, rows)
    return Judged(
        name=str(path),
        summary=summarise([], task=recorded_task(header.task, about), header=header),
        flips=tuple(map(Flip.of, rows)),
        originals={row["sample"]: row["original"] for row in rows},
        scores=_scores(rows),
        older=older,
        run=str(run.get("codeaudit", "")) if isinstance(run := about.get("run"), dict) else "",
    )


def _scores(rows: Sequence[TableRow]) -> Mapping[str, Mapping[tuple[int, str], float]]:
    scores: dict[str, dict[tuple[int, str], float]] = {}
    for row in rows:
        if row.get("score") is not None:
            scores.setdefault(row["model"], {})[row["seed"], row["sample"]] = row["score"]
    return scores


def _header(path: Path, about: Mapping[str, Any]) -> RunHeader:
    """The facts of the run. Digests can be computed anew, so a field may still be missing or of another type.

    Raises:
        RunError: one is.
    """
    try:
        models = tuple(ModelHeader.of(facts) for facts in about["models"])
        sound = all(isinstance(model.name, str) and isinstance(model.fingerprint, str) for model in models)
        if not sound or not is_whole(about["seed"]) or not is_text(about["task"]):
            raise ValueError("a field has a value that it cannot have")
        return RunHeader(task=about["task"], corpus=about["corpus"], seed=about["seed"], models=models)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{str(path)!r} is damaged: {error}; {REMEDY}") from error


def _check_rows(path: Path, about: Mapping[str, Any], header: RunHeader, rows: Sequence[TableRow]) -> None:
    """Check that the rows are pairs of these models, each once.

    Raises:
        RunError: they are not, or there is none.
    """
    names = [model.name for model in header.models]
    keys = [tuple(row[name] for name in ("model", "seed", "sample", "transform", "variant")) for row in rows]
    originals = {(row["sample"], row["original"]) for row in rows}
    wrong = ""
    if len(set(names)) < len(names):
        wrong = "a model is named twice"
    elif about.get("rows") != len(rows):
        wrong = f"it has {len(rows)} rows of {shown(about.get('rows'))}"
    elif not rows:
        wrong = "it has no pair"
    elif len(set(keys)) < len(keys):
        wrong = "a pair is given twice"
    elif len({sample for sample, _ in originals}) < len(originals):
        wrong = "a sample has two texts"
    elif other := next((row for row in rows if row["model"] not in names or row["kind"] not in KEPT), None):
        wrong = f"it has a pair of the model {other['model']!r} under the kind {other['kind']!r}"
    if wrong:
        raise RunError(f"{str(path)!r} is damaged: {wrong}; {REMEDY}")


def _check_signature(path: Path, signed: object, content: bytes, key: bytes) -> None:
    if not isinstance(signed, str):
        raise RunError(
            f"{str(path)!r} has no signature; write it again: "
            "codeaudit report RUN --baseline FILE --sign-key FILE"
        )
    if not is_signature(signed, content, key):
        raise RunError(
            f"the signature of {str(path)!r} does not fit this key: the file was edited, or signed with "
            "another key"
        )


def _content(about: Mapping[str, object], rows: Sequence[TableRow], *, scored: bool = True) -> bytes:
    """The bytes that digest and signature are computed from. Earlier schemas had no scores."""
    columns = [name for name in BASELINE_COLUMNS if scored or name != "score"]
    lines = [
        json.dumps(about, sort_keys=True),
        *(json.dumps([row.get(name) for name in columns]) for row in rows),
    ]
    return "\n".join(lines).encode()

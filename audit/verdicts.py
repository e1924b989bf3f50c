"""A finished run, read back as the records that it was made of."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from codeaudit.audit.records import (
    Audited,
    Failed,
    Held,
    Predicted,
    Prediction,
    Unjudged,
    Verdict,
    Violated,
    answer_from_json,
)
from codeaudit.audit.run import Case
from codeaudit.audit.store import SUITE, VERDICTS
from codeaudit.audit.tables import Row, read_rows, read_suite
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import NotApplied, Perturbed


def read_audited(folder: Path, *, seed: int) -> Iterator[Audited]:
    """Every model on every sample of one trial, in the order of the run.

    A sample to which no transform applied, not even the identity, is left out.

    Raises:
        RunError: a table is missing or damaged, or the two do not belong together.
    """
    for model, rows in groupby(read_rows(folder / VERDICTS, seed=seed), key=lambda row: row["model"]):
        yield from _of_model(folder, str(model), rows, seed)


def _of_model(folder: Path, model: str, rows: Iterator[Row], seed: int) -> Iterator[Audited]:
    for case in read_suite(folder / SUITE, seed=seed):
        if one := _audited(folder, model, case, rows):
            yield one
    if next(rows, None) is not None:
        raise _apart(folder)


def _audited(folder: Path, model: str, case: Case, rows: Iterator[Row]) -> Audited | None:
    variants = [outcome for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    if not variants:
        return None
    found = [_next(folder, perturbed, rows) for perturbed in variants]
    try:
        verdicts = tuple(_verdict(one, row) for one, row in zip(variants, found, strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"table {str(folder / VERDICTS)!r} holds no such value: {error}") from error
    return Audited(
        model=model,
        sample=case.sample,
        before=verdicts[0].before,
        score=found[0]["score_before"],
        verdicts=verdicts,
        after_scores=tuple(row["score_after"] for row in found),
        not_applied=tuple(outcome for outcome in case.outcomes if isinstance(outcome, NotApplied)),
    )


def _next(folder: Path, perturbed: Perturbed, rows: Iterator[Row]) -> Row:
    """The verdict's row on a perturbation."""
    row = next(rows, {})
    named = (perturbed.sample.id, perturbed.transform, perturbed.variant)
    if (row.get("sample"), row.get("transform"), row.get("variant")) != named:
        raise _apart(folder)
    return row


def _apart(folder: Path) -> RunError:
    return RunError(f"{SUITE} and {VERDICTS} in {str(folder)!r} are of different runs; run the audit again")


def _verdict(perturbed: Perturbed, row: Row) -> Verdict:
    before, after = _prediction("before", row), _prediction("after", row)
    if row["outcome"] == "unjudged":
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=row["reason"])
    if not (isinstance(before, Predicted) and isinstance(after, Predicted)):
        raise ValueError(f"outcome {row['outcome']!r} without both answers")
    made = Violated if row["outcome"] == "violated" else Held
    return made(perturbed=perturbed, before=before, after=after, deviation=row["deviation"])


def _prediction(side: str, row: Row) -> Prediction:
    told: Any = json.loads(row[side])
    if isinstance(told, Mapping):
        return Failed(reason=str(told["failed"]))
    scores = json.loads(row[f"{side}_scores"] or "[]")
    return Predicted(
        answer=answer_from_json(told),
        scores=tuple((str(label), float(score)) for label, score in scores),
        margin=row[f"{side}_margin"],
    )

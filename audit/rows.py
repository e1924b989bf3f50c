"""Records of a run as rows of its tables, and back: the suite, the verdicts, the attacks, the explanations.

Answers, labels, scores and moves are JSON texts inside a row, because their types vary. Reading gives back
the records that were written; floats come back bit for bit.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import groupby
from typing import Final

from codeaudit.audit.bound_files import Table, TableFolder
from codeaudit.audit.checks import DAMAGED, is_text, is_whole, load_json
from codeaudit.audit.checks import shown as shown_value
from codeaudit.audit.integrity import allow_explanations
from codeaudit.audit.interface import Task
from codeaudit.audit.prompt_cut import shown, shown_of
from codeaudit.audit.records import (
    NOT_REPEATED,
    Attacked,
    Audited,
    Case,
    Explained,
    Failed,
    Held,
    Predicted,
    Prediction,
    RawReply,
    Repeat,
    Searched,
    Unjudged,
    Verdict,
    Violated,
    answer_to_json,
    failed_from_json,
    label_from_json,
    predicted_from_json,
    predicted_to_json,
    scores_from_json,
)
from codeaudit.audit.run import ALL, Repeating, repeats
from codeaudit.audit.store import (
    ANSWERS,
    EXPLANATIONS,
    MOVABLE,
    SUITE,
    VERDICTS,
    RunFolder,
    TableRow,
    is_extra,
    read_rows,
)
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import KEEPS_TEXT, Move, NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on

VIOLATION: Final = ("model", "seed", "sample", "transform", "variant")
"""The columns that identify a violation."""


def input_hash(language: str, source: str, **beside: object) -> str:
    """Identifies an input: equal for equal texts of one language, on every machine.

    `beside` is what a query has beside the source (`Query.beside`).
    """
    text = f"{language}\0{source}" + (f"\0{json.dumps(beside, sort_keys=True)}" if beside else "")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _hash_of(sample: Sample, edit: Perturbed | None = None) -> str:
    """The hash of what is shown of a sample, or of a variant of it."""
    source = sample.source if edit is None else edit.source
    return input_hash(sample.language, **shown_of(sample, source, edit))


# ── to rows ──────────────────────────────────────────────────────────────────────────────────────────────


def suite_rows(seed: int, case: Case) -> Iterator[TableRow]:
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
        "other_side": sample.other_side or None,
        "other": sample.other or None,
        "sides": None if sample.sides == "first" else sample.sides,
        "candidates": json.dumps(sample.candidates) if sample.candidates else None,
        "text": sample.text or None,
        "draw": MOVABLE if case.extra else None,
    }
    for outcome in case.outcomes:
        named = {"transform": outcome.transform, "kind": outcome.kind, "variant": outcome.variant}
        match outcome:
            case Perturbed():
                cells = {
                    "input": _hash_of(sample, outcome),
                    "perturbed": outcome.source,
                    "evidence": outcome.evidence,
                    "rests_on": ",".join(row.id for row in rests_on(outcome)) or None,
                    "moves": _moves(outcome.moves),
                    "label_after": json.dumps(outcome.sample.label),
                    "asked_after": shown(sample, outcome.source) if sample.asked else None,
                    "other_after": outcome.other or None,
                    "candidates_after": json.dumps(outcome.candidates) if outcome.candidates else None,
                }
                yield {**shared, **named, "status": "perturbed", **cells}
            case NotApplied():
                yield {**shared, **named, "status": "not_applied", "reason": outcome.reason}


def verdict_rows(seed: int, audited: Audited) -> Iterator[TableRow]:
    """One row per verdict on a sample."""
    for verdict, score in zip(audited.verdicts, audited.after_scores, strict=True):
        perturbed = verdict.perturbed
        unjudged = isinstance(verdict, Unjudged)
        yield {
            "seed": seed,
            "model": audited.model,
            "sample": audited.sample.id,
            "transform": perturbed.transform,
            "kind": perturbed.kind,
            "variant": perturbed.variant,
            "input": _hash_of(audited.sample, perturbed),
            "outcome": "unjudged" if unjudged else "violated" if isinstance(verdict, Violated) else "held",
            "reason": verdict.reason if isinstance(verdict, Unjudged) else None,
            "deviation": None if isinstance(verdict, Unjudged) else verdict.deviation,
            "shift": None if isinstance(verdict, Unjudged) else verdict.shift,
            "score_before": audited.score,
            "score_after": score,
            "draw": MOVABLE if audited.extra else None,
            **_prediction_columns("before", verdict.before),
            **_prediction_columns("after", verdict.after),
        }


FIRST: Final = "first"
AGAIN: Final = "again"
"""Values of the column `asked`."""


def again_of(number: int) -> str:
    """The value for the repeat of this number, from 0: `again`, `again 2`, `again 3`, …"""
    return f"{AGAIN} {number + 1}" if number else AGAIN


def answer_rows(seed: int, audited: Audited) -> Iterator[TableRow]:
    """What the model wrote about a sample: rows for each distinct query, that of the original first."""
    predictions: dict[tuple[str, str], Prediction] = {}
    for verdict in audited.verdicts:
        for key, prediction in _queries(audited.sample, verdict):
            predictions.setdefault(key, prediction)
    for (hashed, asked), prediction in predictions.items():
        if isinstance(prediction, Failed) and prediction.reason == NOT_REPEATED:
            continue
        named = {
            "seed": seed,
            "model": audited.model,
            "sample": audited.sample.id,
            "input": hashed,
            "asked": asked,
        }
        for attempt, reply in enumerate(prediction.replies):
            yield {**named, "attempt": attempt, "reply": reply.text, "read": reply.read}
        if not prediction.replies:
            why = prediction.reason if isinstance(prediction, Failed) else None
            yield {**named, "attempt": 0, "reply": None, "read": why}


def _queries(sample: Sample, verdict: Verdict) -> Iterator[tuple[tuple[str, str], Prediction]]:
    """The two queries of a verdict, as `answers.parquet` names them, with their predictions."""
    perturbed = verdict.perturbed
    again = again_of(perturbed.variant) if perturbed.kind == "identity" else perturbed.transform
    yield (_hash_of(sample), FIRST), verdict.before
    yield (
        (
            _hash_of(sample, perturbed),
            again if perturbed.kind in KEEPS_TEXT else FIRST,
        ),
        verdict.after,
    )


def attack_row(attacked: Attacked) -> TableRow:
    """The result of a search on one sample."""
    row = {
        "seed": attacked.seed,
        "model": attacked.model,
        "sample": attacked.sample.id,
        "strategy": attacked.strategy,
        "budget": attacked.budget,
        "queries": attacked.queries,
        "reason": attacked.reason or None,
    }
    verdict = attacked.violated
    if verdict is None:
        outcome = "certified" if attacked.certified else "held"
        return {**row, "outcome": outcome if attacked.queries else "not_attacked"}
    return {
        **row,
        "outcome": "violated",
        "transform": verdict.perturbed.transform,
        "perturbed": verdict.perturbed.source,
        "moves": _moves(verdict.perturbed.moves),
        "before": json.dumps(answer_to_json(verdict.before.answer)),
        "after": json.dumps(answer_to_json(verdict.after.answer)),
    }


def searched_of(row: TableRow) -> Searched:
    """What the summary counts of a row of `attacks.parquet`."""
    return Searched(
        model=row["model"],
        sample=row["sample"],
        strategy=row["strategy"],
        budget=row["budget"],
        queries=row["queries"],
        violated=row["outcome"] == "violated",
        certified=row["outcome"] == "certified",
        reason=row["reason"] or "",
    )


def explanation_row(explained: Explained) -> TableRow:
    """An explanation as a line of `explanations.jsonl`."""
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
    """Add explanations to the folder; the newest of each violation stays.

    Raises:
        RunError: the file cannot be read or written.
    """
    path = folder.path / EXPLANATIONS
    rows = [*(read_rows(path) if path.exists() else ()), *map(explanation_row, explained)]
    # Later rows win, and a dict keeps the place of the first: explaining again replaces a line in place.
    named = {tuple(row[name] for name in VIOLATION): row for row in rows}
    text = "".join(json.dumps(row) + "\n" for row in named.values())
    allow_explanations(folder, text)
    folder.write_text(EXPLANATIONS, text)


def _moves(moves: Sequence[Move]) -> str:
    # Only moves of mixed variants name their transform, so that the rows of others stay as they were.
    return json.dumps(
        [
            [move.kind, move.site, move.value, move.note, *([move.transform] if move.transform else [])]
            for move in moves
        ]
    )


def _prediction_columns(side: str, prediction: Prediction) -> TableRow:
    match prediction:
        case Failed(reason=reason):
            return {side: json.dumps({"failed": reason}), f"{side}_scores": None, f"{side}_margin": None}
        case Predicted():
            scores = json.dumps(prediction.scores) if prediction.scores else None
            return {
                side: json.dumps(predicted_to_json(prediction)),
                f"{side}_scores": scores,
                f"{side}_margin": prediction.margin,
            }


# ── from rows ────────────────────────────────────────────────────────────────────────────────────────────


def read_suite(path: Table, *, seed: int) -> Iterator[Case]:
    """The cases of one trial of a suite, in the order in which they were written.

    Raises:
        RunError: there is no such table, it is damaged, or it lacks columns.
    """
    for _, rows in groupby(read_rows(path, seed=seed), key=lambda row: row["sample"]):
        yield _case(path, list(rows))


def read_repeats(path: Table, *, seed: int, task: Task, repeating: Repeating = ALL) -> Iterator[Repeat]:
    """The repeated queries of one trial of a suite, in the order of its cases (`run.repeats`).

    Raises:
        RunError: as `read_suite`.
    """
    # Without the other rows: they are most of the table, and this reading comes before that of the audit.
    for row in read_rows(path, seed=seed, kind="identity"):
        try:
            if row["status"] == "perturbed":
                sample = _sample(row)
                case = Case(sample=sample, outcomes=(_outcome(sample, row),), extra=is_extra(row))
                yield from repeats(case, task, repeating)
        except (RunError, *DAMAGED) as error:
            raise _damaged(path, row, error) from error


def read_first_stage(path: Table, *, seed: int) -> Iterator[Case]:
    """The cases of the plain draw of one trial, each with its first repeat alone.

    Raises:
        RunError: as `read_suite`.
    """
    for row in read_rows(path, seed=seed, kind="identity"):
        if row["variant"] == 0 and not is_extra(row):
            yield _case(path, [row])


def _case(path: Table, rows: Sequence[TableRow]) -> Case:
    row = rows[0]
    outcomes: list[Outcome] = []
    try:
        sample = _sample(row)
        for row in rows:
            outcomes.append(_outcome(sample, row))
        return Case(sample=sample, outcomes=tuple(outcomes), extra=is_extra(rows[0]))
    except (RunError, *DAMAGED) as error:
        raise _damaged(path, row, error) from error


def _damaged(path: Table, row: TableRow, error: BaseException) -> RunError:
    named = f"{row['sample']!r} under {row['transform']!r}"
    return RunError(f"table {str(path)!r} is damaged: sample {named}: {_fault(error)}")


def _fault(error: BaseException) -> str:
    """What was wrong with a value, on one line."""
    text = " ".join(str(error).split())
    return f"no entry {text}" if isinstance(error, KeyError) else text or type(error).__name__


def read_audited(folder: TableFolder, *, seed: int) -> Iterator[Audited]:
    """Every model on every sample of one trial, in the order of the run.

    A sample without any variant is left out; that means that not even the identity applied.

    Raises:
        RunError: a table is missing or damaged, or the two do not belong together.
    """
    # Verdicts stand model by model, and within a model in the order of the suite. So both files are read side
    # by side, once per model, and memory holds one case.
    for model, rows in groupby(read_rows(folder / VERDICTS, seed=seed), key=lambda row: row["model"]):
        yield from _of_model(folder, str(model), rows, seed)


def read_by_sample(folder: TableFolder, models: Sequence[str], *, seed: int) -> Iterator[Audited]:
    """Every model on one sample of a trial, then every model on the next.

    The suite is then read once for all models. `models` are those of the run.

    Raises:
        RunError: as `read_audited`; also if a verdict is on another model.
    """
    path = folder / VERDICTS
    readers = {name: read_rows(path, seed=seed, model=name) for name in models}
    for case in read_suite(folder / SUITE, seed=seed):
        for name, rows in readers.items():
            if audited := _audited(folder, name, case, rows):
                yield audited
    in_table = {row["model"] for row in read_rows(path, seed=seed, columns=("model", "seed"))}
    if in_table - readers.keys() or any(next(rows, None) is not None for rows in readers.values()):
        raise _mismatch(folder)


def with_replies(
    folder: TableFolder, audited: Iterable[tuple[int, Audited]]
) -> Iterator[tuple[int, Audited]]:
    """The records of a run with the replies to their queries, where the run kept them.

    The records of each trial and model must be in the order of the run.

    Raises:
        RunError: the table is damaged, or of another run.
    """
    path = folder / ANSWERS
    if not path.exists():
        yield from audited
        return
    tables: dict[tuple[int, str], Iterator[tuple[object, Iterator[TableRow]]]] = {}
    for seed, record in audited:
        if not record.verdicts:
            yield seed, record
            continue
        named = (seed, record.model)
        if named not in tables:
            tables[named] = groupby(
                read_rows(path, seed=seed, model=record.model), key=lambda row: row["sample"]
            )
        sample, rows = next(tables[named], (None, iter(())))
        if sample != record.sample.id:
            raise RunError(
                f"{str(path)!r} is of another run than {VERDICTS}; delete it, or run the audit again"
            )
        yield seed, _replied(record, rows)


def _replied(audited: Audited, rows: Iterable[TableRow]) -> Audited:
    replies: dict[tuple[str, str], tuple[RawReply, ...]] = {}
    for row in rows:
        if row["reply"] is not None:
            key = (row["input"], row["asked"])
            replies[key] = (*replies.get(key, ()), RawReply(row["reply"], row.get("read") or ""))
    verdicts: list[Verdict] = []
    for verdict in audited.verdicts:
        (before, _), (after, _) = _queries(audited.sample, verdict)
        first, then = replies.get(before, ()), replies.get(after, ())
        if isinstance(verdict, Unjudged):
            missing = replace(verdict.before, replies=first), replace(verdict.after, replies=then)
            verdicts.append(replace(verdict, before=missing[0], after=missing[1]))
        else:
            both = replace(verdict.before, replies=first), replace(verdict.after, replies=then)
            verdicts.append(replace(verdict, before=both[0], after=both[1]))
    return replace(audited, before=verdicts[0].before, verdicts=tuple(verdicts))


def prediction_of(row: TableRow, side: str) -> Prediction:
    """The prediction in the columns of one side, `before` or `after`.

    Raises:
        RunError, ValueError: the columns hold none.
    """
    return _prediction(row[side], row[f"{side}_scores"], row[f"{side}_margin"])


@lru_cache(maxsize=1024)
def _prediction(answer: str, scores: str | None, margin: float | None) -> Prediction:
    # A sample's first answer stands in the rows of all its variants, and most answers equal it.
    value = load_json(answer)
    if isinstance(value, Mapping) and "failed" in value:
        return failed_from_json(value)
    said, draws = predicted_from_json(value)
    return Predicted(
        answer=said, scores=scores_from_json(load_json(scores or "[]")), margin=margin, draws=draws
    )


def _of_model(folder: TableFolder, model: str, rows: Iterator[TableRow], seed: int) -> Iterator[Audited]:
    for case in read_suite(folder / SUITE, seed=seed):
        if audited := _audited(folder, model, case, rows):
            yield audited
    if next(rows, None) is not None:
        raise _mismatch(folder)


def _audited(folder: TableFolder, model: str, case: Case, rows: Iterator[TableRow]) -> Audited | None:
    variants = [outcome for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    if not variants:
        return None
    own_rows = [_next(folder, perturbed, rows) for perturbed in variants]
    try:
        verdicts = tuple(_verdict(variant, row) for variant, row in zip(variants, own_rows, strict=True))
        score, after = own_rows[0]["score_before"], tuple(row["score_after"] for row in own_rows)
    except (RunError, *DAMAGED) as error:
        sample = case.sample.id
        raise RunError(
            f"table {str(folder / VERDICTS)!r} is damaged: sample {sample!r} of {model!r}: {_fault(error)}"
        ) from error
    return Audited(
        model=model,
        sample=case.sample,
        before=verdicts[0].before,
        score=score,
        verdicts=verdicts,
        after_scores=after,
        not_applied=tuple(outcome for outcome in case.outcomes if isinstance(outcome, NotApplied)),
        extra=case.extra,
    )


def _next(folder: TableFolder, perturbed: Perturbed, rows: Iterator[TableRow]) -> TableRow:
    """The next row, which must be the verdict on this perturbation."""
    row = next(rows, {})
    named = (perturbed.sample.id, perturbed.transform, perturbed.variant)
    if (row.get("sample"), row.get("transform"), row.get("variant")) != named:
        raise _mismatch(folder)
    return row


def _mismatch(folder: TableFolder) -> RunError:
    return RunError(f"{SUITE} and {VERDICTS} in {str(folder)!r} are of different runs; run the audit again")


def _verdict(perturbed: Perturbed, row: TableRow) -> Verdict:
    before, after = prediction_of(row, "before"), prediction_of(row, "after")
    if row["outcome"] == "unjudged":
        return Unjudged(perturbed=perturbed, before=before, after=after, reason=row["reason"])
    if not (isinstance(before, Predicted) and isinstance(after, Predicted)):
        raise ValueError(f"outcome {row['outcome']!r} without both answers")
    kind = Violated if row["outcome"] == "violated" else Held
    return kind(
        perturbed=perturbed, before=before, after=after, deviation=row["deviation"], shift=row.get("shift")
    )


def _sample(row: TableRow) -> Sample:
    return Sample(
        id=row["sample"],
        language=row["language"],
        source=row["source"],
        label=None if row.get("label") is None else label_from_json(load_json(row["label"])),
        origin=Origin(path=row["path"], line=row["line"]),
        asked=row.get("asked") or "",
        other_side=row.get("other_side") or "",
        other=row.get("other") or "",
        sides=row.get("sides") or "first",
        candidates=_texts(row.get("candidates")),
        text=row.get("text") or "",
    )


def original_hash(row: TableRow) -> str:
    """The hash of the unchanged input of a row of the suite.

    Raises:
        RunError, ValueError: the row holds no sample.
    """
    sample = _sample(row)
    return _hash_of(sample)


def _texts(cell: str | None) -> tuple[str, ...]:
    """The texts of a cell, which is JSON."""
    value = load_json(cell or "[]")
    if not (isinstance(value, list) and all(map(is_text, value))):
        raise ValueError(f"no list of texts: {shown_value(value)}")
    return tuple(value)


def _outcome(sample: Sample, row: TableRow) -> Outcome:
    if row["status"] != "perturbed":
        return NotApplied(
            sample=sample,
            transform=row["transform"],
            kind=row["kind"],
            variant=row["variant"],
            reason=row["reason"],
        )
    text = row["perturbed"]
    # Some kinds give the unchanged text and nothing else; all others never do.
    if (text == sample.source) != (row["kind"] in KEEPS_TEXT):
        raise ValueError(f"'perturbed' does not fit the kind {row['kind']!r}")
    variant = Perturbed(
        sample=_relabelled(sample, row.get("label_after")),
        transform=row["transform"],
        kind=row["kind"],
        variant=row["variant"],
        source=text,
        moves=tuple(_move(*parts) for parts in load_json(row["moves"])),
        evidence=row["evidence"],
        other=row.get("other_after") or "",
        candidates=_texts(row.get("candidates_after")),
        # A suite has no text of files. One of an earlier version lacks the column.
        rests_on=_ids(row["rests_on"] or "") if "rests_on" in row else None,
    )
    if row.get("input") not in (None, _hash_of(sample, variant)):
        raise ValueError("'input' is not the hash of the perturbed text")
    return variant


@lru_cache  # a suite has few different ones
def _ids(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _relabelled(sample: Sample, cell: str | None) -> Sample:
    """The sample with the label of its perturbed text. Suites of earlier versions lack that column."""
    if cell is None:
        return sample
    value = load_json(cell)
    label = None if value is None else label_from_json(value)
    # The same object where nothing differs, because a suite has dozens of variants for each sample.
    return sample if label == sample.label else replace(sample, label=label)


def _move(kind: str, site: int, value: str | list[int], note: str, transform: str = "") -> Move:
    order = isinstance(value, list) and all(map(is_whole, value))
    texts = is_text(kind) and is_text(note) and is_text(transform)
    if not (texts and is_whole(site) and (order or is_text(value))):
        raise ValueError(f"no move: {shown_value([kind, site, value, note])}")
    moved = value if isinstance(value, str) else tuple(value)
    return Move(kind=kind, site=site, value=moved, note=note, transform=transform)

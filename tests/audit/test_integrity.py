"""Whether the tables of a run fit each other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from pyarrow.parquet import ParquetFile

from codeaudit.audit import integrity, store
from codeaudit.audit.integrity import RowCounts, check_rows
from codeaudit.audit.store import SUITE, SUITE_COLUMNS, VERDICT_COLUMNS, VERDICTS, TableWriter
from codeaudit.transforms.errors import RunError

Rows = list[dict[str, Any]]
MODELS: Final = ("a", "b")


def suite() -> Rows:
    """Two samples in two trials; one is drawn in addition, and one variant was not made."""
    shared = {"language": "python", "path": "p", "line": 1, "source": "x"}
    made = []
    for seed in (0, 1):
        for sample in ("s", "t"):
            for transform, variant in (("identity", 0), ("rename", 0), ("rename", 1)):
                named = {"seed": seed, "sample": sample, "transform": transform, "variant": variant}
                kind = "identity" if transform == "identity" else "preserving"
                text = {
                    "input": f"{sample}{transform}{variant}",
                    "perturbed": "y",
                    "moves": "[]",
                    "evidence": "none",
                }
                draw = "movable" if sample == "t" else None
                made.append({**shared, **named, "kind": kind, "status": "perturbed", **text, "draw": draw})
    made[-1] = {**made[-1], "status": "not_applied", "input": None, "reason": "no local variable"}
    return made


def verdicts(asked: Rows) -> Rows:
    """The first model holds; the second one changes its answer to the last variants."""
    return [
        {
            **{
                name: row[name]
                for name in ("seed", "sample", "transform", "kind", "variant", "input", "draw")
            },
            "model": model,
            "outcome": "violated" if row["variant"] and model == "b" else "held",
            "deviation": 0.0,
            "before": '"x"',
            "after": '"x"',
        }
        for model in MODELS
        for row in asked
        if row["status"] == "perturbed"
    ]


def written(folder: Path, asked: Rows, judged: Rows) -> Path:
    """The tables in a folder."""
    for name, columns, rows in ((SUITE, SUITE_COLUMNS, asked), (VERDICTS, VERDICT_COLUMNS, judged)):
        with TableWriter(folder / name, columns, {}) as table:
            table.write(rows)
    return folder


def slowly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The result of reading row by row, or its message."""
    with monkeypatch.context() as patch:
        patch.setattr(integrity, "_counted", lambda folder, models: None)
        try:
            return check_rows(folder, MODELS)
        except RunError as error:
            return str(error)


@pytest.mark.parametrize("order", [1, -1])
def test_columns_give_what_rows_give(order: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, suite(), verdicts(suite())[::order])
    counts = check_rows(folder, MODELS)
    assert integrity._counted(folder, MODELS) == counts == slowly(folder, monkeypatch)
    assert counts["b"][RowCounts("preserving", "rename", "violated", extra=False)] == 2
    assert counts["b"][RowCounts("preserving", "rename", "violated", extra=True)] == 1


def _changed(column: str, value: object) -> Callable[[Rows, Rows], None]:
    def change(asked: Rows, judged: Rows) -> None:
        judged[3] = {**judged[3], column: value}

    return change


def _of_suite(column: str, value: object) -> Callable[[Rows, Rows], None]:
    def change(asked: Rows, judged: Rows) -> None:
        asked[3] = {**asked[3], column: value}

    return change


def _emptied(asked: Rows, judged: Rows) -> None:
    asked.clear()
    judged.clear()


FAULTS: Final[dict[str, Callable[[Rows, Rows], None]]] = {
    "a verdict is missing": lambda asked, judged: judged.__delitem__(2),
    "a verdict is given twice": lambda asked, judged: judged.append(judged[2]),
    "one for another": lambda asked, judged: judged.__setitem__(2, judged[4]),
    "a variant is given twice": lambda asked, judged: asked.append(asked[1]),
    "a variant is missing": lambda asked, judged: asked.__delitem__(1),
    "a model is missing": lambda asked, judged: judged.__delitem__(slice(11, None)),
    "another model": _changed("model", "c"),
    "no verdict": _emptied,
    **{f"another {name}": _changed(name, "other") for name in ("sample", "transform", "input")},
    **{f"another {name}": _changed(name, 7) for name in ("seed", "variant")},
    "another kind": _changed("kind", "control"),
    "an unknown kind": _changed("kind", "other"),
    "an unknown outcome": _changed("outcome", "other"),
    "an unknown draw": _changed("draw", "other"),
    "another draw": _changed("draw", None),
    **{f"no {name}": _changed(name, None) for name in ("seed", "sample", "input", "outcome", "model")},
    "an unknown status": _of_suite("status", "other"),
    "not applied after all": _of_suite("status", "not_applied"),
    "no input": _of_suite("input", None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_named(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = suite()
    judged = verdicts(asked)
    FAULTS[fault](asked, judged)
    folder = written(tmp_path, asked, judged)
    assert integrity._counted(folder, MODELS) is None
    with pytest.raises(RunError) as caught:
        check_rows(folder, MODELS)
    assert str(caught.value) == slowly(folder, monkeypatch)


@pytest.mark.parametrize("fault", ["intact", *FAULTS])
def test_rows_that_are_right_together_are_right_alone(fault: str, tmp_path: Path) -> None:
    """A batch of rows is checked by columns; what that lets through, the check of each row lets through."""
    asked = suite()
    judged = verdicts(asked)
    FAULTS.get(fault, lambda asked, judged: None)(asked, judged)
    folder = written(tmp_path, asked, judged)
    for name in (SUITE, VERDICTS):
        for batch in ParquetFile(folder / name).iter_batches():
            rows = list(enumerate(batch.to_pylist(), start=1))
            try:
                for number, row in rows:
                    store._check_row(folder / name, name, number, row, None)
                right = True
            except RunError:
                right = False
            assert store._is_right(name, batch, None) is right

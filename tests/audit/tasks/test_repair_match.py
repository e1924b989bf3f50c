"""Repair by exact match: both sides of a fix, what counts as the fix, and which variants are asked about."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.records import Predicted
from codeaudit.audit.tasks.matching import (
    MENDED,
    NO_FIX,
    OTHER,
    OTHER_REFERENCE,
    REFERENCE,
    REPAIR_MATCH,
    UNTESTED,
    FixedUnits,
)
from codeaudit.cli.main import main
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from codeaudit.transforms.registry import transform_for

BUGGY = "public int above ( int [ ] VAR_1 , int VAR_2 ) { int VAR_3 = 0 ; for ( int VAR_4 : VAR_1 ) { if ( VAR_4 < VAR_2 ) VAR_3 ++ ; } return VAR_3 ; }"
FIXED = BUGGY.replace("<", ">")
ROWS = [{"id": 0, "buggy": BUGGY, "fixed": FIXED}]


def samples(rows: object, folder: Path) -> list[Sample | str]:
    path = folder / "rows.jsonl"
    assert isinstance(rows, list)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    whole = FixedUnits(whole=corpus(str(path), None, None))
    return [REPAIR_MATCH.prepare(raw) for raw in whole.read(Counter())]


def graded(sample: Sample, text: str) -> object:
    said = REPAIR_MATCH.normalise(text)
    assert said is not None
    prediction = REPAIR_MATCH.graded(Predicted(answer=said), sample.source, sample)
    assert isinstance(prediction, Predicted)
    return prediction.answer


def test_a_row_of_code_refinement_and_its_answers(tmp_path: Path) -> None:
    (example,) = samples(ROWS, tmp_path)
    assert isinstance(example, Sample)
    assert (example.source, example.label, example.language) == (BUGGY, FIXED, "java")
    spread = FIXED.replace("{ int", "{\n    // Counts.\n    int").replace("VAR_3", "count")
    assert graded(example, f"Here it is:\n```java\n{spread}\n```") == REFERENCE
    assert graded(example, FIXED) == REFERENCE
    for wrong in (BUGGY, FIXED.replace("++", "--"), "It is fine."):
        assert graded(example, wrong) == OTHER
    assert (REPAIR_MATCH.score(REFERENCE, example), REPAIR_MATCH.score(OTHER, example)) == (1, 0)


def test_neighbours_of_a_table_are_two_sides_of_a_fix(tmp_path: Path) -> None:
    sides = [
        {"source": FIXED, "label": 0, "language": "java", "leak_group": "a"},
        {"source": BUGGY, "label": 1, "language": "java", "leak_group": "a"},
        {"source": FIXED, "label": 0, "language": "java", "leak_group": "b"},
    ]
    first, second = samples(sides, tmp_path)
    assert isinstance(first, Sample)
    assert (first.source, first.label) == (BUGGY, FIXED)
    assert second == NO_FIX
    other = sides[1] | {"source": BUGGY.replace("above", "below")}
    assert samples([sides[0], other], tmp_path) == [NO_FIX, NO_FIX]


def test_a_mended_side_is_no_example(tmp_path: Path) -> None:
    (example,) = samples(ROWS, tmp_path)
    assert isinstance(example, Sample)
    assert REPAIR_MATCH.prepare(replace(example, label="clean")) == MENDED


def test_variants_with_the_same_reference_are_asked_about(tmp_path: Path) -> None:
    (example,) = samples(ROWS, tmp_path)
    assert isinstance(example, Sample)
    for name, kept in (("rename", True), ("spacing", True), ("flip-comparisons", False)):
        (made,) = perturb_one(example, transform_for(name, "java"), variants=1, seed=0)
        assert isinstance(made, Perturbed), made
        (asked,) = REPAIR_MATCH.askable(example, [made])
        assert isinstance(asked, Perturbed) is kept, asked
        assert kept or (isinstance(asked, NotApplied) and asked.reason == OTHER_REFERENCE)


def test_a_run_says_that_nothing_is_executed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(ROWS[0])}\n")
    (tmp_path / "mends.py").write_text(
        "def mend(queries):\n"
        "    return [one.source.replace('<', '>') if 'VAR_3' in one.source else '' or 'none' for one in queries]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["run", "--task", "repair-match", "--corpus", str(tmp_path / "rows.jsonl"), "--workers", "1"]
    out = tmp_path / "out"
    assert main([*words, "--model", "py/mends:mend", "--transform", "rename", "--out", str(out)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert UNTESTED in shown
    summary = json.loads((out / "summary.json").read_text())["models"][0]
    assert (summary["score"]["name"], summary["score"]["original"]) == ("exact match", 1.0)
    assert summary["violations"]["count"] == 1

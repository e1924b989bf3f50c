"""Rows of data sets of vulnerabilities in their own columns: labels, languages, sides of a fix, duplicates."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.corpora.native import DATA_SETS, told_errors
from codeaudit.audit.corpora.records import LeftOut
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.vulnerability_detection import SAFE, VULNERABILITY_DETECTION, VULNERABLE
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.records import Sample

Row = dict[str, Any]

BEFORE = "def find(db, name):\n    query = 'select %s' % name\n    return db.execute(query)\n"
AFTER = "def find(db, name):\n    query = 'select ?'\n    return db.execute(query, [name])\n"
OTHER = "def half(value):\n    share = value / 2\n    return share\n"
IN_C = "int half(int value) {\n    int share = value / 2;\n    return share;\n}\n"

DEVIGN: Row = {"project": "qemu", "commit_id": "a1", "target": 1, "func": BEFORE}
XGLUE: Row = {**DEVIGN, "idx": 7}
XGLUE_HUB: Row = {**DEVIGN, "id": 0, "target": True}
DIVERSE: Row = {**DEVIGN, "cwe": ["CWE-89"], "hash": 2**63, "size": 3, "message": "a"}
PRIME: Row = {**DEVIGN, "idx": 1, "cwe": ["CWE-89"], "func_hash": 3, "file_name": "a/find.py", "cve": "None"}
BIG_VUL: Row = {
    "CVE ID": "CVE-1", "CVE Page": "", "CWE ID": "CWE-89", "codeLink": "", "commit_id": "a1",
    "commit_message": "", "func_after": AFTER, "func_before": BEFORE, "lang": "python", "project": "p", "vul": 1,
}  # fmt: skip
SVEN: Row = {
    "func_name": "find", "func_src_before": "    " + BEFORE.replace("\n    ", "\n        "),
    "func_src_after": "    " + AFTER.replace("\n    ", "\n        "), "commit_link": "github.com/a/b/commit/1",
    "file_name": "a/find.py", "vul_type": "cwe-089", "line_changes": {}, "char_changes": {},
}  # fmt: skip


def read(tmp_path: Path, rows: Sequence[Row], spec: str = "") -> tuple[list[Sample], LeftOut]:
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    left_out = LeftOut()
    return list(corpus(f"{path}{spec}").read(left_out)), left_out


def prepared(sample: Sample) -> Sample:
    example = VULNERABILITY_DETECTION.prepare(sample)
    assert isinstance(example, Sample)
    return example


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("Devign, CodeXGLUE defect detection", {**DEVIGN, "language": "python"}),
        ("Devign, CodeXGLUE defect detection", {**XGLUE, "language": "python"}),
        ("Devign, CodeXGLUE defect detection", {**XGLUE_HUB, "language": "python"}),
        ("DiverseVul", {**DIVERSE, "language": "python"}),
        ("PrimeVul", PRIME),
        ("BigVul", BIG_VUL),
    ],
)
def test_a_row_is_read_in_its_own_columns(tmp_path: Path, name: str, row: Row) -> None:
    (sample,), left_out = read(tmp_path, [row])
    assert left_out.data_sets == {name}
    assert (sample.source, sample.language) == (BEFORE, "python")
    assert prepared(sample).label == VULNERABLE
    assert sample.group.endswith("a1")
    column = "vul" if "vul" in row else "target"
    for safe in (0, "0", False):
        ((other,), _) = read(tmp_path, [{**row, column: safe}])
        assert prepared(other).label == SAFE


def test_a_row_of_sven_is_both_sides_of_its_fix_without_the_indentation_of_its_class(tmp_path: Path) -> None:
    (first, second), left_out = read(tmp_path, [SVEN])
    assert left_out.data_sets == {"SVEN"}
    assert (first.source, first.other_side) == (BEFORE, AFTER)
    assert (second.source, second.other_side) == (AFTER, BEFORE)
    assert [prepared(sample).label for sample in (first, second)] == [VULNERABLE, SAFE]
    assert first.group == second.group != ""


def test_a_row_of_bigvul_knows_its_fix_if_it_has_one(tmp_path: Path) -> None:
    (flawed,), _ = read(tmp_path, [BIG_VUL])
    assert flawed.other_side == AFTER
    for row in ({**BIG_VUL, "vul": 0}, {**BIG_VUL, "func_after": f"{BEFORE}\n"}):
        (safe,), _ = read(tmp_path, [row])
        assert safe.other_side == ""


def test_neighbours_of_the_paired_files_of_primevul_are_sides_of_one_fix(tmp_path: Path) -> None:
    fixed = {**PRIME, "idx": 2, "target": 0, "func": AFTER}
    (first, second), _ = read(tmp_path, [PRIME, fixed])
    assert (first.other_side, second.other_side) == (AFTER, BEFORE)
    # With a row in front of them, too.
    lone, *pair = read(tmp_path, [{**PRIME, "func": OTHER, "commit_id": "z"}, PRIME, fixed])[0]
    assert [sample.other_side for sample in (lone, *pair)] == ["", AFTER, BEFORE]


@pytest.mark.parametrize(
    "change",
    [
        {"commit_id": "b2"},
        {"project": "other"},
        {"file_name": "b.py"},
        {"target": 1},
        {"func": AFTER.replace("find", "seek")},
    ],
)
def test_other_neighbours_are_none(tmp_path: Path, change: Row) -> None:
    samples, _ = read(tmp_path, [PRIME, {**PRIME, "idx": 2, "target": 0, "func": AFTER, **change}])
    assert [sample.other_side for sample in samples] == ["", ""]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**PRIME, "file_name": "a.rb"}, "row in Ruby (no transform yet)"),
        ({**BIG_VUL, "lang": "PHP"}, "row in PHP (no transform yet)"),
        ({**PRIME, "func": ""}, "row without source"),
    ],
)
def test_a_row_that_no_engine_rewrites_is_counted(tmp_path: Path, row: Row, reason: str) -> None:
    samples, left_out = read(tmp_path, [row, {**DEVIGN, "language": "python"}])
    assert len(samples) == 1
    assert left_out == Counter({reason: 1})


OF_C = (
    {**DEVIGN, "func": IN_C},
    {**PRIME, "func": IN_C, "file_name": "a.c"},
    {**BIG_VUL, "func_before": IN_C, "lang": "C"},
)


@pytest.mark.parametrize("row", OF_C)
def test_a_set_that_names_no_language_is_in_c(tmp_path: Path, row: Row) -> None:
    samples, left_out = read(tmp_path, [row])
    if "c" in LANGUAGES:
        assert [sample.language for sample in samples] == ["c"]
        assert prepared(samples[0]).label == VULNERABLE
    else:
        assert left_out == Counter({"row in C (no transform yet)": 1})
        pytest.skip("no language C is registered")


def test_a_mixed_table_has_rows_of_several_languages(tmp_path: Path) -> None:
    java = {**DEVIGN, "func": IN_C, "language": "java"}
    script = {**DEVIGN, "func": "function half(value) { return value / 2; }", "language": "js"}
    samples, left_out = read(tmp_path, [java, script, PRIME])
    assert [sample.language for sample in samples] == ["java", "javascript", "python"]
    assert not left_out


@pytest.mark.parametrize("row", [DIVERSE, PRIME, BIG_VUL, SVEN])
def test_a_cell_of_another_kind_ends_no_run(tmp_path: Path, row: Row) -> None:
    odd: tuple[object, ...] = (None, [], [1], {}, 3, float("nan"), True, "", "?", "\0", 2**70)
    rows = [{**row, column: value} for column in row for value in odd]
    samples, left_out = read(tmp_path, [entry for each in rows for entry in (each, row)])
    assert len(samples) + left_out.total() == len(rows) * (4 if row is SVEN else 2)
    for sample in samples:
        VULNERABILITY_DETECTION.prepare(sample)


def test_copies_in_another_split_are_told(tmp_path: Path) -> None:
    rows = [
        {"source": text, "label": 1, "split": split}
        for text, split in ((BEFORE, "train"), (BEFORE.replace("  ", " "), "test"), (OTHER, "test"))
    ]
    samples, left_out = read(tmp_path, rows, ":test")
    assert len(samples) == 2
    (note,) = left_out.notes
    assert note == "1 row of split 'test' of 'table.jsonl' is in another split, too (blanks aside)"
    assert not read(tmp_path, rows)[1].notes


def test_a_draw_has_both_sides_of_a_fix(tmp_path: Path) -> None:
    rows = [
        {
            **SVEN,
            **{column: str(SVEN[column]).replace("find", f"find{n}") for column in SVEN if "src" in column},
        }
        for n in range(30)
    ]
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for drawn in select(corpus(str(path)), VULNERABILITY_DETECTION.prepare, limit=20, seeds=(0, 1)):
        sources = {sample.source for sample in drawn.samples}
        assert len(sources) == 20
        assert sources == {sample.other_side for sample in drawn.samples}
        assert drawn.data_sets == ("SVEN",)


def test_every_set_with_doubtful_labels_says_what_is_known_of_them() -> None:
    by_name = {known.name: known for known in DATA_SETS if known.told}
    assert {"PrimeVul", "DiverseVul", "BigVul", "SVEN"} < by_name.keys()
    assert all(
        "arXiv" in known.known_errors or "without tests" in known.known_errors for known in by_name.values()
    )
    for known in by_name.values():
        (sentence,) = told_errors([known.name, known.name])
        # A table of the user's own may have these columns: the sentence does not say whose rows they are.
        assert sentence.startswith(f"The rows have the columns of {known.name}. Known of that data set: ")
        assert "needs no right label" in sentence
    assert told_errors(["HumanEval, HumanEval+"]) == ()

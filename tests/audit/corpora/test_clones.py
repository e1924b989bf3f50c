"""Pairs of units: rows as on the hub, CodeXGLUE's files, and programs with the number of their problem."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.corpora.native import told_errors
from codeaudit.audit.corpora.records import CorpusResources, LeftOut
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import SeenLabels
from codeaudit.audit.tasks.classification import CLASSIFICATION
from codeaudit.audit.tasks.clone_detection import CLONE, DIFFERENT
from codeaudit.audit.tasks.pairs import PairedUnits
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

Row = dict[str, Any]

SUM = "int sum(int[] xs) {\n    int total = 0;\n    for (int x : xs) total += x;\n    return total;\n}\n"
ADD = "int add(int[] v) {\n    int all = 0;\n    for (int x : v) all = all + x;\n    return all;\n}\n"
TOP = "int top(int[] v) {\n    int best = v[0];\n    for (int x : v) best = x > best ? x : best;\n    return best;\n}\n"
HUB: Row = {"id": 0, "id1": 1, "id2": 2, "func1": SUM, "func2": ADD, "label": True}


def write(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> tuple[list[Sample], LeftOut]:
    left_out = LeftOut()
    return list(corpus(str(path)).read(left_out)), left_out


def test_a_row_of_the_hub_is_a_pair_in_java_or_in_its_own_language(tmp_path: Path) -> None:
    own = {
        "func1": "def f(a):\n    return a\n",
        "func2": "def g(b):\n    return b\n",
        "label": 0,
        "language": "Python",
    }
    (first, second), left_out = read(
        write(tmp_path / "t.jsonl", [HUB, {**HUB, "func2": TOP, "label": False}])
    )
    assert (first.source, first.other, first.language, first.label) == (SUM, ADD, "java", "true")
    assert (second.other, second.label) == (TOP, "false")
    assert first.id != second.id
    assert left_out.data_sets == {"BigCloneBench, CodeXGLUE clone detection"}
    assert "93 % do not do the same" in told_errors(left_out.data_sets)[0]
    ((other,), left_out) = read(write(tmp_path / "o.jsonl", [own]))
    assert (other.language, other.label) == ("python", 0.0)
    assert told_errors(left_out.data_sets) == ()


@pytest.mark.parametrize(
    ("lacking", "option"),
    [("func2", "source=func1,other=COLUMN,label=label"), ("label", "source=func1,other=func2,label=COLUMN")],
)
def test_half_a_pair_names_the_missing_column(tmp_path: Path, lacking: str, option: str) -> None:
    row = {name: HUB[name] for name in ("func1", "func2", "label") if name != lacking}
    with pytest.raises(CorpusError, match=f"has no column {lacking}, .*--columns {option}"):
        read(write(tmp_path / "t.jsonl", [row]))


def test_the_files_of_codexglue_are_read_together(tmp_path: Path) -> None:
    write(
        tmp_path / "data.jsonl",
        [{"idx": "7", "func": SUM}, {"idx": 8, "func": ADD}, {"idx": "9", "func": TOP}],
    )
    table = tmp_path / "test.txt"
    table.write_text("7\t8\t1\n8\t9\t0\n\n7\t5\t1\nno pair\n", encoding="utf-8")
    samples, left_out = read(table)
    assert [(sample.source, sample.other, sample.label) for sample in samples] == [
        (SUM, ADD, "1"),
        (ADD, TOP, "0"),
    ]
    assert left_out["line that is no pair"] == 1
    assert left_out["pair of a function that data.jsonl lacks"] == 1
    assert left_out.data_sets == {"BigCloneBench, CodeXGLUE clone detection"}


@pytest.mark.parametrize(
    ("name", "data", "text", "message"),
    [
        ("data.jsonl", {"idx": 1, "func": SUM}, "", "name a file of pairs beside it"),
        ("test.txt", {"idx": 1, "func": SUM}, "a text\n", "has no pairs: a line of a file of pairs is"),
        ("test.txt", {"index": 1, "code": SUM}, "1\t2\t0\n", "has no functions: its lines must be"),
    ],
)
def test_a_wrong_file_gets_one_line(tmp_path: Path, name: str, data: Row, text: str, message: str) -> None:
    write(tmp_path / "data.jsonl", [data])
    (tmp_path / "test.txt").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        read(tmp_path / name)


def test_programs_with_their_problem_become_pairs(tmp_path: Path) -> None:
    program = "int main()\n{{\n    int {0} = {1};\n    return {0};\n}}\n"
    rows = [
        {"index": str(10 * label + place), "label": str(label), "code": program.format(name, label)}
        for label in (1, 2, 3)
        for place, name in enumerate("abcdef")
    ]
    whole = corpus(str(write(tmp_path / "test.jsonl", rows)))
    left_out = LeftOut()
    made = list(PairedUnits(whole=whole, same=CLONE, apart=DIFFERENT).read(left_out))
    assert (len(made), left_out.data_sets) == (18, {"POJ-104"})
    problem = {row["code"]: row["label"] for row in rows}
    for pair in made:
        assert pair.language == "c"
        assert pair.source != pair.other
        assert pair.label == (CLONE if problem[pair.source] == problem[pair.other] else DIFFERENT)
    assert 4 < sum(pair.label == CLONE for pair in made) < 14
    assert made == list(PairedUnits(whole=whole, same=CLONE, apart=DIFFERENT).read(LeftOut()))


def test_units_without_a_second_one_or_a_problem_are_no_pairs(tmp_path: Path) -> None:
    rows = [{"source": SUM, "label": label, "language": "java"} for label in (0, 1, "sum")]
    whole = corpus(str(write(tmp_path / "t.jsonl", rows)))
    with pytest.raises(CorpusError, match="has no second units"):
        list(PairedUnits(whole=whole, same=CLONE, apart=DIFFERENT).read(LeftOut()))


def test_a_second_unit_is_read_where_columns_name_it_and_shown_where_the_task_is_about_pairs(
    tmp_path: Path,
) -> None:
    row = {"source": SUM, "other": ADD, "label": 1, "language": "java"}
    path = str(write(tmp_path / "t.jsonl", [row]))
    (plain,) = corpus(path).read(LeftOut())
    (pair,) = corpus(path, None, CorpusResources(columns={"other": "other"})).read(LeftOut())
    assert (plain.other, pair.other) == ("", ADD)
    (bare,) = SeenLabels(corpus(str(write(tmp_path / "h.jsonl", [HUB]))), CLASSIFICATION).read(LeftOut())
    assert (bare.source, bare.other) == (SUM, "")

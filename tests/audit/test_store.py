"""The run folder: whole files or none, and tables that read back as they were."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.records import Case
from codeaudit.audit.rows import read_suite, suite_rows, verdict_rows
from codeaudit.audit.run import AuditSetup, audit
from codeaudit.audit.store import (
    SCHEMA,
    SUITE_COLUMNS,
    VERDICT_COLUMNS,
    RunFolder,
    TableWriter,
    read_about,
    read_rows,
    suite_contents,
)
from codeaudit.audit.suite import SuitePlan, cases
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.records import Move, Origin, Perturbed, Sample
from tests.audit.test_run import Silent
from tests.support.models import Recorder, case, echo, refuse

ABOUT = {"schema": 1, "task": "function-name"}
SOURCE = "def MASK(x, y):\n    a = x\n    b = y\n    c = a + 1\n    return b, c\n"


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_text("summary.json", "old")

    def fails() -> None:
        with folder.replacing("summary.json") as place:
            place.write_text("half", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert (tmp_path / "summary.json").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_a_folder_below_a_file_cannot_be_reserved(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match="cannot write to"):
        RunFolder(tmp_path / "file" / "run").reserve()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": "a web app"}', "is not the manifest of a codeaudit run"),
        ("{", "is not JSON"),
        ('{"codeaudit": "x", "schema": 99}', "has schema 99"),
    ],
)
def test_a_foreign_manifest_is_not_overwritten(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=message):
        RunFolder(tmp_path).reserve()


def test_a_manifest_reads_back(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_manifest({"codeaudit": "x", "schema": SCHEMA, "seed": 3})
    assert folder.manifest()["seed"] == 3
    with pytest.raises(RunError, match="no run at"):
        RunFolder(tmp_path / "nowhere").manifest()


def test_a_suite_reads_back_as_it_was(tmp_path: Path) -> None:
    sample = Sample(
        id="s1", language="python", source=SOURCE, label=("go",), origin=Origin(path="a.py", line=3)
    )
    plan = SuitePlan(transforms=("identity", "reorder", "rename", "rename-merging"), variants=3, seed=5)
    written = list(cases([sample], plan, workers=1))
    assert any(isinstance(outcome, Perturbed) and outcome.moves for outcome in written[0].outcomes)
    path = tmp_path / "suite.parquet"
    with TableWriter(path, SUITE_COLUMNS, ABOUT) as table:
        for seed in (5, 6):
            for saved in written:
                table.write(suite_rows(seed, saved))
    assert list(read_suite(path, seed=5)) == list(read_suite(path, seed=6)) == written
    assert list(read_suite(path, seed=7)) == []
    assert suite_contents(path) == ((5, 6), plan.transforms)
    assert read_about(path) == ABOUT
    resting = {row["transform"]: row["rests_on"] for row in read_rows(path, seed=5) if row["perturbed"]}
    assert resting["rename"] == "frames-unread,source-unread"
    assert {"looks-quiet", "nobody-between"} <= set(resting["reorder"].split(","))
    assert resting["identity"] is resting["rename-merging"] is None


def test_a_suite_that_is_written_again_rests_on_the_same(tmp_path: Path) -> None:
    """The text of its file is gone, and with it what the headers showed."""
    source = "int f(int a) {\n    int b = a;\n    return b;\n}\n"
    sample = Sample(
        id="s", language="c", source=source, label=None, origin=Origin(path="a.c", line=1), context=source
    )
    (made,) = cases([sample], SuitePlan(transforms=("rename",), variants=1, seed=5), workers=1)
    compiled = [
        replace(outcome, evidence="compiled") for outcome in made.outcomes if isinstance(outcome, Perturbed)
    ]
    columns = []
    saved = replace(made, outcomes=tuple(compiled))
    for number in range(2):
        path = tmp_path / f"{number}.parquet"
        with TableWriter(path, SUITE_COLUMNS, ABOUT) as table:
            table.write(suite_rows(5, saved))
        columns.append([row["rests_on"] for row in read_rows(path)])
        (saved,) = read_suite(path, seed=5)
    assert columns[0] == columns[1] == [None]


def test_a_suite_without_the_column_of_assumptions_can_be_read(tmp_path: Path) -> None:
    """Earlier versions did not write it."""
    sample = Sample(id="s", language="python", source=SOURCE, label=None, origin=Origin(path="a.py", line=1))
    written = list(cases([sample], SuitePlan(transforms=("rename",), variants=2, seed=5), workers=1))
    path = tmp_path / "suite.parquet"
    older = {name: kind for name, kind in SUITE_COLUMNS.items() if name != "rests_on"}
    with TableWriter(path, older, ABOUT) as table:
        for saved in written:
            table.write({name: row[name] for name in row if name in older} for row in suite_rows(5, saved))
    assert list(read_suite(path, seed=5)) == written


@pytest.mark.parametrize("label", [None, 1.5, "text", ("a", "b"), ()])
def test_labels_of_every_kind_read_back(tmp_path: Path, label: str | float | tuple[str, ...] | None) -> None:
    sample = Sample(id="s", language="x86", source="nop", label=label, origin=Origin(path="a.s", line=1))
    moves = (
        Move(kind="order", site=0, value=(1, 0), note="n"),
        Move(kind="rename", site=1, value="v", note=""),
    )
    outcome = Perturbed(
        sample=sample, transform="t", kind="control", variant=2, source="ret", moves=moves, evidence="none"
    )
    written = Case(sample=sample, outcomes=(outcome,))
    path = tmp_path / "suite.parquet"
    with TableWriter(path, SUITE_COLUMNS, ABOUT) as table:
        table.write(suite_rows(0, written))
    assert list(read_suite(path, seed=0)) == [written]


def test_verdicts_have_a_row_each(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.parquet"
    with TableWriter(path, VERDICT_COLUMNS, ABOUT) as table:
        for model in (Recorder(echo, name="echo"), Recorder(refuse, name="refuse")):
            setup = AuditSetup(
                model=model, task=FUNCTION_NAME, memory=NoMemory(), monitor=Silent(), batch_size=4
            )
            for audited in audit([case("aaaa", "ab", refused="r"), case("b")], setup):
                table.write(verdict_rows(7, audited))
    rows = list(read_rows(path))
    assert [(row["model"], row["outcome"]) for row in rows] == [
        ("echo", "held"),
        ("echo", "violated"),
        ("echo", "held"),
        *[("refuse", "unjudged")] * 3,
    ]
    assert {row["seed"] for row in rows} == {7}
    assert rows[3]["before"] == '{"failed": "endpoint: 429"}'
    assert rows[3]["deviation"] is None
    assert rows[0]["input"] != rows[1]["input"]


def test_damaged_and_missing_tables_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "suite.parquet"
    with pytest.raises(RunError, match="no table"):
        list(read_rows(path))
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(RunError, match="cannot read"):
        list(read_rows(path))
    with pytest.raises(RunError, match="cannot read"):
        read_about(path)


def test_a_table_that_is_no_suite_says_so(tmp_path: Path) -> None:
    path = tmp_path / "suite.parquet"
    with TableWriter(path, {"seed": "int64", "sample": "string"}, ABOUT) as table:
        table.write([{"seed": 1, "sample": "x"}])
    with pytest.raises(RunError, match="is damaged: row 1 has no 'language'"):
        list(read_suite(path, seed=1))


@pytest.mark.slow
def test_the_suite_does_not_depend_on_the_number_of_workers() -> None:
    samples = [
        Sample(
            id=f"s{number}",
            language="python",
            source=f"def MASK(x):\n    a = x\n    b = {number}\n    c = a\n    return b, c",
            label=None,
            origin=Origin(path="a.py", line=1),
        )
        for number in range(40)
    ]
    plan = SuitePlan(transforms=("identity", "reorder", "rename"), variants=2, seed=0)
    assert list(cases(samples, plan, workers=2)) == list(cases(samples, plan, workers=1))

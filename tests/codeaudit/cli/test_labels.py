"""Labels of tables: what a run says of a column that has none, others or some, and of a table without."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeaudit.cli.main import main

FEW = ["--model", "fake/hash", "--transform", "rename", "--variants", "1", "--workers", "1", "--out", "out"]
CODE = """\
def total_{0}(values, start):
    result = start + {0}
    for value in values:
        result = result + value
    return result
"""


@pytest.fixture(autouse=True)
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["code", "project", "empty", "bug", "is_bug"])
        for number in range(8):
            odd = ("1", "0", "n/a", "")[number % 4]
            rows.writerow([CODE.format(number), f"lib{number}", "", odd, number % 2])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("option", ["--columns=label=", "--labels="])
@pytest.mark.parametrize(
    ("column", "task", "code", "line"),
    [
        (
            "project",
            "error-detection",
            3,
            "column 'project' of t.csv has no label of error-detection but other values, such as 'lib",
        ),
        (
            "empty",
            "error-detection",
            3,
            "column 'empty' of t.csv has no label: all cells are empty or missing",
        ),
        (
            "bug",
            "error-detection",
            0,
            "column 'bug' of t.csv: 8 samples, of which 2 have another value, such as 'n/a' "
            "(it takes one of the words buggy, clean) and 2 have none",
        ),
        (
            "project",
            "function-name",
            0,
            "column 'project' of t.csv has no effect: the labels of function-name stand in the code",
        ),
    ],
)
def test_a_column_named_for_labels_is_looked_at(
    option: str, column: str, task: str, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--corpus", "t.csv", "--task", task, f"{option}{column}", *FEW]) == code
    assert line in capsys.readouterr().err


PAIR = {"func1": "int a(int b) { int k = b; return k; }", "func2": "int c(int d) { return d; }"}
FLAW = {"func": "int a(int b) { int c = b; return c; }", "cwe": []}


@pytest.mark.parametrize(
    ("task", "row", "label"),
    [
        ("clone-detection", PAIR, "label"),
        ("vulnerability-detection", FLAW, "target"),
        ("error-detection", {"code": CODE.format(1), "name": "f"}, "label"),
    ],
)
def test_a_column_that_a_data_set_has_for_labels_is_looked_at(
    task: str, row: Mapping[str, object], label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--corpus", "t.jsonl", "--task", task, *FEW]
    lines({**row, label: "maybe"})
    assert main(run) == 3
    err = capsys.readouterr().err
    assert f"t.jsonl has no label of {task} but other values, such as 'maybe' (it takes one of" in err
    assert "--label-map WORD=LABEL,… says what each of them means, and --labels none asks" in err
    if task == "clone-detection":
        lines(
            {**row, label: "maybe"}, {**row, label: 1, "func1": "int a(int b) { int k = b; return k + 1; }"}
        )
        assert main(run) == 0
        message = "the labels of t.jsonl: 2 samples, of which 1 has another value, such as 'maybe' ("
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_table_without_labels_is_told_of_unless_the_user_said_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = ["run", "--corpus", "t.csv", "--task", "error-detection", *FEW]
    hint = "t.csv has no labels of error-detection, so F1 is not known; --columns label=COLUMN names a column"
    assert main(plain) == 0
    assert hint in capsys.readouterr().err
    assert main([*plain, "--labels", "none", "--out", "none"]) == 0
    assert "has no labels" not in capsys.readouterr().err
    assert main([*plain, "--columns", "label=is_bug", "--out", "named"]) == 0
    err = capsys.readouterr().err
    assert "has no labels" not in err
    assert "is_bug" not in err, "a column that has all labels needs no word"
    scored = json.loads(Path("named/summary.json").read_text(encoding="utf-8"))["models"][0]["score"]
    assert scored["scored"] == 8


def test_a_column_of_no_numbers_does_not_give_way_to_measured_costs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["asm", "cycles"])
        rows.writerows([["addq %rax, %rbx\nmovq %rcx, %rdx", "unknown"], ["imulq %rsi, %rdi", "slow"]])
    for option in ("--columns=label=cycles", "--labels=cycles"):
        assert main(["run", "--corpus", "t.csv", "--task", "throughput", option, *FEW]) == 3
        assert (
            "column 'cycles' of t.csv has no label of throughput but other values" in capsys.readouterr().err
        )


JAVA = """\
public int total{0}(int[] values, int start) {{
    int result = start + {0};
    for (int value : values) {{
        result = result + value;
    }}
    return result;
}}
"""


def lines(*rows: Mapping[str, object]) -> None:
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_table_that_names_no_language_says_how_to_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "--corpus", "t.jsonl", *FEW]
    lines(*({"code": JAVA.format(number)} for number in range(4)))
    assert main(run) == 3
    err = capsys.readouterr().err
    assert "(4 × row that looks like Java); if it is Java, write --columns language=java" in err
    assert main([*run, "--columns", "language=java"]) == 0
    assert "corpus t.jsonl: 4 of 4 methods" in capsys.readouterr().err
    assert main([*run, "--columns", "language=jav"]) == 3
    assert "table 't.jsonl' has no column 'jav'" in capsys.readouterr().err


def test_a_name_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines({"a": CODE.format(1), "b": CODE.format(2)})
    assert main(["run", "--corpus", "t.jsonl", *FEW, "--columns", "source=a,source=b"]) == 2
    assert "--columns names source twice: a and b" in capsys.readouterr().err


def test_a_column_of_languages_wins_over_a_language_of_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"code": JAVA.format(number), "java": "Java"} for number in range(3)]
    lines(*rows, {"code": CODE.format(3), "java": "python"})
    assert main(["run", "--corpus", "t.jsonl", *FEW, "--columns", "language=java"]) == 0
    assert "corpus t.jsonl: 4 of 4 samples" in capsys.readouterr().err


def test_a_language_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    lines(*({"code": JAVA.format(number), "language": "Jva"} for number in range(4)))
    assert main(["run", "--corpus", "t.jsonl", *FEW]) == 3
    assert (
        "'jva' is no language that codeaudit knows: algebra, c, cpp, java, javascript, python, typescript, x86"
        in capsys.readouterr().err
    )


def test_a_corpus_of_another_task_names_the_task(capsys: pytest.CaptureFixture[str]) -> None:
    lines({"asm": "addq %rax, %rbx\nmovq %rcx, %rdx"})
    assert main(["run", "--corpus", "t.jsonl", *FEW]) == 3
    assert "; the task is function-name: --task throughput fits this corpus" in capsys.readouterr().err


def test_a_model_of_another_language_says_where_to_find_one(capsys: pytest.CaptureFixture[str]) -> None:
    lines(*({"code": JAVA.format(number)} for number in range(3)))
    few = ["--model", "spe-checkpoint", *FEW[2:], "--columns", "language=java"]
    assert main(["run", "--corpus", "t.jsonl", *few]) == 3
    err = capsys.readouterr().err
    assert "× not Python); codeaudit list models names the models of each language" in err
    assert "next: codeaudit report out --html FILE\n" in err, "nothing can be explained"

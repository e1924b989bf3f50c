"""The task `classification`: labels of a column, as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.interface import OneLabel, as_label
from codeaudit.audit.models.fake import FAKES
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.classification import CLASSIFICATION, prompt_for
from codeaudit.cli.main import main

LABELS = ("CWE-79", "CWE-790", "safe", "Safe")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("CWE-79", "CWE-79"),
        ("  two  words ", "two words"),
        (True, "true"),
        (False, "false"),
        (1, "1"),
        (1.0, "1"),
        ("1.0", "1"),
        ("-3.0", "-3"),
        (0.25, "0.25"),
        ("1.05", "1.05"),
        ("", None),
        ("   ", None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
        (["a"], None),
    ],
)
def test_cells_and_answers_are_labels_in_the_same_way(value: object, label: str | None) -> None:
    assert as_label(value) == label


def test_labels_are_case_sensitive_and_nothing_else_is_taken() -> None:
    task = CLASSIFICATION.fitted(LABELS)
    assert task.normalise("safe") == "safe"
    assert task.normalise("Safe") == "Safe"
    assert task.normalise("SAFE") is None
    assert CLASSIFICATION.normalise("SAFE") == "SAFE", "before the corpus is read, every text may be one"
    assert TASKS.get("classification").answers == OneLabel(labels=())


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("CWE-79", "CWE-79"),
        ("`CWE-790`", "CWE-790"),
        ("**safe**.", "safe"),
        ("Answer: Safe", "Safe"),
        ("The label is CWE-790.", "CWE-790"),
        ("CWE-79 or CWE-790", None),
        ("It is not safe, it is CWE-79", None),
        ("CWE-7", None),
        ("unsafe", None),
        ("", None),
    ],
)
def test_a_reply_is_read_if_it_names_one_label(reply: str, label: str | None) -> None:
    said = prompt_for(LABELS).read(reply)
    assert said.answer == label if isinstance(said, Predicted) else label is None and isinstance(said, Failed)


def test_the_prompt_lists_the_labels() -> None:
    query = Query(task="classification", language="python", source="def f(): pass", labels=LABELS)
    (message,) = prompt_for(LABELS).messages(query)
    assert all(f"\n- {label}\n" in message.content for label in LABELS)


def test_fakes_choose_a_label() -> None:
    query = Query(task="classification", language="python", source="def f(): pass", labels=LABELS)
    assert all(fake(query) in LABELS for fake in FAKES.values())


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────

MODELS = """
def size(queries):
    return [query.labels[len(query.source) % len(query.labels)] for query in queries]

def words(queries):
    return ["big" if len(query.source) % 2 else "small" for query in queries]

def numbers(queries):
    return [len(query.source) % 2 for query in queries]

def names(queries):
    return ["get_value" for query in queries]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "labelled_models.py").write_text(MODELS, "utf-8")
    rows = []
    for number in range(40):
        source = f"def spread_{number}(values):\n    low = min(values)\n    high = max(values)\n    return high - low + {10 ** (number % 4)}\n"
        rows.append(
            {"source": source, "label": ["A", "b", "C c"][number % 3], "flag": number % 2, "name": source[:9]}
        )
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def run(*words: str) -> tuple[int, dict[str, Any]]:
    options = ["--transform", "rename", "--variants", "1", "--workers", "1", "--movable", "0", "--out", "out"]
    code = main(["run", "--corpus", "data.jsonl", *words, *options])
    summary = Path("out/summary.json")
    return code, json.loads(summary.read_text("utf-8"))["models"][0] if summary.exists() else {}


def test_a_column_of_labels_is_audited_with_accuracy_and_more(here: Path) -> None:
    code, model = run("--task", "classification", "--model", "py/labelled_models:size")
    assert code == 0
    assert model["score"]["name"] == "accuracy"
    agreement = model["agreement"]
    assert agreement["classes"].keys() == {"A", "b", "C c"}
    assert agreement["labels"] == sum(n for row in agreement["classes"].values() for n in row.values()) == 40
    assert agreement["accuracy"] == pytest.approx(model["score"]["original"])
    assert agreement["mcc"] is not None


@pytest.mark.slow
def test_words_of_the_model_are_mapped_to_values_of_the_column(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = ["--columns", "label=flag", "--task", "classification"]
    code, mapped = run(*flag, "--model", "py/labelled_models:words", "--label-map", "big=1,small=0")
    assert code == 0
    code, numbers = run(*flag, "--model", "py/labelled_models:numbers")
    assert code == 0
    assert mapped["agreement"]["classes"] == numbers["agreement"]["classes"]
    capsys.readouterr()
    code, _ = run(*flag, "--model", "py/labelled_models:words")
    message = capsys.readouterr().err
    assert code == 3
    assert "'big'" in message
    assert "0, 1" in message
    assert "--label-map WORD=LABEL" in message


@pytest.mark.slow
def test_the_map_is_for_other_closed_tasks_too(here: Path) -> None:
    mapping = ["--label-map", "A=1,b=0,C c=0,big=1,small=0"]
    code, model = run("--task", "error-detection", "--model", "py/labelled_models:words", *mapping)
    assert code == 0
    assert model["agreement"]["classes"].keys() == {"buggy", "clean"}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["py/labelled_models:names", None])
def test_a_run_does_not_choose_names_where_the_data_has_labels(
    here: Path, model: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = run(*([] if model is None else ["--model", model]))
    message = capsys.readouterr().err
    assert code == 2
    assert "has 3 labels: A (14), b (13), C c (13)" in message
    assert "--task classification" in message
    code, _ = run("--task", "function-name", "--model", "py/labelled_models:names")
    assert code == 0, "whoever names the task has chosen it"


@pytest.mark.parametrize("wrong", ["big", "big=", "=1", "big=1,big=0"])
def test_a_wrong_map_is_one_line(here: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = run("--task", "classification", "--model", "py/labelled_models:words", "--label-map", wrong)
    assert code == 2
    assert "--label-map" in capsys.readouterr().err


@pytest.mark.parametrize(("column", "told"), [("source", "different labels"), ("nothing", "no column")])
def test_a_column_that_holds_something_else_is_told(
    here: Path, column: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = run(
        "--columns", f"label={column}", "--task", "classification", "--model", "py/labelled_models:size"
    )
    assert code == 3
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_another_map_is_another_run(here: Path) -> None:
    flag = ["--columns", "label=flag", "--task", "classification", "--model", "py/labelled_models:words"]
    _, first = run(*flag, "--label-map", "big=1,small=0")
    _, other = run(*flag, "--label-map", "big=0,small=1")
    assert first["agreement"]["accuracy"] == pytest.approx(1 - other["agreement"]["accuracy"])

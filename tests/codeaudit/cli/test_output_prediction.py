"""Output prediction from end to end: a model that executes the code is right, never flips and sees controls."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.corpora.calls import parted
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.store import read_rows
from codeaudit.audit.tasks.output_prediction import OUTPUT_PREDICTION
from codeaudit.cli.main import main
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS, installed
from tests.support.data import data_set

FUNCTIONS = '''\
import os


def _weigh(words, least=2):
    """Weigh words."""
    total = 0
    longest = ""
    for word in words:
        if len(word) >= least:
            total += len(word)
        if len(word) > len(longest):
            longest = word
    return total, longest


def spread(a: int, b: int):
    low = a - b
    high = a + b
    middle = (a * 3 - b) // 2
    return {"low": low, "high": high, "middle": middle}


def divide(values: list[int]):
    count = len(values)
    total = sum(values)
    return total // count


def home(name):
    path = os.path.join(name, "x")
    return path


class Account:
    def owner(self, name):
        first = name
        return first
'''

EXECUTES = """\
import ast, contextlib, io, json, signal, sys


class Late(BaseException):
    pass


def late(*_):
    raise Late


def answer(source):
    *body, last = ast.parse(source).body
    space = {"__name__": "own"}
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 10)  # a control may never end
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(ast.Module(body, []), "own", "exec"), space)
            return repr(eval(compile(ast.Expression(last.value), "own", "eval"), space))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    except Late:
        return "late"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run(queries):
    return [answer(query.source) for query in queries]


def lazy(queries):
    return [query.source.splitlines()[-1] for query in queries]


if __name__ == "__main__":
    for line in sys.stdin:
        query = json.loads(line)
        print(json.dumps({"id": query["id"], "answer": answer(query["source"])}), flush=True)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "executing.py").write_text(EXECUTES, encoding="utf-8")
    return tmp_path


def models(out: str = "out") -> Mapping[str, Mapping[str, Any]]:
    summary = json.loads(Path(out, "summary.json").read_text(encoding="utf-8"))
    assert summary["task"] == "output-prediction"
    return {model["model"]: model for model in summary["models"]}


def run(*words: str) -> int:
    return main(["run", "--task", "output-prediction", "--workers", "1", "--out", "out", *words])


TRANSFORMS = (
    "reorder,rename,rename-parameters,rename-functions,swap-operands,expand-augmented,remove-docstrings"
)


@pytest.mark.slow
def test_what_executes_the_code_is_right_and_nothing_else_is(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = f"exec/{sys.executable} executing.py"
    asked = ["py/executing:run", program, "py/executing:lazy", "fake/hash", "fake/constant", "fake/length"]
    words = [word for model in asked for word in ("--model", model)]
    assert run("--corpus", "functions.py", "--transform", TRANSFORMS, *words) == 0
    printed = capsys.readouterr().err
    assert re.search(r": 3 of \d+ functions", printed) is not None
    assert "1 × it needs what is not there, 1 × method" in printed

    by_model = models()
    for name in asked[:2]:
        model = by_model[name]
        assert model["score"]["name"] == "accuracy"
        assert model["score"]["original"] == 1.0
        assert model["score"]["attack_worst_sample"] == 1.0
        assert model["pairs"]["count"] == 0 < model["pairs"]["total"]
        assert model["sensitivity"]["rate"] == 1.0
        assert model["sensitivity"]["total"] > 0
        assert set(model["unjudged_reasons"]) <= {"the right answer stays"}
    assert by_model["fake/hash"]["score"]["original"] == 0.0
    assert by_model["fake/hash"]["pairs"]["rate"] == 1.0
    assert by_model["fake/constant"]["sensitivity"]["rate"] == 0.0
    assert by_model["py/executing:lazy"]["pairs"]["count"] > 0, "rename-functions changes the call's name"


@pytest.mark.slow
def test_every_row_of_a_suite_holds_a_program_and_what_it_gives(here: Path) -> None:
    words = [
        "functions.py",
        "--suite",
        "suite.jsonl",
        "--task",
        "output-prediction",
        "--transform",
        TRANSFORMS,
    ]
    assert main(["transform", *words]) == 0
    space: dict[str, Any] = {}
    exec(EXECUTES, space)
    rows = [row for row in read_rows(Path("suite.jsonl")) if row["status"] == "perturbed"]
    assert {row["transform"] for row in rows} >= {"identity", "rename-functions", "rename-merging"}
    for row in rows:
        assert parted(row["perturbed"]) is not None
        label = json.loads(row["label_after"])
        if row["kind"] != "control":
            assert row["label_after"] == row["label"]
        if row["kind"] == "preserving":
            assert row["evidence"] == "executed"
        if label is not None and not label.startswith("<"):
            said = space["answer"](row["perturbed"])
            assert OUTPUT_PREDICTION.normalise(said) == label

    Path("p.jsonl").write_text(
        "".join(
            json.dumps({"id": row["input"], "answer": space["answer"](row["perturbed"])}) + "\n"
            for row in rows
        ),
        encoding="utf-8",
    )
    assert main(["run", "--suite", "suite.jsonl", "--model", "file/p.jsonl", "--out", "out"]) == 0
    (model,) = models().values()
    assert model["score"]["original"] == 1.0
    assert model["pairs"]["count"] == 0 < model["pairs"]["total"]
    assert model["sensitivity"]["rate"] == 1.0


@pytest.mark.slow
def test_execution_beside_the_call_agrees(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", "functions.py", "--model", "py/executing:run", "--execute") == 0
    printed = capsys.readouterr().err
    assert "agree with their original, 0 do not (left out)" in printed
    assert models()["py/executing:run"]["score"]["original"] == 1.0


@pytest.mark.slow
def test_a_table_of_calls_is_taken_at_its_word(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total\n\nf([1, 2, 3])"
    rows = [{"code": text, "id": 1}, {"code": "def g(a):\n    return a.b\n\ng(1)", "id": 2}]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert run("--corpus", "t.jsonl", "--model", "py/executing:run") == 0
    labels = {json.loads(row["label"]) for row in read_rows(Path("out/suite.parquet"))}
    assert labels == {"6", "AttributeError"}
    assert models()["py/executing:run"]["score"]["original"] == 1.0


@pytest.mark.slow
def test_a_parameter_that_a_call_names_keeps_its_name(here: Path) -> None:
    text = "def h(first, second):\n    third = first - second\n    return third\n\nh(1, second=2)"
    Path("t.jsonl").write_text(json.dumps({"code": text}) + "\n", encoding="utf-8")
    words = ["--corpus", "t.jsonl", "--transform", "rename,rename-parameters", "--model", "py/executing:run"]
    assert run(*words) == 0
    rows = [row for row in read_rows(Path("out/suite.parquet")) if row["transform"] == "rename-parameters"]
    renamed = [str(row["perturbed"]) for row in rows if row["status"] == "perturbed"]
    assert renamed
    assert all(", second)" in text and "first" not in text for text in renamed)
    assert DIFFERS not in {row["reason"] for row in rows}
    (model,) = models().values()
    assert model["pairs"]["count"] == 0 < model["pairs"]["total"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--labels", "column"], 2, "the labels of task 'output-prediction' are found by execution"),
        (["--corpus", "executing.py"], 3, "no functions in corpus 'executing.py'"),
    ],
)
def test_bad_input_is_one_line(
    here: Path, words: Sequence[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--model", "fake/hash", *words) == code
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(bool(TOOLCHAINS["javascript"].missing), reason="node")
def test_labels_name_what_runs_the_language(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"code": "function f(a) {\n  let b = a;\n  return b + 1;\n}", "input": "1", "output": "2"}
    Path("rows.jsonl").write_text(json.dumps({**row, "language": "javascript"}) + "\n", encoding="utf-8")
    assert run("--model", "fake/hash", "--corpus", "rows.jsonl") == 0
    node = installed(TOOLCHAINS["javascript"])
    assert node is not None
    assert f"labels: tool sandbox, node {node.version}\n" in capsys.readouterr().err


@pytest.mark.slow
def test_human_eval(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = data_set("HumanEval.jsonl.gz")
    assert run("--corpus", str(table), "--limit", "6", "--variants", "2", "--model", "py/executing:run") == 0
    assert "0 do not (left out)" in capsys.readouterr().err
    (model,) = models().values()
    assert model["samples"] == 6
    assert model["score"]["original"] == 1.0
    assert model["pairs"]["count"] == 0 < model["pairs"]["total"]
    assert model["sensitivity"]["rate"] == 1.0

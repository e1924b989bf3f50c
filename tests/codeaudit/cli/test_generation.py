"""Generation and next lines from end to end: scores that are known beforehand, and what passes for real."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.audit.tasks.generation import FAILS_NOW
from codeaudit.cli.main import main
from tests.support.data import data_set

PROBLEMS = {
    "first": (
        "def first(values):\n",
        '    """Add up."""\n    total = 0\n    scale = len(values)\n',
        "    for value in values:\n        total += value\n    return total + scale\n",
        "def check(candidate):\n    assert candidate([3, 4]) == 9\n",
    ),
    "second": (
        "def second(words):\n",
        '    """Find the longest."""\n    best = ""\n    found = 0\n',
        "    for word in words:\n        if len(word) > len(best):\n            best = word\n"
        "            found += 1\n    return best, found\n",
        "def check(candidate):\n    assert candidate(['a', 'b', 'cc']) == ('cc', 2)\n",
    ),
    "third": (
        "def third(a, b):\n",
        '    """Tell the middle."""\n    low = min(a, b)\n    high = max(a, b)\n',
        "    middle = (low + high) // 2\n    return [low, middle, high]\n",
        "def check(candidate):\n    assert candidate(7, 3) == [3, 5, 7]\n",
    ),
}

MODEL = '''\
import json, re, sys

RESTS = {rests}


def answer(source):
    """The rest of the original; of `third` only behind a comment."""
    name = re.findall(r"^def (\\w+)", source, re.MULTILINE)[-1]
    return "    pass\\n" if name == "third" and "#" not in source else RESTS[name]


def run(queries):
    return [answer(query.source) for query in queries]


def tries(queries):
    return [[answer(query.source), "    pass", answer(query.source), "", "x = ("] for query in queries]


def line(queries):
    return [answer(query.source) for query in queries]


if __name__ == "__main__":
    for each in sys.stdin:
        query = json.loads(each)
        print(json.dumps({{"id": query["id"], "answer": answer(query["source"])}}), flush=True)
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", sys.path[:])
    rows = [
        {
            "task_id": f"own/{name}",
            "prompt": head,
            "canonical_solution": shown + rest,
            "test": tests,
            "entry_point": name,
        }
        for name, (head, shown, rest, tests) in PROBLEMS.items()
    ]
    Path("own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rests = {name: rest for name, (_, _, rest, _) in PROBLEMS.items()}
    Path("partly.py").write_text(MODEL.format(rests=rests), encoding="utf-8")
    return tmp_path


def run(*words: str, task: str = "generation") -> int:
    return main(["run", "--task", task, "--workers", "1", "--out", "out", *words])


def models() -> Mapping[str, Mapping[str, Any]]:
    summary = json.loads(Path("out", "summary.json").read_text(encoding="utf-8"))
    return {model["model"]: model for model in summary["models"]}


def numbers(model: Mapping[str, Any], k: int = 1) -> Mapping[str, Sequence[float | None]]:
    names = ("nominal", "robust", "drop", "relative")
    return {
        block["transform"]: [block[name]["value"] for name in names]
        for block in model["robust"]
        if block["k"] == k
    }


OWN = ("--corpus", "own.jsonl", "--transform", "rename,insert-comments", "--variants", "1")


def test_robust_pass_is_what_was_computed_by_hand(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = f"exec/{sys.executable} partly.py"
    asked = ["py/partly:run", program, "py/partly:tries", "fake/hash"]
    assert run(*OWN, "--no-controls", *(word for model in asked for word in ("--model", model))) == 0
    said = capsys.readouterr()
    assert "3 of 3 problems" in said.err
    assert "Robust pass@k" in said.out

    by_model = models()
    for name in asked[:2]:
        model = by_model[name]
        assert model["score"]["name"] == "pass@1"
        assert model["score"]["original"] == pytest.approx(2 / 3)
        assert model["score"]["attack_worst_sample"] == 0.0
        # Behind other names nothing passes; behind a comment `third` does.
        assert numbers(model) == {
            "": pytest.approx([2 / 3, 0, 1, 1]),
            "insert-comments": pytest.approx([2 / 3, 1, -1 / 2, 1 / 3]),
            "rename": pytest.approx([2 / 3, 0, 1, 2 / 3]),
        }
        assert (model["pairs"]["count"], model["pairs"]["total"]) == (3, 6)
        (every, *_) = model["robust"]
        assert (every["problems"], every["variants"], every["most_variants"]) == (3, 6, 2)
    tries = by_model["py/partly:tries"]
    assert tries["score"]["original"] == pytest.approx(2 / 3 * 2 / 5)
    assert numbers(tries)["insert-comments"] == pytest.approx([4 / 15, 2 / 5, -1 / 2, 2 / 15])
    assert numbers(tries, 5)["insert-comments"] == pytest.approx([2 / 3, 1, -1 / 2, 1 / 3])
    assert by_model["fake/hash"]["score"]["original"] == 0.0
    assert numbers(by_model["fake/hash"])[""] == [0.0, 0.0, None, 0.0]


@pytest.mark.slow
def test_controls_are_seen_where_the_answer_fails_behind_them(here: Path) -> None:
    assert run("--corpus", "own.jsonl", "--model", "py/partly:run", "--model", "fake/constant") == 0
    by_model = models()
    assert by_model["py/partly:run"]["sensitivity"]["count"] > 0
    assert (
        by_model["fake/constant"]["sensitivity"]["count"]
        == 0
        < by_model["fake/constant"]["sensitivity"]["total"]
    )


@pytest.mark.slow
def test_a_suite_tells_the_prompts_and_stays_as_it_is(here: Path) -> None:
    words = ["own.jsonl", "--suite", "suite.jsonl", "--task", "generation", "--transform", "rename,dead-code"]
    assert main(["transform", *words]) == 0
    rows = [row for row in read_rows(Path("suite.jsonl")) if row["status"] == "perturbed"]
    made = []
    for row in rows:
        assert row["source"].startswith(row["asked"])
        assert row["perturbed"].startswith(row["asked_after"])
        if row["kind"] == "preserving":
            assert row["evidence"] == "executed"
            assert row["asked_after"] != row["asked"]
        assert json.loads(row["label"]) == json.loads(row["label_after"])
        made.append({"id": row["input"], "answer": row["perturbed"][len(row["asked_after"]) :]})
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    by_text = [{"asked_after": row["asked_after"], **one} for row, one in zip(rows, made, strict=True)]
    for row in by_text:
        del row["id"]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in by_text), encoding="utf-8")
    for answers in ("p.jsonl", "t.jsonl"):
        assert main(["run", "--suite", "suite.jsonl", "--model", f"file/{answers}", "--out", "out"]) == 0
        (model,) = models().values()
        assert model["score"]["original"] == 1.0
        assert model["pairs"]["count"] == 0 < model["pairs"]["total"]
        assert model["sensitivity"]["rate"] == 1.0


@pytest.mark.slow
def test_violations_are_explained_and_searched_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--attack", "greedy", "--budget", "6", "--model", "py/partly:run")
    assert run(*OWN, *words) == 0
    (model,) = models().values()
    (attack,) = model["attacks"]
    assert attack["violated"]["count"] == 3
    assert main(["explain", "out", "--model", "py/partly:run"]) == 0
    printed = capsys.readouterr().out
    assert "1 of 3 moves" in printed
    after = [line for line in printed.splitlines() if line.startswith("after")]
    assert any("fails: UnboundLocalError" in line for line in after), "names for two of them"
    assert any("passes \N{RETURN SYMBOL}     middle" in line for line in after), "a comment for the third"


def test_no_search_takes_a_variant_that_cannot_be_solved_for_a_violation(here: Path) -> None:
    """The tests call by keyword, so that the parameter cannot have another name."""
    row = json.loads(Path("own.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row["test"] = "def check(candidate):\n    assert candidate(values=[3, 4]) == 9\n"
    Path("named.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    words = ("--transform", "rename-parameters", "--attack", "random", "--budget", "4", "--no-controls")
    assert run("--corpus", "named.jsonl", "--variants", "1", *words, "--model", "py/partly:run") == 3
    (made,) = [row for row in read_rows(Path("out/suite.parquet")) if row["kind"] == "preserving"]
    assert made["reason"] == FAILS_NOW
    (attack,) = read_rows(Path("out/attacks.parquet"))
    assert attack["outcome"] == "violated", "other names of variables are there for it"
    assert attack["perturbed"].startswith("def first(values):")


@pytest.mark.slow
def test_a_network_that_knows_nothing_passes_nothing(here: Path) -> None:
    made = pytest.importorskip("tests.audit.models.hf.networks", exc_type=ImportError)
    words = made.tokenizer(made.GPT)
    made.save(here / "random", made.gpt2("GPT2LMHeadModel", words), words)
    assert run(*OWN, "--model", "hf/random", "-M", "max_new_tokens=6") == 0
    (model,) = models().values()
    assert model["score"]["original"] == 0.0
    assert model["pairs"]["count"] == 0 < model["pairs"]["total"]


@pytest.mark.parametrize(
    ("task", "words", "code", "message"),
    [
        ("generation", ["--labels", "x"], 2, "the labels of task 'generation' are found by execution"),
        ("next-line", ["--labels", "x"], 2, "the labels of task 'next-line' stand in the code"),
        (
            "generation",
            ["--wrap", "canonical"],
            2,
            "'canonical/fake/hash' sees canonical code, and an answer",
        ),
        ("next-line", ["--wrap", "canonical"], 2, "audit the model without the wrapper"),
        ("generation", ["--corpus", "partly.py"], 3, "no problems in corpus 'partly.py' ("),
    ],
)
def test_bad_input_is_one_line(
    here: Path, task: str, words: Sequence[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = [] if "--corpus" in words else ["--corpus", "own.jsonl"]
    assert run("--model", "fake/hash", *corpus, *words, task=task) == code
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_how_much_is_shown_can_be_said_and_suites_keep_it(here: Path) -> None:
    words = ["own.jsonl", "--suite", "suite.jsonl", "--transform", "rename-parameters", "--no-controls"]
    assert main(["transform", *words, "--task", "generation:0"]) == 0
    rows = list(read_rows(Path("suite.jsonl")))
    assert {row["task"] for row in rows} == {"generation"}
    assert all(row["asked"].endswith('."""\n') for row in rows)
    assert main(["run", "--suite", "suite.jsonl", "--model", "fake/hash", "--out", "out"]) == 0
    again = list(read_rows(Path("out/suite.parquet")))
    assert [row["asked"] for row in again] == [row["asked"] for row in rows]
    words = ["--corpus", "own.jsonl", "--transform", "unused-locals", "--model", "fake/hash"]
    assert run(*words, task="next-line:0.3") == 0


def test_next_lines(here: Path) -> None:
    assert run(*OWN, "--model", "py/partly:line", task="next-line") == 0
    (model,) = models().values()
    score = model["score"]
    assert score["name"] == "exact match"
    assert score["original"] == pytest.approx(2 / 3)
    assert set(score["likeness"]) == {"edit similarity", "BLEU-4"}
    assert 0 < score["likeness"]["BLEU-4"] < score["likeness"]["edit similarity"] < 1
    assert model["robust"] == []
    for row in read_rows(Path("out/suite.parquet")):
        if row["status"] == "perturbed" and row["kind"] == "preserving":
            line = row["perturbed"][len(row["asked_after"]) :].partition("\n")[0]
            assert line.strip() == json.loads(row["label"])


@pytest.mark.slow
def test_human_eval(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that knows the right rest of each prompt passes everywhere."""
    table = str(data_set("HumanEval.jsonl.gz"))
    words = ["--suite", "suite.jsonl", "--task", "generation", "--limit", "8", "--variants", "1"]
    assert main(["transform", table, *words, "--transform", "rename,reorder,dead-code,insert-comments"]) == 0
    made = [
        {"id": row["input"], "answer": row["perturbed"][len(row["asked_after"]) :]}
        for row in read_rows(Path("suite.jsonl"))
        if row["status"] == "perturbed"
    ]
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    assert main(["run", "--suite", "suite.jsonl", "--model", "file/p.jsonl", "--out", "out"]) == 0
    (model,) = models().values()
    assert model["samples"] == 8
    assert model["score"]["original"] == model["score"]["attack_worst_sample"] == 1.0
    assert model["pairs"]["total"] > 8

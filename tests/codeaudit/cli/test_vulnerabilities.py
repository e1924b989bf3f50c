"""Vulnerability detection from the command line: missed flaws, marked edits, sides of a fix, and the gate."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeaudit.cli.main import main
from codeaudit.reports.records import ModelSummary, Summary

COUNT = 24
MODEL = """\
def predict(samples):
    return ["vulnerable (CWE-89)" if "query" in one.source else "safe" for one in samples]

def steady(samples):
    return [1 if "%s" in one.source else 0 for one in samples]

def deaf(samples):
    return ["safe" for one in samples]
"""
TASK = "--task=vulnerability-detection"


def row(number: int) -> dict[str, Any]:
    head = f"def find_{number}(db, key):\n    first = 1\n    second = 2\n    count = {number}\n    rest = key + count\n"
    return {
        "func_name": f"find_{number}",
        "func_src_before": head + "    query = 'select %s' % rest\n    return db.execute(query)\n",
        "func_src_after": head + "    text = 'select ?'\n    return db.execute(text, [rest])\n",
        "commit_link": f"github.com/a/b/commit/{number}",
        "file_name": "a.py",
        "vul_type": "cwe-089",
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flaws")
    (folder / "my_detector.py").write_text(MODEL, encoding="utf-8")
    rows = (json.dumps(row(number)) + "\n" for number in range(COUNT))
    (folder / "sven.jsonl").write_text("".join(rows), encoding="utf-8")
    return folder


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))
    return place


def run(out: str, *words: str) -> int:
    common = ("--corpus", "sven.jsonl", "--movable", "0", "--variants", "2", "--out", out)
    return main(["run", TASK, *common, *words])


@pytest.fixture
def audited(here: Path, capsys: pytest.CaptureFixture[str]) -> Summary:
    if not (here / "out").exists():
        assert run("out", "--model", "py/my_detector:predict") == 0
    capsys.readouterr()
    return Summary.from_json((here / "out" / "summary.json").read_text(encoding="utf-8"))


def only(summary: Summary) -> ModelSummary:
    (model,) = summary.models
    return model


@pytest.mark.slow
def test_missed_flaws_are_counted_apart_from_false_alarms(audited: Summary) -> None:
    model = only(audited)
    assert audited.finding == "vulnerable"
    assert (model.missed.violations.count, model.missed.violations.total) == (COUNT, COUNT)
    assert (model.raised.violations.count, model.raised.violations.total) == (0, COUNT)
    rows = {row.transform: row for row in model.by_transform}
    assert rows["rename"].missed.violations.count == COUNT
    assert rows["reorder"].missed.violations.count == 0
    assert rows["other-side"].missed.violations.total == 0


def test_the_rate_without_the_edits_of_the_fix_stands_beside_the_one_of_all(audited: Summary) -> None:
    model = only(audited)
    rows = {row.transform: row for row in model.by_transform}
    # Every renaming that hides the flaw renames the variable of the flawed line.
    assert model.violations.count == COUNT
    assert rows["rename"].marked > 0
    assert model.unmarked.violations.count == 0
    assert 0 < model.marked < model.pairs.total


def test_the_sides_of_a_fix_are_scored_as_pairs_and_are_the_control(audited: Summary) -> None:
    model = only(audited)
    assert (model.sides.correct, model.sides.total) == (COUNT, COUNT)
    assert (model.sensitivity.count, model.sensitivity.total) == (2 * COUNT, 2 * COUNT)
    kinds = {row.transform for row in model.by_transform if row.kind == "control"}
    assert kinds == {"other-side"}


def test_a_run_says_what_is_known_of_the_labels(audited: Summary, capsys: pytest.CaptureFixture[str]) -> None:
    (remark,) = audited.told_errors
    known = "The rows have the columns of SVEN. Known of that data set: 94 % of its vulnerable functions"
    assert remark.startswith(known)
    assert main(["report", "out", "--html", "out.html"]) == 0
    assert main(["report", "out"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert remark in shown
    assert f"missed flaws that it had found: {COUNT}/{COUNT}" in shown
    page = Path("out.html").read_text(encoding="utf-8")
    for text in ("off the fix", "P-C", "arXiv 2411.17274", "false alarm"):
        assert text in page


@pytest.mark.parametrize(("limit", "code"), [("10%", 1), ("100%", 0)])
def test_the_gate_holds_missed_flaws_to_a_limit(
    audited: Summary, capsys: pytest.CaptureFixture[str], limit: str, code: int
) -> None:
    assert main(["gate", "out", "--max-missed", limit, "--format", "json"]) == code
    checks = json.loads(capsys.readouterr().out)["checks"]
    (check,) = [
        check for check in checks if check["name"] == "missed flaws" and check["transform"] == "rename"
    ]
    assert check["outcome"] == ("failed" if code else "passed")
    assert check["value"] == 1.0


@pytest.mark.slow
def test_a_suite_keeps_the_fixes_and_what_is_known_of_the_labels(audited: Summary, here: Path) -> None:
    words = ("--suite", "out/suite.parquet", "--model", "py/my_detector:predict", "--out", "again")
    assert main(["run", *words]) == 0
    again = Summary.from_json((here / "again" / "summary.json").read_text(encoding="utf-8"))
    assert again.told_errors == audited.told_errors
    assert only(again).sides == only(audited).sides
    assert only(again).unmarked == only(audited).unmarked


def test_the_control_is_not_named_by_the_user(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("named", "--model", "py/my_detector:deaf", "--transform", "other-side") == 2
    assert "'other-side' rewrites no code: a task of fixes takes it as its control" in capsys.readouterr().err


@pytest.mark.slow
def test_a_good_run_suggests_the_limit(here: Path) -> None:
    assert run("good", "--model", "py/my_detector:steady", "--transform", "rename") == 0
    assert main(["gate", "good", "--write-limits", "limits.toml"]) == 0
    comment = f"measured: 0 % (0/{COUNT} found flaws missed) under rename"
    assert f'max-missed = "14%" # {comment}' in Path("limits.toml").read_text(encoding="utf-8")


def test_a_limit_on_missed_flaws_needs_flaws(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A model that finds nothing misses nothing: there is nothing to judge.
    assert run("deaf", "--model", "py/my_detector:deaf", "--limit", "10", "--transform", "rename") == 0
    assert main(["gate", "deaf", "--max-missed", "10%", "--allow-insensitive"]) == 3
    assert "nothing judged" in capsys.readouterr().out
    words = ("--task=classification", "--corpus", "labels.csv", "--model", "fake/length", "--out", "other")
    Path("labels.csv").write_text(
        "source,label\n" + "".join(f'"def f{n}(a):\n    b = a\n    return b\n",{n % 2}\n' for n in range(4))
    )
    assert main(["run", *words, "--movable", "0"]) == 0
    assert main(["gate", "other", "--max-missed", "10%"]) == 2
    assert (
        "--max-missed is for tasks that find flaws; the run asked classification" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_all_leaves_out_what_may_be_a_flaw_of_its_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def tried(out: str, *names: str) -> set[str]:
        words = ("--model", "py/my_detector:deaf", "--limit", "2", "--variants", "1", "--transform", *names)
        assert run(out, *words) == 0
        model = only(Summary.from_json((here / out / "summary.json").read_text(encoding="utf-8")))
        return {row.transform for row in model.by_transform}

    some = tried("all", "all")
    assert "all without the family dead-code, unless you name it: dead code is" in capsys.readouterr().err
    assert "flip-comparisons" in some
    assert not some & {"unused-locals", "dead-stores"}
    more = tried("more", "all,dead-code")
    assert "without the family" not in capsys.readouterr().err
    assert more >= some | {"unused-locals", "dead-stores"}

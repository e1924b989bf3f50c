"""`codeaudit explain` from end to end, with a callable that reads one name only."""

import json
import sys
from pathlib import Path

import pytest

from codeaudit.cli.main import main
from tests.support.endpoints import says, serving

MODEL = """
import re

def predict(queries):
    return [{"answer": "get total" if re.search(r"\\btotal\\b", q.source) else "other", "scores": {"get": 0.5}}
            for q in queries]
"""
CODE = """def summed(rows, start):
    total = start
    count = 0
    for row in rows:
        total += row
        count += 1
    return total / count


def plain(rows):
    first = rows[0]
    last = rows[-1]
    spread = last - first
    return spread
"""


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    Path("reads_total.py").write_text(MODEL, "utf-8")
    Path("code.py").write_text(CODE, "utf-8")
    words = ["--model", "py/reads_total:predict", "--corpus", "code.py", "--transform", "rename"]
    assert main(["run", *words, "--workers", "1", "--no-controls", "--out", "out"]) == 0
    capsys.readouterr()


def rows() -> list[dict[str, object]]:
    return [json.loads(line) for line in Path("out/explanations.jsonl").read_text("utf-8").splitlines()]


def test_the_smallest_edit_is_shown_as_a_diff(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out"]) == 0
    told = capsys.readouterr()
    assert "1 of 3 moves (no smaller set flips it" in " ".join(told.out.split())
    assert "-    total = start" in told.out
    assert " count = 0" in told.out
    assert "before  get total" in told.out
    assert "after   other" in told.out
    assert "name first in assignment" in told.out
    found = rows()
    assert {len(row["moves"]) for row in found} == {1}  # type: ignore[arg-type]
    assert all(row["before"] == ["get", "total"] for row in found)


def test_lines_of_a_diff_stay_whole_where_no_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert main(["explain", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "-    return total / count" in lines


def test_where_nothing_was_judged_there_is_nothing_to_explain(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("def predict(queries):\n    raise ValueError\n", "utf-8")
    words = ["--model", "py/broken:predict", "--corpus", "code.py", "--transform", "rename"]
    main(["run", *words, "--workers", "1", "--no-controls", "--out", "failed"])
    assert main(["explain", "failed"]) == 3
    assert "nothing was judged in 'failed'" in capsys.readouterr().err


def test_json_and_markdown_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows()
    assert main(["explain", "out", "--format", "markdown", "--show", "1"]) == 0
    text = capsys.readouterr().out
    assert text.count("```diff\n") == 1
    assert "| py/reads\\_total:predict | rename | name first in assignment |" in text


def test_one_sample_by_the_beginning_of_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    sample = whole[0]["sample"]
    assert main(["explain", "out", sample[:8], "--format", "json"]) == 0
    assert {row["sample"] for row in json.loads(capsys.readouterr().out)} == {sample}
    assert len(rows()) == len(whole)


def test_a_model_that_changed_has_no_violation_any_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["explain", "out"]) == 0
    before = rows()
    Path("reads_total.py").write_text("def predict(queries):\n    return ['a'] * len(queries)\n", "utf-8")
    monkeypatch.delitem(sys.modules, "reads_total", raising=False)
    assert main(["explain", "out"]) == 0
    told = capsys.readouterr().err
    assert "is not as it was in the run" in told
    assert "no violation any more" in told
    # One that still is one is shown, and does not replace what belongs to the run's answers.
    text = "def predict(queries):\n    return [str(sum(map(ord, one.source)) % 97) for one in queries]\n"
    Path("reads_total.py").write_text(text, "utf-8")
    monkeypatch.delitem(sys.modules, "reads_total", raising=False)
    assert main(["explain", "out", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert rows() == before


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["nowhere"], 3, "no run at 'nowhere'"),
        (["out", "zzz"], 3, "the run has no sample 'zzz' with a verdict; it has "),
        (["out", "--model", "py/reads_total:predic"], 2, "did you mean 'py/reads_total:predict'?"),
        (["out", "--transform", "reorder"], 2, "the run has no transform 'reorder'; it has: "),
        (["out", "--transform", "reordr"], 2, "unknown transform 'reordr'; did you mean 'reorder'?"),
        (["out", "--transform", "dead-code"], 2, "the run has no transform 'dead-code'; it has: "),
        (["out", "--transform", "identity"], 2, "--transform names no transform that keeps the meaning"),
        ([], 2, "missing argument"),
    ],
)
def test_bad_input(words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *words]) == code
    assert told in capsys.readouterr().err


def test_where_nothing_changed_the_filters_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "fake/constant", "--corpus", "code.py", "--transform", "rename", "--out", "same"]
    assert main(["run", *words, "--workers", "1", "--no-controls"]) == 0
    capsys.readouterr()
    assert main(["explain", "same", "--transform", "rename", "--model", "fake/constant"]) == 0
    told = "nothing to explain: no answer of fake/constant changed under rename in the run"
    assert told in capsys.readouterr().err


def test_requests_of_an_endpoint_are_limited_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    with serving(lambda asked: says("[total] [t]" if "total" in asked.text else "[other] [o]")) as endpoint:
        model = ["--model", "openai/tiny", "--base-url", endpoint.url, "-M", "backoff=0.01"]
        run = ["--corpus", "code.py", "--transform", "rename", "--workers", "1", "--no-controls"]
        assert main(["run", *model, *run, "--out", "asked", "--max-requests", "100"]) == 0
        asked = len(endpoint.asked)
        assert main(["explain", "asked", "--max-requests", "1"]) == 3
        err = capsys.readouterr().err
        assert len(endpoint.asked) == asked + 1
        assert "openai/tiny: 1 request; 7 tokens in, 3 out" in err
        assert "--max-requests 1 is reached" in err
        assert main(["explain", "asked"]) == 0
        told = capsys.readouterr()
        assert "1 of 3 moves" in " ".join(told.out.split())
        assert f"openai/tiny: {len(endpoint.asked) - asked - 1} requests; " in told.err


def test_a_cache_of_another_folder_is_neither_made_nor_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "run --model fake/hash --corpus code.py --transform rename --no-controls --cache kept --out cached"
    )
    assert main(words.split()) == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["explain", "../cached"]) == 0
    assert "the cache of the run, 'kept', is not here" in capsys.readouterr().err
    assert not list(Path().iterdir())


def test_violations_beyond_the_limit_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", "--format", "json", "--limit", "0"]) == 0
    told = capsys.readouterr()
    every = len(json.loads(told.out))
    assert every > 1
    assert "are explained" not in told.err
    assert main(["explain", "out", "--limit", "1", "--transform", "rename"]) == 0
    assert f"codeaudit: 1 of {every} violations are explained; --limit 0 for all" in capsys.readouterr().err

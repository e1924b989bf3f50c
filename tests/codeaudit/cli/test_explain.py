"""`codeaudit explain` from end to end, with a callable that reads one name only."""

import json
import sys
from pathlib import Path

import pytest

from codeaudit.cli.explain import violations
from codeaudit.cli.main import main
from codeaudit.finished_runs import read_run
from codeaudit.reports.explanations import RepeatCounts, steadiness
from codeaudit.transforms import permission
from codeaudit.transforms.python.ledger import LEDGER
from tests.support.endpoints import says, serving

MODEL = """
import re

def predict(queries):
    return [{"answer": "get total" if re.search(r"\\btotal\\b", q.source) else "other", "scores": {"get": 0.5}}
            for q in queries]
"""
NAMED = ["--model", "py/reads_total:predict"]
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
    assert main(["explain", "out", *NAMED]) == 0
    printed = capsys.readouterr()
    assert "1 of 3 moves (no smaller set flips it" in " ".join(printed.out.split())
    assert "-    total = start" in printed.out
    assert " count = 0" in printed.out
    assert "before  get total" in printed.out
    assert "after   other" in printed.out
    assert "name first in assignment" in printed.out
    explained = rows()
    assert {len(row["moves"]) for row in explained} == {1}  # type: ignore[arg-type]
    assert all(row["before"] == ["get", "total"] for row in explained)


def test_lines_of_a_diff_stay_whole_where_no_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert main(["explain", "out", *NAMED]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "-    return total / count" in lines


def test_where_nothing_was_judged_there_is_nothing_to_explain(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("def predict(queries):\n    raise ValueError\n", "utf-8")
    words = ["--model", "py/broken:predict", "--corpus", "code.py", "--transform", "rename"]
    main(["run", *words, "--workers", "1", "--no-controls", "--out", "failed"])
    assert main(["explain", "failed"]) == 3
    assert "nothing was judged in 'failed'" in capsys.readouterr().err


def test_json_and_markdown_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", *NAMED, "--format", "json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    # The file has the explanations alone; the verdicts of the run have the repeats.
    assert {(row.pop("repeats"), row.pop("repeats_changed")) for row in explained} == {(1, 0)}
    said = {row.pop(name) for row in explained for name in ("reply_before", "reply_after")}
    assert said == {"get total", "other"}, "what the model said, which the file does not repeat"
    assert explained == rows()
    assert main(["explain", "out", *NAMED, "--format", "markdown", "--show", "1"]) == 0
    text, err = capsys.readouterr()
    assert text.count("```diff\n") == 1
    assert f"diffs shown: 1 of {len(explained)}; --show {len(explained)} for all" in err
    assert "| py/reads\\_total:predict | rename | name first in assignment |" in text


def test_the_evidence_of_an_edit_is_told_with_what_it_rests_on(capsys: pytest.CaptureFixture[str]) -> None:
    assumed = {name: LEDGER[name].assumed for name in ("frames-unread", "source-unread")}
    assert main(["explain", "out", *NAMED, "--evidence", "--format", "json"]) == 0
    for row in json.loads(capsys.readouterr().out):
        assert row["evidence"] == "compiled"
        assert {assumption["id"]: assumption["assumed"] for assumption in row["rests_on"]} == assumed
    for form, head in (("rich", ""), ("markdown", "- ")):
        assert main(["explain", "out", *NAMED, "--evidence", "--format", form]) == 0
        printed = capsys.readouterr().out
        assert f"{head}evidence: compiled" in printed.splitlines()
        unwrapped = " ".join(printed.split())
        assert [f"{head}rests on {name}: {text}" in unwrapped for name, text in assumed.items()] == [True] * 2
    assert main(["explain", "out", *NAMED, "--format", "json"]) == 0
    assert not {"evidence", "rests_on"} & json.loads(capsys.readouterr().out)[0].keys()


def test_one_sample_by_the_beginning_of_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", *NAMED, "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    sample = whole[0]["sample"]
    assert main(["explain", "out", sample[:8], *NAMED, "--format", "json"]) == 0
    assert {row["sample"] for row in json.loads(capsys.readouterr().out)} == {sample}
    assert len(rows()) == len(whole)


@pytest.mark.slow
def test_a_model_that_changed_has_no_violation_any_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["explain", "out", *NAMED]) == 0
    before = rows()
    Path("reads_total.py").write_text("def predict(queries):\n    return ['a'] * len(queries)\n", "utf-8")
    monkeypatch.delitem(sys.modules, "reads_total", raising=False)
    assert main(["explain", "out", *NAMED]) == 0
    printed = capsys.readouterr().err
    assert "is not as it was in the run" in printed
    assert "no violation any more" in printed
    # One that still is one is shown, and does not replace what belongs to the run's answers.
    text = "def predict(queries):\n    return [f'n{sum(map(ord, one.source)) % 97}' for one in queries]\n"
    Path("reads_total.py").write_text(text, "utf-8")
    monkeypatch.delitem(sys.modules, "reads_total", raising=False)
    assert main(["explain", "out", *NAMED, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert rows() == before


@pytest.mark.thinned(3)
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
    message = "nothing to explain: no answer of fake/constant changed under rename in the run"
    assert message in capsys.readouterr().err


@pytest.mark.slow
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
        explain = ["explain", "asked", "--model", "openai/tiny", "--base-url", endpoint.url]
        assert main([*explain, "--max-requests", "1"]) == 3
        err = capsys.readouterr().err
        assert len(endpoint.asked) == asked + 1
        assert "openai/tiny: 1 request; 7 tokens in, 3 out" in err
        assert "--max-requests 1 is reached" in err
        assert main(explain) == 0
        printed = capsys.readouterr()
        assert "1 of 3 moves" in " ".join(printed.out.split())
        assert f"openai/tiny: {len(endpoint.asked) - asked - 1} requests; " in printed.err


@pytest.mark.slow
def test_the_cache_of_the_run_is_used_where_it_is_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "run --model fake/hash --corpus code.py --transform rename --no-controls --cache kept --out cached"
    )
    assert main(words.split()) == 0
    kept = Path("kept").absolute()
    answers = {path: path.read_bytes() for path in kept.iterdir()}
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["explain", "../cached"]) == 0
    assert not list(Path().iterdir()), "no folder 'kept' is made here"
    assert {path: path.read_bytes() for path in kept.iterdir()} == answers
    assert main(["explain", "../cached", "--cache", "../kept"]) == 0
    assert {path: path.read_bytes() for path in kept.iterdir()} != answers


# ── what a run names is not started ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def _stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is somebody else's: nobody typed its names here, and its module leaves a trace."""
    monkeypatch.setattr(permission, "_named", set())
    monkeypatch.delitem(sys.modules, "reads_total", raising=False)
    text = f"open('imported', 'a').close()\n{MODEL}"
    Path("reads_total.py").write_text(text, "utf-8")


@pytest.mark.usefixtures("_stranger")
def test_a_model_that_only_the_run_names_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out"]) == 2
    assert "type which: --model py/reads_total:predict" in capsys.readouterr().err
    assert not Path("imported").exists()
    assert main(["explain", "out", *NAMED]) == 0
    assert Path("imported").exists()


@pytest.mark.slow
def test_models_that_come_with_codeaudit_are_asked_and_the_others_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    words = [*NAMED, "--model", "fake/hash", "--corpus", "code.py", "--transform", "rename", "--out", "both"]
    assert main(["run", *words, "--workers", "1", "--no-controls"]) == 0
    request.getfixturevalue("_stranger")
    capsys.readouterr()
    assert main(["explain", "both", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert {row["model"] for row in json.loads(printed.out)} == {"fake/hash"}
    assert "for the others add --model py/reads_total:predict" in printed.err
    assert not Path("imported").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("_stranger")
def test_a_task_that_only_the_run_names_is_not_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "open('loaded', 'a').close()\n"
        "from dataclasses import replace\n"
        "from codeaudit.audit.tasks.function_name import FUNCTION_NAME\n"
        "TASK = replace(FUNCTION_NAME, name='py/own_task:TASK')\n"
    )
    Path("own_task.py").write_text(text, "utf-8")
    words = [
        "--task",
        "py/own_task:TASK",
        "--model",
        "fake/hash",
        "--corpus",
        "code.py",
        "--transform",
        "rename",
    ]
    assert main(["run", *words, "--workers", "1", "--no-controls", "--out", "own"]) == 0
    Path("loaded").unlink()
    monkeypatch.delitem(sys.modules, "own_task")
    monkeypatch.setattr(permission, "_named", set())
    capsys.readouterr()
    assert main(["explain", "own"]) == 2
    assert "type them again: --task py/own_task:TASK" in capsys.readouterr().err
    assert not Path("loaded").exists()
    assert main(["explain", "own", "--task", "function-name"]) == 2
    assert "the run is of the task 'py/own_task:TASK', not 'function-name'" in capsys.readouterr().err
    assert main(["explain", "own", "--task", "py/own_task:TASK"]) == 0
    assert Path("loaded").exists()


@pytest.mark.slow
def test_the_address_of_a_run_gets_nothing_unless_it_is_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A stranger's run must not get the user's key and code."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKEfakeFAKEfake0123456789")
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    with serving(lambda asked: says("[total] [t]" if "total" in asked.text else "[other] [o]")) as endpoint:
        model = ["--model", "openai/tiny", "--base-url", endpoint.url, "-M", "backoff=0.01"]
        run = ["--corpus", "code.py", "--transform", "rename", "--workers", "1", "--no-controls"]
        assert main(["run", *model, *run, "--out", "asked"]) == 0
        asked = len(endpoint.asked)
        monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "another cache"))
        capsys.readouterr()
        assert main(["explain", "asked"]) == 2
        assert "type which: --model openai/tiny" in capsys.readouterr().err
        assert main(["explain", "asked", "--model", "openai/tiny"]) == 2
        assert f"type them again: --base-url {endpoint.url}" in capsys.readouterr().err
        assert len(endpoint.asked) == asked
        # Numbers among the arguments act on nothing.
        assert main(["explain", "asked", *model[:4]]) == 0
        assert len(endpoint.asked) > asked


@pytest.mark.slow
def test_violations_beyond_the_limit_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "out", *NAMED, "--format", "json", "--limit", "0"]) == 0
    printed = capsys.readouterr()
    every = len(json.loads(printed.out))
    assert every > 1
    assert "are explained" not in printed.err
    assert main(["explain", "out", *NAMED, "--limit", "1", "--transform", "rename"]) == 0
    assert f"codeaudit: 1 of {every} violations are explained; --limit 0 for all" in capsys.readouterr().err


FORGETFUL = """
import re

asked = set()

def predict(queries):
    answers = []
    for query in queries:
        again = "{unsteady}" in query.source and query.source in asked
        asked.add(query.source)
        known = re.search(r"\\b(total|spread)\\b", query.source)
        answers.append("other" if not known else "set total" if again else "get total")
    return answers
"""
"""It knows two names, and gives another answer when it is asked again about one function."""


@pytest.mark.slow
@pytest.mark.parametrize(("unsteady", "steady"), [("spread", "total"), ("total", "spread")])
def test_violations_of_steady_samples_come_first(
    unsteady: str, steady: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"forgets_{unsteady}"
    Path(f"{name}.py").write_text(FORGETFUL.replace("{unsteady}", unsteady), "utf-8")
    words = ["--model", f"py/{name}:predict", "--corpus", "code.py", "--transform", "rename"]
    assert main(["run", *words, "--workers", "1", "--no-controls", "--out", "forgetful"]) == 0
    capsys.readouterr()
    typed = ["--model", f"py/{name}:predict"]
    assert main(["explain", "forgetful", *typed, "--limit", "1"]) == 0
    printed = capsys.readouterr().out
    assert f"    {steady} = " in printed
    assert "repeats steady: " in printed
    assert main(["explain", "forgetful", *typed, "--format", "json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)
    assert (first["repeats"], first["repeats_changed"]) == (4, 0)
    counts = [violation.asked for violation in violations(read_run(Path("forgetful")))]
    assert counts == sorted(counts)
    last = counts[-1]
    assert {count.changed for count in counts} == {0, last.changed}
    assert steadiness(last) == (
        f"unsteady: {last.changed} of 4 repeats of the unchanged input got another answer, so this change may be "
        "noise"
    )
    assert (
        steadiness(RepeatCounts(4, 0)) == "steady: all 4 repeats of the unchanged input got the first answer"
    )
    assert steadiness(RepeatCounts()) == ""


READS_A_REGISTER = """
def predict(queries):
    return [2.0 if "%r14" in q.source else 1.0 for q in queries]
"""


def test_a_construct_of_assembly_is_the_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    Path("reads_register.py").write_text(READS_A_REGISTER, "utf-8")
    # The register stands first in a part of it, and beside brackets that are no call.
    Path("block.s").write_text("\tmovl %r14d, 8(%rbx)  # first\n\taddq %r14, (%rbx)\n", "utf-8")
    model = "py/reads_register:predict"
    words = ["--task", "throughput", "--corpus", "block.s", "--labels", "none", "--transform", "rename"]
    assert main(["run", "--model", model, *words, "--no-controls", "--out", "blocks"]) == 0
    assert main(["explain", "blocks", "--model", model]) == 0
    printed = capsys.readouterr().out
    assert "name first in movl" in printed
    assert "call" not in printed.partition("What flips")[2].replace("median calls", "").replace("calls", "")

"""`codeaudit run` from end to end, with the shipped fakes."""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.auditing import default_run_folder
from codeaudit.cli.main import main
from codeaudit.options import RunOptions
from codeaudit.transforms.registry import ENTRIES, expand
from tests.support.data import data_set
from tests.transforms.x86.support import own_blocks


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def run(*words: str) -> int:
    return main(["run", "--workers", "1", *words])


def summary(folder: str = "out") -> dict[str, dict[str, Any]]:
    found = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))
    return {model["model"]: model for model in found["models"]}


def manifest(folder: str = "out") -> dict[str, object]:
    found = json.loads(Path(folder, "manifest.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_a_run_writes_its_folder_and_prints_its_table(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources), "--out", "out") == 0
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "manifest.json",
        "suite.parquet",
        "summary.json",
        "verdicts.parquet",
    ]
    printed = capsys.readouterr()
    assert "fake/hash" in printed.out
    assert "run folder: out" in printed.err
    assert (
        ": 4 of 7 functions; left out: 1 × dunder name, 1 × function under 3 lines, 1 × stub\n" in printed.err
    )
    assert max(len(line) for line in printed.out.splitlines()) <= 80


@pytest.mark.slow
def test_the_fakes_show_both_ends_of_the_scale(sources: Path) -> None:
    words = ["--model", "fake/hash", "--model", "fake/constant", "--corpus", str(sources), "--out", "out"]
    assert run(*words) == 0
    by_model = summary()
    for name, rate in (("fake/hash", 1.0), ("fake/constant", 0.0)):
        for measure in ("pairs", "sensitivity"):
            measured = by_model[name][measure]
            assert isinstance(measured, dict)
            assert measured["total"] > 0
            assert measured["rate"] == rate
        floor = by_model[name]["noise_floor"]
        assert isinstance(floor, dict)
        assert (floor["count"], floor["total"]) == (0, 4)


def test_json_on_stdout_is_the_summary(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(
        Path("out/summary.json").read_text(encoding="utf-8")
    )


def test_markdown_on_stdout(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--format", "markdown") == 0
    assert "| fake/hash |" in capsys.readouterr().out


def test_the_default_folder_is_named_by_time_and_task(sources: Path) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources)) == 0
    folder, ignored = sorted(Path("codeaudit-runs").iterdir(), key=lambda path: path.is_file())
    assert ignored.name == ".gitignore"
    assert folder.name.endswith("-function-name")


def test_the_same_command_gives_the_same_results(sources: Path) -> None:
    words = ["--model", "fake/length", "--corpus", str(sources)]
    assert run(*words, "--out", "one") == 0
    assert run(*words, "--out", "two", "--batch-size", "3", "--workers", "2") == 0
    for name in ("summary.json", "suite.parquet", "verdicts.parquet"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


@pytest.mark.slow
def test_another_seed_makes_other_variants(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--transform", "rename", "--no-controls"]
    assert run(*words, "--out", "one") == 0
    assert run(*words, "--out", "two", "--seed", "1") == 0
    one, two = (
        {row["perturbed"] for row in read_rows(Path(name, "suite.parquet"))} for name in ("one", "two")
    )
    assert one != two


def test_the_identity_is_always_there_and_controls_can_be_left_out(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "rename"]
    assert run(*words, "--no-controls", "--variants", "2") == 0
    rows = list(read_rows(Path("out/suite.parquet")))
    assert {row["transform"] for row in rows} == {"identity", "rename"}
    assert {row["variant"] for row in rows} == {0, 1}
    assert manifest()["transforms"] == ["identity", "rename"]


def test_the_identity_alone_can_be_audited(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--transform", "identity", "--no-controls"]
    assert run(*words, "--out", "out") == 0
    violations = summary()["fake/hash"]["pairs"]
    assert isinstance(violations, dict)
    assert violations["total"] == 0
    assert violations["rate"] is None


@pytest.mark.slow
def test_trials_repeat_with_the_next_seeds(sources: Path) -> None:
    words = ["--model", "fake/length", "--corpus", str(sources), "--limit", "3"]
    assert run(*words, "--out", "both", "--seed", "4", "--trials", "2") == 0
    assert run(*words, "--out", "second", "--seed", "5") == 0
    trials = summary("both")["fake/length"]["trials"]
    others = summary("second")["fake/length"]["trials"]
    assert isinstance(trials, list)
    assert isinstance(others, list)
    (alone,) = others
    assert [trial["seed"] for trial in trials] == [4, 5]
    assert trials[1]["score"] == alone["score"]
    assert trials[1]["pairs"]["count"] == alone["pairs"]["count"]
    both = [row for row in read_rows(Path("both/suite.parquet")) if row["seed"] == 5]
    assert both == list(read_rows(Path("second/suite.parquet")))


@pytest.mark.slow
def test_a_frozen_suite_meets_another_model_unchanged(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources), "--out", "one") == 0
    words = ["--model", "fake/constant", "--suite", "one/suite.parquet", "--limit", "1", "--out", "two"]
    assert run(*words) == 0
    assert "--limit: no effect with --suite" in capsys.readouterr().err
    assert Path("one/suite.parquet").read_bytes() == Path("two/suite.parquet").read_bytes()
    assert run("--model", "fake/hash", "--suite", "one/suite.parquet", "--out", "three") == 0
    assert Path("one/verdicts.parquet").read_bytes() == Path("three/verdicts.parquet").read_bytes()


def test_the_manifest_repeats_the_run(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--variants", "3", "--seed", "9"]
    assert run(*words, "--out", "one", "--transform", "rename,reorder", "--no-controls") == 0
    assert main(["run", "--config", "one/manifest.json", "--out", "two"]) == 0
    for name in ("summary.json", "suite.parquet", "verdicts.parquet"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_the_manifest_says_what_was_run(sources: Path) -> None:
    assert run("--model", "fake/hash", "--corpus", str(sources), "--out", "out") == 0
    told = manifest()
    assert told["schema"] == 2
    assert told["state"] == "finished"
    assert told["task"] == "function-name"
    assert told["models"] == [
        {"name": "fake/hash", "fingerprint": "fake/hash", "parameters": 0, "noise": 0.0}
    ]
    corpus = told["corpus"]
    assert isinstance(corpus, dict)
    assert len(corpus["hash"]) == 64
    assert corpus["skipped"] == {"dunder name": 1, "function under 3 lines": 1, "stub": 1}


def test_answers_come_from_the_cache_but_for_the_noise_floor(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out"]
    assert run(*words) == 0
    asked = _asked(capsys.readouterr().err)
    assert run(*words) == 0
    again = capsys.readouterr().err
    assert _asked(again) == 4
    assert f"{asked - 4} from the cache" in again


def _asked(printed: str) -> int:
    (line,) = [line for line in printed.splitlines() if line.startswith("codeaudit: fake/hash: ")]
    return int(line.split()[2])


def test_a_cache_that_cannot_be_used_is_replaced_by_one_in_the_run_folder(
    sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("x", encoding="utf-8")
    monkeypatch.delenv("CODEAUDIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("file").resolve()))
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out"]
    assert run(*words) == 0
    assert "answers are kept in the run folder" in capsys.readouterr().err
    assert Path("out/answers.sqlite").exists()
    assert run(*words, "--cache", "file/deeper") == 3


@pytest.mark.slow
def test_the_wrapper_makes_any_model_invariant(sources: Path) -> None:
    assert run("--model", "fake/hash", "--wrap", "canonical", "--corpus", str(sources), "--out", "out") == 0
    violations = summary()["canonical/fake/hash"]["pairs"]
    assert isinstance(violations, dict)
    assert violations["total"] > 0
    assert violations["count"] == 0


@pytest.mark.slow
def test_the_wrapper_makes_any_model_of_blocks_invariant(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("blocks.s").write_text("\n\n".join(own_blocks(40)), encoding="utf-8")
    words = [
        "--task",
        "throughput",
        "--labels",
        "none",
        "--model",
        "fake/hash",
        "--workers",
        "1",
        "--out",
        "out",
    ]
    assert run(*words, "--corpus", "blocks.s", "--wrap", "canonical") == 0
    model = summary()["canonical/fake/hash"]
    violations, sensitivity = model["pairs"], model["sensitivity"]
    assert isinstance(violations, dict)
    assert isinstance(sensitivity, dict)
    assert (violations["count"], violations["total"]) == (0, 160)
    assert sensitivity["count"] == sensitivity["total"] > 100
    capsys.readouterr()
    assert run(*words, "--corpus", str(sources / "words.py")) == 3
    assert "words.py' (2 × not x86)" in (printed := capsys.readouterr().err)
    assert "no blocks in corpus" in printed


def test_a_callable_and_a_program_run_too(sources: Path) -> None:
    Path("mine.py").write_text("def f(queries): return ['get_value' for q in queries]\n", encoding="utf-8")
    assert run("--model", "py/mine:f", "--corpus", str(sources), "--out", "out") == 0
    violations = summary()["py/mine:f"]["pairs"]
    assert isinstance(violations, dict)
    assert violations["rate"] == 0.0


@pytest.mark.slow
def test_compare_reads_runs_back(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("hash", "constant"):
        words = ["--model", f"fake/{name}", "--corpus", str(sources), "--out", name, "--trials", "2"]
        assert run(*words) == 0
    capsys.readouterr()
    assert main(["compare", "hash", "constant", "--format", "json"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    assert {standing["model"] for standing in comparison["paired"][0]["standings"]} == {
        "fake/hash",
        "fake/constant",
    }
    assert main(["compare", "hash", "constant"]) == 0


def names_of_transforms() -> set[object]:
    return {row["transform"] for row in read_rows(Path("out/suite.parquet"))}


@pytest.mark.slow
def test_a_family_stands_for_its_members_and_brings_their_twins(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "order"]
    assert run(*words, "--variants", "1") == 0
    members = expand(["order"], languages=["python"])
    twins = {ENTRIES[name].twin for name in members} - {None}
    assert names_of_transforms() == {"identity", *members, "reorder-breaking", "rename-merging", *twins}
    assert manifest()["transforms"][1 : len(members) + 1] == list(members)
    assert run(*words, "--variants", "1", "--no-controls") == 0
    assert names_of_transforms() == {"identity", *members}


@pytest.mark.slow
def test_all_keeps_what_callers_see(sources: Path) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "all"]
    assert run(*words, "--variants", "1", "--no-controls") == 0
    assert names_of_transforms() == {"identity", *expand(["all"], languages=["python"])}
    assert "rename-parameters" not in names_of_transforms()


def test_a_transform_of_modules_counts_its_reason_on_functions(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--no-controls"]
    assert run(*words, "--transform", "reorder-functions,rename") == 0
    (row,) = (
        row for row in summary()["fake/hash"]["by_transform"] if row["transform"] == "reorder-functions"
    )
    assert row["not_applied"] == {"no two definitions side by side": 16}
    assert run(*words, "--transform", "reorder-functions") == 3
    assert (
        "no perturbation could be applied (16 × no two definitions side by side)" in capsys.readouterr().err
    )


@pytest.mark.parametrize("sites", ["one", "all"])
def test_the_sites_of_a_variant(sources: Path, sites: str) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "rename"]
    assert run(*words, "--no-controls", "--sites", sites, "--variants", "3") == 0
    counts = [
        len(json.loads(str(row["moves"])))
        for row in read_rows(Path("out/suite.parquet"))
        if row["transform"] == "rename" and row["status"] == "perturbed"
    ]
    assert manifest()["sites"] == sites
    assert set(counts) == {1} if sites == "one" else max(counts) > 1


@pytest.mark.slow
def test_other_sites_are_another_run(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "rename"]
    assert run(*words, "--sites", "one") == 0
    again = manifest()
    Path("out/manifest.json").write_text(json.dumps({**again, "state": "running"}), encoding="utf-8")
    assert run(*words, "--sites", "all") == 0
    assert "replacing the run in out" in capsys.readouterr().err


@pytest.mark.slow
def test_a_finished_run_is_kept_where_another_takes_its_place(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--transform", "rename"]
    assert run(*words) == 0
    first = manifest()["codeaudit"], Path("out/summary.json").read_bytes()
    assert run(*words, "--limit", "1") == 0
    assert "the finished run in out is kept in out/previous" in capsys.readouterr().err
    assert main(["report", "out/previous", "--format", "json"]) == 0
    kept = json.loads(Path("out/previous/manifest.json").read_text(encoding="utf-8"))["codeaudit"]
    assert (kept, Path("out/previous/summary.json").read_bytes()) == first


@pytest.mark.slow
def test_real_functions_from_a_real_table(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = f"{data_set('python_functions.jsonl.gz')}:test"
    words = ["--model", "fake/hash", "--corpus", corpus, "--limit", "20", "--variants", "1", "--out", "out"]
    assert run(*words) == 0
    assert "20 of 9,645 functions" in capsys.readouterr().err


@pytest.mark.slow
def test_execution_is_evidence(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--execute"]
    assert run(*words) == 0
    printed = capsys.readouterr().err
    assert "agree with their original, 0 do not (left out)" in printed
    rows = [row for row in read_rows(Path("out/suite.parquet")) if row["status"] == "perturbed"]
    by_kind = {
        kind: Counter(row["evidence"] for row in rows if row["kind"] == kind)
        for kind in ("preserving", "control")
    }
    assert by_kind["preserving"]["executed"] > 0
    assert by_kind["control"]["executed"] > 0
    assert manifest()["execute"] is True


@pytest.mark.slow
def test_own_tests_of_a_table_are_run(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = str(data_set("HumanEval.jsonl.gz"))
    words = ["--model", "fake/hash", "--corpus", corpus, "--out", "out", "--execute", "--variants", "1"]
    assert run(*words, "--limit", "60") == 0
    rows = [row for row in read_rows(Path("out/suite.parquet")) if row["status"] == "perturbed"]
    kept = [row for row in rows if row["kind"] == "preserving"]
    controls = Counter(row["evidence"] == "executed" for row in rows if row["kind"] == "control")
    assert len(kept) > 60
    assert {row["evidence"] for row in kept} <= {"executed", "compiled"}
    assert sum(row["evidence"] == "executed" for row in kept) > 0.97 * len(kept)
    assert controls[True] > 0.9 * controls.total()


@pytest.mark.slow
def test_bundled_models_that_skip_a_language_are_told_with_those_that_read_it(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sources / "Adder.java").write_text(
        "class Adder {\n    int add(int left, int right) {\n        int sum = left + right;\n        return sum;\n    }\n}\n",
        encoding="utf-8",
    )
    few = ["--corpus", str(sources), "--transform", "identity", "--no-controls"]
    assert run(*few, "--out", "out") == 0
    printed = capsys.readouterr().err
    assert (
        "the bundled models for Python skip the samples in Java; these read Java: --model spe-java" in printed
    )
    assert run(*few, "--model", "fake/hash", "--out", "named") == 0
    assert "skip the samples" not in capsys.readouterr().err


def test_a_run_folder_is_named_after_its_task(sources: Path, tmp_path: Path) -> None:
    trained = tmp_path / "trained"
    trained.mkdir()
    (trained / "config.json").write_text('{"task": "error-detection", "network": "spe"}', encoding="utf-8")
    named = {
        (): "function-name",
        ("fake/hash",): "function-name",
        ("spe-bugs-checkpoint",): "error-detection",
        ("canonical/spe-bugs-checkpoint",): "error-detection",
        (str(trained),): "error-detection",
        ("fake/hash", "vanilla-throughput-checkpoint"): "throughput",
    }
    for models, task in named.items():
        assert default_run_folder(RunOptions(model=models), {}).name.endswith(f"-{task}"), models
    assert main(["transform", str(sources), "--suite", "s.jsonl", "--task", "next-line"]) == 0
    assert default_run_folder(RunOptions(suite=Path("s.jsonl")), {}).name.endswith("-next-line")
    assert default_run_folder(RunOptions(task="py/mine:TASK"), {}).name.endswith("-py-mine-TASK")


def test_a_start_without_an_answer_leaves_nothing(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dead = ["--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1"]
    assert main(["run", *dead, "--corpus", str(sources), "--workers", "1"]) == 3
    printed = capsys.readouterr().err
    assert "cannot reach http://127.0.0.1:9/v1" in printed
    assert "every answer so far is kept" not in printed
    assert not Path("codeaudit-runs").exists()
    # A folder of the user stays, and what was in it.
    Path("mine").mkdir()
    Path("mine/notes.txt").touch()
    assert main(["run", *dead, "--corpus", str(sources), "--workers", "1", "--out", "mine"]) == 3
    assert [path.name for path in Path("mine").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_a_zipped_suite_is_written_and_read_as_a_plain_one(sources: Path) -> None:
    for name in ("plain.jsonl", "zipped.jsonl.gz", "again.jsonl.gz"):
        assert main(["transform", str(sources), "--suite", name, "--variants", "2"]) == 0
    assert Path("zipped.jsonl.gz").read_bytes() == Path("again.jsonl.gz").read_bytes()
    assert gzip.decompress(Path("zipped.jsonl.gz").read_bytes()) == Path("plain.jsonl").read_bytes()
    for name in ("plain.jsonl", "zipped.jsonl.gz"):
        assert run("--model", "fake/hash", "--suite", name, "--out", name.partition(".")[0]) == 0
    assert summary("plain") == summary("zipped")
    Path("cut.jsonl.gz").write_bytes(Path("zipped.jsonl.gz").read_bytes()[:-20])
    assert run("--model", "fake/hash", "--suite", "cut.jsonl.gz") == 3

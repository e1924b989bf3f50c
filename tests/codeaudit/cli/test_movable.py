"""`--movable` from end to end: the run, its tables, and everything that reads them back."""

import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from codeaudit.audit.integrity import check_rows
from codeaudit.audit.records import NOT_REPEATED
from codeaudit.audit.store import SUITE, SUITE_COLUMNS, VERDICT_COLUMNS, VERDICTS, TableWriter, read_rows
from codeaudit.cli.main import main
from codeaudit.cli.run import run as run_command
from codeaudit.options import DEFAULT_MOVABLE

FUNCTIONS, LIMIT, WANTED = 60, 8, 6
MODEL = r"""
import re
from pathlib import Path

def total(queries):
    with open("asked.txt", "a", encoding="utf-8") as file:
        file.writelines(query.source.encode().hex() + "\n" for query in queries)
    if Path("stop").exists() and len(Path("asked.txt").read_text().split()) > 40:
        raise KeyboardInterrupt
    return [re.sub(r"\W+", "_", query.source.splitlines()[1].strip()) for query in queries]
"""
WORDS = [
    *("--model", "py/mine:total", "--corpus", "code.py", "--limit", str(LIMIT), "--movable", str(WANTED)),
    *("--transform", "reorder,rename", "--variants", "2", "--workers", "1", "--batch-size", "8"),
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a corpus in which every tenth function has another order, and a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    Path("mine.py").write_text(MODEL, encoding="utf-8")
    text = "".join(
        f"def take_{number}(x):\n    a = {number}\n"
        + (f"    b = {number}\n" if number % 10 == 3 else "")
        + "    c = x + a\n    return c\n\n\n"
        for number in range(FUNCTIONS)
    )
    Path("code.py").write_text(text, encoding="utf-8")


def summary(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))
    return found


def transforms(folder: str) -> dict[str, dict[str, Any]]:
    return {row["transform"]: row for row in summary(folder)["models"][0]["by_transform"]}


def asked() -> list[str]:
    return Path("asked.txt").read_text(encoding="utf-8").split()


@pytest.mark.slow
def test_rates_over_all_samples_are_of_the_plain_draw_and_those_of_a_transform_of_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [*WORDS, "--no-controls"]
    assert main(["run", *words, "--verbose", "--out", "more"]) == 0
    printed = capsys.readouterr()
    plain_words = [word if word != str(WANTED) else "0" for word in words]
    assert main(["run", *plain_words, "--out", "plain"]) == 0
    (more,), (plain,) = summary("more")["models"], summary("plain")["models"]
    for name in ("samples", "score", "violations", "all_samples", "pairs", "noise_floor"):
        assert more[name] == plain[name], name
    assert more["extra"] == transforms("more")["reorder"]["extra"] > 0
    extended, before = transforms("more"), transforms("plain")
    assert extended["reorder"]["violations"]["total"] == WANTED > before["reorder"]["violations"]["total"]
    assert extended["rename"]["violations"] == before["rename"]["violations"]
    for name in ("applied", "not_applied", "evidence"):
        assert extended["reorder"][name] == before["reorder"][name]
    (draw,) = summary("more")["draws"]
    assert json.loads(Path("more/manifest.json").read_text())["draws"] == [draw]
    assert (draw["wanted"], draw["plain"]["samples"]) == (WANTED, LIMIT)
    assert f"+ {more['extra']} movable" in printed.out
    assert "of the plain draw" in " ".join(printed.out.split())
    assert f"Movable samples, {WANTED} wanted" in printed.out
    assert max(len(line) for line in printed.out.splitlines()) <= 80
    assert f"movable samples, {WANTED} wanted: reorder {WANTED}, rename {LIMIT}" in printed.err
    # No other run draws more, and says nothing of it.
    assert "draws" not in json.loads(Path("plain/manifest.json").read_text())


def test_extra_functions_are_asked_only_for_what_they_are_drawn_for() -> None:
    assert main(["run", *WORDS, "--out", "out"]) == 0
    rows = list(read_rows(Path("out", SUITE)))
    extra = {row["sample"] for row in rows if row["draw"]}
    assert {row["transform"] for row in rows if row["sample"] in extra and row["kind"] == "preserving"} == {
        "reorder"
    }
    # Their repeats stand in the suite, for a model whose first repeats show noise. This one shows none.
    verdicts = [row for row in read_rows(Path("out", VERDICTS)) if row["sample"] in extra]
    assert {row["reason"] for row in verdicts if row["kind"] == "identity"} == {NOT_REPEATED}
    texts = {text for row in rows for text in (row["source"], row["perturbed"]) if text}
    assert {bytes.fromhex(text).decode() for text in asked()} == texts
    by_sample = {row["sample"]: row["draw"] for row in rows}
    assert all(row["draw"] == by_sample[row["sample"]] for row in read_rows(Path("out", VERDICTS)))


def test_one_transform_alone_is_pooled_over_both_draws() -> None:
    words = [word if word != "reorder,rename" else "reorder" for word in WORDS]
    assert main(["run", *words, "--no-controls", "--out", "out"]) == 0
    (model,) = summary("out")["models"]
    assert model["violations"]["total"] == WANTED
    assert model["violations"] == transforms("out")["reorder"]["violations"]
    assert model["all_samples"]["total"] == LIMIT


@pytest.mark.slow
def test_everything_reads_such_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *WORDS, "--out", "one"]) == 0
    assert main(["run", "--config", "one", "--out", "two", "--model", "py/mine:total"]) == 0
    assert main(["run", "--model", "py/mine:total", "--suite", f"one/{SUITE}", "--out", "three"]) == 0
    for name in (SUITE, VERDICTS):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    assert Path("one", VERDICTS).read_bytes() == Path("three", VERDICTS).read_bytes()
    assert summary("three")["models"] == summary("one")["models"]
    # The pairs of both draws are compared.
    pairs = "13 samples (28 pairs) are in both runs; 0 of them are newly violated, 0 are violated no longer"
    capsys.readouterr()
    assert main(["gate", "one", "--baseline", "two"]) == 0
    assert pairs in " ".join(capsys.readouterr().out.split())
    assert main(["gate", "one", "--max-violation-rate", "100%", "--transform", "reorder"]) == 0
    assert main(["report", "one", "--baseline", "base.parquet", "--html", "one.html"]) == 0
    assert main(["gate", "one", "--baseline", "base.parquet"]) == 0
    assert pairs in " ".join(capsys.readouterr().out.split())
    assert main(["run", "--model", "fake/hash", "--suite", f"one/{SUITE}", "--out", "four"]) == 0
    assert main(["compare", "one", "four"]) == 0
    assert main(["explain", "one", "--model", "py/mine:total"]) == 0
    capsys.readouterr()
    assert main(["run", "--model", "py/mine:total", "--suite", f"one/{SUITE}", "--movable", "3"]) == 0
    assert "--movable: no effect with --suite" in capsys.readouterr().err


@pytest.mark.slow
def test_an_interrupted_run_goes_on_with_the_same_draw() -> None:
    assert main(["run", *WORDS, "--out", "whole"]) == 0
    whole = len(asked())
    Path("asked.txt").unlink()
    Path("stop").touch()
    assert main(["run", *WORDS, "--out", "out"]) == 130
    Path("stop").unlink()
    stopped = len(asked())
    assert main(["run", "--config", "out", "--out", "out", "--model", "py/mine:total"]) == 0
    # The batch that was interrupted is asked again, and nothing else.
    assert stopped < whole <= len(asked()) <= whole + 8
    for name in (SUITE, VERDICTS):
        assert Path("whole", name).read_bytes() == Path("out", name).read_bytes()


def test_tables_without_the_column_are_of_the_plain_draw() -> None:
    assert main(["run", *[word if word != str(WANTED) else "0" for word in WORDS], "--out", "out"]) == 0
    now = check_rows(Path("out"), ["py/mine:total"])
    Path("old").mkdir()
    for name, columns in ((SUITE, SUITE_COLUMNS), (VERDICTS, VERDICT_COLUMNS)):
        older = {column: kind for column, kind in columns.items() if column != "draw"}
        with TableWriter(Path("old", name), older, {"task": "function-name", "corpus": "code.py"}) as table:
            table.write([{column: row[column] for column in older} for row in read_rows(Path("out", name))])
    assert check_rows(Path("old"), ["py/mine:total"]) == now


@pytest.mark.parametrize(
    ("words", "movable"),
    [
        ([], DEFAULT_MOVABLE),
        (["--transform", "reorder", "--seed", "3"], DEFAULT_MOVABLE),
        (["--movable", "7"], 7),
        (["--movable", "0"], 0),
        (["--limit", "200"], 0),
        (["--corpus", "code.py"], DEFAULT_MOVABLE),
        (["--shard", "1/2"], 0),
        (["--model", "spe-checkpoint"], DEFAULT_MOVABLE),
        (["--model", "canonical/hf/folder", "--model", "./checkpoint"], DEFAULT_MOVABLE),
        (["--model", "spe-checkpoint", "--limit", "200"], 0),
        (["--model", "spe-checkpoint", "--model", "openai/gpt-5"], 0),
        (["--model", "py/mine:total"], DEFAULT_MOVABLE),
        (["--model", "exec/program"], DEFAULT_MOVABLE),
        (["--model", "py/mine:total", "--limit", "200"], 0),
        (["--model", "py/mine:total", "--model", "openai/gpt-5"], 0),
        (["--model", "file/answers.jsonl"], 0),
        (["--suite", "s.parquet"], 0),
        (["--model", "fake/hash"], 0),
        (["--model", "fake/hash", "--movable", "7"], 7),
    ],
)
def test_only_local_models_draw_more_by_themselves(
    words: list[str], movable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def stop(asked: Any) -> None:
        seen.append(asked.movable)
        raise click.Abort

    monkeypatch.setattr("codeaudit.cli.run.audited_now", stop)
    with pytest.raises(click.Abort):
        run_command.main(words, standalone_mode=False)
    assert seen == [movable]


@pytest.mark.parametrize("wrong", ["-1", "many"])
def test_a_wrong_number_is_named(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--movable", wrong]) == 2
    assert wrong in capsys.readouterr().err


@pytest.mark.slow
def test_a_suite_is_drawn_as_a_run_is(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--limit", str(LIMIT), "--movable", str(WANTED), "--transform", "reorder,rename"]
    assert main(["transform", "code.py", *words, "--variants", "2", "--suite", "suite.jsonl"]) == 0
    # The table shows shares of the plain draw.
    assert f" {2 * LIMIT} " in capsys.readouterr().out
    assert main(["run", *WORDS, "--out", "out"]) == 0
    drawn = [(row["sample"], row["transform"], row["draw"]) for row in read_rows(Path("suite.jsonl"))]
    assert drawn == [(row["sample"], row["transform"], row["draw"]) for row in read_rows(Path("out", SUITE))]
    # A run of the frozen suite tells how its movable samples differ, as the run that drew them does.
    model = WORDS[:2]
    assert main(["run", *model, "--suite", "suite.jsonl", "--verbose", "--out", "frozen"]) == 0
    assert "Movable samples, as the suite holds them" in capsys.readouterr().out
    sizes = {
        folder: [
            (row["transform"], row["movable"], row["extra"])
            for row in summary(folder)["draws"][0]["by_transform"]
        ]
        for folder in ("out", "frozen")
    }
    assert sorted(sizes["out"], key=str) == sorted(sizes["frozen"], key=str)
    assert main(["transform", "code.py", *words[:2], "--transform", "rename", "--suite", "plain.jsonl"]) == 0
    assert main(["run", *model, "--suite", "plain.jsonl", "--out", "plain"]) == 0
    assert not summary("plain").get("draws")
    assert main(["transform", "code.py", "--movable", "3", "--out", "copy"]) == 2
    assert "--movable goes with --suite" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_leaves_it_to_the_user_says_how_few_were_movable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [*WORDS[:4], "--transform", "reorder,rename", "--variants", "2", "--workers", "1"]
    assert main(["run", *words, "--limit", "20", "--out", "few"]) == 0
    printed = capsys.readouterr().err
    number = transforms("few")["reorder"]["violations"]["total"]
    assert f"of 20 samples few were movable: reorder {number}; --movable 100 draws more" in printed
    assert "rename" not in printed.partition("few were movable")[2].partition("\n")[0]
    # Samples to which a model gives no answer are movable all the same.
    Path("dead.py").write_text("def predict(queries):\n    raise ValueError\n", encoding="utf-8")
    silent = ["--model", "py/dead:predict", "--transform", "rename", "--corpus", "code.py"]
    assert main(["run", *silent, "--limit", "20", "--workers", "1", "--out", "silent"]) == 3
    assert "few were movable" not in capsys.readouterr().err
    # The dry run tells what that would cost.
    queries = []
    for extra in ([], ["--movable", "100"]):
        assert main(["run", *words, "--limit", "20", "--dry-run", "--format", "json", *extra]) == 0
        queries.append(json.loads(capsys.readouterr().out)["models"][0]["queries"])
    assert queries[0] < queries[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "extra", [["--limit", "0"], ["--limit", "20", "--movable", "0"], ["--limit", "20", "--shard", "1/2"]]
)
def test_nobody_is_told_of_more_that_there_is_not(
    extra: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*WORDS[:4], "--transform", "reorder", "--variants", "1", "--workers", "1"]
    assert main(["run", *words, *extra, "--out", "all"]) == 0
    assert "few were movable" not in capsys.readouterr().err

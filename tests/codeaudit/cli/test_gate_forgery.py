"""Nobody passes the gate by an edit of a run, even with hashes computed anew."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.integrity import SIGNATURE, allow_explanations
from codeaudit.audit.records import Predicted
from codeaudit.audit.rows import read_audited, verdict_rows
from codeaudit.audit.run import judge, score_of
from codeaudit.audit.store import (
    ATTACKS,
    BASELINE,
    BASELINE_COLUMNS,
    MANIFEST,
    SUITE,
    SUMMARY,
    VERDICTS,
    RunFolder,
    TableWriter,
    read_about,
    read_rows,
)
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.baselines import write_baseline
from codeaudit.cli.main import main
from codeaudit.finished_runs import Run
from codeaudit.gating import read_judged, recomputed
from codeaudit.reports.checks import Gate
from tests.support.forgery import Row, cut, edit_json, edit_rows, flip, rebind

SOURCE = """\
def take_{name}(values, start):
    total = start
    for value in values:
        total += value
    return total, "{name}"


"""
LIMITS = {
    "violations": ["--max-violation-rate", "1%"],
    "score": ["--max-f1-drop", "0.1"],
    "sensitivity": ["--min-sensitivity", "99%", "--max-violation-rate", "1%"],
    "baseline": ["--baseline", "good"],
    "transform": ["--max-violation-rate", "1%", "--transform", "rename"],
}
KEY = "0123456789abcdef0123456789abcdef\n"
MODELS = '''
def ran(query):
    """What the function returns, as words; it sums up and gives its own letter."""
    space = {}
    try:
        exec(query.source, space)
        *_, function = space.values()
        total, name = function([1, 2], 5)
    except Exception:
        return ["fails"]
    return ["take" if total == 8 else "other", name]


def good(queries):
    """Sees no name."""
    return [ran(query) for query in queries]


def bad(queries):
    """Reads one name."""
    return [ran(query) if "total" in query.source else ["sum"] for query in queries]


def evasive(queries):
    """Silent on some variants."""
    return [ran(query) if "total" in query.source or '"d"' < query.source.rstrip()[-3:] else None for query in queries]
'''


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good run, and a bad one on the same inputs."""
    place = tmp_path_factory.mktemp("runs")
    (place / "code.py").write_text("".join(SOURCE.format(name=name) for name in "abcdefghijklmnop"))
    (place / "forgery_models.py").write_text(MODELS)
    (place / "gate.key").write_text(KEY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(str(place))
        words = [
            "--corpus",
            "code.py",
            "--workers",
            "1",
            "--transform",
            "rename,rename-parameters,rename-merging",
        ]
        for name in ("good", "bad"):
            options = ["--model", f"py/forgery_models:{name}", "--out", name, "--sign-key", "gate.key"]
            assert main(["run", *words, *options]) == 0
        few = ["--limit", "3", "--attack", "random", "--budget", "2", "--out", "attacked"]
        assert main(["run", *words, "--model", "py/forgery_models:good", *few]) == 0
    return place


@pytest.fixture(autouse=True)
def _copies(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("good", "bad"):
        shutil.copytree(runs / name, name)


def no_model(run: Path) -> None:
    edit_json(run / MANIFEST, models=[])
    edit_json(run / SUMMARY, models=[])


def no_model_in_the_summary(run: Path) -> None:
    edit_json(run / SUMMARY, models=[])


def summary_of_the_good_run(run: Path) -> None:
    shutil.copy("good/summary.json", run)


def another_model(run: Path) -> None:
    edit_json(run / MANIFEST, models=[{"name": "x", "fingerprint": "x", "parameters": None, "noise": 0.0}])


def verdicts_of_the_good_run(run: Path) -> None:
    shutil.copy(Path("good", VERDICTS), run)


def rows(name: str, change: Callable[[Row], Iterable[Row]]) -> Callable[[Path], None]:
    """A forgery that writes other rows for each row of a table."""

    def forge(run: Path) -> None:
        edit_rows(run / name, lambda every: [made for row in every for made in change(row)])

    return forge


def both(*forgeries: Callable[[Path], None]) -> Callable[[Path], None]:
    """Several forgeries of one run."""

    def forge(run: Path) -> None:
        for each in forgeries:
            each(run)

    return forge


def violated(row: Row) -> bool:
    return bool(row["outcome"] == "violated")


FORGERIES = {
    "no model": no_model,
    "no model in the summary": no_model_in_the_summary,
    "the other run's summary": summary_of_the_good_run,
    "another model": another_model,
    "violations that hold": rows(VERDICTS, lambda row: [{**row, "outcome": "held"}]),
    "violations without a verdict": rows(
        VERDICTS,
        lambda row: [
            {**row, "outcome": "unjudged", "reason": "the right answer changes", "deviation": None}
            if violated(row)
            else row
        ],
    ),
    "better scores": rows(VERDICTS, lambda row: [{**row, "score_before": 1.0, "score_after": 1.0}]),
    "another first answer": rows(
        VERDICTS,
        lambda row: [{**row, "outcome": "held", "before": row["after"]}] if violated(row) else [row],
    ),
    "other texts": rows(
        SUITE,
        lambda row: [{**row, "perturbed": row["source"] if row["perturbed"] else None}],
    ),
    "the other run's verdicts": verdicts_of_the_good_run,
    "no verdicts": rows(VERDICTS, lambda row: []),
    "no violations": rows(VERDICTS, lambda row: [] if violated(row) else [row]),
    "one row fewer": rows(VERDICTS, lambda row: [] if row["variant"] == 1 else [row]),
    "rows twice": rows(VERDICTS, lambda row: [row] if violated(row) else [row] * 9),
    "variants twice": both(
        rows(SUITE, lambda row: [row] if row["transform"] == "rename" else [row] * 9),
        rows(VERDICTS, lambda row: [row] if row["transform"] == "rename" else [row] * 9),
    ),
    "an unknown outcome": rows(VERDICTS, lambda row: [{**row, "outcome": "fine"} if violated(row) else row]),
    "controls": rows(VERDICTS, lambda row: [{**row, "kind": "control"} if violated(row) else row]),
    "other inputs": rows(VERDICTS, lambda row: [{**row, "input": "0" * 16} if violated(row) else row]),
    "an invented model": rows(VERDICTS, lambda row: [row, {**row, "model": "x", "outcome": "held"}]),
    "no suite": rows(SUITE, lambda row: []),
    "a smaller suite": rows(SUITE, lambda row: [] if row["transform"] == "rename" else [row]),
    "nothing": both(rows(SUITE, lambda row: []), rows(VERDICTS, lambda row: [])),
    "nothing applied": both(
        rows(SUITE, lambda row: [{**row, "status": "not_applied", "reason": "x"}]),
        rows(VERDICTS, lambda row: []),
    ),
}


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_the_runs_are_told_apart(limit: list[str]) -> None:
    assert main(["gate", "bad", *limit]) == 1
    assert main(["gate", "good", *limit]) == 0


@pytest.mark.thinned(2)
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_no_edit_passes(forge: Callable[[Path], None], capsys: pytest.CaptureFixture[str]) -> None:
    forge(Path("bad"))
    assert main(["gate", "bad", *LIMITS["violations"]]) == 3, "the hashes"
    rebind(Path("bad"))
    for name, limit in LIMITS.items():
        capsys.readouterr()
        assert main(["gate", "bad", *limit]) == 3, name
        (line,) = capsys.readouterr().err.splitlines()
        assert "'bad" in line
        assert "unexpected" not in line


READING = {
    "report": ["report", "bad", "--html", "bad.html"],
    "report of cases": ["report", "bad", "--junit", "-"],
    "baseline": ["report", "bad", "--baseline", "bad.parquet"],
    "compare": ["compare", "bad", "good"],
    "explain": ["explain", "bad"],
    "plan": ["gate", "--plan", "bad"],
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_no_command_reads_an_edited_run(
    forge: Callable[[Path], None], runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(Path("bad"))
    for rebound in (False, True):
        for name, words in READING.items():
            capsys.readouterr()
            assert main(words) == 3, name
            printed = capsys.readouterr()
            assert printed.out == ""
            (line,) = printed.err.splitlines()
            assert "'bad" in line
            assert "unexpected" not in line
        if not rebound:
            rebind(Path("bad"))
    assert not any(Path(name).exists() for name in ("bad.html", "bad.parquet"))


EDITED: list[tuple[str | int, ...]] = [
    ("unjudged",),
    *(
        (*place, rate, number)
        for place, rates in (
            ((), ("pairs", "violations", "sensitivity", "noise_floor")),
            (("by_transform", 0), ("pairs", "violations")),
        )
        for rate in rates
        for number in ("count", "total", "rate")
        # Fewer movable samples may be true of the same pairs.
        if (rate, number) not in {("violations", "total"), ("sensitivity", "rate"), ("noise_floor", "rate")}
    ),
    ("by_transform", 0, "unjudged"),
]
"""Numbers in the summary of a model."""


@pytest.mark.thinned(6)
@pytest.mark.parametrize("place", EDITED, ids=str)
def test_a_summary_with_other_counts_is_of_no_run(
    place: tuple[str | int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    summary = json.loads(Path("bad", SUMMARY).read_text("utf-8"))
    part = summary["models"][0]
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = 0 if part[place[-1]] else 1
    edit_json(Path("bad", SUMMARY), **summary)
    rebind(Path("bad"))
    assert main(["report", "bad"]) == 3
    assert "have different counts" in capsys.readouterr().err


# ── baseline files ───────────────────────────────────────────────────────────────────────────────────────


def numbers(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    """The exit code of a gate and its result without the name of the baseline."""
    capsys.readouterr()
    code = main(["gate", *words, "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    return code, {**printed, "baseline": None}


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "words",
    [
        ["bad"],
        ["good"],
        ["bad", "--transform", "rename"],
        ["bad", "--min-shared", "100%", "--max-newly-unjudged", "0"],
        ["now", "--max-unjudged", "100%"],
        ["now", "--max-unjudged", "100%", "--min-shared", "0", "--max-newly-unjudged", "100%"],
    ],
    ids=" ".join,
)
def test_a_gate_finds_the_same_with_a_baseline_file_as_with_the_run(
    words: list[str], runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(runs))
    if words[0] == "now":
        names = sorted({row["sample"] for row in read_rows(Path("good", SUITE))})[:9]
        shutil.copy(Path("good", SUITE), SUITE)
        edit_rows(Path(SUITE), lambda every: [row for row in every if row["sample"] in names])
        asked = ["--suite", SUITE, "--workers", "1", "--model", "py/forgery_models:evasive", "--out", "now"]
        assert main(["run", *asked]) == 0
    assert main(["report", "good", "--baseline", "good.parquet"]) == 0
    assert Path("good.parquet").stat().st_size < 40_000
    shutil.rmtree("there", ignore_errors=True)
    with_run = numbers([*words, "--baseline", "good"], capsys)
    assert numbers([*words, "--baseline", "good.parquet"], capsys) == with_run
    plans = []
    for place in (["good"], ["good.parquet"], ["--baseline", "good.parquet"]):
        assert main(["gate", "--plan", *place, "--format", "json"]) == 0
        plans.append(capsys.readouterr().out)
    assert len(set(plans)) == 1


@pytest.mark.slow
def test_new_violations_of_both_kinds_of_baselines_are_marked_alike() -> None:
    assert main(["report", "bad", "--baseline", "bad.parquet"]) == 0
    for place in ("bad", "bad.parquet"):
        assert main(["gate", "bad", "--baseline", place, "--sarif", f"{place}.sarif"]) == 0
    assert Path("bad.sarif").read_bytes() == Path("bad.parquet.sarif").read_bytes()


def edited_pairs(path: Path, change: Callable[[Row], Iterable[Row]], **facts: object) -> None:
    """Write a baseline file again with other rows and facts."""
    rows = [made for row in read_rows(path, table=BASELINE) for made in change(dict(row))]
    about = {**read_about(path), **facts}
    with TableWriter(path, BASELINE_COLUMNS, about) as table:
        table.write(rows)


EDITS: dict[str, Callable[[Path], object]] = {
    "violations": lambda path: edited_pairs(path, lambda row: [{**row, "outcome": "violated"}]),
    "fewer": lambda path: edited_pairs(path, lambda row: [row] if row["variant"] else []),
    "none": lambda path: edited_pairs(path, lambda row: []),
    "twice": lambda path: edited_pairs(path, lambda row: [row, row]),
    "task": lambda path: edited_pairs(path, lambda row: [row], task="generation"),
    "models": lambda path: edited_pairs(path, lambda row: [row], models=[]),
    "schema": lambda path: edited_pairs(path, lambda row: [row], schema=9),
    "format": lambda path: edited_pairs(path, lambda row: [row], format=None),
    "cut": cut,
    "flipped": flip,
    "empty": lambda path: path.write_bytes(b""),
    "verdicts": lambda path: shutil.copy(Path("bad", VERDICTS), path),
    "suite": lambda path: shutil.copy(Path("bad", SUITE), path),
    "text": lambda path: path.write_text("no table"),
    "manifest": lambda path: shutil.copy(Path("bad", MANIFEST), path),
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_or_foreign_file_is_no_baseline(
    edit: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("good.parquet")
    assert main(["report", "good", "--baseline", str(path)]) == 0
    edit(path)
    for words in (["gate", "bad", "--baseline", str(path)], ["gate", "--plan", str(path)]):
        capsys.readouterr()
        assert main(words) == 3
        printed = capsys.readouterr()
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        assert repr(str(path)) in line
        assert "codeaudit report RUN --baseline FILE" in line


def unlisted(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_text("utf-8"))
    edit_json(
        run / MANIFEST, files={name: digest for name, digest in manifest["files"].items() if name != ATTACKS}
    )
    rebind(run)


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "change",
    [
        lambda run: flip(run / ATTACKS),
        lambda run: cut(run / ATTACKS),
        lambda run: (run / ATTACKS).unlink(),
        unlisted,
    ],
    ids=["flipped", "cut", "missing", "unlisted"],
)
def test_the_attacks_of_a_run_are_bound_like_its_other_files(
    change: Callable[[Path], object], runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs / "attacked", "attacked")
    # Three samples have too few controls.
    assert main(["gate", "attacked", "--max-violation-rate", "100%", "--allow-insensitive"]) == 0
    change(Path("attacked"))
    for words in (["gate", "attacked", "--max-violation-rate", "100%"], ["report", "attacked"]):
        capsys.readouterr()
        assert main(words) == 3
        assert repr(f"attacked/{ATTACKS}") in capsys.readouterr().err


def test_attacks_that_an_earlier_run_left_are_no_part_of_a_run() -> None:
    Path("good", ATTACKS).write_bytes(b"left")
    assert main(["report", "good"]) == 0


@pytest.mark.parametrize("name", ["summary.json", "other"])
def test_a_summary_is_no_baseline_under_any_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(Path("good", SUMMARY), name)
    assert main(["gate", "bad", "--baseline", name]) == 2
    assert "keep the whole run folder" in capsys.readouterr().err


@pytest.mark.slow
def test_a_signed_baseline_file_cannot_be_made_without_the_key(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = ["--sign-key", str(runs / "gate.key")]
    assert main(["report", "good", "--baseline", "good.parquet", *signed]) == 0
    assert KEY.strip().encode() not in Path("good.parquet").read_bytes()
    assert main(["gate", "bad", "--baseline", "good.parquet", *signed]) == 1
    assert main(["gate", "--plan", "good.parquet", *signed]) == 0
    # An edit with a digest computed anew, under the old signature.
    signature = read_about(Path("good.parquet"))[SIGNATURE]
    believable(Path("good"), ("sum",))
    believed = read_judged(Run(Path("good")))
    write_baseline(Path("forged.parquet"), believed, FUNCTION_NAME, {}, None)
    assert main(["gate", "bad", "--baseline", "forged.parquet"]) == 0
    for told, wanted in (
        (None, "has no signature"),
        (signature, "does not fit this key"),
        (1, "has no signature"),
    ):
        if told is not None:
            edited_pairs(Path("forged.parquet"), lambda row: [row], **{SIGNATURE: told})
        capsys.readouterr()
        assert main(["gate", "bad", "--baseline", "forged.parquet", *signed]) == 3
        assert wanted in capsys.readouterr().err
    # What is not signed is not signed later.
    assert main(["report", "good", "--baseline", "new.parquet", *signed]) == 3
    assert not Path("new.parquet").exists()
    assert main(["report", "bad", *signed]) == 2


@pytest.mark.thinned(2)
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_no_edit_of_the_baseline_passes(forge: Callable[[Path], None]) -> None:
    shutil.copytree("bad", "before")
    forge(Path("before"))
    rebind(Path("before"))
    assert main(["gate", "bad", "--baseline", "before"]) == 3


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("model", "kept", "check", "waived"),
    [
        ("bad", 1, "shared", ["--min-shared", "0"]),
        ("evasive", 16, "newly unjudged", ["--max-newly-unjudged", "100%"]),
    ],
)
def test_what_the_baseline_judged_cannot_be_left_out(
    model: str,
    kept: int,
    check: str,
    waived: list[str],
    runs: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(runs))
    names = sorted({row["sample"] for row in read_rows(Path("good", SUITE))})[:kept]
    shutil.copy(Path("good", SUITE), SUITE)
    edit_rows(Path(SUITE), lambda every: [row for row in every if row["sample"] in names])
    words = ["--suite", SUITE, "--workers", "1", "--model", f"py/forgery_models:{model}", "--out", "now"]
    assert main(["run", *words]) == 0
    capsys.readouterr()
    for words, wanted in (([], "unknown"), (waived, None)):
        main(["gate", "now", "--baseline", "good", "--max-unjudged", "100%", *words, "--format", "json"])
        decision = Gate.from_json(capsys.readouterr().out)
        assert {entry.name: entry.outcome for entry in decision.checks}.get(check) == wanted


def believable(run: Path, after: tuple[str, ...] | None) -> None:
    """Every answer under a transform that keeps the meaning becomes the same one, or that to the original; and
    everything else follows from that: nothing contradicts it.
    """
    made = []
    for audited in read_audited(run, seed=0):
        judged = []
        for each in audited.verdicts:
            answer = each.after
            if each.perturbed.kind == "preserving":
                answer = audited.before if after is None else Predicted(answer=after)
            verdict = judge(
                each.perturbed, audited.before, answer, audited.sample, task=FUNCTION_NAME, noise=0.0
            )
            judged.append((verdict, score_of(FUNCTION_NAME, answer, each.perturbed.sample)))
        verdicts, scores = zip(*judged, strict=True)
        made.append(replace(audited, verdicts=verdicts, after_scores=scores))
    edit_rows(
        run / VERDICTS, lambda every: [dict(row) for audited in made for row in verdict_rows(0, audited)]
    )
    (run / SUMMARY).write_text(recomputed(Run(run)).to_json(), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("edited", "answer"), [("bad", None), ("good", ("sum",))])
def test_a_signature_finds_an_edit_that_nothing_else_does(
    edited: str, answer: tuple[str, ...] | None, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = ["--sign-key", str(runs / "gate.key")]
    assert main(["gate", "bad", "--baseline", "good", *signed]) == 1
    believable(Path(edited), answer)
    rebind(Path(edited))
    assert main(["gate", "bad", "--baseline", "good"]) == 0
    capsys.readouterr()
    assert main(["gate", "bad", "--baseline", "good", *signed]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert f"the signature of '{edited}/manifest.json' does not fit this key" in line


def test_signed_runs_stay_so_when_they_are_explained_and_a_key_is_never_kept(runs: Path) -> None:
    run = RunFolder(Path("bad"))
    before = run.manifest()
    allow_explanations(run, "")
    assert run.manifest() != before
    assert main(["gate", "bad", "--baseline", "good", "--sign-key", str(runs / "gate.key")]) == 1
    for path in Path("bad").iterdir():
        assert KEY.strip().encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (None, 3, "cannot read the key 'other.key'"),
        ("short", 2, "has 5 bytes, fewer than 16; write a new one with: openssl rand"),
        (KEY.upper(), 3, "does not fit this key"),
    ],
)
def test_another_key_is_one_line(
    content: str | None, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("other.key").write_text(content)
    assert main(["gate", "good", "--max-violation-rate", "100%", "--sign-key", "other.key"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    if content != KEY.upper():
        assert main(["run", "--model", "fake/hash", "--out", "new", "--sign-key", "other.key"]) == code
        assert not Path("new").exists()


def test_a_run_without_a_signature_is_not_believed_where_one_is_wanted(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = {key: value for key, value in RunFolder(Path("good")).manifest().items() if key != SIGNATURE}
    RunFolder(Path("good")).write_manifest(manifest)
    assert main(["gate", "good", "--max-violation-rate", "100%"]) == 0
    assert main(["gate", "good", "--max-violation-rate", "100%", "--sign-key", str(runs / "gate.key")]) == 3
    assert "has no signature; run the audit again with --sign-key" in capsys.readouterr().err

"""Nobody passes the gate by an edit of a run, even with hashes computed anew."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from codeaudit.audit.integrity import SIGNATURE, allow_explanations
from codeaudit.audit.store import MANIFEST, SUITE, SUMMARY, VERDICTS, RunFolder, read_rows
from codeaudit.cli.main import main
from codeaudit.reports.checks import Gate
from tests.support.forgery import Row, edit_json, edit_rows, rebind

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
def good(queries):
    """Sees no name."""
    return [["take"] for query in queries]


def bad(queries):
    """Reads one name."""
    return [["take"] if "total" in query.source else ["sum"] for query in queries]


def evasive(queries):
    """Silent on some variants."""
    return [["take"] if "total" in query.source or '"d"' < query.source.rstrip()[-3:] else None for query in queries]
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
        words = ["--corpus", "code.py", "--workers", "1", "--transform", "rename,rename-parameters"]
        for name in ("good", "bad"):
            told = ["--model", f"py/forgery_models:{name}", "--out", name, "--sign-key", "gate.key"]
            assert main(["run", *words, *told]) == 0
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


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_the_runs_are_told_apart(limit: list[str]) -> None:
    assert main(["gate", "bad", *limit]) == 1
    if "--min-sensitivity" not in limit:
        assert main(["gate", "good", *limit]) == 0


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_no_edit_passes(forge: Callable[[Path], None], capsys: pytest.CaptureFixture[str]) -> None:
    forge(Path("bad"))
    assert main(["gate", "bad", *LIMITS["violations"]]) == 3, "the hashes"
    rebind(Path("bad"))
    # The summary decides nothing: what it is replaced by changes no result.
    wanted = 1 if forge in (no_model_in_the_summary, summary_of_the_good_run) else 3
    for name, limit in LIMITS.items():
        capsys.readouterr()
        assert main(["gate", "bad", *limit]) == wanted, name
        errors = capsys.readouterr().err.splitlines()
        assert len(errors) == (wanted == 3)
        assert not any("unexpected" in line for line in errors)


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_no_edit_of_the_baseline_passes(forge: Callable[[Path], None]) -> None:
    shutil.copytree("bad", "before")
    forge(Path("before"))
    rebind(Path("before"))
    assert main(["gate", "bad", "--baseline", "before"]) in ((0,) if "summary" in forge.__name__ else (3,))


@pytest.mark.parametrize(
    ("model", "kept", "check", "waived"),
    [
        ("bad", 1, "shared", ["--min-shared", "0"]),
        ("evasive", 16, "newly unjudged", ["--max-newly-unjudged", "1"]),
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
        main(["gate", "now", "--baseline", "good", "--max-unjudged", "1", *words, "--format", "json"])
        found = Gate.from_json(capsys.readouterr().out)
        assert {one.name: one.outcome for one in found.checks}.get(check) == wanted


def believable(run: Path, outcome: str, answer: str) -> None:
    """Every answer becomes the same one: nothing in the run contradicts it."""
    made = {"outcome": outcome, "before": '["take"]', "after": answer}
    edit_rows(run / VERDICTS, lambda every: [{**row, **made} for row in every])


@pytest.mark.parametrize(
    ("edited", "outcome", "answer"), [("bad", "held", '["take"]'), ("good", "violated", '["sum"]')]
)
def test_a_signature_finds_an_edit_that_nothing_else_does(
    edited: str, outcome: str, answer: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = ["--sign-key", str(runs / "gate.key")]
    assert main(["gate", "bad", "--baseline", "good", *signed]) == 1
    believable(Path(edited), outcome, answer)
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
        (None, 2, "cannot read the key 'other.key'"),
        ("short", 2, "has 5 bytes, fewer than 16; write a new one with: openssl rand"),
        (KEY.upper(), 3, "does not fit this key"),
    ],
)
def test_another_key_is_one_line(
    content: str | None, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("other.key").write_text(content)
    assert main(["gate", "good", "--max-violation-rate", "1", "--sign-key", "other.key"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    if code == 2:
        assert main(["run", "--model", "fake/hash", "--out", "new", "--sign-key", "other.key"]) == 2
        assert not Path("new").exists()


def test_a_run_without_a_signature_is_not_believed_where_one_is_wanted(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = {key: value for key, value in RunFolder(Path("good")).manifest().items() if key != SIGNATURE}
    RunFolder(Path("good")).write_manifest(manifest)
    assert main(["gate", "good", "--max-violation-rate", "1"]) == 0
    assert main(["gate", "good", "--max-violation-rate", "1", "--sign-key", str(runs / "gate.key")]) == 3
    assert "has no signature; run the audit again with --sign-key" in capsys.readouterr().err

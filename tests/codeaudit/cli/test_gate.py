"""`codeaudit gate` from end to end: runs with callables, gated as a user gates them."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from codeaudit.audit.rows import read_audited, read_suite, verdict_rows
from codeaudit.audit.store import SUITE, VERDICT_COLUMNS, VERDICTS, TableWriter, read_rows
from codeaudit.cli.gate import gate, locator
from codeaudit.cli.hook import main as hook
from codeaudit.cli.main import main
from codeaudit.cli.options import OUTPUTS
from codeaudit.finished_runs import read_run
from codeaudit.gating import named_transforms, read_judged, recomputed
from codeaudit.reports.checks import Gate
from codeaudit.transforms.errors import RunError
from tests.support.commands import ROOT, environment
from tests.support.junit import check_junit
from tests.support.sarif import check_sarif

FUNCTIONS = 24
MODELS = '''
def ran(query):
    """What the function does: its result as one word."""
    space = {}
    try:
        exec(query.source, space)
        *_, function = space.values()
        return "".join(chr(97 + number) for number in function([1, 2], 5))
    except Exception:
        return "fails"


def steady(queries):
    """Sees what a function does and no name at all; fails where it is told to."""
    return [None if "unanswerable" in query.source else ran(query) for query in queries]


def fickle(queries):
    """Reads one name, too."""
    return [f"{'sum' if 'total' in query.source else 'other'}_{ran(query)}" for query in queries]


def dead(queries):
    """Sees nothing."""
    return ["lines"] * len(queries)
'''


def sources(folder: Path, *, extra: str = "") -> None:
    folder.mkdir()
    names = [f"take_{word}" for word in "abcdefghijklmnopqrstuvwx"[:FUNCTIONS]]
    text = "".join(
        f"def {name}(values, start):\n    total = start\n    count = {n}\n"
        f"    for value in values:\n        total += value\n    return total, count{extra}\n\n\n"
        for n, name in enumerate(names)
    )
    (folder / "code.py").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources, models, and four finished runs."""
    place = tmp_path_factory.mktemp("gate")
    sources(place / "src")
    (place / "mine.py").write_text(MODELS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", sys.path[:])
        patch.setenv("CODEAUDIT_CACHE", str(tmp_path_factory.mktemp("answers")))
        patch.delitem(sys.modules, "mine", raising=False)
        for name, words in {
            "steady": ["--model", "py/mine:steady", "--corpus", "src"],
            "fickle": ["--model", "py/mine:fickle", "--suite", "steady/suite.parquet"],
            "dead": ["--model", "py/mine:dead", "--suite", "steady/suite.parquet"],
            "both": [
                *("--model", "py/mine:fickle", "--model", "py/mine:steady"),
                *("--corpus", "src", "--trials", "2"),
            ],
        }.items():
            assert main(["run", *words, "--workers", "1", "--out", name]) == 0
        sys.modules.pop("mine", None)
    return place


@pytest.fixture(autouse=True)
def _here(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(runs)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(runs.iterdir())
    yield
    for path in set(runs.iterdir()) - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def found(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Gate]:
    code = main(["gate", *words, "--format", "json"])
    return code, Gate.from_json(capsys.readouterr().out)


# ── the run, read back ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_what_is_read_back_writes_the_same_table(runs: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        again = tmp_path / str(seed) / VERDICTS
        again.parent.mkdir()
        with TableWriter(again, VERDICT_COLUMNS, {}) as table:
            for audited in read_audited(runs / "both", seed=seed):
                table.write(verdict_rows(seed, audited))
        assert list(read_rows(again)) == list(read_rows(runs / "both" / VERDICTS, seed=seed))
    cases = {case.sample.id: case for case in read_suite(runs / "both" / SUITE, seed=0)}
    for audited in read_audited(runs / "both", seed=0):
        outcomes = cases[audited.sample.id].outcomes
        assert [*(verdict.perturbed for verdict in audited.verdicts), *audited.not_applied] == sorted(
            outcomes, key=lambda outcome: outcome in audited.not_applied
        )


@pytest.mark.slow
def test_tables_of_different_runs_are_not_read_together(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "both" / VERDICTS, tmp_path)
    shutil.copy(runs / "steady" / SUITE, tmp_path)
    with pytest.raises(RunError, match="different runs"):
        list(read_audited(tmp_path, seed=1))
    assert main(["transform", "src", "--transform", "rename", "--suite", str(tmp_path / SUITE)]) == 0
    with pytest.raises(RunError, match="different runs"):
        list(read_audited(tmp_path, seed=0))


@pytest.mark.slow
def test_all_transforms_chosen_is_the_summary_itself(runs: Path) -> None:
    run = read_run(runs / "both")
    names = [row.transform for row in run.summary.models[0].by_transform if row.kind == "preserving"]
    for chosen in (None, named_transforms(names, run)):
        assert recomputed(run, chosen).models == run.summary.models


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["steady", "--max-violation-rate", "0"], 0),
        (["fickle", "--max-violation-rate", "5%"], 1),
        (["fickle", "--max-violation-rate", "5 %", "--transform", "reorder"], 0),
        (["fickle", "--max-violation-rate", "0.05", "--transform", "identifiers"], 1),
        (["fickle", "--max-violation-rate", "100%"], 0),
        (["steady", "--min-sensitivity", "90%"], 0),
        (["dead", "--min-sensitivity", "90%", "--allow-insensitive"], 1),
        (["steady", "--max-f1-drop", "0"], 0),
        (["both", "--max-violation-rate", "5%"], 1),
        (["steady", "--baseline", "fickle"], 0),
        (["fickle", "--baseline", "steady"], 1),
        (["fickle", "--baseline", "fickle"], 0),
        (["fickle", "--baseline", "steady", "--transform", "reorder"], 0),
        (["both", "--baseline", "steady"], 3),
        (["dead", "--max-violation-rate", "0"], 1),
        (["dead", "--max-violation-rate", "0", "--allow-insensitive"], 0),
        (["dead", "--baseline", "steady"], 1),
        (["dead", "--baseline", "dead"], 1),
    ],
)
def test_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", *words]) == code
    printed = capsys.readouterr()
    assert ("FAILED" in printed.out) == (code == 1)
    assert ("gate cannot tell" in printed.err) == (code == 3)
    assert max(map(len, printed.out.splitlines())) <= 80


@pytest.mark.slow
def test_the_formats_agree(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = found(capsys, "fickle", "--baseline", "steady", "--max-violation-rate", "5%")
    assert code == 1
    assert report.outcome == "failed"
    assert report.baseline == "steady"
    assert (
        main(["gate", "fickle", "--baseline", "steady", "--max-violation-rate", "5%", "--format", "markdown"])
        == 1
    )
    text = capsys.readouterr().out
    assert all(f"| {check.title} |" in text for check in report.checks)


@pytest.mark.slow
def test_the_legend_says_which_p_value_rejects(capsys: pytest.CaptureFixture[str]) -> None:
    for alpha in ("0.01", "0.2"):
        main(["gate", "fickle", "--baseline", "steady", "--alpha", alpha])
        assert f"rejects (p at most {alpha})" in " ".join(capsys.readouterr().out.split())
    main(["gate", "fickle", "--max-violation-rate", "5%"])
    assert "rejects" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_frozen_suite_gives_pairs_and_another_draw_loses_them(capsys: pytest.CaptureFixture[str]) -> None:
    _, report = found(capsys, "fickle", "--baseline", "steady")
    judged = [len(read_judged(read_run(Path(name))).flips) for name in ("fickle", "steady")]
    assert judged[0] == judged[1]
    assert not any("shared" in note for note in report.notes)
    words = [
        "--model",
        "py/mine:steady",
        "--corpus",
        "src",
        "--seed",
        "7",
        "--workers",
        "1",
        "--out",
        "seven",
    ]
    assert main(["run", *words]) == 0
    capsys.readouterr()
    code, report = found(capsys, "fickle", "--baseline", "seven")
    assert code == 3
    (rise,) = (check for check in report.checks if check.name == "rise")
    assert "the suites differ" in rise.found


@pytest.mark.slow
def test_a_lock_file_is_recorded_with_its_hash(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transform", "src", "--suite", "suite.lock.jsonl", "--transform", "rename"]) == 0
    words = ["--suite", "suite.lock.jsonl", "--workers", "1"]
    for name in ("steady", "fickle"):
        assert main(["run", "--model", f"py/mine:{name}", *words, "--out", f"locked-{name}"]) == 0
    corpora = [
        json.loads(Path(f"locked-{name}/manifest.json").read_text())["corpus"]
        for name in ("steady", "fickle")
    ]
    assert corpora[0] == corpora[1]
    assert corpora[0]["suite"] == "suite.lock.jsonl"
    capsys.readouterr()
    assert found(capsys, "locked-fickle", "--baseline", "locked-steady")[0] == 1


@pytest.mark.slow
def test_missing_answers_do_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources(tmp_path / "odd", extra=", 'unanswerable'")
    good = (tmp_path / "odd" / "code.py").read_text(encoding="utf-8").replace(", 'unanswerable'", "", 12)
    (tmp_path / "odd" / "code.py").write_text(good, encoding="utf-8")
    words = ["--model", "py/mine:steady", "--corpus", str(tmp_path / "odd"), "--workers", "1", "--out", "odd"]
    assert main(["run", *words]) == 0
    capsys.readouterr()
    code, report = found(capsys, "odd", "--max-violation-rate", "50%")
    assert (code, report.checks[0].name) == (3, "answers")
    assert report.checks[1].value == 0.0, "what could not be had is no violation"
    assert found(capsys, "odd", "--max-violation-rate", "50%", "--max-unjudged", "60%")[0] == 0


def test_a_plan_says_how_many_samples_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--plan"]) == 0
    assert "80 % power" in capsys.readouterr().out
    assert main(["gate", "both", "--plan", "--transform", "rename", "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    # Of each of both models the transform, the sensitivity and the score.
    assert (made["tests"], made["samples"]) == (6, FUNCTIONS)
    assert 0 < made["rows"][-1]["power"] < 1


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_name_that_a_baseline_file_gets_is_one_that_the_gate_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for ending in ("", ".parquet", ".dat", *sorted(OUTPUTS)):
        write = ["report", "steady", "--baseline", f"kept{ending}"]
        if ending in {".jsonl", ".gz"}:  # read as lines of JSON
            assert main(write) == 2
            assert not Path(f"kept{ending}").exists()
            assert "name it kept.parquet" in capsys.readouterr().err
        else:
            assert main(write) == 0
            assert main(write) == 0, "it replaces its own file"
            assert main(["gate", "steady", "--baseline", f"kept{ending}"]) == 0, ending


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["steady"], 2, "nothing to hold the run to: give --baseline"),
        ([], 2, "give the RUN to judge, or --plan"),
        (["--plan", "--alpha", "0"], 2, "--alpha"),
        (["nowhere", "--plan"], 3, "no run at 'nowhere'"),
        (["nowhere", "--max-violation-rate", "5%"], 3, "no run at 'nowhere'"),
        (["steady", "--baseline", "nowhere"], 3, "no baseline at 'nowhere'"),
        (["steady", "--baseline", "src"], 3, "no run at 'src'"),
        (
            ["steady", "--baseline", "fickle/summary.json"],
            2,
            "no verdicts to compare with; keep the whole run",
        ),
        (["steady", "--baseline", "mine.py"], 3, "'mine.py' is no baseline file; write one with"),
        (["steady", "--baseline", "fickle/verdicts.parquet"], 3, "is no baseline file; write one with"),
        (["steady", "--baseline", "fickle/manifest.json"], 3, "is no baseline file; write one with"),
        (["steady", "--max-violation-rate", "5"], 2, "did you mean 5%?"),
        (["steady", "--max-violation-rate", "nan"], 2, "'nan' is no share"),
        (["steady", "--max-violation-rate", "-1%"], 2, "is not between 0 and 1"),
        (["steady", "--max-violation-rate", "1"], 2, "'1' may mean 1% or 100%; write one of them"),
        (["steady", "--min-shared", "1.0", "--baseline", "fickle"], 2, "'1.0' may mean 1% or 100%"),
        (["steady", "--max-score-drop", "1%", "--max-violation-rate", "5%"], 2, "give --baseline RUN"),
        (["steady", "--max-violation-rate", "few"], 2, "write 0.05 or 5%"),
        (["steady", "--max-f1-drop", "5"], 2, "write 5%"),
        (["steady", "--baseline", "fickle", "--alpha", "0"], 2, "--alpha"),
        (["steady", "--max-violation-rate", "5%", "--transform", "renam"], 2, "did you mean 'rename'?"),
        (
            ["steady", "--max-violation-rate", "5%", "--transform", "layout"],
            2,
            "has no transform 'layout'; it has",
        ),
        (["steady", "--max-violation-rate", "5%", "--transform", "identity"], 2, "keeps the meaning"),
        (["steady", "--config", "nowhere.toml"], 3, "cannot read 'nowhere.toml'"),
        (["steady", "--config", "mine.py"], 2, "is not TOML"),
    ],
)
def test_a_wrong_word_is_one_line(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", *words]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert message in line


def test_a_run_that_is_being_replaced_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Its summary and verdicts are still those of the run before."""
    shutil.copytree("steady", "half")
    manifest = json.loads(Path("half/manifest.json").read_text())
    Path("half/manifest.json").write_text(json.dumps({**manifest, "state": "running"}))
    for words in (["half", "--max-violation-rate", "5%"], ["fickle", "--baseline", "half"]):
        assert main(["gate", *words]) == 3
        assert "is not finished" in capsys.readouterr().err


def test_reports_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "steady", "--max-violation-rate", "5%", "--junit", "mine.py/x.xml"]) == 3
    assert "cannot write 'mine.py/x.xml'" in capsys.readouterr().err


@pytest.mark.slow
def test_options_come_from_a_file_or_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("c.toml").write_text('[run]\nlimit = 3\n[gate]\nmax-violation-rate = "5%"\ntransform = ["rename"]\n')
    assert main(["gate", "fickle", "--config", "c.toml"]) == 1
    assert main(["gate", "fickle", "--config", "c.toml", "--max-violation-rate", "100%"]) == 0
    monkeypatch.setenv("CODEAUDIT_MAX_VIOLATION_RATE", "5%")
    monkeypatch.setenv("CODEAUDIT_MAX_F1_DROP", "")
    assert main(["gate", "fickle"]) == 1
    Path("c.toml").write_text("[gate]\nmax-violations = 1\n")
    capsys.readouterr()
    assert main(["gate", "fickle", "--config", "c.toml"]) == 2
    assert "unknown option 'max-violations'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan", "write-limits"])
def test_what_replaces_the_judgement_is_typed(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a file or in the environment it would let a gate end with 0 that must fail."""
    value = "true" if name == "plan" else '"limits.toml"'
    for key in (name, name.replace("-", "_")):
        Path("c.toml").write_text(f"[gate]\n{key} = {value}\n")
        assert main(["gate", "fickle", "--max-violation-rate", "5%", "--config", "c.toml"]) == 2
        assert f"--{name} goes on the command line only" in capsys.readouterr().err
    variable = f"CODEAUDIT_{name.replace('-', '_').upper()}"
    monkeypatch.setenv(variable, "limits.toml" if name == "write-limits" else "1")
    assert main(["gate", "fickle", "--max-violation-rate", "5%"]) == 1
    assert f"{variable} sets no option; --{name} goes on the command line only" in capsys.readouterr().err
    assert not Path("limits.toml").exists()


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────


def test_junit_and_sarif_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fickle", "--baseline", "steady", "--junit", "out/gate.xml", "--sarif", "out/gate.sarif"]
    assert main(["gate", *words]) == 1
    root = check_junit(Path("out/gate.xml").read_text(encoding="utf-8"))
    assert [suite.get("name") for suite in root] == [
        "codeaudit gate",
        *(f"py/mine:fickle {name}" for name in ("reorder", "rename", "rename-parameters")),
    ]
    assert all(len(suite.findall("testcase")) == FUNCTIONS for suite in root[1:])
    results = check_sarif(Path("out/gate.sarif").read_text(encoding="utf-8"))["results"]
    failures = sum(int(suite.get("failures") or 0) for suite in root[1:])
    assert len(results) == failures > 0
    lines = Path("src/code.py").read_text(encoding="utf-8").splitlines()
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "src/code.py", "uriBaseId": "%SRCROOT%"}
        assert lines[place["region"]["startLine"] - 1].startswith("def take_")
        assert result["baselineState"] == "new"


def test_chosen_transforms_alone_are_reported() -> None:
    main(["gate", "fickle", "--max-violation-rate", "0", "--transform", "rename", "--junit", "gate.xml"])
    root = check_junit(Path("gate.xml").read_text(encoding="utf-8"))
    assert [suite.get("name") for suite in root] == ["codeaudit gate", "py/mine:fickle rename"]


def test_github_gets_annotations_and_a_summary(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["gate", "fickle", "--baseline", "steady", "--github"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert len(lines) == 10
    assert lines[-1].startswith("::error file=src/code.py,line=")
    text = Path("summary.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### gate: fickle against steady\n")
    assert "```diff" in text
    assert main(["gate", "fickle", "--baseline", "steady", "--github", "--format", "json"]) == 1
    printed = capsys.readouterr()
    assert Gate.from_json(printed.out).outcome == "failed"
    assert "::error" in printed.err


def test_places_are_found_below_the_repository_only(tmp_path: Path) -> None:
    (tmp_path / "repo" / "lib").mkdir(parents=True)
    for name in ("repo/lib/a.py", "b.py"):
        (tmp_path / name).write_text("")
    root = tmp_path / "repo"
    assert locator(str(root / "lib"), root)("a.py") == "lib/a.py"
    assert locator(str(root / "lib" / "a.py"), root)("a.py") == "lib/a.py"
    assert locator(f"bugs:{root / 'lib'}", root)("a.py") == "lib/a.py"
    assert locator(str(tmp_path), root)("b.py") is None
    assert locator("stdlib", root)("a.py") is None
    assert locator(str(root), root)("\0") is None


# ── hooks and actions ────────────────────────────────────────────────────────────────────────────────────


def project(folder: Path, limit: str) -> None:
    folder.mkdir()
    sources(folder / "src")
    (folder / "mine.py").write_text(MODELS, encoding="utf-8")
    (folder / "codeaudit.toml").write_text(
        '[run]\nmodel = "py/mine:fickle"\ncorpus = "src"\nlimit = 8\nworkers = 1\n'
        f'[gate]\nmax-violation-rate = "{limit}"\n'
    )
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code"), [("100%", 0), ("5%", 1)])
def test_the_hook_audits_and_gates_by_one_file(
    limit: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path / "project", limit)
    monkeypatch.chdir(tmp_path / "project")
    assert hook([]) == code
    assert "gate: .git/codeaudit/run" in capsys.readouterr().out
    assert {path.name for path in Path().iterdir()} - {"__pycache__"} == {
        ".git",
        "codeaudit.toml",
        "mine.py",
        "src",
    }
    assert hook(["nowhere.toml"]) == 3
    capsys.readouterr()
    for words, expected in ((["--help"], 0), (["a.toml", "b.toml"], 2), (["--limit", "3"], 2)):
        with pytest.raises(SystemExit) as ended:
            hook(words)
        assert ended.value.code == expected
    assert "usage: python -m codeaudit.cli.hook" in capsys.readouterr().out


@pytest.mark.slow
def test_the_hook_as_it_is_declared(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (declared,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    project(tmp_path / "project", "5%")
    program, *words = declared["entry"].split()
    assert program == "python"
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path / "project", env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "gate FAILED: 2 of 3 checks; 8 samples only" in done.stdout, "rename and rename-parameters"


def act(folder: Path, **given: str) -> tuple[int, dict[str, str]]:
    """The composite action's steps as a runner executes them, and what it wrote to its outputs."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text(encoding="utf-8"))
    inputs = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
    assert set(given) <= set(inputs)
    inputs |= given
    required = [name for name, entry in action["inputs"].items() if entry.get("required")]
    assert all(inputs[name] for name in required)
    binary = folder / "bin"
    binary.mkdir()
    program = binary / "codeaudit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m codeaudit.cli.main "$@"\n')
    program.chmod(0o755)
    runner = {"GITHUB_OUTPUT": str(folder / "outputs"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    runner["PATH"] = f"{binary}:{environment()['PATH']}"
    code = 0
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        if step.get("if") == "inputs.install != 'false'" and inputs["install"] == "false":
            continue
        assert "${{" not in step["run"], "an input would become part of the script"
        variables = {
            name: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, value in step.get("env", {}).items()
        }
        script = folder / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder / "project",
            env=environment({**runner, **variables}),
            capture_output=True,
            text=True,
        )
        code = done.returncode
        if code:
            break
    outputs = folder / "outputs"
    lines = outputs.read_text().splitlines() if outputs.exists() else []
    return code, dict(line.split("=", 1) for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code", "outcome"), [("100%", 0, "passed"), ("5%", 1, "failed")])
def test_the_action_gates_a_repository(limit: str, code: int, outcome: str, tmp_path: Path) -> None:
    project(tmp_path / "project", "0")
    given = {"model": "py/mine:fickle", "corpus": "src", "limit": "8", "max-violation-rate": limit}
    assert act(tmp_path, **given, junit="gate.xml", install="false") == (code, {"outcome": outcome})
    assert check_junit((tmp_path / "project" / "gate.xml").read_text(encoding="utf-8")).tag == "testsuites"
    assert "### gate: codeaudit-run" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "project" / "codeaudit-run" / "summary.json").exists()


@pytest.mark.slow
def test_the_action_says_where_nothing_could_be_judged(tmp_path: Path) -> None:
    project(tmp_path / "project", "0")
    given = {"model": "py/mine:fickle", "corpus": "src", "limit": "4", "transform": "reorder"}
    code, outputs = act(tmp_path, **given, baseline="codeaudit-run", install="false")
    assert (code, outputs) == (3, {"outcome": "unknown"}), "four samples show no rise"


def test_every_variable_of_the_action_is_an_option_of_its_command() -> None:
    yaml = pytest.importorskip("yaml")
    from codeaudit.cli.run import run

    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text(encoding="utf-8"))
    *_, audited, gated = action["runs"]["steps"]
    for step, command in ((audited, run), (gated, gate)):
        known = {param.envvar for param in command.params}
        assert {name for name in step.get("env", {}) if name.startswith("CODEAUDIT_")} <= known


def test_the_action_takes_every_option_that_judges() -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text(encoding="utf-8"))
    # All but those that only write something, or that go on the command line alone.
    others = {"run", "config", "plan", "write-limits", "format", "github", "dependence", "help"}
    judging = {param.opts[0].removeprefix("--") for param in gate.params} - others
    assert judging >= {"baseline", "max-violation-rate", "max-score-drop", "allow-insensitive"}
    assert judging <= set(action["inputs"])


def test_the_help_names_every_fixed_option() -> None:
    text = CliRunner().invoke(gate, ["--help"]).output
    for name in (
        "baseline",
        "transform",
        "max-violation-rate",
        "max-f1-drop",
        "min-sensitivity",
        "max-unjudged",
        "max-newly-unjudged",
        "min-shared",
        "margin",
        "alpha",
        "plan",
        "sign-key",
    ):
        assert f"--{name}" in text
    for name in ("junit", "sarif", "github"):
        assert f"--{name}" in text

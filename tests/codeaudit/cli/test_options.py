"""Where an option comes from: command line, environment, file; in this order."""

import json
import sys
from pathlib import Path

import pytest

from codeaudit.audit.prompts import VERSION
from codeaudit.cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def options(*words: str) -> dict[str, object]:
    """What the manifest of a run says that it was asked."""
    assert main(["run", "--workers", "1", "--out", "out", *words]) == 0
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    found = manifest["options"]
    assert isinstance(found, dict)
    return found


def test_a_toml_file_sets_options(sources: Path) -> None:
    Path("audit.toml").write_text(
        f'model = ["fake/hash", "fake/length"]\ncorpus = "{sources}"\nbatch-size = 7\n'
        'transform = ["rename", "reorder"]\ncontrols = false\n',
        encoding="utf-8",
    )
    chosen = options("--config", "audit.toml")
    assert chosen["model"] == ["fake/hash", "fake/length"]
    assert chosen["batch_size"] == 7
    assert chosen["transform"] == "rename,reorder"
    assert chosen["controls"] is False


def test_a_list_that_is_given_again_adds_to_itself(sources: Path) -> None:
    words = (
        "--model",
        "fake/hash",
        "--corpus",
        str(sources),
        "--transform",
        "rename",
        "--transform",
        "reorder",
    )
    chosen = options(*words, "--attack", "random", "--attack", "greedy", "--budget", "2")
    assert (chosen["transform"], chosen["attack"]) == ("rename,reorder", "random,greedy")


def test_a_single_model_may_stand_alone_and_a_table_may_be_named_run(sources: Path) -> None:
    Path("audit.toml").write_text(f'[run]\nmodel = "fake/hash"\ncorpus = "{sources}"\n', encoding="utf-8")
    assert options("--config", "audit.toml")["model"] == ["fake/hash"]


def test_arguments_of_models_may_be_a_table(sources: Path) -> None:
    Path("mine.py").write_text("def f(queries): return ['x' for q in queries]\n", encoding="utf-8")
    Path("audit.toml").write_text(
        f'model = "py/mine:f"\ncorpus = "{sources}"\n[model-argument]\nversion = "6e12345"\n',
        encoding="utf-8",
    )
    assert options("--config", "audit.toml")["model_argument"] == ["version=6e12345"]
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"][0]["fingerprint"] == f"py/mine:f@6e12345?reading={VERSION}"


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("audit.toml").write_text("seed = 1\nvariants = 1\nlimit = 1\n", encoding="utf-8")
    monkeypatch.setenv("CODEAUDIT_CONFIG", "audit.toml")
    monkeypatch.setenv("CODEAUDIT_CORPUS", str(sources))
    monkeypatch.setenv("CODEAUDIT_MODEL", "fake/hash 'fake/length'")
    monkeypatch.setenv("CODEAUDIT_SEED", "2")
    monkeypatch.setenv("CODEAUDIT_VARIANTS", "2")
    chosen = options("--variants", "3")
    assert (chosen["limit"], chosen["seed"], chosen["variants"]) == (1, 2, 3)
    assert chosen["model"] == ["fake/hash", "fake/length"]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("sed = 1\n", 2, "unknown option 'sed' in 'audit.toml'; did you mean 'seed'?"),
        ("seed = \n", 2, "is not TOML"),
        ('seed = "x"\n', 2, "--seed"),
        ("seed = 1\n[gates]\n", 2, "unknown table 'gates' in 'audit.toml'; did you mean [gate]?"),
        ("[run]\nseed = 1\n[limits]\n", 2, "unknown table 'limits' in 'audit.toml'; known: run, gate"),
        ("seed = 1\n[run]\nlimit = 2\n", 2, "'seed' in 'audit.toml' stands above the table [run]"),
        ("run = 1\n", 2, "'run' in 'audit.toml' is no table; write [run]"),
    ],
)
def test_a_wrong_file_is_one_line(
    text: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("audit.toml").write_text(text, encoding="utf-8")
    assert main(["run", "--config", "audit.toml"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gates]\n", "unknown table 'gates' in 'audit.toml'; did you mean [gate]?"),
        ("seed = 1\n[run]\n", "'seed' in 'audit.toml' stands above the table [run]"),
        (
            'max-violation-rate = "5%"\n',
            "'max-violation-rate' in 'audit.toml' must stand below the line [gate]",
        ),
        ("gate = 1\n", "'gate' in 'audit.toml' is no table; write [gate]"),
        ('seed = 1\nmodel = ["fake/hash"]\n[model-argument]\nx = 1\n[gate]\n', "no run at 'r'"),
        ('html = "page.html"\n[gate]\nmax-violation-rate = "5%"\n', "no run at 'r'"),
    ],
)
def test_the_gate_reads_every_line_of_its_file(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("audit.toml").write_text(text, encoding="utf-8")
    assert main(["gate", "r", "--config", "audit.toml"]) == (3 if "no run" in message else 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_options_of_run_stand_above_those_of_the_gate(sources: Path) -> None:
    text = f'model = "fake/hash"\ncorpus = "{sources}"\n[gate]\nmax-violation-rate = "5%"\n'
    Path("audit.toml").write_text(text, encoding="utf-8")
    assert options("--config", "audit.toml")["model"] == ["fake/hash"]


def test_a_variable_that_is_misspelt_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODEAUDIT_LIMT", "5")
    monkeypatch.setenv("CODEAUDIT_SEEDS", "3")  # of `verify`
    monkeypatch.setenv("CODEAUDIT_DEBUG", "")
    assert main(["run", "--help"]) == 0
    assert (
        capsys.readouterr().err == "codeaudit: CODEAUDIT_LIMT sets no option; did you mean CODEAUDIT_LIMIT?\n"
    )
    assert main(["verify", "--help"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("CODEAUDIT_MAX_VIOLATON_RATE", "5%")
    assert main(["gate", "--help"]) == 0
    assert "did you mean CODEAUDIT_MAX_VIOLATION_RATE?" in capsys.readouterr().err


def test_a_wrong_value_of_a_variable_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODEAUDIT_LIMIT", "many")
    assert main(["run"]) == 2
    assert "'many' is not a valid whole number (from $CODEAUDIT_LIMIT)" in capsys.readouterr().err
    assert main(["run", "--limit", "few"]) == 2
    assert "CODEAUDIT_LIMIT" not in capsys.readouterr().err

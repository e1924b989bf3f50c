"""`codeaudit gate` on a run of a model whose answers to the same input differ."""

import json
import sys
from pathlib import Path

import pytest

from codeaudit.cli.main import main
from tests.codeaudit.cli.test_gate import sources

MODEL = '''
from random import Random

RNG = Random(3)


def restless(queries):
    """Sees nothing, and gives a random name to some queries."""
    return [f"random{RNG.randrange(10**9)}" if RNG.random() < 0.3 else "stable_name" for _ in queries]


def moved(queries):
    """Reads one name, and gives a random name to some queries."""
    names = ["sum" if "total" in query.source else "other" for query in queries]
    return [f"random{RNG.randrange(10**9)}" if RNG.random() < 0.1 else name for name in names]
'''
LIMIT = ("--max-violation-rate", "10%", "--allow-insensitive")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("noisy")
    sources(place / "src")
    (place / "noisy_models.py").write_text(MODEL, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "path", sys.path[:])
        patch.setenv("CODEAUDIT_CACHE", str(tmp_path_factory.mktemp("answers")))
        for name in ("restless", "moved"):
            words = ["--model", f"py/noisy_models:{name}", "--corpus", "src", "--workers", "1"]
            assert main(["run", *words, "--transform", "rename", "--out", name]) == 0
        sys.modules.pop("noisy_models", None)
    return place


@pytest.mark.slow
def test_noise_is_not_held_against_a_model(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs)
    assert main(["gate", "restless", *LIMIT, "--format", "json"]) == 0
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert " beyond noise (" in check["found"]
    # An effect is, though the run has few samples.
    assert main(["gate", "moved", *LIMIT, "--format", "json"]) == 1
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert " beyond noise (" in check["found"]


@pytest.mark.slow
def test_must_decide_comes_from_the_command_line_a_file_or_the_environment(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a limit of 0 some sample more changed than less, or the other way round."""
    monkeypatch.chdir(runs)
    limit = ("--max-violation-rate", "0", "--allow-insensitive")
    codes = {name: main(["gate", name, *limit, "--must-decide"]) for name in ("restless", "moved")}
    printed = capsys.readouterr().out
    assert codes["moved"] == 1
    assert codes["restless"] == (3 if "not decided" in printed else 0)
    Path("c.toml").write_text("[gate]\nmust-decide = true\n", "utf-8")
    assert main(["gate", "restless", *limit, "--config", "c.toml"]) == codes["restless"]
    monkeypatch.setenv("CODEAUDIT_MUST_DECIDE", "true")
    assert main(["gate", "restless", *limit]) == codes["restless"]
    assert main(["gate", "restless", *limit, "--no-must-decide"]) == 0

"""`codeaudit doctor` tells what is here and what is missing, and imports no framework."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from codeaudit.cli import doctor as doctors
from codeaudit.cli.doctor import PARTS, findings
from codeaudit.cli.main import COMMANDS, main
from codeaudit.transforms.distribution import NAME, NAMESAKE, version_of
from codeaudit.transforms.errors import CannotAudit
from tests.support.plugins import install

ROOT = Path(__file__).parents[3]
FOR_WORK_ON_CODEAUDIT = {"docs", "test", "dev", "serve", "bochs"}
"""Extras that no command uses."""
ALWAYS = {"click", "rich"}
"""Without these there is no command line that could say that they are missing."""


def test_every_distribution_of_the_project_is_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {text.partition(">")[0] for text in project["dependencies"]} - ALWAYS
    assert needed == {name for name, part in PARTS.items() if not part.extra}
    for name, part in PARTS.items():
        if part.extra:
            assert any(text.startswith(name) for text in project["optional-dependencies"][part.extra]), name
    extras = set(project["optional-dependencies"])
    assert {part.extra for part in PARTS.values() if part.extra} == extras - FOR_WORK_ON_CODEAUDIT
    page = (ROOT / "docs/install.md").read_text("utf-8")
    table = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert extras <= set(re.findall(r"`([a-z]+)`", table))


def test_what_is_missing_is_told_with_what_it_would_add(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"torch": "2.9.9", "unicorn": "", NAMESAKE: ""}
    monkeypatch.setattr(doctors, "version_of", lambda name=NAME: versions.get(name, "1.0"))
    monkeypatch.setenv("PATH", "")

    assert main(["doctor"]) == 0

    lines = capsys.readouterr().out.splitlines()
    parts = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line.startswith("  ")}
    assert parts["torch"] == "2.9.9"
    assert parts["unicorn"].startswith("missing; it would add execution of x86-64 blocks")
    assert 'pip install "codeaudit-ml[emulator]"' in parts["unicorn"]
    assert parts["javac"].startswith("missing; it would add")
    assert parts["llvm-mca"].startswith("missing; it would add")


def test_a_tool_that_does_not_work_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("javac", "llvm-mca", "nvidia-smi"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    by_part = {finding.part: finding.found for finding in findings()}
    assert by_part["javac"] == by_part["llvm-mca"] == by_part["GPU"] == ""


def test_a_machine_without_a_sandbox_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise CannotAudit("no sandbox here")

    monkeypatch.setattr(doctors, "MACHINE", (("sandbox", refuse, "execution", "needs Linux"),))
    (sandbox,) = (finding for finding in findings() if finding.part == "sandbox")
    assert (sandbox.found, sandbox.remedy) == ("", "needs Linux")


def test_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == 1
    assert {"group", "part", "found", "adds", "remedy"} == printed["parts"][0].keys()
    assert {"torch", "javac", "sandbox", "GPU"} <= {part["part"] for part in printed["parts"]}


def test_no_framework_is_imported() -> None:
    code = (
        "import sys\nfrom codeaudit.cli.main import main\nmain(['doctor'])\n"
        "print(sorted({'torch', 'transformers', 'pyarrow', 'scipy', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


# ── another distribution with our command ────────────────────────────────────────────────────────────────


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", NAMESAKE, {}, {})))


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "doctor"])
def test_every_command_tells_of_the_other_distribution(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert f"another distribution, {NAMESAKE} 1.0, is installed here" in line
    assert "codeaudit doctor" in line


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_do_not_look(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.usefixtures("beside")
def test_doctor_says_how_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    head, what, remedy = capsys.readouterr().out.splitlines()[:3]
    assert head == "conflict:"
    assert f"{NAMESAKE} 1.0 has the same command and module as {NAME}" in what
    assert f"python -m pip uninstall --yes {NAMESAKE} {NAME} && python -m pip install " in remedy
    assert main(["doctor", "--format", "json"]) == 0
    first, *others = json.loads(capsys.readouterr().out)["parts"]
    assert (first["group"], first["part"], first["found"]) == ("conflict", NAMESAKE, "1.0")
    assert all(other["group"] != "conflict" for other in others)


def test_nothing_is_told_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    if version_of(NAMESAKE):
        pytest.skip("it is installed here")
    assert main(["doctor"]) == 0
    printed = capsys.readouterr()
    assert "conflict" not in printed.out
    assert printed.err == ""

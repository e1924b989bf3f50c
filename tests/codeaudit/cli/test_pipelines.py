"""The files for CI that `codeaudit init` writes: their schema, their order, and the pages that show them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from codeaudit.cli.init import CHECK, GATE, PIPELINES, RUN
from codeaudit.cli.main import main
from codeaudit.transforms.distribution import NAME
from tests.support.commands import ROOT
from tests.support.pages import blocks
from tests.support.pipelines import SPEC, steps

SCHEMAS = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}
EXAMPLES = {
    "github": ROOT / "examples/shipper/github-workflow.yml",
    "gitlab": ROOT / "examples/shipper/gitlab-ci.yml",
}
SPECS = ["", SPEC, "./wheels/ours.whl", f"{NAME}[hub]==0.1.0", "it's: a #strange $(one)", "{a: b} %"]


def told(kind: str, *files: Path) -> "subprocess.CompletedProcess[str]":
    """What the schema of GitHub or GitLab says of files."""
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[kind], *map(str, files)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", PIPELINES)
def test_what_is_written_has_the_schema(kind: str, tmp_path: Path) -> None:
    _, text = PIPELINES[kind]
    files = [tmp_path / f"{number}.yml" for number in range(len(SPECS))]
    for file, spec in zip(files, SPECS, strict=True):
        file.write_text(text(spec), "utf-8")
    done = told(kind, *files, EXAMPLES[kind])
    assert done.returncode == 0, done.stdout
    # The schema can say no.
    files[0].write_text(text(SPEC).replace("runs-on", "runs-of").replace("script:", "scripts:"), "utf-8")
    assert told(kind, files[0]).returncode == 1


def test_the_action_has_the_schema() -> None:
    words = ["--builtin-schema", "vendor.github-actions", str(ROOT / ".github/actions/gate/action.yml")]
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", PIPELINES)
@pytest.mark.parametrize("spec", SPECS[1:])
def test_the_job_installs_then_checks_then_audits(kind: str, spec: str, tmp_path: Path) -> None:
    _, text = PIPELINES[kind]
    install, check, run, gate = steps(kind, text(spec))
    # The shell gives pip the argument as it is.
    (tmp_path / "python").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (tmp_path / "python").chmod(0o755)
    done = subprocess.run(
        ["bash", "-ec", install.command],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"-m|pip|install|{spec}|"
    assert check.command.strip() == CHECK
    assert run.command == RUN
    assert gate.command.startswith(GATE)


@pytest.mark.parametrize("kind", PIPELINES)
def test_no_key_is_there_before_the_audit(kind: str) -> None:
    _, text = PIPELINES[kind]
    assert all(not step.environment for step in steps(kind, text(SPEC)))
    # Not even that of the checkout, which an action would leave in the folder.
    if kind == "github":
        (checkout,) = (
            step
            for step in yaml.safe_load(text(SPEC))["jobs"]["gate"]["steps"]
            if "actions/checkout" in step.get("uses", "")
        )
        assert checkout["with"] == {"persist-credentials": False}
    # What a comment says of keys stands after the check.
    before, _, after = text(SPEC).partition(CHECK)
    assert not re.search(r"secrets|API_KEY", before)
    assert "OPENAI_API_KEY" in after


def test_a_key_that_is_put_where_the_comment_says_is_in_the_audit_alone() -> None:
    _, text = PIPELINES["github"]
    comment = re.search(r"# +(env: .*)\n", text(SPEC))
    assert comment is not None
    line = f"- run: {RUN}\n"
    *before, run, gate = steps("github", text(SPEC).replace(line, f"{line}        {comment[1]}\n"))
    assert run.environment == {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    assert all(not step.environment for step in (*before, gate))


@pytest.mark.parametrize("kind", PIPELINES)
def test_the_page_shows_what_init_writes(kind: str, tmp_path: Path) -> None:
    assert main(["init", str(tmp_path), "--ci", kind, "--install", SPEC]) == 0
    shown = [block.text for block in blocks() if block.page.name == f"{kind}.md" and block.language == "yaml"]
    assert shown[0].rstrip() == (tmp_path / PIPELINES[kind][0]).read_text("utf-8").rstrip()


def test_the_action_checks_as_the_workflow_does() -> None:
    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text("utf-8"))
    install, check, *rest = action["runs"]["steps"]
    assert "pip install" in install["run"]
    assert check["run"].strip() == CHECK
    assert "if" not in check, "also where the action installs nothing"
    assert all("env" in step for step in rest)


@pytest.mark.parametrize(
    ("version", "code"), [(f"{NAME} 0.1.0", 0), ("codeaudit 1.8.1", 1), ("codeaudit-mlx 1", 1), ("", 1)]
)
@pytest.mark.parametrize("shell", [("bash", "-e"), ("bash", "-eo", "pipefail"), ("sh", "-e")])
def test_the_check_stops_at_any_other_program(
    version: str, code: int, shell: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "codeaudit").write_text(f"#!/bin/sh\necho {version}\n")
    (tmp_path / "codeaudit").chmod(0o755)
    done = subprocess.run(
        [*shell, "-c", CHECK],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert ("another program" in done.stdout) == bool(code)


def test_the_check_stops_without_the_command(tmp_path: Path) -> None:
    done = subprocess.run(["bash", "-e", "-c", CHECK], env={"PATH": "/usr/bin:/bin"}, capture_output=True)
    assert done.returncode == 1
